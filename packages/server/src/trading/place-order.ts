/**
 * The skeleton of placing an order, of any kind: look for the same order, ask the ledger to admit it, judge it under
 * the agent's lock, hand it over to the venue within the deadline, answer.
 *
 * A replay comes before every refusal: the same order gets its first answer although its market has closed since, or its
 * quote has expired. The order is recorded before its venue hears of it, or in one commit with the venue's answer; its
 * venue hears of it once.
 */
import type { Address } from '@bellwether/protocol';
import { ApprovalNeeded, type GivenApproval } from '../approvals/index.ts';
import type { Caller, NewOrder, OrderRow } from '../domain/records.ts';
import type { Clock } from '../platform/clock.ts';
import { type Deadline, requireTime, tooLate } from '../platform/http/deadline.ts';
import { Refusal, refusal } from '../platform/refusal.ts';
import type { TradeTrace } from '../platform/tracing.ts';
import type { Venue, VenueAnswer } from '../venues/venue.ts';
import type { Admission, Judgement, Recorded, TradeLedger, TradeScope } from './admission.ts';
import { settleWithoutFill } from './doubts.ts';
import type { OrderStore } from './order-store.ts';

export interface PlaceOrderNeeds {
  readonly clock: Clock;
  readonly ledger: Pick<TradeLedger, 'admit'>;
  readonly orders: OrderStore;
}

/** Differences between the two kinds of orders. `CheckedRequest`: the request once nothing is wrong with it. */
export interface Placement<CheckedRequest, Order extends NewOrder, Answer> {
  /**
   * When to look for the same order without the lock, which costs a trip: `first`, where judging the request asks others
   * than the database; `before_refusal`, where the look under the lock finds it otherwise.
   */
  readonly duplicateLookup: 'first' | 'before_refusal';
  /** The first answer to the same order; `null` when it is new. @throws Refusal */
  look(): Promise<Answer | null>;
  /** Everything that can be judged without the lock. @throws Refusal */
  judgeRequest(): Promise<CheckedRequest> | CheckedRequest;
  /** Keeps the same order from being placed twice at a time here. @returns ends that @throws Refusal: it is being placed */
  claim?(checked: CheckedRequest): () => void;
  /** Terms for which the lock is taken. */
  question(checked: CheckedRequest): AdmissionTerms<Order>;
  /** The same order, as a function that answers once the lock is free. @throws Refusal */
  sameOrder(existing: OrderRow | null, checked: CheckedRequest): (() => Promise<Answer>) | null;
  /** Under the lock, after the key: every further refusal. Must not wait. @throws Refusal */
  judge(scope: TradeScope, checked: CheckedRequest, approval: GivenApproval | null): Recorded<Order>;
  /** Asks for the owner's approval, or only looks for it. @throws Refusal where it is not given */
  approval(needed: ApprovalNeeded, checked: CheckedRequest, effect: 'ask' | 'look'): Promise<GivenApproval>;
  /** Completes a refusal by what can be found only without the lock. */
  explain?(refused: unknown, checked: CheckedRequest): Promise<unknown>;
  /**
   * When nothing can be taken back any more. A signed order is handed over by sending it: when time is up before that, what
   * it reserved goes back. A quoted order is handed over by recording it: from then on any replica sends it.
   */
  readonly handedOverBy: 'sending' | 'recording';
  /** Gives the recorded order to its venue. @throws Refusal */
  send(recorded: Recorded<Order>, checked: CheckedRequest): Promise<Answer>;
  /** Answers with what the venue said in the commit of the record, where the order may join it. @throws Refusal */
  answered?(recorded: Recorded<Order>, answer: VenueAnswer): Promise<Answer>;
  /**
   * Notes a refusal. @param checked `null`: something was wrong with the request
   * @returns seconds to wait, where it was refused so again and again
   */
  note?(refused: Refusal, checked: CheckedRequest | null): number | null;
}

type AdmissionTerms<Order extends NewOrder> = Omit<
  Admission<Order>,
  'caller' | 'trace' | 'at' | 'requireTime' | 'judge'
>;

