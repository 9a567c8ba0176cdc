/**
 * From an API key to its agent. Answers are remembered for a lease of two seconds at most, and dropped at once when a
 * key is revoked here or a replica says so; a trade reads the key's status again under its lock.
 */
import type { Clock } from '../ports/clock.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { AgentStore, Caller } from '../ports/stores.ts';

export const CACHE_LEASE_MS = 2_000;
const MAX_REMEMBERED = 50_000;

export interface Authenticator {
  /** At once when the key is remembered. `null`: missing, malformed, unknown or revoked. */
  authenticate(header: string | undefined): Caller | null | Promise<Caller | null>;
  forget(keyId: bigint): void;
  /** Hands over when each key was last used, and starts anew. */
  drainCalls(): ReadonlyMap<bigint, number>;
}

const BEARER = /^Bearer +([^ ]+) *$/i;

export function createAuthenticator(needs: {
  agents: Pick<AgentStore, 'callerByKeyHash'>;
  secrets: Pick<Secrets, 'isWellFormed' | 'hash' | 'nameOf'>;
  clock: Clock;
}): Authenticator {
  const remembered = new Map<string, { readonly caller: Caller; readonly until: number }>();
  /** Raised by every revocation: an answer that was on its way meanwhile must not be remembered. */
  let revocations = 0;
  let calls = new Map<bigint, number>();

  const lookUp = async (apiKey: string, name: string, now: number): Promise<Caller | null> => {
    const asked = revocations;
    const caller = await needs.agents.callerByKeyHash(needs.secrets.hash(apiKey));
    if (caller === null) {
      remembered.delete(name);
      return null;
    }
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    if (asked === revocations) remembered.set(name, { caller, until: now + CACHE_LEASE_MS });
    calls.set(caller.keyId, now);
    return caller;
  };

  return {
    authenticate(header) {
      const apiKey = header === undefined ? undefined : BEARER.exec(header)?.[1];
      if (apiKey === undefined) return null;
      const now = needs.clock.now();
      const name = needs.secrets.nameOf(apiKey);
      const known = remembered.get(name);
      if (known !== undefined && known.until > now) {
        calls.set(known.caller.keyId, now);
        return known.caller;
      }
      return needs.secrets.isWellFormed(apiKey) ? lookUp(apiKey, name, now) : null;
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
