/**
 * A quote: what the market asks, and the transaction that would trade at it. Every quote is kept, also those
 * that hold no transaction, so that submitting one can say why it cannot be. Nothing is promised and no budget is
 * touched here; what the safeguards would deny a submit now is shown without its transaction.
 */
import {
  type AgentApproval,
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
  pipsToNumber,
} from '@bellwether/contract/decimals';
import { parseSolanaAddress, type SolanaAddress, toBase64 } from '@bellwether/protocol';
import {
  ApprovalNeeded,
  type ApprovalSubject,
  type ApprovalTerms,
  approvalRecord,
  askApproval,
  declined,
  NO_OWNER_FIX,
  requireApproval,
} from '../approvals/index.ts';
import { averagePrice, legsOf } from '../domain/amounts.ts';
import type { Denial } from '../domain/denial.ts';
import { knownPrice } from '../domain/market.ts';
import type { Caller } from '../domain/records.ts';
import { plainText, UNTRUSTED_NOTICE } from '../domain/untrusted-text.ts';
import { TITLE_CHARS } from '../markets/index.ts';
import type { Clock } from '../platform/clock.ts';
import { Refusal, refusal } from '../platform/refusal.ts';
import type { Placed } from '../trading/index.ts';
import { quotingVenue } from '../venues/asking.ts';
import type { QuoteQuestion, TickerMarket, VenueQuote } from '../venues/quotes.ts';
import type { Venue } from '../venues/venue.ts';
import {
  alreadyUsed,
  boundTerms,
  budgetOf,
  lookAhead,
  type QuotingNeeds,
  requireUsable,
  sentenceOf,
} from './judge-submission.ts';
import { type ExecutableQuote, mintOf } from './outcomes.ts';
import type { QuoteRow, QuoteStore } from './quote-store.ts';

/** At most; a blockhash that ends sooner ends the quote. */
const QUOTE_TTL_MS = 120_000;
const MESSAGE_CHARS = 1_000;
const PERCENT = 100n;

/**
 * @param country of the caller as the proxy says it; `null`: it says none
 * @throws Refusal with every fault of the request at once
 */
