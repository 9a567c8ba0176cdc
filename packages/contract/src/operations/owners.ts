/**
 * Owners: the people answerable for agents. They sign in with a passkey on the service's own pages, and what they send
 * is accepted from these pages only.
 */
import { type Static, Type } from 'typebox';
import {
  CountedId,
  formed,
  Iso,
  Nullable,
  nameText,
  OwnedAgent,
  text,
  WalletOfEitherVenue,
} from '../fields.ts';
import { operation } from '../operation.ts';
import { CAPS_LOCKABLE, EXIT_RULE, lockable } from '../safeguards.ts';
import { ApiKeyRecord, LockedByOwner, Settings, SuspendedExits } from './agents.ts';

const OWNER_NAME_CHARS = 100;
/** Enough without attestation: certificate chains are long, and the service requests none. */
const PASSKEY_FIELD_CHARS = 16_384;
const CREDENTIAL_ID_CHARS = 1400;

const Base64Url = (maxLength: number) => formed('^[A-Za-z0-9_-]+={0,2}$', 'base64url', { maxLength });

const passkeyAnswer = <T extends Parameters<typeof Type.Object>[0]>(response: T) =>
  Type.Object({
    response: Type.Object({
      id: Base64Url(CREDENTIAL_ID_CHARS),
      rawId: Base64Url(CREDENTIAL_ID_CHARS),
      type: Type.Literal('public-key'),
      response: Type.Object(response),
    }),
  });

/** The JSON of the browser's `navigator.credentials.create`. */
export const PasskeyRegistration = passkeyAnswer({
  clientDataJSON: Base64Url(PASSKEY_FIELD_CHARS),
  attestationObject: Base64Url(PASSKEY_FIELD_CHARS),
  transports: Type.Optional(Type.Array(text(32), { maxItems: 10 })),
});

/** The JSON of the browser's `navigator.credentials.get`. */
export const PasskeySignIn = passkeyAnswer({
  clientDataJSON: Base64Url(PASSKEY_FIELD_CHARS),
  authenticatorData: Base64Url(PASSKEY_FIELD_CHARS),
  signature: Base64Url(PASSKEY_FIELD_CHARS),
  userHandle: Type.Optional(Nullable(Base64Url(CREDENTIAL_ID_CHARS))),
});

/** Passed to the browser unchanged; its challenge is valid for one answer within five minutes. */
export const PasskeyOptions = Type.Object({ challenge: Type.String() }, { additionalProperties: true });

export const OwnerSession = Type.Object({
  signedIn: Type.Boolean(),
  userId: Nullable(Type.String()),
  name: Nullable(Type.String()),
  canRecover: Type.Boolean({ description: 'a second passkey or a recovery code exists' }),
  recovery: Nullable(
    Type.Object(
      { beganAt: Iso, endsAt: Iso },
      {
        description:
          'a recovery code was used, and its day is not over: the owner can read, pause, cancel and decline, and undo it with a passkey of before',
      },
    ),
  ),
});

export const OwnerAgent = Type.Object({
  agentId: Type.String(),
  name: Type.String(),
  description: Type.String(),
  onlineStatus: Type.Integer({ description: '1 called within 5 minutes, 2 within 24 hours, 3 offline' }),
  walletAddress: Nullable(Type.String()),
  claimedAt: Nullable(Iso),
  tradesToday: Type.Integer(),
  tradeAmountToday: Type.Number({ description: 'collateral reserved or spent on this UTC day' }),
  settings: Settings,
  suspendedExits: SuspendedExits,
});

/** Only the named safeguards change. "None" cannot be locked. */
export const OwnerSafeguards = Type.Object({
  ...CAPS_LOCKABLE,
  tradeLimitEnabled: Type.Optional(
    lockable(Type.Boolean({ description: 'false lifts the caps, never the pause' })),
  ),
});

