/**
 * Where the keys and the spending limit of one desk are kept: files that no other user of the machine can read, each
 * written whole and by one process at a time.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** Errors of the keystore and its spending limit. No error of this folder contains a key or a passphrase. */
export type KeystoreFault =
  | 'keystore_missing'
  | 'keystore_exists'
  | 'keystore_permissions'
  | 'keystore_damaged'
  | 'keystore_version'
  | 'keystore_busy'
  | 'keystore_unreadable'
  | 'keys_invalid'
  | 'keys_incomplete'
  | 'passphrase_missing'
  | 'person_required'
  | 'passphrase_wrong'
  | 'passphrase_too_short'
  | 'url_invalid'
  | 'environment_invalid'
  | 'limit_damaged'
  | 'limit_invalid';

export class KeystoreError extends Error {
  override readonly name = 'KeystoreError';
  readonly code: KeystoreFault;
  readonly detail: string;
  /** The next step. */
  readonly fix: string;

  constructor(code: KeystoreFault, detail: string, fix: string) {
    super(`${detail} ${fix}`);
    this.code = code;
    this.detail = detail;
    this.fix = fix;
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface DeskPlace {
  /** Address of the desk, without a slash at its end. */
  readonly url: string;
  readonly folder: string;
  /** The encrypted keys. */
  readonly keys: string;
  /** The spending limit. */
  readonly limit: string;
  /** Path of the spending of a UTC day, such as `2026-11-22`. */
  spending(day: string): string;
}

export const DEFAULT_DESK_URL = 'http://127.0.0.1:8080';
const HASH_CHARS = 10;

/**
 * Spellings of one address are one desk. @throws KeystoreError `url_invalid`
 * @example
 * deskUrl('http://127.0.0.1:8080/'); // 'http://127.0.0.1:8080'
 */
export function deskUrl(text: string): string {
  const fix = 'Set BELLWETHER_URL to the address of your desk, such as http://127.0.0.1:8080.';
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw new KeystoreError('url_invalid', 'The address of the desk is not one.', fix);
  const { origin, pathname, username, password, search, hash } = new URL(text);
  if (username !== '' || password !== '' || search !== '' || hash !== '')
    throw new KeystoreError(
      'url_invalid',
      'The address of the desk has a user name, a password, a query or a fragment.',
      fix,
    );
  return origin + pathname.replace(/\/+$/, '');
}

/**
 * @param env `BELLWETHER_URL` names the desk, `BELLWETHER_HOME` the folder; defaults: this machine, `~/.bellwether`
 * @example
 * const place = deskPlace(process.env, 'http://127.0.0.1:8080');
 */
export function deskPlace(env: Environment = process.env, url = env.BELLWETHER_URL): DeskPlace {
  const desk = deskUrl(url === undefined || url === '' ? DEFAULT_DESK_URL : url);
  const named = env.BELLWETHER_HOME;
  const folder = named === undefined || named === '' ? join(homedir(), '.bellwether') : named;
  const host = new URL(desk).host.replace(/[^a-z0-9.-]/gi, '_');
  const name = `${host}-${createHash('sha256').update(desk).digest('hex').slice(0, HASH_CHARS)}`;
  return {
    url: desk,
    folder,
    keys: join(folder, `${name}.keys.json`),
    limit: join(folder, `${name}.limit.json`),
    spending: (day) => join(folder, `${name}.spending-${day}.jsonl`),
  };
}

const OTHERS = 0o077;
const hasModes = process.platform !== 'win32';
const ownUser = process.getuid?.();

function requirePrivate(path: string, stats: Stats, mode: string): void {
  if (!hasModes) return;
  if (ownUser !== undefined && stats.uid !== ownUser)
    throw new KeystoreError(
      'keystore_permissions',
      `${path} belongs to another user of this machine.`,
      'Make it yours with chown, or name another folder in BELLWETHER_HOME.',
    );
  if ((stats.mode & OTHERS) !== 0)
    throw new KeystoreError(
      'keystore_permissions',
      `Other users of this machine can open ${path}.`,
      `Run: chmod ${mode} '${path}'`,
    );
}

/** @returns whether the file is there. @throws KeystoreError `keystore_permissions` */
export function requirePrivateFile(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  requirePrivate(path, stats, '600');
  return true;
}

/** Creates the folder for this user alone. @throws KeystoreError `keystore_permissions` */
export function requirePrivateFolder(folder: string): void {
  // A mode that mkdir gives is cut by the umask, never widened; a folder that is there keeps its mode and is judged.
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined && hasModes) chmodSync(folder, 0o700);
  requirePrivate(folder, statSync(folder), '700');
}

// A secret of this user in a file beside the keys, made when it is first asked for.

/**
 * @throws KeystoreError `keystore_permissions`
 * @example
 * const seal = privateText('/home/ada/.bellwether/seal', () => crypto.randomUUID());
 */
export function privateText(path: string, make: () => string): string {
  requirePrivateFolder(dirname(path));
  // Two processes may make it at the same time: one writes, and both read the same.
  if (!requirePrivateFile(path)) createFile(path, `${make()}\n`);
  return readFileSync(path, 'utf8').trim();
}

// Writes a file so that a reader, and a machine that loses its power, has the old one or the new one and no part of either.

const hasFolderSync = process.platform !== 'win32';

export function syncFolder(folder: string): void {
  if (!hasFolderSync) return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function writeBeside(path: string, text: string): string {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const handle = openSync(temporary, 'wx', 0o600);
  try {
    for (let bytes = Buffer.from(text); bytes.length > 0; ) bytes = bytes.subarray(writeSync(handle, bytes));
    fsyncSync(handle);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
  return temporary;
}

/** @param ready is asked when nothing but the last step is left; it throws when the file is no longer ours to replace */
export function replaceFile(path: string, text: string, ready: () => void = () => {}): void {
  const temporary = writeBeside(path, text);
  try {
    ready();
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
  syncFolder(dirname(path));
}

/** @returns false when there is a file already; it is left as it is */
export function createFile(path: string, text: string): boolean {
  const temporary = writeBeside(path, text);
  try {
    linkSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  syncFolder(dirname(path));
  return true;
}

// One writer at a time, across processes. The lock is a file that names its process. A lock of a process that is dead is
// taken over; a process that is frozen keeps its own, because it may go on at any moment, and others say so after a while.

interface Holder {
  readonly pid: number;
  /** When that process began: a later process may get the same number. `null` where the system does not say. */
  readonly began: string | null;
  readonly token: string;
}

const WAIT_MS = 5_000;
const PAUSE_MS = 50;

/** Field 22 of Linux' /proc/<pid>/stat, counted behind the name, which may contain anything. */
function beganAt(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return (
      stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .at(19) ?? null
    );
  } catch {
    return null;
  }
}

function isAlive({ pid, began }: Holder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is there and belongs to somebody else.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return began === null || beganAt(pid) === began;
}

function readHolder(path: string): Holder | null {
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as Partial<Holder>;
    return typeof value.pid === 'number' && typeof value.token === 'string' ? (value as Holder) : null;
  } catch {
    return null;
  }
}

/** Moves a dead process's lock aside. What was moved is looked at again: another process may have been faster. */
function removeDead(path: string, dead: Holder): void {
  const aside = `${path}.${randomBytes(6).toString('hex')}.dead`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  const moved = readHolder(aside);
  if (moved !== null && moved.token !== dead.token) createFile(path, JSON.stringify(moved));
  rmSync(aside, { force: true });
}

const lockPause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

export interface LockOptions {
  /** Default 5,000. */
  readonly waitMs?: number;
}

/**
 * @param work gets a function that throws when the lock is no longer ours
 * @throws KeystoreError `keystore_busy` when another process keeps the lock
 */
export async function withFileLock<T>(
  path: string,
  work: (requireHeld: () => void) => Promise<T>,
  { waitMs = WAIT_MS }: LockOptions = {},
): Promise<T> {
  const own: Holder = {
    pid: process.pid,
    began: beganAt(process.pid),
    token: randomBytes(16).toString('hex'),
  };
  const isHeld = () => readHolder(path)?.token === own.token;
  for (const until = Date.now() + waitMs; !createFile(path, JSON.stringify(own)); ) {
    const holder = readHolder(path);
    if (holder !== null && !isAlive(holder)) removeDead(path, holder);
    else if (Date.now() >= until) throw keystoreBusy(path, holder);
    else await lockPause();
  }
  try {
    return await work(() => {
      if (!isHeld()) throw keystoreBusy(path, readHolder(path));
    });
  } finally {
    if (isHeld()) rmSync(path, { force: true });
  }
}

function keystoreBusy(path: string, holder: Holder | null): KeystoreError {
  const who = holder === null ? 'Another process' : `Process ${holder.pid}`;
  return new KeystoreError(
    'keystore_busy',
    `${who} is changing the keystore.`,
    `Run the command again when it has ended. If nothing is running, delete ${path}.`,
  );
}
