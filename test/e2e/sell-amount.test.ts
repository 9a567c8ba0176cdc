/** A SELL counts what it may bring, at any signed worst price. */
import {
  type BellwetherClient,
  buildLimitOrder,
  buildMarketOrder,
  type Market,
  signPrepared,
  type TradeIntent,
  type TradeRequest,
  verifyPrepared,
} from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import { approve, claim, ownerOf } from '../approving.ts';
import {
  aMarket,
  limitOrder,
  marketSell,
  newTrader,
  sharedTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { receiptOf } from './receipts-stage.ts';

const TICK = 0.01;
const HELD = 102;

let service: TestService;
let market: Market;

beforeAll(async () => {
  service = await sharedTestService();
  market = await aMarket((await newTrader(service)).client);
});

const post = (trader: Pick<Trader, 'post'>, body: unknown, path = '/markets/trade') =>
  trader.post(path, body);

const sellOf = (trader: Trader, shares = HELD, worstPrice = TICK): Promise<TradeRequest> =>
  marketSell(trader, market, shares, { worstPrice });

/** An agent that holds shares. */
async function holder(): Promise<Trader> {
  const trader = await newTrader(service);
  const order = await limitOrder(trader, market, { side: 'BUY', price: 0.99, size: HELD });
  const { body } = await post(trader, order);
  expect(body).toMatchObject({ success: true, status: 'matched' });
  return trader;
}

/** The amount that a SELL of this size counts, as the context says it. */
async function countedBy(client: BellwetherClient, size: number): Promise<number> {
  const { slippage } = await client.getMarketContext(market.id, { side: 'SELL', size });
  const row = slippage.findLast(({ outcome, amount }) => outcome === 'YES' && amount === size);
  return row?.counted as number;
}

test('a worst price of one tick hides nothing from maxTradeAmount, alone and in a batch', async () => {
  const trader = await holder();
  await trader.client.updateSettings({ maxTradeAmount: 20 });
  const counted = await countedBy(trader.client, HELD);
  expect(counted).toBeGreaterThan(20);
  const { status, body } = await post(trader, await sellOf(trader));
  expect({ status, code: body.code, asked: body.context?.asked }).toEqual({
    status: 403,
    code: 'max_trade_amount_exceeded',
    asked: counted,
  });
  const batch = await post(trader, { orders: [await sellOf(trader)] }, '/markets/batch-trade');
  expect(batch.body.results[0].problem.code).toBe('max_trade_amount_exceeded');
  const checked = await post(trader, { ...(await sellOf(trader)), validateOnly: true });
  expect(checked.body.code).toBe('max_trade_amount_exceeded');
});

test('what was counted is the same in the context, in prepare, in the order and in its receipt', async () => {
  const trader = await holder();
  const counted = await countedBy(trader.client, HELD);
  const prepared = await trader.client.prepareTrade({
    ...{ marketId: market.id, outcome: 'YES', side: 'SELL', clientOrderId: 'out' },
    ...{ orderType: 'FAK', worstPrice: TICK, size: HELD },
  } as never);
  expect({ ...prepared.amounts, counted: prepared.counted }).toMatchObject({
    collateral: HELD * TICK,
    counted,
  });
  const check = prepared.checks.find(({ code }) => code === 'max_trade_amount_exceeded');
  expect(check?.asked).toBe(counted);
  const before = (await trader.client.getMarketContext(market.id)).safeguards.dailyTradeAmount.used;
  const { body } = await post(trader, await sellOf(trader));
  expect(body).toMatchObject({ success: true, status: 'matched' });
  const order = await trader.client.getOrder(body.orderId);
  expect(order.counted).toBe(counted);
  const after = (await trader.client.getMarketContext(market.id)).safeguards.dailyTradeAmount.used;
  expect(after - before).toBeCloseTo(counted, 6);
  const receipt = await receiptOf(service, trader, body.orderId);
  expect(Number(receipt.entries[0].body.checked.maxTradeAmount[2])).toBe(counted);
});

test('the owner approves what a SELL may bring, and is asked for it', async () => {
  const owner = await ownerOf(service);
  const trader = await holder();
  await claim(owner, trader);
  await trader.client.updateSettings({ approvalAbove: 5 });
  const counted = await countedBy(trader.client, HELD);
  const order = await sellOf(trader);
  const { body } = await post(trader, order);
  expect(body).toMatchObject({ code: 'approval_required', context: { asked: counted } });
  const shown = (await owner.send('GET', `/owner/approvals/${body.approvalId}`)).body;
  expect(shown).toMatchObject({ amount: counted, price: TICK, orderType: 'FAK', isLimitOrder: false });
  await approve(owner, body.approvalId);
  expect((await post(trader, order)).body).toMatchObject({ success: true, status: 'matched' });
});

test('shares of six decimals are prepared to 2; the rest is named and stays', async () => {
  const trader = await newTrader(service);
  const [size, whole] = [54.807692, 54.8];
  const split = { clientOrderId: 'some', marketId: market.id, amount: size };
  expect((await post(trader, split, '/markets/split')).body).toMatchObject({ success: true });
  const intent: TradeIntent = {
    ...{ marketId: market.id, outcome: 'YES', side: 'SELL', clientOrderId: 'all' },
    ...{ orderType: 'FAK', worstPrice: TICK, size },
  };
  const prepared = await trader.client.prepareTrade(intent);
  expect(prepared.amounts).toMatchObject({ shares: whole, cut: 0.007692 });
  const { agentId, signer, signatureType } = trader;
  const verified = verifyPrepared(prepared, intent, { agentId, signer, signatureType, market });
  const { body } = await post(trader, await signPrepared(verified, signer));
  expect(body).toMatchObject({ success: true, filledSize: whole });
  const lie = { ...prepared, amounts: { ...prepared.amounts, cut: 0 } };
  expect(() => verifyPrepared(lie, intent, { agentId, signer, signatureType, market })).toThrow('amounts');
});

test('under the order profile of the venue amounts are those that it takes: 2 and 4 decimals, size × price', async () => {
  const own = await sharedTestService({ VENUE_A_ORDER_PROFILE: 'polymarket' });
  const trader = await newTrader(own);
  const { signer } = trader;
  const sound = await buildLimitOrder({
    ...{ signer, market: await aMarket(trader.client), profile: 'polymarket' },
    ...{ outcome: 'YES', side: 'BUY', price: 0.01, size: 10 },
  });
  const { order } = sound;
  const { body } = await post(trader, { ...sound, order: { ...order, makerAmount: '100001' } });
  expect(body).toMatchObject({
    code: 'resting_amounts_mismatch',
    detail: expect.stringContaining('order.makerAmount must be 100000, not 100001'),
  });
  expect((await post(trader, sound)).body).toMatchObject({ success: true, status: 'live' });
  const sale = await buildMarketOrder({
    ...{ signer, market: await aMarket(trader.client), profile: 'polymarket' },
    ...{ outcome: 'YES', side: 'SELL', shares: 54.8, worstPrice: TICK },
  });
  const fine = { ...sale, orderSize: 54.807692, order: { ...sale.order, makerAmount: '54807692' } };
  const trigger = { kind: 'price_at_or_below', price: TICK };
  // Refused when it fires, an exit would protect nothing.
  for (const [path, sent] of [
    ['/markets/trade', fine],
    ['/markets/exits', { ...fine, trigger }],
  ] as const)
    expect((await post(trader, sent, path)).body).toMatchObject({
      ...{ code: 'sell_decimals_not_allowed', fix: expect.stringContaining('stays in the wallet') },
      errors: [{ path: 'order.makerAmount' }],
    });
});
