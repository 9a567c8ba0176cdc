/**
 * Test helper: the elements of a random command sequence. A recipe is a small record that shrinks well; its command
 * depends only on its place in the sequence. Few accounts, two markets, five prices: so that orders match.
 */
import type {
  EngineCommand,
  MarketSpec,
  NewOrder,
  Outcome,
  Payout,
  Side,
  TimeInForce,
} from '../../src/engine/commands.ts';

export const ACCOUNTS = ['ann', 'bob', 'cyd', 'dan'] as const;

const COARSE: MarketSpec = {
  conditionId: '0xcoarse',
  tokenIds: ['1', '2'],
  tickSize: 100,
  minOrderSize: 1n,
  feeRate: 70_000n,
  feeExponent: 1,
};

const FINE: MarketSpec = {
  conditionId: '0xfine',
  tokenIds: ['3', '4'],
  tickSize: 1,
  minOrderSize: 3n,
  feeRate: 250_000n,
  feeExponent: 2,
};

export const MARKETS = [COARSE, FINE] as const;

/** Has the collateral of conversions. */
export const POOL = 'pool';
const OWNERS = [...ACCOUNTS, POOL];

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

interface PlaceRecipe {
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
  | {
      readonly kind: 'reduce';
      readonly account: number;
      readonly back: number;
      readonly amount: bigint;
    }
  | { readonly kind: 'deposit'; readonly account: number; readonly amount: bigint }
  | {
      readonly kind: 'split' | 'merge' | 'convert';
      readonly account: number;
      readonly market: number;
      readonly amount: bigint;
    }
  | { readonly kind: 'list'; readonly market: number }
  | { readonly kind: 'expire' }
  | { readonly kind: 'close' | 'archive'; readonly market: number }
  | { readonly kind: 'resolve'; readonly market: number; readonly payout: Payout }
  | { readonly kind: 'redeem'; readonly account: number; readonly market: number }
  /** The trade so many trades back; of what others had since, a party may have nothing left. */
  | { readonly kind: 'reverse'; readonly back: number }
);

/**
 * The command of a recipe at its place; undefined for `archive`, which is not a command, and for `reverse`, which follows
 * from earlier events.
 */
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
    case 'reduce':
      return {
        kind: 'reduce',
        account: ACCOUNTS[recipe.account]!,
        orderId: `o${index - recipe.back}`,
        size: recipe.amount,
      };
    case 'deposit':
      return { kind: 'deposit', account: ACCOUNTS[recipe.account]!, amount: recipe.amount };
    case 'list':
      return { kind: 'list', market: MARKETS[recipe.market]! };
    case 'expire':
      return { kind: 'expire' };
    case 'archive':
    case 'reverse':
      return undefined;
    case 'close':
      return { kind: 'close', conditionId: CONDITIONS[recipe.market]! };
    case 'resolve':
      return { kind: 'resolve', conditionId: CONDITIONS[recipe.market]!, payout: recipe.payout };
    default: {
      const conditionId = CONDITIONS[recipe.market]!;
      const owner = OWNERS[recipe.account]!;
      if (recipe.kind === 'redeem') return { kind: 'redeem', account: owner, conditionId };
      const terms = { account: owner, conditionId, amount: recipe.amount };
      if (recipe.kind !== 'convert') return { kind: recipe.kind, ...terms };
      const others = MARKETS.map((market) => market.conditionId).filter((other) => other !== conditionId);
      return { kind: 'convert', ...terms, others, pool: POOL };
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
