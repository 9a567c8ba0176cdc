/**
 * Errors of a call. Neither error carries the request's headers or body, so that a key or a signature
 * never ends up in a log.
 */
import type { ErrorCode } from '@bellwether/contract';

export interface FieldError {
  /** JSON path of the field, e.g. `order.tokenId`. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** The RFC 9457 body of a refusal. Anything may be missing when what answered was not the service. */
export interface ProblemBody {
  readonly code?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly fix?: string;
  readonly errors?: readonly FieldError[];
  readonly diagnosis?: Readonly<Record<string, unknown>>;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly orderId?: string;
  readonly approvalId?: string;
  readonly requestId?: string;
}

/** The service answered, with a refusal. */
export class BellwetherApiError extends Error {
  override readonly name = 'BellwetherApiError';
  /** HTTP status. */
  readonly status: number;
  /**
   * Stable code, see the service's docs/errors.md; `unknown` when the answer named none. A later service may answer codes
   * that this version does not know.
   */
  readonly code: ErrorCode | 'unknown' | (string & {});
  readonly detail: string;
  /** The next step, where one is known. */
  readonly fix?: string;
  /** One entry per invalid field. */
  readonly errors: readonly FieldError[];
  /** Refused signatures: which check failed, what was recovered and what was expected. */
  readonly diagnosis?: Readonly<Record<string, unknown>>;
  /** The figures behind a refusal: limit, used, asked. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** The order that is in doubt, with `order_outcome_unknown`. */
  readonly orderId?: string;
  readonly approvalId?: string;
  readonly requestId?: string;
  /** Seconds to wait, when the answer said so. */
  readonly retryAfterS?: number;

  constructor(status: number, problem: ProblemBody, retryAfterS?: number) {
    const detail = problem.detail ?? problem.title ?? `the service answered ${status}`;
    super(problem.fix === undefined ? detail : `${detail} ${problem.fix}`);
    this.status = status;
    this.code = problem.code ?? 'unknown';
    this.detail = detail;
    this.errors = problem.errors ?? [];
    if (problem.fix !== undefined) this.fix = problem.fix;
    if (problem.diagnosis !== undefined) this.diagnosis = problem.diagnosis;
    if (problem.context !== undefined) this.context = problem.context;
    if (problem.orderId !== undefined) this.orderId = problem.orderId;
    if (problem.approvalId !== undefined) this.approvalId = problem.approvalId;
    if (problem.requestId !== undefined) this.requestId = problem.requestId;
    if (retryAfterS !== undefined) this.retryAfterS = retryAfterS;
  }
}

/**
 * No answer came: nothing listens at the address, the connection broke, or the time ran out. Whether the request had
 * an effect is unknown; a signed order may be sent again as it is.
 */
export class BellwetherConnectionError extends Error {
  override readonly name = 'BellwetherConnectionError';
  readonly reason: 'unreachable' | 'timeout' | 'broken' | 'redirected' | 'moved';

  constructor(reason: BellwetherConnectionError['reason'], method: string, path: string) {
    const what = {
      unreachable: 'nothing answers at the base address',
      timeout: 'no answer came in time',
      broken: 'the connection broke, or the answer was not readable',
      redirected:
        'the answer points to another origin, which gets neither the key nor the body: check the base address',
      moved: 'the answer points to another path, and redirections are not followed: check the base address',
    }[reason];
    super(`${method} ${path}: ${what}`);
    this.reason = reason;
  }

  /** Trying again would meet it again. */
  get isRedirection(): boolean {
    return this.reason === 'redirected' || this.reason === 'moved';
  }
}

/** A refusal whose code is known. */
export type ProblemWith<Code extends ErrorCode> = BellwetherApiError & { readonly code: Code };

/**
 * Whether the service refused a call, with one of these codes where some are named: `isProblem(error, 'insufficient_balance')`.
 * The type of `error.code` narrows to them, and a misspelt code does not compile.
 * @example
 * try {
 *   await client.placeTrade(order);
 * } catch (error) {
 *   if (!isProblem(error, 'market_not_active')) throw error;
 *   console.log(error.fix);
 * }
 */
export function isProblem(error: unknown): error is BellwetherApiError;
export function isProblem<const Code extends ErrorCode>(
  error: unknown,
  ...codes: readonly [Code, ...Code[]]
): error is ProblemWith<Code>;
export function isProblem(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof BellwetherApiError && (codes.length === 0 || codes.includes(error.code));
}
