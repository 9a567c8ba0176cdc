/** The faults of venue A's doors at a running service, met by the venue's official client. */
import { OrderType, Side } from '@polymarket/clob-client';
import { describe, expect, test } from 'vitest';
import { Faults } from '../../packages/exchange/src/doors/polymarket/index.ts';
import { readConfig } from '../../packages/server/src/config.ts';
import { startTestService, type TestService } from '../harness.ts';
import { clientOne, newOfficialWallet, type OfficialWallet } from '../official-clients.ts';

const openMarket = ({ exchange }: TestService) =>
  [...exchange.markets()].find(
    ({ status, negRisk, tickSize }) => status === 'open' && !negRisk && tickSize === 100,
  )!;

async function signed(service: TestService, wallet: OfficialWallet, price: number) {
  const tokenID = openMarket(service).tokenIds[0];
  return clientOne(service, wallet).createOrder({ tokenID, price, size: 20, side: Side.BUY });
}

test('an answer that is lost was executed, and the same order again is a duplicate', async () => {
  const faults = new Faults(Date.now);
  const service = await startTestService({ PAPER_WORLD: 'off' }, { faults });
  const wallet = await newOfficialWallet(service);
  const client = clientOne(service, wallet);
  const order = await signed(service, wallet, 0.01);
  faults.set({ droppedShare: 1 });
  expect(await client.postOrder(order, OrderType.GTC)).toMatchObject({ error: expect.anything() });
  faults.set({});
  expect(await client.getOpenOrders()).toHaveLength(1);
  expect(await client.postOrder(order, OrderType.GTC)).toMatchObject({
    error: expect.stringContaining('Duplicated'),
  });
});

test('a stale book is shown as it was', async () => {
  const faults = new Faults(Date.now);
  const service = await startTestService({ PAPER_WORLD: 'off' }, { faults });
  const wallet = await newOfficialWallet(service);
  const client = clientOne(service, wallet);
  const [tokenId] = openMarket(service).tokenIds;
  faults.set({ staleBooksMs: 60_000 });
  const before = await client.getOrderBook(tokenId);
  await client.postOrder(await signed(service, wallet, 0.01), OrderType.GTC);
  expect(await client.getOrderBook(tokenId)).toEqual(before);
  faults.set({});
  expect(await client.getOrderBook(tokenId)).not.toEqual(before);
});

describe('the configuration', () => {
  test('takes a plan', async () => {
    const service = await startTestService({ PAPER_WORLD: 'off', PAPER_FAULTS: '{"mode":"cancel_only"}' });
    const wallet = await newOfficialWallet(service);
    const order = await signed(service, wallet, 0.01);
    expect(await clientOne(service, wallet).postOrder(order, OrderType.GTC)).toMatchObject({
      error: expect.stringContaining('cancel-only'),
      status: 503,
    });
  });

  test.each([
    [{ PAPER_FAULTS: '{"mod":"open"}' }, /PAPER_FAULTS: there is no fault "mod"/],
    [{ PAPER_FAULTS: 'off' }, /PAPER_FAULTS: the plan of faults is no JSON/],
    [{ PAPER_FAULTS: '{"failingTradesShare":0.1}' }, /failingTradesShare is for "npm run exchange"/],
  ])('%o stops the start', async (environment, message) => {
    await expect(startTestService({ PAPER_WORLD: 'off', ...environment })).rejects.toThrow(message);
  });

  test.each([
    [{ PUBLIC_URL: 'https://desk.example' }, /PUBLIC_URL names another host/],
    [{ VENUE_A_BACKEND: 'live', VENUE_A_ORDER_PROFILE: 'polymarket' }, /VENUE_A_BACKEND=live/],
  ])('is refused with %o', (environment, message) => {
    expect(() => readConfig({ PAPER_FAULTS: '{}', ...environment })).toThrow(message);
  });
});
