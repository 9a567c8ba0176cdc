/**
 * npm run restore -- --from FILE --to DATA_FOLDER --key-file FILE
 *
 * Restores a backup into an empty folder, as far as a start of its database that recovers. Ends with 0 when the service can
 * start on the folder; otherwise nothing was changed.
 */
import { resolve } from 'node:path';
import { restoreService } from '../packages/server/src/operations/backups.ts';
import { megabytesPerSecond, readOptions, runOperation, usage } from './operation.ts';

const HOW = 'npm run restore -- --from FILE --to DATA_FOLDER --key-file MASTER_KEY_FILE';

await runOperation(async () => {
  const text = { type: 'string' } as const;
  const { values } = readOptions(HOW, { options: { from: text, to: text, 'key-file': text } });
  if (values.from === undefined || values.to === undefined)
    throw usage('Say which backup to restore, and into which folder', HOW);
  const startedAt = performance.now();
  const { point, files, bytes } = await restoreService({
    file: resolve(values.from),
    dataDir: resolve(values.to),
    keyFile: values['key-file'] ?? null,
    key: process.env.MASTER_KEY ?? null,
  });
  console.log(`${values.to} holds everything that was acknowledged before ${point.at} (${files} files, ${megabytesPerSecond(bytes, startedAt)}).
Start the service on it:  DATA_DIR=${values.to} npm start
What was acknowledged later is not in it. At a live venue, ask for the orders of the wallets first: docs/operations.md.`);
});
