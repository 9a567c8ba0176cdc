/** GET /markets/fills: an agent's purchases and sales, on all venues, page by page. */
import { type AgentFill, AgentFill as AgentFillSchema } from '@bellwether/contract';
import { buildMarketOrder, type Market } from '@bellwether/sdk';
import { Check } from 'typebox/value';
import { beforeAll, describe, expect, test } from 'vitest';
import { createFakeQuoteVenue, createFakeWallet, type FakeQuoteVenue } from '../fake-quote-venue.ts';
import {
  newTrader,
  openMarkets,
  startTestService,
  type TestService,
  type Trader,
  withTurns,
} from '../harness.ts';
import { BUY_TEN } from '../quote-trader.ts';

let service: TestService;
let quoting: FakeQuoteVenue;
let market: Market;
let other: Market;

beforeAll(async () => {
  quoting = createFakeQuoteVenue();
  service = await startTestService({ PAPER_WORLD: 'off' }, { venues: () => [quoting] });
  [market, other] = (await openMarkets((await newTrader(service)).client)) as [Market, Market];
});

const get = (trader: Pick<Trader, 'get'>, query = '') => trader.get(`/markets/fills${query}`);

/** Spends the amount of collateral, or sells the number of shares, immediately. */
const trade = async (trader: Trader, side: 'BUY' | 'SELL', much: number, on = market) => {
  const shared = { signer: trader.signer, market: on, outcome: 'YES' } as const;
  const order = await buildMarketOrder(
    side === 'BUY'
      ? { ...shared, side, amount: much, worstPrice: 0.95 }
      : { ...shared, side, shares: much, worstPrice: 0.05 },
  );
  return trader.client.placeTrade(order);
};

/** Page by page; `between` runs after each. */
async function all(trader: Trader, query: string, between = async () => {}): Promise<AgentFill[]> {
  const found: AgentFill[] = [];
  let path: string | undefined = `/markets/fills${query}`;
  while (path !== undefined) {
    const { status, body, headers } = await trader.get(path);
    expect(status).toBe(200);
    found.push(...body);
    path = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
    await between();
  }
  return found;
}

const keyOf = ({ orderId, tradeId }: AgentFill): string => `${orderId} ${tradeId}`;

/** Buys sixteen contracts on the venue of quoted orders, for 9.6 and a fee of 0.3. */
async function quotedFill(trader: Trader) {
  const wallet = createFakeWallet();
  const quote = await trader.post('/venueb/agent/quote', { ...BUY_TEN, userPublicKey: wallet.address });
  const { body } = await trader.post('/venueb/agent/submit', {
    quoteId: quote.body.quoteId,
    signedTransaction: wallet.sign(quote.body.unsignedTransaction),
  });
  quoting.landed.set(body.txSignature, { kind: 'landed' });
  quoting.fill(body.txSignature, { inAmount: 9_900_000n, outAmount: 16_000_000n, fee: 300_000n });
  const detail = () => trader.get(`/venueb/agent/orders/${body.orderId}`);
  const status = async () => (await detail()).body.status;
  await withTurns(service, ['follow'], expect.poll(status).toBe('filled'));
  return { order: (await detail()).body, wallet };
}

