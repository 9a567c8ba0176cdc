/**
 * While replicas of the release before markets of Protocol V2 still run, this one joins: each can lead what the other has written, every
 * trade counts once, and a world with such markets is never led by one that does not know them.
 */
import { randomBytes } from 'node:crypto';
import { BellwetherClient } from '@bellwether/sdk';
import { expect, test } from 'vitest';
import { expectBooksToAgree } from '../books.ts';
import { earlierRelease } from '../earlier-release.ts';
import { call, openMarkets, startTestService, type Trader } from '../harness.ts';
import { createTestDatabase } from '../postgres.ts';
import { kill, type ServiceProcess, startProcess, startRefused } from '../service-process.ts';
import { aPurchase, traderAt } from '../takeover-stage.ts';

const root = earlierRelease('earlier-replicas.test.ts');
const READY_MS = 60_000;

const newDesk = async () => ({
  DATABASE_URL: await createTestDatabase(),
  MASTER_KEY: randomBytes(32).toString('hex'),
  ...{ LOG_LEVEL: 'fatal', PAPER_WORLD: 'off', RATE_LIMITS: 'off' },
});
const signal = ({ child }: ServiceProcess, name: NodeJS.Signals) => kill(child.pid as number, name);
const isReady = async (process: ServiceProcess) => (await call(process, 'GET', '/readyz')).status === 200;
const ready = (process: ServiceProcess) =>
  expect.poll(() => isReady(process), { timeout: READY_MS, interval: 100 }).toBe(true);

test.skipIf(root === null)(
  'replicas of both releases lead one after another, on one journal',
  { timeout: 300_000 },
  async () => {
    const env = await newDesk();
    const earlier = () => startProcess({ env, root: root as string });
    const first = await earlier();
    const trader = await traderAt(first);
    await trader.client.updateSettings({ maxTradesPerDay: 1000 });
    const markets = await openMarkets(trader.client);
    const bought: number[] = [];
    /** At each of them, and the same order once more at the next. */
    const buyAt = async (...processes: readonly ServiceProcess[]): Promise<void> => {
      for (const [nth, process] of processes.entries()) {
        const at = (one: ServiceProcess) => new BellwetherClient({ baseUrl: one.url, apiKey: trader.apiKey });
        const order = await aPurchase(trader, 5, markets[bought.length % markets.length]);
        const placed = await at(process).placeTrade(order);
        expect(placed).toMatchObject({ success: true, status: 'matched' });
        bought.push(placed.filledSize);
        const other = processes[(nth + 1) % processes.length] as ServiceProcess;
        expect(await at(other).placeTrade(order)).toMatchObject({ orderId: placed.orderId, success: true });
      }
    };

    await buyAt(first);
    // Its exchange has a snapshot, and a journal behind it.
    signal(first, 'SIGTERM');
    expect((await first.exit()).code).toBe(0);
    const [leads, follows] = [await earlier(), await earlier()];
    await buyAt(leads, follows);

    // This release migrates the database under them, and follows.
    const joined = await startProcess({ env });
    await buyAt(leads, follows, joined);
    // A world of the release before keeps its markets.
    const client = new BellwetherClient({ baseUrl: joined.url, apiKey: trader.apiKey });
    const listed = await client.listMarkets({ q: '*', limit: 500 });
    expect(listed.filter(({ version }) => version === 'v2')).toEqual([]);

    // It takes the lead, and writes what is new beside what is known.
    signal(follows, 'SIGSTOP');
    signal(leads, 'SIGKILL');
    await ready(joined);
    await buyAt(joined);
    const split = await client.splitSets({
      ...{ clientOrderId: 'sets', marketId: markets[0]?.id ?? '', amount: 3 },
    });
    expect(split).toMatchObject({ success: true });
    signal(follows, 'SIGCONT');
    await ready(follows);
    await buyAt(joined, follows);

    // The release before leads what this one has written, and this one what that has.
    signal(joined, 'SIGKILL');
    await ready(follows);
    await buyAt(follows);
    const last = await startProcess({ env });
    await buyAt(follows, last);
    signal(follows, 'SIGKILL');
    await ready(last);
    await buyAt(last);

    const owner: Trader = {
      ...trader,
      client: new BellwetherClient({ baseUrl: last.url, apiKey: trader.apiKey }),
    };
    const held = (await owner.client.getCurrentPositions()).reduce((sum, { size }) => sum + size, 0);
    expect(held).toBeCloseTo(
      bought.reduce((sum, size) => sum + size, 2 * 3),
      6,
    );
    signal(last, 'SIGTERM');
    expect((await last.exit()).code).toBe(0);
    const service = await startTestService(env);
    await expectBooksToAgree(service, [trader]);
  },
);

test.skipIf(root === null)('the release before does not start on a world with markets of v2', async () => {
  const env = await newDesk();
  const founder = await startProcess({ env });
  const { client } = await traderAt(founder);
  const listed = await client.listMarkets({ q: '*', limit: 500 });
  expect(listed.filter(({ version }) => version === 'v2')).toHaveLength(6);
  const { exit, output } = await startRefused({ env, root: root as string });
  expect(exit.code).toBe(1);
  expect(output).toContain('start a newer version of the service');
});
