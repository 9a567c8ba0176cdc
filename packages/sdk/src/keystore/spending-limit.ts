/**
 * How much may be spent through the keys of one desk on one UTC day, by all programs of this machine together.
 *
 * Spending is a log that is only appended to, one file for each day, and its lines have one meaning for every reader: an
 * order that is reserved counts when the counted orders above it leave room for it below the limit that its own line names.
 * So nothing is locked, and a process that is frozen or dead blocks no other and frees nothing. An order counts once, however often it is
 * tried, and is never given back: who has a signed order can place it later, after any answer now. Lines of earlier releases
 * that gave back are read as they were meant.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import { formatMicro, type Micro } from '@bellwether/contract/decimals';
import {
  createFile,
  type DeskPlace,
  KeystoreError,
  replaceFile,
  requirePrivateFile,
  requirePrivateFolder,
  syncFolder,
} from './private-files.ts';

/** Until the command line sets another: 100 collateral. */
export const DEFAULT_DAILY_LIMIT: Micro = 100_000_000n;
/** Nothing that the service takes is larger. */
const LARGEST_LIMIT: Micro = 1_000_000_000_000_000_000n;
const DAYS_KEPT = 30;

export interface SpendingStanding {
  /** UTC, such as `2026-11-22`. */
  readonly day: string;
  readonly limit: Micro;
  readonly spent: Micro;
  /** Never below zero. */
  readonly left: Micro;
}

/** Proof of a reservation, with which it can be given back. */
export interface SpendingReservation extends SpendingStanding {
  readonly orderId: string;
  readonly attempt: string;
}

/** The order would exceed the day's limit. Nothing is reserved. */
export class SpendingLimitReached extends Error {
  override readonly name = 'SpendingLimitReached';
  readonly code = 'spending_limit_reached';
  readonly detail: string;
  readonly fix =
    'Ask for a smaller order, wait until the next UTC day, or raise the limit yourself at a terminal: bellwether limits set-spending <amount>, or bellwether-mcp limit set <amount>.';
  readonly asked: Micro;
  readonly standing: SpendingStanding;

  constructor(asked: Micro, standing: SpendingStanding) {
    const { day, limit, spent } = standing;
    const detail = `This order may cost ${formatMicro(asked)}; of the spending limit of ${formatMicro(limit)} for ${day} (UTC) ${formatMicro(spent)} is used.`;
    super(detail);
    this.detail = detail;
    this.asked = asked;
    this.standing = standing;
  }
}

type SpendingLine =
  | { readonly reserve: string; readonly attempt: string; readonly micro: string; readonly limit: string }
  | { readonly giveBack: string };

/** An order of the log that counts, with its tries that were not given back. */
interface Counted {
  readonly micro: Micro;
  readonly attempts: Set<string>;
}

const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10);
const micro = (text: unknown): Micro | null =>
  typeof text === 'string' && /^\d{1,30}$/.test(text) ? BigInt(text) : null;

export class SpendingLimit {
  readonly #place: DeskPlace;
  readonly #now: () => number;

  constructor(place: DeskPlace, now: () => number = Date.now) {
    this.#place = place;
    this.#now = now;
  }

