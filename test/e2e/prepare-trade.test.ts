/** POST /markets/trade/prepare: exactly what to sign and to post, with every verdict, and without any effect. */
import {
  type Market,
  PreparedOrderError,
  type PreparedTrade,
  type SignatureType,
  signPrepared,
  type TradeIntent,
  verifyPrepared,
} from '@bellwether/sdk';
import fc from 'fast-check';
import { hashTypedData } from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  aMarket,
  call,
  newAgent,
  newTrader,
  sharedTestService,
  type TestService,
  type Trader,
} from '../harness.ts';

let service: TestService;
let own: TestService;
let trader: Trader;
let market: Market;

beforeAll(async () => {
  service = await sharedTestService();
  own = await sharedTestService({ VENUE_A_ORDER_PROFILE: 'polymarket' });
  trader = await newTrader(service);
  market = await aMarket(trader.client);
});

let count = 0;
const clientOrderId = () => `order-${++count}`;
const limitBuy = (more: Partial<TradeIntent> = {}): TradeIntent => ({
  clientOrderId: clientOrderId(),
  marketId: market.id,
  outcome: 'YES',
  side: 'BUY',
  price: Number(market.tickSize),
  size: 10,
  ...more,
});
const marketBuy = (more: Partial<TradeIntent> = {}): TradeIntent => {
  const { price: _price, size: _size, ...rest } = limitBuy();
  return { ...rest, worstPrice: 0.95, amount: 20, ...more };
};
const pinsOf = (agent: Trader, of = market) => ({
  agentId: agent.agentId,
  signer: agent.signer,
  signatureType: agent.signatureType,
  market: of,
});
const check = (prepared: PreparedTrade, code: string) => prepared.checks.find((one) => one.code === code);
/** By a library that knows nothing of this code. */
const hashOf = ({ typedData: { domain, types, primaryType, message } }: PreparedTrade) => {
  const { EIP712Domain: _domain, ...structs } = types;
  return hashTypedData({ domain, types: structs, primaryType, message } as Parameters<
    typeof hashTypedData
  >[0]);
};

async function signAndPlace(agent: Trader, intent: TradeIntent, pins = pinsOf(agent)) {
  const prepared = await agent.client.prepareTrade(intent);
  const verified = verifyPrepared(prepared, intent, pins);
  const placed = await agent.client.placeTrade(await signPrepared(verified, agent.signer));
  return { prepared, placed };
}

describe('what is prepared is what is placed', () => {
  const cases: readonly [string, SignatureType, Partial<TradeIntent>][] = [
    ['an EOA', 0, {}],
    ['a proxy wallet', 1, {}],
    ['a Safe', 2, {}],
    ['a deposit wallet whose key signs plainly', 3, {}],
    ['a deposit wallet that signs by ERC-7739', 3, { wrapped: true }],
    ['version 1', 0, { orderVersion: 1 }],
  ];
  test.each(cases)('%s', async (_name, type, more) => {
    const agent = await newTrader(service, type);
    for (const intent of [limitBuy(more), marketBuy(more)]) {
      const { prepared, placed } = await signAndPlace(agent, intent);
      expect(hashOf(prepared)).toBe(prepared.digest);
      expect(placed).toMatchObject({ success: true, orderId: prepared.orderId, signatureType: type });
      expect(prepared).toMatchObject({ accepted: true, maker: agent.funder, expectedRefusal: null });
    }
  });

  test('of a neg-risk market, good till a date, and sold again', async () => {
    const negRisk = await aMarket(trader.client, undefined, true);
    const pins = pinsOf(trader, negRisk);
    const expiration = Math.floor(Date.now() / 1000) + 3600;
    const gtd = limitBuy({ marketId: negRisk.slug, orderType: 'GTD', expiration });
    expect((await signAndPlace(trader, gtd, pins)).placed).toMatchObject({ success: true, status: 'live' });
    await signAndPlace(trader, marketBuy({ marketId: negRisk.conditionId }), pins);
    const { price: _price, ...rest } = limitBuy({ side: 'SELL', size: 2, marketId: negRisk.id });
    const sold = await signAndPlace(trader, { ...rest, worstPrice: 0.05 }, pins);
    expect(sold.placed).toMatchObject({ success: true, filledSize: 2 });
  });

  test('under the order profile of 11 fields, wrapped as the venue wants it', async () => {
    for (const type of [0, 3] as const) {
      const agent = await newTrader(own, type);
      const of = await aMarket(agent.client);
      const pins = { ...pinsOf(agent, of), profile: 'polymarket' as const };
      const intent = marketBuy({ marketId: of.id, timestamp: Date.now() });
      const { prepared, placed } = await signAndPlace(agent, intent, pins);
      expect(placed).toMatchObject({ success: true, orderId: prepared.orderId });
      expect(prepared.typedData.primaryType).toBe(type === 3 ? 'TypedDataSign' : 'Order');
      const missing = await call(own, 'POST', '/markets/trade/prepare', {
        key: agent.apiKey,
        body: { ...intent, timestamp: undefined },
      });
      expect(missing).toMatchObject({ status: 400, body: { errors: [{ path: 'timestamp' }] } });
    }
  });

  test('the figures of the fill are those of the trade', async () => {
    const { prepared, placed } = await signAndPlace(trader, marketBuy({ amount: 50 }));
    expect(prepared.fill.complete).toBe(true);
    expect(placed.filledSize).toBeCloseTo(prepared.fill.shares, 4);
    expect(placed.feePaid).toBeCloseTo(prepared.fill.fee, 4);
    expect(prepared.feeAtMost).toBeGreaterThan(0);
  });

  test('a retry is the same order, which is placed once; another agent has another', async () => {
    const intent = marketBuy();
    const first = await signAndPlace(trader, intent);
    const again = await signAndPlace(trader, intent);
    expect(again.placed).toEqual(first.placed);
    const other = await newTrader(service);
    expect((await other.client.prepareTrade(intent)).body.order.salt).not.toBe(
      first.prepared.body.order.salt,
    );
  });
});

