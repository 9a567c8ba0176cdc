/**
 * Owners' accounts: a passkey makes one, the same passkey signs in again, and a session remembers it. A session is a
 * random token in a cookie; only its keyed hash is kept.
 */
import {
  makeRecoveryCode,
  type NewRecoveryCode,
  type OwnerPasskeys,
  type OwnerSession,
  PASSKEY_LIMITS,
  type PasskeyRegistration,
  type PasskeySignIn,
  readRecoveryCode,
} from '@bellwether/contract';
import type { AgentStore } from '../agents/index.ts';
import type { Owner, Recovery, SignedInOwner } from '../domain/records.ts';
import type { Clock } from '../platform/clock.ts';
import { notDuringRecovery } from '../platform/http/identify.ts';
import { refusal } from '../platform/refusal.ts';
import type { Job } from '../platform/scheduler.ts';
import type { Secrets } from '../platform/secrets.ts';
import type { Venues } from '../venues/venue.ts';
import type { HeartbeatStore } from '../wallets/index.ts';
import type { Challenge, NewSession, OwnerStore, PasskeyAccount } from './owner-store.ts';
import type { NewPasskey, PasskeyAnswer, PasskeyOptions, Passkeys } from './passkeys.ts';

export interface OwnerNeeds {
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly owners: OwnerStore;
  readonly passkeys: Passkeys;
  readonly agents: AgentStore;
  readonly heartbeats: HeartbeatStore;
  readonly venues: Venues;
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
const hashRecoveryCode = (needs: Pick<OwnerNeeds, 'secrets'>, code: string): Uint8Array =>
  needs.secrets.hash(`owner recovery ${code}`);

/** Two groups: fifty bits, which a stranger does not hit, and which leave ninety that no hash of a part gives away. */
const BEGINNING_CHARS = 'XXXXX-XXXXX'.length;

/** Names the owner whose code begins like this one. */
const hashBeginning = (needs: Pick<OwnerNeeds, 'secrets'>, code: string): Uint8Array =>
  needs.secrets.hash(`beginning of owner recovery ${code.slice(0, BEGINNING_CHARS)}`);

function newSession(needs: OwnerNeeds): { readonly token: string; readonly session: NewSession } {
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

/** Begins to ask for the word of an owner, who is signed in, for one purpose. */
export async function askForPasskey(
  { owners, passkeys, clock }: OwnerNeeds,
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
  needs: OwnerNeeds,
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
async function askForRegistration(
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
async function requireRegistration(
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

// The way back without a passkey. A printed code makes a new passkey, once, and begins a day in which the owner, in every session,
// can do little (`platform/http/identify.ts`), because the desk cannot know whether its owner or a thief typed the code. Any
// passkey of before can undo it on that day.

const NAME = 'Passkey of the recovery';

export interface RecoveryNeeds extends OwnerNeeds {
  /** Counts an attempt for its address, or for the owner whose code it begins like. @returns seconds to wait; 0: it may go on */
  readonly attempt: (userId: bigint | null) => Promise<number>;
  /** For the operator; owners see it with whatever they ask next. */
  readonly warn: (facts: Readonly<Record<string, unknown>>, message: string) => void;
}

/** One answer for a code that never was, was used, or ended with a newer one. */
const rejected = () => refusal('recovery_code_not_found', 'No recovery code like this one is in force.');

/** @throws Refusal recovery_code_invalid */
function parse(typed: string): string {
  const code = readRecoveryCode(typed);
  if (code !== null) return code;
  const detail = 'This is no recovery code: its characters do not fit together.';
  throw refusal('recovery_code_invalid', detail, { path: 'code' });
}

const purposeOf = (codeHash: Uint8Array) => `recover ${Buffer.from(codeHash).toString('hex')}` as const;
const undoingBy = ({ userId }: Owner) => `undo recovery by ${userId}` as const;

/** @throws Refusal rate_limited */
async function count(needs: RecoveryNeeds, userId: bigint | null): Promise<void> {
  const retryAfterS = await needs.attempt(userId);
  if (retryAfterS === 0) return;
  throw refusal('rate_limited', `Too many recovery codes were tried: wait ${retryAfterS} s.`, {
    retryAfterS,
  });
}

/**
 * The right code draws on its owner's bound like the wrong ones that begin alike, or that bound would stop no guess. A code that
 * begins like none is a guess at nothing: it takes nothing from any owner.
 * @throws Refusal recovery_code_invalid, rate_limited, recovery_code_not_found
 */
export async function beginRecovery(needs: RecoveryNeeds, typed: string): Promise<PasskeyOptions> {
  const code = parse(typed);
  await count(needs, null);
  const codeHash = hashRecoveryCode(needs, code);
  const userId = await needs.owners.ownerOfAttempt({ code: codeHash, beginning: hashBeginning(needs, code) });
  if (userId !== null) await count(needs, userId);
  const account = await needs.owners.accountOfCode(codeHash);
  if (account === null) throw rejected();
  return askForRegistration(needs, account, purposeOf(codeHash));
}

/** @throws Refusal recovery_code_invalid, passkey_challenge_expired, passkey_rejected, recovery_code_not_found */
export async function finishRecovery(
  needs: RecoveryNeeds,
  { code: typed, response }: PasskeyRegistration & { readonly code: string },
): Promise<SignedIn> {
  const codeHash = hashRecoveryCode(needs, parse(typed));
  const { passkey } = await requireRegistration(needs, response, purposeOf(codeHash));
  const { token, session } = newSession(needs);
  const endsAt = session.at + PASSKEY_LIMITS.recoveryMs;
  const owner = await needs.owners.recover(codeHash, { passkey, name: NAME, endsAt }, session);
  if (owner === null) throw rejected();
  if (owner === 'known')
    throw refusal('passkey_rejected', 'This passkey is registered already: sign in with it.');
  tellOfRecovery(needs, owner, endsAt);
  return { owner, token };
}

/**
 * Tells of a recovery. Sessions of the owner read it with every answer, and their streams end so that open pages read it at once
 * (`OwnerStore.sessionsAgents`). Notifications of owners, where there are channels, are sent from here.
 */
function tellOfRecovery({ warn }: RecoveryNeeds, { userId }: Owner, endsAt: number): void {
  const until = new Date(endsAt).toISOString();
  warn({ userId: String(userId), until }, 'an owner’s recovery code was used');
}

export const beginUndoing = (needs: OwnerNeeds, owner: Owner): Promise<PasskeyOptions> =>
  askForPasskey(needs, undoingBy(owner));

/** @throws Refusal passkey_challenge_expired, passkey_rejected, recovery_not_found */
export async function undo(needs: OwnerNeeds, owner: Owner, { response }: PasskeySignIn): Promise<void> {
  const credentialId = await requirePasskey(needs, owner, response, undoingBy(owner));
  const outcome = await needs.owners.undoRecovery(owner.userId, credentialId, needs.clock.now());
  if (outcome === 'none')
    throw refusal('recovery_not_found', 'No recovery of this account can be undone now.');
  if (outcome === 'not_of_before')
    throw refusal('passkey_rejected', 'This passkey was made by the recovery: use one of before.');
}

// An owner's own passkeys and recovery code: seen and named with the session; added, removed and made with the word of a passkey
// for this purpose alone, so a stolen session does none of it.

const DEFAULT_NAME = 'Passkey';

const addingBy = ({ userId }: Owner) => `add passkey by ${userId}` as const;
const newBy = ({ userId }: Owner) => `new passkey by ${userId}` as const;
const removing = (passkeyId: string, { userId }: Owner) =>
  `remove passkey ${passkeyId} by ${userId}` as const;
const codeBy = ({ userId }: Owner) => `recovery code by ${userId}` as const;

const notFound = () => refusal('passkey_not_found', 'None of your passkeys has this id.');

/** @throws Refusal invalid_request when blank */
function nameOf(name: string | undefined, otherwise: string): string {
  const trimmed = name?.trim() ?? otherwise;
  if (trimmed === '') throw refusal('invalid_request', 'name must not be blank.', { path: 'name' });
  return trimmed;
}

/** @throws Refusal during_recovery_not_allowed when a recovery was found under the owner's lock */
function requireOpen<T extends string>(outcome: T | Recovery): asserts outcome is T {
  if (typeof outcome === 'object') throw notDuringRecovery(outcome);
}

/** @param sessions hashes of the tokens that came with the request */
export async function listPasskeys(
  needs: OwnerNeeds,
  { userId }: Owner,
  sessions: readonly Uint8Array[],
): Promise<OwnerPasskeys> {
  const [passkeys, madeAt] = await Promise.all([
    needs.owners.passkeysOf(userId, sessions, needs.clock.now()),
    needs.owners.recoveryCodeMadeAt(userId),
  ]);
  return {
    passkeys: passkeys.map(({ credentialId, createdAt, lastUsedAt, ...passkey }) => ({
      ...passkey,
      createdAt: new Date(createdAt).toISOString(),
      lastUsedAt: new Date(lastUsedAt).toISOString(),
    })),
    recoveryCodeMadeAt: madeAt === null ? null : new Date(madeAt).toISOString(),
  };
}

export const beginAdding = (needs: OwnerNeeds, owner: Owner): Promise<PasskeyOptions> =>
  askForPasskey(needs, addingBy(owner));

/** @throws Refusal passkey_challenge_expired, passkey_rejected */
export async function continueAdding(
  needs: OwnerNeeds,
  owner: Owner,
  { response }: PasskeySignIn,
): Promise<PasskeyOptions> {
  await requirePasskey(needs, owner, response, addingBy(owner));
  const account = await needs.owners.passkeyAccount(owner.userId);
  if (account === null) throw notFound();
  return askForRegistration(needs, account, newBy(owner));
}

/** @throws Refusal passkey_challenge_expired, passkey_rejected, passkey_limit_reached, during_recovery_not_allowed */
export async function finishAdding(
  needs: OwnerNeeds,
  owner: Owner,
  { response, name }: PasskeyRegistration & { readonly name?: string },
): Promise<void> {
  const named = nameOf(name, DEFAULT_NAME);
  const { passkey } = await requireRegistration(needs, response, newBy(owner));
  const added = { userId: owner.userId, passkey, name: named, at: needs.clock.now() };
  const outcome = await needs.owners.addPasskey(added, PASSKEY_LIMITS.perOwner);
  requireOpen(outcome);
  if (outcome === 'known') throw refusal('passkey_rejected', 'This passkey is registered already.');
  if (outcome === 'full') {
    const most = PASSKEY_LIMITS.perOwner;
    throw refusal('passkey_limit_reached', `You have ${most} passkeys, which is the most.`);
  }
}

/** @throws Refusal passkey_not_found */
export async function rename(
  needs: OwnerNeeds,
  { userId }: Owner,
  passkeyId: string,
  name: string,
): Promise<void> {
  if (!(await needs.owners.renamePasskey(userId, passkeyId, nameOf(name, DEFAULT_NAME)))) throw notFound();
}

export const beginRemoving = (needs: OwnerNeeds, owner: Owner, passkeyId: string): Promise<PasskeyOptions> =>
  askForPasskey(needs, removing(passkeyId, owner));

/** @throws Refusal passkey_challenge_expired, passkey_rejected, passkey_not_found, another_passkey_required, during_recovery_not_allowed */
export async function remove(
  needs: OwnerNeeds,
  owner: Owner,
  passkeyId: string,
  { response }: PasskeySignIn,
): Promise<void> {
  await requirePasskey(needs, owner, response, removing(passkeyId, owner));
  const outcome = await needs.owners.removePasskey(owner.userId, passkeyId, needs.clock.now());
  requireOpen(outcome);
  if (outcome === 'unknown') throw notFound();
  if (outcome === 'last')
    throw refusal('another_passkey_required', 'This is your only passkey, so it stays.');
}

export const beginRecoveryCode = (needs: OwnerNeeds, owner: Owner): Promise<PasskeyOptions> =>
  askForPasskey(needs, codeBy(owner));

/** @throws Refusal passkey_challenge_expired, passkey_rejected, during_recovery_not_allowed */
export async function newRecoveryCode(
  needs: OwnerNeeds,
  owner: Owner,
  { response }: PasskeySignIn,
): Promise<NewRecoveryCode> {
  await requirePasskey(needs, owner, response, codeBy(owner));
  const recoveryCode = makeRecoveryCode(Buffer.from(needs.secrets.newToken(), 'base64url'));
  const at = needs.clock.now();
  const hashes = {
    code: hashRecoveryCode(needs, recoveryCode),
    beginning: hashBeginning(needs, recoveryCode),
  };
  requireOpen(await needs.owners.keepRecoveryCode(owner.userId, hashes, at));
  return { recoveryCode, madeAt: new Date(at).toISOString() };
}

export const ownerJobs = ({ clock, owners }: Pick<OwnerNeeds, 'clock' | 'owners'>): readonly Job[] => [
  { name: 'sweep sessions', everyMs: 3_600_000, run: () => owners.sweep(clock.now()) },
];
