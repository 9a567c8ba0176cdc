/**
 * Replicas are restarted one by one while agents trade on both venues through a proxy: no request fails, and nothing
 * happens twice.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { BellwetherClient, buildMarketOrder, type Market } from '@bellwether/sdk';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { allEnded, expectChainToAgree } from '../chain-books.ts';
import { aMarket, call, newTrader, type RawAnswer, restingOrder, type Trader } from '../harness.ts';
import { type HealthProxy, startHealthProxy } from '../health-proxy.ts';
import { createDeskDatabase } from '../postgres.ts';
import { aSandboxMarket, newSandboxTrader, type SandboxTrader, usdcOf } from '../sandbox.ts';
import { freePort, kill, type ServiceProcess, startProcess, waitFor } from '../service-process.ts';

const TRADERS = 3;
const TRADERS_B = 2;
const ENOUGH = 10;
const CREDITED = 10_000;
const WAIT_MS = 60_000;
const LOOK_AGAIN_MS = 50;
/** Longer than any single attempt of a call to the sandbox may take. */
const CHAIN_HELD_MS = 6_000;
const ENDED = ['filled', 'partially_filled', 'reverted', 'expired', 'failed', 'canceled'];

interface Made {
  readonly what: string;
  readonly status: number;
  readonly body: unknown;
}

let replicas: ServiceProcess[];
let proxy: HealthProxy;
let traders: Trader[];
let plain: Market;
/** The first of the traders trades here: for ExchangeV3. */
let marketOfV2: Market;
let tradersB: SandboxTrader[];
let marketB: Market;
let sql: Sql;
const env: Record<string, string> = {};
const made: Made[] = [];
const placed: { readonly trader: Trader; readonly orderId: string }[] = [];
let isTrading = true;
let released = Promise.resolve();

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
  sql = openPool(env.DATABASE_URL as string, { max: 2 });
  replicas = [];
  for (const port of ports) replicas.push(await startProcess({ env, port }));
  await waitFor(() => proxy.ready().length === 2, WAIT_MS);
  traders = await Promise.all(Array.from({ length: TRADERS }, () => newTrader(proxy)));
  const [{ client: first }] = traders as [Trader];
  plain = await aMarket(first);
  const open = await first.listMarkets({ q: '*', limit: 500 });
  // One side of its book may be too thin for what they buy.
  marketOfV2 = open.find(
    ({ version, bestBid, bestAsk }) => version === 'v2' && Number(bestBid) >= 0.05 && Number(bestAsk) <= 0.9,
  ) as Market;
  expect(marketOfV2).toBeDefined();
  tradersB = await Promise.all(Array.from({ length: TRADERS_B }, () => newSandboxTrader(proxy)));
  const [{ client }] = tradersB as [SandboxTrader];
  marketB = await aSandboxMarket(client);
});
afterAll(() => sql?.end());

async function ask(
  { apiKey }: Pick<Trader, 'apiKey'>,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): Promise<RawAnswer> {
  const answer = await call(proxy, method, path, { key: apiKey, ...(body === undefined ? {} : { body }) });
  // A quote and a door of the chain say in a 200 that they cannot answer.
  const isFault = answer.body?.quoteErrorCode !== undefined || answer.body?.error !== undefined;
  made.push({
    what: `${method} ${path.split('?')[0]}`,
    status: isFault ? 500 : answer.status,
    body: answer.body,
  });
  return answer;
}

/** Buys, rests, cancels and reads, one after another. */
async function work(trader: Trader): Promise<void> {
  const { signer } = trader;
  let resting = '';
  while (isTrading) {
    const market = trader === traders[0] ? marketOfV2 : plain;
    const buy = { signer, market, outcome: 'YES', side: 'BUY', amount: 2, worstPrice: 0.95 } as const;
    for (const request of [await buildMarketOrder(buy), await restingOrder(trader, market)]) {
      const { body } = await ask(trader, 'POST', '/markets/trade', request);
      placed.push({ trader, orderId: body.orderId });
      resting = body.orderId;
    }
    await ask(trader, 'POST', '/markets/orders/cancel', { orderId: resting });
    await ask(trader, 'GET', '/markets/current-positions');
    await ask(trader, 'GET', `/markets/briefing`);
    await ask(trader, 'GET', `/markets/${plain.id}`);
  }
}

/** Quote, local signature, submit, and the order until its end. */
async function tradeB(trader: SandboxTrader, fields: Record<string, unknown>): Promise<void> {
  const userPublicKey = trader.wallet;
  const { body: quote } = await ask(trader, 'POST', '/venueb/agent/quote', { ...fields, userPublicKey });
  if (quote.unsignedTransaction === undefined) return;
  const signed = trader.signer.signTransaction(Buffer.from(quote.unsignedTransaction, 'base64'));
  const signedTransaction = Buffer.from(signed).toString('base64');
  const { quoteId } = quote;
  const { body: order } = await ask(trader, 'POST', '/venueb/agent/submit', { quoteId, signedTransaction });
  for (;;) {
    const { status, body } = await ask(trader, 'GET', `/venueb/agent/orders/${order.orderId}`);
    if (status >= 400 || ENDED.includes(body.status)) return;
    await sleep(LOOK_AGAIN_MS);
  }
}

/** Buys, sells, and asks the chain and the venue at their doors. */
async function workOnB(trader: SandboxTrader): Promise<void> {
  const outcome = { marketTicker: marketB.id, side: 'YES' };
  while (isTrading) {
    await tradeB(trader, { ...outcome, action: 'BUY', amount: 5 });
    await tradeB(trader, { ...outcome, action: 'SELL', shares: 1 });
    await ask(trader, 'GET', `/venueb/agent/positions?userPublicKey=${trader.wallet}`);
    await ask(trader, 'GET', `/paper/dflow/metadata/api/v1/market/${marketB.id}`);
    const getBalance = { jsonrpc: '2.0', id: 1, method: 'getBalance', params: [trader.wallet] };
    await ask(trader, 'POST', '/paper/solana', getBalance);
  }
}

/** The next leader cannot open the chain for some seconds, as on a machine that has much else to do. */
async function holdChain(): Promise<void> {
  const session = await sql.session();
  const term = async () => (await sql`select term from durable_terms where name = 'exchange'`)[0]?.term;
  const before = await term();
  await session`begin`;
  await session`select from sandbox_chain for update`;
  const release = async () => {
    await vi.waitFor(async () => expect(await term()).not.toBe(before), { timeout: WAIT_MS, interval: 50 });
    await sleep(CHAIN_HELD_MS);
    session.end();
  };
  released = release();
}

const more = (count = ENOUGH): Promise<boolean> => {
  const before = made.length;
  return waitFor(() => made.length > before + count, WAIT_MS);
};

test('every request of agents that trade meanwhile succeeds, and their books agree', {
  timeout: 300_000,
}, async () => {
  const usdc = await usdcOf(sql);
  const working = Promise.all([...traders.map(work), ...tradersB.map(workOnB)]);
  expect(await more()).toBe(true);
  for (const [index, replica] of replicas.entries()) {
    if (index === 0) await holdChain();
    kill(replica.child.pid as number, 'SIGTERM');
    expect(await replica.exit(), replica.output()).toEqual({ code: 0, signal: null });
    await released;
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

  await allEnded(tradersB);
  await expectChainToAgree(sql, tradersB);
  expect(await usdcOf(sql)).toBe(usdc);
});
