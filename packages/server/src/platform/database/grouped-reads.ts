/**
 * Questions of many agents in one statement. Questions that arrive in the same turn of the event loop are sent together
 * at its end, and those that arrive while enough statements are under way with the next one: each is part of a statement
 * that is sent after it arrived, so its answer is as fresh as that of a statement of its own, and a question never joins
 * one that was sent before.
 *
 * A group takes its turn on the pool like any statement, so statements wait, time out and fail as always. When the server
 * refuses a group, each question is asked alone: one that cannot be answered fails only itself.
 */
import { CommitInDoubt, currentOrigin, DatabaseError, withOrigin } from '@bellwether/durable';
import { databaseFault, type Fragment, type Sql } from './connection.ts';

/** Bounds how much one statement reads, and how many wait for the slowest of their group. */
const MOST_IN_GROUP = 64;
/** Statements of one kind at a time: while one is read the next waits at the server, and a third group gathers. */
const MOST_UNDER_WAY = 2;
/** Questions of one kind that wait; more are refused. Far more than requests that the service admits at a time. */
const MOST_WAITING = 5_000;

/** A row says which question it answers, counted from 1. */
export interface Answering {
  readonly nth: number;
}

/** Issues the one statement for all questions. */
export type AskTogether<Question, Row extends Answering> = (
  questions: readonly Question[],
) => PromiseLike<readonly Row[]>;

interface WaitingQuestion<Question, Row> {
  readonly question: Question;
  /** A group is sent for the first of its questions. */
  readonly origin: string | undefined;
  readonly resolve: (rows: readonly Row[]) => void;
  readonly reject: (fault: unknown) => void;
}

/** @returns asks one question, as part of a group; resolves with the rows that answer it, in the statement's order */
export function groupReads<Question, Row extends Answering>(
  ask: AskTogether<Question, Row>,
): (question: Question) => Promise<readonly Row[]> {
  let waiting: WaitingQuestion<Question, Row>[] = [];
  let underWay = 0;
  let isDue = false;

  const answer = async (group: readonly WaitingQuestion<Question, Row>[]): Promise<void> => {
    try {
      const rows = await ask(group.map(({ question }) => question));
      const answers = group.map((): Row[] => []);
      for (const row of rows) answers[row.nth - 1]?.push(row);
      for (const [index, { resolve }] of group.entries()) resolve(answers[index] as Row[]);
    } catch (fault) {
      if (group.length > 1 && mayBeOneQuestions(fault)) await Promise.all(group.map((one) => answer([one])));
      else for (const { reject } of group) reject(fault);
    }
  };

  const sendDue = (): void => {
    isDue = false;
    while (waiting.length > 0 && underWay < MOST_UNDER_WAY) {
      const group = waiting.slice(0, MOST_IN_GROUP);
      waiting = waiting.slice(MOST_IN_GROUP);
      underWay += 1;
      void withOrigin(group[0]?.origin, () => answer(group)).then(() => {
        underWay -= 1;
        sendAtEndOfTurn();
      });
    }
  };

  const sendAtEndOfTurn = (): void => {
    if (isDue || waiting.length === 0 || underWay === MOST_UNDER_WAY) return;
    isDue = true;
    setImmediate(sendDue);
  };

  return (question) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= MOST_WAITING) return reject(new TooManyReads());
      waiting.push({ question, origin: currentOrigin(), resolve, reject });
      sendAtEndOfTurn();
    });
}

/** One group for each text of a statement; a shape has few values, so there are few texts. */
export function byShape<Question, Shape extends object, Answer>(
  shapeOf: (question: Question) => Shape,
  groupFor: (shape: Shape) => (question: Question) => Promise<Answer>,
): (question: Question) => Promise<Answer> {
  const groups = new Map<string, (question: Question) => Promise<Answer>>();
  return (question) => {
    const shape = shapeOf(question);
    const key = Object.values(shape).join();
    let group = groups.get(key);
    if (group === undefined) {
      group = groupFor(shape);
      groups.set(key, group);
    }
    return group(question);
  };
}

/** Temporary, like a database without a free connection. */
class TooManyReads extends Error {
  readonly code = '53300';

  constructor() {
    super('too many reads wait for the database');
  }
}

/** Faults of the server or of the way to it would meet each question alone, too; only a timeout may be one question's. */
const mayBeOneQuestions = (fault: unknown): boolean =>
  fault instanceof DatabaseError && (fault.code === '57014' || databaseFault(fault) === null);

/**
 * The questions as rows of a statement: `columns` are arrays with one element for each.
 *
 * The planner takes the limit for a tenth of the ten rows that it expects of arrays: so a plan for a group of any size
 * looks no dearer than one that is made anew for each group, and is kept; and it looks each row up by key.
 */
export const asRows = (sql: Sql, columns: Fragment, names: string, count: number): Fragment =>
  sql`(select * from unnest(${columns}) with ordinality as q(${sql.unsafe(names)}, nth) limit ${count}::bigint) q`;

// Calls that arrive while an earlier batch runs share the next one: one statement, or one transaction, for many orders.
// A batch that fails is repeated item by item, so that a fault stays with the item that has it.

interface BatchOptions<Item, Answer> {
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
