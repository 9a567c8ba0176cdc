/**
 * Idempotency keys: a lease while a request is in flight, then its answer for a day. What such a request changes is kept
 * with its key in the transaction that changes it. So a run that ended between the effect and the answer, with its
 * process, its database or its deadline, leaves the effect's result behind, and the next run goes on from there.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { deserialize, serialize } from 'node:v8';
import { transact } from '@bellwether/durable';
import { type Refusal, refusal } from '../refusal.ts';
import { only, type Sql, type Tx } from './connection.ts';
import type { IdempotencyKeysRow } from './rows.generated.ts';

const LEASE_MS = 60_000;
const KEEP_MS = 24 * 3_600_000;
const RETRY_S = 1;
const LONG_AGO = new Date(0);

export const keyInFlight = (): Refusal =>
  refusal('idempotency_in_flight', 'A request with this Idempotency-Key is in flight.', {
    retryAfterS: RETRY_S,
  });

/** A run of a request under a key: the first one, or the next one after the lease of a run that gave no answer. */
export interface Run {
  readonly scope: string;
  readonly route: string;
  readonly key: string;
  /** Differs from run to run: a process that wakes up after its lease does nothing any more. */
  readonly lease: Date;
  /** The result of the effect that a run before had; `null`: none had one. */
  readonly kept: string | null;
  /** Its answer carries a secret, which is not kept. */
  readonly isSecret: boolean;
}

interface Context {
  readonly sql: Sql;
  readonly run: Run;
  /** The one effect that is kept is there. */
  isOver: boolean;
}

const contexts = new AsyncLocalStorage<Context>();

const isLeasedTo = (tx: Tx, { scope, route, key, lease }: Run) =>
  tx`scope = ${scope} and route = ${route} and key = ${key} and status is null and lease_until = ${lease}`;

/** In the transaction of the effect. @throws Refusal idempotency_in_flight when another run has the key by now */
async function keep(tx: Tx, context: Context, result: unknown): Promise<void> {
  const kept = serialize(result).toString('base64');
  const [mine] = await tx<object[]>`
    update idempotency_keys set body = ${kept} where ${isLeasedTo(tx, context.run)} returning 1`;
  if (mine === undefined) throw keyInFlight();
  context.isOver = true;
}

/** @param work gets `null` where there is nothing to keep: without a key, and after the effect that is kept */
async function keeping<T>(work: (context: Context | null) => Promise<T>): Promise<T> {
  const context = contexts.getStore();
  if (context === undefined || context.isOver) return work(null);
  if (context.run.kept === null) return work(context);
  context.isOver = true;
  return deserialize(Buffer.from(context.run.kept, 'base64')) as T;
}

const isEffect = (result: unknown): boolean =>
  result !== null && result !== false && typeof result !== 'string';

/**
 * The effect of a request, in one transaction: once for an Idempotency-Key, whatever becomes of its runs. A later run gets the
 * result of the effect; it must hold no secret.
 * @param hasEffect tells a result from a refusal, after which the next run is judged anew; `null`, `false` and a word are refusals
 * @throws Refusal idempotency_in_flight; CommitInDoubt, after which the next run knows
 */
export const once = <T>(
  sql: Sql,
  work: (tx: Tx) => Promise<T>,
  hasEffect: (result: T) => boolean = isEffect,
): Promise<T> =>
  keeping((context) =>
    transact(sql, async (tx) => {
      const result = await work(tx);
      if (context !== null && hasEffect(result)) await keep(tx, context, result);
      return result;
    }),
  );

/** What a request will change outside the database, decided before it does: a later run changes that, and nothing that came since. */
export const decideOnce = <T>(decide: () => Promise<T>): Promise<T> =>
  keeping(async (context) => {
    const decision = await decide();
    if (context !== null) await keep(context.sql, context, decision);
    return decision;
  });

export function createIdempotencyStore(sql: Sql) {
  return {
    async begin(
      scope: string,
      route: string,
      key: string,
      bodyHash: Uint8Array,
      { at, isSecret }: { readonly at: number; readonly isSecret: boolean },
    ): Promise<IdempotencyState> {
      const now = new Date(at);
      const lease = new Date(at + LEASE_MS);
      const expires = new Date(at + KEEP_MS);
      // Takes a free key, an expired one, or one with an expired lease.
      const [mine] = await sql<Pick<IdempotencyKeysRow, 'body'>[]>`
        insert into idempotency_keys as i (scope, route, key, body_hash, lease_until, expires_at)
        values (${scope}, ${route}, ${key}, ${bodyHash as Buffer}, ${lease}, ${expires})
        on conflict (scope, route, key) do update set
          body_hash = excluded.body_hash, lease_until = excluded.lease_until, status = null,
          body = case when i.expires_at > ${now} then i.body end, expires_at = excluded.expires_at
        where i.expires_at <= ${now}
          or (i.status is null and i.lease_until <= ${now} and i.body_hash = excluded.body_hash)
        returning body`;
      if (mine !== undefined)
        return { kind: 'new', run: { scope, route, key, lease, kept: mine.body, isSecret } };
      const [row] = await sql<
        IdempotencyKeysRow[]
      >`select * from idempotency_keys where scope = ${scope} and route = ${route} and key = ${key}`;
      // Released in between: treat it as in flight, so that the client repeats.
      if (row === undefined) return { kind: 'in_flight' };
      if (!row.body_hash.equals(bodyHash)) return { kind: 'other_body' };
      if (row.status === null) return { kind: 'in_flight' };
      return row.body === null ? { kind: 'secret' } : { kind: 'replay', status: row.status, body: row.body };
    },

    /** Carries out a request: its first effect is kept with its key. What goes on after it belongs to no key. */
    async running<T>(run: Run, work: () => Promise<T>): Promise<T> {
      const context: Context = { sql, run, isOver: false };
      try {
        return await contexts.run(context, work);
      } finally {
        context.isOver = true;
      }
    },

    /** `body` is null for an answer that contained a secret. */
    async answer(run: Run, status: number, body: string | null): Promise<void> {
      await sql`update idempotency_keys set status = ${status}, body = ${body}, lease_until = null
        where ${isLeasedTo(sql, run)}`;
    },

    /** No answer to keep: without an effect the key is free, after one the next run may begin at once. @returns whether it is free */
    async release(run: Run): Promise<boolean> {
      const [freed] = await sql<object[]>`
        with later as (
          update idempotency_keys set lease_until = ${LONG_AGO} where ${isLeasedTo(sql, run)} and body is not null
        )
        delete from idempotency_keys where ${isLeasedTo(sql, run)} and body is null returning 1`;
      return freed !== undefined;
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

type IdempotencyState =
  | { readonly kind: 'new'; readonly run: Run }
  | { readonly kind: 'in_flight' }
  | { readonly kind: 'other_body' }
  | { readonly kind: 'secret' }
  | { readonly kind: 'replay'; readonly status: number; readonly body: string };

export type IdempotencyStore = ReturnType<typeof createIdempotencyStore>;