/** The service's own pages send the browser's record unchanged. */
const page = { tag: 'owners', status: 200, sameOrigin: true, unknownFields: 'ignore' } as const;

export const getOwnerSession = operation({
  ...page,
  id: 'getOwnerSession',
  method: 'GET',
  path: '/owner/session',
  summary: 'Who is signed in on this browser',
  sameOrigin: false,
  permission: 'public',
  rateClass: 'read',
  response: OwnerSession,
  errors: [],
});

export const passkeyRegistrationOptions = operation({
  ...page,
  id: 'passkeyRegistrationOptions',
  method: 'POST',
  path: '/owner/passkey/register-options',
  summary: 'Begin a new owner account: what the browser needs to make its passkey',
  permission: 'public',
  rateClass: 'claim',
  body: Type.Object({ name: nameText(OWNER_NAME_CHARS) }),
  response: PasskeyOptions,
  errors: [],
});

export const registerPasskey = operation({
  ...page,
  id: 'registerPasskey',
  method: 'POST',
  path: '/owner/passkey/register',
  summary: 'Finish a new owner account; the answer sets the session cookie',
  permission: 'public',
  rateClass: 'claim',
  body: PasskeyRegistration,
  response: OwnerSession,
  errors: ['passkey_challenge_expired', 'passkey_rejected'],
});

export const passkeySignInOptions = operation({
  ...page,
  id: 'passkeySignInOptions',
  method: 'POST',
  path: '/owner/passkey/sign-in-options',
  summary: 'Begin a sign-in with a passkey',
  permission: 'public',
  rateClass: 'claim',
  response: PasskeyOptions,
  errors: [],
});

export const signInWithPasskey = operation({
  ...page,
  id: 'signInWithPasskey',
  method: 'POST',
  path: '/owner/passkey/sign-in',
  summary: 'Finish a sign-in; the answer sets the session cookie',
  permission: 'public',
  rateClass: 'claim',
  body: PasskeySignIn,
  response: OwnerSession,
  errors: ['passkey_challenge_expired', 'passkey_rejected'],
});

export const signOutOwner = operation({
  ...page,
  id: 'signOutOwner',
  method: 'POST',
  path: '/owner/sign-out',
  summary: 'End the session of this browser',
  permission: 'public',
  rateClass: 'read',
  response: OwnerSession,
  errors: [],
});

export const claimAgent = operation({
  ...page,
  id: 'claimAgent',
  method: 'POST',
  path: '/owner/claim',
  summary: 'Bind an agent to the signed-in owner by its claim code',
  description:
    "The agent's wallets, credentials and orders move to the owner. The agent reaches the wallets that it registered, linked or traded with; the owner's others only where the owner grants them. An agent is claimed once. `safeguards` are what the owner was shown: they hold from the claim on, after any change of the agent meanwhile; a lower limit of the agent stays. Where a venue is live, a claim without them locks every cap at its present limit.",
  idempotent: true,
  permission: 'owner',
  rateClass: 'claim',
  body: Type.Object({
    claimCode: text(40, { minLength: 1 }),
    safeguards: Type.Optional(OwnerSafeguards),
  }),
  response: OwnerAgent,
  errors: ['claim_code_required', 'claim_code_not_found', 'agent_already_claimed', 'service_unavailable'],
});

export const listOwnerAgents = operation({
  ...page,
  id: 'listOwnerAgents',
  method: 'GET',
  path: '/owner/agents',
  summary: "The signed-in owner's agents, with their safeguards",
  sameOrigin: false,
  permission: 'owner',
  rateClass: 'read',
  response: Type.Array(OwnerAgent),
  errors: [],
});

export const updateOwnerSafeguards = operation({
  ...page,
  id: 'updateOwnerSafeguards',
  method: 'POST',
  path: '/owner/agents/{agentId}/safeguards',
  summary: "Set and lock an agent's safeguards; they hold for its next trade",
  description:
    'A locked safeguard is a ceiling: the agent may go below it, never above. While a cap is locked, the caps cannot be switched off.',
  idempotent: true,
  permission: 'owner',
  rateClass: 'exit',
  params: OwnedAgent,
  body: OwnerSafeguards,
  unknownFields: 'refuse',
  response: OwnerAgent,
  errors: ['agent_not_found'],
});

