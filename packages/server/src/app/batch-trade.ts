/** Several trades in one request, in the order given; what becomes of one does not touch the others. */
import type { TradeRequest, TradeResponse } from '@bellwether/contract';
import type { Caller } from '../ports/stores.ts';
import type { Deps } from './deps.ts';
import { placeTrade } from './place-trade.ts';

/** An order of the request, or what the door found wrong with it. */
export type BatchItem = { readonly request: TradeRequest } | { readonly fault: unknown };

export type BatchOutcome =
  | { readonly trade: TradeResponse; readonly fault: null }
  /** A Refusal, or whatever else went wrong. */
  | { readonly trade: null; readonly fault: unknown };

/** One after the other, so that the first orders get what is left of a budget, and a batch holds one connection. */
export async function placeBatch(
  deps: Deps,
  caller: Caller,
  items: readonly BatchItem[],
  requestId: string,
): Promise<BatchOutcome[]> {
  const outcomes: BatchOutcome[] = [];
  for (const item of items) {
    try {
      if ('fault' in item) throw item.fault;
      const { request } = item;
      outcomes.push({ trade: await placeTrade(deps, { caller, request, requestId }), fault: null });
    } catch (fault) {
      outcomes.push({ trade: null, fault });
    }
  }
  return outcomes;
}
