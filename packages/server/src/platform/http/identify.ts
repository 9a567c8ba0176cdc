/**
 * Who calls, by the operation's permission: an agent by its key, an owner by the session cookie of our own pages, the
 * operator by theirs. Says nothing about why a key or a session does not hold.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { ErrorCode, Operation } from '@bellwether/contract';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';
import type { SignedInOwner } from '../../domain/records.ts';
import type { Authenticator } from './authenticate.ts';

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
