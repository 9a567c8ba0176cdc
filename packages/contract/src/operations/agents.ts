/** Agents: registered, claimed, with their keys and their settings, which also have the address of risk settings. */
import { type Static, Type } from 'typebox';
import { CountedId, EpochMs, Iso, LIMITS, lines, Nullable, nameText, words } from '../fields.ts';
import { operation } from '../operation.ts';
import { CAP_SETTINGS, CAPS_LOCKED, CAPS_SHOWN, EXIT_RULE } from '../safeguards.ts';

export const RegisterRequest = Type.Object({
  name: nameText(LIMITS.agentNameChars),
  description: Type.Optional(lines(LIMITS.agentDescriptionChars)),
});

export const RegisterResponse = Type.Object({
  agentId: Type.String(),
  agentName: Type.String(),
  apiKeyCode: Type.String({ description: 'the bearer key; shown here and never again' }),
  claimCode: Type.String({ examples: ['7K2QD-M9XTR'] }),
  claimUrl: Type.String(),
  simulationBalance: Type.Number({
    description: 'paper collateral that the first registered wallet is credited',
  }),
});

/** Interface 2.2. */
export const AgentRecord = Type.Object({
  id: Type.String(),
  userId: Type.String(),
  keyName: Type.String(),
  apiKeyCode: Type.String({ description: 'masked: the first 7 and the last 4 of 64 characters' }),
  claimCode: Nullable(Type.String()),
  status: Type.Integer({ description: '1 active, 2 revoked' }),
  createType: Type.Integer({ description: '1 made by the user, 2 made by the system at registration' }),
  createdAt: EpochMs,
  lastCalledAt: EpochMs,
  agentName: Type.String(),
  agentCode: Type.String(),
  agentDescription: Type.String(),
  onlineStatus: Type.Integer({ description: '1 called within 5 minutes, 2 within 24 hours, 3 offline' }),
  walletAddress: Nullable(Type.String()),
  solAddress: Nullable(Type.String()),
});

const percent = Type.Optional(Type.Union([Type.Number({ minimum: 1, maximum: 100 }), Type.Null()]));

/** A partial update. */
export const SettingsUpdate = Type.Object({
  ...CAP_SETTINGS,
  tradingPaused: Type.Optional(Type.Boolean()),
  autoRedeemEnabled: Type.Optional(Type.Boolean()),
  tradeLimitEnabled: Type.Optional(Type.Boolean()),
  riskControlEnabled: Type.Optional(Type.Boolean()),
  takeProfitPercent: percent,
  stopLossPercent: percent,
});

/** Ceilings that the agent's key cannot raise; a safeguard that is not locked is not named. */
export const LockedByOwner = Type.Object(
  {
    ...CAPS_LOCKED,
    tradeLimitEnabled: Type.Optional(Type.Boolean({ description: 'true: the caps cannot be switched off' })),
  },
  { description: "what the agent's owner has locked, and at what" },
);

export const Settings = Type.Object({
  ...CAPS_SHOWN,
  tradingPaused: Type.Boolean(),
  autoRedeemEnabled: Type.Boolean(),
  tradeLimitEnabled: Type.Boolean({ description: 'false lifts the caps, never the pause' }),
  riskControlEnabled: Type.Boolean(),
  takeProfitPercent: Nullable(Type.Number()),
  stopLossPercent: Nullable(Type.Number()),
  pausedByOwner: Type.Boolean({ description: 'true: only the owner can resume trading' }),
  ...EXIT_RULE,
  lockedByOwner: LockedByOwner,
  updatedAt: Iso,
});

/** Who arms a suspended exit again: the agent itself while it has no owner, else its owner. */
export const RESUMABLE_BY = ['agent', 'owner'] as const;

export const SuspendedExits = Type.Optional(
  Type.Object(
    {
      count: Type.Integer(),
      resumableBy: words(
        RESUMABLE_BY,
        'agent: each by POST /markets/exits/{exitId}/resume; owner: each by its owner, on the console',
      ),
      message: Type.String({ description: 'how they are resumed, in a sentence' }),
    },
    { description: 'guarded exits that are suspended now, and protect nothing; missing: none' },
  ),
);

/** The settings after a change, and what a pause has left suspended. */
export const ChangedSettings = Type.Object({ ...Settings.properties, suspendedExits: SuspendedExits });

const TRADES_TODAY =
  'orders accepted for submission on this UTC day, on either venue. One that is canceled or expires keeps its place: replacing a quote counts as a further trade. One that the venue proves not to have taken is given back';

