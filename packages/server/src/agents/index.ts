/** Agents: registration, API keys, settings. */
export {
  type AgentNeeds,
  agentByClaimCode,
  agentJobs,
  agentRecord,
  DAY_MS,
  keyRecord,
  lookUpClaim,
  onlineStatus,
  revokeApiKey,
  STATUS_WORDS,
  touchAgents,
} from './agents.ts';
export { bindAgents } from './routes.ts';
export {
  lockedByOwner,
  parseSettings,
  readSettings,
  resetSettings,
  settingsRecord,
  suspendedExits,
  updateSettings,
} from './settings.ts';
export {
  type Limits,
  ownersPause,
  type SettingsChange,
  type SettingsColumns,
  type SettingsRow,
  settingsColumns,
  settingsRow,
} from './settings-columns.ts';
export {
  type AgentRow,
  type AgentStore,
  createAgentStore,
  type LimitsRow,
  limitColumns,
  limitFacts,
  limitsOf,
} from './store.ts';
