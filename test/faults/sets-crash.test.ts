/**
 * kill -9 of the service at every step of a commit with splits and merges, and of a follower that sent one: what was acknowledged is
 * there, and the same body sent again has one effect.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Market } from '@bellwether/sdk';
import { expect, test } from 'vitest';
import { isInDoubt } from '../../packages/server/src/domain/lifecycle.ts';
import { expectBooksToAgree, ordersOf } from '../books.ts';
import {
  aMarket,
  call,
  newTrader,
  type RawAnswer,
  startTestService,
  type TestService,
  type Trader,
  withTurns,
} from '../harness.ts';
import { createDeskDatabase } from '../postgres.ts';
import { freePort, kill, startProcess } from '../service-process.ts';
import { STEPS, startSteppingProxy } from '../stepping-proxy.ts';
import { movingClock } from '../world.ts';

const AGENTS = 4;
const GROUPS_BEFORE = 5;
const RESOLVED_AFTER_MS = 20_000;

interface SentSet {
  readonly trader: Trader;
  readonly kind: 'split' | 'merge' | 'convert';
  readonly body: { readonly clientOrderId: string; readonly marketId: string; readonly amount: number };
  /** `null`: the connection ended. */
  readonly answer: RawAnswer | null;
}

const send = (at: { readonly url: string }, { trader, kind, body }: Omit<SentSet, 'answer'>) =>
  call(at, 'POST', `/markets/${kind}`, { key: trader.apiKey, body });

/** Every agent splits two sets, merges a half, converts one NO share, and so on, until one is not acknowledged. */
async function untilStopped(
  at: { readonly url: string },
  traders: readonly Trader[],
  market: Market,
): Promise<SentSet[]> {
  const sent: SentSet[] = [];
  await Promise.all(
    traders.map(async (trader) => {
      for (let turn = 0; ; turn += 1) {
        const kind = (['split', 'merge', 'convert'] as const)[turn % 3] ?? 'split';
        const body = {
          ...{ clientOrderId: randomBytes(8).toString('hex'), marketId: market.id },
          amount: { split: 2, merge: 0.5, convert: 1 }[kind],
        };
        const one = { trader, kind, body } as const;
        const answer = await send(at, one).catch(() => null);
        sent.push({ ...one, answer });
        if (answer?.status !== 200) return;
      }
    }),
  );
  return sent;
}

/** Each is sent twice more at once: what is done then is done once, and what was acknowledged was true. */
async function expectOneEffect(service: TestService, sent: readonly SentSet[]): Promise<void> {
  const traders = [...new Set(sent.map(({ trader }) => trader))];
  for (const one of sent) {
    const answers = await Promise.all([send(service, one), send(service, one)]);
    const done = answers.find(({ status }) => status === 200);
    expect(done, JSON.stringify(answers.map(({ body }) => body))).toBeDefined();
    if (one.answer?.status === 200) expect(done?.body).toEqual(one.answer.body);
  }
  await expectBooksToAgree(service, traders);
}

test('at every step of a commit', async () => {
  const databaseUrl = await createDeskDatabase();
  const proxy = await startSteppingProxy(databaseUrl);
  const MASTER_KEY = randomBytes(32).toString('hex');
  const env = { MASTER_KEY, PAPER_WORLD: 'off', RATE_LIMITS: 'off', LOG_LEVEL: 'fatal' };
  const port = await freePort();
  let traders: readonly Trader[] = [];
  const all: SentSet[] = [];
  for (const step of STEPS) {
    const doomed = await startProcess({ env: { ...env, DATABASE_URL: proxy.url }, port });
    if (traders.length === 0)
      traders = await Promise.all(Array.from({ length: AGENTS }, () => newTrader(doomed)));
    const market = await aMarket((traders[0] as Trader).client, undefined, true);
    const stopped = proxy.stopAt({
      step,
      afterGroups: GROUPS_BEFORE,
      act: () => kill(doomed.child.pid as number, 'SIGKILL'),
    });
    const sent = await untilStopped(doomed, traders, market);
    await stopped;
    await doomed.exit();
    const next = await startTestService({ PAPER_WORLD: 'off', DATABASE_URL: databaseUrl, MASTER_KEY });
    expect(sent.some(({ answer }) => answer?.status !== 200)).toBe(true);
    await expectOneEffect(next, sent);
    all.push(...sent.filter(({ answer }) => answer?.status === 200));
    await next.stop();
  }
  for (const one of ['merge', 'convert'] as const) expect(all.some(({ kind }) => kind === one)).toBe(true);
});

test('a follower that dies with its commit, before it sent what it recorded', async () => {
  const clock = movingClock();
  const leader = await startTestService({ PAPER_WORLD: 'off' }, { clock });
  const proxy = await startSteppingProxy(leader.databaseUrl, 'pool');
  const traders = await Promise.all(Array.from({ length: AGENTS }, () => newTrader(leader)));
  const market = await aMarket((traders[0] as Trader).client, undefined, true);
  const follower = await startProcess({
    env: {
      ...{ DATABASE_URL: proxy.url, MASTER_KEY: leader.masterKey, PAPER_WORLD: 'off' },
      ...{ RATE_LIMITS: 'off', LOG_LEVEL: 'fatal' },
    },
  });
  const stopped = proxy.stopAt({
    step: 'after its commit, before the answers',
    afterGroups: GROUPS_BEFORE,
    act: () => kill(follower.child.pid as number, 'SIGKILL'),
  });
  const sent = await untilStopped(follower, traders, market);
  await stopped;
  await follower.exit();
  expect(sent.some(({ answer }) => answer?.status === 200)).toBe(true);
  // Requests that were on their way have arrived by then, and what is in doubt is asked for.
  await sleep(200);
  clock.advance(RESOLVED_AFTER_MS);
  const inDoubt = async () =>
    (await Promise.all(traders.map(({ agentId }) => ordersOf(leader, agentId))))
      .flat()
      .filter(({ status }) => isInDoubt(status));
  await withTurns(leader, ['resolve doubt'], expect.poll(inDoubt, { interval: 100 }).toEqual([]));
  await expectBooksToAgree(leader, traders);
  const refused = (await Promise.all(traders.map(({ agentId }) => ordersOf(leader, agentId))))
    .flat()
    .filter(({ errorCode }) => errorCode === 'not_received');
  expect(refused.length).toBeGreaterThan(0);
  await expectOneEffect(leader, sent);
});
