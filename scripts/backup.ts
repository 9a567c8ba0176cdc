/**
 * npm run backup -- --to FILE [--data FOLDER]
 *
 * Backs up the embedded database, while the service runs or not. Ends with 0 when FILE is whole and on the disk.
 * docs/operations.md says what belongs beside it.
 */
import { setPriority } from 'node:os';
import { resolve } from 'node:path';
import { backUpService } from '../packages/server/src/operations/backups.ts';
import { megabytesPerSecond, readOptions, runOperation, usage } from './operation.ts';

const HOW = 'npm run backup -- --to FILE [--data FOLDER]';
/** The service comes first. */
const BELOW_NORMAL = 10;

await runOperation(async () => {
  const { values } = readOptions(HOW, { options: { to: { type: 'string' }, data: { type: 'string' } } });
  if (values.to === undefined) throw usage('Say where the backup is to go', HOW);
  if (process.env.DATABASE_URL !== undefined)
    throw usage(
      'DATABASE_URL is set, and this command backs up the embedded database only',
      'pg_basebackup, as docs/operations.md says',
    );
  setPriority(BELOW_NORMAL);
  const dataDir = values.data ?? process.env.DATA_DIR ?? './data';
  const startedAt = performance.now();
  const { point, files, bytes } = await backUpService({ dataDir, file: resolve(values.to) });
  console.log(`${values.to} holds everything that was acknowledged before ${point.at} (${files} files, ${megabytesPerSecond(bytes, startedAt)}).
It does not contain the master key. Keep a copy of it (${dataDir}/master.key, unless MASTER_KEY is set) in another place:
without the key the backup is of no use, and with it the backup is as secret as the service.`);
});