export const pauseOwnerAgent = operation({
  ...page,
  id: 'pauseOwnerAgent',
  method: 'POST',
  path: '/owner/agents/{agentId}/pause',
  summary: "Pause an agent, or resume it; the agent's key cannot resume what its owner paused",
  description: 'Holds from the next trade on. Cancels and redeems always go through.',
  idempotent: true,
  permission: 'owner',
  rateClass: 'exit',
  params: OwnedAgent,
  duringRecovery: { when: 'paused' },
  body: Type.Object({ paused: Type.Boolean() }),
  response: OwnerAgent,
  errors: ['agent_not_found'],
});

const ExitRule = Type.Object(EXIT_RULE);

export const exitRulePasskeyOptions = operation({
  ...page,
  id: 'exitRulePasskeyOptions',
  method: 'POST',
  path: '/owner/agents/{agentId}/exit-rule/passkey-options',
  summary:
    'Begin to change how caps bind exits: what the browser needs for the passkey, for this change alone',
  permission: 'owner',
  rateClass: 'exit',
  params: OwnedAgent,
  body: ExitRule,
  unknownFields: 'refuse',
  response: PasskeyOptions,
  errors: ['agent_not_found'],
});

/** It lets more of what is held be sold: that needs the person, not only the browser's session. */
export const setExitRule = operation({
  ...page,
  id: 'setExitRule',
  method: 'POST',
  path: '/owner/agents/{agentId}/exit-rule',
  summary: 'Change how caps bind exits, with a passkey of the owner',
  description:
    'With capsBindExits false a SELL of what is held, less what open SELLs promise, passes maxTradeAmount and maxTradesPerDay, if its worst price is at most exitDistancePercent below the believed bid; without a believed bid it passes neither. Never approvalAbove, the pause, or the locks of a former owner of the wallet.',
  permission: 'owner',
  rateClass: 'exit',
  repeatable: true,
  params: OwnedAgent,
  // The browser's record is sent unchanged.
  body: Type.Object({ ...EXIT_RULE, ...PasskeySignIn.properties }),
  unknownFields: 'ignore',
  response: OwnerAgent,
  errors: ['agent_not_found', 'passkey_challenge_expired', 'passkey_rejected'],
});

const heartbeatFields = {
  on: Type.Boolean({
    description:
      'while the desk lives and the agents of the wallet are not silent, it sends the venue heartbeats for the key of the wallet',
  }),
  cancelsAfterS: Nullable(
    Type.Integer({
      description:
        'seconds after the last heartbeat within which the venue cancels every open order of the key, whoever placed it; null: the venue has no heartbeat (on paper nothing trades while the desk is down)',
    }),
  ),
};

export const WalletHeartbeat = Type.Object(heartbeatFields);
const HEARTBEAT_CHANGE = { walletAddress: WalletOfEitherVenue, on: Type.Boolean() };

export const OwnerWallet = Type.Object({
  walletAddress: Type.String(),
  venue: Type.String(),
  isOwn: Type.Boolean({ description: 'the agent registered, linked or traded with it' }),
  granted: Type.Boolean({ description: 'the owner lets the agent use it' }),
  heartbeat: Nullable(
    Type.Object(heartbeatFields, {
      description: "the venue's own heartbeat; null: the desk has no key of the wallet",
    }),
  ),
});