  /** @throws KeystoreError `limit_damaged`, `keystore_permissions` */
  standing(): SpendingStanding {
    const day = dayOf(this.#now());
    return standingOf(day, this.#limit(), this.#read(day));
  }

  /** Whether this order counts already today: another try of it takes nothing more. */
  isReserved(orderId: string): boolean {
    return this.#read(dayOf(this.#now())).has(orderId);
  }

  /**
   * Takes the most that an order may cost out of the day's limit. It is on disk when this returns.
   * @param orderId the order, however often it is tried
   * @throws SpendingLimitReached; KeystoreError `limit_damaged`, `keystore_permissions`
   */
  reserve(orderId: string, asked: Micro): SpendingReservation {
    if (asked < 0n) throw new RangeError('no order costs less than nothing');
    const day = dayOf(this.#now());
    const limit = this.#limit();
    const attempt = randomBytes(12).toString('hex');
    this.#append(day, { reserve: orderId, attempt, micro: String(asked), limit: String(limit) });
    const orders = this.#read(day);
    const standing = standingOf(day, limit, orders);
    if (orders.get(orderId)?.attempts.has(attempt) !== true) throw new SpendingLimitReached(asked, standing);
    return { ...standing, orderId, attempt };
  }

  /** For a person at a terminal; no program that a model drives may call it. @throws KeystoreError `limit_invalid` */
  setLimit(limit: Micro): SpendingStanding {
    if (limit < 0n || limit > LARGEST_LIMIT)
      throw new KeystoreError(
        'limit_invalid',
        'That is no spending limit.',
        `Give an amount between 0 and ${formatMicro(LARGEST_LIMIT)}.`,
      );
    requirePrivateFolder(this.#place.folder);
    replaceFile(this.#place.limit, limitText(limit));
    return this.standing();
  }

  #limit(): Micro {
    requirePrivateFolder(this.#place.folder);
    if (!requirePrivateFile(this.#place.limit)) createFile(this.#place.limit, limitText(DEFAULT_DAILY_LIMIT));
    const limit = readLimit(this.#place.limit);
    if (limit === null) throw damaged(this.#place.limit);
    return limit;
  }

  #read(day: string): ReadonlyMap<string, Counted> {
    const path = this.#place.spending(day);
    return requirePrivateFile(path) ? foldLines(readFileSync(path, 'utf8'), path) : new Map();
  }

  #append(day: string, line: SpendingLine): void {
    const path = this.#place.spending(day);
    requirePrivateFolder(this.#place.folder);
    const isNew = !requirePrivateFile(path);
    const handle = openSync(path, 'a', 0o600);
    try {
      // One write, and a line break on both sides: what another process wrote in part stays a line of its own.
      const bytes = Buffer.from(`\n${JSON.stringify(line)}\n`);
      if (writeSync(handle, bytes) !== bytes.length)
        throw new Error(`${path} could not be written: is the disk full?`);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    if (!isNew) return;
    syncFolder(this.#place.folder);
    this.#forgetOldDays(path);
  }

  #forgetOldDays(today: string): void {
    const prefix = basename(today).slice(0, -'2026-11-22.jsonl'.length);
    const oldest = dayOf(this.#now() - DAYS_KEPT * 86_400_000);
    for (const name of readdirSync(this.#place.folder))
      if (name.startsWith(prefix) && name.slice(prefix.length, -'.jsonl'.length) < oldest)
        rmSync(join(this.#place.folder, name), { force: true });
  }
}

function foldLines(text: string, path: string): ReadonlyMap<string, Counted> {
  const orders = new Map<string, Counted>();
  const orderOf = new Map<string, string>();
  let spent: Micro = 0n;
  for (const one of text.split('\n')) {
    const line = parseLine(one, path);
    if (line === null) continue;
    if ('giveBack' in line) {
      const orderId = orderOf.get(line.giveBack);
      const order = orderId === undefined ? undefined : orders.get(orderId);
      if (orderId === undefined || order?.attempts.delete(line.giveBack) !== true || order.attempts.size > 0)
        continue;
      orders.delete(orderId);
      spent -= order.micro;
      continue;
    }
    const asked = micro(line.micro);
    const limit = micro(line.limit);
    if (asked === null || limit === null) throw damaged(path);
    const known = orders.get(line.reserve);
    // A later try may cost more than an earlier one, by its fee.
    const more = known === undefined ? asked : asked > known.micro ? asked - known.micro : 0n;
    if (spent + more > limit && more > 0n) continue;
    spent += more;
    orders.set(line.reserve, {
      micro: (known?.micro ?? 0n) + more,
      attempts: (known?.attempts ?? new Set()).add(line.attempt),
    });
    orderOf.set(line.attempt, line.reserve);
  }
  return orders;
}

/** A line whose writer lost its power has no end: its order was never sent. @throws KeystoreError `limit_damaged` */
function parseLine(text: string, path: string): SpendingLine | null {
  if (text === '' || (text.startsWith('{') && !text.endsWith('}'))) return null;
  try {
    const line = JSON.parse(text) as Partial<Record<string, unknown>>;
    const isText = (value: unknown) => typeof value === 'string';
    if (isText(line.giveBack) || (isText(line.reserve) && isText(line.attempt))) return line as SpendingLine;
  } catch {
    // Damaged, as anything else that is no line of ours.
  }
  throw damaged(path);
}

function standingOf(day: string, limit: Micro, orders: ReadonlyMap<string, Counted>): SpendingStanding {
  const spent = [...orders.values()].reduce((sum, order) => sum + order.micro, 0n);
  return { day, limit, spent, left: limit > spent ? limit - spent : 0n };
}

const limitText = (limit: Micro): string =>
  `${JSON.stringify({ version: 1, dailyLimitMicro: String(limit) })}\n`;

function readLimit(path: string): Micro | null {
  try {
    const { version, dailyLimitMicro } = JSON.parse(readFileSync(path, 'utf8')) as Partial<
      Record<string, unknown>
    >;
    return version === 1 ? micro(dailyLimitMicro) : null;
  } catch {
    return null;
  }
}

const damaged = (path: string): KeystoreError =>
  new KeystoreError(
    'limit_damaged',
    `${path} is damaged, so what was spent today is not known and nothing is bought.`,
    'Restore the file from a copy, or look at your orders of today, delete the file and set a limit that fits what is left: bellwether-mcp limit set <amount>.',
  );
