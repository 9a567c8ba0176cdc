/** A builder's code in an order: the venue pays a fee to its owner. An order has none, or the one that was configured on both sides. */
import {
  type Market,
  PreparedOrderError,
  type PreparedTrade,
  signPrepared,
  type TradeIntent,
  verifyPrepared,
} from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { ownerOf } from '../approving.ts';
import { aMarket, call, newTrader, sharedTestService, type TestService, type Trader } from '../harness.ts';

const CODE = `0x${'ab'.repeat(32)}`;
const OTHER = `0x${'cd'.repeat(32)}`;
const FEE = 0.005;

let service: TestService;
/** Its operator configured another code. */
let dishonest: TestService;
let trader: Trader;
let market: Market;
let pins: Parameters<typeof verifyPrepared>[2];

const deskOf = (code: string) =>
  sharedTestService({
    VENUE_A_ORDER_PROFILE: 'polymarket',
    VENUE_A_BUILDER_CODE: code.toUpperCase().replace('0X', '0x'),
    VENUE_A_BUILDER_FEE_BPS: '50',
  });

beforeAll(async () => {
  service = await deskOf(CODE);
  dishonest = await deskOf(OTHER);
  trader = await newTrader(service);
  market = await aMarket(trader.client);
  pins = { agentId: trader.agentId, signer: trader.signer, market, profile: 'polymarket' };
});

let count = 0;
const intentOf = (more: Partial<TradeIntent> = {}): TradeIntent => ({
  ...{ clientOrderId: `builder-${++count}`, marketId: market.id, outcome: 'YES', side: 'BUY' },
  ...{ worstPrice: 0.95, amount: 20, timestamp: Date.now(), builder: CODE },
  ...more,
});

async function place(intent: TradeIntent, by = pins) {
  const prepared = await trader.client.prepareTrade(intent);
  const verified = verifyPrepared(prepared, intent, by);
  const body = await signPrepared(verified, trader.signer);
  return trader.post('/markets/trade', body);
}

describe('the code that is configured', () => {
  test('is taken; what the order counts and its highest fee include what the builder may take', async () => {
    const [plain, coded] = [intentOf(), intentOf()];
    const without = await trader.client.prepareTrade({ ...plain, builder: undefined } as never);
    const prepared = await trader.client.prepareTrade(coded);
    expect(prepared.counted - without.counted).toBeCloseTo(20 * FEE, 6);
    expect(prepared.feeAtMost - without.feeAtMost).toBeCloseTo(20 * FEE, 6);
    const { body } = await place(coded, { ...pins, builder: CODE.toUpperCase().replace('0X', '0x') });
    expect(body).toMatchObject({ success: true, status: 'matched' });
    expect((await trader.client.getOrder(body.orderId)).counted).toBeCloseTo(20 * (1 + FEE), 6);
  });

  test('is named by the signing guide', async () => {
    const { body } = await call(service, 'GET', '/venues/polymarket/signing');
    expect(body.orders.rules.builder).toEqual({ code: CODE, feeBps: 50 });
  });

  test('takes part in a cap that the order alone would meet', async () => {
    const capped = await newTrader(service);
    await capped.client.updateSettings({ maxTradeAmount: 20 });
    const judged = async (builder?: string) => {
      const { builder: _, ...intent } = intentOf();
      const { checks } = await capped.client.prepareTrade(
        builder === undefined ? intent : { ...intent, builder },
      );
      return checks.find(({ code }) => code === 'max_trade_amount_exceeded');
    };
    expect(await judged()).toMatchObject({ passed: true, asked: 20 });
    expect(await judged(CODE)).toMatchObject({ passed: false, asked: 20.1, limit: 20 });
  });

  test('of a sale, too, whose builder takes of what it brings', async () => {
    await place(intentOf(), { ...pins, builder: CODE });
    const { amount: _, ...sale } = intentOf({ side: 'SELL', size: 4, worstPrice: 0.05 });
    const { builder: __, ...plain } = sale;
    const [coded, without] = [
      await trader.client.prepareTrade(sale),
      await trader.client.prepareTrade(plain),
    ];
    expect(coded.counted).toBeCloseTo(without.counted * (1 + FEE), 5);
    expect(coded.feeAtMost - without.feeAtMost).toBeCloseTo(4 * FEE, 6);
    expect((await place(sale, { ...pins, builder: CODE })).body).toMatchObject({ success: true });
  });

  test('shows in what the owner approves', async () => {
    const agent = await newTrader(service);
    await ownerOf(service, agent);
    await agent.client.updateSettings({ approvalAbove: 1 });
    const intent = intentOf();
    const prepared = await agent.client.prepareTrade(intent);
    const mine = { ...pins, agentId: agent.agentId, signer: agent.signer, builder: CODE };
    const body = await signPrepared(verifyPrepared(prepared, intent, mine), agent.signer);
    const asked = await agent.post('/markets/trade', body);
    expect(asked.body).toMatchObject({ code: 'approval_required' });
    const [approval] = await agent.client.listApprovals();
    expect(approval).toMatchObject({ amount: 20.1, feeAtMost: prepared.feeAtMost });
  });
});

