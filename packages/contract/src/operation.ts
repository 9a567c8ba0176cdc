/**
 * Describes an operation: everything about a route but its code. The server binds a handler to it; the OpenAPI document
 * and the SDK's types derive from it.
 */
import type { TSchema } from 'typebox';
import type { ErrorCode } from './errors.ts';

export type Permission =
  /** No key needed. */
  | 'public'
  /** An agent's active API key. */
  | 'agent'
  /** A person's session on the service's own pages. */
  | 'owner'
  /** The operator's key. */
  | 'operator';

/** Which token bucket a call draws from. */
export type RateClass = 'register' | 'claim' | 'trade' | 'relay' | 'exit' | 'search' | 'read' | 'none';

/**
 * Decides about a field or query parameter that the operation does not declare. `near`: refused when it is within two
 * edits of a declared name (a typing error), else ignored. `refuse`: for operations where it could change the effect.
 * `ignore`: for operations that must always succeed, such as exits.
 */
export type UnknownFields = 'near' | 'refuse' | 'ignore';

export interface Operation {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With {braces} for path parameters. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag:
    | 'agents'
    | 'wallet'
    | 'markets'
    | 'trading'
    | 'positions'
    | 'paper'
    | 'venue-b'
    | 'owners'
    | 'skills'
    | 'webhooks'
    | 'events'
    | 'operator';
  readonly permission: Permission;
  readonly rateClass: RateClass;
  /** The body's list whose every item costs a token; without it a call costs one. */
  readonly tokensPerItemOf?: string;
  /** Takes an Idempotency-Key: it changes something. */
  readonly idempotent?: boolean;
  /** The field of the body that, when true, makes the call check only: it then has no effect, and no key is kept for it. */
  readonly validatesOnly?: {
    readonly when: string;
    readonly status: 200;
    /** The check takes the body without `order.signature`: a client that checks sends none. */
    readonly isUnsigned?: true;
  };
  /** Repeating it has no second effect, even without an Idempotency-Key. Every GET is repeatable. */
  readonly repeatable?: boolean;
  /** The answer holds a secret, so it is stored for replays without its body. */
  readonly secretAnswer?: boolean;
  /**
   * Of an owner: can be called in the day after a recovery. `when`: only with this field of the body true. Without it the
   * operation is closed then, unless it reads.
   */
  readonly duringRecovery?: true | { readonly when: string };
  /** Accepted from the service's own pages only. */
  readonly sameOrigin?: boolean;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** No body is the same as {}. */
  readonly bodyOptional?: boolean;
  /** Default `near`. */
  readonly unknownFields?: UnknownFields;
  /** An array in the body whose items are validated separately: a malformed item is refused alone. */
  readonly checkedSeparately?: string;
  /** Advice for a missing body, or for one that nothing reads, where that of the registry is not enough. */
  readonly bodyFix?: string;
  /** Default LIMITS.bodyBytes. */
  readonly bodyBytes?: number;
  /** Deadline of an operation that calls external services, where longer than the service's deadline for requests. */
  readonly deadlineMs?: number;
  readonly status: 200 | 201;
  readonly response: TSchema;
  /** The answer is a stream of this media type, whose items `response` describes; without it JSON. */
  readonly produces?: 'text/event-stream';
  /** The answer can be had in this form, too, by a parameter of the query; its content is described in words. */
  readonly alsoProduces?: 'text/csv';
  /** Error codes in addition to those that every route of its kind can answer. */
  readonly errors: readonly ErrorCode[];
}

/**
 * @example
 * const readClaim = operation({ ...getClaim, id: 'readClaim', path: '/agents/claims/{claimCode}' });
 */
export const operation = <const T extends Operation>(definition: T): T => definition;
