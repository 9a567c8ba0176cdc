/** Reasons to refuse a signed transaction: first those that need no lock, then those that are judged while the agent's lock is held. */
import { outcomeName, type SubmitRequest } from '@bellwether/contract';
import { DecimalError, formatMicro, parseMicro } from '@bellwether/contract/decimals';
import { parseTransactionBytes, transactionId, type VerifyEd25519 } from '@bellwether/protocol';
import { type GivenApproval, requireApproval, withApproval } from '../approvals/index.ts';
import type { Denial } from '../domain/denial.ts';
import { averagePrice, legsOf } from '../domain/quoted-amounts.ts';
import type { Caller, NewQuotedOrder } from '../domain/records.ts';
import type { Clock } from '../platform/clock.ts';
import { Refusal, refusal } from '../platform/refusal.ts';
import type { NewChainOrder, Recorded, TradeScope } from '../trading/index.ts';
import { requireReady } from '../trading/index.ts';
import type { VenueWith } from '../venues/venue.ts';
import { boundTerms, budgetOf, verdictOn } from './judge.ts';
import { type ExecutableQuote, isExecutable, mintOf } from './outcomes.ts';
import type { QuoteRow } from './quote-store.ts';
import { requireHarmless, requireSigned } from './signed-transaction.ts';

/** After this the follower takes up what was recorded and, it seems, never sent. */
const TAKEN_UP_AFTER_MS = 3_000;

export interface JudgeSubmissionNeeds {
  readonly clock: Clock;
  readonly signatures: { readonly verifyEd25519?: VerifyEd25519 };
}

export interface Submission {
  readonly caller: Caller;
  readonly request: SubmitRequest;
  readonly requestId: string;
  readonly venue: VenueWith<'quotes'>;
  readonly quote: QuoteRow;
  /** The agent's order that has this transaction already. */
  readonly twin: string | null;
}

/** A transaction that is the quoted one, signed, and as far as the chain can tell harmless. */
export interface SoundSubmission {
  readonly quote: ExecutableQuote;
  readonly transaction: NewChainOrder;
}

/** The quote, the fields sent along, the transaction itself, what the chain says of it. @throws Refusal */
export async function judgeSubmission(
  needs: JudgeSubmissionNeeds,
  { request, venue, quote: quoted, twin }: Submission,
): Promise<SoundSubmission> {
  const quote = await requireUsable(needs, venue, quoted);
  requireSameFields(request, quote);
  const signed = requireSigned(request.signedTransaction, quote, needs.signatures.verifyEd25519);
  const wire = parseTransactionBytes(request.signedTransaction);
  await requireHarmless(venue, wire, quote);
  const signature = transactionId(signed);
  const dueAt = needs.clock.now() + TAKEN_UP_AFTER_MS;
  // The same submission at the same time is no twin: the look under the lock finds it.
  if (twin !== null && twin !== quote.quoteId) throw alreadyUsed(twin);
  return { quote, transaction: { orderId: quote.quoteId, signature, wire, dueAt } };
}

export const alreadyUsed = (orderId: string): Refusal =>
  refusal('quote_already_used', 'Another signed transaction was submitted for this quote.', {
    orderId,
    path: 'quoteId',
  });

/** @throws Refusal quote_not_executable, quote_expired */
export async function requireUsable(
  { clock }: Pick<JudgeSubmissionNeeds, 'clock'>,
  { quotes }: VenueWith<'quotes'>,
  quote: QuoteRow,
): Promise<ExecutableQuote> {
  if (!isExecutable(quote)) {
    const why =
      quote.errorCode === null
        ? 'This quote was a preview: no wallet was known to make a transaction for.'
        : `This quote holds no transaction: ${quote.errorCode}.`;
    throw refusal('quote_not_executable', why, { path: 'quoteId' });
  }
  if (quote.withdrawn) throw withdrawn();
  const { lastValidBlockHeight } = quote.transaction;
  const now = clock.now();
  if (now >= quote.expiresAt) {
    const at = new Date(quote.expiresAt).toISOString();
    throw refusal('quote_expired', `This quote was good until ${at}.`, { path: 'quoteId' });
  }
  const height = await quotes.chain.blockHeight().catch(() => null);
  if (height !== null && height > lastValidBlockHeight) {
    throw refusal(
      'quote_expired',
      `The chain is at block ${height}; this transaction could land until block ${lastValidBlockHeight}.`,
      { path: 'quoteId' },
    );
  }
  return quote;
}