interface PlaceCall {
  readonly caller: Caller;
  /** The desk sends what was left with it: the key that left it need not be active any more. */
  readonly isOfDesk?: boolean;
  readonly deadline: Deadline;
  readonly trace?: TradeTrace | undefined;
}

export interface Placed<Answer> {
  readonly answer: Answer;
  /** The first answer to the same order again. */
  readonly isRepeated: boolean;
}

/** @throws Refusal */
export async function placeOrder<CheckedRequest, Order extends NewOrder, Answer>(
  needs: PlaceOrderNeeds,
  call: PlaceCall,
  placement: Placement<CheckedRequest, Order, Answer>,
): Promise<Placed<Answer>> {
  call.trace?.enter('check');
  let checked: CheckedRequest | null = null;
  try {
    const found = await sameOr(placement, async () => {
      const sound = await placement.judgeRequest();
      return { sound, endClaim: placement.claim?.(sound) };
    });
    if ('same' in found) return { answer: found.same, isRepeated: true };
    checked = found.sound;
    return await placeChecked(needs, call, placement, checked).finally(found.endClaim);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const retryAfterS = placement.note?.(error, checked) ?? null;
    throw retryAfterS === null ? error : error.after(retryAfterS);
  } finally {
    call.trace?.leave();
  }
}

async function placeChecked<CheckedRequest, Order extends NewOrder, Answer>(
  needs: PlaceOrderNeeds,
  call: PlaceCall,
  placement: Placement<CheckedRequest, Order, Answer>,
  checked: CheckedRequest,
): Promise<Placed<Answer>> {
  const { caller, trace, deadline, isOfDesk = false } = call;
  const admitted = await withApproval(
    placement,
    checked,
    (approval) =>
      needs.ledger.admit<Order, Answer>({
        ...placement.question(checked),
        caller,
        trace,
        at: needs.clock.now(),
        requireTime: () => requireTime(deadline),
        judge: (scope) => judgeUnderLock({ deadline, isOfDesk }, { placement, checked, approval }, scope),
      }),
    (needed) => {
      trace?.leave();
      requireTime(deadline);
      return placement.approval(needed, checked, 'ask');
    },
  );
  if (admitted.kind === 'same') return { answer: await admitted.answer(), isRepeated: true };
  const { recorded } = admitted;
  if (admitted.kind === 'joined') {
    if (placement.answered === undefined) throw new Error('an order joined a venue and cannot be answered');
    return { answer: await placement.answered(recorded, admitted.answer), isRepeated: false };
  }
  const { order } = recorded;
  if (placement.handedOverBy === 'sending' && !deadline.handOver(doubtOf(order))) {
    // Recorded in time and too late for the venue: what it reserved goes back at once.
    await settleWithoutFill(needs, order.orderId, 'rejected', order.createdAt);
    throw tooLate();
  }
  trace?.enter('send');
  return { answer: await placement.send(recorded, checked), isRepeated: false };
}

/** Judges without an approval first: only for an order that lacks nothing else it is obtained, and the order judged again. */
async function withApproval<CheckedRequest, Order extends NewOrder, Answer, Result>(
  placement: Placement<CheckedRequest, Order, Answer>,
  checked: CheckedRequest,
  judge: (approval: GivenApproval | null) => Promise<Result>,
  obtain: (needed: ApprovalNeeded) => Promise<GivenApproval>,
): Promise<Result> {
  try {
    return await judge(null).catch(async (refused: unknown) => {
      if (!(refused instanceof ApprovalNeeded)) throw refused;
      return judge(await obtain(refused));
    });
  } catch (refused) {
    throw (await placement.explain?.(refused, checked)) ?? refused;
  }
}

