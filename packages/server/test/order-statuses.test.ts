/** Only one statement changes a status, as the lifecycle allows, and the database refuses everything else. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transact } from '@bellwether/durable';
import { beforeAll, expect, test } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import { ORDER_KINDS, ORDER_STATUSES, type OrderKind, reachable } from '../src/domain/lifecycle.ts';
import { eventWord } from '../src/domain/status-words.ts';
import type { Sql } from '../src/platform/database/connection.ts';
import { FUNCTIONS_FOLDER } from '../src/platform/database/sql-functions.ts';
import { LIFECYCLE_FILE, lifecycleSql } from '../src/trading/lifecycle-sql.ts';

const PACKAGES = join(import.meta.dirname, '../..');

let sql: Sql;
beforeAll(async () => {
  sql = await openDeskDatabase();
});

let orders = 0;
async function insertOrder(
  kind: OrderKind,
  status = 'submitting',
  firstAnswer: object | null = null,
): Promise<string> {
  orders += 1;
  const orderId = `order ${orders}`;
  const signed = kind === 'signed';
  await sql`insert into orders (agent_id, order_id, user_id, venue, market_id, condition_id, question, token_id, outcome,
      kind, signature_type, version, is_redemption, side, is_limit, time_in_force, post_only, defer_exec, price, limit_price, shares,
      money, funder, wallet_address, fee_amount, request_id, created_at, status, journal, reserved_day, reserved_amount,
      updated_at, first_answer)
    values (gen_random_uuid(), ${orderId}, 1, 'v', 'm', 'c', 'q', 't', 'YES', ${kind}, ${signed ? 0 : null},
      ${signed ? 2 : null}, ${kind === 'merge'}, 'BUY', true, 'GTC', false, false, 5000, 5000, 1, 1, 'w', 'w', 0, 'r', now(), ${status}, '[]',
      current_date, 1, now(), ${firstAnswer === null ? null : sql.json(firstAnswer)})`;
  return orderId;
}

/** Sets an order's status, bypassing the lifecycle. */
const place = (orderId: string, status: string) =>
  transact(sql, async (tx) => {
    await tx`alter table orders disable trigger orders_next_status`;
    await tx`update orders set status = ${status} where order_id = ${orderId}`;
    await tx`alter table orders enable trigger orders_next_status`;
  });

test('the SQL functions are generated from the lifecycle: node scripts/generate-rows.ts', () => {
  expect(readFileSync(join(FUNCTIONS_FOLDER, LIFECYCLE_FILE), 'utf8')).toBe(lifecycleSql());
});

test('the database refuses exactly the updates that the lifecycle forbids', async () => {
  for (const kind of ORDER_KINDS) {
    const orderId = await insertOrder(kind);
    for (const from of ORDER_STATUSES)
      for (const to of ORDER_STATUSES) {
        await place(orderId, from);
        const moved = await sql`update orders set status = ${to} where order_id = ${orderId}`.then(
          () => true,
          (error: { code?: string }) => {
            expect(error.code).toBe('23514');
            return false;
          },
        );
        expect([kind, from, to, moved]).toEqual([
          kind,
          from,
          to,
          from === to || reachable(kind, from).includes(to),
        ]);
      }
  }
});

test('an order starts as submitting, or as what its venue answered in the same commit; it never changes its kind', async () => {
  for (const kind of ORDER_KINDS)
    for (const status of ORDER_STATUSES.filter((one) => one !== 'submitting')) {
      await expect(insertOrder(kind, status)).rejects.toThrow(`cannot begin as ${status}`);
      const begun = insertOrder(kind, status, { success: true });
      if (kind !== 'quoted' && reachable(kind, 'submitting').includes(status)) await begun;
      else await expect(begun).rejects.toThrow(`cannot begin as ${status}`);
    }
  const orderId = await insertOrder('signed');
  await expect(
    sql`update orders set kind = 'quoted', signature_type = null, version = null where order_id = ${orderId}`,
  ).rejects.toThrow('cannot become');
});

test('webhooks and records use the same status words', async () => {
  for (const status of ORDER_STATUSES) {
    const [row] = await sql`select order_event_word(${status}) as word`;
    expect(row?.word).toBe(eventWord(status));
  }
});

test('only the statement for evidence writes statuses', () => {
  const sources = readdirSync(PACKAGES, { recursive: true, encoding: 'utf8' })
    .filter((path) => /^[\w-]+\/src\/.*\.(ts|sql)$/.test(path) && !path.includes('migrations/'))
    .map((path) => ({ path, text: readFileSync(join(PACKAGES, path), 'utf8') }));
  const writers = (pattern: RegExp) =>
    sources
      .filter(({ text }) => pattern.test(text))
      .map(({ path }) => path)
      .sort();
  expect(writers(/\b(update|merge into)\s+(only\s+)?("?public"?\.)?"?orders\b/i)).toEqual([
    // When the desk cancels, and why: no status.
    'server/src/platform/database/functions/silence.sql',
    'server/src/trading/evidence.ts',
  ]);
  expect(writers(/\binsert\s+into\s+("?public"?\.)?"?orders\b/i)).toEqual([
    'server/src/trading/admission-writes.ts',
  ]);
});
