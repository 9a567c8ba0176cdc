/** A database of two hosts whose primary dies, is cut off, or comes back: what was acknowledged stays, and one server is written to. */
import { randomBytes } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { DESK_ROLE } from '../../packages/durable/src/embedded/embedded-postgres.ts';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { expectOneEffect, orderOfTurn, place, type Timed, tradeUntilStopped } from '../group-trading.ts';
import { aMarket, call, newTrader, startTestService, type TestService, type Trader } from '../harness.ts';
import { DATABASE, type PostgresPair, startPostgresPair } from '../postgres-pair.ts';
import { freePort, runScript, signalGroup, startProcess, startRefused } from '../service-process.ts';
import { afterFile } from '../setup/clean-up.ts';

/** Asked of the desk: so soon after a promotion it writes to the new primary. A machine may be three times slower. */
const FOUND_MS = 5_000 * 3;

let pair: PostgresPair;
let sql: Sql;
beforeEach(async () => {
  pair = await startPostgresPair();
  sql = openPool(pair.url, { max: 4, statementTimeoutMs: 60_000 });
  afterFile('pools', () => sql.end({ timeout: 1 }));
  await sql`create table written (n integer primary key)`;
});

/** Writes one number after another until it is stopped, and remembers those that were acknowledged. */
function writer() {
  const acknowledged = new Set<number>();
  let isOver = false;
  let next = 0;
  const work = async (): Promise<void> => {
    while (!isOver) {
      const n = next;
      next += 1;
      await sql`insert into written values (${n})`.then(
        () => acknowledged.add(n),
        () => sleep(20),
      );
    }
  };
  const working = Promise.all([work(), work(), work()]);
  return {
    acknowledged,
    async stop() {
      isOver = true;
      await working;
    },
  };
}

async function expectGoesOn({ acknowledged }: ReturnType<typeof writer>): Promise<void> {
  const before = acknowledged.size;
  await expect
    .poll(() => acknowledged.size, { timeout: FOUND_MS, interval: 50 })
    .toBeGreaterThan(before + 10);
}

const isIn = async (numbers: ReadonlySet<number>, at: Sql = sql): Promise<boolean> => {
  const rows = await at<{ readonly n: number }[]>`select n from written`;
  const known = new Set(rows.map(({ n }) => n));
  return [...numbers].every((n) => known.has(n));
};
const systemOf = async (): Promise<string> => {
  const [row] =
    await sql`select pg_postmaster_start_time()::text as server, pg_is_in_recovery() as is_standby`;
  expect(row?.is_standby).toBe(false);
  return String(row?.server);
};

test('the primary is killed and the standby promoted: writes go on within seconds, and none that was acknowledged is lost', async () => {
  const writing = writer();
  await expectGoesOn(writing);
  pair.first.signal('SIGKILL');
  await sleep(500);
  await pair.second.promote();
  await expectGoesOn(writing);
  await writing.stop();
  expect(await isIn(writing.acknowledged)).toBe(true);
});

test('a primary that was cut off hangs, and takes no statement after it comes back: another was promoted', async () => {
  const writing = writer();
  await expectGoesOn(writing);
  const old = await systemOf();
  pair.first.signal('SIGSTOP');
  await sleep(500);
  await pair.second.promote();
  await expectGoesOn(writing);
  pair.first.signal('SIGCONT');
  await sleep(2_000);
  await writing.stop();
  // Every connection of a fresh demand, too.
  for (let nth = 0; nth < 5; nth += 1) {
    sql.dropConnections(new Error('opened anew'));
    expect(await systemOf()).not.toBe(old);
  }
  expect(await isIn(writing.acknowledged)).toBe(true);
});

