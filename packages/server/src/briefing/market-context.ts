/**
 * Everything to look at before a trade, in one answer: what the wallets hold, and what the trade itself would be judged
 * by, from the same functions in the database; the rest from the venue's memory.
 */
import { CAPS, type MarketContext, outcomeName } from '@bellwether/contract';
import {
  formatMicro,
  MICRO,
  type Micro,
  microToNumber,
  parseMicro,
  pipsToNumber,
} from '@bellwether/contract/decimals';
import { asAddress } from '@bellwether/protocol';
import { edgeAtBest, expectedProfit, highestWorthwhile, type Sweep } from '../domain/book-sweep.ts';
import { inDoubtBefore } from '../domain/lifecycle.ts';
import {
  type Book,
  isCrossed,
  type MarketRecord,
  marketNotices,
  resultIsUnknown,
  untilEnd,
  type Warning,
} from '../domain/market.ts';
import type { Caller, Standing, WalletAddress } from '../domain/records.ts';
import {
  HIGH_IMPACT_PIPS,
  NEAR_RESOLUTION_MS,
  type Trading,
  timeLeft,
  WIDE_SPREAD_PIPS,
} from '../domain/risk-alerts.ts';
import {
  allowances,
  approvalNeeded,
  assess,
  CAPS_IN_ORDER,
  type Safeguards,
  type TradeFacts,
} from '../domain/safeguards.ts';
import { READ_PATIENCE_MS } from '../domain/unavailable.ts';
import { exitRecords } from '../exits/index.ts';
import {
  type Books,
  type Located,
  requireMarket,
  round6,
  slippageRecords,
  sweepsOf,
} from '../markets/index.ts';
import { refusal } from '../platform/refusal.ts';
import { positionRecords, valued } from '../positions/index.ts';
import { scopeOf, tradingOf } from '../venues/asking.ts';
import type { Spendable } from '../venues/venue.ts';
import { type BriefingNeeds, openExits } from './standing.ts';
import type { ContextFacts } from './store.ts';

/** Holds nothing, and its key is unknown: only the agent's own caps can be shown. */
const NO_WALLET = asAddress(`0x${'0'.repeat(40)}`);
const SWEEP_DEPTH = 1_000;
const OUTCOMES = ['YES', 'NO'] as const;

interface ContextQuery {
  readonly user?: string;
  readonly venue?: string;
  readonly myProbability?: number;
  readonly side?: 'BUY' | 'SELL';
  readonly size?: number;
}

/** @throws Refusal unknown_venue, market_not_found, wallet_not_found */
export async function marketContext(
  needs: BriefingNeeds,
  caller: Caller,
  id: string,
  query: ContextQuery,
): Promise<MarketContext> {
  const located = await requireMarket(needs, id, query.venue);
  const { venue, market } = located;
  const { family } = venue.accounts;
  const now = needs.clock.now();
  const { user } = scopeOf(needs, { ...query, venue: venue.id });
  const [books, facts] = await Promise.all([
    booksOf(located),
    needs.facts.context({
      caller,
      family,
      user,
      conditionId: market.conditionId,
      tokenIds: market.tokenIds,
      at: now,
      doubtBefore: inDoubtBefore(now),
    }),
  ]);
  if (user !== null && facts.wallets.length === 0)
    throw refusal('wallet_not_found', "This wallet is none of your owner's, or out of this agent's reach.", {
      path: 'user',
    });
  // The answer shows only public facts of a wallet that was named and not proven.
  const isProved = facts.funder !== null && (family === 'evm' || facts.wallets.includes(facts.funder));
  const [account, standing, exits] = await Promise.all([
    facts.funder === null ? null : accountOf(located, facts.funder),
    facts.standing ??
      needs.ledger.look({
        caller,
        funder: isProved && facts.funder !== null ? facts.funder : NO_WALLET,
        signer: isProved && facts.signer !== null ? facts.signer : NO_WALLET,
        conditionId: market.conditionId,
        tokenIds: market.tokenIds,
        at: now,
      }),
    openExits(needs, caller, facts),
  ]);
  const ofMarket = exits.filter(({ conditionId }) => conditionId === market.conditionId);
  const asked = sweepsOf(located, books, query.side, ownSizes(query));
  const warnings = warningsOf(needs, { located, books, facts, standing, account, query, asked });
  const edge = query.myProbability === undefined ? null : edgeOf(market, books, query.myProbability, asked);
  const advice = recommendation(market, books, warnings, edge);
  const look = needs.shownMarkets.look(located, books);
  return {
    market: needs.shownMarkets.plain(venue.id, market),
    orderbook: look.orderbook,
    fees: { rate: microToNumber(market.feeRate), exponent: market.feeExponent },
    account: accountRecord(account),
    positions: positionRecords(facts.positions.map((row) => valued(venue, row, market))),
    exits: await exitRecords(needs, ofMarket),
    warnings,
    safeguards: remaining(standing),
    slippage: [...look.slippage(query.side), ...slippageRecords(located, books, asked)],
    edge,
    ...(advice === null ? {} : { recommendation: advice }),
    untrustedText: look.untrustedText,
  };
}

