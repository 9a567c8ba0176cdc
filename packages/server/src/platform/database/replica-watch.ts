/**
 * The other replicas on this database. Connections carry their replica's name, so the server knows which replicas are
 * alive; a starting replica notifies the others, which then count again at once instead of at their next interval.
 */

import type { Sql } from './connection.ts';
import { only } from './rows.ts';

const CHANNEL = 'bellwether_replicas';
const LOOK_EVERY_MS = 1_000;
/** A replica counts for longer than its connections are seen: after a restart of the database it needs a while to have some again. */
const COUNTS_FOR_MS = 10_000;
const PREFIX = 'bellwether ';

/** The application name of a replica's connections. A rotation of the master key sees there which keys it knows. */
export const replicaName = (replicaId: string, keys: readonly string[] = []): string =>
  [PREFIX + replicaId, ...keys].join(' ');

/** The replicas with an open connection that do not know a master key. */
export async function replicasWithout(sql: Sql, key: string): Promise<readonly string[]> {
  const rows = await sql`
    select distinct application_name as name from pg_stat_activity
    where datname = current_database() and application_name like ${`${PREFIX}%`}
      and not ${key} = any (string_to_array(application_name, ' '))`;
  return rows.map(({ name }) => String(name));
}

/** Pattern of the names of all replicas' connections. */
export const replicaPattern = `${PREFIX}%`;

/** Replicas with an open connection, except this one: the id alone counts, with any keys behind it. */
export async function countOtherReplicas(sql: Sql, replicaId: string): Promise<number> {
  const others = await sql<{ count: number }[]>`
    select count(distinct split_part(application_name, ' ', 2))::int as count from pg_stat_activity
    where datname = current_database() and application_name like ${replicaPattern}
      and split_part(application_name, ' ', 2) <> ${replicaId}`;
  return only(others).count;
}

export interface ReplicaWatch {
  readonly bank: TokenBank;
  /** Whether other replicas were alive within the last ten seconds; where this one does not know of any, it looks again. */
  hasOthers(): Promise<boolean>;
  /** Where the others listen that have introduced themselves within the last hour. */
  addresses(): readonly string[];
  /** This replica listens here. */
  listening(url: string): void;
  /** Tells the others where it listens. */
  introduce(): Promise<void>;
  stop(): Promise<void>;
}

/** A replica that was cut off from this database keeps silent here, and may be reached all the same. */
const KNOWN_FOR_MS = 3_600_000;

export async function watchReplicas(sql: Sql, replicaId: string): Promise<ReplicaWatch> {
  let ownUrl = '';
  const known = new Map<string, { readonly url: string; readonly at: number }>();
  let seenAt = Number.NEGATIVE_INFINITY;
  const isShared = (): boolean => performance.now() - seenAt < COUNTS_FOR_MS;
  const look = async () => {
    if ((await countOtherReplicas(sql, replicaId)) > 0) seenAt = performance.now();
  };
  await look();
  const timer = setInterval(
    () =>
      look().catch(() => {
        // While the database is unreachable, what was seen last stays valid.
        if (isShared()) seenAt = performance.now();
      }),
    LOOK_EVERY_MS,
  );
  timer.unref();
  const unlisten = await sql.listen(CHANNEL, (text) => {
    const [sender = '', url = ''] = text.split(' ');
    if (sender === replicaId) return;
    seenAt = performance.now();
    if (url !== '') known.set(sender, { url, at: performance.now() });
  });
  await sql.notify(CHANNEL, replicaId);
  return {
    async hasOthers() {
      if (!isShared()) await look();
      return isShared();
    },
    addresses() {
      for (const [id, { at }] of known) if (performance.now() - at > KNOWN_FOR_MS) known.delete(id);
      return [...known.values()].map(({ url }) => url);
    },
    listening(url) {
      ownUrl = url;
    },
    introduce: () => sql.notify(CHANNEL, `${replicaId} ${ownUrl}`),
    bank: {
      isShared,
      async lease(bucket, { burst, perSecond }, want) {
        const [row] =
          await sql`select granted, remaining from lease_tokens(${bucket}, ${burst}, ${perSecond}, ${want})`;
        return { granted: row?.granted ?? 0, remaining: row?.remaining ?? 0 };
      },
      async sweep(idleS) {
        await sql`delete from rate_buckets where at < clock_timestamp() - ${idleS} * interval '1 second'`;
      },
    },
    async stop() {
      clearInterval(timer);
      unlisten();
    },
  };
}

/** Token buckets that replicas share. */
export interface BucketPolicy {
  readonly perSecond: number;
  readonly burst: number;
}

export interface TokenBank {
  /** Whether other replicas were alive within the last ten seconds: a single replica needs no lease. */
  isShared(): boolean;
  /** Takes up to `want` whole tokens from a bucket; a negative `want` returns them. */
  lease(
    bucket: string,
    policy: BucketPolicy,
    want: number,
  ): Promise<{ readonly granted: number; readonly remaining: number }>;
  /** Deletes buckets that have been idle for `idleS` seconds. */
  sweep(idleS: number): Promise<void>;
}
