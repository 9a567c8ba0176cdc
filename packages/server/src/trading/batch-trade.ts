/**
 * Several trades in one request, judged in the order given; what becomes of one does not touch the others. A venue that takes several
 * orders at once is sent them together, when all of them are recorded or refused.
 */
import type { TradeRequest, TradeResponse } from '@bellwether/contract';
import type { Caller } from '../domain/records.ts';
import { type Deadline, tooLate, within } from '../platform/http/deadline.ts';
import { Refusal } from '../platform/refusal.ts';
import type { TradeTrace } from '../platform/tracing.ts';
import { BatchSubmission } from './batch-submission.ts';
import type { Placed } from './place-order.ts';
import { placeTrade, type ValidateTradeNeeds, validateTrade } from './place-trade.ts';
import { outcomeUnknown } from './trade-answers.ts';

/** An order of the request, or what the door found wrong with it. */
export type BatchItem = { readonly request: TradeRequest } | { readonly fault: unknown };

export type BatchOutcome =
  | { readonly trade: TradeResponse; readonly isRepeated: boolean; readonly fault: null }
  /** A Refusal, or any other error. */
  | { readonly trade: null; readonly isRepeated: false; readonly fault: unknown };

export interface BatchCall {
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
export async function placeBatch(needs: ValidateTradeNeeds, call: BatchCall): Promise<BatchOutcome[]> {
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
  needs: ValidateTradeNeeds,
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
  needs: ValidateTradeNeeds,
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
