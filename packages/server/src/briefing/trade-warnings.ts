/**
 * Warnings about a trade in a market. If the trade would be refused, the warning has the code of the refusal.
 * Pure; the thresholds are in `thresholds.ts`. Messages contain no untrusted text.
 */
import { formatMicro, type Micro, pipsToNumber } from '@bellwether/contract/decimals';
import type { Sweep } from '../domain/book-sweep.ts';
import {
  type Book,
  isCrossed,
  type MarketRecord,
  marketNotices,
  resultIsUnknown,
  untilEnd,
  type Warning,
} from '../domain/market.ts';
import type { Trading } from '../domain/risk-alerts.ts';
import { approvalNeeded, assess, type Safeguards, type TradeFacts } from '../domain/safeguards.ts';
import { HIGH_IMPACT_PIPS, NEAR_RESOLUTION_MS, WIDE_SPREAD_PIPS } from '../domain/thresholds.ts';
import { timeLeft } from '../domain/time-left.ts';

/** The venue's smallest immediate BUY, in collateral. */
const LEAST_IMMEDIATE_BUY: Micro = 1_000_000n;

export interface WarningFacts extends Omit<TradeFacts, 'addsExposure' | 'mayRest' | 'amount'> {
  readonly now: number;
  readonly trading: Trading;
  /** Quotes: a wallet is known, so that a quote can be signed. */
  readonly hasWallet: boolean;
  readonly market: MarketRecord;
  readonly yes: Book;
  readonly safeguards: Safeguards;
  /** Free collateral; free shares by outcome. `null`: there is no account, or the venue does not report it. */
  readonly available: Micro | null;
  readonly free: Readonly<Record<'YES' | 'NO', Micro>> | null;
  /** Shares held, including those in open orders. */
  readonly held: Readonly<Record<'YES' | 'NO', Micro>>;
  readonly openOrders: number;
  readonly ordersInDoubt: number;
  /** The question: a side, or a side and a size on each outcome. */
  readonly side: 'BUY' | 'SELL' | null;
  readonly asked: readonly Sweep[];
}

type Warn = (severity: Warning['severity'], code: string, message: string) => void;

export function tradeWarnings(facts: WarningFacts): Warning[] {
  const found: Warning[] = [];
  const warn: Warn = (severity, code, message) => {
    if (!found.some((warning) => warning.code === code)) found.push({ code, severity, message });
  };
  marketWarnings(facts, warn);
  refusals(facts, warn);
  for (const sweep of facts.asked) sizeWarnings(facts, sweep, warn);
  ownWarnings(facts, warn);
  bookWarnings(facts.yes, warn);
  if (facts.trading === 'quotes') chainWarnings(facts, warn);
  if (facts.market.negRisk) {
    warn(
      'info',
      'negative_risk',
      'Exactly one market of this event resolves YES; sign for the neg-risk contract.',
    );
  }
  const order = ['critical', 'warning', 'info'];
  return found.sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
}

function marketWarnings({ trading, market, now }: WarningFacts, warn: Warn): void {
  if (market.status !== 'open') {
    const rest =
      trading === 'quotes' && market.status === 'resolved'
        ? `; a SELL quote of ${market.payout === 'YES' || market.payout === 'NO' ? 'the winning' : 'either'} outcome redeems it`
        : '';
    if (market.unknownResult !== undefined)
      warn('warning', 'unknown_result', resultIsUnknown(market.unknownResult));
    warn('critical', 'market_not_active', `The market is ${market.status} and takes no orders${rest}.`);
    return;
  }
  const left = untilEnd(market, now);
  if (left !== null && left < NEAR_RESOLUTION_MS)
    warn('warning', 'market_closing_soon', `The market is due to end in ${timeLeft(left)}.`);
  for (const { severity, code, message } of marketNotices(market, now)) warn(severity, code, message);
}

/** Assesses the safeguards like the trade itself, with the given size or with none. */
function refusals(facts: WarningFacts, warn: Warn): void {
  const sides = facts.side === null ? (['BUY', 'SELL'] as const) : [facts.side];
  for (const side of sides) {
    const amounts = facts.asked
      .filter((sweep) => sweep.side === side)
      .map((sweep) => (side === 'BUY' ? sweep.amount : sweep.cost));
    const amount = amounts.reduce((most, one) => (one > most ? one : most), 0n);
    const trade = { ...facts, addsExposure: side === 'BUY', mayRest: true, amount };
    const denial = assess(facts.safeguards, trade);
    if (denial !== null) {
      warn('critical', denial.code, denial.detail);
      continue;
    }
    const need = approvalNeeded(facts.safeguards, trade);
    if (need !== null)
      warn(need.limit === null ? 'critical' : 'warning', need.denial.code, need.denial.detail);
  }
}