describe('the verdict of every safeguard', () => {
  test('with numbers, and not only the first', async () => {
    const agent = await newTrader(service);
    await agent.client.updateSettings({
      tradingPaused: true,
      maxTradeAmount: 5,
      maxTradesPerDay: 7,
      dailyTradeAmountLimit: 10,
    });
    const prepared = await agent.client.prepareTrade(marketBuy({ amount: 20_000 }));
    expect(prepared.accepted).toBe(false);
    const refused = prepared.checks.filter(({ passed }) => !passed).map(({ code }) => code);
    expect(refused).toEqual([
      'trading_paused',
      'max_trade_amount_exceeded',
      'daily_trade_amount_exceeded',
      'insufficient_balance',
    ]);
    expect(check(prepared, 'max_trade_amount_exceeded')).toMatchObject({ limit: 5, asked: 20_000, left: 5 });
    expect(check(prepared, 'max_trades_per_day_exceeded')).toMatchObject({
      passed: true,
      ...{ limit: 7, used: 0, asked: 1, left: 7 },
    });
    expect(check(prepared, 'insufficient_balance')).toMatchObject({ passed: false, left: 10_000 });
  });

  test('an agent without credentials learns that, and nothing of the wallet', async () => {
    const stranger = await newAgent(service);
    const prepared = await stranger.client.prepareTrade(marketBuy({ walletAddress: trader.funder }));
    expect(check(prepared, 'credentials_not_registered')).toMatchObject({ passed: false });
    expect(check(prepared, 'insufficient_balance')).toBeUndefined();
    expect(check(prepared, 'max_position_value_exceeded')).toMatchObject({ used: 0 });
    const without = await stranger.post('/markets/trade/prepare', marketBuy());
    expect(without).toMatchObject({ status: 403, body: { code: 'credentials_not_registered' } });
  });

  test('what the venue would refuse on the present book', async () => {
    const crossing = await trader.client.prepareTrade(limitBuy({ price: 0.95, postOnly: true }));
    expect(crossing).toMatchObject({
      expectedRefusal: 'post_only_would_cross',
      accepted: false,
      fill: { shares: 0 },
    });
    const killed = await trader.client.prepareTrade(marketBuy({ worstPrice: 0.01 }));
    expect(killed).toMatchObject({ expectedRefusal: 'fak_no_match', accepted: false });
  });
});

