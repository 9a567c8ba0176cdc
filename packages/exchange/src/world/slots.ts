/**
 * The plan of the world: how many markets of each kind are open at any time. A slot is a place for one event; when its
 * event ends, another of the same kind is listed in it, so the mixture stays constant. A world keeps the number of
 * slots of its founding: new slots are appended to the plan, and existing slots must not change.
 */
import type { Pips } from '@bellwether/contract/decimals';
import type { Category } from './markets.ts';
import type { NamedKind } from './texts.ts';

export type Horizon = 'blitz' | 'flash' | 'short' | 'days' | 'weeks' | 'months';

export interface Slot {
  readonly category: Category;
  readonly horizon: Horizon;
  readonly tickSize: Pips;
  /** Tick near the ends, as the venue's markets have it. */
  readonly finerTick?: Pips;
  /** Number of markets; more than one is a negative-risk event. */
  readonly markets: number;
  /** Its market's outcomes have names; absent: they are Yes and No. */
  readonly named?: NamedKind;
  /** Protocol of its markets at the venue; absent: V1. A world of an earlier release has V1 alone. */
  readonly version?: 'v2';
}

/** How many markets of a world are of Protocol V2: those of the plan, eight of them, or about a third of all. A world without any has no share. */
export type V2Share = 'few' | 'third';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Shortest and longest life of an event, in milliseconds at speed 1. */
export const HORIZON_MS: Readonly<Record<Horizon, readonly [number, number]>> = {
  blitz: [2 * MINUTE, 2 * MINUTE],
  flash: [15 * MINUTE, HOUR],
  short: [2 * HOUR, 12 * HOUR],
  days: [DAY, 4 * DAY],
  weeks: [7 * DAY, 28 * DAY],
  months: [45 * DAY, 180 * DAY],
};

const PLAIN: ReadonlyArray<readonly [Category, Horizon, count: number]> = [
  ['Politics', 'weeks', 6],
  ['Politics', 'months', 9],
  ['Sports', 'short', 5],
  ['Sports', 'days', 8],
  ['Sports', 'weeks', 3],
  ['Crypto', 'flash', 4],
  ['Crypto', 'short', 4],
  ['Crypto', 'days', 4],
  ['Crypto', 'weeks', 2],
  ['Finance', 'flash', 2],
  ['Finance', 'short', 2],
  ['Finance', 'days', 4],
  ['Finance', 'weeks', 3],
  ['Finance', 'months', 1],
  ['Economics', 'weeks', 5],
  ['Economics', 'months', 6],
  ['Tech', 'days', 1],
  ['Tech', 'weeks', 3],
  ['Tech', 'months', 7],
  ['Culture', 'days', 3],
  ['Culture', 'weeks', 4],
  ['Culture', 'months', 3],
  ['Weather', 'short', 3],
  ['Weather', 'days', 5],
  ['Weather', 'weeks', 2],
  ['Geopolitics', 'weeks', 3],
  ['Geopolitics', 'months', 5],
];

/** A tenth of all markets. The last of a kind may be of Protocol V2. */
const NAMED: ReadonlyArray<readonly [Category, Horizon, NamedKind, count: number, lastIsOfV2?: true]> = [
  ['Sports', 'short', 'teams', 3, true],
  ['Sports', 'days', 'teams', 2],
  ['Sports', 'days', 'players', 2],
  ['Sports', 'short', 'total', 2],
  ['Sports', 'days', 'total', 1],
  ['Crypto', 'flash', 'price', 2, true],
  ['Crypto', 'short', 'price', 1],
  ['Finance', 'short', 'index', 1],
  ['Politics', 'weeks', 'candidates', 1],
];

/** Mostly cents; a few markets have the venue's coarsest and finest ticks, some a tenth of a cent. */
function tickOf(index: number): Pips {
  if (index % 36 === 5) return 1000;
  if (index % 36 === 17) return 1;
  return index % 6 === 2 ? 10 : 100;
}

function plan(): Slot[] {
  const slots: Slot[] = [];
  for (const [category, horizon, count] of PLAIN) {
    for (let i = 0; i < count; i += 1)
      slots.push({ category, horizon, tickSize: tickOf(slots.length), markets: 1 });
  }
  slots.push({ category: 'Sports', horizon: 'weeks', tickSize: 10, markets: 8 });
  slots.push({ category: 'Politics', horizon: 'months', tickSize: 100, markets: 5 });
  // A market of a few minutes, so that an agent can follow one until its payout.
  slots.push({ category: 'Crypto', horizon: 'blitz', tickSize: 100, markets: 1 });
  slots.push({ category: 'Crypto', horizon: 'days', tickSize: 100, markets: 1, version: 'v2' });
  slots.push({ category: 'Tech', horizon: 'weeks', tickSize: 100, markets: 1, version: 'v2' });
  // Three titles and "Other".
  slots.push({ category: 'Culture', horizon: 'weeks', tickSize: 100, markets: 4, version: 'v2' });
  slots.push({ category: 'Economics', horizon: 'weeks', tickSize: 50, markets: 1 });
  slots.push({ category: 'Sports', horizon: 'weeks', tickSize: 25, markets: 1 });
  slots.push({ category: 'Finance', horizon: 'days', tickSize: 100, finerTick: 10, markets: 1 });
  for (const [category, horizon, named, count, lastIsOfV2] of NAMED) {
    for (let i = 1; i <= count; i += 1) {
      const tickSize = slots.length % 4 === 3 ? 10 : 100;
      const version = lastIsOfV2 === true && i === count ? ({ version: 'v2' } as const) : {};
      slots.push({ category, horizon, named, tickSize, markets: 1, ...version });
    }
  }
  return slots;
}

export const SLOTS: readonly Slot[] = plan();
/** Number of slots of worlds that do not record it. */
export const FIRST_SLOTS = 109;
/** @param share `undefined` for a world of an earlier release, which has none */
export function isOfV2(slot: number, share: V2Share | undefined): boolean {
  if (share === undefined) return false;
  const { version, markets } = SLOTS[slot]!;
  return version === 'v2' || (share === 'third' && markets === 1 && slot % 3 === 1);
}

export const OPEN_MARKETS = SLOTS.reduce((sum, slot) => sum + slot.markets, 0);
