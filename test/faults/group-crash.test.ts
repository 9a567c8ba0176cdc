/**
 * kill -9 of the service, and of PostgreSQL, at every step of a group of trades: what was acknowledged is there, what was
 * not is there completely or not at all, and the same order sent again has one effect.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { isInDoubt } from '../../packages/server/src/domain/lifecycle.ts';
import { expectBooksToAgree, ordersOf } from '../books.ts';
import {
  expectOneEffect,
  expectTruth,
  isRecorded,
  place,
  type Sent,
  tradeUntilStopped,
} from '../group-trading.ts';
import {
  aMarket,
  call,
  newTrader,
  startTestService,
  type TestService,
  type Trader,
  withTurns,
} from '../harness.ts';
import { startOwnPostgres } from '../own-postgres.ts';
import { createDeskDatabase } from '../postgres.ts';
import { freePort, kill, startProcess } from '../service-process.ts';
import { STEPS, type Step, startSteppingProxy } from '../stepping-proxy.ts';
import { movingClock } from '../world.ts';

const AGENTS = 6;
/** The resolver leaves an order alone for less. */
const RESOLVED_AFTER_MS = 20_000;
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
  test('at every step of a group: the next one finds all of the group, or nothing of it', {
    timeout: 300_000,
  }, async () => {
    const databaseUrl = await createDeskDatabase();
    const proxy = await startSteppingProxy(databaseUrl);
    const MASTER_KEY = randomBytes(32).toString('hex');
    const env = { MASTER_KEY, PAPER_WORLD: 'off', RATE_LIMITS: 'off', LOG_LEVEL: 'fatal' };
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

describe('kill -9 of a follower', () => {
  test('after its commit, before the orders are sent: an order that was recorded and not sent gives its budget back', async () => {
    const clock = movingClock();
    const leader = await startTestService({ PAPER_WORLD: 'off' }, { clock });
    const proxy = await startSteppingProxy(leader.databaseUrl, 'pool');
    const env = {
      DATABASE_URL: proxy.url,
      MASTER_KEY: leader.masterKey,
      PAPER_WORLD: 'off',
      RATE_LIMITS: 'off',
      LOG_LEVEL: 'fatal',
    };
    const traders = await Promise.all(Array.from({ length: AGENTS }, () => newTrader(leader)));
    const market = await aMarket((traders[0] as Trader).client);
    const follower = await startProcess({ env });
    const stopped = proxy.stopAt({
      step: DONE,
      afterGroups: GROUPS_BEFORE,
      act: () => kill(follower.child.pid as number, 'SIGKILL'),
    });
    const sent = await tradeUntilStopped(follower, traders, market);
    const group = await stopped;
    await follower.exit();
    // Requests that were on their way have arrived by then, and what is in doubt is asked for.
    await sleep(200);
    clock.advance(RESOLVED_AFTER_MS);
    const ordersInDoubt = async () =>
      (await Promise.all(traders.map(({ agentId }) => ordersOf(leader, agentId))))
        .flat()
        .filter(({ status }) => isInDoubt(status));
    const isSettled = expect.poll(ordersInDoubt, { interval: 100 }).toEqual([]);
    await withTurns(leader, ['resolve doubt'], isSettled);
    const rows = await Promise.all(
      sent.map(async (one) => ({
        ...one,
        row: await leader.needs.orders.byId(one.trader.agentId, one.orderId),
      })),
    );
    const caught = rows.filter(({ orderId }) => group.has(orderId));
    expect(caught.length).toBeGreaterThan(0);
    expect(caught.map(({ row }) => row?.errorCode)).toEqual(caught.map(() => 'not_received'));
    for (const { row, answer } of rows.filter((one) => one.answer?.status === 201))
      expect(row?.first?.success).toBe(answer?.body.success);
    await expectBooksToAgree(leader, traders);
    // The same order again: what became of it, or placed now if it never arrived.
    for (const one of rows.filter(({ answer }) => answer?.status !== 201)) {
      const first = await place(leader, one);
      expect(first).toMatchObject({ status: 201 });
      if (one.row !== null) expect(first.body.success).toBe(one.row.first?.success);
      expect((await place(leader, one)).body).toEqual(first.body);
    }
    await expectBooksToAgree(leader, traders);
  });
});

describe('kill -9 of PostgreSQL', () => {
  test('at every step of a group: the service says the truth, and goes on when PostgreSQL is back', {
    timeout: 300_000,
  }, async () => {
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
        .poll(() => call(service, 'GET', '/readyz'), { interval: 50 })
        .toMatchObject({ status: 200 });
      await expectWhole(service, { step, sent, group });
      await expectTruth(service, sent);
      await expectOneEffect(service, sent);
    }
  });
});
