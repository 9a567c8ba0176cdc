/** Where the keys and the spending limit of one desk are kept, and that no other user of the machine can read them. */
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { KeystoreError } from './keystore-error.ts';

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
const user = process.getuid?.();

function requirePrivate(path: string, stats: Stats, mode: string): void {
  if (!hasModes) return;
  if (user !== undefined && stats.uid !== user)
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
