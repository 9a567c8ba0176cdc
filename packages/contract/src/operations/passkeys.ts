/** An owner's passkeys and recovery code. What adds, removes or makes one needs the word of a passkey, not only the session. */
import { type Static, Type } from 'typebox';
import { CountedId, Iso, Nullable, nameText } from '../fields.ts';
import { operation } from '../operation.ts';
import { OwnerSession, PasskeyOptions, PasskeyRegistration, PasskeySignIn } from './owners.ts';

export const PASSKEY_LIMITS = {
  nameChars: 60,
  perOwner: 20,
  /** How long a recovery can be undone, and nothing but what protects can be done. */
  recoveryMs: 24 * 3_600_000,
} as const;

const DAY = `For ${PASSKEY_LIMITS.recoveryMs / 3_600_000} hours the owner can then read, pause, cancel and decline, in every session, and nothing else; any passkey of before can undo it in that time.`;
const NEW_CODE_CHARS = 35;
const TYPED_CODE_CHARS = 100;

export const OwnerPasskey = Type.Object({
  passkeyId: Type.String(),
  name: Type.String(),
  createdAt: Iso,
  lastUsedAt: Iso,
  isOfThisSession: Type.Boolean({
    description: 'it opened the session that asks; removing it ends the session',
  }),
  isOfRecovery: Type.Boolean({ description: 'it was made by the recovery whose day is not over' }),
});

export const OwnerPasskeys = Type.Object({
  passkeys: Type.Array(OwnerPasskey, { description: 'oldest first' }),
  recoveryCodeMadeAt: Nullable(
    Type.String({ format: 'date-time', description: 'null: no recovery code is in force' }),
  ),
});

export const NewRecoveryCode = Type.Object({
  recoveryCode: Type.String({
    maxLength: NEW_CODE_CHARS,
    description: '140 bits, and two characters of check',
  }),
  madeAt: Iso,
});

const shared = { tag: 'owners', permission: 'owner', status: 200 } as const;
const change = { ...shared, method: 'POST', sameOrigin: true, rateClass: 'exit' } as const;
const word = { ...change, response: PasskeyOptions } as const;
const WORD_DENIALS = ['passkey_challenge_expired', 'passkey_rejected'] as const;

const PasskeyParams = Type.Object({ passkeyId: CountedId });
const passkeyName = nameText(PASSKEY_LIMITS.nameChars);

export const listOwnerPasskeys = operation({
  ...shared,
  id: 'listOwnerPasskeys',
  method: 'GET',
  path: '/owner/passkeys',
  summary: 'The passkeys of the signed-in owner, and whether a recovery code is in force',
  rateClass: 'read',
  response: OwnerPasskeys,
  errors: [],
});

export const addPasskeyOptions = operation({
  ...word,
  id: 'addPasskeyOptions',
  path: '/owner/passkeys/passkey-options',
  summary: 'Begin to add a passkey: what the browser needs for the word of a present one',
  errors: [],
});

export const addPasskeyRegistrationOptions = operation({
  ...word,
  id: 'addPasskeyRegistrationOptions',
  path: '/owner/passkeys/register-options',
  summary: 'Go on with the word of a present passkey: what the browser needs to make the new one',
  body: PasskeySignIn,
  unknownFields: 'ignore',
  errors: WORD_DENIALS,
});

export const addPasskey = operation({
  ...change,
  id: 'addPasskey',
  path: '/owner/passkeys/register',
  summary: 'Add the new passkey',
  // The browser's record is sent unchanged.
  body: Type.Object({ name: Type.Optional(passkeyName), ...PasskeyRegistration.properties }),
  unknownFields: 'ignore',
  response: OwnerPasskeys,
  errors: [...WORD_DENIALS, 'passkey_limit_reached'],
});

export const renamePasskey = operation({
  ...change,
  id: 'renamePasskey',
  path: '/owner/passkeys/{passkeyId}/name',
  summary: 'Give a passkey another name',
  repeatable: true,
  params: PasskeyParams,
  body: Type.Object({ name: passkeyName }),
  unknownFields: 'refuse',
  response: OwnerPasskeys,
  errors: ['passkey_not_found'],
});

