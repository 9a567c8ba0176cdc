/**
 * The faults that a paper venue can be given: what its real counterpart does at times. A plan is data; an unknown field
 * or an impossible value is refused by name, so that a misspelt switch is not a switch that is off.
 */

/** Modes in which the venue restricts clients. */
export type VenueMode = 'open' | 'restarting' | 'post_only' | 'cancel_only' | 'disabled' | 'geo_blocked';

/** Shares are of 1: 0 never, 1 always. Times in milliseconds. */
export interface FaultPlan {
  /** Decides which requests, trades and messages are hit. */
  readonly seed: string;
  readonly mode: VenueMode;
  /** Restarts of the matching engine: 425 for `downMs`, then only post-only orders for `postOnlyMs`; again after `everyMs`. */
  readonly restart: { readonly everyMs: number; readonly downMs: number; readonly postOnlyMs: number } | null;
  /** Applies to every request, before it is looked at. */
  readonly latencyMs: { readonly least: number; readonly most: number };
  /** 429 before anything happened: with the venue's Poly-RateLimit headers, and bare as from a network's edge. */
  readonly limitedShare: number;
  readonly bareLimitedShare: number;
  /** 503 before anything happened; of reads, too. */
  readonly unavailableShare: number;
  /** Orders and cancels whose answer is lost after they were executed: connection cut, 500, 200 that is no JSON. */
  readonly droppedShare: number;
  readonly failedAfterShare: number;
  readonly garbledShare: number;
  /** 500 `order timed out`: half of them before the order is executed, half after. */
  readonly timedOutShare: number;
  /** Orders that wait before they are matched: answered `delayed`, not cancellable meanwhile. */
  readonly delayedShare: number;
  readonly delayedMs: number;
  /** Trades that fail when they should be mined. */
  readonly failingTradesShare: number;
  /** For how long `/balance-allowance` may show an old balance, unless an update is asked for. */
  readonly balanceLagMs: number;
  /**
   * Allowances of contracts over every account, in base units by address; those that are not named may move nothing. `null`:
   * each may move everything.
   */
  readonly allowances: Readonly<Record<string, string>> | null;
  /** For how long a book, once shown, stays as it was, in answers and on sockets. */
  readonly staleBooksMs: number;
  /** Share of sockets that fall silent, also to PING, some messages after they began; and that are cut. */
  readonly frozenSocketsShare: number;
  readonly droppedSocketsShare: number;
  /** Share of messages on sockets that are sent twice, after their successor, or not at all. */
  readonly duplicatesShare: number;
  readonly reorderedShare: number;
  readonly gapsShare: number;
}

export const NO_FAULTS: FaultPlan = {
  seed: '1',
  mode: 'open',
  restart: null,
  latencyMs: { least: 0, most: 0 },
  limitedShare: 0,
  bareLimitedShare: 0,
  unavailableShare: 0,
  droppedShare: 0,
  failedAfterShare: 0,
  garbledShare: 0,
  timedOutShare: 0,
  delayedShare: 0,
  delayedMs: 3_000,
  failingTradesShare: 0,
  balanceLagMs: 0,
  allowances: null,
  staleBooksMs: 0,
  frozenSocketsShare: 0,
  droppedSocketsShare: 0,
  duplicatesShare: 0,
  reorderedShare: 0,
  gapsShare: 0,
};

const MODES: ReadonlySet<unknown> = new Set<VenueMode>([
  'open',
  'restarting',
  'post_only',
  'cancel_only',
  'disabled',
  'geo_blocked',
]);
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const BASE_UNITS = /^\d{1,78}$/;
const LONGEST_MS = 3_600_000;
/** Less would leave the venue no time between two restarts. */
const LEAST_EVERY_MS = 100;

type Json = Readonly<Record<string, unknown>>;

/** @throws Error with a sentence that names the field */
export function readFaultPlan(given: unknown): FaultPlan {
  const fields = recordOf(given, 'the plan of faults');
  for (const name of Object.keys(fields))
    if (!Object.hasOwn(NO_FAULTS, name)) throw new Error(`there is no fault "${name}"`);
  const read = Object.fromEntries(
    Object.entries(NO_FAULTS).map(([name, off]) => [
      name,
      fields[name] === undefined ? off : readField(name, fields[name]),
    ]),
  );
  return read as unknown as FaultPlan;
}

/** @throws Error with a sentence; @param text JSON */
export function parseFaultPlan(text: string): FaultPlan {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Error('the plan of faults is no JSON');
  }
  return readFaultPlan(given);
}

function readField(name: string, value: unknown): unknown {
  if (name === 'seed') {
    if (typeof value !== 'string' || value.length > 100)
      throw new Error('the seed of faults is a short text');
    return value;
  }
  if (name === 'mode') {
    if (!MODES.has(value)) throw new Error(`the mode of faults is one of ${[...MODES].join(', ')}`);
    return value;
  }
  if (name === 'restart') return value === null ? null : readRestart(value);
  if (name === 'latencyMs') return readLatency(value);
  if (name === 'allowances') return value === null ? null : readAllowances(value);
  return name.endsWith('Share') ? shareOf(value, name) : msOf(value, name);
}

function readRestart(value: unknown): FaultPlan['restart'] {
  const fields = exactly(recordOf(value, 'restart'), ['everyMs', 'downMs', 'postOnlyMs'], 'restart');
  const everyMs = msOf(fields.everyMs, 'restart.everyMs');
  const downMs = msOf(fields.downMs, 'restart.downMs');
  const postOnlyMs = msOf(fields.postOnlyMs, 'restart.postOnlyMs');
  if (everyMs < LEAST_EVERY_MS || downMs + postOnlyMs >= everyMs)
    throw new Error('restart.everyMs is longer than restart.downMs and restart.postOnlyMs together');
  return { everyMs, downMs, postOnlyMs };
}

function readLatency(value: unknown): FaultPlan['latencyMs'] {
  const fields = exactly(recordOf(value, 'latencyMs'), ['least', 'most'], 'latencyMs');
  const [least, most] = [msOf(fields.least, 'latencyMs.least'), msOf(fields.most, 'latencyMs.most')];
  if (least > most) throw new Error('latencyMs.least is at most latencyMs.most');
  return { least, most };
}

function readAllowances(value: unknown): Readonly<Record<string, string>> {
  const fields = recordOf(value, 'allowances');
  return Object.fromEntries(
    Object.entries(fields).map(([spender, amount]) => {
      if (!ADDRESS.test(spender)) throw new Error('allowances are by the address of a contract');
      if (typeof amount !== 'string' || !BASE_UNITS.test(amount))
        throw new Error('an allowance is a text of whole base units');
      return [spender.toLowerCase(), amount];
    }),
  );
}

function recordOf(value: unknown, name: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${name} is an object`);
  return value as Json;
}

function exactly(fields: Json, names: readonly string[], of: string): Json {
  for (const name of Object.keys(fields))
    if (!names.includes(name)) throw new Error(`there is no "${of}.${name}"`);
  return fields;
}

function shareOf(value: unknown, name: string): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1))
    throw new Error(`${name} is a number from 0 to 1`);
  return value;
}

function msOf(value: unknown, name: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > LONGEST_MS)
    throw new Error(`${name} is whole milliseconds, at most an hour`);
  return value;
}
