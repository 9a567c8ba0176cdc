/** Prepared orders that were changed, are stale, or are of a wallet that is not registered: each a clear refusal, nothing lost. */
import { type Market, signPrepared, type TradeIntent, verifyPrepared } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  call,
  newAgent,
  newTrader,
  type RawAnswer,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { endingMarkets, type ManualClock, manualClock, resolveMarket } from '../world.ts';

let service: TestService;
let clock: ManualClock;
let trader: Trader;
let ending: Market;
let market: Market;

beforeAll(async () => {
  clock = manualClock(Date.now());
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
  trader = await newTrader(service);
  const markets = await endingMarkets(trader);
  ending = markets[0] as Market;
  market = markets.at(-1) as Market;
});

let count = 0;
const intentFor = (of: Market, more: Partial<TradeIntent> = {}): TradeIntent => ({
  clientOrderId: `order-${++count}`,
  marketId: of.id,
  outcome: 'YES',
  side: 'BUY',
  price: Number(of.tickSize),
  size: 10,
  ...more,
});

async function prepared(of: Market, more: Partial<TradeIntent> = {}) {
  const intent = intentFor(of, more);
  const answer = await trader.client.prepareTrade(intent);
  const pins = { agentId: trader.agentId, signer: trader.signer, signatureType: 0, market: of } as const;
  return signPrepared(verifyPrepared(answer, intent, pins), trader.signer);
}

const post = (body: unknown, key = trader.apiKey) => call(service, 'POST', '/markets/trade', { key, body });
const placed = async () => (await trader.client.listOrders()).length;

const expectRefusal = (
  { status, body }: RawAnswer,
  expected: { status: number; code: string },
  fix: RegExp,
) => {
  expect({ status, code: body.code }).toEqual(expected);
  expect(body.fix).toMatch(fix);
};

describe('a prepared order', () => {
  test('that was changed is refused, says what was signed, and the unchanged one is still placed', async () => {
    const request = await prepared(market);
    const { order } = request;
    const before = await placed();
    const changed = [
      { ...request, orderSize: 20, order: { ...order, takerAmount: '20000000', makerAmount: '200000' } },
      { ...request, order: { ...order, salt: Number(order.salt) - 1 } },
      { ...request, outcome: 'NO', order: { ...order, tokenId: market.clobTokenIds[1] } },
    ];
    for (const body of changed) {
      const answer = await post(body);
      expectRefusal(
        answer,
        { status: 400, code: 'invalid_order_payload' },
        /in the diagnosis is what to sign/,
      );
      expect(answer.body.diagnosis).toMatchObject({ check: expect.any(String) });
    }
    expect(await placed()).toBe(before);
    expect(await post(request)).toMatchObject({ status: 201, body: { success: true } });
  });

  test('of a wallet that is not registered is refused with the step that is missing', async () => {
    const other = await newAgent(service);
    expectRefusal(
      await post(await prepared(market), other.apiKey),
      { status: 403, code: 'credentials_not_registered' },
      /POST \/wallet\/credentials/,
    );
  });

  test('that waited until its expiration is too near is refused, and so is one whose market has ended', async () => {
    const expiration = Math.floor(clock.now() / 1000) + 200;
    const soon = await prepared(market, { orderType: 'GTD', expiration });
    const late = await prepared(ending);
    const before = await placed();
    clock.advance(60_000);
    expectRefusal(await post(soon), { status: 400, code: 'expiration_too_soon' }, /later order\.expiration/);
    await resolveMarket(service, clock, ending.conditionId);
    expectRefusal(await post(late), { status: 400, code: 'market_not_active' }, /Choose a market/);
    expect(await placed()).toBe(before);
  });
});
