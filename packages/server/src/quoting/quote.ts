/**
 * A quote: what the market asks, and the transaction that would trade at it. Every quote is kept, also those
 * that hold no transaction, so that submitting one can say why it cannot be. Nothing is promised and no budget is
 * touched here; what the safeguards would deny a submit now is shown without its transaction.
 */
import {
  outcomeName,
  QUOTE_ERRORS,
  type Quote,
  type QuoteErrorCode,
  type QuoteRequest,
} from '@bellwether/contract';
import {
  DecimalError,
  formatMicro,
  formatPips,
  microToNumber,
  parseMicro,
} from '@bellwether/contract/decimals';
import { parseSolanaAddress, type SolanaAddress, toBase64 } from '@bellwether/protocol';
import type { AgentStore } from '../agents/index.ts';
import { NO_OWNER_FIX } from '../approvals/index.ts';
import type { Denial } from '../domain/denial.ts';
import { knownPrice } from '../domain/market.ts';
import type { Caller } from '../domain/records.ts';
import { plainText } from '../domain/untrusted-text.ts';
import { TITLE_CHARS } from '../markets/index.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Secrets } from '../platform/secrets.ts';
import { quotingVenue } from '../venues/asking.ts';
import type { QuoteQuestion, TickerMarket, VenueQuote } from '../venues/quotes.ts';
import { ASK_FIX } from './approve-quote.ts';
import { type LookAheadNeeds, lookAhead, sentenceOf } from './judge.ts';
import type { QuoteRow, QuoteStore } from './quote-store.ts';

export interface QuoteNeeds extends LookAheadNeeds {
  readonly agents: Pick<AgentStore, 'byId'>;
  readonly quotes: Pick<QuoteStore, 'add'>;
  readonly secrets: Pick<Secrets, 'newId'>;
}

/** At most; a blockhash that ends sooner ends the quote. */
const QUOTE_TTL_MS = 120_000;
const MESSAGE_CHARS = 1_000;
const PERCENT = 100n;

/**
 * @param country of the caller as the proxy says it; `null`: it says none
 * @throws Refusal with every fault of the request at once
 */
export async function quote(
  needs: QuoteNeeds,
  caller: Caller,
  request: QuoteRequest,
  country: string | null,
): Promise<Quote> {
  const question = await questionOf(needs, caller, request);
  // A holder may always get out, from any place.
  const block = question.side === 'BUY' ? blockOf(needs, country) : null;
  const answer: VenueQuote =
    block === null
      ? await ask(needs, question)
      : { kind: 'degraded', code: 'geoblocked', message: block, market: null };
  const { denial, mayBeApproved } = await denialOfAnswer(needs, caller, question, answer);
  const now = needs.clock.now();
  const { market } = answer;
  const row: Omit<QuoteRow, 'withdrawn'> = {
    quoteId: needs.secrets.newId(),
    agentId: caller.agentId,
    ticker: question.ticker,
    title: market === null ? '' : plainText(market.question, TITLE_CHARS),
    endDate: market?.endDate ?? null,
    outcome: question.outcome,
    side: question.side,
    asked: question.amount,
    wallet: question.wallet,
    destination: question.destination,
    mints: market?.tokenIds ?? null,
    outcomes: market?.outcomes ?? null,
    amounts: answer.kind === 'degraded' ? null : answer.amounts,
    transaction:
      answer.kind === 'executable' && (denial === null || mayBeApproved)
        ? {
            message: answer.message,
            lastValidBlockHeight: answer.lastValidBlockHeight,
            deadAt: answer.expectedEnd,
            withheld: denial === null ? null : answer.wire,
          }
        : null,
    errorCode: answer.kind === 'degraded' ? answer.code : (denial?.code ?? null),
    createdAt: now,
    expiresAt:
      answer.kind === 'executable' ? Math.min(now + QUOTE_TTL_MS, answer.expectedEnd) : now + QUOTE_TTL_MS,
  };
  await needs.quotes.add(row);
  return quoteRecord(needs, row, answer, denial);
}

/** Once a proxy is to name the country, what it does not name is not taken for allowed. */
function blockOf(needs: QuoteNeeds, country: string | null): string | null {
  const { geography } = quotingVenue(needs).quotes;
  return geography === undefined || geography.countryHeader === null ? null : geography.refusalOf(country);
}

