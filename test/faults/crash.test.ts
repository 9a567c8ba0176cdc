/** The service is killed without warning: everything acknowledged is still there, and nothing happened twice. */
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BellwetherClient,
  buildLimitOrder,
  buildMarketOrder,
  type Market,
  type Order,
  orderIdOf,
  type TradeRequest,
  type TradeResponse,
} from '@bellwether/sdk';
import { afterAll, describe, expect, test } from 'vitest';
import { aMarket, call, newTrader, restingOrder, type Trader } from '../harness.ts';
import {
  dataFolder,
  kill,
  postgresOf,
  postmasterOf,
  type ServiceProcess,
  signalPostgres,
  startProcess,
  waitFor,
} from '../service-process.ts';

const IN_DOUBT = ['submitting', 'unknown'];
const PAGE = 100;
const WORKERS = 8;
/** Killed at the next order that is sent once this many are acknowledged, with those of the other workers in flight. */
const ACKNOWLEDGED_AT_LEAST = 60;
const CREDITED = 10_000;

interface Sent {
  readonly request: TradeRequest;
  readonly answer?: TradeResponse;
}

/** Sends orders of every kind from several workers until the service is gone. */
async function tradeUntilKilled(trader: Trader, market: Market, service: ServiceProcess): Promise<Sent[]> {
  const client = new BellwetherClient({ baseUrl: service.url, apiKey: trader.apiKey, maxRetries: 0 });
  const sent = new Map<string, Sent>();
  let acknowledged = 0;
  let killed = false;
  const worker = async (index: number) => {
    for (let turn = index; !killed; turn++) {
      const request = await orderOfTurn(turn, trader, market);
      const orderId = orderIdOf(request);
      sent.set(orderId, { request });
      const placing = client.placeTrade(request);
      if (acknowledged >= ACKNOWLEDGED_AT_LEAST && !killed) {
        killed = true;
        kill(service.child.pid as number, 'SIGKILL');
      }
      try {
        const answer = await placing;
        sent.set(orderId, { request, answer });
        acknowledged += 1;
      } catch {
        // Killed in flight: the outcome is unknown, which is what this test needs.
      }
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, (_, index) => worker(index)));
  return [...sent.values()];
}

/** Three that rest to buy, two that buy at once, one that rests to sell some of it. */
function orderOfTurn(turn: number, trader: Trader, market: Market): Promise<TradeRequest> {
  const common = { signer: trader.signer, market, outcome: 'YES' } as const;
  switch (turn % 6) {
    case 1:
    case 3:
      return buildMarketOrder({ ...common, side: 'BUY', amount: 2, worstPrice: 0.95 });
    case 5:
      return buildLimitOrder({ ...common, side: 'SELL', price: '0.99', size: 5, postOnly: true });
    default:
      return restingOrder(trader, market);
  }
}

async function allOrders(client: BellwetherClient): Promise<Order[]> {
  const orders: Order[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await client.listOrders({ limit: PAGE, offset });
    orders.push(...page);
    if (page.length < PAGE) return orders;
  }
}

const inDoubt = async (client: BellwetherClient) =>
  (await allOrders(client)).filter(({ status }) => IN_DOUBT.includes(status));

const micro = (value: number): number => Math.round(value * 1e6);
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Balance, position and budgets are what the orders say, to the micro-unit. */
async function expectBooksToAgree({ client }: Trader, market: Market, sent: readonly Sent[]) {
  const orders = await allOrders(client);
  expect(new Set(orders.map(({ orderId }) => orderId)).size).toBe(orders.length);
  const spent = orders.map(({ side, filledAmount, feePaid }) =>
    side === 'BUY' ? micro(filledAmount) + micro(feePaid) : micro(feePaid) - micro(filledAmount),
  );
  expect(micro((await client.getMe()).simulationBalance)).toBe(micro(CREDITED) - sum(spent));
  const bought = orders.map(({ side, filledSize }) => micro(filledSize) * (side === 'BUY' ? 1 : -1));
  const [position] = await client.getCurrentPositions();
  expect(micro(position?.size ?? 0)).toBe(sum(bought));
  for (const order of orders.filter(({ filledSize }) => filledSize > 0)) {
    const { fills } = await client.getOrder(order.orderId);
    expect(sum(fills.map(({ size }) => micro(size)))).toBe(micro(order.filledSize));
    expect(sum(fills.map(({ cost }) => micro(cost)))).toBe(micro(order.filledAmount));
    expect(sum(fills.map(({ fee }) => micro(fee)))).toBe(micro(order.feePaid));
  }
  await expectBudgetsToAgree(client, market, orders, sent);
}

