/** Writes ops/ from scripts/ops/alerts.ts; test/e2e/metrics.test.ts fails while one of its files is stale. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { OPS_FILES } from './ops/files.ts';

for (const [path, content] of Object.entries(OPS_FILES)) {
  writeFileSync(join(resolve(import.meta.dirname, '..'), path), content());
  console.log(path);
}
