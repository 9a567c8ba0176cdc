/** The rows that the stores read are those of the migrated schema. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROWS_FILE, rowsFile } from '../../../scripts/generate-rows.ts';
import { openTestDatabase } from '../../../test/postgres.ts';
import { migrate } from '../src/adapters/postgres/migrate.ts';

test('rows.generated.ts is what the migrated schema says: node scripts/generate-rows.ts', async () => {
  const sql = await openTestDatabase();
  await migrate(sql);
  expect(await rowsFile(sql)).toBe(readFileSync(ROWS_FILE, 'utf8'));
  // A renamed column changes the interface, and with it the type check of every mapper that reads it.
  await sql`alter table orders rename column market_id to market`;
  const renamed = await rowsFile(sql);
  expect(renamed).not.toContain('market_id: string;\n  readonly condition_id: string;\n  readonly question');
  expect(renamed).not.toBe(readFileSync(ROWS_FILE, 'utf8'));
});
