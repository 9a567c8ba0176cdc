/**
 * One process at a time starts and keeps the server of a data folder. The claim is a lock of the kernel on a file: it ends
 * with the process, however that ends, and no other process can take it for its own. Node offers such locks only by way
 * of SQLite (docs/decisions/database.md); the file itself stays empty.
 */
import { writeFileSync } from 'node:fs';
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