describe('any other code', () => {
  test('is refused by the desk, prepared or signed', async () => {
    await expect(trader.client.prepareTrade(intentOf({ builder: OTHER }))).rejects.toMatchObject({
      status: 400,
      code: 'builder_not_allowed',
      detail: expect.stringContaining(CODE),
      errors: [{ path: 'builder' }],
    });
    const intent = intentOf();
    const verified = verifyPrepared(await trader.client.prepareTrade(intent), intent, {
      ...pins,
      builder: CODE,
    });
    const body = await signPrepared(verified, trader.signer);
    const answer = await trader.post('/markets/trade', { ...body, order: { ...body.order, builder: OTHER } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'builder_not_allowed' } });
  });

  test('is refused by the SDK, also where the desk put it in consistently', async () => {
    const agent = await newTrader(dishonest);
    const intent = intentOf({ builder: OTHER });
    const prepared = await agent.client.prepareTrade(intent);
    const own = { ...pins, agentId: agent.agentId, signer: agent.signer };
    expect(verifyPrepared(prepared, intent, { ...own, builder: OTHER }).body.order.builder).toBe(OTHER);
    const refuses = (by: typeof own & { builder?: string }, answer: PreparedTrade = prepared) =>
      expect(() => verifyPrepared(answer, intent, by)).toThrow(PreparedOrderError);
    // The intent is what the desk was asked for; the pins are what the person allows.
    refuses(own);
    refuses({ ...own, builder: CODE });
    refuses({ ...own, builder: `0x${'0'.repeat(64)}` });
    const named = structuredClone(prepared);
    (named.body.order as { builder: string }).builder = CODE;
    refuses({ ...own, builder: CODE }, named);
    refuses({ ...own, builder: OTHER }, named);
  });

  test('an answer without a code is accepted where one was configured', async () => {
    const { builder: _, ...intent } = intentOf();
    const prepared = await trader.client.prepareTrade(intent);
    expect(() => verifyPrepared(prepared, intent, { ...pins, builder: CODE })).not.toThrow();
  });
});

test('where orders sign no such field, an intent with a code is refused, and the field of an order is dropped', async () => {
  const plain = await sharedTestService();
  const agent = await newTrader(plain);
  const { timestamp: _, ...intent } = intentOf();
  await expect(agent.client.prepareTrade(intent)).rejects.toMatchObject({
    code: 'invalid_request',
    errors: [{ path: 'builder' }],
  });
  const { builder: __, ...without } = intent;
  const mine = { agentId: agent.agentId, signer: agent.signer, market };
  const body = await signPrepared(
    verifyPrepared(await agent.client.prepareTrade(without), without, mine),
    agent.signer,
  );
  const sent = { ...body, order: { ...body.order, builder: OTHER } };
  expect(await call(plain, 'POST', '/markets/trade', { key: agent.apiKey, body: sent })).toMatchObject({
    status: 201,
    body: { success: true },
  });
});
