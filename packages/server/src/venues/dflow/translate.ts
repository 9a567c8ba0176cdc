/**
 * Translates DFlow's markets, books and refusals into the desk's terms. Pure. An unknown state is never tradable; a price
 * that cannot be read exactly is ignored, and so is a market whose tokens cannot be determined.
 */
import { LIMITS, type OutcomeNames, type QuoteErrorCode } from '@bellwether/contract';
import {
  divide,
  MICRO,
  type Micro,
  notional,
  PIPS,
  type Pips,
  parsePips,
} from '@bellwether/contract/decimals';
import { payoutOf } from '@bellwether/contract/positions';
import { parseSolanaAddress, type SolanaAddress } from '@bellwether/protocol';
import type { Book, Level } from '../../domain/market.ts';
import { timeAt } from '../../domain/safeguards.ts';
import { VenueUnavailable } from '../../domain/unavailable.ts';
import { microSaid, plainText, saidOf, wordOf } from '../../domain/untrusted-text.ts';
import type { TickerMarket } from '../quotes.ts';
import { READ, type WireMarket, type WireOrderbook, type WireRail } from './client.ts';

/** Kalshi's 0.07 and DFlow's 0.01 of contracts × p(1−p), in millionths. Reference §2.11. */
const FEE_RATE: Micro = 80_000n;
const KALSHI_RATE: Micro = 70_000n;
const DFLOW_RATE: Micro = 10_000n;
const CENT: Micro = 10_000n;
const TICKS = [100, 10, 1] as const;
/** Words of `result` for a market that pays parts; the venue leaves it empty, too. */
const SCALAR: ReadonlySet<string> = new Set(['', 'scalar']);
/** Seconds reach this in the year 33658, milliseconds reached it in 2001. */
const FIRST_MILLISECONDS = 1e12;

const KNOWN_STATES: Readonly<Record<string, TickerMarket['phase']>> = {
  initialized: 'inactive',
  active: 'active',
  inactive: 'inactive',
  closed: 'closed',
  // The result may still be disputed.
  determined: 'closed',
  finalized: 'settled',
};

/** What is only shown: '' for what is no text. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const LABEL_CHARS = 40;
/** An unknown word as it is shown. */
const labelOf = (value: unknown): string => plainText(saidOf(value), LABEL_CHARS);

/** The words of a market that the desk does not know, by their fields: to be logged. */
export function unknownWords(
  { status }: WireMarket,
  { isInitialized, redemptionStatus, scalarOutcomePct }: WireRail,
): Readonly<Record<string, string>> {
  const isPart = saidOf(scalarOutcomePct) === '' || partOf(scalarOutcomePct) !== null;
  return {
    ...(Object.hasOwn(KNOWN_STATES, wordOf(status)) ? {} : { status: labelOf(status) }),
    ...(OPENED.has(wordOf(isInitialized)) ? {} : { isInitialized: labelOf(isInitialized) }),
    ...(REDEMPTIONS.has(wordOf(redemptionStatus)) ? {} : { redemptionStatus: labelOf(redemptionStatus) }),
    ...(isPart ? {} : { scalarOutcomePct: labelOf(scalarOutcomePct) }),
  };
}

/**
 * What the venue says of the tokens on a rail: DFlow has separate ones for each settlement mint.
 * @returns `null` when the market is not on it; `unreadable` when nothing can be traded or valued by what is said
 */
export function railOf({ accounts }: WireMarket, collateral: SolanaAddress): WireRail | null | 'unreadable' {
  const said = accounts[collateral] ?? null;
  if (said === null) return null;
  const rail = READ.rail(said);
  const [yes, no] = [parseSolanaAddress(rail?.yesMint ?? ''), parseSolanaAddress(rail?.noMint ?? '')];
  return rail === null || yes === null || no === null || yes === no ? 'unreadable' : rail;
}

export function toTickerMarket(wire: WireMarket, rail: WireRail, now: number): TickerMarket {
  const prices = pricesOf(wire);
  const outcome = outcomeOf(wire, rail);
  const phase = phaseOf(wire, rail, outcome);
  const { ticker } = wire;
  return {
    id: ticker,
    conditionId: ticker,
    slug: ticker,
    tokenIds: [rail.yesMint, rail.noMint],
    outcomes: namesOf(wire),
    question: questionOf(wire),
    description: [wire.rulesPrimary, wire.rulesSecondary].map(textOf).filter(Boolean).join('\n\n'),
    // Kalshi files series, not markets, under categories.
    category: ticker.split('-')[0] ?? ticker,
    eventId: textOf(wire.eventTicker) || ticker,
    eventTitle: textOf(wire.title) || ticker,
    negRisk: false,
    tickSize: tickOf(Object.values(prices)),
    minOrderSize: MICRO,
    feeRate: FEE_RATE,
    feeExponent: 1,
    createdAt: timeOf(wire.openTime) ?? 0,
    endDate: timeOf(wire.closeTime),
    updatedAt: now,
    ...statusOf(phase, outcome),
    ...(phase === 'closed' && outcome !== null ? { decided: outcome } : {}),
    ...unknownResultOf(wire, rail, phase),
    ...(prices.yesBid === null ? {} : { bestBid: prices.yesBid }),
    ...(prices.yesAsk === null ? {} : { bestAsk: prices.yesAsk }),
    volume: shownCount(wire.volumeFp, wire.volume),
    volume24h: shownCount(wire.volume24hFp),
    // The real venue's markets do not always have it; no value is invented.
    liquidity: shownCount(wire.liquidityFp, wire.liquidity),
    phase,
    asks: { YES: prices.yesAsk, NO: prices.noAsk },
    pays: paysOf(phase, rail, outcome),
    ...(outcome === null || REDEMPTIONS.has(wordOf(rail.redemptionStatus))
      ? {}
      : { unknownRedemption: labelOf(rail.redemptionStatus) }),
  };
}

