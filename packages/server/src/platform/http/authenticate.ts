/**
 * From an API key to its agent. Answers are remembered for a lease of two seconds at most, and dropped at once when a
 * key is revoked here or a replica says so; a trade reads the key's status again under its lock. A refusal of a key that
 * was revoked waits until no replica takes it any more (platform/database/revocations.ts).
 *
 * The leases of keys that are in use are renewed before they end, together: otherwise all requests of a busy moment
 * would wait for the database every two seconds, each for a look-up of its own.
 */

import type { Caller } from '../../domain/records.ts';
import type { Clock } from '../clock.ts';
import type { Revocations } from '../database/revocations.ts';
import type { Secrets } from '../secrets.ts';

export const CACHE_LEASE_MS = 2_000;
/** A request whose key has no more than this left begins a renewal. */
const RENEW_WITHIN_MS = 500;
/** The renewal takes the keys in use that have no more than this left: about one renewal a second for all. */
const RENEW_WITH_IT_MS = 1_500;
const MAX_REMEMBERED = 50_000;

export interface Authenticator {
  /** At once when the key is remembered. `null`: missing, malformed, unknown or revoked. */
  authenticate(header: string | undefined): Caller | null | Promise<Caller | null>;
  forget(keyId: bigint): void;
  /** Hands over when each key was last used, and starts anew. */
  drainCalls(): ReadonlyMap<bigint, number>;
}

interface Remembered {
  readonly caller: Caller;
  readonly hash: Uint8Array;
  readonly until: number;
  /** Since it was remembered. */
  isUsed: boolean;
  isRenewed: boolean;
}

const BEARER = /^Bearer +([^ ]+) *$/i;

export function createAuthenticator(needs: {
  readonly agents: {
    /** Of an active key, or of one that was revoked lately. */
    callerByKeyHash(
      hash: Uint8Array,
    ): Promise<{ readonly caller: Caller; readonly isRevoked: boolean } | null>;
  };
  readonly secrets: Pick<Secrets, 'isWellFormed' | 'hash' | 'nameOf'>;
  readonly clock: Clock;
  /** Milliseconds that only grow. */
  readonly now: () => number;
  readonly refusedEverywhere: Revocations['refusedEverywhere'];
}): Authenticator {
  /** Those whose leases end first stand first. */
  const remembered = new Map<string, Remembered>();
  /** Raised by every revocation: an answer that was on its way meanwhile must not be remembered. */
  let revocations = 0;
  let calls = new Map<bigint, number>();

  const lookUp = async (name: string, hash: Uint8Array): Promise<Caller | null> => {
    const asked = revocations;
    const until = needs.now() + CACHE_LEASE_MS;
    const found = await needs.agents.callerByKeyHash(hash);
    if (found?.isRevoked === false && asked !== revocations) return found.caller;
    remembered.delete(name);
    if (found === null) return null;
    const { caller } = found;
    if (found.isRevoked) {
      await needs.refusedEverywhere(caller.keyId);
      return null;
    }
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(name, { caller, hash, until, isUsed: false, isRenewed: false });
    return caller;
  };

  const renewInUse = (now: number): void => {
    for (const [name, one] of remembered) {
      if (one.until - now > RENEW_WITH_IT_MS) break;
      if (one.until <= now) remembered.delete(name);
      else if (one.isUsed && !one.isRenewed) {
        one.isRenewed = true;
        // Where it fails, the key has the rest of its lease, and is looked up after that.
        lookUp(name, one.hash).catch(() => {});
      }
    }
  };

  return {
    authenticate(header) {
      const apiKey = header === undefined ? undefined : BEARER.exec(header)?.[1];
      if (apiKey === undefined) return null;
      const now = needs.now();
      const name = needs.secrets.nameOf(apiKey);
      const known = remembered.get(name);
      if (known !== undefined && known.until > now) {
        known.isUsed = true;
        calls.set(known.caller.keyId, needs.clock.now());
        if (known.until - now <= RENEW_WITHIN_MS && !known.isRenewed) renewInUse(now);
        return known.caller;
      }
      if (!needs.secrets.isWellFormed(apiKey)) return null;
      return lookUp(name, needs.secrets.hash(apiKey)).then((caller) => {
        if (caller !== null) calls.set(caller.keyId, needs.clock.now());
        return caller;
      });
    },
    forget(keyId) {
      revocations += 1;
      for (const [name, { caller }] of remembered) if (caller.keyId === keyId) remembered.delete(name);
    },
    drainCalls() {
      const drained = calls;
      calls = new Map();
      return drained;
    },
  };
}
