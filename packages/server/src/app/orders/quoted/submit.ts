/**
 * Takes the signed transaction of a quote: judges it, reserves its budget and writes it down, hands it to a node once,
 * and says what is known by then, which is never a fill. From there on `follow.ts` has it.
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
import { DecimalError, formatMicro, parseMicro } from '@bellwether/contract/decimals';
import { equalBytes, parseTransactionBytes, transactionId } from '@bellwether/protocol';
import type { Denial } from '../../../domain/denial.ts';
import { averagePrice, legsOf } from '../../../domain/orders/quoted-amounts.ts';
import type { FirstAnswer } from '../../../ports/evidence.ts';
import type { ChainOrderRow, NewChainOrder, QuoteRow } from '../../../ports/quoted-orders.ts';
import type { Caller, NewQuotedOrder, TradeScope } from '../../../ports/stores.ts';
import { type Deadline, requireTime, tooLate } from '../../deadline.ts';
import type { Deps } from '../../deps.ts';
import { Refusal, refusal } from '../../refusal.ts';
import { quotingVenue } from '../../venues.ts';
import { noteSubmitRefusal } from '../refused-attempts.ts';
import { budgetOf, denialOf } from './judge.ts';
import { type ExecutableQuote, isExecutable, mintOf, reject } from './outcomes.ts';
import { bytesOf, requireHarmless, requireSigned } from './signed-transaction.ts';

/** After this the follower takes up what was written down and, it seems, never sent. */
const TAKEN_UP_AFTER_MS = 3_000;
/** When the follower first looks whether it has landed. */
const FIRST_LOOK_MS = 600;

export interface SubmitCall {
  readonly caller: Caller;
  readonly request: SubmitRequest;
  readonly requestId: string;
  readonly deadline: Deadline;
}

export async function submit(deps: Deps, call: SubmitCall): Promise<SubmitResponse> {
  const { caller, request, requestId } = call;
  const quote = await deps.quotes.byId(caller.agentId, request.quoteId);
  // Nothing is said of other agents' quotes.
  if (quote === null) throw refusal('quote_not_found', undefined, { path: 'quoteId' });
  try {
    return await place(deps, call, quote);
  } catch (error) {
    if (error instanceof Refusal) noteSubmitRefusal(deps, { quote, request, requestId }, error);
    throw error;
  }
}

async function place(deps: Deps, call: SubmitCall, quote: QuoteRow): Promise<SubmitResponse> {
  const { caller, request } = call;
  const replayed = await replayOf(deps, caller, quote.quoteId, request.signedTransaction);
  if (replayed !== null) return replayed;
  const sound = await requireUsable(deps, quote);
  requireSameFields(request, sound);
  const tx = requireSigned(request.signedTransaction, sound, deps.signatures.verifyEd25519);
  const wire = parseTransactionBytes(request.signedTransaction);
  await requireHarmless(deps, wire, sound);
  const chain = {
    orderId: quote.quoteId,
    signature: transactionId(tx),
    wire,
    dueAt: deps.clock.now() + TAKEN_UP_AFTER_MS,
  };
  const twin = await deps.chainOrders.orderIdOf(caller.agentId, chain.signature);
  if (twin !== null) throw alreadyUsed(twin);
  return execute(deps, call, sound, chain);
}

const alreadyUsed = (orderId: string): Refusal =>
  refusal('quote_already_used', 'Another signed transaction was submitted for this quote.', {
    orderId,
    path: 'quoteId',
  });

/** The first answer to the same signed transaction. @throws Refusal quote_already_used for any other */
async function replayOf(
  deps: Deps,
  caller: Caller,
  quoteId: string,
  signed: string,
): Promise<SubmitResponse | null> {
  const [chain] = await deps.chainOrders.byIds([quoteId]);
  if (chain === undefined) return null;
  const bytes = bytesOf(signed);
  if (bytes === null || !equalBytes(bytes, chain.wire)) throw alreadyUsed(quoteId);
  const row = await deps.orders.byId(caller.agentId, quoteId);
  if (row?.kind !== 'quoted') throw new Error('a signed transaction has no order');
  return submitResponse(row, chain.signature, row.first);
}

