/** Safeguards back to their defaults, as far as the owner lets the agent go. */
import type { SettingsReset, SettingsUpdate } from '@bellwether/contract';
import { microToNumber } from '@bellwether/contract/decimals';
import { DEFAULT_SAFEGUARDS as DEFAULTS } from '../domain/safeguards.ts';
import type { Caller } from '../ports/stores.ts';
import { updateSettings } from './agents.ts';
import type { Deps } from './deps.ts';

const lower = <T extends number | bigint>(value: T, ceiling: T | null): T =>
  ceiling !== null && ceiling < value ? ceiling : value;
const optional = (value: bigint | null): number | null => (value === null ? null : microToNumber(value));

/** @throws Refusal locked_by_owner when the owner lowered a ceiling in the same moment */
export async function resetSettings(deps: Deps, caller: Caller): Promise<SettingsReset> {
  const { locks, ownerPaused } = await deps.agents.settings(caller.agentId);
  const update: SettingsUpdate = {
    maxTradesPerDay: lower(DEFAULTS.maxTradesPerDay, locks.maxTradesPerDay),
    maxTradeAmount: microToNumber(lower(DEFAULTS.maxTradeAmount, locks.maxTradeAmount)),
    dailyTradeAmountLimit: microToNumber(lower(DEFAULTS.dailyTradeAmountLimit, locks.dailyTradeAmountLimit)),
    maxPositionValue: optional(locks.maxPositionValue),
    dailyLossLimit: optional(locks.dailyLossLimit),
    tradeLimitEnabled: true,
    autoRedeemEnabled: false,
    riskControlEnabled: false,
    takeProfitPercent: null,
    stopLossPercent: null,
    ...(ownerPaused ? {} : { tradingPaused: false }),
  };
  const settings = await updateSettings(deps, caller, update);
  return {
    success: true,
    message: ownerPaused
      ? 'The safeguards are back at their defaults; the owner’s pause stays.'
      : 'The safeguards are back at their defaults, as far as the owner lets them.',
    ...settings,
  };
}
