/**
 * Owners' accounts: a passkey makes one, the same passkey signs in again, and a session remembers it. A session is a
 * random token in a cookie; only its keyed hash is kept.
 */
import type { OwnerSession, PasskeyRegistration, PasskeySignIn } from '@bellwether/contract';
import type { Owner, SignedInOwner } from '../domain/records.ts';
import type { Clock } from '../platform/clock.ts';
import { refusal } from '../platform/refusal.ts';
import type { Secrets } from '../platform/secrets.ts';
import type { Challenge, OwnerStore } from './owner-store.ts';
import type { NewSession, PasskeyAccount } from './passkey-store.ts';
import type { NewPasskey, PasskeyAnswer, PasskeyOptions, Passkeys } from './passkeys.ts';

export interface OwnerNeeds {
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly owners: OwnerStore;
  readonly passkeys: Passkeys;
}

const CHALLENGE_MS = 5 * 60_000;
/** Long enough for a day at the desk, short enough for a browser left open. */
export const SESSION_MS = 12 * 3_600_000;

/** An owner who has just signed in, and the token for the cookie. */
export interface SignedIn {
  readonly owner: Owner;
  readonly token: string;
}

export const SIGNED_OUT: OwnerSession = {
  ...{ signedIn: false, userId: null, name: null },
  ...{ canRecover: false, recovery: null },
};

export async function sessionRecord(needs: OwnerNeeds, owner: Owner | null): Promise<OwnerSession> {
  if (owner === null) return SIGNED_OUT;
  const { canRecover, recovery } = await needs.owners.waysIn(owner.userId, needs.clock.now());
  const [beganAt = '', endsAt = ''] =
    recovery === null ? [] : [recovery.beganAt, recovery.endsAt].map((at) => new Date(at).toISOString());
  return {
    ...{ signedIn: true, userId: owner.userId.toString(), name: owner.name, canRecover },
    recovery: recovery === null ? null : { beganAt, endsAt },
  };
}

/** Hashes of sessions and of API keys are of one key; the prefix keeps them apart. */
export const hashToken = (needs: Pick<OwnerNeeds, 'secrets'>, token: string): Uint8Array =>
  needs.secrets.hash(`owner session ${token}`);

/** @param code in its one form */
export const hashRecoveryCode = (needs: Pick<OwnerNeeds, 'secrets'>, code: string): Uint8Array =>
  needs.secrets.hash(`owner recovery ${code}`);

/** Two groups: fifty bits, which a stranger does not hit, and which leave ninety that no hash of a part gives away. */
const BEGINNING_CHARS = 'XXXXX-XXXXX'.length;

/** Names the owner whose code begins like this one. */
export const hashBeginning = (needs: Pick<OwnerNeeds, 'secrets'>, code: string): Uint8Array =>
  needs.secrets.hash(`beginning of owner recovery ${code.slice(0, BEGINNING_CHARS)}`);

export function newSession(needs: OwnerNeeds): { readonly token: string; readonly session: NewSession } {
  const token = needs.secrets.newToken();
  const at = needs.clock.now();
  return { token, session: { tokenHash: hashToken(needs, token), at, expiresAt: at + SESSION_MS } };
}

export async function beginRegistration(needs: OwnerNeeds, name: string): Promise<PasskeyOptions> {
  const trimmed = name.trim();
  if (trimmed === '') throw refusal('invalid_request', 'name must not be blank.', { path: 'name' });
  const handle = needs.secrets.newToken();
  const options = await needs.passkeys.registrationOptions({ handle, name: trimmed, credentialIds: [] });
  const challenge: Challenge = { challenge: options.challenge, purpose: 'register', handle, name: trimmed };
  await needs.owners.addChallenge(challenge, needs.clock.now() + CHALLENGE_MS);
  return options;
}

export async function beginSignIn(needs: OwnerNeeds): Promise<PasskeyOptions> {
  const options = await needs.passkeys.signInOptions();
  const challenge: Challenge = { challenge: options.challenge, purpose: 'sign_in', handle: null, name: null };
  await needs.owners.addChallenge(challenge, needs.clock.now() + CHALLENGE_MS);
  return options;
}

/** Taken before it is verified: a challenge answers once, right or wrong. */
async function takeChallenge(
  needs: {
    readonly clock: Clock;
    readonly owners: Pick<OwnerStore, 'takeChallenge'>;
    readonly passkeys: Pick<Passkeys, 'challengeOf'>;
  },
  answer: PasskeyAnswer,
  purpose: Challenge['purpose'],
): Promise<Challenge> {
  const named = needs.passkeys.challengeOf(answer);
  if (named === null) throw refusal('passkey_rejected', 'The passkey’s answer cannot be read.');
  const challenge = await needs.owners.takeChallenge(named, purpose, needs.clock.now());
  if (challenge === null) {
    throw refusal(
      'passkey_challenge_expired',
      'The challenge that this answer belongs to is unknown, used or older than five minutes.',
    );
  }
  return challenge;
}

