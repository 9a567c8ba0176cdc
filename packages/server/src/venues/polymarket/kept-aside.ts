/** Trades that are kept aside, for an operator to look at, and what the operator decides about one. */
import type { MarketRecord } from '../../domain/market.ts';
import type { LiveOrder, LiveOrderLog } from '../live-orders.ts';
import type { KeptAside } from '../venue.ts';
import type { Recorder } from './recorder.ts';

export interface KeptAsideParts {
  readonly log: Pick<LiveOrderLog, 'find' | 'withHeldTrades'>;
  readonly recorder: Pick<Recorder, 'record'>;
  readonly findMarket: (conditionId: string) => Promise<MarketRecord | null>;
  readonly now: () => number;
}

const heldIn = ({ order, trades }: LiveOrder) =>
  [...trades.values()].flatMap((trade) =>
    trade.aside?.state === 'held' ? [{ order, trade: { ...trade, aside: trade.aside } }] : [],
  );

export function createKeptAside({ log, recorder, findMarket, now }: KeptAsideParts): KeptAside {
  return {
    async held(page) {
      const { orders, total } = await log.withHeldTrades(page);
      return { orders: orders.map((live) => ({ order: live.order, trades: heldIn(live) })), total };
    },
    async decide({ orderId, tradeId, decision }) {
      const live = (await log.find([orderId])).get(orderId);
      if (live === undefined || !heldIn(live).some(({ trade }) => trade.tradeId === tradeId)) return null;
      // Without its market a fill would belong to nothing that resolves.
      const market = await findMarket(live.order.conditionId);
      const seen = { orderId, at: now(), kind: 'decision' as const, tradeId, decision };
      return (await recorder.record(orderId, [seen], market))?.order ?? null;
    },
  };
}
