/** A database that stands still over a group, requests that end while their trades wait, a service that stops. */
import { randomBytes } from 'node:crypto';
import { type Market, orderIdOf } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  expectOneEffect,
  expectTruth,
  isRecorded,
  place,
  type Sent,
  type Timed,
  tradeUntilStopped,
} from '../group-trading.ts';
import {
  aMarket,
  newTrader,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { createDeskDatabase } from '../postgres.ts';
import { startProcess } from '../service-process.ts';
import { type Step, type SteppingProxy, startSteppingProxy } from '../stepping-proxy.ts';

/** A group that is held must begin within it, and orders that are sent again must be placed, also on a busy machine. */
const DEADLINE_MS = 10_000;
const AGENTS = 6;

describe('a database that stands still over a group', () => {
  let proxy: SteppingProxy;
  let service: TestService;
  let market: Market;
  let traders: readonly Trader[];

  beforeAll(async () => {
    proxy = await startSteppingProxy(await createDeskDatabase());
    service = await startTestService({
      PAPER_WORLD: 'off',
      DATABASE_URL: proxy.url,
      REQUEST_DEADLINE_MS: String(DEADLINE_MS),
    });
    traders = await Promise.all(Array.from({ length: AGENTS }, () => newTrader(service)));
    market = await aMarket((traders[0] as Trader).client);
  });

  const send = async (trader: Trader): Promise<Sent> => {
    const request = await restingOrder(trader, market);
    return {
      trader,
      request,
      orderId: orderIdOf(request),
      answer: await place(service, { trader, request }),
    };
  };

  /** One trade is in the group that is held; the others wait for the next one until their requests have ended. */
  async function sendInto(step: Step): Promise<{ first: Sent; others: readonly Sent[] }> {
    const [one, ...rest] = traders as [Trader, ...Trader[]];
    const holding = proxy.holdAt({ step });
    const sending = send(one);
    const held = await holding;
    const others = await Promise.all(rest.map(send));
    const first = await sending;
    expect(held.ids).toContain(first.orderId);
    held.release();
    return { first, others };
  }

  async function expectNothingLater(sent: readonly Sent[]): Promise<void> {
    // The leader renews its term when the database goes on.
    await expect.poll(() => service.exchange.status).toBe('open');
    // The line goes on, so what waited in it has had its turn.
    for (let turn = 0; turn < 3; turn += 1)
      expect((await send(traders[0] as Trader)).answer?.status).toBe(201);
    for (const one of sent) expect(await isRecorded(service, one)).toBe(false);
  }

  test('before it has answered the reads: 503 for all, and no effect later', async () => {
    const { first, others } = await sendInto('after it has read');
    for (const { answer } of [first, ...others])
      expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    await expectNothingLater([first, ...others]);
    await expectOneEffect(service, [first, ...others]);
  });

  test('over the commit: in doubt for the group, 503 without an effect for those that waited', async () => {
    const { first, others } = await sendInto('with its commit on its way');
    expect(first.answer).toMatchObject({
      status: 500,
      body: { code: 'order_outcome_unknown', orderId: first.orderId },
    });
    for (const { answer } of others)
      expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    await expectNothingLater(others);
    expect(await isRecorded(service, first)).toBe(true);
    await expectOneEffect(service, [first, ...others]);
  });
});

describe('a stop of the service with groups in flight', () => {
  test('every request is answered with the truth; what was not answered has no effect', async () => {
    const DATABASE_URL = await createDeskDatabase();
    const MASTER_KEY = randomBytes(32).toString('hex');
    const env = { DATABASE_URL, MASTER_KEY, PAPER_WORLD: 'off', RATE_LIMITS: 'off', LOG_LEVEL: 'fatal' };
    const stopping = await startProcess({ env });
    const traders = await Promise.all(Array.from({ length: AGENTS }, () => newTrader(stopping)));
    const market = await aMarket((traders[0] as Trader).client);
    const sent: Timed[] = [];
    const trading = tradeUntilStopped(stopping, [...traders, ...traders], market, sent);
    await expect.poll(() => sent.length).toBeGreaterThan(2 * AGENTS);
    stopping.child.kill('SIGTERM');
    await trading;
    expect(await stopping.exit()).toEqual({ code: 0, signal: null });
    expect(sent.filter(({ answer }) => answer?.status === 201).length).toBeGreaterThan(0);
    const next = await startTestService({ PAPER_WORLD: 'off', DATABASE_URL, MASTER_KEY });
    for (const one of sent.filter(({ answer }) => answer === null))
      expect({ orderId: one.orderId, is: await isRecorded(next, one) }).toMatchObject({ is: false });
    await expectTruth(next, sent);
    await expectOneEffect(next, sent);
  });
});
