/** The master key of an embedded database: created on the first start, readable only by its owner. */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @throws Error with a sentence when the file holds something else */
export function readMasterKeyFile(dataDir: string): Buffer {
  const file = join(dataDir, 'master.key');
  if (!existsSync(file))
    writeFileSync(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  chmodSync(file, 0o600);
  const text = readFileSync(file, 'utf8').trim();
  if (!/^[0-9a-f]{64}$/i.test(text))
    throw new Error(`${file} does not hold 64 hex digits; restore it from a backup.`);
  return Buffer.from(text, 'hex');
}