describe('bad input', () => {
  const refused = async (body: object) => (await trader.post('/markets/trade/prepare', body)).body;
  test.each([
    ['neither price', { price: undefined }, 'invalid_request', 'price'],
    ['both prices', { worstPrice: 0.5 }, 'invalid_request', 'price'],
    ['an amount for a limit order', { amount: 5 }, 'invalid_request', 'amount'],
    ['a price off the grid', { price: 0.5005 }, 'price_off_tick_grid', 'price'],
    ['less than the minimum', { size: 1 }, 'size_below_minimum', 'size'],
    ['GTD without an end', { orderType: 'GTD' }, 'expiration_required', 'expiration'],
    ['an end without GTD', { expiration: 4_000_000_000 }, 'expiration_not_allowed', 'expiration'],
    ['a market that is not there', { marketId: 'no-such-market' }, 'market_not_found', undefined],
    ['a misspelt field', { postonly: true }, 'invalid_request', 'postonly'],
    ['a foreign signer', { signer: `0x${'12'.repeat(20)}` }, 'wallet_owner_mismatch', 'signer'],
    [
      'a wallet of another type',
      { signatureType: 0, walletAddress: `0x${'12'.repeat(20)}`, signer: `0x${'34'.repeat(20)}` },
      'wallet_owner_mismatch',
      'signatureType',
    ],
  ])('%s', async (_name, more, code, path) => {
    const body = { ...limitBuy({ walletAddress: trader.funder }), ...more };
    const problem = await refused(body);
    expect(problem.code).toBe(code);
    if (path !== undefined) expect(problem.errors[0].path).toBe(path);
  });

  test('in a batch each intent is judged alone', async () => {
    const { results, succeeded } = await trader.client.prepareBatch([
      limitBuy(),
      { ...limitBuy(), price: 7 } as TradeIntent,
      marketBuy(),
    ]);
    expect(succeeded).toBe(2);
    expect(results.map(({ status }) => status)).toEqual([200, 400, 200]);
    expect(results[1]?.problem?.errors?.[0]?.path).toBe('price');
  });
});

/** Every leaf of a value, by its path. */
function leaves(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]));
}

function altered(value: unknown, [key, ...rest]: readonly string[], by: (leaf: unknown) => unknown): unknown {
  if (key === undefined) return by(value);
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[key] = altered(copy[key], rest, by);
  return copy;
}

const ADVICE = new Set([
  'fill',
  'expectedRefusal',
  'feeAtMost',
  'counted',
  'checks',
  'accepted',
  'preparedAt',
]);

describe('verifyPrepared', () => {
  test('refuses any single altered field, with a sentence that names it', async () => {
    const wrappedTrader = await newTrader(service, 3);
    const intents = [
      [trader, limitBuy({ orderType: 'GTD', expiration: Math.floor(Date.now() / 1000) + 3600 })],
      [trader, marketBuy({ reasoning: 'Because.', source: 'sdk:test' })],
      [wrappedTrader, marketBuy({ wrapped: true })],
    ] as const;
    const prepared = await Promise.all(
      intents.map(async ([agent, intent]) => ({
        pins: pinsOf(agent),
        intent,
        answer: await agent.client.prepareTrade(intent),
      })),
    );
    for (const { pins, intent, answer } of prepared)
      expect(() => verifyPrepared(answer, intent, pins)).not.toThrow();
    const change = fc.constantFrom<(leaf: unknown) => unknown>(
      (leaf) => (typeof leaf === 'number' ? leaf + 1 : typeof leaf === 'boolean' ? !leaf : `${leaf}0`),
      (leaf) => (typeof leaf === 'string' && leaf !== leaf.toUpperCase() ? leaf.toUpperCase() : 'other'),
      () => null,
      () => undefined,
    );
    const places = prepared.flatMap((one) =>
      leaves(one.answer)
        .filter(([top]) => !ADVICE.has(top as string))
        .map((path) => ({ ...one, path })),
    );
    const old = (path: readonly string[], answer: unknown) =>
      path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], answer);
    fc.assert(
      fc.property(fc.constantFrom(...places), change, ({ answer, intent, pins, path }, by) => {
        fc.pre(by(old(path, answer)) !== old(path, answer));
        const other = altered(answer, path, by) as PreparedTrade;
        expect(() => verifyPrepared(other, intent, pins)).toThrow(PreparedOrderError);
      }),
      { numRuns: 2_000 },
    );
  });

  test('refuses the order of another intent, wallet, market, chain or time', async () => {
    const intent = limitBuy();
    const prepared = await trader.client.prepareTrade(intent);
    const pins = pinsOf(trader);
    const other = await newTrader(service);
    const fails = (...args: Parameters<typeof verifyPrepared>) =>
      expect(() => verifyPrepared(...args)).toThrow(PreparedOrderError);
    fails(prepared, { ...intent, size: 11 }, pins);
    fails(prepared, { ...intent, clientOrderId: 'another' }, pins);
    fails(prepared, intent, { ...pins, signer: other.signer });
    fails(prepared, intent, { ...pins, agentId: other.agentId });
    fails(prepared, intent, { ...pins, market: await aMarket(trader.client, undefined, true) });
    fails(prepared, intent, { ...pins, chainId: 80_002 });
    fails(prepared, intent, { ...pins, now: () => Date.now() + 61_000 });
    fails(prepared, intent, { ...pins, now: () => Date.now() - 61_000 });
  });
});
