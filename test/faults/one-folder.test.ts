/** Real processes: several starts on one data folder, of which one becomes ready and the others change nothing. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { aMarket, call, newTrader, restingOrder } from '../harness.ts';
import {
  dataFolder,
  freePort,
  kill,
  launch,
  postgresOf,
  signalGroup,
  startProcess,
  waitFor,
} from '../service-process.ts';

const STARTED_WITHIN_MS = 120_000;
const READY = /is ready \(/;

async function start(dataDir: string, via: 'npm' | 'node' = 'node') {
  const port = await freePort();
  return { url: `http://127.0.0.1:${port}`, ...(await launch({ dataDir, port, via })) };
}
type Start = Awaited<ReturnType<typeof start>>;

const isReady = ({ output }: Start): boolean => READY.test(output());
const isDecided = (one: Start): boolean => isReady(one) || one.child.exitCode !== null;

function expectRefusal(output: string, dataDir: string): void {
  expect(output).toBe(
    `Bellwether cannot start: Another Bellwether is running on ${dataDir}. Stop it, or give this one its own DATA_DIR.\n`,
  );
}

describe('several starts on one data folder', () => {
  test.for([1, 2, 3])('all at once on an empty one: one becomes ready, round %i', async () => {
    const dataDir = dataFolder();
    const starts = await Promise.all([start(dataDir), start(dataDir), start(dataDir)]);
    expect(await waitFor(() => starts.every(isDecided), STARTED_WITHIN_MS)).toBe(true);
    const [ready, ...others] = starts.filter(isReady);
    if (ready === undefined) throw new Error(starts.map(({ output }) => output()).join('\n'));
    expect(others).toEqual([]);
    for (const refused of starts.filter((one) => one !== ready)) {
      expect(await refused.exit()).toEqual({ code: 1, signal: null });
      expectRefusal(refused.output(), dataDir);
    }
    const trader = await newTrader(ready);
    await trader.client.placeTrade(await restingOrder(trader, await aMarket(trader.client)));
    expect((await call(ready, 'GET', '/readyz')).status).toBe(200);
    kill(ready.child.pid as number, 'SIGTERM');
    expect(await ready.exit()).toEqual({ code: 0, signal: null });
    expect(postgresOf(dataDir)).toEqual([]);
  });

  test('npm start a second time says so and changes nothing, also before the first is ready', async () => {
    const dataDir = dataFolder();
    const first = await start(dataDir, 'npm');
    expect(await waitFor(() => existsSync(join(dataDir, 'claim')), STARTED_WITHIN_MS)).toBe(true);
    const early = await start(dataDir, 'npm');
    expect((await early.exit()).code).toBe(1);
    expect(early.output()).toContain(`Another Bellwether is running on ${dataDir}. Stop it`);
    expect(await waitFor(() => isDecided(first), STARTED_WITHIN_MS)).toBe(true);
    expect(isReady(first)).toBe(true);

    const names = readdirSync(dataDir).toSorted();
    const key = readFileSync(join(dataDir, 'master.key'), 'utf8');
    const address = readFileSync(join(dataDir, 'address'), 'utf8');
    const servers = postgresOf(dataDir)[0];
    const late = await start(dataDir, 'npm');
    expect((await late.exit()).code).toBe(1);
    expect(late.output()).toContain(`Another Bellwether is running on ${dataDir}. Stop it`);
    expect(readdirSync(dataDir).toSorted()).toEqual(names);
    expect(readFileSync(join(dataDir, 'master.key'), 'utf8')).toBe(key);
    expect(readFileSync(join(dataDir, 'address'), 'utf8')).toBe(address);
    expect(postgresOf(dataDir)[0]).toBe(servers);
    await newTrader(first);
    signalGroup(first.child, 'SIGTERM');
    expect(await first.exit()).toEqual({ code: 0, signal: null });
  });
});

describe('a start that was killed', () => {
  test('while it made the database: the next start makes another', async () => {
    const dataDir = dataFolder();
    const first = await start(dataDir);
    const isMaking = () =>
      readdirSync(dataDir).some(
        (name) => name.startsWith('postgres') && existsSync(join(dataDir, name, 'PG_VERSION')),
      );
    expect(await waitFor(isMaking, STARTED_WITHIN_MS, 1)).toBe(true);
    // As if the machine had lost its power: initdb ends with the service.
    signalGroup(first.child, 'SIGKILL');
    await first.exit();
    const next = await startProcess({ dataDir, makesCluster: true });
    await newTrader(next);
    expect(readdirSync(dataDir).filter((name) => name.includes('unfinished'))).toEqual([]);
  });

  test('while it was ready: the next start takes the folder, and its database', async () => {
    const dataDir = dataFolder();
    const first = await startProcess({ dataDir });
    const trader = await newTrader(first);
    kill(first.child.pid as number, 'SIGKILL');
    await first.exit();
    const next = await startProcess({ dataDir, port: first.port });
    expect((await trader.client.getMe()).agentId).toBe(trader.agentId);
    expect(next.output()).toContain('adopted');
  });
});
