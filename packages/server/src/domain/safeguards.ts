/**
 * The owner's safeguards, assessed in one fixed order. They are judged against what is reserved, under the lock of
 * the transaction that reserves: never against a cache. All money in micro collateral.
 */
import { formatMicro, type Micro } from '@bellwether/contract/decimals';
import type { Denial } from './denial.ts';
import type { OwnerLocks } from './locks.ts';

export interface Safeguards {
  /** By the agent's key or by its owner. */
  readonly tradingPaused: boolean;
  /** The owner's pause, which the agent's key cannot lift. */
  readonly ownerPaused: boolean;
  /** False lifts the caps, never the pause. */
  readonly tradeLimitEnabled: boolean;
  readonly maxTradesPerDay: number;
  readonly maxTradeAmount: Micro;
  readonly dailyTradeAmountLimit: Micro;
  readonly maxPositionValue: Micro | null;
  readonly dailyLossLimit: Micro | null;
}

/** What this agent has reserved or spent on this UTC day. */
export interface Usage {
  readonly trades: number;
  readonly amount: Micro;
}

/**
 * What an agent of another owner, which had the order's wallet before, brings along: its owner's pause and locked
 * ceilings, with what the day has used of them.
 */
export interface Restriction {
  readonly paused: boolean;
  readonly locks: OwnerLocks;
  readonly usage: Usage;
  readonly realizedToday: Micro;
  readonly positionValue: Micro;
}

export interface TradeFacts {
  readonly hasCredentials: boolean;
  /** Live venues only. */
  readonly claimMissing: boolean;
  /** A BUY adds exposure; selling what is held does not. */
  readonly addsExposure: boolean;
  readonly amount: Micro;
  readonly usage: Usage;
  /** Cost of the net position and of open BUYs in this market, without this order. */
  readonly positionValue: Micro;
  /** Realised P&L after fees since UTC midnight; negative is a loss. */
  readonly realizedToday: Micro;
  readonly restrictions: readonly Restriction[];
}

export const DEFAULT_SAFEGUARDS: Safeguards = {
  tradingPaused: false,
  ownerPaused: false,
  tradeLimitEnabled: true,
  maxTradesPerDay: 50,
  maxTradeAmount: 100_000_000n,
  dailyTradeAmountLimit: 500_000_000n,
  maxPositionValue: null,
  dailyLossLimit: null,
};

const figures = (limit: Micro, used: Micro, asked: Micro) => ({
  limit: Number(formatMicro(limit)),
  used: Number(formatMicro(used)),
  asked: Number(formatMicro(asked)),
});

type Caps = Omit<OwnerLocks, 'tradeLimitEnabled'>;

/** Caps that one order meets, with what is used of them. */
interface Bound {
  readonly caps: Caps;
  readonly usage: Usage;
  readonly positionValue: Micro;
  readonly realizedToday: Micro;
  /** Ceilings of an owner whose agent had the wallet before. */
  readonly isFormer: boolean;
}

type Standing = Pick<TradeFacts, 'usage' | 'positionValue' | 'realizedToday' | 'restrictions'>;

const boundsOf = (safeguards: Safeguards, standing: Standing): Bound[] => [
  ...(safeguards.tradeLimitEnabled ? [{ ...standing, caps: safeguards, isFormer: false }] : []),
  ...standing.restrictions.map((restriction) => ({
    ...restriction,
    caps: restriction.locks,
    isFormer: true,
  })),
];

const FORMER = {
  said: ' (locked by the owner of an agent that had this wallet before)',
  fix: 'Only that owner, on the page /owner, or the operator can lift it. Cancels and redeems go through meanwhile.',
};

/** @returns the first denial in the documented order, or `null`; of several bounds the stricter holds */
export function assess(safeguards: Safeguards, facts: TradeFacts): Denial | null {
  if (safeguards.ownerPaused) {
    return {
      code: 'trading_paused',
      detail: 'Trading is paused by the owner of this agent.',
      fix: 'Only the owner can resume it, on the claim page. Cancels and redeems go through meanwhile.',
    };
  }
  if (safeguards.tradingPaused)
    return { code: 'trading_paused', detail: 'Trading is paused for this agent.' };
  if (facts.restrictions.some(({ paused }) => paused)) {
    return {
      code: 'trading_paused',
      detail: 'Trading with this wallet is paused by the owner of an agent that had it before.',
      fix: FORMER.fix,
    };
  }
  if (!facts.hasCredentials) {
    return {
      code: 'credentials_not_registered',
      detail: 'No venue credentials are registered for the wallet of this order.',
    };
  }
  if (facts.claimMissing) {
    return {
      code: 'claim_required',
      detail: 'This agent is not claimed by an owner, which live venues require.',
    };
  }
  const bounds = boundsOf(safeguards, facts);
  const checks = facts.addsExposure ? [...PER_TRADE, ...EXPOSURE] : PER_TRADE;
  for (const check of checks) {
    for (const bound of bounds) {
      const denial = check(bound, facts.amount);
      if (denial === null) continue;
      return bound.isFormer
        ? { ...denial, detail: denial.detail.replace(/\.$/, `${FORMER.said}.`), fix: FORMER.fix }
        : denial;
    }
  }
  return null;
}

