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
  parseMicro,
  parsePips,
} from '@bellwether/contract/decimals';
import { payoutOf } from '@bellwether/contract/positions';
import { parseSolanaAddress, type SolanaAddress } from '@bellwether/protocol';
import type { Book, Level } from '../../domain/market.ts';
import { plainText } from '../../domain/untrusted-text.ts';
import { timeAt } from '../../domain/utc-day.ts';
import type { TickerMarket } from '../quotes.ts';
import { READ, type WireMarket, type WireOrderbook, type WireRail } from './wire.ts';

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

export const isKnownState = (status: string): boolean => Object.hasOwn(KNOWN_STATES, status);

/**
 * @param collateral the rail: DFlow has separate tokens for each settlement mint
 * @returns `null` when the market has no tokens on this rail
 */
export function toTickerMarket(
  wire: WireMarket,
  collateral: SolanaAddress,
  now: number,
): TickerMarket | null {
  const rail = READ.rail(wire.accounts[collateral]);
  const yesMint = rail === null ? null : parseSolanaAddress(rail.yesMint);
  const noMint = rail === null ? null : parseSolanaAddress(rail.noMint);
  if (rail === null || yesMint === null || noMint === null || yesMint === noMint) return null;
  const prices = pricesOf(wire);
  const outcome = outcomeOf(wire, rail);
  const phase = phaseOf(wire, rail, outcome);
  const { ticker } = wire;
  const closeTime = timeOf(wire.closeTime);
  return {
    id: ticker,
    conditionId: ticker,
    slug: ticker,
    tokenIds: [yesMint, noMint],
    outcomes: namesOf(wire),
    question: questionOf(wire),
    description: [wire.rulesPrimary, wire.rulesSecondary].filter((text) => !!text).join('\n\n'),
    // Kalshi files series, not markets, under categories.
    category: ticker.split('-')[0] ?? ticker,
    eventId: wire.eventTicker ?? ticker,
    eventTitle: wire.title,
    negRisk: false,
    tickSize: tickOf(Object.values(prices)),
    minOrderSize: MICRO,
    feeRate: FEE_RATE,
    feeExponent: 1,
    createdAt: timeOf(wire.openTime),
    endDate: closeTime,
    updatedAt: now,
    ...statusOf(phase, outcome),
    ...unknownResultOf(wire, phase),
    ...(prices.yesBid === null ? {} : { bestBid: prices.yesBid }),
    ...(prices.yesAsk === null ? {} : { bestAsk: prices.yesAsk }),
    volume: countOf(wire.volumeFp ?? wire.volume),
    volume24h: countOf(wire.volume24hFp),
    // The real venue's markets do not always have it; no value is invented.
    liquidity: countOf(wire.liquidityFp ?? wire.liquidity),
    phase,
    asks: { YES: prices.yesAsk, NO: prices.noAsk },
    pays: paysOf(phase, rail, outcome),
  };
}

/** The title is often the event's and the same for all its markets: the meaning of YES distinguishes them. */
function questionOf({ title, yesSubTitle }: WireMarket): string {
  const yes = yesSubTitle?.trim() ?? '';
  return yes === '' || yes === title || yes.toLowerCase() === 'yes' ? title : `${title} (${yes})`;
}

/** Often both sides have the same subtitle: then it is about the question, which says it, too. */
function namesOf({ yesSubTitle, noSubTitle }: WireMarket): OutcomeNames {
  const [yes, no] = [yesSubTitle, noSubTitle].map((name) =>
    plainText(name ?? '', LIMITS.outcomeChars).trim(),
  );
  return yes === no ? ['Yes', 'No'] : [yes || 'Yes', no || 'No'];
}

/** Payout of YES in pips; `null` until the market is decided. */
function outcomeOf({ result }: WireMarket, { scalarOutcomePct }: WireRail): Pips | null {
  if (result === 'yes') return PIPS;
  if (result === 'no') return 0;
  return SCALAR.has(result ?? '') ? (scalarOutcomePct ?? null) : null;
}

const LABEL_CHARS = 40;

/** A word that was added since is shown, and decides nothing. */
function unknownResultOf(
  { result }: WireMarket,
  phase: TickerMarket['phase'],
): Pick<TickerMarket, 'unknownResult'> {
  const word = result ?? '';
  const isKnown = word === 'yes' || word === 'no' || SCALAR.has(word);
  return isKnown || phase === 'active' ? {} : { unknownResult: plainText(word, LABEL_CHARS) };
}

function phaseOf(wire: WireMarket, rail: WireRail, outcome: Pips | null): TickerMarket['phase'] {
  const phase = Object.hasOwn(KNOWN_STATES, wire.status) ? KNOWN_STATES[wire.status]! : 'inactive';
  // A market whose first buyer would have to pay for its accounts is not offered (reference §2.7).
  if (phase === 'active') return rail.isInitialized === false ? 'inactive' : 'active';
  if (phase === 'settled') return outcome === null ? 'closed' : 'settled';
  // Determined and already redeemable: the result is final.
  return wire.status === 'determined' && outcome !== null && rail.redemptionStatus === 'open'
    ? 'settled'
    : phase;
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
  const open = phase === 'settled' && rail.redemptionStatus === 'open' && outcome !== null;
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
function priceOf(price: string | number | null | undefined): Pips | null {
  if (price === null || price === undefined) return null;
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

const timeOf = (time: number | null | undefined): number => {
  if (time === null || time === undefined) return 0;
  return timeAt(time > FIRST_MILLISECONDS ? time : time * 1000) ?? 0;
};

/** Contracts or collateral, for display only: 0 when unreadable. */
function countOf(count: string | number | null | undefined): Micro {
  if (count === null || count === undefined) return 0n;
  try {
    const contracts = parseMicro(count, 'floor');
    return contracts > 0n ? contracts : 0n;
  } catch {
    return 0n;
  }
}

/** The venue lists bids only: a bid of 0.30 for NO is an offer of YES at 0.70. */
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
    sequence: wire.sequence ?? 0,
    changedAt: shown.now,
  };
}

const levelsOf = (side: Record<string, string | number> | null | undefined): Level[] =>
  Object.entries(side ?? {}).flatMap(([text, count]): Level[] => {
    const price = priceOf(text);
    const size = countOf(count);
    return price === null || size === 0n ? [] : [[price, size]];
  });

const WHOLE = BigInt(PIPS);

/** A taker's cost of `contracts` at a price, including fees: Kalshi rounds its part up to the cent. */
export function costOf(contracts: bigint, price: Pips): Micro {
  const variance = contracts * BigInt(price) * (WHOLE - BigInt(price));
  const part = (rate: Micro) => divide(rate * variance, WHOLE * WHOLE, 'ceil');
  const kalshi = divide(part(KALSHI_RATE), CENT, 'ceil') * CENT;
  return notional(contracts * MICRO, price, 'ceil') + kalshi + part(DFLOW_RATE);
}

/** DFlow's codes that fully explain why there is no order; other codes need a look at the market. */
export const QUOTE_CODES: Readonly<Record<string, QuoteErrorCode>> = {
  unverified_wallet_not_allowed: 'kyc_required',
  price_impact_too_high: 'price_impact_too_high',
  geoblocked: 'geoblocked',
  wallet_restricted: 'geoblocked',
  zero_out_amount: 'amount_too_small',
  requested_input_amount_is_zero: 'amount_too_small',
};
