/**
 * Calls that arrive while an earlier batch runs share the next one: one statement, or one transaction, for many orders.
 * A batch that fails is repeated item by item, so that a fault stays with the item that has it.
 */
import { CommitInDoubt, currentOrigin, withOrigin } from '@bellwether/durable';

export interface BatchOptions<Item, Answer> {
  /**
   * Does the work of all items or of none, and answers in their order.
   * @throws CommitInDoubt when that is unknown; any other error proves that nothing was done
   */
  readonly run: (items: readonly Item[]) => Promise<readonly Answer[]>;
  /** Two items with the same key never share a batch. */
  readonly keyOf: (item: Item) => string;
  readonly maxItems: number;
}

interface QueuedItem<Item, Answer> {
  readonly item: Item;
  /** A batch is sent for the first of its items. */
  readonly origin: string | undefined;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
}

export function createBatches<Item, Answer>(
  options: BatchOptions<Item, Answer>,
): (item: Item) => Promise<Answer> {
  const { run, keyOf, maxItems } = options;
  let waiting: QueuedItem<Item, Answer>[] = [];
  let isRunning = false;

  const take = (): readonly QueuedItem<Item, Answer>[] => {
    const batch = new Map<string, QueuedItem<Item, Answer>>();
    const left: QueuedItem<Item, Answer>[] = [];
    for (const one of waiting) {
      const key = keyOf(one.item);
      if (batch.has(key) || batch.size >= maxItems) left.push(one);
      else batch.set(key, one);
    }
    waiting = left;
    return [...batch.values()];
  };

  const settle = async (batch: readonly QueuedItem<Item, Answer>[]): Promise<void> => {
    try {
      const answers = await run(batch.map(({ item }) => item));
      for (const [nth, { resolve }] of batch.entries()) resolve(answers[nth]!);
    } catch (error) {
      if (batch.length > 1 && !(error instanceof CommitInDoubt))
        await Promise.all(batch.map((one) => settle([one])));
      else for (const { reject } of batch) reject(error);
    }
  };

  const work = async (): Promise<void> => {
    while (waiting.length > 0) await withOrigin(waiting[0]?.origin, () => settle(take()));
    isRunning = false;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, origin: currentOrigin(), resolve, reject });
      if (isRunning) return;
      isRunning = true;
      // Calls of the same turn of the event loop share the first batch.
      setImmediate(() => void work());
    });
}