type Check = (bound: Bound, amount: Micro) => Denial | null;

const tradeAmount: Check = ({ caps }, amount) =>
  caps.maxTradeAmount === null || amount <= caps.maxTradeAmount
    ? null
    : {
        code: 'max_trade_amount_exceeded',
        detail: `This trade is ${formatMicro(amount)} collateral; maxTradeAmount is ${formatMicro(caps.maxTradeAmount)}.`,
        context: figures(caps.maxTradeAmount, 0n, amount),
      };

const tradesPerDay: Check = ({ caps, usage }) =>
  caps.maxTradesPerDay === null || usage.trades + 1 <= caps.maxTradesPerDay
    ? null
    : {
        code: 'max_trades_per_day_exceeded',
        detail: `${usage.trades} trades are used today; maxTradesPerDay is ${caps.maxTradesPerDay}.`,
        context: { limit: caps.maxTradesPerDay, used: usage.trades, asked: 1 },
      };

const amountPerDay: Check = ({ caps: { dailyTradeAmountLimit: limit }, usage }, amount) =>
  limit === null || usage.amount + amount <= limit
    ? null
    : {
        code: 'daily_trade_amount_exceeded',
        detail:
          `${formatMicro(usage.amount)} collateral is used today and this trade asks ${formatMicro(amount)}; ` +
          `dailyTradeAmountLimit is ${formatMicro(limit)}.`,
        context: figures(limit, usage.amount, amount),
      };

const position: Check = ({ caps: { maxPositionValue: limit }, positionValue }, amount) =>
  limit === null || positionValue + amount <= limit
    ? null
    : {
        code: 'max_position_value_exceeded',
        detail:
          `The position with its open BUYs is worth ${formatMicro(positionValue)} and this trade asks ` +
          `${formatMicro(amount)}; maxPositionValue is ${formatMicro(limit)}.`,
        context: figures(limit, positionValue, amount),
      };

const dailyLoss: Check = ({ caps: { dailyLossLimit: limit }, realizedToday }, amount) =>
  limit === null || -realizedToday < limit
    ? null
    : {
        code: 'daily_loss_limit_reached',
        detail: `Today's realised loss is ${formatMicro(-realizedToday)}; dailyLossLimit is ${formatMicro(limit)}.`,
        context: figures(limit, -realizedToday, amount),
      };

const PER_TRADE: readonly Check[] = [tradeAmount, tradesPerDay];
const EXPOSURE: readonly Check[] = [amountPerDay, position, dailyLoss];

/** What a cap leaves: of several bounds the one that leaves least. `limit` and `left` are `null` without a cap. */
export interface Allowance<T extends number | Micro> {
  readonly limit: T | null;
  readonly used: T;
  readonly left: T | null;
}

export interface Allowances {
  readonly tradingPaused: boolean;
  readonly maxTradeAmount: Micro | null;
  readonly tradesToday: Allowance<number>;
  readonly dailyTradeAmount: Allowance<Micro>;
  readonly positionValue: Allowance<Micro>;
  readonly dailyLoss: Allowance<Micro>;
}

/** The same bounds that `assess` judges by, in figures. */
export function allowances(safeguards: Safeguards, standing: Standing): Allowances {
  const bounds = boundsOf(safeguards, standing);
  const pick = <T extends number | Micro>(
    own: T,
    of: (bound: Bound) => { readonly limit: T | null; readonly used: T },
  ): Allowance<T> => {
    let least: Allowance<T> = { limit: null, used: own, left: null };
    for (const bound of bounds) {
      const { limit, used } = of(bound);
      if (limit === null) continue;
      const left = (limit > used ? limit - used : limit - limit) as T;
      if (least.left === null || left < least.left) least = { limit, used, left };
    }
    return least;
  };
  const lossOf = (realized: Micro): Micro => (realized < 0n ? -realized : 0n);
  return {
    tradingPaused:
      safeguards.tradingPaused ||
      safeguards.ownerPaused ||
      standing.restrictions.some(({ paused }) => paused),
    maxTradeAmount: pick<Micro>(0n, ({ caps }) => ({ limit: caps.maxTradeAmount, used: 0n })).limit,
    tradesToday: pick<number>(standing.usage.trades, ({ caps, usage }) => ({
      limit: caps.maxTradesPerDay,
      used: usage.trades,
    })),
    dailyTradeAmount: pick<Micro>(standing.usage.amount, ({ caps, usage }) => ({
      limit: caps.dailyTradeAmountLimit,
      used: usage.amount,
    })),
    positionValue: pick<Micro>(standing.positionValue, ({ caps, positionValue }) => ({
      limit: caps.maxPositionValue,
      used: positionValue,
    })),
    dailyLoss: pick<Micro>(lossOf(standing.realizedToday), ({ caps, realizedToday }) => ({
      limit: caps.dailyLossLimit,
      used: lossOf(realizedToday),
    })),
  };
}
