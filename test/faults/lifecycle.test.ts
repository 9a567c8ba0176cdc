/** Real processes: how the service starts, stops, and comes back from being killed. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { buildMarketOrder } from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../packages/durable/src/embedded/embedded-postgres.ts';
import { openPool, socketUrl } from '../../packages/server/src/platform/database/connection.ts';
import { aMarket, call, newTrader, restingOrder, type Trader } from '../harness.ts';
import { createDeskDatabase } from '../postgres.ts';
import {
  dataFolder,
  kill,
  postgresOf,
  postmasterOf,
  type ServiceProcess,
  serviceOf,
  signalGroup,
  startProcess,
  startRefused,
} from '../service-process.ts';

const isRoot = process.getuid?.() === 0;
const newMasterKey = () => randomBytes(32).toString('hex');

/** A trader with an open order and a position. */
async function traderOn(service: ServiceProcess): Promise<Trader> {
  const trader = await newTrader(service);
  const { client, signer } = trader;
  const market = await aMarket(client);
  await client.placeTrade(await restingOrder(trader, market));
  const buy = { signer, market, outcome: 'YES', side: 'BUY', amount: 20, worstPrice: 0.95 } as const;
  expect(await client.placeTrade(await buildMarketOrder(buy))).toMatchObject({ success: true });
  return trader;
}

/** Reads facts that a restart must not change. The service must come back on the same port. */
async function memoryOf({ client }: Trader) {
  const [me, positions, orders] = [
    await client.getMe(),
    await client.getCurrentPositions(),
    await client.listOrders(),
  ];
  return {
    agentId: me.agentId,
    balance: me.simulationBalance,
    tradesToday: me.tradesToday,
    positions: positions.map(({ tokenId, size, initialValue }) => ({ tokenId, size, initialValue })),
    orders,
  };
}

async function stopWith(service: ServiceProcess, how: () => void) {
  how();
  return service.exit();
}

describe('starting', () => {
  test('npm start prints its address, that it trades paper money, and the next step', async () => {
    const service = await startProcess({ via: 'npm', dataDir: dataFolder(), makesCluster: true });
    const banner = service.output();
    expect(banner).toContain(service.url);
    expect(banner).toContain('PAPER');
    expect(banner.match(/npm run \S+/g)).toEqual(['npm run demo', 'npm run demo:venue-b']);
    const { status, body } = await call(service, 'GET', '/readyz');
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        status: 'ready',
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        venues: [
          { name: 'polymarket', kind: 'A', backend: 'paper', status: 'ready' },
          { name: 'kalshi', kind: 'B', backend: 'paper', status: 'ready' },
        ],
        database: 'ready',
      },
    });
  });

  test('the embedded PostgreSQL listens only on a Unix socket', async () => {
    const dataDir = dataFolder();
    await startProcess({ dataDir });
    const { socketDir } = postmasterOf(dataDir);
    const sql = openPool(socketUrl({ socketDir, port: 5432, user: 'bellwether' }, 'bellwether'), { max: 1 });
    const [row] = await sql`show listen_addresses`;
    await sql.end();
    expect(row).toEqual({ listen_addresses: '' });
    // The kernel's view, where it is available.
    if (!existsSync('/proc/net/tcp')) return;
    const pids = postgresOf(dataDir);
    expect(pids.length).toBeGreaterThan(1);
    expect(pids.flatMap(tcpSocketsOf)).toEqual([]);
  });

  test('with DATABASE_URL the service uses that server and starts none', async () => {
    const dataDir = dataFolder();
    const databaseUrl = await createDeskDatabase();
    const service = await startProcess({
      dataDir,
      env: { DATABASE_URL: databaseUrl, MASTER_KEY: newMasterKey() },
    });
    await newTrader(service);
    const sql = openPool(databaseUrl, { max: 1 });
    const [row] = await sql`select count(*)::int as agents from agents`;
    await sql.end();
    expect(row).toEqual({ agents: 1 });
    expect(postgresOf(dataDir)).toEqual([]);
    // What it has seen of that database, beside it.
    expect(readdirSync(dataDir)).toEqual(['exits-seen']);
    kill(service.child.pid as number, 'SIGTERM');
    expect(await service.exit()).toEqual({ code: 0, signal: null });
  });
});

/** Inodes of a process's TCP sockets. */
function tcpSocketsOf(pid: number): string[] {
  const inodes = new Set(
    ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .slice(1)
        .map((line) => line.trim().split(/\s+/)[9] ?? ''),
    ),
  );
  // A worker may have ended since it was listed, and a file may have been closed.
  const orNothing = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch {
      return undefined;
    }
  };
  return (orNothing(() => readdirSync(`/proc/${pid}/fd`)) ?? [])
    .map((fd) => orNothing(() => readlinkSync(`/proc/${pid}/fd/${fd}`)))
    .map((target) => /^socket:\[(\d+)\]$/.exec(target ?? '')?.[1])
    .filter((inode) => inode !== undefined)
    .filter((inode) => inodes.has(inode));
}

