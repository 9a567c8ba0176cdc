/**
 * Settings as columns of `safeguards`. A setting's column is its name in snake_case; the column of an owner's lock on it
 * has the prefix `locked_`. The two exceptions are listed here.
 */

import type { Micro } from '@bellwether/contract/decimals';
import {
  DEFAULT_SAFEGUARDS,
  NO_LOCKS,
  type OwnerLocks,
  type Safeguards,
  type Usage,
} from '../domain/safeguards.ts';
import { type ColumnValues, ms } from '../platform/database/connection.ts';
import type { SafeguardsRow } from '../platform/database/rows.generated.ts';

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

type Setting = Exclude<keyof SettingsRow, 'locks' | 'updatedAt'>;
const SETTINGS = [
  ...(Object.keys(DEFAULT_SAFEGUARDS) as (keyof typeof DEFAULT_SAFEGUARDS)[]),
  'autoRedeemEnabled',
  'riskControlEnabled',
  'takeProfitPercent',
  'stopLossPercent',
] as const satisfies readonly Setting[];

/** Computed once: every trade reads rows with them. */
const COLUMNS = new Map<string, string>(SETTINGS.map((name) => [name, snakeCase(name)]));
const LOCK_COLUMNS = new Map<string, string>(
  Object.keys(NO_LOCKS).map((name) => [name, `locked_${snakeCase(name)}`]),
).set('tradeLimitEnabled', 'locked_trade_limit');

type SnakeCase<S extends string> = S extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Tail>}`
  : S;
type LockName<S extends string> = S extends 'tradeLimitEnabled'
  ? 'locked_trade_limit'
  : `locked_${SnakeCase<S>}`;
/** The columns that are read by their settings' names: a column with another name breaks the type check. */
type SettingColumns = { readonly [K in Setting as SnakeCase<K>]: SettingsRow[K] } & {
  readonly [K in keyof OwnerLocks as LockName<K>]: OwnerLocks[K];
};

const read = <T>(row: SettingColumns, columns: ReadonlyMap<string, string>): T => {
  const values: ColumnValues = {};
  for (const [name, column] of columns) values[name] = row[column as keyof SettingColumns];
  return values as T;
};

/** The columns of `safeguards` that trades do not change. */
export type SettingsColumns = Omit<
  SafeguardsRow,
  'agent_id' | 'usage_day' | 'used_trades' | 'used_amount' | 'reserved_exits' | 'open_exits'
>;

export const settingsRow = (row: SettingsColumns): SettingsRow => ({
  ...read<Pick<SettingsRow, Setting>>(row, COLUMNS),
  tradingPaused: row.trading_paused || row.owner_paused,
  locks: read<OwnerLocks>(row, LOCK_COLUMNS),
  updatedAt: ms(row.updated_at),
});

/** Money is sent as text, which the driver does not convert. */
const written = (values: object, columns: ReadonlyMap<string, string>) =>
  Object.entries(values).map(([name, value]) => {
    const column = columns.get(name);
    if (column === undefined) throw new Error(`${name} is not a setting`);
    return [column, typeof value === 'bigint' ? value.toString() : value];
  });

/** The columns that a change sets. */
export const settingsColumns = ({ locks = {}, ...change }: SettingsChange, at: number): ColumnValues =>
  Object.fromEntries([
    ['updated_at', new Date(at)],
    ...written(change, COLUMNS),
    ...written(locks, LOCK_COLUMNS),
  ]);

export interface SettingsRow extends Safeguards {
  readonly locks: OwnerLocks;
  readonly autoRedeemEnabled: boolean;
  readonly riskControlEnabled: boolean;
  readonly takeProfitPercent: number | null;
  readonly stopLossPercent: number | null;
  readonly updatedAt: number;
}

/** The settings to change; only the owner sets `locks`. */
export type SettingsChange = Partial<Omit<SettingsRow, 'updatedAt' | 'locks'>> & {
  readonly locks?: Partial<OwnerLocks>;
};

/** The safeguards, and what is used of them today. */
export type Limits = SettingsRow & {
  readonly usage: Usage;
  readonly realizedToday: Micro;
  /** Guarded exits that have not ended. */
  readonly openExits: number;
};

/** The owner's word over the agent's, both ways: to resume lifts the agent's own pause, too. */
export const ownersPause = (isPaused: boolean): SettingsChange =>
  isPaused ? { ownerPaused: true } : { ownerPaused: false, tradingPaused: false };
