/** Idempotency keys: a lease while in flight, then the first answer for a day. */
import type { Sql } from './connection.ts';
import type { IdempotencyKeysRow } from './rows.generated.ts';
import { only } from './rows.ts';

const LEASE_MS = 60_000;
const KEEP_MS = 24 * 3_600_000;

export function createIdempotencyStore(sql: Sql) {
  return {
    async begin(
      scope: string,
      route: string,
      key: string,
      bodyHash: Uint8Array,
      at: number,
    ): Promise<IdempotencyState> {
      const now = new Date(at);
      const lease = new Date(at + LEASE_MS);
      const expires = new Date(at + KEEP_MS);
      // Takes a free key, an expired one, or one with an expired lease.
      const [mine] = await sql<object[]>`
        insert into idempotency_keys as i (scope, route, key, body_hash, lease_until, expires_at)
        values (${scope}, ${route}, ${key}, ${bodyHash as Buffer}, ${lease}, ${expires})
        on conflict (scope, route, key) do update set
          body_hash = excluded.body_hash, lease_until = excluded.lease_until, status = null, body = null,
          expires_at = excluded.expires_at
        where i.expires_at <= ${now}
          or (i.status is null and i.lease_until <= ${now} and i.body_hash = excluded.body_hash)
        returning 1`;
      if (mine !== undefined) return { kind: 'new' };
      const [row] = await sql<
        IdempotencyKeysRow[]
      >`select * from idempotency_keys where scope = ${scope} and route = ${route} and key = ${key}`;
      // Released in between: treat it as in flight, so that the client repeats.
      if (row === undefined) return { kind: 'in_flight' };
      if (!row.body_hash.equals(bodyHash)) return { kind: 'other_body' };
      if (row.status === null) return { kind: 'in_flight' };
      return row.body === null ? { kind: 'secret' } : { kind: 'replay', status: row.status, body: row.body };
    },

    /** `body` is null for an answer that contained a secret. */
    async keep(
      scope: string,
      route: string,
      key: string,
      status: number,
      body: string | null,
    ): Promise<void> {
      await sql`update idempotency_keys set status = ${status}, body = ${body}, lease_until = null
        where scope = ${scope} and route = ${route} and key = ${key}`;
    },

    async release(scope: string, route: string, key: string): Promise<void> {
      await sql`delete from idempotency_keys where scope = ${scope} and route = ${route} and key = ${key} and status is null`;
    },

    /** Counts a scope's keys that have not expired, up to `most`. */
    async count(scope: string, at: number, most: number): Promise<number> {
      const row = only(
        await sql<{ count: number }[]>`select count(*)::int as count from (
        select 1 from idempotency_keys where scope = ${scope} and expires_at > ${new Date(at)} limit ${most}) as kept`,
      );
      return row.count;
    },

    async sweep(at: number): Promise<void> {
      await sql`delete from idempotency_keys where expires_at < ${new Date(at)}`;
    },
  };
}

export type IdempotencyState =
  | { readonly kind: 'new' }
  | { readonly kind: 'in_flight' }
  | { readonly kind: 'other_body' }
  | { readonly kind: 'secret' }
  | { readonly kind: 'replay'; readonly status: number; readonly body: string };

export type IdempotencyStore = ReturnType<typeof createIdempotencyStore>;
