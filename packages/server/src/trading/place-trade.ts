/** A trade: places a signed order at its venue, once, and says truthfully what became of it. */
import { outcomeName, type TradeRequest, type TradeResponse } from '@bellwether/contract';
import { microToNumber, type Pips, pipsToNumber } from '@bellwether/contract/decimals';
import { candidateOrderIds } from '@bellwether/protocol';
import {
  type ApprovalNeeded,
  type ApprovalSubject,
  type ApprovalTerms,
  findApproval,
  obtainApproval,
} from '../approvals/index.ts';
import type { Denial } from '../domain/denial.ts';
import { boundTerms, type Draft, isImmediate, readDraft, signedLimit } from '../domain/draft.ts';
import type { ExitTerms } from '../domain/exits.ts';
import type { Book } from '../domain/market.ts';
import type { Caller, NewSignedOrder, OrderRow } from '../domain/records.ts';
import { within as inTime, READ_PATIENCE_MS } from '../domain/unavailable.ts';
import { UNTRUSTED_NOTICE } from '../domain/untrusted-text.ts';
import { type Deadline, deadlineAt, tooLate, within } from '../platform/http/deadline.ts';
import { Refusal } from '../platform/refusal.ts';
import type { TradeTrace } from '../platform/tracing.ts';
import { venueFor } from '../venues/asking.ts';
import type { SignedMessage, VenueAnswer, VenueOrder, VenueWith } from '../venues/venue.ts';
import { settleWithoutFill } from './doubts.ts';
import {
  asRefusal,
  DEPTH,
  expectationOf,
  explainShortage,
  type FundedTrade,
  judgeDraft,
  judgeTrade,
  mostFee,
  type SoundTrade,
  type TradeNeeds,
  type UnsignedBy,
  withBalance,
} from './judge-trade.ts';
import { type Placed, type Placement, placeOrder, validateOrder } from './place-order.ts';
import { noteRefusal } from './refused-attempts.ts';
import {
  beingPlaced,
  firstAnswerOf,
  outcomeUnknown,
  replayOf,
  SUBMIT_WITHIN_MS,
  tradeResponse,
  validatedResponse,
} from './trade-answers.ts';

interface TradeCall {
  readonly caller: Caller;
  readonly request: TradeRequest;
  readonly requestId: string;
  readonly deadline: Deadline;
  readonly trace?: TradeTrace | undefined;
  /** Sends it together with others of its request. */
  readonly submit?: SubmitOrder | undefined;
}

/** A guarded exit: left with the desk, or sent by it. */
export interface ExitCall extends Pick<TradeCall, 'caller' | 'request' | 'requestId'> {
  readonly exit: ExitTerms;
  /** Of one that is only checked, without its signature. */
  readonly unsigned?: UnsignedBy | null;
}

export const placeTrade = async (needs: TradeNeeds, call: TradeCall): Promise<Placed<TradeResponse>> =>
  placeOrder(needs, call, {
    ...placementOf(needs, call),
    note: (refused, sound) =>
      noteRefusal(needs, { ...call, outcome: sound?.draft.outcome ?? call.request.outcome }, refused),
  });

/** Every check up to the venue, with the errors of `placeTrade` and no effect: no attempt is noted either. */
export async function validateTrade(
  needs: TradeNeeds,
  call: Omit<TradeCall, 'deadline' | 'trace'>,
): Promise<TradeResponse> {
  const found = await validateOrder(needs, call, placementOf(needs, call));
  return { ...('same' in found ? found.same : validatedResponse(found.order)), validateOnly: true };
}

/** Every check of an exit up to the venue, as of now. @returns the order as it would be recorded; `null`: it was placed before @throws Refusal */
export async function checkExit(needs: TradeNeeds, call: ExitCall): Promise<NewSignedOrder | null> {
  const found = await validateOrder(needs, { ...call, isOfDesk: true }, placementOf(needs, call));
  return 'same' in found ? null : found.order;
}

/**
 * Sends an exit that was left with the desk: what `placeTrade` does, without an agent that waits.
 * @param call `until`: epoch milliseconds; from then on another replica sends it
 */
export const sendExit = async (
  needs: TradeNeeds,
  { until, ...call }: ExitCall & { readonly until: number },
): Promise<Placed<TradeResponse>> =>
  placeOrder(
    needs,
    { ...call, deadline: deadlineAt(until, needs.clock), isOfDesk: true },
    placementOf(needs, call),
  );

