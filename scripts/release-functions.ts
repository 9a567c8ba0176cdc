/**
 * Writes the lifecycle of orders as SQL functions, gives the functions the next release number when they have changed,
 * and records their content. Run it after every change under functions/ and of domain/lifecycle.ts:
 * `node scripts/release-functions.ts`
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  FUNCTIONS_FOLDER,
  hashOfFiles,
  RELEASE_FILE,
  readFunctionFiles,
  readRelease,
} from '../packages/server/src/platform/database/sql-functions.ts';
import { LIFECYCLE_FILE, lifecycleSql } from '../packages/server/src/trading/lifecycle-sql.ts';

writeFileSync(join(FUNCTIONS_FOLDER, LIFECYCLE_FILE), lifecycleSql());
const recorded = readRelease();
const hash = hashOfFiles(readFunctionFiles());
if (recorded.hash === hash) {
  process.stdout.write(`Release ${recorded.release} is up to date.\n`);
} else {
  const release = recorded.release + 1;
  writeFileSync(RELEASE_FILE, `${JSON.stringify({ release, hash }, null, 2)}\n`);
  process.stdout.write(`Release ${release} recorded.\n`);
}
