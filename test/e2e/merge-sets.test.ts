/** Full sets are merged into collateral: at once, once, and whatever stands in the way of trades. */
import { OrderEventData } from '@bellwether/contract';
import type { AgentEvent, Market } from '@bellwether/sdk';
import { Check } from 'typebox/value';
import { beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../packages/server/src/platform/database/connection.ts';
import { expectBooksToAgree } from '../books.ts';
import {
  limitOrder,
  newTrader,
  openMarkets,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { micro } from '../world.ts';
import { receiptOf } from './receipts-stage.ts';

let service: TestService;
let trader: Trader;
let market: Market;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' });
  trader = await newTrader(service, 2);
  [market] = (await openMarkets(trader.client)) as [Market];
});

let names = 0;
const name = (): string => {
  names += 1;
  return `merge-${names}`;
};
const cash = ({ funder }: Trader) => service.exchange.account(funder).available;
const give = (to: Trader, amount: number, { conditionId } = market) =>
  service.exchange.execute({ kind: 'split', account: to.funder, conditionId, amount: micro(amount) });
const raw = (of: Trader, body: unknown, headers: Record<string, string> = {}) =>
  of.post('/markets/merge', body, headers);

test('pairs become collateral, and everything tells of it', async () => {
  await give(trader, 10);
  const before = cash(trader);
  const clientOrderId = name();
  const merged = await trader.client.mergeSets({
    ...{ clientOrderId, marketId: market.slug, amount: 4 },
    ...{ source: 'sdk:merging', reasoning: 'The pair is worth more than its two prices.' },
  });
  expect(merged).toMatchObject({
    ...{ success: true, status: 'filled', clientOrderId, amount: 4, txHash: null },
    ...{ marketId: market.id, conditionId: market.conditionId, walletAddress: trader.funder },
  });
  expect(cash(trader) - before).toBe(micro(4));
  const { orderId } = merged;
  const positions = await trader.client.getCurrentPositions();
  expect(positions.map(({ outcome, size }) => [outcome, size]).sort()).toEqual([
    ['NO', 6],
    ['YES', 6],
  ]);

  const [listed] = await trader.client.listOrders({ clientOrderId });
  expect(listed).toMatchObject({
    ...{ orderId, status: 'filled', orderStatus: 2, side: 'SELL', outcome: 'BOTH', orderType: 'MERGE' },
    ...{ price: 1, orderSize: 4, filledSize: 4, filledAmount: 4, source: 'sdk:merging', orderVersion: null },
  });
  const order = await trader.client.getOrder(orderId);
  expect(order).toMatchObject({
    counted: 0,
    journal: [{ event: 'recorded' }, { event: 'filled_completely' }],
  });
  expect(order.fills.map(({ matchKind, size }) => [matchKind, size])).toEqual([
    ['MERGED', 4],
    ['MERGED', 4],
  ]);
  // At the middle of the book, so that both outcomes together bring one.
  expect(order.fills.reduce((sum, { cost }) => sum + cost, 0)).toBe(4);
  const { trades } = await trader.client.listAgentTrades({ limit: 1 });
  expect(trades[0]).toMatchObject({ orderId, actionType: 'SELL', direction: 'BOTH', status: 'filled' });
  expect(await receiptOf(service, trader, orderId)).toMatchObject({
    entries: [{ body: { asked: { kind: 'merge', outcome: 'BOTH', shares: '4' } } }],
  });
  const { recentTrades } = await trader.client.getBriefing();
  expect(JSON.stringify(recentTrades)).toContain(orderId);
  await expectBooksToAgree(service, []);
});

