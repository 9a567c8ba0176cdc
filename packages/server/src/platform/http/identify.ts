/**
 * Who calls, by the operation's permission: an agent by its key, an owner by the session cookie of our own pages, the
 * operator by theirs. Says nothing about why a key or a session does not hold.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { ErrorCode, Operation } from '@bellwether/contract';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';
import type { Caller, Recovery, SignedInOwner } from '../../domain/records.ts';
import type { Clock } from '../clock.ts';
import type { Revocations } from '../database/replica-watch.ts';
import { type Refusal, refusal } from '../refusal.ts';
import type { Secrets } from '../secrets.ts';

declare module 'fastify' {
  interface FastifyRequest {
    owner: SignedInOwner | null;
  }
}

export interface Identities {
  readonly authenticator: Authenticator;
  /** The owner of the first of these sessions that holds. */
  readonly ownerOf: (tokens: readonly string[]) => Promise<SignedInOwner | null>;
  readonly operatorKey: string | null;
  /** Its port is known once the service listens. */
  readonly publicUrl: () => string;
}

export interface Unidentified {
  readonly code: ErrorCode;
  readonly detail?: string;
  readonly fix?: string;
  /** The bucket that failed attempts draw from; `null` where there is nothing to guess. */
  readonly failures: 'failed_auth' | 'failed_operator' | null;
}

const isSecure = (publicUrl: string): boolean => new URL(publicUrl).protocol === 'https:';

/** Browsers take `__Host-` cookies from this very host alone: a neighbour under the same domain can plant none. */
export const cookieName = (publicUrl: string): string =>
  isSecure(publicUrl) ? '__Host-bw_owner' : 'bw_owner';

/** The most cookies that are looked at. */
const MOST_COOKIES = 4;

/**
 * The values of the session cookie. A neighbour under the same host can put another cookie of the name before it, which must
 * not sign anybody out.
 */
export function sessionTokens(request: FastifyRequest, publicUrl: string): readonly string[] {
  const name = cookieName(publicUrl);
  return (request.headers.cookie ?? '')
    .split(';')
    .map((pair) => parseCookie(pair)[name])
    .filter((value) => value !== undefined)
    .slice(0, MOST_COOKIES);
}

/** @param token `null` removes the cookie */
export const sessionCookie = (token: string | null, publicUrl: string, maxAgeS: number): string =>
  stringifySetCookie({
    name: cookieName(publicUrl),
    value: token ?? '',
    // The name's prefix demands the whole host.
    path: isSecure(publicUrl) ? '/' : new URL(publicUrl).pathname,
    maxAge: token === null ? 0 : maxAgeS,
    httpOnly: true,
    sameSite: 'strict',
    secure: isSecure(publicUrl),
  });

/**
 * Whether an operation for our pages alone is asked by one. Browsers send Origin with every POST. With a GET of the same origin
 * they send none, and one of another page sends cookies, too, when only its port differs: then Sec-Fetch-Site tells.
 */
export function isOfOurPages(
  { sameOrigin, permission }: Operation,
  { headers }: FastifyRequest,
  publicUrl: string,
): boolean {
  if (sameOrigin === true) return headers.origin === new URL(publicUrl).origin;
  const site = headers['sec-fetch-site'];
  return permission !== 'owner' || site === undefined || site === 'same-origin' || site === 'none';
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/** @returns why the request is not the operator's */
export function operatorFault(
  authorization: string | undefined,
  operatorKey: string | null,
): Unidentified | null {
  if (operatorKey === null) {
    return {
      code: 'operator_disabled',
      detail: 'The operator’s routes are off: this service was started without OPERATOR_KEY.',
      failures: null,
    };
  }
  const given = /^Bearer +([^ ]+) *$/i.exec(authorization ?? '')?.[1] ?? '';
  // Digests have one length, so the comparison says nothing about the key's.
  if (timingSafeEqual(digest(given), digest(operatorKey))) return null;
  return {
    code: 'unauthorized',
    detail: 'This route needs the operator’s key: "Authorization: Bearer <OPERATOR_KEY>".',
    fix: 'Send OPERATOR_KEY of the service’s configuration; the key of an agent does not open this route.',
    failures: 'failed_operator',
  };
}

const NO_AGENT: Unidentified = { code: 'unauthorized', failures: 'failed_auth' };
const NO_OWNER: Unidentified = { code: 'owner_session_required', failures: 'failed_auth' };

/** Fills in the request's caller or owner. @returns why it cannot */
export function identify(
  identities: Identities,
  operation: Operation,
  request: FastifyRequest,
): Unidentified | null | Promise<Unidentified | null> {
  switch (operation.permission) {
    case 'agent': {
      const note = (caller: FastifyRequest['caller']): Unidentified | null => {
        request.caller = caller;
        return caller === null ? NO_AGENT : null;
      };
      const caller = identities.authenticator.authenticate(request.headers.authorization);
      return caller instanceof Promise ? caller.then(note) : note(caller);
    }
    case 'owner':
      return identities.ownerOf(sessionTokens(request, identities.publicUrl())).then((owner) => {
        request.owner = owner;
        return owner === null ? NO_OWNER : null;
      });
    case 'operator':
      return operatorFault(request.headers.authorization, identities.operatorKey);
    case 'public':
      return null;
  }
}

// From an API key to its agent. Answers are remembered for a lease of two seconds at most, and dropped at once when a
// key is revoked here or a replica says so; a trade reads the key's status again under its lock. A refusal of a key that
// was revoked waits until no replica takes it any more (platform/database/replica-watch.ts).
//
// The leases of keys that are in use are renewed before they end, together: otherwise all requests of a busy moment
// would wait for the database every two seconds, each for a look-up of its own.

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

// The day after a recovery (`owners/owners.ts`), for every route of owners: each operation declares whether it can be called then,
// and one that declares nothing only when it reads.

type Declared = Pick<Operation, 'method' | 'duringRecovery'>;

/** @param body `undefined`: not yet read */
function isOpen({ method, duringRecovery }: Declared, body: unknown): boolean {
  if (duringRecovery === undefined) return method === 'GET';
  if (duringRecovery === true || body === undefined) return true;
  return (body as Readonly<Record<string, unknown>> | null)?.[duringRecovery.when] === true;
}

export const notDuringRecovery = ({ beganAt, endsAt }: Recovery): Refusal => {
  const [began, ends] = [beganAt, endsAt].map((at) => new Date(at).toISOString());
  return refusal(
    'during_recovery_not_allowed',
    `A recovery code was used at ${began}. Until ${ends} this account can read, pause, cancel and decline, and nothing else.`,
  );
};

/** @returns why the owner cannot do this now */
export const refusedInRecovery = (
  operation: Declared,
  owner: { readonly recovery: Recovery | null } | null,
  body: unknown,
): Refusal | null =>
  owner === null || owner.recovery === null || isOpen(operation, body)
    ? null
    : notDuringRecovery(owner.recovery);