/** The title is often the event's and the same for all its markets: the meaning of YES distinguishes them. */
function questionOf({ ticker, title: said, yesSubTitle }: WireMarket): string {
  const title = textOf(said) || ticker;
  const yes = textOf(yesSubTitle).trim();
  return yes === '' || yes === title || yes.toLowerCase() === 'yes' ? title : `${title} (${yes})`;
}

/** Often both sides have the same subtitle: then it is about the question, which says it, too. */
function namesOf({ yesSubTitle, noSubTitle }: WireMarket): OutcomeNames {
  const [yes, no] = [yesSubTitle, noSubTitle].map((name) =>
    plainText(textOf(name), LIMITS.outcomeChars).trim(),
  );
  return yes === no ? ['Yes', 'No'] : [yes || 'Yes', no || 'No'];
}

/** Payout of YES in pips; `null` until the market is decided. */
function outcomeOf({ result }: WireMarket, { scalarOutcomePct }: WireRail): Pips | null {
  const word = wordOf(result);
  if (word === 'yes') return PIPS;
  if (word === 'no') return 0;
  return SCALAR.has(word) ? partOf(scalarOutcomePct) : null;
}

/** Basis points, which are pips; a number in a text is a number. */
function partOf(said: unknown): Pips | null {
  const part = typeof said === 'string' && /^\d{1,5}$/.test(said.trim()) ? Number(said) : said;
  return typeof part === 'number' && Number.isInteger(part) && part >= 0 && part <= PIPS ? part : null;
}

/** A word that was added since, or a part that cannot be read, is shown, and decides nothing. */
function unknownResultOf(
  { result }: WireMarket,
  { scalarOutcomePct }: WireRail,
  phase: TickerMarket['phase'],
): Pick<TickerMarket, 'unknownResult'> {
  const word = wordOf(result);
  if (phase === 'active' || word === 'yes' || word === 'no') return {};
  if (!SCALAR.has(word)) return { unknownResult: labelOf(result) };
  const isUnread = saidOf(scalarOutcomePct) !== '' && partOf(scalarOutcomePct) === null;
  return isUnread ? { unknownResult: labelOf(scalarOutcomePct) } : {};
}

/** Words of `isInitialized` that say yes, or nothing. */
const INITIALIZED: ReadonlySet<string> = new Set(['true', '']);
const OPENED: ReadonlySet<string> = new Set([...INITIALIZED, 'false']);
const REDEMPTIONS: ReadonlySet<string> = new Set(['', 'open', 'closed', 'pending']);
const isRedeemable = ({ redemptionStatus }: WireRail): boolean => wordOf(redemptionStatus) === 'open';

function phaseOf(wire: WireMarket, rail: WireRail, outcome: Pips | null): TickerMarket['phase'] {
  const status = wordOf(wire.status);
  const phase = Object.hasOwn(KNOWN_STATES, status) ? KNOWN_STATES[status]! : 'inactive';
  // A market whose first buyer would have to pay for its accounts is not offered (reference §2.7).
  if (phase === 'active') return INITIALIZED.has(wordOf(rail.isInitialized)) ? 'active' : 'inactive';
  if (phase === 'settled') return outcome === null ? 'closed' : 'settled';
  // Determined and already redeemable: the result is final.
  return status === 'determined' && outcome !== null && isRedeemable(rail) ? 'settled' : phase;
}

function statusOf(
  phase: TickerMarket['phase'],
  outcome: Pips | null,
): Pick<TickerMarket, 'status' | 'payout'> {
  if (phase === 'active') return { status: 'open' };
  if (phase !== 'settled' || outcome === null) return { status: 'closed' };
  return { status: 'resolved', payout: payoutOf((BigInt(outcome) * MICRO) / WHOLE) };
}

function paysOf(phase: TickerMarket['phase'], rail: WireRail, outcome: Pips | null): TickerMarket['pays'] {
  const open = phase === 'settled' && isRedeemable(rail) && outcome !== null;
  return open ? { YES: outcome, NO: PIPS - outcome } : { YES: null, NO: null };
}

