/**
 * One writer at a time, across processes. The lock is a file that names its process. A lock of a process that is dead is
 * taken over; a process that is frozen keeps its own, because it may go on at any moment, and others say so after a while.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { KeystoreError } from './keystore-error.ts';
import { createFile } from './whole-file.ts';

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

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

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
    else if (Date.now() >= until) throw busy(path, holder);
    else await pause();
  }
  try {
    return await work(() => {
      if (!isHeld()) throw busy(path, readHolder(path));
    });
  } finally {
    if (isHeld()) rmSync(path, { force: true });
  }
}

function busy(path: string, holder: Holder | null): KeystoreError {
  const who = holder === null ? 'Another process' : `Process ${holder.pid}`;
  return new KeystoreError(
    'keystore_busy',
    `${who} is changing the keystore.`,
    `Run the command again when it has ended. If nothing is running, delete ${path}.`,
  );
}