test('no safeguard stands in its way, and it counts as no trade', async () => {
  const agent = await newTrader(service);
  await give(agent, 5);
  const { safeguards: before } = await agent.client.getMarketContext(market.id);
  await agent.client.updateSettings({
    ...{ tradingPaused: true, maxTradesPerDay: 0, maxTradeAmount: 0.01, dailyTradeAmountLimit: 0.01 },
    ...{ maxPositionValue: 0.01, dailyLossLimit: 0.01, maxOpenOrders: 0, approvalAbove: 0 },
  });
  expect(
    await agent.client.mergeSets({ clientOrderId: name(), marketId: market.id, amount: 5 }),
  ).toMatchObject({
    ...{ success: true, amount: 5 },
  });
  const { safeguards: after } = await agent.client.getMarketContext(market.id);
  expect([after.tradesToday.used, after.dailyTradeAmount.used]).toEqual([
    before.tradesToday.used,
    before.dailyTradeAmount.used,
  ]);
});

test('its result is the agent’s of that day', async () => {
  const agent = await newTrader(service);
  const { signer, signatureType } = agent;
  for (const outcome of ['YES', 'NO'] as const) {
    const order = await limitOrder({ signer, signatureType }, market, {
      outcome,
      side: 'BUY',
      price: '0.95',
      size: 10,
      type: 'FAK',
    });
    expect(await agent.client.placeTrade(order)).toMatchObject({ success: true });
  }
  const held = await agent.client.getCurrentPositions();
  const amount = Math.min(...held.map(({ size }) => size));
  const paid = held.reduce((sum, { avgPrice }) => sum + avgPrice * amount, 0);
  await agent.client.mergeSets({ clientOrderId: name(), marketId: market.id, amount, source: 'sdk:pairs' });
  const results = await agent.client.listTradesByStrategy();
  const merged = results.find(({ source }) => source === 'sdk:pairs');
  expect(merged?.realizedPnl).toBeCloseTo(amount - paid, 4);
  expect(merged?.trades).toBe(0);
  await expectBooksToAgree(service, [agent]);
});

test('a stream tells of it: the order, both positions with their reason, and the collateral', async () => {
  const agent = await newTrader(service);
  const ending = new AbortController();
  const events: AgentEvent[] = [];
  for await (const event of agent.client.events({ signal: ending.signal })) {
    if (event.type === 'ready') {
      const terms = { marketId: market.id, amount: 3 };
      await agent.client.splitSets({ clientOrderId: 'stream-split', ...terms });
      await agent.client.mergeSets({ clientOrderId: 'stream-merge', ...terms });
    }
    events.push(event);
    const done = events.filter((one) => one.type === 'position' && one.data.reason === 'merge');
    if (done.length === 2) ending.abort();
  }
  const told = (type: string) => events.filter((event) => event.type === type).map(({ data }) => data);
  const moved = events.flatMap((event) => (event.type === 'position' ? [event.data] : []));
  expect(moved.map(({ reason, outcome, size }) => [reason, outcome, size])).toEqual([
    ['split', 'YES', expect.any(Number)],
    ['split', 'NO', expect.any(Number)],
    ['merge', 'YES', 0],
    ['merge', 'NO', 0],
  ]);
  expect(told('order.filled')).toMatchObject([
    { outcome: 'BOTH', orderType: 'SPLIT', orderSize: 3 },
    { outcome: 'BOTH', orderType: 'MERGE', orderSize: 3 },
  ]);
  for (const event of events.filter(({ type }) => type === 'order.filled'))
    expect(Check(OrderEventData, event.data)).toBe(true);
});

