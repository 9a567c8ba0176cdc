/**
 * The owner's safeguards, assessed in one fixed order. They are judged against what is reserved, under the lock of
 * the transaction that reserves: never against a cache. All money in micro collateral.
 */
import { formatMicro, type Micro } from '@bellwether/contract/decimals';
import type { Denial } from './denial.ts';

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

/** @returns the first denial in the documented order, or `null`. */
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
  if (!safeguards.tradeLimitEnabled) return null;
  return perTrade(safeguards, facts) ?? (facts.addsExposure ? exposure(safeguards, facts) : null);
}

function perTrade(safeguards: Safeguards, { amount, usage }: TradeFacts): Denial | null {
  if (amount > safeguards.maxTradeAmount) {
    return {
      code: 'max_trade_amount_exceeded',
      detail: `This trade is ${formatMicro(amount)} collateral; maxTradeAmount is ${formatMicro(safeguards.maxTradeAmount)}.`,
      context: figures(safeguards.maxTradeAmount, 0n, amount),
    };
  }
  if (usage.trades + 1 > safeguards.maxTradesPerDay) {
    return {
      code: 'max_trades_per_day_exceeded',
      detail: `${usage.trades} trades are used today; maxTradesPerDay is ${safeguards.maxTradesPerDay}.`,
      context: { limit: safeguards.maxTradesPerDay, used: usage.trades, asked: 1 },
    };
  }
  return null;
}

function exposure(safeguards: Safeguards, facts: TradeFacts): Denial | null {
  const { amount, usage, positionValue, realizedToday } = facts;
  if (usage.amount + amount > safeguards.dailyTradeAmountLimit) {
    return {
      code: 'daily_trade_amount_exceeded',
      detail:
        `${formatMicro(usage.amount)} collateral is used today and this trade asks ${formatMicro(amount)}; ` +
        `dailyTradeAmountLimit is ${formatMicro(safeguards.dailyTradeAmountLimit)}.`,
      context: figures(safeguards.dailyTradeAmountLimit, usage.amount, amount),
    };
  }
  const positionLimit = safeguards.maxPositionValue;
  if (positionLimit !== null && positionValue + amount > positionLimit) {
    return {
      code: 'max_position_value_exceeded',
      detail:
        `The position with its open BUYs is worth ${formatMicro(positionValue)} and this trade asks ` +
        `${formatMicro(amount)}; maxPositionValue is ${formatMicro(positionLimit)}.`,
      context: figures(positionLimit, positionValue, amount),
    };
  }
  const lossLimit = safeguards.dailyLossLimit;
  if (lossLimit !== null && -realizedToday >= lossLimit) {
    return {
      code: 'daily_loss_limit_reached',
      detail: `Today's realised loss is ${formatMicro(-realizedToday)}; dailyLossLimit is ${formatMicro(lossLimit)}.`,
      context: figures(lossLimit, -realizedToday, amount),
    };
  }
  return null;
}
