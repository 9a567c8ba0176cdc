/**
 * Computes what a market order would get from the present book, and its expected profit. Pure integers. The venue rounds per
 * resting order and this code per price, so they agree to within a micro-unit per fill.
 */
import { divide, MICRO, type Micro, notional, PIPS, type Pips } from '@bellwether/contract/decimals';
import { takerFee } from './amounts.ts';
import type { Draft } from './draft.ts';
import { type Book, isCrossed, type MarketRecord } from './market.ts';

export interface Sweep {
  readonly side: 'BUY' | 'SELL';
  readonly outcome: 'YES' | 'NO';
  /** Collateral to spend (BUY) or shares to sell (SELL). */
  readonly amount: Micro;
  readonly best: Pips | null;
  readonly worst: Pips | null;
  readonly shares: Micro;
  /** Collateral paid or received, before the fee. */
  readonly cost: Micro;
  readonly fee: Micro;
  /** False: the book is too thin for the whole amount. */
  readonly complete: boolean;
}

type FeeTerms = Pick<MarketRecord, 'feeRate' | 'feeExponent'>;

/** Where a sweep ends although the amount is not used up. */
interface SweepBounds {
  /** The worst price to accept. */
  readonly limit?: Pips;
  /** The most shares that a BUY takes. */
  readonly shares?: Micro;
}

export function sweep(
  terms: FeeTerms,
  book: Book,
  ask: Pick<Sweep, 'side' | 'outcome' | 'amount'>,
  bounds: SweepBounds = {},
): Sweep {
  const buying = ask.side === 'BUY';
  const levels = buying ? book.asks : book.bids;
  const rounding = buying ? 'ceil' : 'floor';
  let left = ask.amount;
  let shares = 0n;
  let cost = 0n;
  let fee = 0n;
  let worst: Pips | null = null;
  for (const [price, size] of levels) {
    if (left <= 0n || isBeyond(price, bounds.limit, buying)) break;
    const wanted = buying ? divide(left * BigInt(PIPS), BigInt(price), 'floor') : left;
    const room = bounds.shares === undefined ? wanted : bounds.shares - shares;
    const affordable = wanted < room ? wanted : room;
    const taken = affordable < size ? affordable : size;
    if (taken === 0n) {
      // The rest is less than the cost of a micro-share.
      left = 0n;
      break;
    }
    // Never better than the book: a BUY's parts of a micro-unit are paid, a SELL's are not received.
    const paid = notional(taken, price, rounding);
    const charged = takerFee(terms, taken, price);
    shares += taken;
    cost += paid;
    // A venue's fee cannot exceed the proceeds.
    fee += !buying && charged > paid ? paid : charged;
    worst = price;
    left = taken < size ? 0n : left - (buying ? paid : taken);
  }
  return {
    ...ask,
    best: levels[0]?.[0] ?? null,
    worst,
    shares,
    cost,
    fee,
    complete: left <= 0n && shares > 0n,
  };
}

const isBeyond = (price: Pips, limit: Pips | undefined, buying: boolean): boolean =>
  limit !== undefined && (buying ? price > limit : price < limit);

/**
 * The same for whole contracts, where the amount includes the fee: as many contracts as the amount pays for, level by
 * level. A rest too small for another contract stays unspent, and the sweep still counts as complete; a level's fraction
 * of a contract is skipped.
 */
export function sweepContracts(
  terms: FeeTerms,
  book: Book,
  ask: Pick<Sweep, 'side' | 'outcome' | 'amount'>,
): Sweep {
  const buying = ask.side === 'BUY';
  const levels = buying ? book.asks : book.bids;
  const priced = (contracts: Micro, price: Pips) => ({
    paid: notional(contracts, price, buying ? 'ceil' : 'floor'),
    charged: takerFee(terms, contracts, price),
  });
  let left = buying ? ask.amount : ask.amount - (ask.amount % MICRO);
  let shares = 0n;
  let cost = 0n;
  let fee = 0n;
  let worst: Pips | null = null;
  let isSated = left === 0n;
  for (const [price, size] of levels) {
    const affordable = buying ? contractsFor(left, price, terms) : left;
    const offered = size - (size % MICRO);
    isSated = affordable <= offered;
    const taken = isSated ? affordable : offered;
    if (taken > 0n) {
      const { paid, charged } = priced(taken, price);
      shares += taken;
      cost += paid;
      fee += !buying && charged > paid ? paid : charged;
      left -= buying ? paid + charged : taken;
      worst = price;
    }
    if (isSated) break;
  }
  return { ...ask, best: levels[0]?.[0] ?? null, worst, shares, cost, fee, complete: isSated && shares > 0n };
}

/** Whole contracts that an amount pays for at one price, including the fee. */
function contractsFor(amount: Micro, price: Pips, terms: FeeTerms): Micro {
  const spent = (contracts: Micro) => notional(contracts, price, 'ceil') + takerFee(terms, contracts, price);
  // The fee is rounded up once per order, not per contract: there may be room for one more.
  const found = (amount / spent(MICRO)) * MICRO;
  return spent(found + MICRO) <= amount ? found + MICRO : found;
}

/** Expected gain of a sweep, after fees, when a share pays one collateral with this probability (in millionths). */
export function expectedProfit({ side, shares, cost, fee }: Sweep, probability: Micro): Micro {
  const worth = (shares * probability) / MICRO;
  return side === 'BUY' ? worth - cost - fee : cost - fee - worth;
}

/** The same for one share at the best price; `null` for an empty side. */
export function edgeAtBest(
  terms: FeeTerms,
  book: Book,
  side: 'BUY' | 'SELL',
  probability: Micro,
): Micro | null {
  const price = (side === 'BUY' ? book.asks : book.bids)[0]?.[0];
  if (price === undefined) return null;
  const cost = notional(MICRO, price, 'floor');
  return expectedProfit(
    {
      side,
      outcome: book.outcome,
      amount: 0n,
      best: price,
      worst: price,
      shares: MICRO,
      cost,
      fee: takerFee(terms, MICRO, price),
      complete: true,
    },
    probability,
  );
}

/** The highest price on the tick grid at which a share is still worth buying, after the fee; 0 when there is none. */
export function highestWorthwhile(
  terms: FeeTerms & Pick<MarketRecord, 'tickSize'>,
  probability: Micro,
): Pips {
  let low = 0;
  let high = PIPS / terms.tickSize - 1;
  // Price and fee together rise with the price.
  while (low < high) {
    const ticks = Math.ceil((low + high) / 2);
    const price = ticks * terms.tickSize;
    if (notional(MICRO, price, 'floor') + takerFee(terms, MICRO, price) <= probability) low = ticks;
    else high = ticks - 1;
  }
  return low * terms.tickSize;
}

// The amount by which safeguards judge a SELL: what it may bring, not the least that its signature accepts. A worst price
// of one tick would otherwise make any sale cheap.

/** The desk's beliefs about the market at this moment, in prices of the outcome that is sold. */
interface SaleMarket {
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