describe('stopping', () => {
  const ways = [
    ['SIGTERM to npm', 'npm', ({ child }) => kill(child.pid as number, 'SIGTERM')],
    ['SIGTERM to node', 'node', ({ child }) => kill(child.pid as number, 'SIGTERM')],
    [
      'Ctrl-C, twice, to npm and all its children',
      'npm',
      ({ child }) => {
        signalGroup(child, 'SIGINT');
        setTimeout(() => signalGroup(child, 'SIGINT'), 30);
      },
    ],
    [
      'Ctrl-C, twice, to node',
      'node',
      ({ child }) => {
        signalGroup(child, 'SIGINT');
        setTimeout(() => signalGroup(child, 'SIGINT'), 30);
      },
    ],
  ] as const satisfies readonly (readonly [string, 'npm' | 'node', (service: ServiceProcess) => void])[];

  test.for(ways)('%s: exit code 0, no process left, no data lost', async ([, via, stop]) => {
    const dataDir = dataFolder();
    const first = await startProcess({ via, dataDir });
    const pid = via === 'npm' ? serviceOf(first.child) : (first.child.pid as number);
    const made = join(dataDir, 'postgres', 'PG_VERSION');
    const madeAt = statSync(made).mtimeMs;
    const trader = await traderOn(first);
    const before = await memoryOf(trader);
    expect(await stopWith(first, () => stop(first))).toEqual({ code: 0, signal: null });
    expect(() => process.kill(pid, 0), 'the service itself is gone').toThrow();
    expect(postgresOf(dataDir)).toEqual([]);
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);

    const second = await startProcess({ via, dataDir, port: first.port });
    expect(await memoryOf(trader)).toEqual(before);
    expect(second.output()).not.toContain('adopted');
    // Why the second start is faster; comparing durations would be unreliable on a busy machine.
    expect(statSync(made).mtimeMs).toBe(madeAt);
  });
});

describe('refusing to start', () => {
  const refusals = [
    ['DATABASE_URL without MASTER_KEY', { DATABASE_URL: 'postgres://desk@127.0.0.1:9/x' }, 'MASTER_KEY'],
    ['an unknown variable', { PAPER_SEEDS: '1' }, 'PAPER_SEEDS'],
    ['a wrong value', { RATE_LIMITS: 'maybe' }, 'RATE_LIMITS'],
    ['an invalid master key', { MASTER_KEY: 'secret' }, 'MASTER_KEY'],
  ] as const satisfies readonly (readonly [string, Record<string, string>, string])[];

  test.for(refusals)('%s: the message names it', async ([, env, named]) => {
    const dataDir = dataFolder();
    const { exit, output } = await startRefused({ dataDir, env });
    expect(exit).toEqual({ code: 1, signal: null });
    expectOneLineError(output);
    expect(output).toContain(named);
    expect(postgresOf(dataDir)).toEqual([]);
  });

  test('a master key that is not the database’s', async () => {
    const DATABASE_URL = await createDeskDatabase();
    const first = await startProcess({
      dataDir: dataFolder(),
      env: { DATABASE_URL, MASTER_KEY: newMasterKey() },
    });
    kill(first.child.pid as number, 'SIGTERM');
    await first.exit();
    const { exit, output } = await startRefused({
      dataDir: dataFolder(),
      env: { DATABASE_URL, MASTER_KEY: newMasterKey() },
    });
    expect(exit).toEqual({ code: 1, signal: null });
    expectOneLineError(output);
    expect(output).toContain('MASTER_KEY');
  });

  test('a port that is taken', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const dataDir = dataFolder();
    const { exit, output } = await startRefused({ dataDir, port });
    server.close();
    expect(exit).toEqual({ code: 1, signal: null });
    expectOneLineError(output);
    expect(output).toContain(`Port ${port} is taken`);
    expect(postgresOf(dataDir)).toEqual([]);
  });

  test('a data folder in use by another service, which continues undisturbed', async () => {
    const dataDir = dataFolder();
    const first = await startProcess({ dataDir });
    const trader = await traderOn(first);
    const before = await memoryOf(trader);
    const { exit, output } = await startRefused({ dataDir });
    expect(exit).toEqual({ code: 1, signal: null });
    expectOneLineError(output);
    expect(output).toContain(dataDir);
    expect(output).toContain('DATA_DIR');
    expect(await memoryOf(trader)).toEqual(before);
    await trader.client.placeTrade(await restingOrder(trader, await aMarket(trader.client)));
    kill(first.child.pid as number, 'SIGTERM');
    expect(await first.exit()).toEqual({ code: 0, signal: null });
  });
});

/** Exactly one line for a person, without a stack. */
function expectOneLineError(output: string): void {
  expect(output.trim().split('\n')).toHaveLength(1);
  expect(output).toMatch(/^Bellwether cannot start: .+[.?]\n$/);
}

describe.skipIf(!isRoot)('as root (skipped for other users)', () => {
  test('without user namespaces PostgreSQL runs as an unprivileged user, from a copy', async () => {
    const dataDir = dataFolder();
    chmodSync(dataDir, 0o700);
    const started = await startEmbeddedPostgres({ dataDir, database: 'bellwether', allowNamespace: false });
    try {
      expect(started.how).toBe('unprivileged copy');
      const sql = openPool(socketUrl(started, 'bellwether'), { max: 1 });
      await sql`create table notes as select 1 as number`;
      expect(await sql`select number from notes`).toEqual([{ number: 1 }]);
      await sql.end();
      const { pid } = postmasterOf(started.dataDir);
      const owner = spawnSync('ps', ['-o', 'uid=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
      expect(owner).toBe('65534');
    } finally {
      await started.stop();
      rmSync(started.dataDir, { recursive: true, force: true });
    }
  });

  test('a data folder below one that only root may enter', async () => {
    const locked = dataFolder();
    const dataDir = join(locked, 'data');
    chmodSync(locked, 0o700);
    const service = await startProcess({ dataDir, makesCluster: true });
    expect((await call(service, 'GET', '/readyz')).status).toBe(200);
    kill(service.child.pid as number, 'SIGTERM');
    expect(await service.exit()).toEqual({ code: 0, signal: null });
    expect(postgresOf(dataDir)).toEqual([]);
  });
});
