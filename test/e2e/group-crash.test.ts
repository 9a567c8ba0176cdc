/**
 * kill -9 of the service, and of PostgreSQL, at every step of a group of trades: what was acknowledged is there, what was
 * not is there completely or not at all, and the same order sent again has one effect.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { expectOneEffect, expectTruth, isRecorded, type Sent, tradeUntilStopped } from '../group-trading.ts';
import { aMarket, call, newTrader, startTestService, type TestService, type Trader } from '../harness.ts';
import { startOwnPostgres } from '../own-postgres.ts';
import { createTestDatabase } from '../postgres.ts';
import { freePort, kill, startProcess } from '../service-process.ts';
import { STEPS, type Step, startSteppingProxy } from '../stepping-proxy.ts';

const AGENTS = 6;
/** Groups that pass before one is stopped: the agents then have orders and positions. */
const GROUPS_BEFORE = 4;
/** PostgreSQL may or may not have read a commit whose connection ended. */
const IN_DOUBT: Step = 'with its commit on its way';
const DONE: Step = 'after its commit, before the answers';

/** All of the group that was stopped is recorded, or nothing of it. */
async function expectWhole(
  service: TestService,
  { step, sent, group }: { step: Step; sent: readonly Sent[]; group: ReadonlySet<string> },
): Promise<void> {
  const caught = sent.filter(({ orderId }) => group.has(orderId));
  expect(caught.length).toBeGreaterThan(0);
  expect(caught.filter(({ answer }) => answer?.status === 201)).toEqual([]);
  const recorded = await Promise.all(caught.map((one) => isRecorded(service, one)));
  expect(new Set(recorded).size).toBe(1);
  if (step !== IN_DOUBT) expect(recorded[0]).toBe(step === DONE);
}

describe('kill -9 of the service', () => {
  test('at every step of a group: the next one finds all of the group, or nothing of it', async () => {
    const databaseUrl = await createTestDatabase();
    const proxy = await startSteppingProxy(databaseUrl);
    const MASTER_KEY = randomBytes(32).toString('hex');
    const env = { MASTER_KEY, PAPER_WORLD: 'off', RATE_LIMITS: 'off', LOG_LEVEL: 'error' };
    const port = await freePort();
    let traders: readonly Trader[] = [];
    for (const step of STEPS) {
      const doomed = await startProcess({ env: { ...env, DATABASE_URL: proxy.url }, port });
      if (traders.length === 0)
        traders = await Promise.all(Array.from({ length: AGENTS }, () => newTrader(doomed)));
      const market = await aMarket((traders[0] as Trader).client);
      const stopped = proxy.stopAt({
        step,
        afterGroups: GROUPS_BEFORE,
        act: () => kill(doomed.child.pid as number, 'SIGKILL'),
      });
      const sent = await tradeUntilStopped(doomed, traders, market);
      const group = await stopped;
      await doomed.exit();
      const next = await startTestService({ PAPER_WORLD: 'off', DATABASE_URL: databaseUrl, MASTER_KEY });
      await expectWhole(next, { step, sent, group });
      await expectTruth(next, sent);
      await expectOneEffect(next, sent);
      await next.stop();
    }
  });
});

describe('kill -9 of PostgreSQL', () => {
  test('at every step of a group: the service says the truth, and goes on when PostgreSQL is back', async () => {
    const postgres = await startOwnPostgres();
    const proxy = await startSteppingProxy(postgres.url);
    const service = await startTestService({ PAPER_WORLD: 'off', DATABASE_URL: proxy.url });
    const traders = await Promise.all(Array.from({ length: AGENTS }, () => newTrader(service)));
    const market = await aMarket((traders[0] as Trader).client);
    for (const step of STEPS) {
      const stopped = proxy.stopAt({ step, afterGroups: GROUPS_BEFORE, act: postgres.kill });
      const [sent, group] = await Promise.all([tradeUntilStopped(service, traders, market), stopped]);
      // The database stays away for a moment.
      await sleep(50);
      await postgres.start();
      await expect
        .poll(() => call(service, 'GET', '/readyz'), { timeout: 15_000, interval: 50 })
        .toMatchObject({ status: 200 });
      await expectWhole(service, { step, sent, group });
      await expectTruth(service, sent);
      await expectOneEffect(service, sent);
    }
  });
});
