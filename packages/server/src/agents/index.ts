/** Agents: registration, API keys, settings. */
export {
  agentByClaimCode,
  agentRecord,
  DAY_MS,
  keyRecord,
  lookUpClaim,
  onlineStatus,
  revokeApiKey,
  STATUS_WORDS,
} from './agents.ts';
export { agentJobs, touchAgents } from './jobs.ts';
export { type LimitsRow, limitColumns, limitFacts, limitsOf } from './limits.ts';
export { bindAgents } from './routes.ts';
export {
  lockedByOwner,
  parseSettings,
  readSettings,
  resetSettings,
  type SettingsNeeds,
  settingsRecord,
  suspendedExits,
  updateSettings,
} from './settings.ts';
export {
  type Limits,
  type SettingsChange,
  type SettingsColumns,
  type SettingsRow,
  settingsColumns,
  settingsRow,
} from './settings-columns.ts';
export { type AgentRow, type AgentStore, createAgentStore } from './store.ts';
