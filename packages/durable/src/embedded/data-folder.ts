/**
 * One process at a time starts and keeps the server of a data folder. The claim is a lock of the kernel on a file: it ends
 * with the process, however that ends, and no other process can take it for its own. Node offers such locks only by way
 * of SQLite (docs/decisions/database.md); the file itself stays empty.
 */

import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface FolderClaim {
  /** Idempotent. */
  release(): void;
}

const SQLITE_BUSY = 5;

/** @returns `null` while another process, or another part of this one, has the claim */
export function claimFolder(dataDir: string): FolderClaim | null {
  const file = join(dataDir, 'claim');
  try {
    // Never opened here when it exists: to close it would end a claim that this process has on it.
    writeFileSync(file, '', { mode: 0o600, flag: 'wx' });
  } catch {
    // It exists, or the lock below says what is wrong.
  }
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(file);
    lock.exec('pragma journal_mode = memory');
    lock.exec('begin exclusive');
  } catch (error) {
    lock?.close();
    if ((error as { readonly errcode?: number }).errcode === SQLITE_BUSY) return null;
    // Some file systems know no locks. There the sessions on the server still tell a second service.
    return { release() {} };
  }
  return {
    release() {
      if (lock.isOpen) lock.close();
    },
  };
}

// The master key of an embedded database: created on the first start, readable only by its owner.

const FORMER = 'master.key.old';

/** @throws Error with a sentence when the file holds something else */
export function readMasterKeyFile(dataDir: string): Buffer {
  const file = join(dataDir, 'master.key');
  if (!existsSync(file)) makeKey(dataDir, file);
  return readKey(file);
}

/** Whole or not at all, also when the disk is full; a key that another process makes meanwhile is kept. */
function makeKey(dataDir: string, file: string): void {
  const made = join(dataDir, `master.key.${randomBytes(6).toString('hex')}`);
  try {
    writeFileSync(made, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx', flush: true });
    linkSync(made, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(made, { force: true });
  }
}

/** The key of before, while a rotation lasts; else `null`. @throws Error with a sentence */
export function readFormerMasterKeyFile(dataDir: string): Buffer | null {
  const file = join(dataDir, FORMER);
  return existsSync(file) ? readKey(file) : null;
}

/** Begins a rotation: the present key becomes the former one, and there is a new one. @returns false when one has begun */
export function prepareMasterKeyFiles(dataDir: string): boolean {
  const former = join(dataDir, FORMER);
  if (existsSync(former)) return false;
  const present = readMasterKeyFile(dataDir);
  writeFileSync(former, `${present.toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  // In one step: a crash before it leaves two files with the same key, which is no rotation yet.
  const made = join(dataDir, 'master.key.new');
  writeFileSync(made, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
  renameSync(made, join(dataDir, 'master.key'));
  return true;
}

/** Ends a rotation. The former key is kept under its name: backups from before need it. @returns the file */
export function retireMasterKeyFile(dataDir: string, name: string): string {
  const kept = join(dataDir, `master.key.${name}`);
  renameSync(join(dataDir, FORMER), kept);
  return kept;
}

function readKey(file: string): Buffer {
  chmodSync(file, 0o600);
  const text = readFileSync(file, 'utf8').trim();
  if (!/^[0-9a-f]{64}$/i.test(text))
    throw new Error(`${file} does not hold 64 hex digits; restore it from a backup.`);
  return Buffer.from(text, 'hex');
}
