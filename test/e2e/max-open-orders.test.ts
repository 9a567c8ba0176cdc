/** The safeguard maxOpenOrders: how many orders an agent has open at a time, in doubt or not, over all venues. */
import { linkSignersWallet, type Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { ownerOf } from '../approving.ts';
import { createFakeQuoteVenue, createFakeWallet } from '../fake-quote-venue.ts';
import {
  aMarket,
  limitOrder,
  newAgent,
  newTrader,
  refusalOf,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { BUY_TEN } from '../quote-trader.ts';

let service: TestService;
let market: Market;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { venues: () => [createFakeQuoteVenue()] });
  market = await aMarket((await newTrader(service)).client);
});

const limitedTo = async (maxOpenOrders: number): Promise<Trader> => {
  const trader = await newTrader(service);
  await trader.client.updateSettings({ maxOpenOrders });
  return trader;
};
const rest = async (trader: Trader) => trader.client.placeTrade(await restingOrder(trader, market));
/** Quotes and submits on the venue of quoted orders with a wallet of its own. */
async function submission(trader: Trader, fields: Record<string, unknown> = {}) {
  const wallet = createFakeWallet();
  const quote = { ...BUY_TEN, userPublicKey: wallet.address, ...fields };
  const { body } = await trader.post('/venueb/agent/quote', quote);
  const signedTransaction = () => wallet.sign(body.unsignedTransaction);
  return {
    quote: body,
    submit: () =>
      trader.post('/venueb/agent/submit', {
        quoteId: body.quoteId,
        signedTransaction: signedTransaction(),
      }),
  };
}

