/**
 * A quote that needs the owner's approval. Its transaction is withheld until then: the chain accepts everything that is signed, also
 * without the desk. Prices are quoted much more often than they are traded, so a quote does not ask the owner; its agent does.
 */
import { type AgentApproval, outcomeName } from '@bellwether/contract';
import { microToNumber, pipsToNumber } from '@bellwether/contract/decimals';
import { toBase64 } from '@bellwether/protocol';
import type { ApprovalTerms } from '../approvals/index.ts';
import {
  ApprovalNeeded,
  type ApprovalSubject,
  approvalRecord,
  askApproval,
  declined,
  type ObtainApprovalNeeds,
  requireApproval,
} from '../approvals/index.ts';
import { averagePrice, legsOf } from '../domain/quoted-amounts.ts';
import type { Caller } from '../domain/records.ts';
import { UNTRUSTED_NOTICE } from '../domain/untrusted-text.ts';
import type { Clock } from '../platform/clock.ts';
import { Refusal, refusal } from '../platform/refusal.ts';
import type { Placed } from '../trading/index.ts';
import { quotingVenue } from '../venues/asking.ts';
import type { Venue } from '../venues/venue.ts';
import { boundTerms, budgetOf, type LookAheadNeeds, lookAhead } from './judge.ts';
import { alreadyUsed, requireUsable } from './judge-submission.ts';
import { type ExecutableQuote, mintOf } from './outcomes.ts';
import type { QuoteRow, QuoteStore } from './quote-store.ts';

export const ASK_FIX =
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

export interface AskQuoteNeeds extends LookAheadNeeds, ObtainApprovalNeeds {
  readonly quotes: Pick<QuoteStore, 'toSubmit'>;
}

interface AskRequest {
  readonly quoteId: string;
  readonly reasoning?: string | null;
  readonly source?: string | null;
  readonly skillSlug?: string | null;
}

/** Asks once: the same quote gets the same approval. @throws Refusal with what a submit would be refused for anyway */
export async function askQuoteApproval(
  needs: AskQuoteNeeds,
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
