/**
 * The cost of whole contracts on a book, and the venue's fee. Pure.
 *
 * The fee is 0.07·c·p(1−p), rounded up to a cent over the whole order, plus DFlow's 0.01·c·p(1−p), rounded up to a
 * micro-unit: 11 contracts at 0.08 cost 0.88 + 0.06 + 0.008096 = 0.948096, as captured from the venue itself.
 */
import { divide, MICRO, type Micro, notional, PIPS, type Pips } from '@bellwether/contract/decimals';
import { type Payout, paysOf } from '@bellwether/contract/positions';
import type { Level, Outcome } from '@bellwether/exchange';

export interface Lot {
  readonly price: Pips;
  /** Micro-contracts. */
  readonly size: Micro;
}

export interface Priced {
  /** Micro-contracts. */
  readonly size: Micro;
  /** Before the fee. */
  readonly cost: Micro;
  readonly fee: Micro;
  /** Price of the best level used; 0 when none is used. */
  readonly best: Pips;
  readonly worst: Pips;
}

const CENT: Micro = 10_000n;
/** Hundredths of c·p(1−p): what the exchange takes, and what DFlow takes. */
export const FEE_HUNDREDTHS = { exchange: 7n, dflow: 1n } as const;
export const MICRO_PER_PIP: Micro = MICRO / BigInt(PIPS);
/** Unit of `weight`: contracts × p(1−p) in micro-units of collateral, times this. */
const WEIGHT = BigInt(PIPS) * BigInt(PIPS);

/** What one token of the outcome pays, in millionths; 0n for a loser. The venue pays YES in whole basis points, and NO the rest. */
export function payoutOf({ payout }: { readonly payout: Payout | null }, outcome: Outcome): Micro {
  if (payout === null) return 0n;
  const yes = paysOf(payout, 'YES');
  const paysYes = yes - (yes % MICRO_PER_PIP);
  return outcome === 'YES' ? paysYes : MICRO - paysYes;
}

export function venueFee(lots: Iterable<Lot>): Micro {
  let weight = 0n;
  for (const { price, size } of lots) weight += size * BigInt(price) * BigInt(PIPS - price);
  const exchange = divide(FEE_HUNDREDTHS.exchange * weight, 100n * WEIGHT * CENT, 'ceil') * CENT;
  return exchange + divide(FEE_HUNDREDTHS.dflow * weight, 100n * WEIGHT, 'ceil');
}

/** The lots of the first `size` on these levels, best first; fewer when the book offers less. */
function* lotsOf(levels: readonly Level[], size: Micro): Generator<Lot> {
  let left = size;
  for (const [price, available] of levels) {
    if (left <= 0n) return;
    const taken = available < left ? available : left;
    yield { price, size: taken };
    left -= taken;
  }
}

/** @param rounding of the cost: up for a buyer, down for a seller */
function priced(levels: readonly Level[], size: Micro, rounding: 'ceil' | 'floor'): Priced {
  const lots = [...lotsOf(levels, size)];
  return {
    size: lots.reduce((sum, lot) => sum + lot.size, 0n),
    cost: lots.reduce((sum, lot) => sum + notional(lot.size, lot.price, rounding), 0n),
    fee: venueFee(lots),
    best: lots[0]?.price ?? 0,
    worst: lots.at(-1)?.price ?? 0,
  };
}

const wholePart = (size: Micro): Micro => size - (size % MICRO);
const depthOf = (levels: readonly Level[]): Micro => levels.reduce((sum, [, size]) => sum + size, 0n);

/** The most whole contracts that cost at most `amount` with the fee; size 0n when not even one does. */
export function priceBuy(asks: readonly Level[], amount: Micro): Priced {
  // Cost and fee grow with the size, so a binary search finds the largest affordable size.
  let low = 0n;
  let high = depthOf(asks) / MICRO;
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    const { cost, fee } = priced(asks, middle * MICRO, 'ceil');
    if (cost + fee <= amount) low = middle;
    else high = middle - 1n;
  }
  return priced(asks, low * MICRO, 'ceil');
}

/** Proceeds of the whole contracts of `size`; a smaller size when the bids do not take all. */
export function priceSell(bids: readonly Level[], size: Micro): Priced {
  const depth = wholePart(depthOf(bids));
  const whole = wholePart(size);
  return priced(bids, whole < depth ? whole : depth, 'floor');
}

/** The cost of `size` for a buyer; a smaller size when the book offers less. */
export const priceExactly = (asks: readonly Level[], size: Micro): Priced => priced(asks, size, 'ceil');

/** Distance of the average price from the best, in millionths of the best. */
export function impactMillionths({ size, cost, best }: Priced): bigint {
  if (size === 0n || best === 0) return 0n;
  const atBest = (size * BigInt(best)) / BigInt(PIPS);
  const distance = cost > atBest ? cost - atBest : atBest - cost;
  return atBest === 0n ? 0n : (distance * MICRO) / atBest;
}
