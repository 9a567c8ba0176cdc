/**
 * Orders that wait before they are matched, as at the venue in markets with a delay for takers. Only a fault delays an order here. While it
 * waits it can be read, and neither cancelled nor posted again; then it is executed like any other, and may still be refused.
 * It waits in memory: when the process ends meanwhile, it is never executed.
 */
import type { MarketView, NewOrder, OrderId } from '../../paper-exchange.ts';
import type { Faults } from './faults.ts';

type PostedOrder = NewOrder & { readonly posted: NonNullable<NewOrder['posted']> };

export interface DelayedOrder {
  readonly order: PostedOrder;
  readonly market: MarketView;
  /** When it was posted. */
  readonly at: number;
}

export class DelayedOrders {
  readonly #faults: Faults | undefined;
  readonly #waiting = new Map<OrderId, DelayedOrder & { readonly timer: NodeJS.Timeout }>();

  constructor(faults: Faults | undefined) {
    this.#faults = faults;
  }

  find(orderId: OrderId): DelayedOrder | undefined {
    return this.#waiting.get(orderId);
  }

  /** @returns true when the order waits; `execute` is then called later */
  hold(order: NewOrder, market: MarketView, execute: () => Promise<unknown>): boolean {
    const faults = this.#faults;
    if (faults?.isOn !== true || order.posted === undefined || !isMarketable(order, market)) return false;
    const ms = faults.delayMs();
    if (ms === 0) return false;
    const { orderId, posted } = order;
    const timer = setTimeout(() => {
      // Its outcome is in the exchange's records.
      execute()
        .catch(() => {})
        .finally(() => this.#waiting.delete(orderId));
    }, ms).unref();
    this.#waiting.set(orderId, { order: { ...order, posted }, market, at: faults.now(), timer });
    return true;
  }

  close(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }
}

function isMarketable({ side, outcome, limit, postOnly }: NewOrder, market: MarketView): boolean {
  if (postOnly) return false;
  const buysYes = (side === 'BUY') === (outcome === 'YES');
  const price = outcome === 'YES' ? limit : 10_000 - limit;
  const best = buysYes ? market.bestAsk : market.bestBid;
  return best !== undefined && (buysYes ? price >= best : price <= best);
}
