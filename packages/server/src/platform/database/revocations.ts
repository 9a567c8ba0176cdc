/**
 * Notifies every replica of a revoked key, and waits until none of them can still accept it: a replica that missed the
 * notice drops the key when its lease of two seconds expires.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from './connection.ts';
import { countOtherReplicas } from './replica-watch.ts';

const CHANNEL = 'bellwether_revoked_keys';

export interface Revocations {
  /** Resolves when the key is refused everywhere. */
  announce(keyId: bigint): Promise<void>;
  stop(): Promise<void>;
}

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
      if ((await countOtherReplicas(sql, replicaId)) > 0) await sleep(leaseMs);
    },
    stop: unlisten,
  };
}