/** Wallets that an agent of the owner had and that other agents trade with. */
export const LeftWallet = Type.Object({
  walletAddress: Type.String({ description: 'the key: the EOA, or the Solana wallet' }),
  wallets: Type.Array(Type.String(), { description: 'wallets of that key that the agents had' }),
  leftAt: Iso,
  agents: Type.Array(
    Type.Object({
      agentId: Type.String(),
      name: Type.String(),
      paused: Type.Boolean({ description: 'the pause by the owner, which binds the wallet outside' }),
      lockedByOwner: LockedByOwner,
    }),
    { description: 'whose pause, locks and use of the day bind the wallet outside' },
  ),
});

export const LiftRequest = Type.Object({ walletAddress: WalletOfEitherVenue });
export const LiftResult = Type.Object({
  success: Type.Literal(true),
  walletAddress: Type.String(),
  agents: Type.Array(Type.String(), { description: 'agents whose locks bind it no more' }),
});

export const listOwnerAgentKeys = operation({
  ...page,
  id: 'listOwnerAgentKeys',
  method: 'GET',
  path: '/owner/agents/{agentId}/keys',
  summary: "An agent's API keys, masked",
  sameOrigin: false,
  permission: 'owner',
  rateClass: 'read',
  params: OwnedAgent,
  response: Type.Array(ApiKeyRecord),
  errors: ['agent_not_found'],
});

export const revokeOwnerAgentKey = operation({
  ...page,
  id: 'revokeOwnerAgentKey',
  method: 'POST',
  path: '/owner/agents/{agentId}/keys/{keyId}/revoke',
  summary: "Revoke one of an agent's API keys, the last one too; it holds from the next request on",
  idempotent: true,
  permission: 'owner',
  rateClass: 'exit',
  params: Type.Object({
    ...OwnedAgent.properties,
    keyId: CountedId,
  }),
  response: ApiKeyRecord,
  errors: ['agent_not_found', 'api_key_not_found'],
});

export const listOwnerAgentWallets = operation({
  ...page,
  id: 'listOwnerAgentWallets',
  method: 'GET',
  path: '/owner/agents/{agentId}/wallets',
  summary: "The owner's wallets, and which of them this agent reaches",
  sameOrigin: false,
  permission: 'owner',
  rateClass: 'read',
  params: OwnedAgent,
  response: Type.Array(OwnerWallet),
  errors: ['agent_not_found'],
});

export const grantOwnerAgentWallet = operation({
  ...page,
  id: 'grantOwnerAgentWallet',
  method: 'POST',
  path: '/owner/agents/{agentId}/wallets',
  summary: "Grant an agent one of the owner's wallets, or take the grant back",
  description:
    'A granted wallet can be read, traded with, unlinked and charged by the agent as its own ones. What an agent registered, linked or traded with stays within its reach.',
  idempotent: true,
  permission: 'owner',
  rateClass: 'exit',
  params: OwnedAgent,
  body: Type.Object(
    { walletAddress: WalletOfEitherVenue, granted: Type.Boolean() },
    { additionalProperties: false },
  ),
  response: Type.Array(OwnerWallet),
  errors: ['agent_not_found', 'wallet_not_found'],
});

export const walletHeartbeatPasskeyOptions = operation({
  ...page,
  id: 'walletHeartbeatPasskeyOptions',
  method: 'POST',
  path: '/owner/wallets/heartbeat/passkey-options',
  summary:
    "Begin to switch a venue's heartbeat on or off for a wallet: what the browser needs for the passkey, for this change alone",
  permission: 'owner',
  rateClass: 'exit',
  body: Type.Object(HEARTBEAT_CHANGE),
  unknownFields: 'refuse',
  response: PasskeyOptions,
  errors: ['wallet_not_found'],
});

