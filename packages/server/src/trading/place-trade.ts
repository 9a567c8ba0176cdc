/** A trade: places a signed order at its venue, once, and says truthfully what became of it. */
import type { TradeRequest, TradeResponse } from '@bellwether/contract';
import { candidateOrderIds } from '@bellwether/protocol';
import { findApproval, type ObtainApprovalNeeds, obtainApproval } from '../approvals/index.ts';
import type { Denial } from '../domain/denial.ts';
import { type Draft, isImmediate, readDraft } from '../domain/draft.ts';
import type { ExitTerms } from '../domain/exits.ts';
import type { Caller, NewSignedOrder } from '../domain/records.ts';
import { type Deadline, deadlineAt } from '../platform/http/deadline.ts';
import type { TradeTrace } from '../platform/tracing.ts';
import { venueFor } from '../venues/asking.ts';
import type { SignedMessage, VenueAnswer, VenueOrder, Venues } from '../venues/venue.ts';
import type { TradeLedger } from './admission.ts';
import { approvalSubject } from './approval-terms.ts';
import type { SubmitOrder } from './batch-submission.ts';
import {
  asRefusal,
  explainShortage,
  type FundedTrade,
  type JudgeTradeNeeds,
  judgeDraft,
  judgeTrade,
  type SoundTrade,
  withBalance,
} from './judge-trade.ts';
import type { OrderStore } from './order-store.ts';
import {
  type Placed,
  type Placement,
  type PlaceOrderNeeds,
  placeOrder,
  validateOrder,
} from './place-order.ts';
import { type NoteRefusalNeeds, noteRefusal, notingRefusals } from './refused-attempts.ts';
import { settleWithoutFill } from './settle-without-fill.ts';
import {
  beingPlaced,
  firstAnswerOf,
  outcomeUnknown,
  replayOf,
  SUBMIT_WITHIN_MS,
  tradeResponse,
  validatedResponse,
} from './trade-answers.ts';
import type { UnsignedBy } from './verify-draft.ts';

export interface PlaceTradeNeeds
  extends PlaceOrderNeeds,
    JudgeTradeNeeds,
    NoteRefusalNeeds,
    ObtainApprovalNeeds {
  readonly secrets: JudgeTradeNeeds['secrets'] & ObtainApprovalNeeds['secrets'];
  readonly venues: Venues;
  readonly orders: Pick<OrderStore, 'byIds' | 'settle'>;
  /** Agent and order id of what this process is placing. */
  readonly ordersUnderWay: Set<string>;
}

export interface TradeCall {
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

export async function placeTrade(needs: PlaceTradeNeeds, call: TradeCall): Promise<Placed<TradeResponse>> {
  const turn = turnOf(needs.ordersUnderWay, call.caller);
  let { outcome } = call.request;
  const begin = (orderId: string, side: string): void => {
    outcome = side;
    turn.begin(orderId);
  };
  try {
    return await notingRefusals(
      (refused) => noteRefusal(needs, { ...call, outcome }, refused),
      () => placeOrder(needs, call, placementOf(needs, call, begin)),
    );
  } finally {
    turn.end();
  }
}

/** Answers the second of two duplicates that arrive together at once, instead of making it wait for the first one's answer. */
function turnOf(underWay: Set<string>, { agentId }: Caller) {
  let own: string | null = null;
  return {
    begin(orderId: string): void {
      const name = `${agentId} ${orderId}`;
      if (underWay.has(name)) throw beingPlaced(orderId);
      underWay.add(name);
      own = name;
    },
    end(): void {
      if (own !== null) underWay.delete(own);
    },
  };
}

export type ValidateTradeNeeds = PlaceTradeNeeds & { readonly ledger: Pick<TradeLedger, 'preview'> };

/** Every check up to the venue, with the errors of `placeTrade` and no effect: no attempt is noted either. */
export async function validateTrade(
  needs: ValidateTradeNeeds,
  call: Omit<TradeCall, 'deadline' | 'trace'>,
): Promise<TradeResponse> {
  const found = await validateOrder(needs, call, placementOf(needs, call));
  return { ...('same' in found ? found.same : validatedResponse(found.order)), validateOnly: true };
}

/** Every check of an exit up to the venue, as of now. @returns the order as it would be recorded; `null`: it was placed before @throws Refusal */
export async function checkExit(needs: ValidateTradeNeeds, call: ExitCall): Promise<NewSignedOrder | null> {
  const found = await validateOrder(needs, { ...call, isOfDesk: true }, placementOf(needs, call));
  return 'same' in found ? null : found.order;
}

/** Sends an exit that was left with the desk: what `placeTrade` does, without an agent that waits. */
/** @param call `until`: epoch milliseconds; from then on another replica sends it */
export async function sendExit(
  needs: PlaceTradeNeeds,
  { until, ...call }: ExitCall & { readonly until: number },
): Promise<Placed<TradeResponse>> {
  const turn = turnOf(needs.ordersUnderWay, call.caller);
  try {
    return await placeOrder(
      needs,
      { ...call, deadline: deadlineAt(until, needs.clock), isOfDesk: true },
      placementOf(needs, call, turn.begin),
    );
  } finally {
    turn.end();
  }
}

/**
 * Sends the recorded order of an exit again, of which its venue gave no answer: the identical one, which a venue takes once.
 * @param at when that was noted, epoch milliseconds: what stands still for longer sends nothing
 * @returns what this attempt proves of itself: a refusal says nothing of those before, and is recorded nowhere
 * @throws Refusal where the order does not hold any more
 */
export async function sendExitAgain(
  needs: PlaceTradeNeeds,
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

/** @throws Refusal for a venue or amounts that cannot be: no order was ever placed with those */
function placementOf(
  needs: PlaceTradeNeeds,
  { caller, request, requestId, submit = submitAlone, exit = null, unsigned = null }: PlacedCall,
  begin: (orderId: string, outcome: 'YES' | 'NO') => void = () => {},
): TradePlacement {
  const venue = venueFor(needs, request.venue, 'signedOrders');
  const draft = readDraft(request, venue.signedOrders.signing.profile);
  if (isFaults(draft)) throw asRefusal(draft);
  const same = () => ({ caller, venue, draft, isOfDesk: exit !== null, now: needs.clock.now() });
  return {
    duplicateLookup: 'before_refusal',
    look: async () =>
      replayOf(await needs.orders.byIds(candidateOrderIds(draft, venue.signedOrders.signing)), same()),
    judgeRequest: async () => {
      const market = await venue.markets.find(draft.conditionId);
      const sound = judgeDraft(needs, { venue, draft, market, unsigned });
      begin(sound.verified.orderId, sound.draft.outcome);
      return withBalance(sound);
    },
    question: questionOf,
    sameOrder(existing) {
      const answer = replayOf(existing === null ? [] : [existing], same());
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
  needs: PlaceTradeNeeds,
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