/** A refused trade is returned; a finished BUY counts its cost, any other order the signed amount. */
async function expectBudgetsToAgree(
  client: BellwetherClient,
  market: Market,
  orders: readonly Order[],
  sent: readonly Sent[],
) {
  const signed = new Map<string, number>(
    sent.map(({ request }) => [
      orderIdOf(request),
      Number(request.order.side === 'BUY' ? request.order.makerAmount : request.order.takerAmount),
    ]),
  );
  const taken = orders.filter(({ status }) => status !== 'rejected');
  const used = taken.map(({ orderId, status, filledAmount }) =>
    status === 'matched' || status === 'filled' ? micro(filledAmount) : (signed.get(orderId) as number),
  );
  const { safeguards } = await client.getMarketContext(market.id);
  expect(safeguards.tradesToday.used).toBe(taken.length);
  expect(micro(safeguards.dailyTradeAmount.used)).toBe(sum(used));
}

describe('kill -9 of the service with trades in flight', () => {
  test('PostgreSQL survives, the next start adopts it, and the books agree', async () => {
    const dataDir = dataFolder();
    const env = { RATE_LIMITS: 'off' };
    const first = await startProcess({ dataDir, env });
    const trader = await newTrader(first);
    const { client, signer } = trader;
    const market = await aMarket(client);
    // Something to sell from the start.
    const stake = { signer, market, outcome: 'YES', side: 'BUY', amount: 200, worstPrice: 0.95 } as const;
    const opening = await buildMarketOrder(stake);
    const opened: Sent = { request: opening, answer: await client.placeTrade(opening) };

    const { pid } = postmasterOf(dataDir);
    const sent = [opened, ...(await tradeUntilKilled(trader, market, first))];
    expect(await first.exit()).toEqual({ code: null, signal: 'SIGKILL' });
    expect(postgresOf(dataDir)).toContain(pid);
    const acknowledged = sent.filter(({ answer }) => answer !== undefined);
    expect(sent.length).toBeGreaterThan(acknowledged.length);

    // Immediately, like a supervisor.
    const second = await startProcess({ dataDir, env, port: first.port });
    expect(second.output()).toContain('adopted');
    expect(postmasterOf(dataDir).pid).toBe(pid);

    for (const { request, answer } of acknowledged) {
      const order = await client.getOrder(orderIdOf(request));
      expect(answer?.status === 'live' ? ['live'] : ['matched', 'filled']).toContain(order.status);
      expect(order).toMatchObject({ filledSize: answer?.filledSize, feePaid: answer?.feePaid });
    }
    // Statements in flight may reach PostgreSQL after the service died; the resolver handles them.
    await expect.poll(() => inDoubt(client), { interval: 200 }).toEqual([]);
    await expectBooksToAgree(trader, market, sent);

    // Acknowledged orders again: the first answer, without effect.
    const before = await allOrders(client);
    for (const { request, answer } of acknowledged) expect(await client.placeTrade(request)).toEqual(answer);
    expect(await allOrders(client)).toEqual(before);
    // The others twice: placed if they never arrived, otherwise their outcome; the same both times.
    for (const { request } of sent.filter(({ answer }) => answer === undefined)) {
      const known = before.find(({ orderId }) => orderId === orderIdOf(request));
      const answer = await client.placeTrade(request);
      expect(await client.placeTrade(request)).toEqual(answer);
      expect(answer.success).toBe(known === undefined || known.status !== 'rejected');
      if (known !== undefined) expect(answer.filledSize).toBe(known.filledSize);
    }
    const after = await allOrders(client);
    expect(after.length).toBe(sent.length);
    // Known orders are unchanged; only those that never arrived are new.
    expect(after.filter((order) => before.some(({ orderId }) => orderId === order.orderId))).toEqual(before);
    await expectBooksToAgree(trader, market, sent);
  });
});

