/**
 * The hidden probability of each market: a martingale in small fixed steps. Moves up and down are equally likely and
 * equally large, so the current probability is the best forecast of later ones and of the outcome, which is drawn from
 * it. Near its bounds a move becomes smaller instead of reflecting: reflection would favour one direction.
 */
import type { Pips } from '@bellwether/contract/decimals';
import type { Random } from './random.ts';
import { CERTAIN, type Millionths, type WorldMarket } from './records.ts';
import type { Slot } from './slots.ts';

const MILLIONTHS_PER_PIP = 100;
/** With the finest ticks a price could fall so low that 50 collateral buys half a million shares. */
const LEAST_PROBABILITY: Millionths = 1_500;

/**
 * The probability stays strictly between one tick and its mirror, so that a price exists on either side of it: the
 * maker could not quote honestly below the lowest price.
 */
export function bounds(tickSize: Pips): readonly [low: Millionths, high: Millionths] {
  const low = Math.max(tickSize * MILLIONTHS_PER_PIP + 1, LEAST_PROBABILITY);
  return [low, CERTAIN - low];
}

/** How far `market` can move either way and stay inside its bounds; half the room, so it never touches them. */
function room(market: WorldMarket): Millionths {
  const [low, high] = bounds(market.tickSize);
  return Math.min(market.moveSize, (market.probability - low) >> 1, (high - market.probability) >> 1);
}

/** Moves one plain market. Always draws the same number of random values. */
export function moveMarket(market: WorldMarket, random: Random): void {
  const sign = random.sign();
  market.probability += sign * Math.max(0, room(market));
}

/** Moves probability between two markets of a negative-risk event; the sum stays exactly one. */
export function moveContest(markets: readonly WorldMarket[], random: Random): void {
  const first = random.below(markets.length);
  const second = (first + 1 + random.below(markets.length - 1)) % markets.length;
  const sign = random.sign();
  const distance = Math.max(0, Math.min(room(markets[first]!), room(markets[second]!)));
  markets[first]!.probability += sign * distance;
  markets[second]!.probability -= sign * distance;
}

/** One draw for the whole event: the index of the market that resolves YES, or −1 when a plain market fails. */
export function drawWinner(markets: readonly WorldMarket[], random: Random): number {
  let draw = random.below(CERTAIN);
  for (const [index, market] of markets.entries()) {
    draw -= market.probability;
    if (draw < 0) return index;
  }
  return -1;
}

/** About one plain market of ten starts near an end. */
export function firstProbability(tickSize: Pips, random: Random): Millionths {
  const [low, high] = bounds(tickSize);
  const extreme = random.below(10) === 0;
  const drawn = extreme
    ? random.between(low, Math.max(low, 50_000))
    : random.between(Math.max(low, 50_000), CERTAIN / 2);
  const mirrored = random.sign() > 0 ? drawn : CERTAIN - drawn;
  return Math.min(high, Math.max(low, mirrored));
}

/** Within a few moves of the limit at which ticks become finer. */
export function firstNearLimit(random: Random): Millionths {
  const drawn = random.between(35_000, 60_000);
  return random.sign() > 0 ? drawn : CERTAIN - drawn;
}

/** The venue's limit. It names none for the way back: a price at the limit shall not change the tick all the time. */
const FINER_BELOW: Millionths = 40_000;
const COARSER_FROM: Millionths = 50_000;

/**
 * The tick of a market of this slot. By the hidden probability, so that no trade changes what comes later; it reveals no more
 * than the side of the maker's book that was not taken.
 */
export function tickAt(
  { tickSize, finerTick = tickSize }: Slot,
  { tickSize: present, probability }: Pick<WorldMarket, 'tickSize' | 'probability'>,
): Pips {
  const toEnd = Math.min(probability, CERTAIN - probability);
  if (toEnd < FINER_BELOW) return finerTick;
  return toEnd >= COARSER_FROM ? tickSize : present;
}

/** Probabilities of a contest's markets: uneven, each inside its bounds, together exactly one. */
export function firstContestProbabilities(size: number, tickSize: Pips, random: Random): Millionths[] {
  const [low] = bounds(tickSize);
  const free = CERTAIN - size * low;
  const weights = Array.from({ length: size }, () => {
    const base = random.between(1, 1000);
    return base * base;
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const shares = weights.map((weight) => low + Math.floor((free * weight) / total));
  const missing = CERTAIN - shares.reduce((sum, share) => sum + share, 0);
  const favourite = shares.indexOf(Math.max(...shares));
  shares[favourite]! += missing;
  return shares;
}

/** Whole square root, rounded down. */
function squareRoot(value: number): number {
  let root = 0;
  for (let bit = 1 << 15; bit > 0; bit >>= 1) {
    if ((root + bit) * (root + bit) <= value) root += bit;
  }
  return root;
}

/** Spread of the probability over a market's whole life, in millionths, if nothing stopped it. */
const LIFETIME_SPREAD: Millionths = 300_000;
const LEAST_MOVE: Millionths = 100;
const GREATEST_MOVE: Millionths = 20_000;

/** The move size at which the `moves` of a life add up to about the same uncertainty for every market. */
export function moveSizeFor(moves: number): Millionths {
  const size = Math.floor(LIFETIME_SPREAD / Math.max(1, squareRoot(Math.max(1, moves))));
  return Math.min(GREATEST_MOVE, Math.max(LEAST_MOVE, size));
}
