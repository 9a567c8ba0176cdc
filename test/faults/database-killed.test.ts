/**
 * The embedded PostgreSQL dies or freezes under a running service: it is started again, and everything that the
 * service does through it recovers. When recovery is impossible the service ends with a message.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { aMarket, call, newTrader, restingOrder, type Trader } from '../harness.ts';
import {
  dataFolder,
  kill,
  postgresOf,
  postmasterOf,
  type ServiceProcess,
  signalGroup,
  signalPostgres,
  startProcess,
  stopwatch,
  waitFor,
  within,
} from '../service-process.ts';

const BACK_WITHIN_MS = 15_000;
/** As in production: what a frozen server is asked meets it. */
const ENV = { RATE_LIMITS: 'off', REQUEST_DEADLINE_MS: '5000' };
const frozen: number[] = [];

afterEach(() => {
  for (const pid of frozen.splice(0)) kill(pid, 'SIGCONT');
});

function pidOf(dataDir: string): number | null {
  try {
    return postmasterOf(dataDir).pid;
  } catch {
    // Between two servers the file does not exist.
    return null;
  }
}

const ready = async (service: ServiceProcess) => (await call(service, 'GET', '/readyz')).body;

/** Both venues work again: one takes an order, the other quotes with a transaction. */
async function expectToTrade(service: ServiceProcess, trader: Trader): Promise<void> {
  const market = await aMarket(trader.client);
  const request = await restingOrder(trader, market);
  await expect
    .poll(() => call(service, 'POST', '/markets/trade', { key: trader.apiKey, body: request }), {
      timeout: BACK_WITHIN_MS,
      interval: 100,
    })
    .toMatchObject({ status: 201, body: { success: true } });
}

const isReady = { status: 'ready', database: 'ready', venues: [{ status: 'ready' }, { status: 'ready' }] };

async function newService(): Promise<{ service: ServiceProcess; trader: Trader; dataDir: string }> {
  const dataDir = dataFolder();
  const service = await startProcess({ dataDir, env: ENV });
  return { service, trader: await newTrader(service), dataDir };
}

async function timeToStop(service: ServiceProcess): Promise<number> {
  const passed = stopwatch();
  signalGroup(service.child, 'SIGTERM');
  await service.exit();
  return passed();
}

/** A healthy service measures what a stop takes on this machine now. */
async function expectToStopInTime(service: ServiceProcess): Promise<void> {
  const took = await timeToStop(service);
  expect(took - (await timeToStop((await newService()).service))).toBeLessThan(3_000);
}

describe('PostgreSQL killed alone', () => {
  test('five times in a row: each time both venues, listeners and jobs recover', async () => {
    const { service, trader, dataDir } = await newService();
    const market = await aMarket(trader.client);
    const placed = await trader.client.placeTrade(await restingOrder(trader, market));
    for (let turn = 0; turn < 5; turn += 1) {
      const { pid } = postmasterOf(dataDir);
      kill(pid, 'SIGKILL');
      // The children of a killed postmaster still answer for a moment.
      expect(await waitFor(() => ![pid, null].includes(pidOf(dataDir)), BACK_WITHIN_MS)).toBe(true);
      await expect
        .poll(() => ready(service), { timeout: BACK_WITHIN_MS, interval: 50 })
        .toMatchObject(isReady);
      await expectToTrade(service, trader);
      // The listener works again: a revoked key is refused at once.
      const made = await call(service, 'POST', '/agents/create-api-key', {
        key: trader.apiKey,
        body: { keyName: `turn ${turn}` },
      });
      expect(made.status, JSON.stringify(made.body)).toBe(200);
      const key = made.body.apiKeyCode;
      expect((await call(service, 'GET', '/agents/settings', { key })).status).toBe(200);
      const path = `/agents/api-key/${made.body.id}`;
      expect((await call(service, 'DELETE', path, { key: trader.apiKey })).status).toBe(200);
      expect((await call(service, 'GET', '/agents/settings', { key })).status).toBe(401);
    }
    expect(await trader.client.getOrder(placed.orderId)).toMatchObject({ status: 'live' });
    expect(service.child.exitCode).toBeNull();
    signalGroup(service.child, 'SIGTERM');
    expect(await service.exit(), service.output().slice(-2_000)).toEqual({ code: 0, signal: null });
    expect(postgresOf(dataDir)).toEqual([]);
  });

  test('SIGTERM right after the kill ends the service within three seconds', async () => {
    const { service, dataDir } = await newService();
    kill(postmasterOf(dataDir).pid, 'SIGKILL');
    await expectToStopInTime(service);
    expect(await waitFor(() => postgresOf(dataDir).length === 0, 5_000)).toBe(true);
  });

  test('with its folder deleted: the service ends with a message and an exit code', async () => {
    const { service, dataDir } = await newService();
    const pids = postgresOf(dataDir);
    rmSync(join(dataDir, 'postgres'), { recursive: true, force: true });
    for (const pid of pids) kill(pid, 'SIGKILL');
    expect(await within(10_000, service.exit())).toEqual({ code: 1, signal: null });
    expect(service.output()).toContain('Bellwether ends');
    expect(service.output()).toContain('is gone');
  });

  test('with its folder deleted and SIGTERM at once: the service ends within ten seconds', async () => {
    const { service, dataDir } = await newService();
    const pids = postgresOf(dataDir);
    rmSync(dataDir, { recursive: true, force: true });
    for (const pid of pids) kill(pid, 'SIGKILL');
    signalGroup(service.child, 'SIGTERM');
    await within(10_000, service.exit());
  });
});

describe('PostgreSQL frozen', () => {
  test('requests get 503 within their deadline, /readyz within a second; then it is replaced and trading goes on', async () => {
    const { service, trader, dataDir } = await newService();
    const market = await aMarket(trader.client);
    frozen.push(...signalPostgres(dataDir, 'SIGSTOP'));
    const probe = await within(1_000, call(service, 'GET', '/readyz'));
    expect(probe).toMatchObject({ status: 503, body: { status: 'not ready', database: 'does not answer' } });
    expect((await call(service, 'GET', '/healthz')).status).toBe(200);

    const body = await restingOrder(trader, market);
    const answers = await within(
      6_500,
      Promise.all([
        call(service, 'GET', '/agents/settings', { key: trader.apiKey }),
        call(service, 'GET', '/markets/briefing', { key: trader.apiKey }),
        call(service, 'POST', '/markets/trade', { key: trader.apiKey, body }),
      ]),
    );
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    // Meanwhile requests do not wait: they fail at once.
    await sleep(1_000);
    const soon = call(service, 'GET', '/agents/settings', { key: trader.apiKey });
    expect((await within(1_000, soon)).status).toBe(503);

    await expect.poll(() => ready(service), { timeout: 30_000, interval: 100 }).toMatchObject(isReady);
    await expectToTrade(service, trader);
    expect(service.child.exitCode).toBeNull();
  });

  test('SIGTERM meanwhile does not wait for it, and leaves no process behind', async () => {
    const { service, dataDir } = await newService();
    frozen.push(...signalPostgres(dataDir, 'SIGSTOP'));
    // Like a person: some time later.
    await sleep(3_000);
    await expectToStopInTime(service);
    expect(await waitFor(() => postgresOf(dataDir).length === 0, 5_000)).toBe(true);
  });
});
