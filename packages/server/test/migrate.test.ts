import { expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/postgres.ts';
import { openPool } from '../src/platform/database/connection.ts';
import { migrate } from '../src/platform/database/migrate.ts';

test('a migration may take longer than a statement of a request', async () => {
  const sql = openPool(await createTestDatabase(), { max: 2, statementTimeoutMs: 100 });
  try {
    await expect(sql`select pg_sleep(1)`).rejects.toMatchObject({ code: '57014' });
    expect(await migrate(sql, ['select pg_sleep(1)'])).toBeGreaterThan(0);
  } finally {
    await sql.end();
  }
});
