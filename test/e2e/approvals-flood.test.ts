/** An agent that floods its owner with approvals: nothing that waits is pushed out, and one act stops it. */
import type { Market } from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import { approve, claim, decline, ownerOf } from '../approving.ts';
import {
  aMarket,
  limitOrder,
  newTrader,
  sharedTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import type { Visitor } from '../passkey.ts';

let service: TestService;
let market: Market;
let owner: Visitor;

beforeAll(async () => {
  service = await sharedTestService();
  market = await aMarket((await newTrader(service)).client);
  owner = await ownerOf(service);
});

async function asking(above: number): Promise<Trader> {
  const trader = await newTrader(service);
  await claim(owner, trader);
  await trader.client.updateSettings({ approvalAbove: above });
  return trader;
}

const bigOrder = ({ signer }: Trader, size: number) =>
  limitOrder({ signer }, market, { size, side: 'BUY', price: market.bestAsk as string });
const post = (trader: Pick<Trader, 'post'>, body: unknown) => trader.post('/markets/trade', body);

test('the twenty-first is not asked for, and says why; nothing that waits is pushed out', async () => {
  const trader = await asking(0.01);
  const ids: string[] = [];
  for (let count = 0; count < 22; count += 1)
    ids.push((await post(trader, await bigOrder(trader, 5))).body.approvalId);
  const { body } = await trader.get('/agents/approvals?status=waiting');
  expect(body.map(({ approvalId }: { approvalId: string }) => approvalId)).toEqual(
    ids.slice(0, 20).reverse(),
  );
  expect(ids.slice(20)).toEqual([undefined, undefined]);
  const order = await bigOrder(trader, 5);
  const refused = await post(trader, order);
  expect(refused).toMatchObject({
    status: 403,
    body: {
      ...{ code: 'approval_required', context: { approvalStatus: 'not_asked' } },
      detail: expect.stringContaining('20 orders of this agent wait'),
    },
  });
  // The oldest can be decided, and then there is room again.
  expect((await approve(owner, ids[0] as string)).status).toBe(200);
  expect((await post(trader, order)).body.approvalId).toBeDefined();
});

test('one act pauses an agent that floods its owner, and declines all that waits, for good', async () => {
  const [trader, other] = [await asking(0.01), await asking(0.01)];
  const orders = [await bigOrder(trader, 5), await bigOrder(trader, 6)];
  for (const order of orders) await post(trader, order);
  const { approvalId } = (await post(other, await bigOrder(other, 5))).body;
  const path = `/owner/agents/${trader.agentId}/decline-all`;
  const answer = await owner.send('POST', path, { reason: 'Too many.' });
  expect(answer).toMatchObject({ status: 200, body: { declined: 2, paused: true } });
  expect((await owner.send('POST', path)).body).toEqual({ declined: 0, paused: true });
  expect((await post(trader, orders[0])).body.code).toBe('trading_paused');
  await owner.send('POST', `/owner/agents/${trader.agentId}/pause`, { paused: false });
  for (const order of orders)
    expect((await post(trader, order)).body).toMatchObject({
      ...{ code: 'approval_required', context: { approvalStatus: 'declined' } },
      detail: expect.stringContaining('Too many.'),
    });
  // Of another agent, and by another owner: nothing.
  expect((await owner.send('GET', `/owner/approvals/${approvalId}`)).body.status).toBe('waiting');
  const stranger = await ownerOf(service);
  expect((await stranger.send('POST', path)).status).toBe(404);
});

test('a declined order stays declined after hundreds of others', async () => {
  const trader = await asking(0);
  const order = await bigOrder(trader, 5);
  await decline(owner, (await post(trader, order)).body.approvalId);
  for (let sent = 0; sent < 220; sent += 20)
    await Promise.all(Array.from({ length: 20 }, async () => post(trader, await bigOrder(trader, 5))));
  expect((await post(trader, order)).body).toMatchObject({ context: { approvalStatus: 'declined' } });
});