type Quoted = Record<'yesBid' | 'yesAsk' | 'noBid' | 'noAsk', Pips | null>;

const pricesOf = ({ yesBid, yesAsk, noBid, noAsk }: WireMarket): Quoted => ({
  yesBid: priceOf(yesBid),
  yesAsk: priceOf(yesAsk),
  noBid: priceOf(noBid),
  noAsk: priceOf(noAsk),
});

/** Strictly between 0 and 1; `null` when that side is empty, or the price cannot be read exactly. */
function priceOf(price: unknown): Pips | null {
  if (typeof price !== 'string' && typeof price !== 'number') return null;
  try {
    const pips = parsePips(price);
    return pips > 0 && pips < PIPS ? pips : null;
  } catch {
    return null;
  }
}

/** The largest usual tick size of which all prices are multiples. */
const tickOf = (prices: readonly (Pips | null)[]): Pips =>
  TICKS.find((tick) => prices.every((price) => price === null || price % tick === 0)) ?? 1;

/** Seconds or milliseconds, also in a text, or an ISO text; `null`: none that can be read. */
function timeOf(said: unknown): number | null {
  const text = textOf(said).trim();
  const isNumber = typeof said === 'number' || /^\d+(\.\d+)?$/.test(text);
  if (!isNumber) return text === '' ? null : timeAt(Date.parse(text));
  const time = Number(said);
  // Nothing of this venue began or ends with the epoch: a zero says that there is no time.
  return time === 0 ? null : timeAt(time > FIRST_MILLISECONDS ? time : time * 1000);
}

/** Contracts or collateral; `null` when unreadable. */
function countOf(said: unknown): Micro | null {
  const count = microSaid(said, 'floor');
  return count !== null && count >= 0n && count < MAX_COUNT ? count : null;
}

/** A million billions of contracts: what says more is none that JSON numbers carry. */
const MAX_COUNT: Micro = 10n ** 21n;

/** For display: the first that can be read, else none. */
const shownCount = (...said: readonly unknown[]): Micro =>
  said.map(countOf).find((count) => count !== null) ?? 0n;

/**
 * The venue lists bids only: a bid of 0.30 for NO is an offer of YES at 0.70.
 * @throws VenueUnavailable when a side has levels and none can be read: it is not empty
 */
export function toBook(
  ticker: string,
  outcome: 'YES' | 'NO',
  wire: WireOrderbook,
  shown: { readonly depth: number; readonly now: number },
): Book {
  const [own, other] = outcome === 'YES' ? [wire.yes_bids, wire.no_bids] : [wire.no_bids, wire.yes_bids];
  const bids = levelsOf(own);
  const asks = levelsOf(other).map(([price, size]): Level => [PIPS - price, size]);
  return {
    conditionId: ticker,
    outcome,
    bids: bids.sort(([a], [b]) => b - a).slice(0, shown.depth),
    asks: asks.sort(([a], [b]) => a - b).slice(0, shown.depth),
    sequence: isSequence(wire.sequence) ? wire.sequence : 0,
    changedAt: shown.now,
  };
}

const isSequence = (said: unknown): said is number => Number.isSafeInteger(said) && (said as number) >= 0;

/** One level for each price, however often and in whatever digits the venue writes it. */
function levelsOf(side: WireOrderbook['yes_bids']): Level[] {
  const said = Object.entries(side ?? {});
  const levels = new Map<Pips, Micro>();
  for (const [text, count] of said) {
    const [price, size] = [priceOf(text), countOf(count)];
    if (price !== null && size !== null) levels.set(price, (levels.get(price) ?? 0n) + size);
  }
  if (said.length > 0 && levels.size === 0)
    throw new VenueUnavailable('no level of DFlow’s book can be read');
  return [...levels].filter(([, size]) => size > 0n);
}

const WHOLE = BigInt(PIPS);

/** A taker's cost of `contracts` at a price, including fees: Kalshi rounds its part up to the cent. */
export function costOf(contracts: bigint, price: Pips): Micro {
  const variance = contracts * BigInt(price) * (WHOLE - BigInt(price));
  const part = (rate: Micro) => divide(rate * variance, WHOLE * WHOLE, 'ceil');
  const kalshi = divide(part(KALSHI_RATE), CENT, 'ceil') * CENT;
  return notional(contracts * MICRO, price, 'ceil') + kalshi + part(DFLOW_RATE);
}

/** DFlow's codes that fully explain why there is no order; other codes need a look at the market. */
export const QUOTE_CODES: ReadonlyMap<string, QuoteErrorCode> = new Map([
  ['unverified_wallet_not_allowed', 'kyc_required'],
  ['price_impact_too_high', 'price_impact_too_high'],
  ['geoblocked', 'geoblocked'],
  ['wallet_restricted', 'wallet_restricted'],
  ['zero_out_amount', 'amount_too_small'],
  ['requested_input_amount_is_zero', 'amount_too_small'],
]);
