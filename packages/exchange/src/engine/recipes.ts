/**
 * Test helper: random command sequences for the property test. A recipe is a small record that shrinks well; what it
 * becomes depends on its place in the sequence only. The distributions are bent so that orders really meet: few
 * accounts, two markets, five prices, sizes that force rounding.
 */
import fc from 'fast-check';
import type { EngineCommand, MarketSpec, NewOrder, Outcome, Payout, Side, TimeInForce } from './types.ts';

export const ACCOUNTS = ['ann', 'bob', 'cyd', 'dan'] as const;

export const COARSE: MarketSpec = {
  conditionId: '0xcoarse',
  tokenIds: ['1', '2'],
  tickSize: 100,
  minOrderSize: 1n,
  feeRate: 70_000n,
  feeExponent: 1,
};

export const FINE: MarketSpec = {
  conditionId: '0xfine',
  tokenIds: ['3', '4'],
  tickSize: 1,
  minOrderSize: 3n,
  feeRate: 250_000n,
  feeExponent: 2,
};

export const MARKETS = [COARSE, FINE] as const;

/** Also one that does not exist. */
const CONDITIONS = [COARSE.conditionId, FINE.conditionId, '0xnone'] as const;

/** YES prices that orders gather at; a NO order is given the mirror. */
const PRICES: Readonly<Record<string, readonly number[]>> = {
  '0xcoarse': [4900, 5000, 5000, 5100, 5200],
  '0xfine': [3331, 3332, 3333, 3334, 3335],
  '0xnone': [5000],
};

/** Off the grid, or out of range. */
const BAD_PRICES = [0, 10_000, 9_950, -100, 5_000.5];

export interface PlaceRecipe {
  readonly kind: 'place';
  readonly account: number;
  readonly market: number;
  readonly outcome: Outcome;
  readonly side: Side;
  /** 0–4 picks a price, 5–9 a bad one. */
  readonly price: number;
  readonly size: bigint;
  readonly timeInForce: TimeInForce;
  readonly postOnly: boolean;
  /** Budget of a market BUY in percent of size × limit; 0 leaves it out. */
  readonly spendPercent: number;
  /** GTD: milliseconds from now until it is due. */
  readonly lifetime: number;
  /** The id of an earlier order, so many places back; 0 for its own. */
  readonly sameIdAs: number;
}

export type Recipe = { readonly wait: number } & (
  | PlaceRecipe
  | { readonly kind: 'cancel'; readonly account: number; readonly back: readonly number[] }
  | { readonly kind: 'deposit'; readonly account: number; readonly amount: bigint }
  | {
      readonly kind: 'split' | 'merge';
      readonly account: number;
      readonly market: number;
      readonly amount: bigint;
    }
  | { readonly kind: 'list'; readonly market: number }
  | { readonly kind: 'expire' }
  | { readonly kind: 'close' | 'archive'; readonly market: number }
  | { readonly kind: 'resolve'; readonly market: number; readonly payout: Payout }
  | { readonly kind: 'redeem'; readonly account: number; readonly market: number }
);

/** The last one starts with nothing. */
const account = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(0, 1, 2) },
  { weight: 1, arbitrary: fc.constant(3) },
);
const market = fc.oneof(
  { weight: 60, arbitrary: fc.constantFrom(0, 0, 1) },
  { weight: 1, arbitrary: fc.constant(2) },
);
const wait = fc.constantFrom(0, 0, 0, 1, 4);

/** Micro-shares: dust, just around one collateral's worth, ordinary, and whatever. */
const size = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0n, 1n, 2n, 3n, 7n, 33n, 4_999n) },
  { weight: 8, arbitrary: fc.constantFrom(2_100_000n, 2_040_817n, 3_000_000n, 3_000_001n, 3_100_300n) },
  { weight: 8, arbitrary: fc.integer({ min: 2_000_000, max: 7_000_000 }).map(BigInt) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 200_000_000 }).map(BigInt) },
);
const amount = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(-1n, 0n, 1n) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 9_000_001 }).map(BigInt) },
);

