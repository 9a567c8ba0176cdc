/** A database that ends, starts or recovers while a service or the paper exchange starts: the start waits for it, says so, and is whole. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { openTransaction } from '@bellwether/durable';
import { expect, test } from 'vitest';
import { call } from '../harness.ts';
import { createDeskDatabase, createTestDatabase, openAsAdmin } from '../postgres.ts';
import {
  dataFolder,
  freePort,
  launch,
  type ProcessOptions,
  signalPostgres,
  waitFor,
  within,
} from '../service-process.ts';
import { afterFile } from '../setup/clean-up.ts';
import { databaseTarget, startTcpProxy } from '../tcp-proxy.ts';

const BEGINS_AGAIN = /begins its start again: (.*)/;
const READY = /is ready/;
const SLOWEST_MS = 120_000;
const QUICK_MS = 5_000;

async function start(options: ProcessOptions) {
  const port = options.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const started = await launch({ ...options, port });
  const has = (text: RegExp) => async () => {
    const isThere = () => text.test(started.output());
    const came = await waitFor(() => isThere() || started.child.exitCode !== null, SLOWEST_MS);
    expect(came && isThere(), started.output()).toBe(true);
  };
  return {
    ...started,
    beginsAgain: has(BEGINS_AGAIN),
    isReady: has(READY),
    /** What needs its database is answered. */
    async works() {
      const asked = () =>
        options.program === 'exchange'
          ? call({ url }, 'POST', '/paper/faucet', { body: { address: `0x${'1'.repeat(40)}` } })
          : call({ url }, 'GET', '/readyz');
      await expect.poll(async () => (await asked()).status, { timeout: SLOWEST_MS }).toBe(200);
    },
    async ends() {
      started.child.kill('SIGTERM');
      expect(await started.exit()).toEqual({ code: 0, signal: null });
    },
  };
}

const onServer = (DATABASE_URL: string) => ({
  env: { DATABASE_URL, MASTER_KEY: randomBytes(32).toString('hex') },
});

/** Holds a table, so that a start waits for it. */
async function hold(url: string, table: string) {
  const admin = await openAsAdmin(url);
  const holder = openTransaction(await openAsAdmin(url));
  const [own] = await holder.tx<{ readonly pid: number }[]>`select pg_backend_pid() as pid`;
  await holder.tx.unsafe(`lock table ${table} in access exclusive mode`);
  return {
    async isWaitedFor() {
      const waiting = () =>
        admin`select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(async () => (await waiting()).length, { timeout: SLOWEST_MS }).toBeGreaterThan(0);
    },
    endSessions: () => admin`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid not in (pg_backend_pid(), ${own?.pid ?? 0})`,
    release: () => holder.commit(),
  };
}

/** Where the database is cut off, by the table that a start waits for then. */
const CUT_AT = {
  'the keys are read': ['service', 'master_root'],
  'the exchange reads its journal': ['service', 'exchange_journal'],
  'the sandbox reads its chain': ['service', 'sandbox_accounts'],
  'the standalone exchange reads its chain': ['exchange', 'sandbox_accounts'],
} as const;

test.each(Object.entries(CUT_AT))(
  'a database that ends its sessions while %s is waited for',
  async (_, [program, table]) => {
    const url = program === 'service' ? await createDeskDatabase() : await createTestDatabase();
    if (program === 'exchange') {
      // It makes its tables.
      const first = await start({ program, ...onServer(url) });
      await first.isReady();
      await first.ends();
    }
    const held = await hold(url, table);
    const started = await start({ program, ...onServer(url) });
    await held.isWaitedFor();
    await held.endSessions();
    await started.beginsAgain();
    expect(BEGINS_AGAIN.exec(started.output())?.[1]).toContain('terminating connection');
    await held.release();
    await started.isReady();
    await started.works();
    await started.ends();
  },
);

test('a database that falls silent while a start waits for it is given up, and waited for', async () => {
  const url = await createDeskDatabase();
  const { target, urlAt } = databaseTarget(url);
  const proxy = await startTcpProxy(target);
  const held = await hold(url, 'master_root');
  const service = await start(onServer(urlAt(proxy.port)));
  await held.isWaitedFor();
  proxy.stall();
  await service.beginsAgain();
  expect(BEGINS_AGAIN.exec(service.output())?.[1]).toContain('kept silent');
  await held.release();
  proxy.resume();
  await service.isReady();
  await service.works();
  await service.ends();
});

/** The file says so in PostgreSQL's words. */
function isUp(dataDir: string): boolean {
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  return existsSync(file) && /\nready *\n/.test(readFileSync(file, 'utf8'));
}

test('an embedded server that dies whenever a start may need it: each start is whole, or never began', async () => {
  for (const program of ['service', 'exchange'] as const) {
    const dataDir = dataFolder();
    for (const deadAfterMs of [0, 150, 400, 900]) {
      const started = await start({ program, dataDir });
      expect(await waitFor(() => isUp(dataDir), SLOWEST_MS)).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, deadAfterMs));
      signalPostgres(dataDir, 'SIGKILL');
      await started.isReady();
      await started.works();
      await started.ends();
    }
  }
});

/** As PostgreSQL answers while it recovers. */
function startingUp(socket: Socket): void {
  const fields = ['SFATAL', 'VFATAL', 'C57P03', 'Mthe database system is starting up', ''];
  const body = Buffer.from(`${fields.join('\0')}\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, body])));
  socket.on('error', () => {});
}

/** A database that recovers until `recovers` is called. */
async function recoveringDatabase(databaseUrl: string) {
  const { target, urlAt } = databaseTarget(databaseUrl);
  const port = await freePort();
  let hasRecovered = false;
  const server = createServer((socket) => {
    if (!hasRecovered) return startingUp(socket);
    const upstream = createConnection(target);
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const)
      from.on('error', () => to.destroy()).pipe(to);
  }).listen(port, '127.0.0.1');
  afterFile('services', () => server.close());
  return {
    url: urlAt(port),
    recovers: () => {
      hasRecovered = true;
    },
  };
}

test('a database that still starts is waited for by name, and a start that waits ends at once', async () => {
  const database = await recoveringDatabase(await createDeskDatabase());
  const options = onServer(database.url);
  const [ended, service] = [await start(options), await start(options)];
  for (const one of [ended, service]) {
    await one.beginsAgain();
    expect(one.output()).toBe('Bellwether begins its start again: the database system is starting up\n');
  }
  await within(QUICK_MS, ended.ends());
  database.recovers();
  await service.isReady();
  await service.ends();
});

test('a server that refuses connections, where none was made, ends the start', async () => {
  const service = await start(onServer(`postgres://desk@127.0.0.1:${await freePort()}/x`));
  expect(await service.exit()).toEqual({ code: 1, signal: null });
  expect(service.output()).toMatch(/^Bellwether cannot start: .*ECONNREFUSED.*\n$/);
});