export interface PasskeyWordNeeds {
  readonly clock: Clock;
  readonly owners: Pick<OwnerStore, 'addChallenge' | 'takeChallenge' | 'passkey' | 'usePasskey'>;
  readonly passkeys: Pick<Passkeys, 'signInOptions' | 'challengeOf' | 'verifySignIn'>;
}

/** Begins to ask for the word of an owner, who is signed in, for one purpose. */
export async function askForPasskey(
  { owners, passkeys, clock }: PasskeyWordNeeds,
  purpose: Challenge['purpose'],
): Promise<PasskeyOptions> {
  const options = await passkeys.signInOptions();
  const challenge: Challenge = { challenge: options.challenge, purpose, handle: null, name: null };
  await owners.addChallenge(challenge, clock.now() + CHALLENGE_MS);
  return options;
}

/**
 * @returns the passkey's credential id
 * @throws Refusal passkey_challenge_expired, passkey_rejected unless a passkey of this owner answers for this purpose
 */
export async function requirePasskey(
  needs: PasskeyWordNeeds,
  { userId }: Owner,
  response: PasskeySignIn['response'],
  purpose: Challenge['purpose'],
): Promise<string> {
  const { challenge } = await takeChallenge(needs, response, purpose);
  const passkey = await needs.owners.passkey(response.id);
  const isOwners = passkey !== null && passkey.userId === userId;
  const verified = isOwners ? await needs.passkeys.verifySignIn(response, challenge, passkey) : null;
  if (passkey === null || verified === null)
    throw refusal('passkey_rejected', 'This passkey is not one of yours, or its answer does not hold.');
  await needs.owners.usePasskey(passkey.credentialId, verified.counter, needs.clock.now());
  return passkey.credentialId;
}

/** Begins to make a new passkey of an account that is there. */
export async function askForRegistration(
  { owners, passkeys, clock }: OwnerNeeds,
  { owner: { name }, handle, credentialIds }: PasskeyAccount,
  purpose: Challenge['purpose'],
): Promise<PasskeyOptions> {
  const options = await passkeys.registrationOptions({ handle, name, credentialIds });
  const challenge: Challenge = { challenge: options.challenge, purpose, handle: null, name: null };
  await owners.addChallenge(challenge, clock.now() + CHALLENGE_MS);
  return options;
}

/** @throws Refusal passkey_challenge_expired, passkey_rejected */
export async function requireRegistration(
  needs: OwnerNeeds,
  response: PasskeyRegistration['response'],
  purpose: Challenge['purpose'],
): Promise<Pick<Challenge, 'handle' | 'name'> & { readonly passkey: NewPasskey }> {
  const { challenge, handle, name } = await takeChallenge(needs, response, purpose);
  const passkey = await needs.passkeys.verifyRegistration(response, challenge);
  if (passkey === null) throw refusal('passkey_rejected', 'The new passkey could not be verified.');
  return { passkey, handle, name };
}

export async function finishRegistration(
  needs: OwnerNeeds,
  { response }: PasskeyRegistration,
): Promise<SignedIn> {
  const { passkey, handle, name } = await requireRegistration(needs, response, 'register');
  if (handle === null || name === null) throw new Error('a registration has a handle and a name');
  const { token, session } = newSession(needs);
  const owner = await needs.owners.register({ name, handle, passkey }, session);
  if (owner === null)
    throw refusal('passkey_rejected', 'This passkey is registered already: sign in with it.');
  return { owner, token };
}

export async function finishSignIn(needs: OwnerNeeds, { response }: PasskeySignIn): Promise<SignedIn> {
  const { challenge } = await takeChallenge(needs, response, 'sign_in');
  const passkey = await needs.owners.passkey(response.id);
  const verified = passkey === null ? null : await needs.passkeys.verifySignIn(response, challenge, passkey);
  const { token, session } = newSession(needs);
  const isIn =
    passkey !== null &&
    verified !== null &&
    (await needs.owners.signIn(passkey.credentialId, verified.counter, session));
  // One answer for an unknown passkey, a wrong signature, and a passkey that was removed meanwhile.
  if (!isIn)
    throw refusal('passkey_rejected', 'This passkey is not known here, or its answer does not hold.');
  return { owner: { userId: passkey.userId, name: passkey.ownerName }, token };
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** @param tokens of the cookies */
export const hashesOf = (needs: OwnerNeeds, tokens: readonly string[]): readonly Uint8Array[] =>
  tokens.filter((text) => TOKEN.test(text)).map((token) => hashToken(needs, token));

/** @param tokens of the cookies; what is no token opens nothing @returns the owner of the first session that holds */
export async function ownerOfSession(
  needs: OwnerNeeds,
  tokens: readonly string[],
): Promise<SignedInOwner | null> {
  for (const token of tokens.filter((text) => TOKEN.test(text))) {
    const owner = await needs.owners.sessionOwner(hashToken(needs, token), needs.clock.now());
    if (owner !== null) return owner;
  }
  return null;
}

export async function signOut(needs: OwnerNeeds, tokens: readonly string[]): Promise<void> {
  for (const token of tokens) if (TOKEN.test(token)) await needs.owners.endSession(hashToken(needs, token));
}
