/**
 * Authentication of calls between replicas of one database: an HMAC over time, a nonce, method, path and the body's
 * digest. The secret is never sent, and an intercepted call is useless: the proof is valid once, for this body, for half a
 * minute.
 */
import { createHmac, hash, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';

interface ReplicaCall {
  readonly method: string;
  /** Below the base path, with its query. */
  readonly path: string;
  readonly body: string;
}

export interface ReplicaCalls {
  /** @returns the value of the header `x-bellwether-replica` */
  sign(call: ReplicaCall): string;
  /** Checks everything that does not need the body. */
  accepts(proof: string | undefined, call: Omit<ReplicaCall, 'body'>): boolean;
  /** Checks the body of an accepted call. */
  matches(proof: string, body: string): boolean;
}

interface Claims {
  readonly time: string;
  readonly nonce: string;
  readonly digest: string;
}

/** Allows for clocks of replicas that differ by seconds. */
const WINDOW_MS = 30_000;
const PROOF = /^v1 (\d{1,15}) ([0-9a-f]{32}) ([0-9a-f]{64}) ([0-9a-f]{64})$/;

const digestOf = (body: string): string => hash('sha256', body);

/** @param secrets the first signs, any of them is accepted */
export function createReplicaCalls(
  secrets: () => readonly [KeyObject, ...KeyObject[]],
  now: () => number = Date.now,
): ReplicaCalls {
  const seen = createSeen(now);
  const mac = (
    secret: KeyObject,
    { time, nonce, digest }: Claims,
    { method, path }: Omit<ReplicaCall, 'body'>,
  ): Buffer =>
    createHmac('sha256', secret).update(`v1\n${time}\n${nonce}\n${method}\n${path}\n${digest}`).digest();
  return {
    sign({ method, path, body }) {
      const time = String(now());
      const nonce = randomBytes(16).toString('hex');
      const digest = digestOf(body);
      const signature = mac(secrets()[0], { time, nonce, digest }, { method, path });
      return `v1 ${time} ${nonce} ${digest} ${signature.toString('hex')}`;
    },
    accepts(proof, call) {
      const [, time = '', nonce = '', digest = '', given = ''] = PROOF.exec(proof ?? '') ?? [];
      if (given === '' || Math.abs(now() - Number(time)) > WINDOW_MS) return false;
      // Only nonces of valid proofs are stored, so an attacker cannot fill the memory.
      const signature = Buffer.from(given, 'hex');
      const isSigned = secrets().some((secret) =>
        timingSafeEqual(mac(secret, { time, nonce, digest }, call), signature),
      );
      return isSigned && seen.add(nonce);
    },
    matches: (proof, body) => PROOF.exec(proof)?.[3] === digestOf(body),
  };
}

/** Keeps the nonces of at least the last two windows: the longest time that a proof can be valid. */
function createSeen(now: () => number) {
  let current = new Set<string>();
  let former = new Set<string>();
  let since = now();
  return {
    /** @returns whether it is new */
    add(nonce: string): boolean {
      if (now() - since > 2 * WINDOW_MS) {
        former = current;
        current = new Set();
        since = now();
      }
      if (current.has(nonce) || former.has(nonce)) return false;
      current.add(nonce);
      return true;
    },
  };
}