/** @throws Refusal quote_not_executable, quote_expired */
async function requireUsable(deps: Deps, quote: QuoteRow): Promise<ExecutableQuote> {
  if (!isExecutable(quote)) {
    const why =
      quote.errorCode === null
        ? 'This quote was a preview: no wallet was known to make a transaction for.'
        : `This quote holds no transaction: ${quote.errorCode}.`;
    throw refusal('quote_not_executable', why, { path: 'quoteId' });
  }
  if (quote.withdrawn) throw withdrawn();
  const { lastValidBlockHeight } = quote.transaction;
  const now = deps.clock.now();
  if (now >= quote.expiresAt) {
    const at = new Date(quote.expiresAt).toISOString();
    throw refusal('quote_expired', `This quote was good until ${at}.`, { path: 'quoteId' });
  }
  const height = await quotingVenue(deps)
    .quotes.chain.blockHeight()
    .catch(() => null);
  if (height !== null && height > lastValidBlockHeight) {
    throw refusal(
      'quote_expired',
      `The chain is at block ${height}; this transaction could land until block ${lastValidBlockHeight}.`,
      { path: 'quoteId' },
    );
  }
  return quote;
}

const withdrawn = (): Refusal =>
  refusal('quote_not_executable', 'This quote was canceled.', { path: 'quoteId' });

/** What is sent along is checked, not used. @throws Refusal quote_mismatch, every field at once */
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

async function execute(
  deps: Deps,
  call: SubmitCall,
  quote: ExecutableQuote,
  chain: NewChainOrder,
): Promise<SubmitResponse> {
  const scope = await deps.ledger.open({
    caller: call.caller,
    orderIds: [quote.quoteId],
    wallets: [],
    funder: quote.wallet,
    signer: quote.wallet,
    conditionId: quote.ticker,
    tokenIds: quote.mints,
    quoteId: quote.quoteId,
    at: deps.clock.now(),
    requireTime: () => requireTime(call.deadline),
  });
  let order: NewQuotedOrder;
  try {
    if (scope.existing.length > 0) {
      scope.abort();
      const replayed = await replayOf(deps, call.caller, quote.quoteId, call.request.signedTransaction);
      if (replayed === null) throw alreadyUsed(quote.quoteId);
      return replayed;
    }
    admit(deps, quote, scope);
    order = newOrder(deps, call, quote, scope);
    // Once it is written down with its bytes, some replica sends it.
    if (!call.deadline.handOver({ code: 'order_outcome_unknown', orderId: order.orderId })) throw tooLate();
  } catch (error) {
    scope.abort();
    throw error;
  }
  if (!(await scope.commit(order, budgetOf(quote), chain))) throw alreadyUsed(order.orderId);
  return send(deps, order, chain);
}

/** What must hold while the agent's lock is held. */
function admit(deps: Deps, quote: ExecutableQuote, scope: TradeScope): void {
  if (!scope.keyActive) throw refusal('unauthorized');
  if (scope.quoteWithdrawn) throw withdrawn();
  const status = quotingVenue(deps).status();
  if (status !== 'ready') {
    throw refusal('service_unavailable', `The venue takes no orders now: ${status}.`, { retryAfterS: 1 });
  }
  const denial = denialOf(deps, quote, scope);
  if (denial !== null) throw new Refusal([denial]);
}

function newOrder(
  deps: Deps,
  { caller, request, requestId }: SubmitCall,
  quote: ExecutableQuote,
  { userId }: TradeScope,
): NewQuotedOrder {
  const { side, amounts } = quote;
  const { contracts, collateral } = legsOf(side, amounts);
  const worst = legsOf(side, { inAmount: amounts.inAmount, outAmount: amounts.minOutAmount });
  return {
    kind: 'quoted',
    orderId: quote.quoteId,
    agentId: caller.agentId,
    userId,
    venue: quotingVenue(deps).id,
    marketId: quote.ticker,
    conditionId: quote.ticker,
    question: quote.title,
    tokenId: mintOf(quote),
    outcome: quote.outcome,
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
    requestId,
    createdAt: deps.clock.now(),
  };
}

async function send(deps: Deps, order: NewQuotedOrder, chain: NewChainOrder): Promise<SubmitResponse> {
  const { orderId, signature, wire } = chain;
  const now = deps.clock.now();
  // It is written down: where this fails, the follower sends it.
  const begun = await deps.chainOrders
    .beginSend([orderId], now, now + FIRST_LOOK_MS)
    .catch((): ReadonlySet<string> => new Set());
  if (!begun.has(orderId)) return submitResponse(order, signature, null);
  const answer = await quotingVenue(deps).quotes.chain.send(wire);
  if (answer.kind !== 'refused' || !(await isUnseen(deps, signature))) {
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
  const isMine = await reject(deps, seen, 'refused_by_chain', { detail: answer.reason, first: REFUSED });
  return submitResponse(order, signature, isMine ? REFUSED : null);
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
export async function isUnseen(deps: Deps, signature: string): Promise<boolean> {
  try {
    const landings = await quotingVenue(deps).quotes.chain.landings([signature], true);
    return landings.get(signature)?.kind === 'unseen';
  } catch {
    return false;
  }
}

const LIVE = 1;
const INVALID = 5;

/** What the agent was told first, and is told again: a fill is never part of it. */
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