export const VenueInfo = Type.Object({
  name: Type.String(),
  kind: Type.String({ description: 'A or B' }),
  backend: Type.String({ description: '"paper": simulated money; "live": real money' }),
  status: Type.String({ description: 'ready, or what is wrong' }),
  notice: Type.Optional(
    Type.String({
      description: 'what to know although it stops nothing, such as a region that is not served',
    }),
  ),
});

export const Me = Type.Object({
  ...AgentRecord.properties,
  agentId: Type.String(),
  name: Type.String(),
  description: Type.String(),
  claimed: Type.Boolean(),
  venues: Type.Array(VenueInfo),
  simulationBalance: Type.Number({ description: 'paper collateral left, holds included' }),
  tradesToday: Type.Integer({ description: TRADES_TODAY }),
  maxTradesPerDay: Type.Integer(),
  tradesRemaining: Type.Integer(),
  quotaResetsAt: Iso,
  tradesCounted: Type.Object(
    {
      placed: Type.Integer({ description: 'accepted for submission today, on either venue' }),
      filled: Type.Integer({ description: 'of those, filled wholly or in part' }),
      open: Type.Integer({ description: 'of those, open or in doubt' }),
      canceled: Type.Integer({
        description: 'of those, canceled or expired without a fill: they count all the same',
      }),
      givenBack: Type.Integer({
        description: 'of those, proved never to have been taken by the venue: not counted',
      }),
    },
    { description: 'what tradesToday is made of: placed less givenBack' },
  ),
  openOrderCount: Type.Integer(),
  currentPositionCount: Type.Integer(),
  totalPnl: Type.Number(),
  winRate: Nullable(
    Type.Number({ description: 'share of closed positions that gained; null before the first' }),
  ),
  settings: Settings,
});

export const ApiKeyRecord = Type.Object({
  id: Type.String(),
  keyName: Type.String(),
  apiKeyCode: Type.String({ description: 'masked' }),
  status: Type.Integer({ description: '1 active, 2 revoked' }),
  createType: Type.Integer(),
  createdAt: EpochMs,
  lastCalledAt: Nullable({ ...EpochMs, description: 'epoch milliseconds as text; null: never used' }),
});

const ApiKeyId = Type.Object({ id: CountedId });

/** The answer's `apiKeyCode` is shown once: keep it. */
export const registerAgent = operation({
  id: 'registerAgent',
  method: 'POST',
  path: '/agents/register',
  summary: 'Register an agent and obtain its API key and claim code',
  tag: 'agents',
  permission: 'public',
  rateClass: 'register',
  idempotent: true,
  secretAnswer: true,
  body: RegisterRequest,
  status: 200,
  response: RegisterResponse,
  errors: [],
});

export const getClaim = operation({
  id: 'getClaim',
  method: 'GET',
  path: '/agents/claim/{claimCode}',
  summary: 'Look an agent up by its claim code; a browser gets a page',
  tag: 'agents',
  permission: 'public',
  rateClass: 'claim',
  params: Type.Object({ claimCode: Type.String() }),
  unknownFields: 'ignore',
  status: 200,
  response: AgentRecord,
  errors: ['claim_code_required', 'claim_code_not_found'],
});

export const getClaimByQuery = operation({
  id: 'getClaimByQuery',
  method: 'GET',
  path: '/agents/claim',
  summary: 'The same as GET /agents/claim/{claimCode}',
  tag: 'agents',
  permission: 'public',
  rateClass: 'claim',
  query: Type.Object({ claimCode: Type.Optional(Type.String()) }),
  unknownFields: 'ignore',
  status: 200,
  response: AgentRecord,
  errors: ['claim_code_required', 'claim_code_not_found'],
});

/** The answer's `apiKeyCode` is shown once: keep it. */
export const createApiKey = operation({
  id: 'createApiKey',
  method: 'POST',
  path: '/agents/create-api-key',
  summary: 'Create a further API key for this agent; at most 10 are active at a time',
  tag: 'agents',
  permission: 'agent',
  rateClass: 'read',
  idempotent: true,
  secretAnswer: true,
  body: Type.Object({ keyName: nameText(LIMITS.keyNameChars) }),
  status: 200,
  response: ApiKeyRecord,
  errors: ['api_key_limit_reached'],
});

export const listApiKeys = operation({
  id: 'listApiKeys',
  method: 'GET',
  path: '/agents/api-key/list',
  summary: 'List the keys of this agent, masked',
  tag: 'agents',
  permission: 'agent',
  rateClass: 'read',
  status: 200,
  response: Type.Array(ApiKeyRecord),
  errors: [],
});

