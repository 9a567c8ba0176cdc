/**
 * What an operation is: everything about a route but its code. The server binds a handler to it, the OpenAPI document
 * and the SDK's types are made from it.
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
export type RateClass = 'register' | 'claim' | 'trade' | 'exit' | 'search' | 'read' | 'none';

/**
 * What becomes of a field, or a query parameter, that the operation does not declare. `near`: refused when it is within
 * two edits of a declared name, so a typing error, and ignored otherwise. `refuse`: wherever it could change what
 * happens. `ignore`: where nothing may stand in the way.
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
    | 'operator';
  readonly permission: Permission;
  readonly rateClass: RateClass;
  /** Name of the body's list of which every item draws a token; a call without it draws one. */
  readonly tokensPerItemOf?: string;
  /** Takes an Idempotency-Key: it changes something. */
  readonly idempotent?: boolean;
  /** Repeating it has no second effect, even without an Idempotency-Key. Every GET is repeatable. */
  readonly repeatable?: boolean;
  /** The answer holds a secret, which is left out of what is stored for replays. */
  readonly secretAnswer?: boolean;
  /** Taken from the service's own pages only. */
  readonly sameOrigin?: boolean;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** No body is the same as {}. */
  readonly bodyOptional?: boolean;
  /** Left out: `near`. */
  readonly unknownFields?: UnknownFields;
  /** An array in the body of which every item is judged by itself: one that is malformed refuses that item alone. */
  readonly judgedAlone?: string;
  /** What to do instead of sending nothing, where the registry's advice does not say enough. */
  readonly bodyRequiredFix?: string;
  /** Where it is not LIMITS.bodyBytes. */
  readonly bodyBytes?: number;
  /** How long it may take where that is longer than the service's deadline for requests: it asks services elsewhere. */
  readonly deadlineMs?: number;
  readonly status: 200 | 201;
  readonly response: TSchema;
  /** Codes beyond those that every route of its kind can answer. */
  readonly errors: readonly ErrorCode[];
}

export const operation = <const T extends Operation>(definition: T): T => definition;
