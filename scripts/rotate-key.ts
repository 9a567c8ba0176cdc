/**
 * npm run rotate-key -- [--prepare] [--data FOLDER]
 *
 * Rotates the master key while the service runs. The keys come from MASTER_KEY and MASTER_KEY_OLD, or with the embedded
 * database from the files in its folder, which --prepare makes. docs/operations.md has the steps.
 */
import { openPool, refusePooler } from '@bellwether/durable';
import {
  DESK_DATABASE,
  prepareMasterKeyFiles,
  reachServer,
  readFormerMasterKeyFile,
  readMasterKeyFile,
  retireMasterKeyFile,
} from '@bellwether/durable/embedded';
import { rotateKey } from '../packages/server/src/operations/rotate-key.ts';
import { readOptions, runOperation, usage } from './operation.ts';

const HOW = 'npm run rotate-key -- [--prepare] [--data FOLDER]';
const HEX = /^[0-9a-f]{64}$/i;

/** The key in the environment, or `null`. */
function keyOf(name: 'MASTER_KEY' | 'MASTER_KEY_OLD'): Buffer | null {
  const text = process.env[name];
  if (text === undefined || text === '') return null;
  if (!HEX.test(text)) throw usage(`${name} does not hold 64 hex digits`, HOW);
  return Buffer.from(text, 'hex');
}

await runOperation(async () => {
  const { values } = readOptions(HOW, {
    options: { prepare: { type: 'boolean' }, data: { type: 'string' } },
  });
  const dataDir = values.data ?? process.env.DATA_DIR ?? './data';
  const given = keyOf('MASTER_KEY');
  if (values.prepare === true) {
    if (given !== null)
      throw usage(
        'MASTER_KEY is set: set MASTER_KEY_OLD to it, and MASTER_KEY to a new one',
        'openssl rand -hex 32',
      );
    const isNew = prepareMasterKeyFiles(dataDir);
    console.log(`${isNew ? 'There is a new key' : 'A rotation has begun already'}: ${dataDir}/master.key; the present one is in ${dataDir}/master.key.old.
Restart the service, so that it knows both. Then:  npm run rotate-key`);
    return;
  }
  const url = process.env.DATABASE_URL;
  const server = url === undefined ? await reachServer(dataDir, DESK_DATABASE) : null;
  const sql = openPool(url ?? server?.url ?? '', { max: 2, applicationName: 'rotate-key' });
  try {
    if (url !== undefined) await refusePooler(sql);
    const former = keyOf('MASTER_KEY_OLD') ?? (given === null ? readFormerMasterKeyFile(dataDir) : null);
    const startedAt = performance.now();
    const { name, formerName, rows } = await rotateKey({
      sql,
      newest: given ?? readMasterKeyFile(dataDir),
      former,
    });
    const seconds = (performance.now() - startedAt) / 1000;
    console.log(`Everything is sealed with key ${name} (${rows} rows in ${seconds.toFixed(1)} s).`);
    if (formerName === null) return;
    const kept = given === null ? retireMasterKeyFile(dataDir, formerName) : 'the key of before';
    console.log(`Key ${formerName} is retired. Keep ${kept} where the keys of your backups are: those from before need it.
Remove MASTER_KEY_OLD where you have set it; the next start needs the new key alone.`);
  } finally {
    await sql.end({ timeout: 1 });
    await server?.close();
  }
});
