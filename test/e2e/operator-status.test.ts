/** The operator's view: by the operator's key alone, and with figures that follow what happens. */
import type { OperatorStatus } from '@bellwether/contract';
import { beforeAll, expect, test } from 'vitest';
import {
  aMarket,
  call,
  newTrader,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { openAsAdmin } from '../postgres.ts';

const OPERATOR_KEY = 'operator-key-of-the-status-test-0123456789';
let service: TestService;
let trader: Trader;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off', OPERATOR_KEY });
  trader = await newTrader(service);
});

async function status(): Promise<OperatorStatus> {
  const answer = await call(service, 'GET', '/operator/status', { key: OPERATOR_KEY });
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
  return answer.body;
}

test('an agent’s key and none open it not', async () => {
  expect((await trader.get('/operator/status')).status).toBe(401);
  const { status, body } = await call(service, 'GET', '/operator/status');
  expect(status).toBe(401);
  expect(body.fix).toContain('OPERATOR_KEY');
  expect(body.fix).not.toContain('/agents/register');
});

test('says how venues, replicas, queues and this process fare', async () => {
  await trader.client.placeTrade(await restingOrder(trader, await aMarket(trader.client)));
  const found = await status();
  expect(found).toMatchObject({
    ready: true,
    database: 'ready',
    venues: [
      { name: 'polymarket', backend: 'paper', status: 'ready', counts: {} },
      { name: 'kalshi', backend: 'paper', status: 'ready', counts: {} },
    ],
    replicas: { count: 1, leader: { replicaId: found.thisReplica.replicaId } },
    orders: { inDoubt: 0, oldestInDoubtSeconds: null },
    queues: { webhookDeliveries: 0, webhooksDisabled: 0, marketsToRedeem: 0, skillsToReview: 0 },
    thisReplica: { leads: true, openStreams: 0, requests: { underWay: 1, tradesWaiting: 0, shed: 0 } },
  });
  const trades = found.thisReplica.routes.find(({ route }) => route === '/markets/trade');
  expect(trades).toMatchObject({ failed: 0, refused: 0, p50Ms: expect.any(Number) });
  expect(trades?.perSecond).toBeGreaterThan(0);
});

test('refusals, orders in doubt and what waits show up', async () => {
  const skill = { skillName: 'Wait', description: 'It waits.', version: '0.1', howItWorks: '1. Wait.' };
  const sent = await trader.post('/agent/skill/submit-skill', skill);
  expect(sent.status).toBeLessThan(300);
  await trader.post('/markets/trade', {});
  const { orderId } = await trader.client.placeTrade(
    await restingOrder(trader, await aMarket(trader.client), 12),
  );
  const sql = await openAsAdmin(service.databaseUrl);
  await sql`alter table orders disable trigger all`;
  let found = await status();
  // Proof closes it within a second.
  await expect
    .poll(async () => {
      await sql`update orders set status = 'unknown', created_at = now() - interval '200 seconds'
        where order_id = ${orderId}`;
      found = await status();
      return found.orders.inDoubt;
    })
    .toBe(1);
  expect(found.orders.oldestInDoubtSeconds).toBeGreaterThan(190);
  expect(found.thisReplica.routes.find(({ route }) => route === '/markets/trade')?.refused).toBe(1);
  expect(found.queues.skillsToReview).toBe(1);
});
