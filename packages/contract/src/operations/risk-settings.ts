import { type Static, Type } from 'typebox';
import { operation } from '../operation.ts';
import { ChangedSettings, Settings, SettingsUpdate } from './agents.ts';

const common = { tag: 'agents', permission: 'agent', status: 200, response: Settings } as const;

/** The same record as `getSettings`. */
export const getRiskSettings = operation({
  id: 'getRiskSettings',
  method: 'GET',
  path: '/markets/risk-settings',
  summary: 'The same record as GET /agents/settings',
  rateClass: 'read',
  errors: [],
  ...common,
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
  ...common,
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
  ...common,
  response: SettingsReset,
});

export type SettingsReset = Static<typeof SettingsReset>;
