/** Several trades in one request, in the order given; what becomes of one does not touch the others. */
import type { TradeRequest, TradeResponse } from '@bellwether/contract';
import type { Caller } from '../domain/records.ts';
import { type Deadline, tooLate, within } from '../platform/http/deadline.ts';
import type { TradeTrace } from '../platform/tracing.ts';
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
  const outcomes: BatchOutcome[] = [];
  for (const item of call.items) {
    try {
      if ('fault' in item) throw item.fault;
      const { answer: trade, isRepeated } = await placeInTime(needs, call, item.request);
      outcomes.push({ trade, isRepeated, fault: null });
    } catch (fault) {
      outcomes.push({ trade: null, isRepeated: false, fault });
    }
  }
  return outcomes;
}

/** Bounds the wait for an order that hangs: the others still get their answers. */
async function placeInTime(
  needs: ValidateTradeNeeds,
  { caller, requestId, deadline: outer, validateOnly, newTrace }: BatchCall,
  request: TradeRequest,
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
  const placed = placeTrade(needs, { caller, request, requestId, deadline, trace: newTrace?.() });
  try {
    return await Promise.race([placed, late]);
  } finally {
    clearTimeout(timer);
    placed.catch(() => {});
  }
}
