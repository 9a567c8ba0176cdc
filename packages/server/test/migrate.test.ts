import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestDatabase, openTestDatabase } from '../../../test/postgres.ts';
import { openPool } from '../src/adapters/postgres/connection.ts';
import { migrate } from '../src/adapters/postgres/migrate.ts';
import { journalEntries } from '../src/adapters/postgres/order-journal.ts';

const LINES = join(import.meta.dirname, '../src/adapters/postgres/migrations/0071-journal-lines.sql');

test('a migration may take longer than a statement of a request', async () => {
  const sql = openPool(await createTestDatabase(), { max: 2, statementTimeoutMs: 100 });
  try {
    await expect(sql`select pg_sleep(1)`).rejects.toMatchObject({ code: '57014' });
    expect(await migrate(sql, ['select pg_sleep(1)'])).toBeGreaterThan(0);
  } finally {
    await sql.end();
  }
});

test('journals of orders keep their entries when they become lines', async () => {
  const sql = await openTestDatabase(1);
  const entries = [
    {
      at: '2026-11-23T00:00:00.123Z',
      event: 'recorded',
      status: 'submitting',
      checked: { orderValue: ['5', '10'] },
    },
    { at: '2026-11-23T00:00:00.122Z', event: 'accepted', status: 'live' },
    { at: '1969-12-31T23:59:59.999Z', event: 'rejected', status: 'rejected', detail: 'not\n"now"' },
  ];
  await sql`create table orders (nth integer, journal jsonb not null)`;
  await sql`insert into orders values (1, ${sql.json(entries)}), (2, '[]')`;
  await sql.unsafe(readFileSync(LINES, 'utf8'));
  const rows = await sql`select journal from orders order by nth`;
  expect(rows.map(({ journal }) => journalEntries(journal as string))).toEqual([entries, []]);
});
