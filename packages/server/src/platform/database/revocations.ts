/**
 * Has every replica forget a key that was revoked, or whose agent has another owner. A replica that misses the notice takes
 * the key until its lease of two seconds expires. A refusal must prove that no replica takes the key any more: where there
 * are several, it waits for that.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from './connection.ts';

const CHANNEL = 'bellwether_revoked_keys';
/** Longer than the statement that revokes a key can take to be committed: every replica knows of what is older. */
export const REVOKED_LATELY_MS = 60_000;
/** Timers and clocks count in steps. */
const ROOM_MS = 20;

export type KeyChange = 'revoked' | 'reauthorised';

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
  const unlisten = await sql.listen(CHANNEL, (payload) => {
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
      sql.notify(CHANNEL, `${keyId} ${change}`).catch(() => {});
      await untilLeasesEnd(performance.now());
    },
    refusedEverywhere(keyId) {
      const since = sinceOf(keyId);
      return performance.now() - since < leaseMs ? untilLeasesEnd(since) : undefined;
    },
    stop: unlisten,
  };
}
