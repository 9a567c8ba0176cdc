/** Receipts are made of what is committed, in any order in which transactions end, and of each fact once. */
import { openTransaction } from '@bellwether/durable';
import { beforeAll, expect, test } from 'vitest';
import { AGENT, openDeskOfOneAgent } from '../../../test/one-agent.ts';
import type { Sql, Tx } from '../src/platform/database/connection.ts';
import { createReceiptStore } from '../src/receipts/index.ts';

let sql: Sql;
beforeAll(async () => {
  sql = await openDeskOfOneAgent();
});

const placed = (
  orderId: string,
) => sql`insert into orders (agent_id, order_id, user_id, venue, market_id, condition_id,
    question, token_id, outcome, kind, signature_type, version, side, is_limit, time_in_force, post_only, defer_exec, price,
    limit_price, shares, money, funder, wallet_address, fee_amount, request_id, created_at, status, journal, reserved_day,
    reserved_amount, updated_at)
  select agent_id, ${orderId}, user_id, 'v', 'm', 'c', '?', 't', 'YES', 'signed', 0, 2, 'BUY', true, 'GTC', false, false, 5000,
    5000, 1, 1, 'w', 'w', 0, 'r', now(), 'submitting', '[]', current_date, 1, now() from agents`;
const tell = (on: Sql | Tx, orderId: string) => on`insert into facts (agent_id, kind, subject, at, payload)
  values (${AGENT}, 'order', ${orderId}, now(), '{}')`;

test('what was begun earlier and is committed later is not passed by', async () => {
  const receipts = createReceiptStore(sql);
  const seen: string[] = [];
  const extend = () =>
    receipts.extend(100, ({ matters }) => {
      for (const { order, facts } of matters) seen.push(...facts.map(() => order.orderId));
      return [];
    });
  await Promise.all(['early', 'late', 'last'].map(placed));
  const early = openTransaction(sql);
  await tell(early.tx, 'early');
  await tell(sql, 'late');
  await extend();
  await early.commit();
  await tell(sql, 'last');
  await expect
    .poll(async () => {
      await extend();
      return seen.toSorted();
    })
    .toEqual(['early', 'last', 'late']);
  await extend();
  expect(seen.toSorted()).toEqual(['early', 'last', 'late']);
});

test('of two who read the same piece one moves on, and the other adds nothing', async () => {
  const add = async () => {
    const [row] =
      await sql`select add_receipts(${place?.writer}::xid8, ${place?.seq}::bigint, ${place?.writer}::xid8,
      ${place?.seq + 1n}::bigint, '{}', '{}', '{}', '{}', '{}', '{}', '{}') as is_mine`;
    return row?.is_mine;
  };
  const [place] = await sql`select writer::text as writer, seq from receipt_log`;
  expect(await add()).toBe(true);
  expect(await add()).toBe(false);
});
