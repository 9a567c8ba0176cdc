/**
 * Records what is heard of orders: observations that arrive while a group is being written share the next one. An order
 * whose answer is awaited keeps what other sources say of it until the answer is there, so that the answer to its sender
 * is the venue's own.
 */
import type { MarketRecord } from '../../domain/market.ts';
import type { NewSignedOrder } from '../../domain/records.ts';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { LiveChange, LiveOrder, LiveOrderLog } from '../live-orders.ts';
import { type FoldedOrder, foldOrder } from './fold.ts';
import type { Observation } from './order-wire.ts';

export interface OrderRecorder {
  /** @returns the order as it is recorded then; `null`: the desk has no such order */
  record(
    orderId: string,
    seen: readonly Observation[],
    market: MarketRecord | null,
  ): Promise<LiveOrder | null>;
  /**
   * Holds the observations of an order until the returned function records it, with what `own` adds in front.
   * @param recorded the order, where this process has just recorded it
   */
  await(
    orderId: string,
    recorded?: NewSignedOrder,
  ): (own: readonly Observation[], market: MarketRecord | null) => Promise<LiveOrder | null>;
  /** Observations that contradicted the record, since the start. */
  contradictions(): number;
  /** Trades that were kept aside, since the start. */
  keptAside(): number;
  /** Resolves when nothing waits. */
  settled(): Promise<void>;
}

interface Item {
  readonly orderId: string;
  readonly seen: readonly Observation[];
  readonly market: MarketRecord | null;
  readonly recorded?: NewSignedOrder | undefined;
  readonly resolve: (order: LiveOrder | null) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_GROUP = 200;

/** An order that merely rests moves nothing; what it holds the venue knows best. */
const movesMoney = ({ evidence, reversals, venue }: LiveChange): boolean =>
  venue.isFinal || evidence.fills.length > 0 || reversals.length > 0;

interface RecorderParts {
  readonly log: LiveOrderLog;
  readonly logger: OutboundLog;
  /** Called when the account's balance is another one. */
  readonly onTraded: (account: string) => void;
}

export function createRecorder({ log, logger, onTraded }: RecorderParts): OrderRecorder {
  const waiting: Item[] = [];
  let running: Promise<void> | null = null;
  let contradictions = 0;
  let keptAside = 0;
  const awaited = new Map<string, Item[]>();

  const write = async (items: readonly Item[]): Promise<void> => {
    const byOrder = Map.groupBy(items, ({ orderId }) => orderId);
    const recorded = new Map(
      items.flatMap(({ orderId, recorded: order }) => (order === undefined ? [] : [[orderId, order]])),
    );
    const decided = new Map<string, FoldedOrder>();
    const decide = (order: LiveOrder): LiveChange | null => {
      const own = byOrder.get(order.order.orderId) ?? [];
      const market = own.find((item) => item.market !== null)?.market ?? null;
      const seen = own.flatMap((item) => item.seen);
      const folded = foldOrder(order, seen, market);
      decided.set(order.order.orderId, folded);
      return folded.change;
    };
    const known = await log.update([...byOrder.keys()], decide, recorded);
    const traded = new Set<string>();
    for (const [orderId, folded] of decided) {
      for (const why of folded.keptAside) {
        keptAside += 1;
        logger.warn({ orderId, why }, 'a trade is kept aside: it would take more than its order signed');
      }
      for (const contradiction of folded.contradictions) {
        contradictions += 1;
        logger.warn({ orderId, contradiction }, 'the venue contradicts the record of an order');
      }
      const account = known.get(orderId)?.order.funder;
      if (account !== undefined && folded.change !== null && movesMoney(folded.change)) traded.add(account);
    }
    for (const account of traded) onTraded(account);
    for (const { orderId, resolve } of items) resolve(known.get(orderId) ?? null);
  };

  const run = async (): Promise<void> => {
    // Observations that arrive in the same turn of the event loop share the group.
    await new Promise<void>((turn) => setImmediate(turn));
    while (waiting.length > 0) {
      const group = waiting.splice(0, MAX_GROUP);
      try {
        await write(group);
      } catch (error) {
        if (group.length === 1) group[0]?.reject(error);
        // One that cannot be written must not keep the others from being written.
        else for (const item of group) await write([item]).catch(item.reject);
      }
    }
    running = null;
  };

  const add = (
    orderId: string,
    seen: readonly Observation[],
    market: MarketRecord | null,
    recorded?: NewSignedOrder,
  ) => {
    const { promise, resolve, reject } = Promise.withResolvers<LiveOrder | null>();
    const item: Item = { orderId, seen, market, recorded, resolve, reject };
    const held = awaited.get(orderId);
    if (held !== undefined) held.push(item);
    else {
      waiting.push(item);
      running ??= run();
    }
    return promise;
  };

  return {
    record: (orderId, seen, market) => add(orderId, seen, market),
    await(orderId, recorded) {
      awaited.set(orderId, awaited.get(orderId) ?? []);
      return (own, market) => {
        const held = awaited.get(orderId) ?? [];
        awaited.delete(orderId);
        const answer = add(orderId, own, market, recorded);
        waiting.push(...held);
        return answer;
      };
    },
    contradictions: () => contradictions,
    keptAside: () => keptAside,
    async settled() {
      while (running !== null) await running;
    },
  };
}