/** It can cancel what others placed: that needs the person, not only the browser's session. */
export const setWalletHeartbeat = operation({
  ...page,
  id: 'setWalletHeartbeat',
  method: 'POST',
  path: '/owner/wallets/heartbeat',
  summary: "Switch a venue's heartbeat on or off for a wallet, with a passkey of the owner",
  description:
    "On: the desk sends the venue heartbeats for the wallet's key. When they end, because no replica of the desk lives or every agent of the wallet that has silenceSeconds is silent, the venue cancels every open order of that key, also those that were placed past the desk. It cannot be ended at the venue without that: switching it off lets the venue cancel once more.",
  permission: 'owner',
  rateClass: 'exit',
  repeatable: true,
  // The browser's record is sent unchanged.
  body: Type.Object({ ...HEARTBEAT_CHANGE, ...PasskeySignIn.properties }),
  unknownFields: 'ignore',
  response: Type.Object({ walletAddress: Type.String(), ...heartbeatFields }),
  errors: ['wallet_not_found', 'passkey_challenge_expired', 'passkey_rejected'],
});

export const listLeftWallets = operation({
  ...page,
  id: 'listLeftWallets',
  method: 'GET',
  path: '/owner/wallets/left',
  summary: 'Wallets that the signed-in owner’s agents had and others have now, still bound by their locks',
  sameOrigin: false,
  permission: 'owner',
  rateClass: 'read',
  response: Type.Array(LeftWallet),
  errors: [],
});

const LIFT =
  "Every wallet of the key is freed from the pause, the locked limits and the day's use of the agents that had it. They bind again once one of these agents has it again and loses it.";

export const liftOwnerWallet = operation({
  ...page,
  id: 'liftOwnerWallet',
  method: 'POST',
  path: '/owner/wallets/lift',
  summary: 'Free a wallet that left from the locks that went with it',
  description: LIFT,
  idempotent: true,
  permission: 'owner',
  rateClass: 'exit',
  body: LiftRequest,
  response: LiftResult,
  errors: ['wallet_not_found'],
});

export const liftOperatorWallet = operation({
  id: 'liftOperatorWallet',
  tag: 'operator',
  status: 200,
  method: 'POST',
  path: '/operator/wallets/lift',
  summary: 'Free a wallet from the locks that every former owner’s agents put on it',
  description: LIFT,
  idempotent: true,
  permission: 'operator',
  rateClass: 'read',
  body: LiftRequest,
  response: LiftResult,
  errors: ['wallet_not_found'],
});

export type WalletHeartbeat = Static<typeof WalletHeartbeat>;
export type OwnerWallet = Static<typeof OwnerWallet>;
export type LeftWallet = Static<typeof LeftWallet>;
export type LiftRequest = Static<typeof LiftRequest>;
export type LiftResult = Static<typeof LiftResult>;
export type PasskeyRegistration = Static<typeof PasskeyRegistration>;
export type PasskeySignIn = Static<typeof PasskeySignIn>;
export type OwnerSession = Static<typeof OwnerSession>;
export type OwnerAgent = Static<typeof OwnerAgent>;
export type OwnerSafeguards = Static<typeof OwnerSafeguards>;

// An owner's passkeys and recovery code. What adds, removes or makes one needs the word of a passkey, not only the session.

export const PASSKEY_LIMITS = {
  nameChars: 60,
  perOwner: 20,
  /** How long a recovery can be undone, and nothing but what protects can be done. */
  recoveryMs: 24 * 3_600_000,
} as const;

const RECOVERY_DAY = `For ${PASSKEY_LIMITS.recoveryMs / 3_600_000} hours the owner can then read, pause, cancel and decline, in every session, and nothing else; any passkey of before can undo it in that time.`;
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

const ofPasskeys = { tag: 'owners', permission: 'owner', status: 200 } as const;
const changesPasskeys = { ...ofPasskeys, method: 'POST', sameOrigin: true, rateClass: 'exit' } as const;
const asksWord = { ...changesPasskeys, response: PasskeyOptions } as const;
const WORD_DENIALS = ['passkey_challenge_expired', 'passkey_rejected'] as const;

const PasskeyParams = Type.Object({ passkeyId: CountedId });
const passkeyName = nameText(PASSKEY_LIMITS.nameChars);

