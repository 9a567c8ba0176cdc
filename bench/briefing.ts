/**
 * What one heartbeat costs: GET /markets/briefing for many agents that hold positions and have open orders and a history.
 *
 *   node bench/briefing.ts [agents] [past orders per agent] [seconds]      default 10000 20 10
 *
 * The service and its embedded PostgreSQL run here, the load in a separate process with 64 connections. Agents ask
 * in turn, so that most calls also resolve their key in the database, as with a heartbeat every 30 s. Prints briefings
 * per second, latency, CPU time of the service's process per briefing, and the database's time for the statement
 * alone; once with a cursor (the usual heartbeat), once without (the first).
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPool, type Sql, socketUrl } from '../packages/server/src/adapters/postgres/connection.ts';
import { startEmbeddedPostgres } from '../packages/server/src/adapters/postgres/embedded-postgres.ts';
import { readConfig } from '../packages/server/src/config.ts';
import { type Service, startService } from '../packages/server/src/service.ts';

const CONNECTIONS = 64;
const OPEN_ORDERS = 3;
const POSITIONS = 4;
const SAMPLES = 300;
/** Registration allocates ids in batches of this size. */
const BATCH = 500;

interface Load {
  readonly url: string;
  readonly keys: readonly string[];
  readonly seconds: number;
  readonly query: string;
}

interface Result {
  readonly answers: number;
  readonly failures: number;
  readonly seconds: number;
  /** Milliseconds, sorted. */
  readonly latencies: readonly number[];
}

