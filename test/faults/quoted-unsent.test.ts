/** A process records a quoted order and ends before it sends it: another one sends it, unless it is canceled before. */
import { expect, test, vi } from 'vitest';
import { followChainOrders } from '../../packages/server/src/quoting/follow.ts';
import { createFakeQuoteVenue, type FakeQuoteVenue } from '../fake-quote-venue.ts';
import { call, startTestService, type TestService } from '../harness.ts';
import { newQuoteTrader } from '../quote-trader.ts';

/** A service that records orders and dies before it sends them. */
async function startServiceThatNeverSends(
  on: Pick<TestService, 'databaseUrl' | 'masterKey'>,
  quoting: FakeQuoteVenue,
): Promise<TestService> {
  const dying = await startTestService(
    { PAPER_WORLD: 'off', DATABASE_URL: on.databaseUrl, MASTER_KEY: on.masterKey },
    { venues: () => [quoting] },
  );
  vi.spyOn(dying.needs.chainOrders, 'beginSend').mockRejectedValue(new Error('died'));
  return dying;
}

test('after a crash the next process sends the order', async () => {
  const quoting = createFakeQuoteVenue();
  const first = await startTestService({ PAPER_WORLD: 'off' }, { venues: () => [quoting] });
  const dying = await startServiceThatNeverSends(first, quoting);
  const agent = await newQuoteTrader(dying);
  const { orderId, txSignature, status } = await agent.trade();
  expect({ status, sent: quoting.sent.length }).toEqual({ status: 'submitted', sent: 0 });
  await dying.stop();
  await expect
    .poll(async () => {
      await followChainOrders(first.needs);
      return quoting.sent.map(({ signature }) => signature);
    })
    .toEqual([txSignature]);
  quoting.fill(txSignature, { inAmount: 9_600_000n, outAmount: 16_000_000n, fee: 0n });
  await expect
    .poll(async () => {
      await followChainOrders(first.needs);
      return (await call(first, 'GET', `/venueb/agent/orders/${orderId}`, { key: agent.apiKey })).body.status;
    })
    .toBe('filled');
});

test('an order can be canceled, and is then never sent', async () => {
  const quoting = createFakeQuoteVenue();
  const first = await startTestService({ PAPER_WORLD: 'off' }, { venues: () => [quoting] });
  const dying = await startServiceThatNeverSends(first, quoting);
  const agent = await newQuoteTrader(dying);
  const byRoute: ((order: { orderId: string; venueOrderId: string }) => Promise<string[]>)[] = [
    async ({ orderId }) => (await agent.post('/venueb/agent/cancel', { orderId })).body.canceled,
    async ({ venueOrderId }) => (await agent.post('/venueb/agent/cancel', { venueOrderId })).body.canceled,
    async ({ orderId }) => (await agent.post('/markets/orders/cancel', { orderId })).body.canceled,
    async () =>
      (await agent.post('/markets/orders/cancel-market', { marketConditionId: 'KXTEST-1' })).body.canceled,
    async () =>
      (await agent.post('/markets/orders/cancel-market', { walletAddress: agent.wallet.address })).body
        .canceled,
    async () => {
      const { body } = await call(dying, 'DELETE', '/markets/orders', { key: agent.apiKey });
      expect(body.results[0].walletAddress).toBe(agent.wallet.address);
      return body.results[0].canceled;
    },
  ];
  for (const cancel of byRoute) {
    const order = await agent.trade();
    expect(await agent.usage()).toEqual({ trades: 1, amount: 10 });
    expect(await cancel(order)).toEqual([order.orderId]);
    expect(await agent.usage()).toEqual({ trades: 0, amount: 0 });
    expect(await agent.order(order.orderId)).toMatchObject({ status: 'canceled', orderStatus: 3 });
    const begun = await first.needs.chainOrders.beginSend([order.orderId], Date.now(), Date.now());
    expect(begun.size).toBe(0);
  }
  expect(quoting.sent).toEqual([]);
});
