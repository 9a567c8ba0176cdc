/**
 * The way back without a passkey. A printed code makes a new passkey, once, and begins a day in which the owner, in every session,
 * can do little (`platform/http/recovery-day.ts`), because the desk cannot know whether its owner or a thief typed the code. Any
 * passkey of before can undo it on that day.
 */
import {
  PASSKEY_LIMITS,
  type PasskeyRegistration,
  type PasskeySignIn,
  readRecoveryCode,
} from '@bellwether/contract';
import type { Owner } from '../domain/records.ts';
import { refusal } from '../platform/refusal.ts';
import {
  askForPasskey,
  askForRegistration,
  hashBeginning,
  hashRecoveryCode,
  newSession,
  type OwnerNeeds,
  requirePasskey,
  requireRegistration,
  type SignedIn,
} from './owners.ts';
import type { PasskeyOptions } from './passkeys.ts';

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
