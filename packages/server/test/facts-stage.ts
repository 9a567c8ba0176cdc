/** A database with two agents, whose orders are written by statements alone, and what readers of the log of facts find. */
import { openDeskDatabase } from '../../../test/postgres.ts';
import { createAgentFacts } from '../src/briefing/store.ts';
import type { Caller } from '../src/domain/records.ts';
import type { Sql } from '../src/platform/database/connection.ts';

export const AGENT = '00000000-0000-4000-8000-000000000001';
export const OTHER = '00000000-0000-4000-8000-000000000002';
export const ENDPOINT = '00000000-0000-4000-8000-0000000000e1';

async function addAgents(sql: Sql): Promise<void> {
  for (const [agent, code] of [
    [AGENT, 'one'],
    [OTHER, 'two'],
  ] as const) {
    await sql`with o as (insert into owners (created_at) values (now()) returning user_id)
      insert into agents (agent_id, user_id, name, description, claim_code, created_at)
      select ${agent}::uuid, user_id, 'Agent', '', ${code}, now() from o`;
    await sql`insert into safeguards (agent_id, max_trades_per_day, max_trade_amount, daily_trade_amount_limit, updated_at,
      usage_day) values (${agent}, 1, 1, 1, now(), now())`;
  }
}

export const addEndpoint = (sql: Sql, id = ENDPOINT, agent = AGENT) =>
  sql`insert into webhook_endpoints (id, agent_id, url, events, description, key_id, sealed_secret, created_at)
    values (${id}, ${agent}, 'https://example.com', array['*'], '', 1, '', now())`;

export const place = (sql: Pick<Sql, 'unsafe'>, id: string, { agent = AGENT, at = Date.now() } = {}) =>
  sql.unsafe(
    `with placed as (insert into orders (agent_id, order_id, user_id, venue, market_id, condition_id, question, token_id, outcome, side,
      is_limit, time_in_force, post_only, defer_exec, price, limit_price, shares, money, funder, wallet_address,
      signature_type, version, fee_amount, request_id, created_at, status, journal, reserved_day, reserved_amount, updated_at, kind)
    select '${agent}', '${id}', user_id, 'paper', 'm1', 'c1', 'Why?', 't1', 'YES', 'BUY', true, 'GTC', false, false, 5000,
      5000, 2000000, 1000000, '0xf', '0xw', 0, 2, 0, 'r', t, 'submitting', '[]', t, 0, t, 'signed'
    from agents, (values (to_timestamp(${at / 1000}))) as v(t) where agent_id = '${agent}' returning *)
    insert into facts (agent_id, kind, subject, at, payload)
    select agent_id, 'order', order_id, updated_at, order_change(status, filled, cost, fees, error_code) from placed`,
  );
export const move = (sql: Pick<Sql, 'unsafe'>, id: string, status: string, at = Date.now()) =>
  sql.unsafe(
    `update orders set status = '${status}', updated_at = to_timestamp(${at / 1000}) where order_id = '${id}'`,
  );

export const queued = async (sql: Sql, endpoint = ENDPOINT) =>
  (
    await sql`select type, data->>'orderId' as subject from webhook_deliveries where endpoint_id = ${endpoint} order by id`
  ).map(({ type, subject }) => `${subject} ${type}`);
export const queue = (sql: Sql) => sql`select queue_webhook_events()`;

export async function fresh(): Promise<Sql> {
  const sql = await openDeskDatabase();
  await addAgents(sql);
  return sql;
}

export const brief = async (sql: Sql, since: { at: number; snapshot: string | null }) => {
  const found = await createAgentFacts(sql).briefing({
    caller: { agentId: AGENT, userId: 1n } as Caller,
    user: null,
    at: Date.now(),
    staleBefore: 0,
    doubtBefore: { signed: 0, quoted: 0 },
    venue: null,
    changedAfter: since.at,
    notIn: since.snapshot,
    changesLimit: 100,
  });
  return {
    reported: found.changed.map(({ orderId, status }) => `${orderId} ${status}`),
    next: { at: Date.now(), snapshot: found.snapshot },
  };
};
