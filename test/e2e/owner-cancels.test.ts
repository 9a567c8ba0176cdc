/** An owner takes orders off the books without the agent: one, all of an agent, all of all agents, and none of another owner. */
import type { Market } from '@bellwether/contract';
import { beforeEach, expect, test } from 'vitest';
import { claim } from '../approving.ts';
import {
  aMarket,
  newTrader,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { Visitor } from '../passkey.ts';

let service: TestService;
let market: Market;
let ada: Visitor;
/** Ada's two, with two and one resting orders; and Bob's, with one. */
let first: Trader;
let second: Trader;
let foreign: Trader;

const rest = async (trader: Trader): Promise<string> =>
  (await trader.client.placeTrade(await restingOrder(trader, market))).orderId;
const openOf = async ({ client }: Trader): Promise<number> => (await client.listOpenOrders()).length;
const cancel = (path: string, body: unknown = {}) => ada.send('POST', path, body);

beforeEach(async () => {
  service ??= await startTestService({ PAPER_WORLD: 'off' });
  [first, second, foreign] = await Promise.all([newTrader(service), newTrader(service), newTrader(service)]);
  market ??= await aMarket(first.client);
  [ada] = [new Visitor(service)];
  const bob = new Visitor(service);
  await ada.register('Ada');
  await bob.register('Bob');
  await claim(ada, first);
  await claim(ada, second);
  await claim(bob, foreign);
  for (const trader of [first, first, second, foreign]) await rest(trader);
});

test('one order, by its id, also while the agent is paused; its agent sees it canceled', async () => {
  const [order] = await first.client.listOpenOrders();
  await ada.send('POST', '/owner/pause', { paused: true });
  expect(await openOf(first)).toBe(2);
  const path = `/owner/agents/${first.agentId}/orders/cancel`;
  expect(await cancel(path, { orderId: order?.orderId })).toMatchObject({
    status: 200,
    body: { success: true, canceled: [order?.orderId], notCanceled: {} },
  });
  expect(await first.client.getOrder(order?.orderId ?? '')).toMatchObject({ status: 'canceled' });
  expect(await openOf(first)).toBe(1);
  // Again: it says why there is nothing to cancel.
  expect((await cancel(path, { orderId: order?.orderId })).body).toMatchObject({
    ...{ success: false, canceled: [] },
    notCanceled: { [order?.orderId ?? '']: 'already canceled' },
  });
});

test('all of one agent, and all of all agents', async () => {
  const path = `/owner/agents/${first.agentId}/orders/cancel-market`;
  expect((await cancel(path)).body).toMatchObject({ totalCanceled: 2, notCanceled: {} });
  expect([await openOf(first), await openOf(second)]).toEqual([0, 1]);
  await rest(first);
  expect((await cancel('/owner/orders/cancel')).body).toMatchObject({ totalCanceled: 2, notCanceled: {} });
  expect([await openOf(first), await openOf(second)]).toEqual([0, 0]);
  expect((await cancel('/owner/orders/cancel')).body).toMatchObject({ totalCanceled: 0 });
  expect(await openOf(foreign)).toBe(1);
});

test('orders and agents of another owner do not exist here', async () => {
  const [order] = await foreign.client.listOpenOrders();
  const body = { orderId: order?.orderId };
  expect((await cancel(`/owner/agents/${foreign.agentId}/orders/cancel`, body)).status).toBe(404);
  expect((await cancel(`/owner/agents/${foreign.agentId}/orders/cancel-market`)).status).toBe(404);
  expect((await cancel(`/owner/agents/${first.agentId}/orders/cancel`, body)).body.code).toBe(
    'order_not_found',
  );
  expect(await openOf(foreign)).toBe(1);
});

test('a field that would narrow it is refused, where it cannot be narrowed', async () => {
  const answer = await cancel('/owner/orders/cancel', { agentId: first.agentId });
  expect([answer.status, answer.body.errors?.[0]?.path]).toEqual([400, 'agentId']);
  const misspelt = await cancel(`/owner/agents/${first.agentId}/orders/cancel-market`, { tokenID: '1' });
  expect([misspelt.status, misspelt.body.errors?.[0]?.path]).toEqual([400, 'tokenID']);
  expect(await openOf(first)).toBe(2);
});

test('without a session, or from another page, nothing is canceled', async () => {
  expect((await new Visitor(service).send('POST', '/owner/orders/cancel', {})).status).toBe(401);
  expect(await openOf(first)).toBe(2);
});
