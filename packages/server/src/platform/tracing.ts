/**
 * Traces of requests. These objects exist only while traces are exported: code that is given none does nothing for them.
 * They get names, sizes and codes, never of a key, a body or a URL.
 */

/** `check`: request and signature · `wait`: for a group · `judge`: trip 1 · `commit`: trip 2 · `send`: to a venue elsewhere. */
type TradePart = 'check' | 'wait' | 'judge' | 'commit' | 'send';

/** Trace of one order. */
export interface TradeTrace {
  /** The part that was under way ends. @param groupSize trades in the same transaction */
  enter(part: TradePart, groupSize?: number): void;
  /** The part that was under way ends, and none begins. */
  leave(): void;
}

export interface RequestTrace {
  /** `undefined` where this request's trace is not recorded. */
  readonly trade: () => TradeTrace | undefined;
  end(outcome: RequestOutcome): void;
}

export interface TracedRequest {
  readonly method: string;
  /** The route's pattern. */
  readonly route: string;
  readonly requestId: string;
  /** The caller's header, as it came. */
  readonly traceparent: string | undefined;
}

interface RequestOutcome {
  /** `null`: the caller left before the answer. */
  readonly status: number | null;
  readonly problemCode: string | null;
}

export interface Tracer {
  begin(request: TracedRequest): RequestTrace;
}
