/**
 * Owners' accounts: a passkey makes one, the same passkey signs in again, and a session remembers it. A session is a
 * random token in a cookie; only its keyed hash is kept.
 */
import type { OwnerSession, PasskeyRegistration, PasskeySignIn } from '@bellwether/contract';
import type { Challenge, NewSession, OwnerRow } from '../ports/owners.ts';
import type { PasskeyAnswer, PasskeyOptions } from '../ports/passkeys.ts';
import type { Deps } from './deps.ts';
import { refusal } from './refusal.ts';

const CHALLENGE_MS = 5 * 60_000;
/** Long enough for a day at the desk, short enough for a browser left open. */
export const SESSION_MS = 12 * 3_600_000;

export type Owner = OwnerRow;

/** An owner who has just signed in, and the token for the cookie. */
export interface SignedIn {
  readonly owner: Owner;
  readonly token: string;
}

export const SIGNED_OUT: OwnerSession = { signedIn: false, userId: null, name: null };

export const sessionRecord = (owner: Owner | null): OwnerSession =>
  owner === null ? SIGNED_OUT : { signedIn: true, userId: owner.userId.toString(), name: owner.name };

/** Hashes of sessions and of API keys are of one key; the prefix keeps them apart. */
const hashToken = (deps: Deps, token: string): Uint8Array => deps.secrets.hash(`owner session ${token}`);

function newSession(deps: Deps): { readonly token: string; readonly session: NewSession } {
  const token = deps.secrets.newToken();
  const at = deps.clock.now();
  return { token, session: { tokenHash: hashToken(deps, token), at, expiresAt: at + SESSION_MS } };
}

export async function beginRegistration(deps: Deps, name: string): Promise<PasskeyOptions> {
  const trimmed = name.trim();
  if (trimmed === '') throw refusal('invalid_request', 'name must not be blank.', { path: 'name' });
  const handle = deps.secrets.newToken();
  const options = await deps.passkeys.registrationOptions({ handle, name: trimmed });
  const challenge: Challenge = { challenge: options.challenge, purpose: 'register', handle, name: trimmed };
  await deps.owners.addChallenge(challenge, deps.clock.now() + CHALLENGE_MS);
  return options;
}

export async function beginSignIn(deps: Deps): Promise<PasskeyOptions> {
  const options = await deps.passkeys.signInOptions();
  const challenge: Challenge = { challenge: options.challenge, purpose: 'sign_in', handle: null, name: null };
  await deps.owners.addChallenge(challenge, deps.clock.now() + CHALLENGE_MS);
  return options;
}

/** Taken before it is verified: a challenge answers once, right or wrong. */
async function takeChallenge(
  deps: Deps,
  answer: PasskeyAnswer,
  purpose: Challenge['purpose'],
): Promise<Challenge> {
  const named = deps.passkeys.challengeOf(answer);
  if (named === null) throw refusal('passkey_rejected', 'The passkey’s answer cannot be read.');
  const challenge = await deps.owners.takeChallenge(named, purpose, deps.clock.now());
  if (challenge === null) {
    throw refusal(
      'passkey_challenge_expired',
      'The challenge that this answer belongs to is unknown, used or older than five minutes.',
    );
  }
  return challenge;
}

export async function finishRegistration(deps: Deps, { response }: PasskeyRegistration): Promise<SignedIn> {
  const { challenge, handle, name } = await takeChallenge(deps, response, 'register');
  const passkey = await deps.passkeys.verifyRegistration(response, challenge);
  if (passkey === null || handle === null || name === null)
    throw refusal('passkey_rejected', 'The new passkey could not be verified.');
  const { token, session } = newSession(deps);
  const owner = await deps.owners.register({ name, handle, passkey }, session);
  if (owner === null)
    throw refusal('passkey_rejected', 'This passkey is registered already: sign in with it.');
  return { owner, token };
}

export async function finishSignIn(deps: Deps, { response }: PasskeySignIn): Promise<SignedIn> {
  const { challenge } = await takeChallenge(deps, response, 'sign_in');
  const passkey = await deps.owners.passkey(response.id);
  const verified = passkey === null ? null : await deps.passkeys.verifySignIn(response, challenge, passkey);
  // One answer for an unknown passkey and a wrong signature.
  if (passkey === null || verified === null)
    throw refusal('passkey_rejected', 'This passkey is not known here, or its answer does not hold.');
  const { token, session } = newSession(deps);
  await deps.owners.signIn(passkey, verified.counter, session);
  return { owner: { userId: passkey.userId, name: passkey.ownerName }, token };
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** @param token the cookie's; anything that is no token is nobody's */
export async function ownerOfSession(deps: Deps, token: string | undefined): Promise<Owner | null> {
  if (token === undefined || !TOKEN.test(token)) return null;
  return deps.owners.sessionOwner(hashToken(deps, token), deps.clock.now());
}

export async function signOut(deps: Deps, token: string | undefined): Promise<void> {
  if (token !== undefined && TOKEN.test(token)) await deps.owners.endSession(hashToken(deps, token));
}