function sizeWarnings(facts: WarningFacts, sweep: Sweep, warn: Warn): void {
  const { side, outcome, amount, best, shares, cost, fee } = sweep;
  const { trading, available, free } = facts;
  const isQuoted = trading === 'quotes';
  // The whole signed amount must be available, even if the book fills only a part. A quote's amount includes the fee.
  const needed = isQuoted ? amount : amount + fee;
  if (side === 'BUY' && available !== null && needed > available) {
    warn(
      'critical',
      'insufficient_balance',
      `This size needs ${formatMicro(needed)} collateral with its fee; ${formatMicro(available)} is available.`,
    );
  }
  if (side === 'SELL' && facts.side === 'SELL' && free !== null && amount > free.YES && amount > free.NO) {
    warn(
      'critical',
      'insufficient_balance',
      `${formatMicro(free.YES)} YES and ${formatMicro(free.NO)} NO shares are free to sell.`,
    );
  }
  if (isQuoted && best !== null && shares === 0n) {
    warn(
      'warning',
      'amount_too_small',
      `${side} ${outcome}: this size is less than one contract and its fee.`,
    );
    return;
  }
  if (!isQuoted && side === 'BUY' && amount < LEAST_IMMEDIATE_BUY) {
    warn('warning', 'amount_below_minimum', 'A BUY that executes at once spends at least 1 collateral.');
  }
  if (!sweep.complete) {
    warn(
      'warning',
      'thin_book',
      `The book does not take all of this size: ${side} ${outcome} gets ${formatMicro(shares)} shares.`,
    );
  }
  if (best === null || shares === 0n) return;
  const average = Number((cost * 10_000n) / shares);
  const impact = side === 'BUY' ? average - best : best - average;
  if (impact < HIGH_IMPACT_PIPS) return;
  warn(
    'warning',
    'high_price_impact',
    `${side} ${outcome} of this size averages ${pipsToNumber(average)} against a best price of ${pipsToNumber(best)}.`,
  );
}

function ownWarnings(facts: WarningFacts, warn: Warn): void {
  const { trading, held, openOrders, ordersInDoubt } = facts;
  if (ordersInDoubt > 0) {
    warn(
      'warning',
      'order_in_doubt',
      'An order of yours in this market has no answer from the venue yet: a further one may come on top.',
    );
  }
  if (openOrders > 0) {
    warn(
      'info',
      'own_open_orders',
      trading === 'signed_orders'
        ? `${openOrders} of your orders rest in this market; one that your trade would match is canceled instead.`
        : `${openOrders} of your orders in this market are not filled yet: a further one comes on top.`,
    );
  }
  if (held.YES > 0n && held.NO > 0n)
    warn('info', 'both_outcomes_held', 'You hold YES and NO: a pair of them is worth 1 in every case.');
}

function chainWarnings({ market, hasWallet }: WarningFacts, warn: Warn): void {
  if (!hasWallet)
    warn('warning', 'wallet_missing', 'No Solana wallet is named: quotes are previews until there is one.');
  if (market.status !== 'open') return;
  warn('info', 'whole_contracts', 'Contracts are whole: what pays for no further one is not taken.');
  warn(
    'info',
    'asynchronous_fill',
    'A transaction that landed is no fill yet: the venue fills it a little later, or in part, or sends it back.',
  );
}

function bookWarnings(yes: Book, warn: Warn): void {
  const bid = yes.bids[0]?.[0];
  const ask = yes.asks[0]?.[0];
  if (bid === undefined || ask === undefined) {
    warn('warning', 'one_sided_book', 'One side of the book is empty.');
  } else if (isCrossed(yes)) {
    warn(
      'critical',
      'crossed_book',
      'The book is crossed, so its prices are not believed: ask again in a moment.',
    );
  } else if (ask - bid >= WIDE_SPREAD_PIPS) {
    warn(
      'warning',
      'wide_spread',
      `The spread is ${pipsToNumber(ask - bid)}: crossing it costs that much a share.`,
    );
  }
}
