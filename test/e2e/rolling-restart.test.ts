/** Replicas are restarted one by one while agents trade through a proxy: no request fails, and nothing happens twice. */
import { randomBytes } from 'node:crypto';
import { BellwetherClient, buildMarketOrder, type Market } from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import { aMarket, call, newTrader, type RawAnswer, restingOrder, type Trader } from '../harness.ts';
import { type HealthProxy, startHealthProxy } from '../health-proxy.ts';
import { createDeskDatabase } from '../postgres.ts';
import { freePort, kill, type ServiceProcess, startProcess, waitFor } from '../service-process.ts';

const TRADERS = 3;
const ENOUGH = 10;
const CREDITED = 10_000;
const WAIT_MS = 60_000;

interface Made {
  readonly what: string;
  readonly status: number;
  readonly body: unknown;
}

let replicas: ServiceProcess[];
let proxy: HealthProxy;
let traders: Trader[];
let market: Market;
const env: Record<string, string> = {};
const made: Made[] = [];
const placed: { readonly trader: Trader; readonly orderId: string }[] = [];
let isTrading = true;

beforeAll(async () => {
  const ports = [await freePort(), await freePort()];
  proxy = await startHealthProxy(ports);
  Object.assign(env, {
    DATABASE_URL: await createDeskDatabase(),
    MASTER_KEY: randomBytes(32).toString('hex'),
    RATE_LIMITS: 'off',
    // Longer than the proxy needs to notice.
    DRAIN_S: '2',
    REQUEST_DEADLINE_MS: '60000',
  });
  replicas = [];
  for (const port of ports) replicas.push(await startProcess({ env, port }));
  await waitFor(() => proxy.ready().length === 2, WAIT_MS);
  traders = await Promise.all(Array.from({ length: TRADERS }, () => newTrader(proxy)));
  market = await aMarket((traders[0] as Trader).client);
});

async function ask(trader: Trader, method: 'GET' | 'POST', path: string, body?: unknown): Promise<RawAnswer> {
  const answer = await call(proxy, method, path, {
    key: trader.apiKey,
    ...(body === undefined ? {} : { body }),
  });
  made.push({ what: `${method} ${path.split('?')[0]}`, status: answer.status, body: answer.body });
  return answer;
}

/** Buys, rests, cancels and reads, one after another. */
async function work(trader: Trader): Promise<void> {
  const { signer } = trader;
  let resting = '';
  while (isTrading) {
    const buy = { signer, market, outcome: 'YES', side: 'BUY', amount: 2, worstPrice: 0.95 } as const;
    for (const request of [await buildMarketOrder(buy), await restingOrder(trader, market)]) {
      const { body } = await ask(trader, 'POST', '/markets/trade', request);
      placed.push({ trader, orderId: body.orderId });
      resting = body.orderId;
    }
    await ask(trader, 'POST', '/markets/orders/cancel', { orderId: resting });
    await ask(trader, 'GET', '/markets/current-positions');
    await ask(trader, 'GET', `/markets/briefing`);
    await ask(trader, 'GET', `/markets/${market.id}`);
  }
}

const more = (count = ENOUGH): Promise<boolean> => {
  const before = made.length;
  return waitFor(() => made.length > before + count, WAIT_MS);
};

test('every request of agents that trade meanwhile succeeds, and their books agree', async () => {
  const working = Promise.all(traders.map(work));
  expect(await more()).toBe(true);
  for (const [index, replica] of replicas.entries()) {
    kill(replica.child.pid as number, 'SIGTERM');
    expect(await replica.exit(), replica.output()).toEqual({ code: 0, signal: null });
    expect(await more()).toBe(true);
    replicas[index] = await startProcess({ env, port: replica.port });
    expect(await waitFor(() => proxy.ready().length === 2, WAIT_MS)).toBe(true);
    expect(await more()).toBe(true);
  }
  isTrading = false;
  await working;
  expect(
    made.flatMap(({ what, status, body }) =>
      status < 400 ? [] : [`${what} ${status} ${JSON.stringify(body)}`],
    ),
  ).toEqual([]);

  for (const trader of traders) {
    const client = new BellwetherClient({ baseUrl: proxy.url, apiKey: trader.apiKey });
    const own = placed.filter((one) => one.trader === trader);
    const orders = await Promise.all(own.map(({ orderId }) => client.getOrder(orderId)));
    expect(
      orders.map(({ status }) => status).filter((status) => !['filled', 'canceled'].includes(status)),
    ).toEqual([]);
    const spent = orders.reduce(
      (sum, { filledAmount, feePaid }) => sum + Math.round((filledAmount + feePaid) * 1e6),
      0,
    );
    expect(Math.round((await client.getMe()).simulationBalance * 1e6)).toBe(CREDITED * 1e6 - spent);
  }
});
