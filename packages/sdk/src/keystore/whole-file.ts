/** Writes a file so that a reader, and a machine that loses its power, has the old one or the new one and no part of either. */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

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
