/** How far a market order has to reach into a book. */
import { divide, type Micro, PIPS, parseMicro, parsePips, pipsToNumber } from '@bellwether/contract';
import { NEED, needOptions } from './usage-error.ts';

/** Levels as GET /markets/orderbook/{tokenId} gives them: best first, decimal texts. */
export interface BookLevels {
  readonly bids: readonly { readonly price: string; readonly size: string }[];
  readonly asks: readonly { readonly price: string; readonly size: string }[];
}

export interface ReachedPrice {
  /** Worst level touched: good as `worstPrice`. `null` when that side of the book is empty. */
  readonly price: number | null;
  /** False when the book is too thin for all of it. */
  readonly complete: boolean;
}

/**
 * Walks the asks (BUY, by collateral) or the bids (SELL, by shares) of the token's own book.
 * @param wanted `amount` in collateral for a BUY, `shares` for a SELL.
 * @example
 * const book = await client.getOrderBook(tokenId);
 * const { price, complete } = priceToReach(book, { side: 'BUY', amount: 25 });
 */
export function priceToReach(
  book: BookLevels,
  wanted:
    | { readonly side: 'BUY'; readonly amount: number | string }
    | { readonly side: 'SELL'; readonly shares: number | string },
): ReachedPrice {
  needOptions('priceToReach', book, {
    bids: { what: 'a list of levels', fits: Array.isArray },
    asks: { what: 'a list of levels', fits: Array.isArray },
  });
  needOptions('priceToReach', wanted, { side: NEED.text('"BUY" or "SELL"') });
  needOptions('priceToReach', wanted, { [wanted.side === 'BUY' ? 'amount' : 'shares']: NEED.number });
  const buy = wanted.side === 'BUY';
  let left: Micro = parseMicro(buy ? wanted.amount : wanted.shares, 'floor');
  let price: number | null = null;
  for (const level of buy ? book.asks : book.bids) {
    const pips = parsePips(level.price);
    const shares = parseMicro(level.size, 'floor');
    price = pipsToNumber(pips);
    left -= buy ? divide(shares * BigInt(pips), BigInt(PIPS), 'floor') : shares;
    if (left <= 0n) return { price, complete: true };
  }
  return { price, complete: false };
}