/** Denial by the safeguards of the order that could be signed; `null` also where there is nothing to sign. */
async function denialOfAnswer(
  needs: QuoteNeeds,
  caller: Caller,
  { wallet, ticker, side }: QuoteQuestion,
  answer: VenueQuote,
): Promise<{ readonly denial: Denial | null; readonly mayBeApproved: boolean }> {
  if (answer.kind !== 'executable' || wallet === null) return { denial: null, mayBeApproved: false };
  const { amounts, market } = answer;
  const trade = { wallet, ticker, mints: market.tokenIds, side, amounts };
  const { denial, need, standing } = await lookAhead(needs, caller, trade);
  if (need === null) return { denial, mayBeApproved: false };
  if (need.limit === null) return { denial: need.denial, mayBeApproved: false };
  const isOwned = standing?.claimed === true;
  return { denial: { ...need.denial, fix: isOwned ? ASK_FIX : NO_OWNER_FIX }, mayBeApproved: isOwned };
}

/** The venue's answer; what cannot be had is a degraded quote. */
async function ask(needs: QuoteNeeds, question: QuoteQuestion): Promise<VenueQuote> {
  const { quotes, paper } = quotingVenue(needs);
  if (question.wallet !== null && paper !== undefined) {
    try {
      await paper.credit(question.wallet);
    } catch {
      const message = 'The paper venue could not credit the wallet; ask again in a moment.';
      return { kind: 'degraded', code: 'venue_unavailable', message, market: null };
    }
  }
  return quotes.quote(question);
}

const upper = <T extends string>(text: string): T => text.toUpperCase() as T;

async function questionOf(needs: QuoteNeeds, caller: Caller, request: QuoteRequest): Promise<QuoteQuestion> {
  const [first, ...rest] = quoteFaults(request);
  if (first !== undefined) throw new Refusal([first, ...rest]);
  const side = upper<'BUY' | 'SELL'>(request.action);
  const destination = parseSolanaAddress(request.destinationWallet ?? '');
  const wallet = parseSolanaAddress(request.userPublicKey ?? '') ?? (await ownWallet(needs, caller));
  return {
    ticker: request.marketTicker,
    outcome: upper<'YES' | 'NO'>(request.side),
    side,
    amount: parseMicro((side === 'BUY' ? request.amount : request.shares) ?? 0),
    wallet,
    destination: destination === wallet ? null : destination,
  };
}

/**
 * Finds faults in the fields of a request beyond their schema, every fault at once. Fields of another type than
 * their schema's are left to that.
 */
export function quoteFaults(request: unknown): Denial[] {
  if (typeof request !== 'object' || request === null) return [];
  const { action, amount, shares, userPublicKey, destinationWallet } = request as Record<string, unknown>;
  return [
    ...amountFaults(typeof action === 'string' ? action.toUpperCase() : '', { amount, shares }),
    ...addressFaults({ userPublicKey, destinationWallet }),
  ];
}

/** BUY takes amount, SELL takes shares. */
function amountFaults(
  side: string,
  given: { readonly amount: unknown; readonly shares: unknown },
): readonly Denial[] {
  if (side !== 'BUY' && side !== 'SELL') return [];
  const [wanted, other] = side === 'BUY' ? (['amount', 'shares'] as const) : (['shares', 'amount'] as const);
  const faults: Denial[] = [];
  if (given[other] !== undefined) {
    faults.push({
      code: `${other}_not_allowed`,
      path: other,
      detail: `A ${side} takes ${wanted}, not ${other}.`,
    });
  }
  const value = given[wanted];
  if (value === undefined)
    faults.push({ code: `${wanted}_required`, path: wanted, detail: `A ${side} needs ${wanted}.` });
  if (typeof value === 'number' && !isExact(value))
    faults.push({ code: 'too_many_decimals', path: wanted, detail: `${wanted} has more than 6 decimals.` });
  return faults;
}

function isExact(value: number): boolean {
  try {
    parseMicro(value);
    return true;
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
    return false;
  }
}

