/** Paper orders on a live venue's markets: its depth, once; nothing of it reaches the venue. */
import { buildLimitOrder, type Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { aMarket, call, newTrader, openMarkets, type TestService, type Trader } from '../harness.ts';
import { startVenue } from '../live-desk.ts';
import { startLivePaper } from '../live-paper-desk.ts';

let venue: TestService;
let desk: TestService;
let trader: Trader;
let market: Market;

beforeAll(async () => {
  venue = await startVenue();
  desk = await startLivePaper(venue);
  trader = await newTrader(desk);
  market = await aMarket(trader.client);
});

const bookAt = (service: TestService, conditionId = market.conditionId) =>
  service.exchange.book(conditionId, 'YES')!;
const order = (
  side: 'BUY' | 'SELL',
  price: number,
  size: number,
  extra: Partial<Parameters<typeof buildLimitOrder>[0]> = {},
) =>
  buildLimitOrder({
    signer: trader.signer,
    signatureType: trader.signatureType,
    market,
    outcome: 'YES',
    side,
    price,
    size,
    ...extra,
  } as Parameters<typeof buildLimitOrder>[0]);
const price = (pips: number): number => pips / 10_000;
const shares = (micro: bigint): number => Number(micro) / 1e6;

describe('on live markets', () => {
  test('lists, searches and reads are those of the live venue', async () => {
    const there = venue.exchange.market(market.conditionId)!;
    expect(market).toMatchObject({ slug: there.slug, question: there.question, negRisk: there.negRisk });
    const book = await call(desk, 'GET', `/markets/orderbook/${market.clobTokenIds[0]}`, {
      key: trader.apiKey,
    });
    expect(book.status).toBe(200);
    expect(Number(book.body.bids[0].price)).toBe(price(bookAt(venue).bids[0]![0]));
    expect(Number(book.body.asks[0].size)).toBe(shares(bookAt(venue).asks[0]![1]));
    expect(await trader.client.listMarkets({ q: '*', limit: 500 })).not.toHaveLength(0);
  });

  test('an order walks the live depth, finds it taken the second time, and never reaches the venue', async () => {
    const [first, second] = bookAt(venue).asks as [[number, bigint], [number, bigint]];
    const size = Math.floor(shares(first[1])) + 10;
    const walked = await trader.client.placeTrade(
      await order('BUY', price(second[0]), size, { type: 'FAK' }),
    );
    expect(walked).toMatchObject({ success: true, status: 'matched' });
    // A BUY that takes at once spends its whole budget, so that better prices give more shares.
    const bought = desk.exchange.account(trader.funder).tokens.get(market.conditionId)!.yes;
    expect(bought).toBeGreaterThanOrEqual(BigInt(size) * 1_000_000n);
    expect(bookAt(desk).asks[0]).toEqual([second[0], second[1] + first[1] - bought]);
    // There, nothing has happened.
    expect(bookAt(venue).asks[0]).toEqual(first);
    expect(venue.exchange.openOrders(trader.funder)).toEqual([]);
    const again = await trader.client.placeTrade(await order('BUY', price(first[0]), 10, { type: 'FAK' }));
    expect(again).toMatchObject({ success: false, errorCode: 'fak_no_match' });
  });

  test('full sets are split and merged here alone, in a market that nobody has traded yet', async () => {
    const agent = await newTrader(desk);
    const untraded = (await openMarkets(agent.client)).find(
      ({ conditionId }) => desk.exchange.market(conditionId) === undefined,
    ) as Market;
    const { id: marketId, conditionId } = untraded;
    const middle = bookAt(venue, conditionId);
    expect(await agent.client.splitSets({ clientOrderId: 'one', marketId, amount: 5 })).toMatchObject({
      success: true,
    });
    const held = await agent.client.getCurrentPositions();
    const yes = held.find(({ outcome }) => outcome === 'YES')?.avgPrice;
    expect(yes).toBeCloseTo(price((middle.bids[0]![0] + middle.asks[0]![0]) / 2), 3);
    expect(venue.exchange.holders(conditionId).some(({ account }) => account === agent.funder)).toBe(false);
    expect(await agent.client.mergeSets({ clientOrderId: 'two', marketId, amount: 5 })).toMatchObject({
      success: true,
    });
  });

  test('what changes at the venue changes here before the next order', async () => {
    const [other] = (await openMarkets(trader.client)).filter(({ id }) => id !== market.id);
    const bid = bookAt(venue, other!.conditionId).bids[0]![0];
    const account = `0x${'ab'.repeat(20)}`;
    await venue.exchange.execute({ kind: 'deposit', account, amount: 10_000_000_000n });
    const better = bid + 100;
    await venue.exchange.execute({
      kind: 'place',
      order: {
        orderId: `0x${'cd'.repeat(32)}`,
        account,
        conditionId: other!.conditionId,
        outcome: 'YES',
        side: 'BUY',
        limit: better,
        size: 500_000_000n,
        timeInForce: 'GTC',
        postOnly: false,
      },
    });
    await expect
      .poll(() => call(desk, 'GET', `/markets/orderbook/${other!.clobTokenIds[0]}`, { key: trader.apiKey }))
      .toMatchObject({
        body: { bids: expect.arrayContaining([{ price: String(price(better)), size: '500' }]) },
      });
  });

  test('an order on a market that the live venue does not answer for is refused, and changes nothing', async () => {
    const dead = await startLivePaper({ url: 'http://127.0.0.1:1' });
    const answer = await call(dead, 'GET', '/markets?q=*', { key: (await newTrader(dead)).apiKey });
    expect(answer.status).toBe(503);
  });

  test('positions and money are those of the paper exchange', async () => {
    const held = await call(desk, 'GET', '/markets/current-positions', { key: trader.apiKey });
    expect(held.status).toBe(200);
    const [position] = held.body;
    expect(position).toMatchObject({ conditionId: market.conditionId, outcome: 'YES' });
    const tokens = desk.exchange.account(trader.funder).tokens.get(market.conditionId);
    expect(Number(position.size)).toBeCloseTo(shares(tokens!.yes), 6);
  });
});

test('live and simulated markets need databases of their own', async () => {
  const simulated = await startVenue();
  await simulated.stop();
  await expect(
    startLivePaper(venue, { DATABASE_URL: simulated.databaseUrl, MASTER_KEY: simulated.masterKey }),
  ).rejects.toThrow('live markets need a database of their own');
});