/**
 * Sends the recorded order of an exit again, of which its venue gave no answer: the identical one, which a venue takes once.
 * @param at when that was noted, epoch milliseconds: what stands still for longer sends nothing
 * @returns what this attempt proves of itself: a refusal says nothing of those before, and is recorded nowhere
 * @throws Refusal where the order does not hold any more
 */
export async function sendExitAgain(
  needs: TradeNeeds,
  { request, row, at }: { readonly request: TradeRequest; readonly row: NewSignedOrder; readonly at: number },
): Promise<VenueAnswer> {
  const venue = venueFor(needs, row.venue, 'signedOrders');
  const draft = readDraft(request, venue.signedOrders.signing.profile);
  if (isFaults(draft)) throw asRefusal(draft);
  const market = await venue.markets.find(draft.conditionId);
  const sound = judgeDraft(needs, { venue, draft, market });
  const order = { ...venueOrderOf(row), deadline: at + SUBMIT_WITHIN_MS };
  return venue.signedOrders.submit(order, { ...messageOf(row, sound), isInDoubt: true });
}

type TradePlacement = Placement<FundedTrade, NewSignedOrder, TradeResponse>;

type PlacedCall = Omit<TradeCall, 'deadline' | 'trace'> & {
  readonly exit?: ExitTerms | null;
  readonly unsigned?: UnsignedBy | null;
};

/** @throws Refusal unknown_venue, wrong_venue_route */
function placementOf(
  needs: TradeNeeds,
  { caller, request, requestId, submit = submitAlone, exit = null, unsigned = null }: PlacedCall,
): TradePlacement {
  const venue = venueFor(needs, request.venue, 'signedOrders');
  const read = readDraft(request, venue.signedOrders.signing.profile);
  const replay = (draft: Draft, rows: readonly OrderRow[]) =>
    replayOf(rows, { caller, venue, draft, isOfDesk: exit !== null, now: needs.clock.now() });
  return {
    duplicateLookup: 'before_refusal',
    // No order was ever placed with amounts that cannot be.
    look: async () =>
      isFaults(read)
        ? null
        : replay(read, await needs.orders.byIds(candidateOrderIds(read, venue.signedOrders.signing))),
    judgeRequest: async () => {
      if (isFaults(read)) throw asRefusal(read);
      const market = await venue.markets.find(read.conditionId);
      return withBalance(judgeDraft(needs, { venue, draft: read, market, unsigned }));
    },
    claim: ({ verified: { orderId } }) => {
      const name = `${caller.agentId} ${orderId}`;
      if (needs.ordersUnderWay.has(name)) throw beingPlaced(orderId);
      needs.ordersUnderWay.add(name);
      return () => void needs.ordersUnderWay.delete(name);
    },
    question: questionOf,
    sameOrder(existing, { draft }) {
      const answer = replay(draft, existing === null ? [] : [existing]);
      return answer === null ? null : async () => answer;
    },
    judge(scope, sound, approval) {
      return judgeTrade(needs, { caller, requestId, sound, approval, exit }, scope);
    },
    approval(needed, sound, effect) {
      const subject = approvalSubject(caller, sound);
      return effect === 'ask' ? obtainApproval(needs, subject, needed) : findApproval(needs, subject, needed);
    },
    explain: (refused, sound) => explainShortage(needs, { caller, sound, refused }),
    handedOverBy: 'sending',
    send: async ({ order }, sound) =>
      answerTo(
        needs,
        order,
        await submit(sound.venue, venueOrderOf(order), { ...messageOf(order, sound), recorded: order }),
      ),
    answered: ({ order }, answer) => answerTo(needs, order, answer),
  };
}

const submitAlone: SubmitOrder = ({ signedOrders }, order, message) => signedOrders.submit(order, message);

const isFaults = (value: Draft | readonly Denial[]): value is readonly Denial[] => Array.isArray(value);

function questionOf({ venue, draft, market, verified }: FundedTrade): ReturnType<TradePlacement['question']> {
  const { maker, signer } = draft.fields;
  return {
    venue: venue.id,
    orderId: verified.orderId,
    clientOrderId: draft.clientOrderId,
    wallets: [...new Set(draft.walletAddress === null ? [maker, signer] : [draft.walletAddress])],
    funder: maker,
    signer: verified.eoa,
    conditionId: draft.conditionId,
    tokenIds: market.tokenIds,
    ...(draft.side === 'SELL' ? { sells: [market.tokenIds[draft.outcome === 'YES' ? 0 : 1]] } : {}),
    toVenue: venueOrderOf,
  };
}