/** The load generator: 64 loops, each calling for the next agent. */
async function generate({ url, keys, seconds, query }: Load): Promise<Result> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const latencies: number[] = [];
  let failures = 0;
  let turn = 0;
  const ask = (key: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}` };
      get(`${url}/markets/briefing${query}`, { agent, headers }, (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode ?? 0));
      }).once('error', reject);
    });
  const start = performance.now();
  const until = start + seconds * 1_000;
  const loop = async () => {
    while (performance.now() < until) {
      const begun = performance.now();
      const status = await ask(keys[turn++ % keys.length] as string);
      latencies.push(performance.now() - begun);
      if (status !== 200) failures += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, loop));
  agent.destroy();
  return {
    answers: latencies.length,
    failures,
    seconds: (performance.now() - start) / 1_000,
    latencies: latencies.toSorted((a, b) => a - b),
  };
}

/** Agents with wallets, positions, open orders and a history, written directly into the tables. */
async function populate(sql: Sql, service: Service, agents: number, past: number): Promise<string[]> {
  const markets = (await service.needs.venues.default.markets.search({ words: '*' })).markets.filter(
    ({ status }) => status === 'open',
  );
  const keys: string[] = [];
  for (let from = 0; from < agents; from += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, agents - from) }, (_, i) => {
      const key = service.needs.secrets.newApiKey();
      keys.push(key);
      const wallet = `0x${(from + i + 1).toString(16).padStart(40, '0')}`;
      return {
        id: service.needs.secrets.newId(),
        wallet,
        hash: Buffer.from(service.needs.secrets.hash(key)).toString('hex'),
      };
    });
    await sql`
      with given as (select * from jsonb_to_recordset(${sql.json(rows)}) as t(id uuid, wallet text, hash text)),
      owned as (insert into owners (created_at) select now() from given returning user_id),
      paired as (select g.*, o.user_id from (select *, row_number() over () as n from given) g
        join (select user_id, row_number() over () as n from owned) o using (n)),
      agent as (insert into agents (agent_id, user_id, name, description, claim_code, wallet_address, created_at)
        select id, user_id, 'Bench', '', id::text, wallet, now() from paired),
      limits as (insert into safeguards (agent_id, max_trades_per_day, max_trade_amount, daily_trade_amount_limit,
          updated_at, usage_day) select id, 50, 100000000, 500000000, now(), current_date from paired),
      credential as (insert into credentials (wallet_address, user_id, eoa, funder, signature_type, api_key_hash,
          key_id, sealed, registered_at) select wallet, user_id, wallet, wallet, 0, '', 1, '', now() from paired)
      insert into api_keys (agent_id, key_hash, key_prefix, key_suffix, name, create_type, created_at, last_called_at)
      select id, decode(hash, 'hex'), 'bw_', '', 'bench', 2, now(), now() from paired`;
  }
  const listed = markets.map(({ id, conditionId, tokenIds, question }) => ({
    id,
    condition: conditionId,
    token: tokenIds[0],
    question,
  }));
  await sql`create temp table listed as select *, row_number() over () - 1 as n
    from jsonb_to_recordset(${sql.json(listed)}) as t(id text, condition text, token text, question text)`;
  await sql`insert into positions (wallet, token_id, condition_id, outcome, size, cost, realized, fees, updated_at)
    select a.wallet_address, l.token, l.condition, 'YES', 10000000, 5000000, 0, 0, now()
    from agents a cross join generate_series(1, ${POSITIONS}::int) as i
    join listed l on l.n = (hashtext(a.agent_id::text) & 1023 + i * 7) % ${markets.length}::int on conflict do nothing`;
  // The database accepts new orders only as `submitting`.
  const orders = async (count: number, status: string) => {
    await sql`insert into orders (agent_id, order_id, user_id, venue, market_id, condition_id, question, token_id,
        outcome, kind, side, is_limit, time_in_force, post_only, defer_exec, price, limit_price, shares, money, funder,
        wallet_address, signature_type, version, fee_amount, request_id, created_at, status, journal, reserved_day,
        reserved_amount, updated_at)
      select a.agent_id, '0x' || md5(a.agent_id::text || ${status} || i) || md5(i || ${status}), a.user_id,
        'polymarket', l.id, l.condition, l.question, l.token, 'YES', 'signed', 'BUY', true, 'GTC', false, false, 100, 100,
        10000000, 100000, a.wallet_address, a.wallet_address, 0, 2, 0, 'bench',
        now() - interval '1 hour' - i * interval '10 minutes', 'submitting', '[]', current_date, 100000,
        now() - interval '1 hour' - i * interval '10 minutes'
      from agents a cross join generate_series(1, ${count}::int) as i
      join listed l on l.n = i * 11 % ${markets.length}::int`;
    await sql`update orders set status = ${status} where status = 'submitting'`;
  };
  await orders(OPEN_ORDERS, 'live');
  await orders(past, 'canceled');
  for (const table of ['agents', 'safeguards', 'api_keys', 'credentials', 'orders', 'positions'])
    await sql`vacuum analyze ${sql(table)}`;
  return keys;
}

const at = (sorted: readonly number[], share: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);

async function measure(name: string, load: Load): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), ['load']);
  const before = process.cpuUsage();
  const result = await new Promise<Result>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Result));
    child.once('exit', (code) => reject(new Error(`the load generator ended with ${code}`)));
    child.send(load);
  });
  const { user, system } = process.cpuUsage(before);
  child.kill();
  const { answers, failures, seconds, latencies } = result;
  console.log(
    `${name}: ${Math.round(answers / seconds)} briefings/s at ${CONNECTIONS} connections, ` +
      `${((user + system) / 1_000 / answers).toFixed(2)} ms of CPU each, ` +
      `p50 ${at(latencies, 0.5)} ms, p99 ${at(latencies, 0.99)} ms, ${failures} failures`,
  );
}

/** One agent at a time: the round trip of the statement alone. */
async function measureStatement(service: Service, keys: readonly string[], cursor: string): Promise<void> {
  const now = Date.now();
  const [, time, , , snapshot] = cursor.split('.');
  const times: number[] = [];
  for (let i = 0; i < SAMPLES; i += 1) {
    const caller = await service.needs.agents.callerByKeyHash(
      service.needs.secrets.hash(keys[(i * 7_919) % keys.length] as string),
    );
    if (caller === null) throw new Error('an agent of the bench is unknown');
    const begun = performance.now();
    await service.needs.facts.briefing({
      caller,
      user: null,
      at: now,
      staleBefore: now - 86_400_000,
      doubtBefore: { signed: now - 5_000, quoted: now - 90_000 },
      venue: null,
      changedAfter: Number(time),
      notIn: snapshot ?? null,
      changesLimit: 100,
    });
    times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  console.log(`the one statement, alone: p50 ${at(times, 0.5)} ms, p99 ${at(times, 0.99)} ms there and back`);
}

async function main(agents: number, past: number, seconds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bw-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir: folder, database: 'bellwether' });
  const url = socketUrl(postgres, postgres.database);
  const service = await startService(
    readConfig({
      PORT: '0',
      LOG_LEVEL: 'silent',
      RATE_LIMITS: 'off',
      DATABASE_URL: url,
      MASTER_KEY: '0'.repeat(64),
    }),
  );
  const sql = openPool(url, { max: 1 });
  try {
    const keys = await populate(sql, service, agents, past);
    const [row] = await sql`select count(*)::int as orders from orders`;
    console.log(
      `${agents} agents with ${POSITIONS} positions and ${OPEN_ORDERS} open orders each; ${row?.orders} orders in all`,
    );
    const headers = { authorization: `Bearer ${keys[0]}` };
    const first = await fetch(`${service.address}/markets/briefing`, { headers });
    const { nextCursor } = (await first.json()) as { nextCursor: string };
    const load = { url: service.address, keys, seconds };
    await measure('warm-up', { ...load, seconds: Math.min(3, seconds), query: `?since=${nextCursor}` });
    await measure('with a cursor', { ...load, query: `?since=${nextCursor}` });
    await measure('without', { ...load, query: '' });
    await measureStatement(service, keys, nextCursor);
  } finally {
    await sql.end();
    await service.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[2] === 'load') {
  process.once('message', async (load) => {
    process.send?.(await generate(load as Load));
  });
} else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [agents = 10_000, past = 20, seconds = 10] = process.argv.slice(2).map(Number);
  await main(agents, past, seconds);
}