describe('once', () => {
  test('however often and at once it is sent; another body under the name is refused', async () => {
    const agent = await newTrader(service);
    await give(agent, 10);
    const before = cash(agent);
    const body = { clientOrderId: name(), marketId: market.id, amount: 1 };
    const answers = await Promise.all(Array.from({ length: 10 }, () => raw(agent, body)));
    for (const { status, body: answer } of answers)
      expect([status, answer.code ?? answer.status]).toEqual(
        status === 200 ? [200, 'filled'] : [409, 'idempotency_in_flight'],
      );
    const again = await raw(agent, body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body).toEqual(answers.find(({ status }) => status === 200)?.body);
    expect(cash(agent) - before).toBe(micro(1));
    expect(await raw(agent, { ...body, amount: 2 })).toMatchObject({
      status: 409,
      body: { code: 'client_order_id_already_used', orderId: again.body.orderId },
    });
    const order = await limitOrder(agent, market, { side: 'BUY', price: '0.01', size: 10 });
    await expect(
      agent.client.placeTrade({ ...order, clientOrderId: body.clientOrderId }),
    ).rejects.toMatchObject({ code: 'client_order_id_already_used' });
    expect(cash(agent) - before).toBe(micro(1));
  });

  test('also where the answer was kept under no key: a crash between the effect and the kept answer', async () => {
    const agent = await newTrader(service);
    await give(agent, 10);
    const body = { clientOrderId: name(), marketId: market.id, amount: 3 };
    const headers = { 'idempotency-key': name() };
    const first = await raw(agent, body, headers);
    // As if the process had died before it kept the answer.
    const sql = openPool(service.databaseUrl, { max: 1 });
    await sql`delete from idempotency_keys where key = ${headers['idempotency-key']}`;
    await sql.end();
    const before = cash(agent);
    const again = await raw(agent, body, headers);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect((await raw(agent, body, { 'idempotency-key': name() })).body).toEqual(first.body);
    expect(cash(agent)).toBe(before);
  });
});

describe('is refused', () => {
  test('without enough pairs: it says how many there are, and open SELLs hold theirs', async () => {
    const agent = await newTrader(service);
    await give(agent, 10);
    await agent.client.placeTrade(
      await limitOrder(agent, market, { outcome: 'NO', side: 'SELL', price: '0.99', size: 6 }),
    );
    const body = { clientOrderId: name(), marketId: market.id, amount: 5 };
    const refused = await raw(agent, body);
    expect(refused).toMatchObject({ status: 400, body: { code: 'insufficient_balance' } });
    expect(refused.body.detail).toContain('4 pairs can be merged');
    expect(refused.body.detail).toContain('10 YES and 4 NO');
    await agent.client.cancelMarket({});
    expect(await raw(agent, body)).toMatchObject({ status: 200, body: { success: true } });
  });

  test('for every wrong field at once, and a misspelt one', async () => {
    const refused = await raw(trader, { marketId: '', amount: 0.0000001, walletAdress: trader.funder });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    const said = JSON.stringify(refused.body);
    for (const field of ['clientOrderId', 'marketId', 'amount', 'walletAdress'])
      expect(said).toContain(field);
  });

  test('for a wallet out of reach, an unknown market, and a venue without sets', async () => {
    const stranger = await newTrader(service);
    await give(trader, 1);
    const body = { clientOrderId: name(), marketId: market.id, amount: 1 };
    expect(await raw(stranger, { ...body, walletAddress: trader.funder })).toMatchObject({
      status: 403,
      body: { code: 'credentials_not_registered' },
    });
    expect(await raw(stranger, { ...body, marketId: 'nothing-like-this' })).toMatchObject({
      status: 404,
      body: { code: 'market_not_found' },
    });
    expect(await raw(stranger, { ...body, venue: 'kalshi' })).toMatchObject({
      status: 400,
      body: { code: 'wrong_venue_route' },
    });
    // The account that pays and the wallet whose credential is registered are the same wallet.
    const own = { ...body, clientOrderId: name() };
    expect(await raw(trader, { ...own, address: trader.funder })).toMatchObject({ status: 200 });
  });
});

test('a market of Protocol V2', async () => {
  const found = (await trader.client.listMarkets({ q: '*', limit: 500 })).find(
    ({ version, active }) => version === 'v2' && active,
  ) as Market;
  await give(trader, 2, found);
  const before = cash(trader);
  const merge = { clientOrderId: name(), marketId: found.conditionId, amount: 2 };
  expect(await trader.client.mergeSets(merge)).toMatchObject({ success: true, amount: 2 });
  expect(cash(trader) - before).toBe(micro(2));
});
