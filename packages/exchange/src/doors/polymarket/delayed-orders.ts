/**
 * Orders that the venue's faults delay before they are matched: answered `delayed`, not to be cancelled meanwhile, then placed
 * like any other, or refused. They are kept in memory alone: like the venue's, they are lost when the engine stops, and an order
 * that was never placed has no record.
 */
import type { NewOrder, OrderId } from '../../paper-exchange.ts';
import type { DoorExchange, PolymarketDoorOptions } from './door-options.ts';

/** More are not delayed. */
const MAX_DELAYED = 1_000;

interface Delayed {
  readonly order: NewOrder;
  readonly since: number;
  readonly timer: NodeJS.Timeout;
}

type Needs = Pick<PolymarketDoorOptions, 'faults' | 'now'>;

export class DelayedOrders {
  readonly #needs: Needs;
  readonly #delayed = new Map<OrderId, Delayed>();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** How long an order has to wait: only one that would match now. @returns 0 when it does not */
  waitOf(order: NewOrder, exchange: Pick<DoorExchange, 'book'>): number {
    const { faults } = this.#needs;
    if (faults?.isOn !== true || this.#delayed.size >= MAX_DELAYED) return 0;
    const book = exchange.book(order.conditionId, order.outcome, 1);
    const best = (order.side === 'BUY' ? book?.asks : book?.bids)?.[0]?.[0];
    const wouldMatch =
      best !== undefined && (order.side === 'BUY' ? best <= order.limit : best >= order.limit);
    return wouldMatch && !order.postOnly ? faults.delayMs() : 0;
  }

  add(order: NewOrder, waitMs: number, place: () => void): void {
    const timer = setTimeout(() => {
      this.#delayed.delete(order.orderId);
      place();
    }, waitMs);
    timer.unref();
    this.#delayed.set(order.orderId, { order, since: this.#needs.now(), timer });
  }

  get(orderId: OrderId): Pick<Delayed, 'order' | 'since'> | undefined {
    return this.#delayed.get(orderId);
  }

  /** Drops them, as an engine that stops does. */
  drop(): void {
    for (const { timer } of this.#delayed.values()) clearTimeout(timer);
    this.#delayed.clear();
  }
}
