/**
 * An owner's own passkeys and recovery code: seen and named with the session; added, removed and made with the word of a passkey
 * for this purpose alone, so a stolen session does none of it.
 */
import {
  makeRecoveryCode,
  type NewRecoveryCode,
  type OwnerPasskeys,
  PASSKEY_LIMITS,
  type PasskeyRegistration,
  type PasskeySignIn,
} from '@bellwether/contract';
import type { Owner, Recovery } from '../domain/records.ts';
import { notDuringRecovery } from '../platform/http/recovery-day.ts';
import { refusal } from '../platform/refusal.ts';
import {
  askForPasskey,
  askForRegistration,
  hashBeginning,
  hashRecoveryCode,
  type OwnerNeeds,
  requirePasskey,
  requireRegistration,
} from './owners.ts';
import type { PasskeyOptions } from './passkeys.ts';

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