const place: fc.Arbitrary<Recipe> = fc.record({
  kind: fc.constant('place' as const),
  wait,
  account,
  market,
  outcome: fc.constantFrom<Outcome>('YES', 'NO'),
  side: fc.constantFrom<Side>('BUY', 'SELL'),
  price: fc.oneof(
    { weight: 40, arbitrary: fc.nat({ max: 4 }) },
    { weight: 1, arbitrary: fc.nat({ max: 9 }) },
  ),
  size,
  timeInForce: fc.constantFrom<TimeInForce>('GTC', 'GTC', 'GTC', 'GTC', 'GTD', 'GTD', 'FOK', 'FAK'),
  postOnly: fc.constantFrom(false, false, false, false, false, false, false, false, false, true),
  spendPercent: fc.constantFrom(0, 0, 100, 100, 60, 130),
  lifetime: fc.constantFrom(1, 3, 5, 9, 9, 20, 20, 0),
  sameIdAs: fc.oneof(
    { weight: 60, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(1, 2) },
  ),
});

const other: fc.Arbitrary<Recipe> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('cancel' as const),
      wait,
      account,
      back: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('deposit' as const), wait, account, amount }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('split' as const), wait, account, market, amount }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('merge' as const), wait, account, market, amount }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('list' as const), wait, market: fc.nat({ max: 1 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('expire' as const), wait }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const), wait, market }) },
);

/** How a market ends: rarely in the middle of a sequence, usually not at all. */
const ending: fc.Arbitrary<Recipe> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('resolve' as const),
      wait,
      market,
      payout: fc.constantFrom<Payout>('YES', 'NO', 'HALF', 'HALF'),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('redeem' as const), wait, account, market }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('archive' as const), wait, market }) },
);

/** 10 to 40 commands: a trading phase, then often the end of the markets. */
export const sequence: fc.Arbitrary<readonly Recipe[]> = fc
  .tuple(
    fc.array(
      fc.oneof(
        { weight: 40, arbitrary: place },
        { weight: 6, arbitrary: other },
        { weight: 1, arbitrary: ending },
      ),
      { minLength: 10, maxLength: 32, size: 'max' },
    ),
    fc.array(ending, { maxLength: 8, size: 'max' }),
  )
  .map(([trading, end]) => [...trading, ...end]);

/** The command that a recipe stands for at its place; undefined for `archive`, which is none. */
export function commandOf(recipe: Recipe, index: number, now: number): EngineCommand | undefined {
  switch (recipe.kind) {
    case 'place':
      return { kind: 'place', order: orderOf(recipe, index, now) };
    case 'cancel':
      return {
        kind: 'cancel',
        account: ACCOUNTS[recipe.account]!,
        orderIds: recipe.back.map((back) => `o${index - back}`),
      };
    case 'deposit':
      return { kind: 'deposit', account: ACCOUNTS[recipe.account]!, amount: recipe.amount };
    case 'list':
      return { kind: 'list', market: MARKETS[recipe.market]! };
    case 'expire':
      return { kind: 'expire' };
    case 'archive':
      return undefined;
    case 'close':
      return { kind: 'close', conditionId: CONDITIONS[recipe.market]! };
    case 'resolve':
      return { kind: 'resolve', conditionId: CONDITIONS[recipe.market]!, payout: recipe.payout };
    default: {
      const conditionId = CONDITIONS[recipe.market]!;
      const owner = ACCOUNTS[recipe.account]!;
      return recipe.kind === 'redeem'
        ? { kind: 'redeem', account: owner, conditionId }
        : { kind: recipe.kind, account: owner, conditionId, amount: recipe.amount };
    }
  }
}

export const conditionOf = (place: number): string => CONDITIONS[place]!;

function orderOf(recipe: PlaceRecipe, index: number, now: number): NewOrder {
  const conditionId = CONDITIONS[recipe.market]!;
  const yes =
    recipe.price < 5 ? PRICES[conditionId]![recipe.price % PRICES[conditionId]!.length]! : undefined;
  const limit =
    yes === undefined ? BAD_PRICES[recipe.price - 5]! : recipe.outcome === 'YES' ? yes : 10_000 - yes;
  const worth = (recipe.size * BigInt(Math.floor(limit))) / 10_000n;
  return {
    orderId: `o${index - recipe.sameIdAs}`,
    account: ACCOUNTS[recipe.account]!,
    conditionId,
    outcome: recipe.outcome,
    side: recipe.side,
    limit,
    size: recipe.size,
    timeInForce: recipe.timeInForce,
    postOnly: recipe.postOnly,
    ...(recipe.spendPercent === 0 ? {} : { spend: (worth * BigInt(recipe.spendPercent)) / 100n }),
    ...(recipe.timeInForce === 'GTD' ? { expiresAt: now + recipe.lifetime } : {}),
  };
}
