/** `/readyz` is correct before a takeover, for a frozen leader and for each venue. */
import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { LEASE } from '../../packages/durable/src/term.ts';
import { openPool } from '../../packages/server/src/platform/database/connection.ts';
import { aMarket, call, newTrader, startTestService } from '../harness.ts';
import { createDeskDatabase } from '../postgres.ts';
import { kill, startProcess } from '../service-process.ts';
import { afterFile } from '../setup/clean-up.ts';
import { aPurchase } from '../takeover-stage.ts';

const stopped: number[] = [];
afterAll(() => {
  for (const pid of stopped) kill(pid, 'SIGCONT');
});

test('a follower whose leader is frozen is not ready, even without trades, and refuses none of them', async () => {
  const env = {
    DATABASE_URL: await createDeskDatabase(),
    MASTER_KEY: randomBytes(32).toString('hex'),
    REQUEST_DEADLINE_MS: '100000',
  };
  const leader = await startProcess({ env });
  const follower = await startProcess({ env });
  await expect.poll(async () => (await call(follower, 'GET', '/readyz')).status, { interval: 100 }).toBe(200);
  // A trade that is about to be judged: its agent is locked.
  const trader = await newTrader(follower);
  const sql = openPool(env.DATABASE_URL, { max: 2 });
  const lock = await sql.session();
  await lock`begin`;
  await lock`select from safeguards where agent_id = ${trader.agentId} for update`;
  const body = await aPurchase(trader, 20);
  const trade = call(follower, 'POST', '/markets/trade', { key: trader.apiKey, body });
  const waits = () => sql`select from pg_locks where not granted`;
  await expect.poll(waits, { interval: 20 }).toHaveLength(1);

  const pid = leader.child.pid as number;
  stopped.push(pid);
  kill(pid, 'SIGSTOP');
  // Asked at once: later the follower would have taken over, and be ready.
  const answer = await call(follower, 'GET', '/readyz');
  const reason = 'the replica that leads the paper exchange does not answer';
  expect(answer).toMatchObject({
    status: 503,
    body: { status: 'not ready', database: 'ready', venues: [{ status: reason }, { status: reason }] },
  });
  await lock`commit`;
  lock.end();
  expect(await trade).toMatchObject({ status: 201, body: { status: 'matched' } });
  await sql.end();
  kill(pid, 'SIGCONT');
  await expect.poll(async () => (await call(follower, 'GET', '/readyz')).status, { interval: 100 }).toBe(200);
});

test('a leader that could not renew its lease in time is not ready, and nothing that waits for it is refused', async () => {
  // No other process takes the lead.
  const { silentAfterMs } = LEASE;
  LEASE.silentAfterMs = 60_000;
  afterFile('services', () => {
    LEASE.silentAfterMs = silentAfterMs;
  });
  const leader = await startTestService({ PAPER_WORLD: 'off' });
  const { databaseUrl, masterKey } = leader;
  const own = { DATABASE_URL: databaseUrl, MASTER_KEY: masterKey, PAPER_WORLD: 'off' };
  const replicas = [leader, await startTestService(own)];
  const purchases = await Promise.all(
    replicas.map(async (replica) => {
      const trader = await newTrader(replica);
      return { replica, trader, body: await aPurchase(trader, 20) };
    }),
  );
  const sql = openPool(databaseUrl, { max: 1 });
  const lock = await sql.session();
  await lock`begin`;
  await lock`select from durable_terms where name = 'exchange' for update`;
  await expect.poll(() => leader.exchange.lapsedAt, { interval: 20 }).not.toBeNull();

  const trades = purchases.map(({ replica, trader: { apiKey: key }, body }) =>
    call(replica, 'POST', '/markets/trade', { key, body }),
  );
  // Finds a market, creates keys at the venue's door, and is credited.
  const others = replicas.map(async (replica) => aMarket((await newTrader(replica)).client));
  const all = Promise.all([...trades, ...others]);
  const reason = 'no replica leads the paper exchange';
  expect(await call(leader, 'GET', '/readyz')).toMatchObject({
    status: 503,
    body: { status: 'not ready', database: 'ready', venues: [{ status: reason }, { status: reason }] },
  });
  await lock`commit`;
  lock.end();
  await sql.end();
  await all;
  for (const trade of trades) expect(await trade).toMatchObject({ status: 201, body: { status: 'matched' } });
});

test('the quote venue is not ready when its sandbox is not; the signed-order venue stays ready', async () => {
  const service = await startTestService({ PAPER_WORLD: 'off' });
  expect((await call(service, 'GET', '/readyz')).body).toMatchObject({
    status: 'ready',
    venues: [{ status: 'ready' }, { status: 'ready' }],
  });
  const before = service.exchange.term;
  // The exchange has lost its lead: until it has it again, neither venue accepts orders.
  const admin = openPool(service.databaseUrl, { max: 1 });
  await admin`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
    and database = (select oid from pg_database where datname = current_database())`;
  await admin.end();
  await expect.poll(() => service.exchange.status, { interval: 1 }).toBe('reopening');
  const reason = 'no replica leads the paper exchange';
  expect([...service.needs.venues.values()].map((venue) => venue.status())).toEqual([reason, reason]);
  await expect.poll(() => service.exchange.term, { interval: 1 }).toBe(before + 1);
  // The exchange is back at once, its sandbox must be read again: until then only the quote venue is not ready.
  expect([...service.needs.venues.values()].map((venue) => venue.status())).toEqual([
    'ready',
    'the sandbox is being opened',
  ]);
  const answer = await call(service, 'GET', '/readyz');
  expect(answer.status).toBe(200);
  await expect
    .poll(async () => (await call(service, 'GET', '/readyz')).body, { interval: 50 })
    .toMatchObject({ venues: [{ status: 'ready' }, { status: 'ready' }] });
});
