/**
 * Takes the signed transaction of a quote: judges it, reserves its budget and records it, hands it to a node once, and
 * says what is known by then, which is never a fill. From there on `follow.ts` has it.
 *
 * Order of refusal: the quote is the agent's own, the same transaction as before (its first answer), used, executable,
 * not expired, the fields sent along, the transaction itself, what the chain says of it; then, under the agent's lock,
 * its key and the safeguards.
 */
import {
  type SubmitRequest,
  type SubmitResponse,
  VENUE_REFUSALS,
  type VenueRefusal,
} from '@bellwether/contract';
import { equalBytes } from '@bellwether/protocol';
import { obtainApproval } from '../approvals/index.ts';
import type { FirstAnswer } from '../domain/evidence.ts';
import type { Caller, NewQuotedOrder } from '../domain/records.ts';
import type { Deadline } from '../platform/http/deadline.ts';
import { refusal } from '../platform/refusal.ts';
import type { TradeTrace } from '../platform/tracing.ts';
import {
  alreadyPlaced,
  endsWith,
  type NewChainOrder,
  noteSubmitRefusal,
  type Placed,
  type Placement,
  placeOrder,
} from '../trading/index.ts';
import { quotingVenue } from '../venues/asking.ts';
import type { VenueWith } from '../venues/venue.ts';
import {
  alreadyUsed,
  bytesOf,
  judgeQuotedOrder,
  judgeSubmission,
  type QuotingNeeds,
  type SoundSubmission,
  type Submission,
  signatureIn,
  withdrawn,
} from './judge-submission.ts';
import { reject } from './outcomes.ts';
import { labelsOf, quoteApproval } from './quote.ts';
import type { ChainOrderRow } from './quote-store.ts';

/** When the follower first looks whether it has landed. */
const FIRST_LOOK_MS = 600;

interface SubmitCall {
  readonly caller: Caller;
  readonly request: SubmitRequest;
  readonly requestId: string;
  readonly deadline: Deadline;
  readonly trace?: TradeTrace | undefined;
}

export async function submit(needs: QuotingNeeds, call: SubmitCall): Promise<Placed<SubmitResponse>> {
  const { caller, request, requestId } = call;
  const signature = signatureIn(request.signedTransaction);
  const found = await needs.quotes.toSubmit(caller.agentId, request.quoteId, signature);
  // Nothing is said of other agents' quotes.
  if (found === null) throw refusal('quote_not_found', undefined, { path: 'quoteId' });
  const { quote, submitted, twin } = found;
  const submission = { caller, request, requestId, quote, twin, venue: quotingVenue(needs) };
  return placeOrder(needs, call, placementOf(needs, submission, submitted));
}

/** @param submitted what was submitted for the quote before, as it was read with the quote */
function placementOf(
  needs: QuotingNeeds,
  submission: Submission,
  submitted: ChainOrderRow | null,
): Placement<SoundSubmission, NewQuotedOrder, SubmitResponse> {
  const { quoteId } = submission.quote;
  return {
    duplicateLookup: 'first',
    look: () => replayOf(needs, submission, submitted),
    judgeRequest: () => judgeSubmission(needs, submission),
    question: ({ quote }) => ({
      venue: submission.venue.id,
      orderId: quoteId,
      clientOrderId: submission.request.clientOrderId ?? null,
      wallets: [],
      funder: quote.wallet,
      signer: quote.wallet,
      conditionId: quote.ticker,
      tokenIds: quote.mints,
      quoteId,
    }),
    sameOrder: (existing) =>
      existing === null
        ? null
        : async () => {
            const [now] = await needs.chainOrders.byIds([quoteId]);
            const replayed = await replayOf(needs, submission, now ?? null);
            if (replayed === null) throw alreadyUsed(quoteId);
            return replayed;
          },
    judge: (scope, { quote, transaction }, approval) => ({
      ...judgeQuotedOrder(needs, submission, { quote, approval }, scope),
      transaction,
    }),
    approval: (needed, { quote }) =>
      obtainApproval(needs, quoteApproval(submission.venue, quote, labelsOf(submission.request)), needed),
    handedOverBy: 'recording',
    send: ({ order }, { transaction }) => send(needs, submission.venue, order, transaction),
    note: (refused) => noteSubmitRefusal(needs, submission, refused),
  };
}