export const removePasskeyOptions = operation({
  ...word,
  id: 'removePasskeyOptions',
  path: '/owner/passkeys/{passkeyId}/remove/passkey-options',
  summary:
    'Begin to remove a passkey: what the browser needs for the word of any passkey, for this removal alone',
  params: PasskeyParams,
  errors: [],
});

export const removePasskey = operation({
  ...change,
  id: 'removePasskey',
  path: '/owner/passkeys/{passkeyId}/remove',
  summary: 'Remove a passkey, never the last; its sessions end',
  params: PasskeyParams,
  body: PasskeySignIn,
  unknownFields: 'ignore',
  response: OwnerPasskeys,
  errors: [...WORD_DENIALS, 'passkey_not_found', 'another_passkey_required'],
});

export const recoveryCodeOptions = operation({
  ...word,
  id: 'recoveryCodeOptions',
  path: '/owner/recovery-code/passkey-options',
  summary: 'Begin to make a recovery code: what the browser needs for the word of a passkey',
  errors: [],
});

export const newRecoveryCode = operation({
  ...change,
  id: 'newRecoveryCode',
  path: '/owner/recovery-code',
  summary: 'Make a recovery code; it is shown this once, and the one of before ends',
  description: `To be printed. It is used once, on the sign-in page, to make a new passkey. ${DAY}`,
  body: PasskeySignIn,
  unknownFields: 'ignore',
  response: NewRecoveryCode,
  errors: WORD_DENIALS,
});

const code = {
  code: Type.String({
    minLength: 1,
    maxLength: TYPED_CODE_CHARS,
    description: 'with or without hyphens and spaces, in small or capital letters',
  }),
};
const stranger = {
  tag: 'owners',
  permission: 'public',
  method: 'POST',
  sameOrigin: true,
  rateClass: 'claim',
  unknownFields: 'ignore',
  status: 200,
} as const;

export const recoveryOptions = operation({
  ...stranger,
  id: 'recoveryOptions',
  path: '/owner/recovery/register-options',
  summary: 'Begin a recovery with a printed code: what the browser needs to make a new passkey',
  description:
    'The code stays unused. A misspelt one is named as such and counts as no attempt; attempts are limited by address, and by owner where the first two groups are those of a code in force.',
  body: Type.Object(code),
  response: PasskeyOptions,
  errors: ['recovery_code_invalid', 'recovery_code_not_found'],
});

export const recoverOwner = operation({
  ...stranger,
  id: 'recoverOwner',
  path: '/owner/recovery',
  summary: 'Use the recovery code: the new passkey is added and signs in; the answer sets the session cookie',
  description: DAY,
  body: Type.Object({ ...code, ...PasskeyRegistration.properties }),
  response: OwnerSession,
  errors: ['recovery_code_invalid', 'recovery_code_not_found', ...WORD_DENIALS],
});

export const undoRecoveryOptions = operation({
  ...word,
  id: 'undoRecoveryOptions',
  path: '/owner/recovery/undo/passkey-options',
  summary: 'Begin to undo a recovery: what the browser needs for the word of a passkey of before',
  duringRecovery: true,
  errors: [],
});

export const undoRecovery = operation({
  ...change,
  id: 'undoRecovery',
  path: '/owner/recovery/undo',
  summary: 'Undo a recovery on its day: the passkey that it made and its sessions end, and so does the day',
  description: 'The code stays used. The passkey that the recovery made cannot undo it.',
  duringRecovery: true,
  body: PasskeySignIn,
  unknownFields: 'ignore',
  response: OwnerPasskeys,
  errors: [...WORD_DENIALS, 'recovery_not_found'],
});

export type NewRecoveryCode = Static<typeof NewRecoveryCode>;
export type OwnerPasskey = Static<typeof OwnerPasskey>;
export type OwnerPasskeys = Static<typeof OwnerPasskeys>;