describe('GET /markets/fills', () => {
  test('lists the fills of all venues with their orders, newest first, with the amounts of the orders', async () => {
    const trader = await newTrader(service);
    const bought = await trade(trader, 'BUY', 20);
    const { order, wallet } = await quotedFill(trader);
    await trade(trader, 'SELL', 5);
    const { body } = await get(trader);
    expect(body.every((fill: unknown) => Check(AgentFillSchema, fill))).toBe(true);
    const times = body.map(({ filledAt }: AgentFill) => Date.parse(filledAt));
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect(body[0]).toMatchObject({ side: 'SELL', outcome: 'YES', venue: 'polymarket', txSignature: null });
    const onChain = body.find(({ orderId }: AgentFill) => orderId === order.orderId);
    expect(onChain).toMatchObject({
      venue: 'kalshi',
      marketId: 'KXTEST-1',
      marketConditionId: 'KXTEST-1',
      side: 'BUY',
      outcome: 'YES',
      price: 0.6,
      size: 16,
      cost: 9.6,
      fee: 0.3,
      walletAddress: wallet.address,
      txSignature: order.fills[0].txSignature,
    });
    const { fills } = await trader.client.getOrder(bought.orderId);
    const listed = body.filter(({ orderId }: AgentFill) => orderId === bought.orderId);
    expect(listed).toHaveLength(fills.length);
    expect(listed).toEqual(expect.arrayContaining(fills.map((fill) => expect.objectContaining(fill))));
    expect(listed[0]).toMatchObject({
      marketId: market.id,
      marketConditionId: market.conditionId,
      tokenId: market.clobTokenIds[0],
      walletAddress: trader.funder,
    });
  });

  test('filters by venue and market; an unknown venue is refused', async () => {
    const trader = await newTrader(service);
    await trade(trader, 'BUY', 10);
    await trade(trader, 'BUY', 10, other);
    await quotedFill(trader);
    const count = async (query: string) => (await get(trader, query)).body.length;
    const everything = await count('');
    const [here, there] = [
      await count(`?marketConditionId=${market.conditionId.toUpperCase().replace('0X', '0x')}`),
      await count(`?marketConditionId=${other.conditionId}`),
    ];
    expect(Math.min(here, there)).toBeGreaterThan(0);
    expect([here + there, await count('?venue=kalshi'), await count('?venue=all')]).toEqual([
      await count('?venue=polymarket'),
      1,
      everything,
    ]);
    expect((await get(trader, '?venue=nasdaq')).body.code).toBe('unknown_venue');
  });

  test('does not list fills of other agents, including the counterparty', async () => {
    const [one, stranger] = [await newTrader(service), await newTrader(service)];
    await trade(one, 'BUY', 10);
    expect((await get(stranger)).body).toEqual([]);
    const { body } = await get(one, '?limit=1');
    // A cursor from another agent's list reveals nothing of that list.
    const { headers } = await get(one, '?limit=1');
    const next = /cursor=([^&>]+)/.exec(headers.get('link') ?? '')?.[1];
    if (next !== undefined) expect((await get(stranger, `?cursor=${next}`)).body).toEqual([]);
    expect(body).toHaveLength(1);
  });

  test('is paged while fills arrive: none is missed, none is repeated', async () => {
    const trader = await newTrader(service);
    for (let i = 0; i < 6; i += 1) await trade(trader, 'BUY', 3 + i, i % 2 === 0 ? market : other);
    const before = (await all(trader, '?limit=100')).map(keyOf);
    expect(before.length).toBeGreaterThanOrEqual(6);
    const seen = (await all(trader, '?limit=2', async () => void (await trade(trader, 'BUY', 2)))).map(keyOf);
    expect(seen).toEqual(before);
    // The same while trades run concurrently.
    let stop = false;
    const trading = (async () => {
      while (!stop) await trade(trader, 'BUY', 1, other);
    })();
    const there = (await all(trader, '?limit=100')).map(keyOf);
    const paged = (await all(trader, '?limit=1')).map(keyOf);
    stop = true;
    await trading;
    expect(new Set(paged).size).toBe(paged.length);
    expect(there.filter((key) => !paged.includes(key))).toEqual([]);
  });

  test.each([
    ['?cursor=AA', 'cursor'],
    ['?cursor=MS4weA_1', 'cursor'],
    ['?limit=0', 'limit'],
    ['?limit=101', 'limit'],
    ['?offset=5&cursor=MS4weA_1', 'offset'],
    ['?before=5', 'before'],
    ['?markedConditionId=0x00', 'markedConditionId'],
    ['?orderStatus=1', 'orderStatus'],
  ])('%s is refused', async (query, path) => {
    const { status, body } = await get(await newTrader(service), query);
    expect({ status, path: body.errors[0].path }).toEqual({ status: 400, path });
  });

  test('accepts a cursor of any age, even for a fill that does not exist', async () => {
    const trader = await newTrader(service);
    await trade(trader, 'BUY', 10);
    const place = (at: number) => Buffer.from(`${at}.0x${'a'.repeat(64)}`).toString('base64url');
    const size = async (at: number, tradeId = '1') =>
      (await get(trader, `?cursor=${place(at)}_${tradeId}`)).body.length;
    expect(await size(0)).toBe(0);
    expect(await size(Date.now() + 60_000)).toBeGreaterThan(0);
    expect(await size(Date.now() + 60_000, '9'.repeat(18))).toBeGreaterThan(0);
    expect((await get(trader, `?cursor=${place(1)}_${'9'.repeat(19)}`)).status).toBe(400);
  });
});
