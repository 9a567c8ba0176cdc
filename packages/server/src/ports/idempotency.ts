/** Idempotency. */

export type IdempotencyState =
  | { readonly kind: 'new' }
  | { readonly kind: 'in_flight' }
  | { readonly kind: 'other_body' }
  | { readonly kind: 'secret' }
  | { readonly kind: 'replay'; readonly status: number; readonly body: string };

export interface IdempotencyStore {
  begin(
    scope: string,
    route: string,
    key: string,
    bodyHash: Uint8Array,
    at: number,
  ): Promise<IdempotencyState>;
  /** `body` is null for an answer that contained a secret. */
  keep(scope: string, route: string, key: string, status: number, body: string | null): Promise<void>;
  release(scope: string, route: string, key: string): Promise<void>;
  /** Counts a scope's keys that have not expired, up to `most`. */
  count(scope: string, at: number, most: number): Promise<number>;
}