export async function quote(
  needs: QuotingNeeds,
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
function blockOf(needs: QuotingNeeds, country: string | null): string | null {
  const { geography } = quotingVenue(needs).quotes;
  return geography === undefined || geography.countryHeader === null ? null : geography.refusalOf(country);
}

/** Denial by the safeguards of the order that could be signed; `null` also where there is nothing to sign. */
async function denialOfAnswer(
  needs: QuotingNeeds,
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
async function ask(needs: QuotingNeeds, question: QuoteQuestion): Promise<VenueQuote> {
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

async function questionOf(
  needs: QuotingNeeds,
  caller: Caller,
  request: QuoteRequest,
): Promise<QuoteQuestion> {
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

async function ownWallet(needs: QuotingNeeds, caller: Caller): Promise<SolanaAddress | null> {
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
  needs: QuotingNeeds,
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
  needs: QuotingNeeds,
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

// A quote that needs the owner's approval. Its transaction is withheld until then: the chain accepts everything that is signed, also
// without the desk. Prices are quoted much more often than they are traded, so a quote does not ask the owner; its agent does.

const ASK_FIX =
  'Ask the owner with POST /venueb/agent/approval; once approved, GET /agents/approvals/{approvalId} answers the transaction to sign. Or order for no more than approvalAbove.';

interface Labels {
  readonly reasoning: string | null;
  readonly source: string | null;
  readonly skillSlug: string | null;
}

export const labelsOf = (
  request: {
    readonly [K in keyof Labels]?: Labels[K] | undefined;
  },
): Labels => ({
  reasoning: request.reasoning ?? null,
  source: request.source ?? null,
  skillSlug: request.skillSlug ?? null,
});

export const quoteApproval = (
  { id }: Pick<Venue, 'id'>,
  quote: ExecutableQuote,
  labels: Labels,
): ApprovalSubject => ({
  caller: { agentId: quote.agentId },
  orderId: quote.quoteId,
  binds: boundTerms(quote),
  endsAt: quote.expiresAt,
  terms: (needed) => Promise.resolve(termsOf(id, quote, labels, needed)),
});

function termsOf(
  venue: string,
  quote: ExecutableQuote,
  labels: Labels,
  needed: ApprovalNeeded,
): ApprovalTerms {
  const { side, amounts } = quote;
  const { contracts, collateral } = legsOf(side, amounts);
  const worst = legsOf(side, { inAmount: amounts.inAmount, outAmount: amounts.minOutAmount });
  const priceOf = (legs: typeof worst) =>
    legs.contracts === 0n ? null : pipsToNumber(averagePrice(side, legs.contracts, legs.collateral));
  const worstPrice = priceOf(worst);
  return {
    venue,
    marketId: quote.ticker,
    marketConditionId: quote.ticker,
    tokenId: mintOf(quote),
    outcome: quote.outcome,
    outcomeName: outcomeName(quote.outcomes, quote.outcome),
    side,
    binds: boundTerms(quote),
    price: worstPrice ?? 0,
    orderSize: microToNumber(contracts),
    amount: microToNumber(collateral),
    // The amounts of a quote include the fee.
    feeAtMost: 0,
    walletAddress: quote.wallet,
    approvalAbove: microToNumber(needed.limit),
    book: {
      shares: microToNumber(contracts),
      averagePrice: priceOf({ contracts, collateral }),
      worstPrice,
      cost: microToNumber(collateral),
      fee: 0,
      bestBid: null,
      bestAsk: null,
    },
    checks: needed.checks,
    untrustedText: {
      notice: UNTRUSTED_NOTICE,
      marketQuestion: quote.title,
      agentsMarketQuestion: null,
      ...labels,
    },
  };
}

interface AskRequest {
  readonly quoteId: string;
  readonly reasoning?: string | null;
  readonly source?: string | null;
  readonly skillSlug?: string | null;
}

/** Asks once: the same quote gets the same approval. @throws Refusal with what a submit would be refused for anyway */
export async function askQuoteApproval(
  needs: QuotingNeeds,
  caller: Caller,
  request: AskRequest,
): Promise<Placed<AgentApproval>> {
  const found = await needs.quotes.toSubmit(caller.agentId, request.quoteId, null);
  if (found === null) throw refusal('quote_not_found', undefined, { path: 'quoteId' });
  if (found.submitted !== null) throw alreadyUsed(request.quoteId);
  const venue = quotingVenue(needs);
  const quote = await requireUsable(needs, venue, found.quote);
  const { denial, need, all, standing } = await lookAhead(needs, caller, quote);
  if (denial !== null) throw new Refusal([denial]);
  if (need === null || standing === null) throw refusal('approval_not_required');
  const needed = neededOf(() =>
    requireApproval(need, {
      scope: { userId: caller.userId, claimed: standing.claimed, hasUnreachable: false },
      orderId: quote.quoteId,
      binds: boundTerms(quote),
      amount: budgetOf(quote),
      approval: null,
      now: needs.clock.now(),
      verdicts: all,
    }),
  );
  const subject = quoteApproval(venue, quote, labelsOf(request));
  const { row, isRepeated } = await askApproval(needs, subject, needed);
  if (row.status === 'declined') throw declined(row, needed);
  const record = approvalRecord(row);
  const unsignedTransaction = row.status === 'approved' ? transactionOf(quote, needs.clock.now()) : null;
  return {
    answer: unsignedTransaction === null ? record : { ...record, unsignedTransaction },
    isRepeated,
  };
}

/** @throws any other refusal */
function neededOf(require: () => void): ApprovalNeeded {
  try {
    require();
  } catch (refused) {
    if (refused instanceof ApprovalNeeded) return refused;
    throw refused;
  }
  throw new Error('an approval that was not asked for is given');
}

/** In base64, while it can still be signed. For an approved quote only: its transaction was withheld until then. */
function transactionOf(quote: QuoteRow | null, now: number): string | null {
  const withheld = quote?.transaction?.withheld ?? null;
  if (quote === null || withheld === null || quote.withdrawn || quote.expiresAt <= now) return null;
  return toBase64(withheld);
}

/** The transaction of an agent's approved quote, as {@link transactionOf}. */
export const createTransactionToSign =
  (quotes: Pick<QuoteStore, 'byId'>, { now }: Clock) =>
  async (agentId: string, quoteId: string): Promise<string | null> =>
    transactionOf(await quotes.byId(agentId, quoteId), now());
