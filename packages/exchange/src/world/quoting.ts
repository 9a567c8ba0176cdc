/**
 * The orders that the house maker wants: a ladder on each side of the hidden probability. Pure arithmetic.
 *
 * The maker is honest: no bid above the probability, no ask below it, at any inventory or pressure. So trading against
 * the house has no expected profit, and paper results are not too good. Half of each side still fills an order of 50
 * collateral, counted in the cheaper of the two outcomes.
 */
import { MICRO, type Micro, PIPS, type Pips } from '@bellwether/contract/decimals';
import { CERTAIN, type Millionths, type QuoteSide } from './records.ts';

export interface Rung {
  readonly side: QuoteSide;
  /** YES price. */
  readonly price: Pips;
  readonly size: Micro;
}

export interface QuoteTerms {
  readonly probability: Millionths;
  readonly tickSize: Pips;
  /** Ticks to back off, per side. */
  readonly pressure: { readonly bid: number; readonly ask: number };
  /** The maker's YES tokens less its NO tokens, in micro-shares. */
  readonly inventory: Micro;
}

const MILLIONTHS_PER_PIP = 100;
/** Collateral value of each rung, in the cheaper outcome, from the best price outwards. */
const RUNG_COLLATERAL = [100, 150, 250, 500] as const;
const BASE_HALF_SPREAD: Millionths = 1_000;
const MID_HALF_SPREAD: Millionths = 7_000;
/** Net tokens that make the maker back off by one more tick on the side that would add to them. */
const INVENTORY_PER_TICK: Micro = 2_000n * MICRO;
const GREATEST_INVENTORY_TICKS = 5;

/** Widest in the middle, where a probability is least informative. */
function halfSpread(probability: Millionths, tickSize: Pips): Millionths {
  // p(1−p) is at most a quarter; in thousandths of that quarter.
  const uncertainty = Math.floor((4 * probability * (CERTAIN - probability)) / (CERTAIN * 1_000));
  const wanted = BASE_HALF_SPREAD + Math.floor((MID_HALF_SPREAD * uncertainty) / 1_000);
  return Math.max(wanted, (tickSize * MILLIONTHS_PER_PIP) >> 1);
}

/** How many ticks one side backs off after it was taken. */
export function backOff(probability: Millionths, tickSize: Pips): number {
  return Math.max(1, Math.ceil(halfSpread(probability, tickSize) / (tickSize * MILLIONTHS_PER_PIP)));
}

/** The wanted orders: bids best first, then asks best first; prices distinct, within [tick, 1 − tick]. */
export function ladder(terms: QuoteTerms): Rung[] {
  const { probability, tickSize, pressure } = terms;
  const tick = tickSize * MILLIONTHS_PER_PIP;
  const half = halfSpread(probability, tickSize);
  const steps = clamp(Number(terms.inventory / INVENTORY_PER_TICK), GREATEST_INVENTORY_TICKS);
  const gap = Math.max(1, Math.floor(half / tick)) * tickSize;
  // A side that would reduce the inventory moves at most halfway towards fair.
  const bidHalf = steps < 0 ? half >> 1 : half;
  const askHalf = steps > 0 ? half >> 1 : half;
  const bid = (Math.floor((probability - bidHalf) / tick) - pressure.bid - Math.max(0, steps)) * tickSize;
  const ask = (Math.ceil((probability + askHalf) / tick) + pressure.ask + Math.max(0, -steps)) * tickSize;
  return [...rungs('bid', bid, -gap, tickSize), ...rungs('ask', ask, gap, tickSize)];
}

function rungs(side: QuoteSide, best: Pips, gap: number, tickSize: Pips): Rung[] {
  const wanted: { side: QuoteSide; price: Pips; size: Micro }[] = [];
  for (const [index, collateral] of RUNG_COLLATERAL.entries()) {
    const price = Math.min(PIPS - tickSize, Math.max(tickSize, best + index * gap));
    const cheaper = Math.min(price, PIPS - price);
    const size = BigInt(Math.ceil((collateral * PIPS) / cheaper)) * MICRO;
    const last = wanted.at(-1);
    // At the end of the grid the remaining rungs share the last price.
    if (last?.price === price) last.size += size;
    else wanted.push({ side, price, size });
  }
  return wanted;
}

const clamp = (value: number, greatest: number): number => Math.min(greatest, Math.max(-greatest, value));
