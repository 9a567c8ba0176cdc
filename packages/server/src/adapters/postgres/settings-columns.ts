/**
 * Settings as columns of `safeguards`. A setting's column is its name in snake_case, and the column of an owner's lock on it
 * the same after `locked_`; the two that are called otherwise are named here.
 */
import { NO_LOCKS, type OwnerLocks } from '../../domain/locks.ts';
import { DEFAULT_SAFEGUARDS } from '../../domain/safeguards.ts';
import type { SettingsChange, SettingsRow } from '../../ports/stores.ts';
import type { Row } from './rows.ts';

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

type Setting = Exclude<keyof SettingsRow, 'locks' | 'updatedAt'>;
const SETTINGS = [
  ...(Object.keys(DEFAULT_SAFEGUARDS) as (keyof typeof DEFAULT_SAFEGUARDS)[]),
  'autoRedeemEnabled',
  'riskControlEnabled',
  'takeProfitPercent',
  'stopLossPercent',
] as const satisfies readonly Setting[];

/** Made once: every trade reads rows by them. */
const COLUMNS = new Map<string, string>(SETTINGS.map((name) => [name, snakeCase(name)]));
const LOCK_COLUMNS = new Map<string, string>(
  Object.keys(NO_LOCKS).map((name) => [name, `locked_${snakeCase(name)}`]),
).set('tradeLimitEnabled', 'locked_trade_limit');

const read = <T>(row: Row, columns: ReadonlyMap<string, string>): T => {
  const values: Row = {};
  for (const [name, column] of columns) values[name] = row[column];
  return values as T;
};

export const settingsRow = (row: Row): SettingsRow => ({
  ...read<Pick<SettingsRow, Setting>>(row, COLUMNS),
  tradingPaused: row.trading_paused || row.owner_paused,
  locks: read<OwnerLocks>(row, LOCK_COLUMNS),
  updatedAt: row.updated_at.getTime(),
});

/** Money goes out as text, which the driver leaves alone. */
const written = (values: object, columns: ReadonlyMap<string, string>) =>
  Object.entries(values).map(([name, value]) => {
    const column = columns.get(name);
    if (column === undefined) throw new Error(`${name} is no setting`);
    return [column, typeof value === 'bigint' ? value.toString() : value];
  });

/** The columns that a change sets. */
export const settingsColumns = ({ locks = {}, ...change }: SettingsChange, at: number): Row =>
  Object.fromEntries([
    ['updated_at', new Date(at)],
    ...written(change, COLUMNS),
    ...written(locks, LOCK_COLUMNS),
  ]);
