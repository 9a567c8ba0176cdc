/** The row types that the stores read match the migrated schema. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROWS_FILE, rowsFile } from '../../../scripts/generate-rows.ts';
import { openTestDatabase } from '../../../test/postgres.ts';
import { migrate } from '../src/platform/database/migrate.ts';

test('rows.generated.ts matches the migrated schema: node scripts/generate-rows.ts', async () => {
  const sql = await openTestDatabase();
  await migrate(sql);
  expect(await rowsFile(sql)).toBe(readFileSync(ROWS_FILE, 'utf8'));
  // A renamed column changes the interface, and with it the type check of every mapper that reads it.
  await sql`alter table orders rename column market_id to market`;
  expect(await rowsFile(sql)).toContain('readonly market: string;\n  readonly condition_id');
  // A column with a type override must be renamed in the overrides, too.
  await sql`alter table orders rename column side to direction`;
  await expect(rowsFile(sql)).rejects.toThrow('names orders.side: no such column');
});

const READERS =
  /(?:^|\/)(?:agent-facts|owner-wallets|wallet-cap|fact-log|leader-board|(?:.*-)?store|trade-.*)\.ts$/;
/** A statement without a row type: any column name would compile. */
const UNTYPED_READ = /(?:const (?:\w+|[[{].*[\]}]) = |\()await (?:sql|tx)`.*/g;
const FOLDER = join(import.meta.dirname, '../src');

test('every query of a store names its row type', () => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) =>
    READERS.test(name),
  );
  expect(files.length).toBeGreaterThan(10);
  const untyped = files.flatMap((file) => {
    const source = readFileSync(join(FOLDER, file), 'utf8');
    return [...source.matchAll(UNTYPED_READ)].map(([read]) => `${file}: ${read}`);
  });
  expect(untyped).toEqual([]);
});
