/** Reads of an owner's session: home, one agent, a market; never anything of another owner. */

import type { Market, Operation } from '@bellwether/contract';
import * as contract from '@bellwether/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { ownerOf } from '../approving.ts';
import {
  aMarket,
  marketBuy,
  newTrader,
  restingOrder,
  sharedTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { Visitor } from '../passkey.ts';

let service: TestService;
let market: Market;
let ada: Visitor;
let bob: Visitor;
/** Ada's two, and Bob's. */
let first: Trader;
let second: Trader;
let foreign: Trader;
let orderId: string;

const buy = async (trader: Trader, amount: number) =>
  trader.client.placeTrade({
    ...(await marketBuy(trader, market, amount)),
    reasoning: 'cheap \u202e<b>now</b>',
    source: 'sdk:test',
  });

const get = async (visitor: Visitor, path: string) => {
  const { status, body } = await visitor.send('GET', path);
  expect([path, status, body.code]).toEqual([path, 200, undefined]);
  return body;
};

beforeAll(async () => {
  service = await sharedTestService();
  [first, second, foreign] = [await newTrader(service), await newTrader(service), await newTrader(service)];
  market = await aMarket(first.client);
  ada = await ownerOf(service, first, second);
  bob = await ownerOf(service, foreign);
  await buy(first, 20);
  ({ orderId } = await first.client.placeTrade(await restingOrder(first, market)));
});

describe('home', () => {
  test('shows all agents, each wallet counted once, and nothing of others', async () => {
    const home = await get(ada, '/owner/home');
    expect(home.agents.map(({ agentId }: { agentId: string }) => agentId).sort()).toEqual(
      [first.agentId, second.agentId].sort(),
    );
    const of = (agentId: string) =>
      home.agents.find((agent: { agentId: string }) => agent.agentId === agentId);
    expect(of(first.agentId)).toMatchObject({
      status: 'active',
      pausedBy: null,
      openOrdersCount: 1,
      positionsCount: 1,
      ordersInDoubt: { count: 0, orderIds: [] },
      quota: { trades: { used: 2, limit: 5000 } },
      isCurrent: true,
    });
    expect(of(first.agentId).days).toHaveLength(30);
    expect(of(first.agentId).days.at(-1).fees).toBeGreaterThan(0);
    expect(home.days.at(-1)).toEqual(of(first.agentId).days.at(-1));
    expect(home).toMatchObject({ agentsTotal: 2, allPaused: false, isCurrent: true });
    expect(home.equity).toBeCloseTo(of(first.agentId).equity + of(second.agentId).equity, 5);
    expect(home.exposure.byMarket).toMatchObject([
      { marketConditionId: market.conditionId, positionsCount: 1 },
    ]);
    expect(home.exposure.byVenue).toMatchObject([{ venue: 'polymarket' }]);
    expect(home.exposure.total).toBeCloseTo(home.exposure.byMarket[0].exposure, 6);
    expect((await get(bob, '/owner/home')).exposure).toMatchObject({ total: 0, byMarket: [] });
  });

  test('alerts name their market as text of strangers, beside the sentence', async () => {
    const trader = await newTrader(service);
    await trader.client.updateSettings({ riskControlEnabled: true, stopLossPercent: 1 });
    await buy(trader, 20);
    const owner = await ownerOf(service, trader);
    const [agent] = (await get(owner, '/owner/home')).agents;
    const alert = agent.alerts.find(({ code }: { code: string }) => code === 'stop_loss_reached');
    expect(alert).toMatchObject({ marketId: market.id, marketTitle: market.question });
    expect(alert.message).not.toContain(market.question);
  });

  test('one switch pauses every agent of this owner, and resumes every one', async () => {
    await second.client.updateSettings({ tradingPaused: true });
    const paused = await ada.send('POST', '/owner/pause', { paused: true });
    expect(paused.body.map(({ settings }: contract.OwnerAgent) => settings.pausedByOwner)).toEqual([
      true,
      true,
    ]);
    expect((await get(ada, '/owner/home')).allPaused).toBe(true);
    await expect(buy(first, 5)).rejects.toMatchObject({ code: 'trading_paused' });
    expect((await foreign.client.getSettings()).tradingPaused).toBe(false);
    await ada.send('POST', '/owner/pause', { paused: false });
    expect(
      (await get(ada, '/owner/home')).agents.map(({ pausedBy }: contract.HomeAgent) => pausedBy),
    ).toEqual([null, null]);
  });

  test('a misspelt field pauses nothing', async () => {
    const answer = await ada.send('POST', '/owner/pause', { pause: true, paused: true });
    expect([answer.status, answer.body.errors?.[0]?.path]).toEqual([400, 'pause']);
    expect((await get(ada, '/owner/home')).allPaused).toBe(false);
  });
});

describe('one agent', () => {
  test('reads as the agent itself does', async () => {
    const base = `/owner/agents/${first.agentId}`;
    expect(await get(ada, `${base}/positions`)).toEqual(await first.client.getCurrentPositions());
    expect(await get(ada, `${base}/orders/open`)).toMatchObject([{ orderId }]);
    expect(await get(ada, `${base}/orders`)).toHaveLength(2);
    expect(await get(ada, `${base}/orders/${orderId}`)).toEqual(await first.client.getOrder(orderId));
    expect((await get(ada, `${base}/fills`)).length).toBeGreaterThan(0);
    expect(await get(ada, `${base}/closed-positions`)).toEqual([]);
    expect((await get(ada, `${base}/portfolio`)).positionsCount).toBe(1);
    const detail = await get(ada, base);
    expect(detail).toMatchObject({ agentId: first.agentId, walletAddress: first.funder });
    expect(detail.venues.map(({ venue }: { venue: string }) => venue)).toEqual(['polymarket', 'kalshi']);
  });

  test('decisions: what it wanted, why as plain text, and what became of it', async () => {
    await first.client.updateSettings({ maxTradeAmount: 30 });
    await expect(buy(first, 31)).rejects.toMatchObject({ code: 'max_trade_amount_exceeded' });
    const page = await get(ada, `/owner/agents/${first.agentId}/decisions`);
    const [denied, paused, , bought] = page.decisions as contract.Decision[];
    expect(denied).toMatchObject({
      orderId: null,
      wanted: { side: 'BUY', outcome: 'YES', price: null },
      result: { status: 'denied', code: 'max_trade_amount_exceeded', filledSize: 0 },
      untrustedText: { reasoning: 'cheap  <b>now</b>', source: 'sdk:test' },
    });
    expect(denied?.wanted.amount).toBeCloseTo(31, 3);
    expect(denied?.result.message).toMatch(/31.*30/);
    expect(paused?.result.code).toBe('trading_paused');
    expect(bought).toMatchObject({ wanted: { orderType: 'FAK' }, result: { status: 'filled', code: null } });
    expect(bought?.result.filledSize).toBeGreaterThan(20);
  });

  test('equity now, without the deposits as profit', async () => {
    const agent = await get(ada, `/owner/agents/${first.agentId}/equity?interval=1w`);
    const { equity } = await get(ada, `/owner/agents/${first.agentId}`);
    expect(agent.points.at(-1).equity).toBeCloseTo(equity, 6);
    expect(agent.points.at(-1).netDeposits).toBeCloseTo(10_000, 5);
    expect(agent.trades).toContainEqual({ t: expect.any(Number), side: 'BUY' });
    expect((await get(ada, '/owner/equity')).points.at(-1).netDeposits).toBeCloseTo(20_000, 5);
  });

  test('the table of safeguards has a row for everything that an owner may set', async () => {
    const rows = (await get(ada, '/owner/safeguards')) as contract.SafeguardRow[];
    expect(rows.map(({ name }) => name)).toEqual(Object.keys(contract.OwnerSafeguards.properties));
    expect(rows.find(({ name }) => name === 'maxTradeAmount')).toMatchObject({
      kind: 'cap',
      unit: 'collateral',
      range: { minimum: 0, exclusiveMinimum: true, maximum: 1_000_000, decimals: 6 },
      default: 100,
      lockable: true,
    });
  });
});

test('a market: depth, rules as strangers’ text, and what the owner’s agents have in it', async () => {
  const mine = await get(ada, `/owner/markets/${market.id}`);
  expect(mine.market.conditionId).toBe(market.conditionId);
  expect(mine.books.yes.asks.length).toBeGreaterThan(0);
  expect(mine.orders).toMatchObject([{ orderId, agentId: first.agentId }]);
  expect(mine.fills[0]).toMatchObject({ agentId: first.agentId, tokenId: market.clobTokenIds[0] });
  expect(mine.positions).toMatchObject([{ walletAddress: first.funder, agentIds: [first.agentId] }]);
  expect(mine.untrustedText.notice).toContain('strangers');
  expect(await get(bob, `/owner/markets/${market.id}`)).toMatchObject({
    orders: [],
    fills: [],
    positions: [],
  });
  const history = await get(
    ada,
    `/owner/markets/prices-history?market=${market.clobTokenIds[0]}&interval=1h`,
  );
  expect(history.history.length).toBeGreaterThan(0);
});

const operations = (Object.values(contract) as readonly unknown[]).filter(
  (value): value is Operation =>
    typeof value === 'object' && value !== null && 'permission' in value && value.permission === 'owner',
);

describe('every operation of an owner', () => {
  test.each(operations.filter(({ path }) => path.includes('{agentId}')).map((one) => [one.id, one] as const))(
    '%s does not know an agent of another owner',
    async (_id, { method, path }) => {
      const target = path
        .replace('{agentId}', first.agentId)
        .replace('{orderId}', orderId)
        .replace('{keyId}', '1')
        .replace('{id}', '00000000-0000-0000-0000-000000000000');
      const body = { paused: true, granted: true, walletAddress: first.funder };
      const answer = await bob.send(method, target, method === 'GET' ? undefined : body);
      // A form that refuses unknown fields says so before it looks for the agent.
      expect([
        [404, 'agent_not_found'],
        [400, 'invalid_request'],
      ]).toContainEqual([answer.status, answer.body.code]);
      const none = await new Visitor(service).send(method, target);
      expect([none.status, none.body.code]).toEqual([401, 'owner_session_required']);
    },
  );

  test.each(operations.filter(({ method }) => method === 'GET').map((one) => [one.id, one] as const))(
    '%s answers our pages only, and is kept by no cache',
    async (_id, { path }) => {
      const target = path.replace('{agentId}', first.agentId).replaceAll(/\{\w+\}/g, '1');
      for (const site of ['same-site', 'cross-site']) {
        const { status, body } = await ada.send('GET', target, undefined, { 'sec-fetch-site': site });
        expect([site, status, body.code]).toEqual([site, 403, 'origin_not_allowed']);
      }
      const { status, headers } = await ada.send('GET', target, undefined, {
        'sec-fetch-site': 'same-origin',
      });
      expect(status).not.toBe(403);
      expect(headers.get('cache-control')).toMatch(/no-store|no-cache/);
    },
  );
});
