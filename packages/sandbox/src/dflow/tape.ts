/** The latest trades of the exchange, for the venue's tape. In memory only: lost when the process ends. */
import type { ConditionId, Outcome, PaperExchange } from '@bellwether/exchange';

export interface TapeTrade {
  readonly id: number;
  readonly conditionId: ConditionId;
  /** Epoch milliseconds. */
  readonly at: number;
  /** YES price in pips, and micro-contracts. */
  readonly price: number;
  readonly size: bigint;
  /** The outcome whose tokens the taker gained. */
  readonly takerSide: Outcome;
}

const TRADES_KEPT = 5_000;
const WHOLE_PIPS = 10_000;

export class Tape {
  readonly #trades: TapeTrade[] = [];
  readonly close: () => void;

  constructor(exchange: Pick<PaperExchange, 'subscribe'>) {
    this.close = exchange.subscribe((entries) => {
      for (const { at, events } of entries) {
        for (const event of events) {
          if (event.kind !== 'fill' || event.liquidity !== 'taker') continue;
          const isYes = event.outcome === 'YES';
          this.#trades.push({
            id: event.matchId,
            conditionId: event.conditionId,
            at,
            price: isYes ? event.price : WHOLE_PIPS - event.price,
            size: event.size,
            takerSide: (event.side === 'BUY') === isYes ? 'YES' : 'NO',
          });
        }
      }
      if (this.#trades.length > 2 * TRADES_KEPT) this.#trades.splice(0, this.#trades.length - TRADES_KEPT);
    });
  }

  /** Newest first. */
  *newest(): Generator<TapeTrade> {
    for (let i = this.#trades.length - 1; i >= 0; i -= 1) yield this.#trades[i]!;
  }
}