const venueOrderOf = (order: NewSignedOrder): VenueOrder => ({
  orderId: order.orderId,
  funder: order.funder,
  conditionId: order.conditionId,
  outcome: order.outcome,
  side: order.side,
  limit: order.limit,
  shares: order.shares,
  spend: order.side === 'BUY' && isImmediate(order.timeInForce) ? order.money : null,
  timeInForce: order.timeInForce,
  postOnly: order.postOnly,
  expiration: order.expiration,
  deadline: order.createdAt + SUBMIT_WITHIN_MS,
});

const messageOf = (
  { walletAddress, deferExec }: NewSignedOrder,
  { draft: { fields, extras, signature }, verified }: SoundTrade,
): SignedMessage => ({ walletAddress, signer: verified.eoa, fields, extras, signature, deferExec });

async function answerTo(
  needs: TradeNeeds,
  order: NewSignedOrder,
  answer: VenueAnswer,
): Promise<TradeResponse> {
  const first = firstAnswerOf(answer);
  if (first === null) {
    // Visible at once. Where even that fails, the record still says `submitting`, which is in doubt too.
    await settleWithoutFill(needs, order.orderId, 'no_answer').catch(() => {});
    throw outcomeUnknown(order.orderId);
  }
  return tradeResponse(order, first);
}

// Terms of a signed order that waits for approval, as the owner sees them.

function approvalSubject(caller: Pick<Caller, 'agentId'>, sound: SoundTrade): ApprovalSubject {
  const binds = boundTerms(sound.draft);
  return {
    caller,
    orderId: sound.verified.orderId,
    binds,
    endsAt: binds.endsAt,
    terms: (needed) => termsOf(sound, needed),
  };
}

async function termsOf(sound: SoundTrade, needed: ApprovalNeeded): Promise<ApprovalTerms> {
  const { venue, market, draft } = sound;
  const limit = signedLimit(draft, market.tickSize);
  const book = await inTime(READ_PATIENCE_MS, venue.markets.book(market.conditionId, draft.outcome, DEPTH));
  return {
    venue: venue.id,
    marketId: market.id,
    marketConditionId: market.conditionId,
    tokenId: draft.fields.tokenId.toString(),
    outcome: draft.outcome,
    outcomeName: outcomeName(market.outcomes, draft.outcome),
    side: draft.side,
    binds: boundTerms(draft),
    price: pipsToNumber(limit),
    orderSize: microToNumber(draft.shares),
    amount: microToNumber(needed.amount),
    feeAtMost: microToNumber(mostFee(sound, limit)),
    walletAddress: draft.fields.maker,
    approvalAbove: microToNumber(needed.limit),
    book: book === null ? null : shown({ market, draft }, book, limit),
    checks: needed.checks,
    untrustedText: {
      notice: UNTRUSTED_NOTICE,
      marketQuestion: market.question,
      agentsMarketQuestion: draft.question,
      reasoning: draft.reasoning,
      source: draft.source,
      skillSlug: draft.skillSlug,
    },
  };
}

function shown(
  { market, draft }: Pick<SoundTrade, 'market' | 'draft'>,
  book: Book,
  limit: Pips,
): ApprovalTerms['book'] {
  const { shares, averagePrice, worstPrice, cost, fee } = expectationOf(market, draft, book, limit).fill;
  const best = (levels: Book['bids']) => (levels[0] === undefined ? null : pipsToNumber(levels[0][0]));
  return { shares, averagePrice, worstPrice, cost, fee, bestBid: best(book.bids), bestAsk: best(book.asks) };
}

// Several trades in one request, judged in the order given; what becomes of one does not touch the others. A venue that takes several
// orders at once is sent them together, when all of them are recorded or refused.

/** An order of the request, or what the door found wrong with it. */
export type BatchItem = { readonly request: TradeRequest } | { readonly fault: unknown };

export type BatchOutcome =
  | { readonly trade: TradeResponse; readonly isRepeated: boolean; readonly fault: null }
  /** A Refusal, or any other error. */
  | { readonly trade: null; readonly isRepeated: false; readonly fault: unknown };

interface BatchCall {
  /** Checks every order, without any effect. */
  readonly validateOnly: boolean;
  readonly caller: Caller;
  readonly items: readonly BatchItem[];
  readonly requestId: string;
  readonly deadline: Deadline;
  /** Makes the trace of each order. */
  readonly newTrace?: (() => TradeTrace | undefined) | undefined;
}