const addressFaults = (given: Readonly<Record<string, unknown>>): readonly Denial[] =>
  Object.entries(given)
    .filter(([, text]) => typeof text === 'string' && parseSolanaAddress(text) === null)
    .map(([path]) => ({
      code: 'invalid_solana_address',
      path,
      detail: `${path} is not base58 of 32 bytes.`,
    }));

async function ownWallet(needs: QuoteNeeds, caller: Caller): Promise<SolanaAddress | null> {
  const stored = (await needs.agents.byId(caller.agentId))?.solAddress ?? null;
  return stored === null ? null : parseSolanaAddress(stored);
}

/** Prices of one contract: the payout of a settled outcome, else a buyer's price, else its worth, where that is known. */
function pricesOf(market: TickerMarket): { yesPrice?: string; noPrice?: string } {
  const [yes, no] = (['YES', 'NO'] as const).map(
    (outcome) => market.pays[outcome] ?? market.asks[outcome] ?? knownPrice(market, outcome),
  );
  return {
    ...(yes == null ? {} : { yesPrice: formatPips(yes) }),
    ...(no == null ? {} : { noPrice: formatPips(no) }),
  };
}

/** Mints that a quote for a market would give and receive. */
function mintsOf(
  needs: QuoteNeeds,
  row: Omit<QuoteRow, 'withdrawn'>,
): { inputMint?: string; outputMint?: string } {
  if (row.amounts !== null) return row.amounts;
  const outcome = row.mints?.[row.outcome === 'YES' ? 0 : 1];
  if (outcome === undefined) return {};
  const collateral = quotingVenue(needs).quotes.collateralMint;
  return row.side === 'BUY'
    ? { inputMint: collateral, outputMint: outcome }
    : { inputMint: outcome, outputMint: collateral };
}

function quoteRecord(
  needs: QuoteNeeds,
  row: Omit<QuoteRow, 'withdrawn'>,
  answer: VenueQuote,
  denial: Denial | null,
): Quote {
  const { market } = answer;
  const asked = formatMicro(row.asked);
  return {
    quoteId: row.quoteId,
    venue: quotingVenue(needs).id,
    marketTicker: row.ticker,
    marketId: row.ticker,
    ...(market === null ? {} : marketOf(row, market)),
    side: row.outcome,
    outcomeName: outcomeName(row.outcomes, row.outcome),
    action: row.side,
    ...(row.side === 'BUY' ? { amount: asked } : { shares: asked }),
    ...pick(mintsOf(needs, row)),
    scaledAmount: row.asked.toString(),
    ...(row.amounts === null
      ? {}
      : {
          inAmount: row.amounts.inAmount.toString(),
          outAmount: row.amounts.outAmount.toString(),
          minOutAmount: row.amounts.minOutAmount.toString(),
        }),
    ...(answer.kind === 'degraded' || answer.priceImpact === undefined
      ? {}
      : { priceImpactPercent: microToNumber(answer.priceImpact * PERCENT) }),
    ...(answer.kind === 'executable' && denial === null
      ? { unsignedTransaction: toBase64(answer.wire) }
      : {}),
    expiresAt: row.expiresAt,
    previewOnly: row.wallet === null,
    isRedemption: row.amounts?.isRedemption ?? false,
    kycRequired: row.errorCode === 'kyc_required',
    geoblocked: row.errorCode === 'geoblocked',
    ...(answer.kind === 'degraded' ? errorOf(answer) : {}),
    ...(denial === null ? {} : { quoteErrorCode: denial.code, quoteErrorMessage: sentenceOf(denial) }),
  };
}

const marketOf = ({ title }: Pick<QuoteRow, 'title'>, market: TickerMarket) => ({
  title,
  status: market.phase,
  ...pricesOf(market),
  yesMint: market.tokenIds[0],
  noMint: market.tokenIds[1],
});

const pick = ({ inputMint, outputMint }: { inputMint?: string; outputMint?: string }) =>
  inputMint === undefined || outputMint === undefined ? {} : { inputMint, outputMint };

const errorOf = ({ code, message }: { readonly code: QuoteErrorCode; readonly message: string | null }) => ({
  quoteErrorCode: code,
  quoteErrorMessage: message === null ? QUOTE_ERRORS[code] : plainText(message, MESSAGE_CHARS),
});
