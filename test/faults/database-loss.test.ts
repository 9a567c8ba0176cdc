/** Every database connection of a trading service is terminated, again and again: it keeps serving, and its books agree. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BellwetherClient,
  type Market,
  type Order,
  orderIdOf,
  type TradeRequest,
  type TradeResponse,
} from '@bellwether/sdk';
import { afterAll, expect, test } from 'vitest';
import { openPool } from '../../packages/server/src/platform/database/connection.ts';
import { aMarket, call, marketBuy, newTrader, restingOrder, type Trader } from '../harness.ts';
import { createDeskDatabase } from '../postgres.ts';
import { startProcess } from '../service-process.ts';

const AGENTS = 4;
const WORKERS_EACH = 2;
const TERMINATIONS = 6;
/** Pause between two terminations; meanwhile the exchange takes the lead again and reads its journal. */
const PAUSE_MS = 700;
/** No request may take longer, through every fault of the database. */
const ANSWERED_WITHIN_MS = 12_000;
const TRADES_AGAIN_WITHIN_MS = 8_000;
/** The resolver leaves an order alone for twelve seconds on a shared database. */
const RESOLVED_WITHIN_MS = 40_000;
const CREDITED = 10_000;
const PAGE = 100;
const IN_DOUBT = ['submitting', 'unknown'];

const url = await createDeskDatabase();
const admin = openPool(url, { max: 1, applicationName: 'test' });
afterAll(() => admin.end({ timeout: 1 }));

async function terminateAll(): Promise<void> {
  const rows = await admin`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name like 'bellwether %'`;
  expect(rows.length).toBeGreaterThan(0);
}

interface Sent {
  readonly request: TradeRequest;
  readonly answer: TradeResponse | undefined;
}

const orderOfTurn = (turn: number, trader: Trader, market: Market): Promise<TradeRequest> =>
  turn % 2 === 0 ? restingOrder(trader, market) : marketBuy(trader, market, 2);

/** Trades until stopped. A request that hangs fails the test: it would hold the agent's lock permanently. */
async function trade(trader: Trader, market: Market, baseUrl: string, isOver: () => boolean) {
  const client = new BellwetherClient({ baseUrl, apiKey: trader.apiKey, maxRetries: 0 });
  const sent: Sent[] = [];
  for (let turn = 0; !isOver(); turn += 1) {
    const request = await orderOfTurn(turn, trader, market);
    const answer = await Promise.race([
      client.placeTrade(request).catch(() => undefined),
      sleep(ANSWERED_WITHIN_MS, 'hangs' as const),
    ]);
    if (answer === 'hangs') throw new Error(`no answer within ${ANSWERED_WITHIN_MS} ms`);
    sent.push({ request, answer });
    // Requests fail at once while the exchange restarts: a pause between them.
    if (answer === undefined) await sleep(20);
  }
  return sent;
}

async function allOrders(client: BellwetherClient): Promise<Order[]> {
  const orders: Order[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await client.listOrders({ limit: PAGE, offset });
    orders.push(...page);
    if (page.length < PAGE) return orders;
  }
}

const micro = (value: number): number => Math.round(value * 1e6);

async function expectBooksToAgree({ client }: Trader, sent: readonly Sent[]) {
  const orders = await allOrders(client);
  expect(new Set(orders.map(({ orderId }) => orderId)).size).toBe(orders.length);
  const byId = new Map(orders.map((order) => [order.orderId, order]));
  for (const { request, answer } of sent) {
    const order = byId.get(orderIdOf(request));
    if (answer === undefined) continue;
    expect(order).toMatchObject({ filledSize: answer.filledSize, feePaid: answer.feePaid });
    expect(answer.status === 'live' ? ['live'] : ['matched', 'filled']).toContain(order?.status);
  }
  const spent = orders.map(({ filledAmount, feePaid }) => micro(filledAmount) + micro(feePaid));
  const total = spent.reduce((sum, one) => sum + one, 0);
  expect(micro((await client.getMe()).simulationBalance)).toBe(micro(CREDITED) - total);
  const [position] = await client.getCurrentPositions();
  expect(micro(position?.size ?? 0)).toBe(orders.reduce((sum, { filledSize }) => sum + micro(filledSize), 0));
}

test('terminated connections with trades in flight: the process survives, every order ends with proof, trading goes on', async () => {
  const service = await startProcess({
    env: { DATABASE_URL: url, MASTER_KEY: 'ab'.repeat(32), RATE_LIMITS: 'off' },
  });
  let hasExited = false;
  service.exit().then(
    () => {
      hasExited = true;
    },
    () => {},
  );
  const traders = await Promise.all(Array.from({ length: AGENTS }, () => newTrader(service)));
  const market = await aMarket((traders[0] as Trader).client);

  let isOver = false;
  const working = traders.map(async (trader) => ({
    trader,
    sent: (
      await Promise.all(
        Array.from({ length: WORKERS_EACH }, () => trade(trader, market, service.url, () => isOver)),
      )
    ).flat(),
  }));
  const all = Promise.all(working);
  all.catch(() => {});
  for (let turn = 0; turn < TERMINATIONS; turn += 1) {
    await sleep(PAUSE_MS);
    await terminateAll();
  }
  isOver = true;
  const histories = await all;
  expect(hasExited, service.output()).toBe(false);
  const sent = histories.flatMap((history) => history.sent);
  expect(sent.filter(({ answer }) => answer !== undefined).length).toBeGreaterThan(AGENTS);
  expect(sent.filter(({ answer }) => answer === undefined).length).toBeGreaterThan(0);

  // No agent's lock hangs: each agent soon trades again.
  const again = performance.now();
  for (const { trader, sent: before } of histories) {
    const request = await restingOrder(trader, market);
    const left = TRADES_AGAIN_WITHIN_MS - (performance.now() - again);
    await expect
      .poll(() => call(service, 'POST', '/markets/trade', { key: trader.apiKey, body: request }), {
        timeout: Math.max(left, 1),
        interval: 100,
      })
      .toMatchObject({ status: 201, body: { success: true } });
    before.push({ request, answer: await trader.client.placeTrade(request) });
  }

  for (const { trader } of histories) {
    const inDoubt = async () =>
      (await allOrders(trader.client)).filter(({ status }) => IN_DOUBT.includes(status));
    await expect.poll(inDoubt, { timeout: RESOLVED_WITHIN_MS, interval: 500 }).toEqual([]);
  }
  for (const { trader, sent: its } of histories) await expectBooksToAgree(trader, its);
  expect(hasExited).toBe(false);
});