/** Left of the request's own deadline for the answer that tells of every order. */
const ANSWER_MS = 300;
/** The longest time that a timer can count. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** One after the other, so that the first orders get what is left of a budget, and a batch holds one connection. */
export async function placeBatch(needs: TradeNeeds, call: BatchCall): Promise<BatchOutcome[]> {
  const together = new BatchSubmission();
  const begun: Promise<BatchOutcome>[] = [];
  for (const item of call.items) {
    const joined = together.nextJoined();
    const outcome = outcomeOf(needs, call, item, together);
    begun.push(outcome);
    await Promise.race([outcome, joined]);
  }
  together.close();
  const outcomes = await Promise.all(begun);
  // The same order twice in one request: the second has an answer now.
  for (const [at, item] of call.items.entries())
    if (isBeingPlaced(outcomes[at])) outcomes[at] = await outcomeOf(needs, call, item, together);
  return outcomes;
}

const isBeingPlaced = (outcome: BatchOutcome | undefined): boolean =>
  outcome?.fault instanceof Refusal && outcome.fault.denials[0].code === 'idempotency_in_flight';

async function outcomeOf(
  needs: TradeNeeds,
  call: BatchCall,
  item: BatchItem,
  together: BatchSubmission,
): Promise<BatchOutcome> {
  try {
    if ('fault' in item) throw item.fault;
    const { answer: trade, isRepeated } = await placeInTime(needs, call, item.request, together);
    return { trade, isRepeated, fault: null };
  } catch (fault) {
    return { trade: null, isRepeated: false, fault };
  }
}

/** Bounds the wait for an order that hangs: the others still get their answers. */
async function placeInTime(
  needs: TradeNeeds,
  { caller, requestId, deadline: outer, validateOnly, newTrace }: BatchCall,
  request: TradeRequest,
  { submit }: BatchSubmission,
): Promise<Placed<TradeResponse>> {
  const deadline = within(outer, ANSWER_MS);
  if (deadline.leftMs() <= 0) throw tooLate();
  if (validateOnly || request.validateOnly === true)
    return { answer: await validateTrade(needs, { caller, request, requestId }), isRepeated: false };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        const orderId = deadline.doubt()?.orderId;
        reject(orderId === undefined ? tooLate() : outcomeUnknown(orderId));
      },
      Math.min(deadline.leftMs(), LONGEST_TIMER_MS),
    );
  });
  const placed = placeTrade(needs, { caller, request, requestId, deadline, trace: newTrace?.(), submit });
  try {
    return await Promise.race([placed, late]);
  } finally {
    clearTimeout(timer);
    placed.catch(() => {});
  }
}

// Collects the orders of one request that go to a venue which takes several at once, until each of the request is recorded or
// refused. An order that was not recorded is never among them: the venue hears of nothing that the desk does not know.

type SubmitOrder = (
  venue: VenueWith<'signedOrders'>,
  order: VenueOrder,
  message: SignedMessage,
) => Promise<VenueAnswer>;

interface Waiting {
  readonly venue: VenueWith<'signedOrders'>;
  readonly outgoing: { readonly order: VenueOrder; readonly message: SignedMessage };
  readonly answer: PromiseWithResolvers<VenueAnswer>;
}

/** So long a recorded order waits for the others of its request: one that is judged slowly holds no other up. */
const LONGEST_WAIT_MS = 500;

class BatchSubmission {
  #waiting: Waiting[] = [];
  #joined = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | undefined;
  #isOpen = true;

  /** Resolves when the next order waits here. */
  nextJoined(): Promise<void> {
    return this.#joined.promise;
  }

  readonly submit: SubmitOrder = (venue, order, message) => {
    if (venue.signedOrders.submitAll === undefined || !this.#isOpen)
      return venue.signedOrders.submit(order, message);
    const answer = Promise.withResolvers<VenueAnswer>();
    this.#waiting.push({ venue, outgoing: { order, message }, answer });
    this.#timer ??= setTimeout(() => this.#send(), LONGEST_WAIT_MS);
    this.#joined.resolve();
    this.#joined = Promise.withResolvers();
    return answer.promise;
  };

  /** No further order waits. */
  close(): void {
    this.#isOpen = false;
    this.#send();
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting.splice(0);
    for (const [venue, orders] of Map.groupBy(waiting, (one) => one.venue)) {
      const { submit, submitAll } = venue.signedOrders;
      const outgoing = orders.map((one) => one.outgoing);
      const answers =
        submitAll === undefined || outgoing.length === 1
          ? outgoing.map(({ order, message }) => submit(order, message))
          : submitAll(outgoing);
      for (const [at, { answer }] of orders.entries()) answer.resolve(answers[at] ?? { kind: 'unknown' });
    }
  }
}