const revoke = {
  summary: 'Revoke a key of this agent; it is refused from the next request on',
  tag: 'agents',
  permission: 'agent',
  rateClass: 'exit',
  idempotent: true,
  params: ApiKeyId,
  query: Type.Object({ force: Type.Optional(Type.Boolean({ default: false })) }),
  status: 200,
  response: ApiKeyRecord,
  errors: ['api_key_not_found', 'last_active_key'],
} as const;

/** @param query.force also the last active key, which locks the agent out */
export const revokeApiKey = operation({
  id: 'revokeApiKey',
  method: 'DELETE',
  path: '/agents/api-key/{id}',
  ...revoke,
});
export const revokeApiKeyByPost = operation({
  id: 'revokeApiKeyByPost',
  method: 'POST',
  path: '/agents/api-key/{id}/revoke',
  ...revoke,
});

export const getMe = operation({
  id: 'getMe',
  method: 'GET',
  path: '/agents/me',
  summary: 'The calling agent: status, balance, quota used today',
  tag: 'agents',
  permission: 'agent',
  rateClass: 'read',
  status: 200,
  response: Me,
  errors: [],
});

export const getSettings = operation({
  id: 'getSettings',
  method: 'GET',
  path: '/agents/settings',
  summary: 'Read the safeguards',
  tag: 'agents',
  permission: 'agent',
  rateClass: 'read',
  status: 200,
  response: Settings,
  errors: [],
});

/** A partial update: only the named fields change. */
export const updateSettings = operation({
  id: 'updateSettings',
  method: 'POST',
  path: '/agents/settings',
  summary: 'Change the safeguards; only the named fields change',
  tag: 'agents',
  permission: 'agent',
  rateClass: 'exit',
  idempotent: true,
  body: SettingsUpdate,
  unknownFields: 'refuse',
  status: 200,
  response: ChangedSettings,
  errors: ['locked_by_owner'],
});

export const getHealth = operation({
  id: 'getHealth',
  method: 'GET',
  path: '/agents/health',
  summary: 'Is the service running? Asks neither database nor venue',
  tag: 'agents',
  permission: 'public',
  rateClass: 'none',
  status: 200,
  response: Type.Object({ status: Type.Literal('ok'), timestamp: Iso }),
  errors: [],
});

export type RegisterRequest = Static<typeof RegisterRequest>;
export type RegisterResponse = Static<typeof RegisterResponse>;
export type AgentRecord = Static<typeof AgentRecord>;
export type SettingsUpdate = Static<typeof SettingsUpdate>;
export type Settings = Static<typeof Settings>;
export type ChangedSettings = Static<typeof ChangedSettings>;
export type VenueInfo = Static<typeof VenueInfo>;
export type Me = Static<typeof Me>;
export type ApiKeyRecord = Static<typeof ApiKeyRecord>;

// The same settings, at the address of risk settings.

const ofSettings = { tag: 'agents', permission: 'agent', status: 200, response: Settings } as const;

/** The same record as `getSettings`. */
export const getRiskSettings = operation({
  id: 'getRiskSettings',
  method: 'GET',
  path: '/markets/risk-settings',
  summary: 'The same record as GET /agents/settings',
  rateClass: 'read',
  errors: [],
  ...ofSettings,
});

export const updateRiskSettings = operation({
  id: 'updateRiskSettings',
  method: 'POST',
  path: '/markets/risk-settings',
  summary: 'The same as POST /agents/settings: only the named fields change',
  rateClass: 'exit',
  idempotent: true,
  body: SettingsUpdate,
  unknownFields: 'refuse',
  errors: ['locked_by_owner'],
  ...ofSettings,
  response: ChangedSettings,
});

export const SettingsReset = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  ...ChangedSettings.properties,
});

/** Back to the defaults, which lifts the agent's own pause. */
export const resetRiskSettings = operation({
  id: 'resetRiskSettings',
  method: 'DELETE',
  path: '/markets/risk-settings',
  summary: 'Every safeguard back to its default, which lifts a pause of the agent itself',
  description: "What the owner has locked stays at the owner's ceiling where that is lower than the default.",
  rateClass: 'exit',
  idempotent: true,
  errors: ['locked_by_owner'],
  ...ofSettings,
  response: SettingsReset,
});

export type SettingsReset = Static<typeof SettingsReset>;
