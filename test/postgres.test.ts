import { expect, test } from 'vitest';
import { openTestDatabase } from './postgres.ts';

test('a test database is a real PostgreSQL, reached only by its URL', async () => {
  const sql = await openTestDatabase();
  const [row] =
    await sql`select current_database() as name, current_setting('server_version_num')::int as version`;
  expect(row?.name).toMatch(/^test_/);
  expect(row?.version).toBeGreaterThanOrEqual(150_000);
});