async function restOne(service: ServiceProcess): Promise<{ trader: Trader; placed: string }> {
  const trader = await newTrader(service);
  const request = await restingOrder(trader, await aMarket(trader.client));
  const { orderId } = await trader.client.placeTrade(request);
  return { trader, placed: orderId };
}

/** A session that begins while the others are killed answers until it sees that the postmaster is gone. */
async function killAllPostgres(dataDir: string): Promise<void> {
  const areGone = () => {
    signalPostgres(dataDir, 'SIGKILL');
    return postgresOf(dataDir).length === 0;
  };
  expect(await waitFor(areGone, 5_000)).toBe(true);
}

describe('kill -9 of everything', () => {
  test('service and PostgreSQL: the next start recovers without help', async () => {
    const dataDir = dataFolder();
    const first = await startProcess({ dataDir });
    const { trader, placed } = await restOne(first);
    kill(first.child.pid as number, 'SIGKILL');
    signalPostgres(dataDir, 'SIGKILL');
    // Immediately: some of them may still be ending.
    const second = await startProcess({ dataDir, port: first.port });
    expect(second.output()).not.toContain('adopted');
    expect(await trader.client.getOrder(placed)).toMatchObject({ status: 'live' });
  });

  test('the postmaster alone: its children end, and the next start recovers', async () => {
    const dataDir = dataFolder();
    const first = await startProcess({ dataDir });
    const { trader, placed } = await restOne(first);
    kill(first.child.pid as number, 'SIGKILL');
    kill(postmasterOf(dataDir).pid, 'SIGKILL');
    await startProcess({ dataDir, port: first.port });
    expect(await trader.client.getOrder(placed)).toMatchObject({ status: 'live' });
  });

  test('PostgreSQL under a running service: 503; after a stop the next start has all data', async () => {
    const dataDir = dataFolder();
    const service = await startProcess({ dataDir });
    const { trader, placed } = await restOne(service);
    // The service restarts it at once, which may come before the request: so it must not start for now.
    const settings = join(dataDir, 'postgres', 'postgresql.auto.conf');
    const sound = readFileSync(settings);
    appendFileSync(settings, 'not_a_setting = 1\n');
    await killAllPostgres(dataDir);
    const down = await call(service, 'GET', '/agents/settings', { key: trader.apiKey });
    expect({ status: down.status, code: down.body.code }, service.output()).toEqual({
      status: 503,
      code: 'service_unavailable',
    });
    expect(down.headers.get('retry-after')).toBe('1');
    expect((await call(service, 'GET', '/readyz')).status).toBe(503);
    writeFileSync(settings, sound);
    kill(service.child.pid as number, 'SIGTERM');
    await service.exit();
    await startProcess({ dataDir, port: service.port });
    expect(await trader.client.getOrder(placed)).toMatchObject({ status: 'live' });
  });
});

describe('a stale postmaster.pid', () => {
  const script = ['-e', 'setTimeout(() => {}, 600_000)', 'postgres'];
  const bystander = spawn(process.execPath, script, { stdio: 'ignore' });
  afterAll(() => bystander.kill('SIGKILL'));

  test('that names another program: the service starts, and does not touch that program', async () => {
    const dataDir = dataFolder();
    let service = await startProcess({ dataDir });
    const { trader, placed } = await restOne(service);
    // After a reboot both lock files name a process id that another program may have; in a container it is often the first.
    for (const pid of [bystander.pid, 1]) {
      kill(service.child.pid as number, 'SIGKILL');
      await killAllPostgres(dataDir);
      for (const file of ['postgres/postmaster.pid', 'run/.s.PGSQL.5432.lock']) {
        const path = join(dataDir, file);
        const [, ...rest] = readFileSync(path, 'utf8').split('\n');
        writeFileSync(path, [pid, ...rest].join('\n'));
      }
      service = await startProcess({ dataDir, port: service.port });
      expect(await trader.client.getOrder(placed)).toMatchObject({ status: 'live' });
      expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
    }
  });
});