export const withdrawn = (): Refusal =>
  refusal('quote_not_executable', 'This quote was canceled.', { path: 'quoteId' });

/** Checks fields that are sent along; they are not used. @throws Refusal quote_mismatch, every field at once */
function requireSameFields(request: SubmitRequest, quote: ExecutableQuote): void {
  const asked = formatMicro(quote.asked);
  const isBuy = quote.side === 'BUY';
  const pairs = [
    ['marketTicker', request.marketTicker, quote.ticker],
    ['side', request.side?.toUpperCase(), quote.outcome],
    ['action', request.action?.toUpperCase(), quote.side],
    ['amount', exact(request.amount), isBuy ? asked : 'none'],
    ['shares', exact(request.shares), isBuy ? 'none' : asked],
    ['userPublicKey', request.userPublicKey, quote.wallet],
    ['destinationWallet', request.destinationWallet, quote.destination ?? quote.wallet],
    ['inAmount', request.inAmount, quote.amounts.inAmount.toString()],
    ['outAmount', request.outAmount, quote.amounts.outAmount.toString()],
    ['minOutAmount', request.minOutAmount, quote.amounts.minOutAmount.toString()],
  ] as const;
  const faults = pairs
    .filter(([, sent, quoted]) => sent !== undefined && sent !== quoted)
    .map(([path, sent, quoted]): Denial => {
      const detail = `${path} is ${sent}; the quote says ${quoted}.`;
      return { code: 'quote_mismatch', path, detail };
    });
  const [first, ...rest] = faults;
  if (first !== undefined) throw new Refusal([first, ...rest]);
}

/** A number finer than six decimals equals no quote. */
function exact(value: number | undefined): string | undefined {
  if (value === undefined) return undefined;
  try {
    return formatMicro(parseMicro(value));
  } catch (error) {
    if (error instanceof DecimalError) return String(value);
    throw error;
  }
}

/** The quote, the venue's state, the safeguards, the owner's approval. @returns what to record @throws Refusal */
export function judgeQuotedOrder(
  { clock }: JudgeSubmissionNeeds,
  { caller, request, requestId, venue }: Submission,
  { quote, approval }: { readonly quote: ExecutableQuote; readonly approval: GivenApproval | null },
  scope: TradeScope,
): Pick<Recorded<NewQuotedOrder>, 'order' | 'checked' | 'reserves'> {
  if (scope.quoteWithdrawn) throw withdrawn();
  requireReady(venue);
  const verdict = verdictOn(venue, quote, scope);
  if (verdict.denial !== null) throw new Refusal([verdict.denial]);
  if (verdict.need !== null)
    requireApproval(verdict.need, {
      scope,
      orderId: quote.quoteId,
      binds: boundTerms(quote),
      amount: budgetOf(quote),
      approval,
      now: clock.now(),
      verdicts: verdict.all,
    });
  const { side, amounts } = quote;
  const { contracts, collateral } = legsOf(side, amounts);
  const worst = legsOf(side, { inAmount: amounts.inAmount, outAmount: amounts.minOutAmount });
  const createdAt = clock.now();
  const order: NewQuotedOrder = {
    kind: 'quoted',
    orderId: quote.quoteId,
    agentId: caller.agentId,
    userId: scope.userId,
    venue: venue.id,
    marketId: quote.ticker,
    conditionId: quote.ticker,
    question: quote.title,
    tokenId: mintOf(quote),
    outcome: quote.outcome,
    outcomeName: outcomeName(quote.outcomes, quote.outcome),
    side,
    isLimitOrder: false,
    timeInForce: 'FAK',
    postOnly: false,
    deferExec: false,
    price: averagePrice(side, contracts, collateral),
    limit: worst.contracts === 0n ? 0 : averagePrice(side, worst.contracts, worst.collateral),
    shares: contracts,
    money: collateral,
    funder: quote.wallet,
    walletAddress: quote.wallet,
    isRedemption: amounts.isRedemption,
    expiration: null,
    feeAmount: 0n,
    reasoning: request.reasoning ?? null,
    source: request.source ?? null,
    skillSlug: request.skillSlug ?? null,
    clientOrderId: request.clientOrderId ?? null,
    cancelAt: request.cancelAfterMs === undefined ? null : createdAt + request.cancelAfterMs,
    requestId,
    createdAt,
  };
  return {
    order,
    checked: withApproval(verdict.figures(), verdict.need, approval),
    reserves: budgetOf(quote),
  };
}
