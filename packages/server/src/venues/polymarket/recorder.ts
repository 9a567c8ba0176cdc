/**
 * Records what is heard of orders: observations that arrive while a group is being written share the next one. An order
 * whose answer is awaited keeps what other sources say of it until the answer is there, so that the answer to its sender
 * is the venue's own.
 */
import type { MarketRecord } from '../../domain/market.ts';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { LiveChange, LiveOrder, LiveOrderLog } from '../live-orders.ts';
import { fold } from './fold.ts';
import type { Observation } from './observations.ts';

export interface Recorder {
  /** @returns the order as it is recorded then; `null`: the desk has no such order */
  record(
    orderId: string,
    seen: readonly Observation[],
    market: MarketRecord | null,
  ): Promise<LiveOrder | null>;
  /** Holds the observations of an order until the returned function records it, with what `own` adds in front. */
  await(
    orderId: string,
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
  readonly resolve: (order: LiveOrder | null) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_GROUP = 200;

/** An order that merely rests moves nothing; what it holds the venue knows best. */
const movesMoney = ({ evidence, reversals, venue }: LiveChange): boolean =>
  venue.isFinal || evidence.fills.length > 0 || reversals.length > 0;

export interface RecorderParts {
  readonly log: LiveOrderLog;
  readonly logger: OutboundLog;
  /** Called when the account's balance is another one. */
  readonly onTraded: (account: string) => void;
}

export function createRecorder({ log, logger, onTraded }: RecorderParts): Recorder {
  const waiting: Item[] = [];
  let running: Promise<void> | null = null;
  let contradictions = 0;
  let keptAside = 0;
  const awaited = new Map<string, Item[]>();

  const write = async (items: readonly Item[]): Promise<void> => {
    const byOrder = Map.groupBy(items, ({ orderId }) => orderId);
    const said: [string, string][] = [];
    const aside: [string, string][] = [];
    const traded = new Set<string>();
    const known = await log.update([...byOrder.keys()], (order) => {
      const own = byOrder.get(order.order.orderId) ?? [];
      const market = own.find((item) => item.market !== null)?.market ?? null;
      const folded = fold(
        order,
        own.flatMap(({ seen }) => seen),
        market,
      );
      for (const one of folded.contradictions) said.push([order.order.orderId, one]);
      for (const why of folded.keptAside) aside.push([order.order.orderId, why]);
      if (folded.change !== null && movesMoney(folded.change)) traded.add(order.order.funder);
      return folded.change;
    });
    for (const [orderId, why] of aside) {
      keptAside += 1;
      logger.warn({ orderId, why }, 'a trade is kept aside: it would take more than its order signed');
    }
    for (const [orderId, contradiction] of said) {
      contradictions += 1;
      logger.warn({ orderId, contradiction }, 'the venue contradicts the record of an order');
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

  const add = (orderId: string, seen: readonly Observation[], market: MarketRecord | null) => {
    const { promise, resolve, reject } = Promise.withResolvers<LiveOrder | null>();
    const item: Item = { orderId, seen, market, resolve, reject };
    const held = awaited.get(orderId);
    if (held !== undefined) held.push(item);
    else {
      waiting.push(item);
      running ??= run();
    }
    return promise;
  };

  return {
    record: add,
    await(orderId) {
      awaited.set(orderId, awaited.get(orderId) ?? []);
      return (own, market) => {
        const held = awaited.get(orderId) ?? [];
        awaited.delete(orderId);
        const answer = add(orderId, own, market);
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
