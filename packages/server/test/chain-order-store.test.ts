/** The transactions of quoted orders: of two who move one, the second has read what is no longer so, and changes nothing. */
import { beforeAll, expect, test } from 'vitest';
import { NO_EVIDENCE } from '../../../test/one-agent.ts';
import { openDeskDatabase } from '../../../test/postgres.ts';
import type { Sql } from '../src/platform/database/connection.ts';
import {
  type ChainOrderRow,
  type ChainOrderStore,
  createChainOrderStore,
} from '../src/quoting/quote-store.ts';

const AGENT = '00000000-0000-4000-8000-000000000001';
const NOW = Date.UTC(2026, 5, 1, 12);

let sql: Sql;
let store: ChainOrderStore;
beforeAll(async () => {
  sql = await openDeskDatabase();
  // Rows of this table alone are looked at.
  await sql`alter table chain_orders drop constraint chain_orders_order_id_fkey`;
  store = createChainOrderStore(sql);
});

let made = 0;
async function recorded(): Promise<ChainOrderRow> {
  made += 1;
  const orderId = `00000000-0000-4000-9000-${String(made).padStart(12, '0')}`;
  await sql`insert into chain_orders (order_id, agent_id, signature, wire, stage, due_at)
    values (${orderId}, ${AGENT}, ${`signature ${made}`}, '', 'sending', ${new Date(NOW)})`;
  return read(orderId);
}
const read = async (orderId: string): Promise<ChainOrderRow> =>
  (await store.byIds([orderId]))[0] as ChainOrderRow;

const move = (seen: ChainOrderRow, to: Partial<ChainOrderRow>): Promise<boolean> =>
  store.advance({ seen, evidence: NO_EVIDENCE, to: { ...seen, ...to }, dueAt: NOW, at: NOW });
const begins = async ({ orderId }: ChainOrderRow): Promise<boolean> =>
  (await store.beginSend([orderId], NOW, NOW + 1_000)).has(orderId);

test('what was canceled before it was sent is not sent', async () => {
  const unsent = await recorded();
  expect(await move(unsent, { stage: 'done' })).toBe(true);
  expect(await begins(unsent)).toBe(false);
  expect(await read(unsent.orderId)).toMatchObject({ stage: 'done', attempts: 0, sentAt: null });
});

test('what was sent meanwhile is not canceled as unsent', async () => {
  const unsent = await recorded();
  expect(await begins(unsent)).toBe(true);
  expect(await move(unsent, { stage: 'done' })).toBe(false);
  expect(await read(unsent.orderId)).toMatchObject({ stage: 'sending', attempts: 1 });
  // Who knows that it was sent may record how it ended.
  expect(await move(await read(unsent.orderId), { stage: 'landed' })).toBe(true);
});

test('a fill is recorded by one of two who have read the same', async () => {
  const order = await recorded();
  await begins(order);
  await move(await read(order.orderId), { stage: 'landed' });
  const seen = await read(order.orderId);
  const both = await Promise.all([move(seen, { fills: ['one'] }), move(seen, { fills: ['one'] })]);
  expect(both.toSorted()).toEqual([false, true]);
  expect((await read(order.orderId)).fills).toEqual(['one']);
  expect(await begins(seen)).toBe(false);
});