async function booksOf({ venue, market }: Located): Promise<Books> {
  const book = async (outcome: 'YES' | 'NO'): Promise<Book> => {
    const found = await venue.markets.book(market.conditionId, outcome, SWEEP_DEPTH);
    if (found !== null) return found;
    const { conditionId, updatedAt } = market;
    return { conditionId, outcome, bids: [], asks: [], sequence: 0, changedAt: updatedAt };
  };
  const [YES, NO] = await Promise.all([book('YES'), book('NO')]);
  return { YES, NO };
}

/** The account that pays. */
interface Account extends Spendable {
  readonly wallet: WalletAddress;
}

const accountOf = async ({ venue, market }: Located, wallet: WalletAddress): Promise<Account> => ({
  wallet,
  ...(await venue.accounts.inMarket(wallet, market, { patienceMs: READ_PATIENCE_MS })),
});

function accountRecord(account: Account | null): MarketContext['account'] {
  if (account === null || account.available === null || account.free === null) return null;
  return {
    walletAddress: account.wallet,
    available: microToNumber(account.available),
    yesShares: microToNumber(account.free.YES),
    noShares: microToNumber(account.free.NO),
  };
}

interface WarningParts {
  readonly located: Located;
  readonly books: Books;
  readonly facts: ContextFacts;
  readonly standing: Standing;
  readonly account: Account | null;
  readonly query: ContextQuery;
  readonly asked: readonly Sweep[];
}

function warningsOf(needs: BriefingNeeds, parts: WarningParts): Warning[] {
  const { located, books, facts, standing, account, query, asked } = parts;
  const { venue, market } = located;
  const trading = tradingOf(venue);
  const held = (outcome: 'YES' | 'NO') =>
    facts.positions.reduce((sum, row) => (row.outcome === outcome ? sum + row.size : sum), 0n);
  return tradeWarnings({
    now: needs.clock.now(),
    trading,
    hasWallet: account !== null,
    market,
    yes: books.YES,
    ...standing,
    // The signature under a quoted transaction is all there is to show.
    hasCredentials: trading === 'quotes' || facts.funder !== null,
    claimMissing: venue.backend === 'live' && !facts.claimed,
    available: account?.available ?? null,
    free: account?.free ?? null,
    held: { YES: held('YES'), NO: held('NO') },
    openOrders: facts.openOrders?.count ?? 0,
    ordersInDoubt: facts.openOrders?.inDoubtCount ?? 0,
    side: query.side ?? null,
    asked,
  });
}

/** The rest that the caps leave, by the words of their rows. */
function remaining(standing: Standing): MarketContext['safeguards'] {
  const { tradingPaused, caps } = allowances(standing.safeguards, standing);
  const left = CAPS_IN_ORDER.map((name) => {
    const { allowance, unit } = CAPS[name];
    const shown = (figure: bigint | null) =>
      figure === null ? null : unit === 'count' ? Number(figure) : microToNumber(figure);
    const { limit, used, left } = caps[name];
    return allowance === null
      ? [name, shown(limit)]
      : [allowance, { limit: shown(limit), used: shown(used), left: shown(left) }];
  });
  const { silenceSeconds, capsBindExits, exitDistancePercent } = standing.safeguards;
  return { tradingPaused, silenceSeconds, capsBindExits, exitDistancePercent, ...Object.fromEntries(left) };
}

