/**
 * The skeleton of placing an order, whatever its kind: look for the same order, open the agent's lock, look again, judge,
 * reserve and record, hand over to the venue within the deadline, answer.
 *
 * A replay comes before every refusal: the same order gets its first answer although its market has closed since, or its
 * quote has expired. The order is recorded before its venue hears of it, and its venue hears of it once.
 */
import type { Clock } from '../../ports/clock.ts';
import type {
  Caller,
  NewOrder,
  OrderRow,
  OrderStore,
  Recorded,
  TradeLedger,
  TradeScope,
} from '../../ports/stores.ts';
import type { Venue } from '../../ports/venue.ts';
import { type Deadline, requireTime, tooLate } from '../deadline.ts';
import { Refusal, refusal } from '../refusal.ts';
import { settleWithoutFill } from './settle-without-fill.ts';

export interface PlaceOrderNeeds {
  readonly clock: Clock;
  readonly ledger: Pick<TradeLedger, 'open'>;
  readonly orders: Pick<OrderStore, 'settle'>;
}

/** What the two kinds of orders do differently. `Sound`: what the request is, once nothing is wrong with it. */
export interface Placement<Sound, Order extends NewOrder, Answer> {
  /**
   * When to look for the same order without the lock, which costs a trip: `first`, where judging the request asks others
   * than the database; `before_refusal`, where the look under the lock finds it otherwise.
   */
  readonly looks: 'first' | 'before_refusal';
  /** The first answer to the same order; `null` when it is new. @throws Refusal */
  look(): Promise<Answer | null>;
  /** Whatever can be told without the lock. @throws Refusal */
  judgeRequest(): Promise<Sound> | Sound;
  /** What the lock is opened for. */
  question(sound: Sound): LedgerQuestion;
  /** The same order among those with its id, as a function that answers once the lock is free. @throws Refusal */
  sameOrder(existing: readonly OrderRow[], sound: Sound): (() => Promise<Answer>) | null;
  /** Under the lock, after the key: whatever else refuses. @throws Refusal */
  judge(scope: TradeScope, sound: Sound): Promise<Recorded<Order>> | Recorded<Order>;
  /** When its id was taken meanwhile. */
  alreadyPlaced(orderId: string): Refusal;
  /**
   * When nothing can be taken back any more. A signed order is handed over by sending it: when time is up before that, what
   * it reserved goes back. A quoted order is handed over by recording it: from then on any replica sends it.
   */
  readonly handedOverBy: 'sending' | 'recording';
  /** Gives the recorded order to its venue, and says what is known of it then. @throws Refusal */
  send(recorded: Recorded<Order>, sound: Sound): Promise<Answer>;
}

type LedgerQuestion = Omit<Parameters<TradeLedger['open']>[0], 'caller' | 'at' | 'requireTime'>;

export interface PlaceCall {
  readonly caller: Caller;
  readonly deadline: Deadline;
}

/** @throws Refusal */
export async function placeOrder<Sound, Order extends NewOrder, Answer>(
  needs: PlaceOrderNeeds,
  call: PlaceCall,
  placement: Placement<Sound, Order, Answer>,
): Promise<Answer> {
  const before = await lookAndJudge(placement);
  if ('same' in before) return before.same;
  const { sound } = before;
  const scope = await needs.ledger.open({
    ...placement.question(sound),
    caller: call.caller,
    at: needs.clock.now(),
    requireTime: () => requireTime(call.deadline),
  });
  const judged = await judgeUnderLock(call.deadline, placement, sound, scope);
  if ('answerSame' in judged) return judged.answerSame();
  const { order } = judged;
  const recorded = await scope.commit([judged]);
  if (!recorded.has(order.orderId)) throw placement.alreadyPlaced(order.orderId);
  if (placement.handedOverBy === 'sending' && !call.deadline.handOver(doubtOf(order))) {
    // Recorded in time and too late for the venue: what it reserved goes back at once.
    await settleWithoutFill(needs, order.orderId, 'rejected');
    throw tooLate();
  }
  return placement.send(judged, sound);
}

/** What is wrong with the request is reported only after a look for the same order. */
async function lookAndJudge<Sound, Order extends NewOrder, Answer>(
  placement: Placement<Sound, Order, Answer>,
): Promise<{ readonly same: Answer } | { readonly sound: Sound }> {
  if (placement.looks === 'first') {
    const same = await placement.look();
    return same === null ? { sound: await placement.judgeRequest() } : { same };
  }
  try {
    return { sound: await placement.judgeRequest() };
  } catch (error) {
    const same = error instanceof Refusal ? await placement.look() : null;
    if (same === null) throw error;
    return { same };
  }
}

/** Leaves the lock to `commit` when there is an order to record, and frees it otherwise. */
async function judgeUnderLock<Sound, Order extends NewOrder, Answer>(
  deadline: Deadline,
  placement: Placement<Sound, Order, Answer>,
  sound: Sound,
  scope: TradeScope,
): Promise<Recorded<Order> | { readonly answerSame: () => Promise<Answer> }> {
  try {
    const answerSame = placement.sameOrder(scope.existing, sound);
    if (answerSame === null) {
      if (!scope.keyActive) throw refusal('unauthorized');
      const recorded = await placement.judge(scope, sound);
      if (placement.handedOverBy === 'sending') requireTime(deadline);
      else if (!deadline.handOver(doubtOf(recorded.order))) throw tooLate();
      return recorded;
    }
    scope.abort();
    return { answerSame };
  } catch (error) {
    scope.abort();
    throw error;
  }
}

const doubtOf = ({ orderId }: NewOrder) => ({ code: 'order_outcome_unknown', orderId }) as const;

/** @throws Refusal service_unavailable */
export function requireReady(venue: Venue): void {
  const status = venue.status();
  if (status !== 'ready')
    throw refusal('service_unavailable', `The venue takes no orders now: ${status}.`, { retryAfterS: 1 });
}