/** A host that lets every client in, and then says nothing. */
async function mute(): Promise<number> {
  const AUTHENTICATED = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1');
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.write(AUTHENTICATED));
    afterFile('processes', () => socket.destroy());
  });
  afterFile('processes', () => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** The pair's URL with a third host between the two. */
const withThird = (port: number): string =>
  pair.url
    .replace(/host=([^,]+),([^&]+)/, 'host=$1,127.0.0.1,$2')
    .replace(/port=(\d+)/, `port=$1,${port},$1`);

test('a process that starts beside two servers that accept writes takes the one that was promoted last', async () => {
  const old = await systemOf();
  pair.first.signal('SIGSTOP');
  await pair.second.promote();
  pair.first.signal('SIGCONT');
  const fresh = openPool(withThird(await mute()), { max: 1 });
  afterFile('pools', () => fresh.end({ timeout: 1 }));
  const [row] = await fresh`select pg_postmaster_start_time()::text as server`;
  expect(row?.server).not.toBe(old);
});

/** What the first host of the URL is when a process starts. */
const UNUSABLE_FIRST = {
  dead: async () => {
    pair.first.signal('SIGKILL');
    await pair.second.promote();
    return pair.url;
  },
  silent: async () => {
    pair.first.signal('SIGSTOP');
    await pair.second.promote();
    return pair.url;
  },
  'read-only': async () => pair.url.replace(/host=([^,]+),([^&]+)/, 'host=$2,$1'),
};

test.each(Object.entries(UNUSABLE_FIRST))(
  'whatever is started beside a first host that is %s finds the second, works and ends',
  async (_, leave) => {
    await pair.first.admin.unsafe(`create database exchange owner ${DESK_ROLE}`);
    const url = await leave();
    const env = { DATABASE_URL: url, MASTER_KEY: randomBytes(32).toString('hex'), PAPER_WORLD: 'off' };
    const desk = { ...env, DATABASE_MAY_LOSE_COMMITS: 'on' };
    const programs = {
      '/readyz': await startProcess({ env: desk }),
      '/paper/gamma/markets': await startProcess({
        program: 'exchange',
        env: { ...env, DATABASE_URL: url.replace(`/${DATABASE}?`, '/exchange?') },
      }),
    };
    for (const [path, { url: at, child, exit }] of Object.entries(programs)) {
      expect((await fetch(`${at}${path}`)).status).toBe(200);
      signalGroup(child, 'SIGTERM');
      expect(await exit()).toEqual({ code: 0, signal: null });
    }
    // There are no receipts yet.
    for (const [script, code] of Object.entries({ 'verify-receipts': 3, 'rotate-key': 0 }))
      expect(await runScript(`scripts/${script}.ts`, [], { env })).toMatchObject({ code, stderr: '' });
  },
);

test('a commit that its standby did not confirm is no commit: the desk asks what became of it', async () => {
  pair.second.signal('SIGSTOP');
  const impatient = openPool(pair.url, { max: 1, statementTimeoutMs: 1_500 });
  afterFile('pools', () => impatient.end({ timeout: 1 }));
  // PostgreSQL gives up waiting, warns, and says that it is committed.
  await expect(impatient`insert into written values (1)`).rejects.toMatchObject({
    code: 'CONNECTION_CLOSED',
  });
  pair.second.signal('SIGCONT');
  await expect.poll(() => isIn(new Set([1]))).toBe(true);
});

/** From now on the first server acknowledges commits that no standby has confirmed. */
async function losesCommits(): Promise<void> {
  await pair.first.admin`alter system set synchronous_standby_names = ''`;
  await pair.first.admin`select pg_reload_conf()`;
  await expect
    .poll(async () => (await sql`select current_setting('synchronous_standby_names') as names`)[0]?.names)
    .toBe('');
}

test('a primary that answers as before is left within seconds, once another was promoted', async () => {
  await losesCommits();
  const old = await systemOf();
  await pair.second.promote();
  await expect.poll(systemOf, { timeout: FOUND_MS }).not.toBe(old);
  // What is no later timeline of this system says nothing: a cluster that was made anew counts from the beginning.
  const [system] = sql.timeline().split(' ');
  for (const told of ['', '9', '1 99', `${system} 1`, `${system} -9`, `${system} 9 9`, `x${system} 9`])
    expect([told, sql.hearTimeline(told)]).toEqual([told, false]);
  expect(await systemOf()).not.toBe(old);
});

test('a replica that reaches the earlier primary alone hears of the promotion, says so, and takes nothing; an operator decides', async () => {
  await losesCommits();
  const MASTER_KEY = randomBytes(32).toString('hex');
  const settings = { PAPER_WORLD: 'off', DATABASE_MAY_LOSE_COMMITS: 'on', MASTER_KEY };
  const cutUrl = pair.url.replace(/,[^&]+&port=(\d+)/, `,127.0.0.1&port=$1,${await freePort()}`);
  const cut = await startTestService({ ...settings, DATABASE_URL: cutUrl });
  const other = await startTestService({ ...settings, DATABASE_URL: pair.url });
  // Who wants to be heard introduces itself first.
  await cut.runJob('tell timelines');
  await other.runJob('tell timelines');
  await pair.second.promote();
  const isReady = async (one: TestService) => (await call(one, 'GET', '/readyz')).status;
  await expect
    .poll(
      async () =>
        (await pair.second.admin`select count(*)::int from pg_stat_activity where usename = ${DESK_ROLE}`)[0]
          ?.count,
      { timeout: FOUND_MS },
    )
    .toBeGreaterThan(0);
  const replaced = {
    status: 503,
    body: { status: 'not ready', database: expect.stringContaining('another server was promoted') },
  };
  // It has reached the promoted one, and need not have read its timeline yet: it tells again and again.
  const heard = async () => {
    await other.runJob('tell timelines').catch(() => {});
    return call(cut, 'GET', '/readyz');
  };
  await expect.poll(heard, { timeout: FOUND_MS }).toMatchObject(replaced);
  expect(await call(cut, 'POST', '/agents/register', { body: { name: 'late' } })).toMatchObject({
    status: 503,
    body: { code: 'service_unavailable' },
  });
  await expect.poll(() => isReady(other), { timeout: FOUND_MS }).toBe(200);
  // The cluster's manager makes the earlier one the primary again.
  pair.second.signal('SIGKILL');
  await expect.poll(() => call(other, 'GET', '/readyz'), { timeout: FOUND_MS }).toMatchObject(replaced);
  await Promise.all([cut.stop(), other.stop()]);
  const decided = await startTestService({ ...settings, DATABASE_URL: pair.url });
  expect(await isReady(decided)).toBe(200);
});

test('a start on several hosts without a standby that confirms commits is refused, unless the operator has said so', async () => {
  await losesCommits();
  await expect(startTestService({ DATABASE_URL: pair.url })).rejects.toThrow(
    /no standby must confirm a commit.*DATABASE_MAY_LOSE_COMMITS=on/,
  );
  await startTestService({ DATABASE_URL: pair.url, PAPER_WORLD: 'off', DATABASE_MAY_LOSE_COMMITS: 'on' });
});

test('no host that accepts writes: a start and a command name each, and why, and end', async () => {
  pair.first.signal('SIGKILL');
  const env = { DATABASE_URL: withThird(await mute()), MASTER_KEY: randomBytes(32).toString('hex') };
  const reasons =
    /no host of the database accepts writes: .*5432: .*; 127.0.0.1:\d+: it does not answer; .*5432: it accepts no writes/;
  const [started, command] = await Promise.all([
    startRefused({ env }),
    runScript('scripts/verify-receipts.ts', [], { env }),
  ]);
  expect(started).toEqual({ exit: { code: 1, signal: null }, output: expect.stringMatching(reasons) });
  expect(command).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(reasons) });
});

test('a desk on both: agents trade on after a promotion, and each order that was acknowledged has its one effect', async () => {
  const service = await startTestService({ DATABASE_URL: pair.url, PAPER_WORLD: 'off' });
  const traders = [await newTrader(service), await newTrader(service)];
  const market = await aMarket((traders[0] as Trader).client);
  const sent: Timed[] = [];
  const trading = tradeUntilStopped(service, traders, market, sent);
  await expect.poll(() => sent.length, { timeout: 60_000 }).toBeGreaterThan(20);
  pair.first.signal('SIGKILL');
  await sleep(500);
  await pair.second.promote();
  await trading;
  const [trader] = traders as [Trader, Trader];
  const again = async () =>
    (await place(service, { trader, request: await orderOfTurn(1, trader, market) })).status;
  await expect.poll(again, { timeout: 60_000, interval: 200 }).toBe(201);
  await expectOneEffect(service, sent);
});