const ownSizes = ({ size }: ContextQuery): readonly Micro[] =>
  size === undefined ? [] : [parseMicro(size, 'floor')].filter((amount) => amount > 0n);

type Edge = NonNullable<MarketContext['edge']>;

function edgeOf(market: MarketRecord, books: Books, myProbability: number, asked: readonly Sweep[]): Edge {
  const yes = parseMicro(myProbability, 'floor');
  const chance = { YES: yes, NO: MICRO - yes };
  const at = (outcome: 'YES' | 'NO', direction: 'BUY' | 'SELL'): number | null => {
    const gain = edgeAtBest(market, books[outcome], direction, chance[outcome]);
    return gain === null ? null : microToNumber(gain);
  };
  const buyYes = at('YES', 'BUY');
  const buyNo = at('NO', 'BUY');
  const best = Math.max(buyYes ?? 0, buyNo ?? 0);
  return {
    myProbability,
    buyYes,
    buyNo,
    sellYes: at('YES', 'SELL'),
    sellNo: at('NO', 'SELL'),
    best: best <= 0 ? null : best === buyYes ? 'YES' : 'NO',
    sized: asked.map((swept) => {
      const profit = expectedProfit(swept, chance[swept.outcome]);
      return {
        side: swept.side,
        outcome: swept.outcome,
        outcomeName: outcomeName(market.outcomes, swept.outcome),
        amount: microToNumber(swept.amount),
        shares: microToNumber(swept.shares),
        expectedProfit: microToNumber(profit),
        perShare: swept.shares === 0n ? null : round6(Number(profit) / Number(swept.shares)),
      };
    }),
  };
}

/** A sentence to act on; `null` when there is nothing to say beyond the figures. */
function recommendation(
  market: MarketRecord,
  books: Books,
  warnings: readonly Warning[],
  edge: Edge | null,
): string | null {
  const blocked = warnings.find(({ severity }) => severity === 'critical');
  if (blocked !== undefined) return `Do not trade here now: ${blocked.message}`;
  if (edge === null) return null;
  const { best, myProbability, sized } = edge;
  if (best === null) {
    const costs = OUTCOMES.map((outcome) => {
      const ask = books[outcome].asks[0]?.[0];
      return ask === undefined ? `there is no offer of ${outcome}` : `${outcome} costs ${pipsToNumber(ask)}`;
    });
    return `No trade: at a probability of ${myProbability} for YES neither side gains after fees; ${costs.join(', ')}.`;
  }
  const chance = parseMicro(best === 'YES' ? myProbability : 1 - myProbability, 'floor');
  const limit = pipsToNumber(highestWorthwhile(market, chance));
  const gain = best === 'YES' ? edge.buyYes : edge.buyNo;
  const whole = sized.find(({ side: direction, outcome }) => direction === 'BUY' && outcome === best);
  if (whole !== undefined && whole.expectedProfit <= 0)
    return `Buy less ${best}: the first shares gain ${gain} each after fees, but this size as a whole loses; pay no more than ${limit}.`;
  const inAll = whole === undefined ? '' : `, ${whole.expectedProfit} in all for this size`;
  return `BUY ${best}, paying no more than ${limit}: expected gain ${gain} per share at the best price, after fees${inAll}.`;
}

// Warnings about a trade in a market. If the trade would be refused, the warning has the code of the refusal.
// Pure; the thresholds are in `risk-alerts.ts`. Messages contain no untrusted text.

/** The venue's smallest immediate BUY, in collateral. */
const LEAST_IMMEDIATE_BUY: Micro = 1_000_000n;

interface WarningFacts extends Omit<TradeFacts, 'addsExposure' | 'mayRest' | 'amount'> {
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

function tradeWarnings(facts: WarningFacts): Warning[] {
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
