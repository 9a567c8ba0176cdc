/**
 * What goes wrong, as a program meets it: refusals and lost connections of a call, mistakes of the caller, faults of
 * quoted orders. No error carries the request's headers or body, so that a key or a signature never ends up in a log.
 * The keystore loads this file without the client.
 */
import type { ErrorCode } from '@bellwether/contract';
import type { OverreachCode } from '@bellwether/protocol';

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

// Which failures of a trade prove that it had no effect, so that what was reserved for it may be given back.

/**
 * Only for a call that was tried once (`maxRetries: 0`): a refusal that follows a try without an answer proves nothing about that
 * try. 408 and 409 speak of a request or an order that is there already, except where another order has the name; an answer
 * without a code of the service is a proxy's.
 * @example
 * const send = () => client.placeTrade(order);
 * await send().catch((error) => (provesNoEffect(error) ? null : client.getOrder(orderIdOf(order))));
 */
export function provesNoEffect(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'BellwetherApiError') return false;
  const { status, code } = error as BellwetherApiError;
  if (code === 'unknown') return false;
  if (code === 'client_order_id_already_used') return true;
  return code === 'overloaded' || (status >= 400 && status < 500 && status !== 408 && status !== 409);
}

// Names options that a caller left out or mixed up, in a sentence before anything is signed or sent. TypeScript finds most of it at
// compile time; programs in JavaScript, and values that come from an environment, find it here.

/** A call of the SDK lacks something. The message names the option, never its value: it may be a secret. */
export class BellwetherUsageError extends Error {
  override readonly name = 'BellwetherUsageError';
}

export interface Need {
  /** Completes "needs <name>: …". */
  readonly what: string;
  fits(value: unknown): boolean;
}

const has =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === 'object' && value !== null && names.every((name) => name in value);

const text = (what: string): Need => ({ what, fits: (value) => typeof value === 'string' && value !== '' });

/** The kinds of options that calls have in common. */
export const NEED = {
  text,
  oneOf: (...words: readonly string[]): Need => ({
    what: words.map((word) => `"${word}"`).join(' or '),
    fits: (value) => words.includes(value as string),
  }),
  object: (what: string, ...names: readonly string[]): Need => ({ what, fits: has(...names) }),
  number: {
    what: 'a number, or a decimal as text',
    fits: (value) => typeof value === 'number' || (typeof value === 'string' && value !== ''),
  },
  bytes: { what: 'bytes (Uint8Array)', fits: (value) => value instanceof Uint8Array },
  signer: { what: 'a Signer', fits: has('signDigest') },
  solanaSigner: { what: 'a SolanaSigner', fits: has('signTransaction') },
  client: { what: 'a BellwetherClient', fits: has('baseUrl') },
  market: {
    what: 'a market, as listMarkets and getMarket return it',
    fits: has('conditionId', 'question', 'clobTokenIds', 'tickSize'),
  },
  url: text('an address that begins with http:// or https://'),
} as const satisfies Readonly<Record<string, Need | ((...args: string[]) => Need)>>;

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (value === '') return 'an empty text';
  if (Array.isArray(value)) return 'a list';
  return (
    { object: 'an object', string: 'another text', number: 'a number', bigint: 'a bigint' }[
      typeof value as string
    ] ?? `a ${typeof value}`
  );
}

/** @throws BellwetherUsageError */
export function needValue(call: string, name: string, value: unknown, { what, fits }: Need): void {
  if (!fits(value)) throw new BellwetherUsageError(`${call} needs ${name}: ${what}; it is ${kindOf(value)}.`);
}

/** @throws BellwetherUsageError for the first option that is missing or of another kind */
export function needOptions(call: string, given: unknown, needs: Readonly<Record<string, Need>>): void {
  const isObject = typeof given === 'object' && given !== null;
  if (!isObject) {
    const names = Object.keys(needs).join(', ');
    throw new BellwetherUsageError(`${call} needs ${names}; its options are ${kindOf(given)}.`);
  }
  for (const [name, need] of Object.entries(needs))
    needValue(call, name, (given as Readonly<Record<string, unknown>>)[name], need);
}

// Errors of quoted orders that the SDK finds, apart from the service's own refusals.

export type QuoteFault =
  /** More than six decimals, not positive, `amount` on a SELL or `shares` on a BUY. */
  | 'invalid_amount'
  | 'invalid_solana_address'
  /** A preview, or the venue would not quote: `quoteErrorCode` says why. */
  | 'quote_not_executable'
  | 'quote_expired'
  /** Only the quote says which token is the outcome's, and the key is not marked as one for paper. */
  | 'mint_not_known'
  /** The owner does not want this trade. */
  | 'approval_declined'
  /** The owner has not decided yet. */
  | 'approval_waiting'
  /** The order has no outcome yet. */
  | 'still_open'
  | 'token_account_not_found'
  /** On a live chain, set your own JSON-RPC node. */
  | 'rpc_url_required'
  /** The answer about the delegation contradicts the wallet or the mint. */
  | 'delegation_mismatch'
  | 'transaction_failed'
  /** Sent, but neither landed nor dead when the wait timed out. */
  | 'not_confirmed';

export class QuoteError extends Error {
  override readonly name = 'QuoteError';
  readonly code: QuoteFault;
  /** With `quote_not_executable`: the venue's reason, when there is one. */
  readonly quoteErrorCode?: string;

  constructor(code: QuoteFault, message: string, quoteErrorCode?: string) {
    super(message);
    this.code = code;
    if (quoteErrorCode !== undefined) this.quoteErrorCode = quoteErrorCode;
  }
}

export type UnsafeReason = {
  readonly code:
    | OverreachCode
    /** Not a legacy or version 0 transaction in canonical encoding. */
    | 'malformed'
    /** The quote has another market, outcome, action or amount than the ask. */
    | 'other_order'
    /** The quote's least return is not positive. */
    | 'nothing_promised'
    /** It takes the input and brings nothing of what was bought, as far as it can be read. */
    | 'nothing_received'
    /** A node's simulation fails. */
    | 'would_fail';
  readonly detail: string;
  /** With `instruction_not_known`: the program of the instruction. */
  readonly program?: string;
};

/** The transaction does something that the agent did not ask for. It was not signed; do not sign it by other means. */
export class UnsafeTransaction extends Error {
  override readonly name = 'UnsafeTransaction';
  /** All reasons found. */
  readonly reasons: readonly UnsafeReason[];

  constructor(reasons: readonly UnsafeReason[]) {
    super(`not signed: ${reasons.map(({ detail }) => detail).join('; ')}`);
    this.reasons = reasons;
  }
}

/**
 * Text that `console.log` and `util.inspect` show instead of an object's insides. Only Node uses this
 * symbol.
 */
export const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom') as never;
