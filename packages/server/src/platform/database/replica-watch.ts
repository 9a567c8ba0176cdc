/**
 * The other replicas on this database. Connections carry their replica's name, so the server knows which replicas are
 * alive; a starting replica notifies the others, which then count again at once instead of at their next interval.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { only, type Sql } from './connection.ts';
import type { ExchangeLeaderRow } from './rows.generated.ts';

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
  const rows = await sql<{ readonly name: string }[]>`
    select distinct application_name as name from pg_stat_activity
    where datname = current_database() and application_name like ${`${PREFIX}%`}
      and not ${key} = any (string_to_array(application_name, ' '))`;
  return rows.map(({ name }) => name);
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

// The address of the replica that leads the paper exchange, for the replicas that follow.

const LEAD_CHANNEL = 'bellwether_lead';

/**
 * `leaving`: the leader will give the lead away in a moment. `prepared`: a replica has loaded what it needs to lead.
 * `free`: no replica leads; without it the others find out within a quarter of a second.
 */
const NEWS = ['leaving', 'prepared', 'free'] as const;
type LeadNews = (typeof NEWS)[number];
const isNews = (text: string | undefined): text is LeadNews => NEWS.some((news) => news === text);

export const createLeaderBoard = (sql: Sql, replicaId: string) => ({
  async publish(url: string): Promise<void> {
    await sql`
      insert into exchange_leader (replica_id, url, since) values (${replicaId}, ${url}, now())
      on conflict (one) do update set replica_id = excluded.replica_id, url = excluded.url, since = excluded.since`;
  },
  async find(): Promise<{ readonly url: string; readonly replica: string; readonly mine: boolean } | null> {
    const [row] = await sql<
      Pick<ExchangeLeaderRow, 'replica_id' | 'url'>[]
    >`select replica_id, url from exchange_leader`;
    return row === undefined
      ? null
      : { url: row.url, replica: row.replica_id, mine: row.replica_id === replicaId };
  },
  /** Whether somebody else could take the lead. */
  isAlone: async (): Promise<boolean> => (await countOtherReplicas(sql, replicaId)) === 0,
  /** Tells the others at once. */
  announce: (news: LeadNews): Promise<void> => sql.notify(LEAD_CHANNEL, `${news} ${replicaId}`),
  /** Calls back with what others announce. @returns ends the listening */
  onNews: (listener: (news: LeadNews) => void): Promise<() => void> =>
    sql.listen(LEAD_CHANNEL, (text) => {
      const [news, sender] = text.split(' ');
      if (sender !== replicaId && isNews(news)) listener(news);
    }),
});

// Has every replica forget a key that was revoked, or whose agent has another owner. A replica that misses the notice takes
// the key until its lease of two seconds expires. A refusal must prove that no replica takes the key any more: where there
// are several, it waits for that.

const REVOKED_CHANNEL = 'bellwether_revoked_keys';
/** Longer than the statement that revokes a key can take to be committed: every replica knows of what is older. */
export const REVOKED_LATELY_MS = 60_000;
/** Timers and clocks count in steps. */
const ROOM_MS = 20;

type KeyChange = 'revoked' | 'reauthorised';

export interface Revocations {
  /** To be called once the change is committed. Resolves when no replica goes by what it remembered of the key. */
  announce(keyId: bigint, change: KeyChange): Promise<void>;
  /** Resolves when no replica takes a key any more that was found revoked; at once when that is so. */
  refusedEverywhere(keyId: bigint): Promise<void> | undefined;
  stop(): void;
}

export async function listenForRevocations(options: {
  readonly sql: Sql;
  readonly hasOthers: () => Promise<boolean>;
  /** As long as a replica goes by what it remembers of a key. */
  readonly leaseMs: number;
  readonly forget: (keyId: bigint) => void;
}): Promise<Revocations> {
  const { sql, hasOthers, forget } = options;
  const leaseMs = options.leaseMs + ROOM_MS;
  /** Since when each key was found revoked here; the oldest stand first. */
  const revokedSince = new Map<bigint, number>();
  const sinceOf = (keyId: bigint): number => {
    const now = performance.now();
    for (const [known, since] of revokedSince) {
      if (now - since < REVOKED_LATELY_MS) break;
      revokedSince.delete(known);
    }
    const since = revokedSince.get(keyId) ?? now;
    revokedSince.set(keyId, since);
    return since;
  };
  const heed = (keyId: bigint, change: string): void => {
    if (change === 'revoked') sinceOf(keyId);
    forget(keyId);
  };
  const unlisten = await sql.listen(REVOKED_CHANNEL, (payload) => {
    const [keyId = '', change = ''] = payload.split(' ');
    heed(BigInt(keyId), change);
  });
  const untilLeasesEnd = async (since: number): Promise<void> => {
    if (await hasOthers().catch(() => true)) await sleep(since + leaseMs - performance.now());
  };
  return {
    async announce(keyId, change) {
      heed(keyId, change);
      // Whether or not it arrives, the leases end.
      sql.notify(REVOKED_CHANNEL, `${keyId} ${change}`).catch(() => {});
      await untilLeasesEnd(performance.now());
    },
    refusedEverywhere(keyId) {
      const since = sinceOf(keyId);
      return performance.now() - since < leaseMs ? untilLeasesEnd(since) : undefined;
    },
    stop: unlisten,
  };
}
