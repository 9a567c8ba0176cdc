/**
 * The amount by which safeguards judge a SELL: what it may bring, not the least that its signature accepts. A worst price
 * of one tick would otherwise make any sale cheap.
 */
import { divide, type Micro, notional, PIPS, type Pips } from '@bellwether/contract/decimals';
import type { Draft } from './draft.ts';
import { type Book, isCrossed, type MarketRecord } from './market.ts';

/** The desk's beliefs about the market at this moment, in prices of the outcome that is sold. */
export interface SaleMarket {
  /** Best first; empty where no book is believed. */
  readonly bids: Book['bids'];
  /** Price of the last trade. */
  readonly lastPrice: Pips | null;
}

/** @param book where it is `null` or crossed none is believed now; then only the last trade says what a share is worth */
export function saleMarket(
  market: Pick<MarketRecord, 'lastTrade'>,
  outcome: Book['outcome'],
  book: Book | null,
): SaleMarket {
  const { lastTrade } = market;
  const ofMarket = lastTrade === undefined ? null : outcome === 'YES' ? lastTrade : PIPS - lastTrade;
  return { bids: book === null || isCrossed(book) ? [] : book.bids, lastPrice: book?.lastTrade ?? ofMarket };
}

/**
 * Each share at the bid that it would meet, never below the signed price. Shares that the depth does not cover count at the
 * higher of the best bid and the last price; at 1 where nothing was traded yet, because a single bid may be anybody's.
 * @returns micro collateral before fees, rounded up
 */
export function mayBring({ shares, money }: Pick<Draft, 'shares' | 'money'>, at: SaleMarket): Micro {
  const isBetter = (price: Pips): boolean => BigInt(price) * shares > money * BigInt(PIPS);
  let left = shares;
  let worth = 0n;
  let atSigned = 0n;
  const count = (part: Micro, price: Pips): void => {
    left -= part;
    if (isBetter(price)) worth += notional(part, price, 'ceil');
    else atSigned += part;
  };
  for (const [price, size] of at.bids) {
    if (left === 0n) break;
    count(size < left ? size : left, price);
  }
  if (left > 0n) count(left, priceBeyond(at));
  if (atSigned === 0n) return worth;
  return worth + (atSigned === shares ? money : divide(money * atSigned, shares, 'ceil'));
}

const priceBeyond = ({ bids, lastPrice }: SaleMarket): Pips =>
  lastPrice === null ? PIPS : Math.max(bids[0]?.[0] ?? 0, lastPrice);
