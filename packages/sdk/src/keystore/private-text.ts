/** A secret of this user in a file beside the keys, made when it is first asked for. */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { requirePrivateFile, requirePrivateFolder } from './place.ts';
import { createFile } from './whole-file.ts';

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