export const listOwnerPasskeys = operation({
  ...ofPasskeys,
  id: 'listOwnerPasskeys',
  method: 'GET',
  path: '/owner/passkeys',
  summary: 'The passkeys of the signed-in owner, and whether a recovery code is in force',
  rateClass: 'read',
  response: OwnerPasskeys,
  errors: [],
});

export const addPasskeyOptions = operation({
  ...asksWord,
  id: 'addPasskeyOptions',
  path: '/owner/passkeys/passkey-options',
  summary: 'Begin to add a passkey: what the browser needs for the word of a present one',
  errors: [],
});

export const addPasskeyRegistrationOptions = operation({
  ...asksWord,
  id: 'addPasskeyRegistrationOptions',
  path: '/owner/passkeys/register-options',
  summary: 'Go on with the word of a present passkey: what the browser needs to make the new one',
  body: PasskeySignIn,
  unknownFields: 'ignore',
  errors: WORD_DENIALS,
});

export const addPasskey = operation({
  ...changesPasskeys,
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
  ...changesPasskeys,
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
  ...asksWord,
  id: 'removePasskeyOptions',
  path: '/owner/passkeys/{passkeyId}/remove/passkey-options',
  summary:
    'Begin to remove a passkey: what the browser needs for the word of any passkey, for this removal alone',
  params: PasskeyParams,
  errors: [],
});

export const removePasskey = operation({
  ...changesPasskeys,
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
  ...asksWord,
  id: 'recoveryCodeOptions',
  path: '/owner/recovery-code/passkey-options',
  summary: 'Begin to make a recovery code: what the browser needs for the word of a passkey',
  errors: [],
});

export const newRecoveryCode = operation({
  ...changesPasskeys,
  id: 'newRecoveryCode',
  path: '/owner/recovery-code',
  summary: 'Make a recovery code; it is shown this once, and the one of before ends',
  description: `To be printed. It is used once, on the sign-in page, to make a new passkey. ${RECOVERY_DAY}`,
  body: PasskeySignIn,
  unknownFields: 'ignore',
  response: NewRecoveryCode,
  errors: WORD_DENIALS,
});

const recoveryCode = {
  code: Type.String({
    minLength: 1,
    maxLength: TYPED_CODE_CHARS,
    description: 'with or without hyphens and spaces, in small or capital letters',
  }),
};
const ofStranger = {
  tag: 'owners',
  permission: 'public',
  method: 'POST',
  sameOrigin: true,
  rateClass: 'claim',
  unknownFields: 'ignore',
  status: 200,
} as const;

export const recoveryOptions = operation({
  ...ofStranger,
  id: 'recoveryOptions',
  path: '/owner/recovery/register-options',
  summary: 'Begin a recovery with a printed code: what the browser needs to make a new passkey',
  description:
    'The code stays unused. A misspelt one is named as such and counts as no attempt; attempts are limited by address, and by owner where the first two groups are those of a code in force.',
  body: Type.Object(recoveryCode),
  response: PasskeyOptions,
  errors: ['recovery_code_invalid', 'recovery_code_not_found'],
});

export const recoverOwner = operation({
  ...ofStranger,
  id: 'recoverOwner',
  path: '/owner/recovery',
  summary: 'Use the recovery code: the new passkey is added and signs in; the answer sets the session cookie',
  description: RECOVERY_DAY,
  body: Type.Object({ ...recoveryCode, ...PasskeyRegistration.properties }),
  response: OwnerSession,
  errors: ['recovery_code_invalid', 'recovery_code_not_found', ...WORD_DENIALS],
});

export const undoRecoveryOptions = operation({
  ...asksWord,
  id: 'undoRecoveryOptions',
  path: '/owner/recovery/undo/passkey-options',
  summary: 'Begin to undo a recovery: what the browser needs for the word of a passkey of before',
  duringRecovery: true,
  errors: [],
});

export const undoRecovery = operation({
  ...changesPasskeys,
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
