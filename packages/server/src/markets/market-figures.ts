/** A market's book and what orders would get of it, as answers show them. */
import { type MarketContext, outcomeName } from '@bellwether/contract';
import {
  divide,
  MICRO,
  type Micro,
  microToNumber,
  type Pips,
  pipsToNumber,
} from '@bellwether/contract/decimals';
import type { Sweep } from '../domain/book-sweep.ts';
import type { Book, MarketRecord } from '../domain/market.ts';
import { mayBring, saleMarket } from '../domain/sale-worth.ts';
import { tradingOf } from '../venues/asking.ts';
import { type Located, levels } from './markets.ts';

/** Books of both outcomes. */
export type Books = Readonly<Record<'YES' | 'NO', Book>>;

const DEPTH = 10;

const side = (book: Book) => ({
  bids: levels(book.bids.slice(0, DEPTH)),
  asks: levels(book.asks.slice(0, DEPTH)),
});

export function bookSummary(yes: Book, no: Book): MarketContext['orderbook'] {
  const bid = yes.bids[0]?.[0];
  const ask = yes.asks[0]?.[0];
  const shown = side(yes);
  return {
    bestBid: shown.bids[0]?.price ?? null,
    bestAsk: shown.asks[0]?.price ?? null,
    spread: bid === undefined || ask === undefined ? null : pipsToNumber(ask - bid),
    yes: shown,
    no: side(no),
    sequence: yes.sequence,
    timestamp: new Date(yes.changedAt).toISOString(),
  };
}

const priceOf = (price: Pips | null): number | null => (price === null ? null : pipsToNumber(price));
export const round6 = (value: number): number => Math.round(value * 1e6) / 1e6;

export const slippageRecords = (
  { venue, market }: Located,
  books: Books,
  sweeps: readonly Sweep[],
): MarketContext['slippage'] =>
  sweeps.map((swept) => slippageRecord(market, swept, countedOf(tradingOf(venue), market, books, swept)));

/** Amount that the safeguards count of an order of this size: for a SELL by signature, at any worst price. */
function countedOf(
  trading: ReturnType<typeof tradingOf>,
  market: MarketRecord,
  books: Books,
  { side, outcome, amount, cost }: Sweep,
): Micro {
  if (side === 'BUY') return amount;
  if (trading === 'quotes') return cost;
  return mayBring({ shares: amount, money: 0n }, saleMarket(market, outcome, books[outcome]));
}

function slippageRecord(
  { outcomes }: MarketRecord,
  swept: Sweep,
  counted: Micro,
): MarketContext['slippage'][number] {
  const { side: direction, outcome, amount, best, worst, shares, cost, fee, complete } = swept;
  const average =
    shares === 0n
      ? null
      : microToNumber(divide(cost * MICRO, shares, direction === 'BUY' ? 'ceil' : 'floor'));
  return {
    side: direction,
    outcome,
    outcomeName: outcomeName(outcomes, outcome),
    amount: microToNumber(amount),
    counted: microToNumber(counted),
    price: priceOf(best),
    averagePrice: average,
    worstPrice: priceOf(worst),
    priceImpact: average === null || best === null ? null : round6(Math.abs(average - pipsToNumber(best))),
    filledShares: microToNumber(shares),
    cost: microToNumber(cost),
    fee: microToNumber(fee),
    complete,
  };
}
