/**
 * npm run after-copy -- [--data FOLDER]
 *
 * To be run once on a database that was made of a copy of its files: a snapshot, a base backup, a copied folder. The service then suspends all
 * guarded exits, as after a restore. The database is that of DATABASE_URL, or the embedded one, whether the service runs or not.
 */
import { openPool } from '@bellwether/durable';
import { DESK_DATABASE, reachServer } from '@bellwether/durable/embedded';
import { markRestored } from '../packages/server/src/operations/backups.ts';
import { readOptions, runOperation, usage } from './operation.ts';

const HOW = 'npm run after-copy -- [--data FOLDER]';

await runOperation(async () => {
  const { values } = readOptions(HOW, { options: { data: { type: 'string' } } });
  const url = process.env.DATABASE_URL;
  if (url !== undefined && values.data !== undefined)
    throw usage('DATABASE_URL is set, and names another database than --data: unset one of the two', HOW);
  const folder = values.data ?? process.env.DATA_DIR ?? './data';
  const server = url === undefined ? await reachServer(folder, DESK_DATABASE) : null;
  const where = url === undefined ? folder : 'the database of DATABASE_URL';
  const sql = openPool(url ?? server?.url ?? '', { max: 1, applicationName: 'after-copy' });
  try {
    const armed = await markRestored(sql);
    if (armed === null)
      throw new Error(`There are no tables of the service in ${where}: nothing was marked.`);
    console.log(`Marked in ${where}: the service suspends the guarded exits that are armed (${armed}), at its next start, or at once where it runs.
Their owners and agents are told, and resume those that they still want. What else a copy brings back: docs/operations.md.`);
  } finally {
    await sql.end({ timeout: 1 });
    await server?.close();
  }
});
