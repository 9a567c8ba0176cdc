/** How far a market order has to reach into a book. */
import {
  divide,
  type Micro,
  PIPS,
  type Pips,
  parseMicro,
  parsePips,
  pipsToNumber,
  tickOf,
} from '@bellwether/contract';
import { NEED, needOptions } from './usage-error.ts';

/** Levels as GET /markets/orderbook/{tokenId} gives them: best first, decimal texts. */
export interface BookLevels {
  readonly bids: readonly { readonly price: string; readonly size: string }[];
  readonly asks: readonly { readonly price: string; readonly size: string }[];
  /** Grid of the price that is answered; without it every price is on the grid. */
  readonly tickSize?: string;
}

export interface ReachedPrice {
  /** Worst level touched, beyond it the slippage, then the next price on the grid: good as `worstPrice`. `null` when that side of the book is empty. */
  readonly price: number | null;
  /** False when the book is too thin for all of it. */
  readonly complete: boolean;
}

/**
 * Walks the asks (BUY, by collateral) or the bids (SELL, by shares) of the token's own book.
 * @param wanted `amount` in collateral for a BUY, `shares` for a SELL; `slippage`: how much further to go, as a price
 * @example
 * const book = await client.getOrderBook(tokenId);
 * const { price, complete } = priceToReach(book, { side: 'BUY', amount: 25 });
 */
export function priceToReach(
  book: BookLevels,
  wanted:
    | { readonly side: 'BUY'; readonly amount: number | string; readonly slippage?: number }
    | { readonly side: 'SELL'; readonly shares: number | string; readonly slippage?: number },
): ReachedPrice {
  needOptions('priceToReach', book, {
    bids: { what: 'a list of levels', fits: Array.isArray },
    asks: { what: 'a list of levels', fits: Array.isArray },
  });
  needOptions('priceToReach', wanted, { side: NEED.text('"BUY" or "SELL"') });
  needOptions('priceToReach', wanted, { [wanted.side === 'BUY' ? 'amount' : 'shares']: NEED.number });
  const buy = wanted.side === 'BUY';
  let left: Micro = parseMicro(buy ? wanted.amount : wanted.shares, 'floor');
  let reached: Pips | null = null;
  for (const level of buy ? book.asks : book.bids) {
    const pips = parsePips(level.price);
    const shares = parseMicro(level.size, 'floor');
    reached = pips;
    left -= buy ? divide(shares * BigInt(pips), BigInt(PIPS), 'floor') : shares;
    if (left <= 0n) break;
  }
  const beyond = (from: Pips): Pips => {
    const tick = book.tickSize === undefined ? 1 : tickOf(book.tickSize);
    const slippage = parsePips(wanted.slippage ?? 0, 'ceil');
    // A level may be off the grid: it was placed while the ticks were finer.
    const ticks = buy ? Math.ceil((from + slippage) / tick) : Math.floor((from - slippage) / tick);
    return Math.max(tick, Math.min(PIPS - tick, ticks * tick));
  };
  if (reached === null) return { price: null, complete: false };
  return { price: pipsToNumber(beyond(reached)), complete: left <= 0n };
}