/** Does what `placeOrder` would do first, without a lock or any effect. @throws Refusal as `placeOrder` does */
export async function validateOrder<CheckedRequest, Order extends NewOrder, Answer>(
  needs: Pick<PlaceOrderNeeds, 'clock'> & { readonly ledger: Pick<TradeLedger, 'preview'> },
  { caller, isOfDesk = false }: Pick<PlaceCall, 'caller' | 'isOfDesk'>,
  placement: Placement<CheckedRequest, Order, Answer>,
): Promise<{ readonly same: Answer } | { readonly order: Order }> {
  const found = await sameOr(placement, async () => ({ checked: await placement.judgeRequest() }));
  if ('same' in found) return found;
  const { checked } = found;
  const judge = async (approval: GivenApproval | null) => {
    const scope = await needs.ledger.preview({
      ...placement.question(checked),
      caller,
      at: needs.clock.now(),
    });
    const answerSame = placement.sameOrder(scope.existing, checked);
    if (answerSame !== null) return { same: await answerSame() };
    if (!scope.keyActive && !isOfDesk) throw refusal('unauthorized');
    requireFreeName(scope);
    return placement.judge(scope, checked, approval);
  };
  return withApproval(placement, checked, judge, (needed) => placement.approval(needed, checked, 'look'));
}

/** Checks an order; what is wrong with it is said only after a look for the same order, which is answered as it was. */
async function sameOr<Answer, Found>(
  { duplicateLookup, look }: Pick<Placement<never, NewOrder, Answer>, 'duplicateLookup' | 'look'>,
  check: () => Promise<Found>,
): Promise<{ readonly same: Answer } | Found> {
  if (duplicateLookup === 'first') {
    const same = await look();
    return same === null ? check() : { same };
  }
  try {
    return await check();
  } catch (error) {
    const same = error instanceof Refusal ? await look() : null;
    if (same === null) throw error;
    return { same };
  }
}

interface ToJudge<CheckedRequest, Order extends NewOrder, Answer> {
  readonly placement: Placement<CheckedRequest, Order, Answer>;
  readonly checked: CheckedRequest;
  readonly approval: GivenApproval | null;
}

function judgeUnderLock<CheckedRequest, Order extends NewOrder, Answer>(
  { deadline, isOfDesk }: Pick<PlaceCall, 'deadline' | 'isOfDesk'>,
  { placement, checked, approval }: ToJudge<CheckedRequest, Order, Answer>,
  scope: TradeScope,
): Judgement<Order, Answer> {
  const answer = placement.sameOrder(scope.existing, checked);
  if (answer !== null) return { kind: 'same', answer };
  if (!scope.keyActive && isOfDesk !== true) throw refusal('unauthorized');
  requireFreeName(scope);
  const recorded = placement.judge(scope, checked, approval);
  if (placement.handedOverBy === 'sending' && scope.way.kind === 'recorded') requireTime(deadline);
  else if (!deadline.handOver(doubtOf(recorded.order))) throw tooLate();
  return { kind: 'recorded', recorded };
}

/** The same order has been answered by now, so an order that has the name is another one. @throws Refusal client_order_id_already_used */
function requireFreeName({ namedOrder }: TradeScope): void {
  if (namedOrder === null) return;
  const { code, detail, path } = nameTaken(namedOrder);
  throw refusal(code, detail, { orderId: namedOrder, path });
}

export const nameTaken = (orderId: string) =>
  ({
    code: 'client_order_id_already_used',
    detail: `Order ${orderId} has this clientOrderId, with other terms.`,
    path: 'clientOrderId',
  }) as const;

const doubtOf = ({ orderId }: NewOrder) => ({ code: 'order_outcome_unknown', orderId }) as const;

/**
 * @param order one that the agent signed: its venue may take others only
 * @throws Refusal service_unavailable, with the venue's mode while it takes other orders
 */
export function requireReady(
  venue: Venue,
  order?: { readonly postOnly: boolean; readonly signer: Address },
): void {
  const pause = order === undefined ? null : (venue.signedOrders?.pause?.(order) ?? null);
  if (pause !== null)
    throw new Refusal(
      [
        {
          code: 'service_unavailable',
          detail: `The venue does not take this order now: ${pause.reason}.`,
          context: { mode: pause.mode },
          fix: 'Nothing was sent. Try again after Retry-After seconds; cancels are still taken.',
        },
      ],
      { retryAfterS: pause.retryAfterS },
    );
  const status = venue.status();
  if (status !== 'ready')
    throw refusal('service_unavailable', `The venue takes no orders now: ${status}.`, { retryAfterS: 1 });
}
