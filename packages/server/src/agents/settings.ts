/** An agent's settings: read, changed by its key, and put back to their defaults. The caps are the contract's rows. */
import {
  CAP_NAMES,
  CAPS,
  type CapName,
  type ChangedSettings,
  type Settings,
  type SettingsReset,
  type SettingsUpdate,
} from '@bellwether/contract';
import { microToNumber, parseMicro } from '@bellwether/contract/decimals';
import type { Caller } from '../domain/records.ts';
import { DEFAULT_SAFEGUARDS, lockedDenials } from '../domain/safeguards.ts';
import { Refusal } from '../platform/refusal.ts';
import type { AgentNeeds } from './agents.ts';
import type { SettingsChange, SettingsRow } from './settings-columns.ts';

type Figure = number | bigint | null;

/** Counts and micro collateral as the wire writes both. */
const figure = (value: Figure): number | null => (typeof value === 'bigint' ? microToNumber(value) : value);

const capsOf = (caps: Readonly<Record<CapName, Figure>>) =>
  Object.fromEntries(CAP_NAMES.map((name) => [name, figure(caps[name])])) as Pick<Settings, CapName>;

/** The owner's ceilings as the record shows them: only what is locked. */
export function lockedByOwner({ locks }: Pick<SettingsRow, 'locks'>): Settings['lockedByOwner'] {
  const ceilings = Object.entries(capsOf(locks)).filter(([, ceiling]) => ceiling !== null);
  return { ...Object.fromEntries(ceilings), ...(locks.tradeLimitEnabled ? { tradeLimitEnabled: true } : {}) };
}

export function settingsRecord(row: SettingsRow): Settings {
  return {
    ...capsOf(row),
    tradingPaused: row.tradingPaused,
    autoRedeemEnabled: row.autoRedeemEnabled,
    tradeLimitEnabled: row.tradeLimitEnabled,
    riskControlEnabled: row.riskControlEnabled,
    takeProfitPercent: row.takeProfitPercent,
    stopLossPercent: row.stopLossPercent,
    pausedByOwner: row.ownerPaused,
    capsBindExits: row.capsBindExits,
    exitDistancePercent: row.exitDistancePercent,
    lockedByOwner: lockedByOwner(row),
    updatedAt: new Date(row.updatedAt).toISOString(),
  };
}

export const readSettings = async (needs: AgentNeeds, caller: Caller): Promise<Settings> =>
  settingsRecord(await needs.agents.settings(caller.agentId));

/** The figures of an update as the domain counts them; the schema has refused those that are finer. */
export function parseSettings(update: SettingsUpdate): Omit<SettingsChange, 'locks'> {
  const change: Record<string, unknown> = { ...update };
  for (const name of CAP_NAMES) {
    const value = update[name];
    if (CAPS[name].unit === 'collateral' && typeof value === 'number') change[name] = parseMicro(value);
  }
  return change;
}

/** What a pause has left suspended, and how it is resumed; no field where nothing is. */
export async function suspendedExits(
  { agents }: Pick<AgentNeeds, 'agents'>,
  agentId: string,
): Promise<Pick<ChangedSettings, 'suspendedExits'>> {
  const { count, claimed } = await agents.suspendedExits(agentId);
  if (count === 0) return {};
  const which = count === 1 ? '1 guarded exit is' : `${count} guarded exits are`;
  const how = claimed
    ? 'its owner resumes each of them, on the console'
    : 'resume each of them: GET /markets/exits?status=suspended, then POST /markets/exits/{exitId}/resume';
  const suspended = {
    count,
    resumableBy: claimed ? 'owner' : 'agent',
    message: `${which} suspended and protect${count === 1 ? 's' : ''} nothing, also once trading goes on: ${how}.`,
  };
  return { suspendedExits: suspended };
}

/** @throws Refusal locked_by_owner */
async function change(
  needs: AgentNeeds,
  caller: Caller,
  asked: Omit<SettingsChange, 'locks'>,
): Promise<ChangedSettings> {
  const decide = (current: SettingsRow): SettingsChange => {
    const [first, ...rest] = lockedDenials(current, current.locks, asked);
    if (first !== undefined) throw new Refusal([first, ...rest]);
    return asked;
  };
  const row = await needs.agents.updateSettings(caller.agentId, decide, needs.clock.now());
  return { ...settingsRecord(row), ...(await suspendedExits(needs, caller.agentId)) };
}

/**
 * Changes settings by an agent's key, for every route: the one place, so that an owner's lock has no way around.
 * @throws Refusal locked_by_owner
 */
export const updateSettings = (
  needs: AgentNeeds,
  caller: Caller,
  update: SettingsUpdate,
): Promise<ChangedSettings> => change(needs, caller, parseSettings(update));

/** The stricter of the default and the owner's ceiling. */
function resetCap(name: CapName, { locks }: SettingsRow): Figure {
  const ceiling = locks[name];
  const initial = DEFAULT_SAFEGUARDS[name];
  return initial === null || (ceiling !== null && ceiling < initial) ? ceiling : initial;
}

/**
 * Safeguards back to their defaults, as far as the owner lets the agent go.
 * @throws Refusal locked_by_owner when the owner lowered a ceiling in the same moment
 */
export async function resetSettings(needs: AgentNeeds, caller: Caller): Promise<SettingsReset> {
  const current = await needs.agents.settings(caller.agentId);
  const settings = await change(needs, caller, {
    ...Object.fromEntries(CAP_NAMES.map((name) => [name, resetCap(name, current)])),
    tradeLimitEnabled: true,
    autoRedeemEnabled: false,
    riskControlEnabled: false,
    takeProfitPercent: null,
    stopLossPercent: null,
    ...(current.ownerPaused ? {} : { tradingPaused: false }),
  });
  return {
    success: true,
    message: current.ownerPaused
      ? 'The safeguards are back at their defaults; the owner’s pause stays.'
      : 'The safeguards are back at their defaults, as far as the owner lets them.',
    ...settings,
  };
}
