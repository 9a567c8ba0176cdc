/** An approval is for an order with the terms that its owner saw, also those that its signature leaves out. */
import { buildLimitOrder, type Market, type TradeRequest } from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';
import { approve, claim, decline, ownerOf } from '../approving.ts';
import { aMarket, newTrader, sharedTestService, type TestService, type Trader } from '../harness.ts';
import type { Visitor } from '../passkey.ts';

const SOON_S = 3_600;

describe.each(['interface', 'polymarket'] as const)('under the order profile %s', (profile) => {
  let service: TestService;
  let market: Market;
  let owner: Visitor;

  const start = async () => {
    service ??= await sharedTestService({ VENUE_A_ORDER_PROFILE: profile });
    market ??= await aMarket((await newTrader(service)).client);
    if (owner === undefined) {
      owner = await ownerOf(service);
    }
    const trader = await newTrader(service);
    await claim(owner, trader);
    await trader.client.updateSettings({ approvalAbove: 1 });
    return trader;
  };
  const orderOf = ({ signer }: Trader, options: Partial<Parameters<typeof buildLimitOrder>[0]> = {}) =>
    buildLimitOrder({
      ...{ signer, profile, market, outcome: 'YES', side: 'BUY', price: 0.05, size: 100 },
      ...options,
    } as Parameters<typeof buildLimitOrder>[0]);
  const post = (trader: Trader, body: unknown) => trader.post('/markets/trade', body);
  const asked = async (trader: Trader, order: TradeRequest): Promise<string> => {
    const { body } = await post(trader, order);
    expect(body.code).toBe('approval_required');
    return body.approvalId;
  };

  const others = (order: TradeRequest): readonly Partial<TradeRequest>[] => [
    { orderType: 'GTC' },
    { isLimitOrder: false },
    { deferExec: true },
    { orderType: 'GTC', postOnly: true },
    ...(order.orderType === 'FAK' ? [{ orderType: 'FOK' as const }] : []),
  ];

  test('an order that was to execute at once does not come to rest by it', async () => {
    const trader = await start();
    const order = await orderOf(trader, { type: 'FAK' });
    const approvalId = await asked(trader, order);
    expect((await owner.send('GET', `/owner/approvals/${approvalId}`)).body).toMatchObject({
      ...{ orderType: 'FAK', isLimitOrder: true, postOnly: false, deferExec: false, orderEndsAt: null },
    });
    await approve(owner, approvalId);
    const ids = new Set([approvalId]);
    for (const change of others(order)) {
      const { body } = await post(trader, { ...order, ...change });
      expect({ change, code: body.code }).toEqual({ change, code: 'approval_required' });
      expect(ids.has(body.approvalId)).toBe(false);
      ids.add(body.approvalId);
    }
    // Labels are no terms.
    expect((await post(trader, { ...order, reasoning: 'other words' })).status).toBe(201);
  });

  test('an end that was approved is the end', async () => {
    const trader = await start();
    const end = Math.floor(Date.now() / 1000) + SOON_S;
    const order = await orderOf(trader, { type: 'GTD', expiration: end });
    await approve(owner, await asked(trader, order));
    if (profile === 'polymarket') {
      const later = { ...order, expirationTime: (end + 9 * 365 * 86_400) * 1000 };
      const longer = { ...later, order: { ...order.order, expiration: String(end + 9 * 365 * 86_400) } };
      expect((await post(trader, longer)).body.code).toBe('approval_required');
    }
    const { expirationTime: _, ...endless } = { ...order, orderType: 'GTC' as const };
    const rests = { ...endless, order: { ...order.order, expiration: '0' } };
    expect((await post(trader, rests)).status).not.toBe(201);
    expect((await post(trader, order)).status).toBe(201);
    // Placed, too, it is the order with this end alone: an answer to another end would let its agent believe in that.
    const later = {
      ...endless,
      orderType: 'GTD' as const,
      order: { ...order.order, expiration: String(end + 60) },
    };
    const { status, body } = await post(trader, later);
    expect({ status, code: body.code }).toEqual(
      profile === 'polymarket'
        ? { status: 409, code: 'order_already_placed' }
        : { status: 400, code: 'invalid_order_payload' },
    );
    expect((await post(trader, { ...order, reasoning: 'again' })).status).toBe(201);
  });

  test('an order that the owner declined stays declined, with any other terms', async () => {
    const trader = await start();
    const order = await orderOf(trader);
    await decline(owner, await asked(trader, order), 'no');
    for (const change of [{}, { postOnly: true }, { deferExec: true }]) {
      const { body } = await post(trader, { ...order, ...change });
      expect(body).toMatchObject({ code: 'approval_required', context: { approvalStatus: 'declined' } });
    }
  });

  test('the owner reads the title of the venue; the words of the agent are named as such', async () => {
    const trader = await start();
    const order = { ...(await orderOf(trader)), marketQuestion: 'Free money?' };
    const approvalId = await asked(trader, order);
    const { untrustedText } = (await owner.send('GET', `/owner/approvals/${approvalId}`)).body;
    expect(untrustedText).toMatchObject({
      marketQuestion: market.question,
      agentsMarketQuestion: 'Free money?',
    });
    await approve(owner, approvalId);
    const { body } = await post(trader, order);
    expect((await trader.client.getOrder(body.orderId)).marketQuestion).toBe(market.question);
  });
});
