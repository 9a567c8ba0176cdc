/**
 * Tells every replica of a revoked key, and waits until none of them can still take it: a replica that missed the
 * notice forgets by itself when its lease of two seconds runs out.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from './connection.ts';

const CHANNEL = 'bellwether_revoked_keys';

export interface Revocations {
  /** Resolves when the key is refused everywhere. */
  announce(keyId: bigint): Promise<void>;
  stop(): Promise<void>;
}

/** Connections carry the replica's name, so that the database knows who is alive. */
export const replicaName = (replicaId: string): string => `bellwether ${replicaId}`;

export async function listenForRevocations(options: {
  readonly sql: Sql;
  readonly replicaId: string;
  readonly leaseMs: number;
  readonly forget: (keyId: bigint) => void;
}): Promise<Revocations> {
  const { sql, replicaId, leaseMs, forget } = options;
  const { unlisten } = await sql.listen(CHANNEL, (payload) => forget(BigInt(payload)));
  return {
    async announce(keyId) {
      forget(keyId);
      await sql.notify(CHANNEL, keyId.toString());
      const [others] = await sql`
        select count(distinct application_name)::int as count from pg_stat_activity
        where datname = current_database() and application_name like 'bellwether %'
          and application_name <> ${replicaName(replicaId)}`;
      if (others?.count > 0) await sleep(leaseMs);
    },
    stop: unlisten,
  };
}