describe('maxOpenOrders', () => {
  test('is unset by default; when reached, the next order is refused, and a cancel makes room', async () => {
    const trader = await newTrader(service);
    expect((await trader.client.getSettings()).maxOpenOrders).toBeNull();
    await trader.client.updateSettings({ maxOpenOrders: 2 });
    const [first] = [await rest(trader), await rest(trader)];
    const refused = await trader.post('/markets/trade', await restingOrder(trader, market));
    expect(refused).toMatchObject({
      status: 403,
      body: {
        code: 'max_open_orders_exceeded',
        context: { limit: 2, used: 2, asked: 1 },
        fix: expect.stringContaining('maxOpenOrders'),
      },
    });
    await trader.client.cancelOrder(first.orderId);
    expect(await refusalOf(rest(trader))).toBe('nothing');
    expect(await refusalOf(rest(trader))).toBe('max_open_orders_exceeded');
    await trader.client.updateSettings({ maxOpenOrders: null });
    expect(await refusalOf(rest(trader))).toBe('nothing');
  });

  test('a hundred orders at the same time never exceed it', async () => {
    const trader = await limitedTo(7);
    const requests = await Promise.all(Array.from({ length: 100 }, () => restingOrder(trader, market)));
    const answers = await Promise.all(requests.map((request) => trader.post('/markets/trade', request)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(7);
    expect(new Set(answers.filter(({ status }) => status !== 201).map(({ body }) => body.code))).toEqual(
      new Set(['max_open_orders_exceeded']),
    );
    expect(service.exchange.openOrders(trader.funder)).toHaveLength(7);
  });

  test('counts orders of all venues and wallets, also in doubt; a quote predicts the refusal', async () => {
    const trader = await limitedTo(3);
    await rest(trader);
    const waiting = await submission(trader);
    const spare = await submission(trader);
    expect((await (await submission(trader)).submit()).body).toMatchObject({ status: 'submitted' });
    expect((await waiting.submit()).body).toMatchObject({ status: 'submitted' });
    expect(await refusalOf(rest(trader))).toBe('max_open_orders_exceeded');
    expect((await spare.submit()).body).toMatchObject({ code: 'max_open_orders_exceeded' });
    const { quote } = await submission(trader);
    expect(quote.quoteErrorCode).toBe('max_open_orders_exceeded');
    expect(quote.unsignedTransaction ?? null).toBeNull();
  });

  test('fifty orders of each venue at the same time share one limit', async () => {
    const trader = await limitedTo(11);
    const quoted = await Promise.all(Array.from({ length: 20 }, () => submission(trader)));
    const signed = await Promise.all(Array.from({ length: 20 }, () => restingOrder(trader, market)));
    const answers = await Promise.all([
      ...quoted.map(({ submit }) => submit()),
      ...signed.map((request) => trader.post('/markets/trade', request)),
    ]);
    const taken = answers.filter(({ status }) => status < 300);
    expect(taken).toHaveLength(11);
    expect((await trader.client.listOpenOrders({})).length).toBe(11);
  });

  test('a SELL of held tokens is allowed, also when it rests, and counts from then on', async () => {
    const trader = await newTrader(service);
    const best = Number(market.bestAsk);
    const order = (side: 'BUY' | 'SELL', price: number) =>
      limitOrder(trader, market, { side, price: price.toFixed(2), size: 10 });
    await trader.client.placeTrade(await order('BUY', best + 0.05));
    await trader.client.updateSettings({ maxOpenOrders: 0 });
    expect(await refusalOf(order('BUY', best + 0.05).then((r) => trader.client.placeTrade(r)))).toBe(
      'max_open_orders_exceeded',
    );
    const sold = await trader.client.placeTrade(await order('SELL', 0.99));
    expect(sold.status).toBe('live');
    const { safeguards } = await trader.client.getMarketContext(market.id);
    expect(safeguards.openOrders).toEqual({ limit: 0, used: 1, left: 0 });
  });

  test('a batch stops at the limit, order by order', async () => {
    const trader = await limitedTo(2);
    const orders = await Promise.all(Array.from({ length: 4 }, () => restingOrder(trader, market)));
    const { body } = await trader.post('/markets/batch-trade', { orders });
    expect(body).toMatchObject({ succeeded: 2, failed: 2 });
    expect(body.results[3].problem.code).toBe('max_open_orders_exceeded');
  });
});

describe('display and settings', () => {
  test('context and briefing show it; without a limit the context still has the count', async () => {
    const trader = await newTrader(service);
    await rest(trader);
    const before = (await trader.client.getMarketContext(market.id)).safeguards.openOrders;
    expect(before).toEqual({ limit: null, used: 1, left: null });
    await trader.client.updateSettings({ maxOpenOrders: 1 });
    const context = await trader.client.getMarketContext(market.id, { side: 'BUY' });
    expect(context.safeguards.openOrders).toEqual({ limit: 1, used: 1, left: 0 });
    expect(context.warnings).toContainEqual(
      expect.objectContaining({ code: 'max_open_orders_exceeded', severity: 'critical' }),
    );
    expect((await trader.client.getBriefing()).settings.maxOpenOrders).toBe(1);
  });

  test.each([-1, 1.5, 5001, '3', {}])('%j is not a valid value', async (maxOpenOrders) => {
    const { status, body } = await (await newTrader(service)).post('/agents/settings', { maxOpenOrders });
    expect({ status, path: body.errors[0].path }).toEqual({ status: 400, path: 'maxOpenOrders' });
  });

  test.each(['maxOpenOrder', 'max_open_orders', 'openOrdersMax'])('%s is refused', async (name) => {
    const trader = await newTrader(service);
    const { status, body } = await trader.post('/agents/settings', { [name]: 3 });
    expect(status).toBe(400);
    expect(body.code).toBe('invalid_request');
    expect((await trader.client.getSettings()).maxOpenOrders).toBeNull();
  });

  test('another agent’s orders do not count', async () => {
    const [one, other] = [await limitedTo(1), await limitedTo(1)];
    await rest(one);
    expect(await refusalOf(rest(other))).toBe('nothing');
  });

  test('an owner can lock it: the agent’s key can only lower it, and a reset restores the lock', async () => {
    const trader = await newTrader(service);
    const { claimCode } = await trader.client.getMe();
    const owner = await ownerOf(service, trader);
    const lock = { maxOpenOrders: { limit: 4, locked: true } };
    const path = `/owner/agents/${trader.agentId}/safeguards`;
    const { body } = await owner.send('POST', path, lock);
    expect(body.settings.lockedByOwner).toEqual({ maxOpenOrders: 4 });
    // Under another name than the public one the page would redirect and lose the cookie.
    const page = await fetch(`${service.needs.publicUrl}/agents/claim/${claimCode}`, {
      headers: { cookie: owner.cookie ?? '', accept: 'text/html' },
    });
    expect(await page.text()).toContain('data-safeguard="maxOpenOrders"');
    expect(await refusalOf(trader.client.updateSettings({ maxOpenOrders: 5 }))).toBe('locked_by_owner');
    expect(await refusalOf(trader.client.updateSettings({ maxOpenOrders: null }))).toBe('locked_by_owner');
    expect((await trader.client.updateSettings({ maxOpenOrders: 3 })).maxOpenOrders).toBe(3);
    expect((await trader.client.resetRiskSettings()).maxOpenOrders).toBe(4);
    // "None" cannot be locked.
    const none = { maxOpenOrders: { limit: null, locked: true } };
    expect((await owner.send('POST', path, none)).status).toBe(400);
  });

  test('a lock follows the wallet: open orders of the former and the new agent count together', async () => {
    const former = await newTrader(service);
    await rest(former);
    // On a wallet that stays: a link cancels the open orders of the wallet that it moves.
    expect((await (await submission(former)).submit()).body).toMatchObject({ status: 'submitted' });
    const owner = await ownerOf(service, former);
    await owner.send('POST', `/owner/agents/${former.agentId}/safeguards`, {
      maxOpenOrders: { limit: 2, locked: true },
    });
    const fresh = { ...(await newAgent(service)), signer: former.signer };
    await fresh.client.updateSettings({ maxTradesPerDay: 5000, dailyTradeAmountLimit: 1_000_000 });
    await linkSignersWallet({ client: fresh.client, signer: former.signer, signatureType: 0 });
    const trader: Trader = { ...fresh, signatureType: 0, funder: former.funder };
    expect(await refusalOf(rest(trader))).toBe('nothing');
    const refused = await trader.post('/markets/trade', await restingOrder(trader, market));
    expect(refused.body).toMatchObject({ code: 'max_open_orders_exceeded', context: { limit: 2, used: 2 } });
    expect(refused.body.detail).toContain('had this wallet before');
  });
});