/**
 * The first answer to the same signed transaction.
 * @throws Refusal quote_already_used for any other, order_already_placed with another `cancelAfterMs`, quote_not_executable where it was canceled before it was sent
 */
async function replayOf(
  needs: QuotingNeeds,
  { caller, request, quote: { quoteId } }: Submission,
  chain: ChainOrderRow | null,
): Promise<SubmitResponse | null> {
  if (chain === null) return null;
  const bytes = bytesOf(request.signedTransaction);
  if (bytes === null || !equalBytes(bytes, chain.wire)) throw alreadyUsed(quoteId);
  const row = await needs.orders.byId(caller.agentId, quoteId);
  if (row?.kind !== 'quoted') throw new Error('a signed transaction has no order');
  if (!endsWith(row, request.cancelAfterMs ?? null)) throw alreadyPlaced(quoteId);
  if (row.status === 'canceled') throw withdrawn();
  return submitResponse(row, chain.signature, row.first);
}

async function send(
  needs: QuotingNeeds,
  venue: VenueWith<'quotes'>,
  order: NewQuotedOrder,
  chain: NewChainOrder,
): Promise<SubmitResponse> {
  const { orderId, signature, wire } = chain;
  const now = needs.clock.now();
  // It is recorded: where this fails, the follower sends it.
  const begun = await needs.chainOrders
    .beginSend([orderId], now, now + FIRST_LOOK_MS)
    .catch((): ReadonlySet<string> => new Set());
  if (!begun.has(orderId)) {
    if (await wasCanceled(needs, order)) throw withdrawn();
    return submitResponse(order, signature, null);
  }
  const answer = await venue.quotes.chain.send(wire);
  if (answer.kind !== 'refused' || !(await isUnseen(venue, signature))) {
    return submitResponse(order, signature, null);
  }
  const seen: ChainOrderRow = {
    ...chain,
    agentId: order.agentId,
    stage: 'sending',
    attempts: 1,
    sentAt: now,
    landedAt: null,
    fills: [],
    reverts: [],
  };
  const isMine = await reject(needs, seen, 'refused_by_chain', { detail: answer.reason, first: REFUSED });
  return submitResponse(order, signature, isMine ? REFUSED : null);
}

/** A cancel at the same time may hold the row: what it does is known once it lets go. */
async function wasCanceled(
  { chainOrders, orders }: Pick<QuotingNeeds, 'chainOrders' | 'orders'>,
  { agentId, orderId }: NewQuotedOrder,
): Promise<boolean> {
  try {
    await chainOrders.onceUnlocked(orderId);
    return (await orders.byId(agentId, orderId))?.status === 'canceled';
  } catch {
    return false;
  }
}

const REFUSED: FirstAnswer = {
  success: false,
  status: 'failed',
  filled: 0n,
  cost: 0n,
  fees: 0n,
  errorCode: 'refused_by_chain',
};

/** A refusal by the first node is proof only of what no other has taken: the agent may have sent it itself. */
export async function isUnseen({ quotes }: VenueWith<'quotes'>, signature: string): Promise<boolean> {
  try {
    const landings = await quotes.chain.landings([signature], true);
    return landings.get(signature)?.kind === 'unseen';
  } catch {
    return false;
  }
}

const LIVE = 1;
const INVALID = 5;

/** The agent's first answer, repeated on every replay: a fill is never part of it. */
function submitResponse(order: NewQuotedOrder, signature: string, first: FirstAnswer | null): SubmitResponse {
  const failed = first?.success === false;
  const errorCode = failed ? (first.errorCode as VenueRefusal | null) : null;
  return {
    success: !failed,
    orderId: order.orderId,
    venueOrderId: signature,
    status: failed ? first.status : 'submitted',
    orderStatus: failed ? INVALID : LIVE,
    txSignature: signature,
    txHash: signature,
    filledSize: 0,
    avgPrice: null,
    syncedToMkOrder: true,
    syncedToStrategyLog: true,
    venue: order.venue,
    aiAgentId: order.agentId,
    userId: order.userId.toString(),
    submittedAt: new Date(order.createdAt).toISOString(),
    ...(errorCode === null
      ? {}
      : { errorCode, errorMessage: VENUE_REFUSALS[errorCode].message, fix: VENUE_REFUSALS[errorCode].fix }),
  };
}
