/**
 * The venue's newest client, `@polymarket/client`, unmodified, at the doors of the desk and of the stand-alone exchange: every method
 * is tried, or left out with the reason. It compares each answer with schemas of its own, and throws for what does not fit.
 */
import { createSecureClient, forkEnvironmentConfig } from '@polymarket/client';
import { privateKey } from '@polymarket/client/viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { beforeAll, describe, expect, test } from 'vitest';
import { Faults } from '../../packages/exchange/src/doors/polymarket/index.ts';
import { sharedTestService, type TestService } from '../harness.ts';
import { startStandAloneVenue } from '../stand-alone-venue.ts';

interface World {
  readonly url: string;
  readonly exchange: Pick<TestService['exchange'], 'execute' | 'markets'>;
}

const PROFILE = { VENUE_A_ORDER_PROFILE: 'polymarket' };
const WORLDS: readonly (readonly [string, () => Promise<World>])[] = [
  ['a desk of the order profile interface', () => sharedTestService()],
  ['a desk of the order profile polymarket', () => sharedTestService(PROFILE)],
  ['the stand-alone exchange', () => startStandAloneVenue(new Faults(Date.now))],
];

/** An open market with room below its best bid, on the grid of 0.01. The last one: `openMarkets` begins with the first. */
function tradedMarket({ exchange }: World, version: 'v1' | 'v2' = 'v1') {
  const found = [...exchange.markets()].findLast(
    ({ status, tickSize, negRisk, bestBid = 0, bestAsk = 0, version: its }) =>
      status === 'open' &&
      tickSize === 100 &&
      !negRisk &&
      its === version &&
      bestBid > 1_000 &&
      bestAsk < 9_000 &&
      bestAsk > 0,
  );
  if (found === undefined) throw new Error(`no such market of version ${version}`);
  return found;
}

// biome-ignore lint/suspicious/noExplicitAny: methods are called by their names, which the last test compares with the client
type Client = any;

const PERPS = 'perpetuals are another venue of the same company: the paper venue has none';
const COMBOS = 'combined positions have an API of their own, which the paper venue does not have';
const CHAIN = 'sends a transaction to Polygon: there is no such chain here';
const OWN = 'sets up the client itself, or ends it';

/** Methods that are not tried, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  ...{ fetchPerpsBook: PERPS, fetchPerpsFees: PERPS, fetchPerpsInstruments: PERPS, fetchPerpsTicker: PERPS },
  ...{ fetchPerpsTickers: PERPS, listPerpsCandles: PERPS, listPerpsFundingHistory: PERPS },
  ...{ listPerpsTrades: PERPS, depositToPerps: PERPS, openPerpsSession: PERPS, withdrawFromPerps: PERPS },
  ...{ revokePerpsCredentials: PERPS, listComboMarkets: COMBOS, openRfqSession: COMBOS },
  ...{ planCollateralReturn: COMBOS, executeCollateralReturnPlan: COMBOS },
  ...{ setupTradingApprovals: CHAIN, approveErc20: CHAIN, approveErc1155ForAll: CHAIN, transferErc20: CHAIN },
  ...{ splitPosition: CHAIN, mergePositions: CHAIN, redeemPositions: CHAIN },
  downloadAccountingSnapshot: 'an archive of tables for accountants, which the paper venue does not make',
  ...{ constructor: OWN, extend: OWN, isSecureClient: OWN, isPublicClient: OWN, endAuthentication: OWN },
  ...{ endAuthenticationLifecycle: OWN, resolveClobHeaders: OWN, resolveRelayerHeaders: OWN },
  ...{ rememberDecorator: OWN, closeSubscriptions: OWN },
};

const HASH = expect.stringMatching(/^0x[0-9a-f]{64}$/);
const tried = new Set<string>();
let client: Client;

async function connect({ url }: World, key = generatePrivateKey()): Promise<Client> {
  const base = `${url}/paper`;
  const sockets = base.replace(/^http/, 'ws');
  const feeds = { market: { ws: `${sockets}/ws/market` }, user: { ws: `${sockets}/ws/user` } };
  const environment = forkEnvironmentConfig({
    ...{ name: 'paper', rpc: `${base}/no-chain`, clob: { rest: `${base}/clob`, ...feeds } },
    ...{ gamma: { rest: `${base}/gamma` }, data: { rest: `${base}/data` } },
  });
  const wallet = privateKeyToAccount(key).address;
  return createSecureClient({ environment, signer: privateKey(key), wallet });
}

/** Calls a method and notes that it was tried; of a list, the first page. */
async function use(name: string, request?: unknown): Promise<Client> {
  tried.add(name);
  const answer = await client[name](request);
  return typeof answer?.firstPage === 'function' ? (await answer.firstPage()).items : answer;
}

async function expectEmpty(requests: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [name, request] of Object.entries(requests)) expect(await use(name, request), name).toEqual([]);
}

describe.each(WORLDS)('at %s', (_where, start) => {
  let world: World;
  let user: string;
  let tokenId: string;
  let conditionId: string;
  /** Ids of the market and its event in the catalogue. */
  let id: string;
  let eventId: string;
  let question: string;
  beforeAll(async () => {
    world = await start();
    const key = generatePrivateKey();
    user = privateKeyToAccount(key).address;
    const deposit = { kind: 'deposit', account: user.toLowerCase(), amount: 10_000_000_000n } as const;
    await world.exchange.execute({ ...deposit, reason: 'faucet' });
    client = await connect(world, key);
    const market = tradedMarket(world);
    ({ conditionId, id, eventId, question } = market);
    [tokenId] = market.tokenIds;
  });

  test('prices and books', async () => {
    const one = { tokenId };
    const book = await use('fetchOrderBook', one);
    const [bid, ask] = [Number(book.bids.at(-1).price), Number(book.asks.at(-1).price)];
    expect(bid).toBeLessThan(ask);
    expect(Number(await use('fetchMidpoint', one))).toBeCloseTo((bid + ask) / 2);
    expect(Number((await use('fetchMidpoints', [one]))[tokenId])).toBeCloseTo((bid + ask) / 2);
    expect(Number(await use('fetchPrice', { ...one, side: 'BUY' }))).toBe(bid);
    expect(Number((await use('fetchPrices', [{ ...one, side: 'SELL' }]))[tokenId].SELL)).toBe(ask);
    expect(await use('fetchOrderBooks', [one])).toHaveLength(1);
    expect(Number(await use('fetchSpread', one))).toBeCloseTo(ask - bid);
    expect(Number((await use('fetchSpreads', [one]))[tokenId])).toBeCloseTo(ask - bid);
    expect(await use('estimateMarketPrice', { ...one, side: 'BUY', amount: 1 })).toBe(ask);
    expect(await use('fetchPriceHistory', { ...one, interval: '1d', fidelity: 1 })).toBeInstanceOf(Array);
    expect(await use('fetchLastTradePrices', [one])).toHaveLength(1);
    await use('fetchLastTradePrice', one);
  });

  test('the catalogue', async () => {
    expect((await use('listMarkets', { pageSize: 100 })).length).toBeGreaterThan(50);
    expect(await use('fetchMarket', { id })).toMatchObject({ id, conditionId });
    expect((await use('listEvents', {})).length).toBeGreaterThan(0);
    expect(await use('fetchEvent', { id: eventId })).toMatchObject({ id: eventId });
    const [tag] = await use('fetchEventTags', { id: eventId });
    expect((await use('fetchMarketTags', { id })).map((one: Client) => one.id)).toContain(tag.id);
    expect((await use('listTags', {})).length).toBeGreaterThan(0);
    expect(await use('fetchTag', { id: tag.id })).toMatchObject({ id: tag.id });
    expect(await use('fetchRelatedTags', { id: tag.id })).toBeInstanceOf(Array);
    expect(await use('fetchRelatedTagResources', { id: tag.id })).toBeInstanceOf(Array);
    expect((await use('search', { q: question })).events.length).toBeGreaterThan(0);
    await expect(use('fetchSeries', { id: '1' })).rejects.toThrow(/not found/);
    expect(await use('fetchPublicProfile', { address: user })).toBeNull();
    expect((await use('fetchSportsMarketTypes')).marketTypes).toEqual([]);
    await expectEmpty({
      ...{ listSeries: {}, listSports: undefined, listTeams: {}, listMarketClarifications: { marketId: id } },
      ...{ listComments: { parentEntityId: eventId, parentEntityType: 'Event' } },
      ...{ fetchCommentsById: { id: '1' }, listCommentsByUserAddress: { address: user } },
      ...{ listCurrentRewards: {}, listMarketRewards: { conditionId } },
    });
  });

  test('orders rest, are read, and are canceled one by one, together, by market and all', async () => {
    const bid = (price: number) => ({ tokenId, side: 'BUY', price, size: 10 });
    const placed = await use('placeLimitOrder', bid(0.01));
    expect(placed).toMatchObject({ ok: true, status: 'live', orderId: HASH });
    const { orderId } = placed;
    expect(await use('fetchOrder', { orderId })).toMatchObject({ id: orderId, price: '0.01' });
    expect((await use('listOpenOrders')).map((one: Client) => one.id)).toEqual([orderId]);
    expect(await use('fetchOrderScoring', { orderId })).toBe(false);
    expect(await use('fetchOrdersScoring', { orderIds: [orderId] })).toEqual({ [orderId]: false });
    expect((await use('cancelOrder', { orderId })).canceled).toEqual([orderId]);
    const signed = [await use('createLimitOrder', bid(0.01)), await client.createLimitOrder(bid(0.02))];
    const posted = await use('postOrders', signed);
    expect(posted).toMatchObject([{ ok: true }, { ok: true }]);
    const first = posted[0].orderId;
    expect((await use('cancelOrders', { orderIds: [first] })).canceled).toEqual([first]);
    expect((await use('cancelMarketOrders', { market: conditionId })).canceled).toEqual([posted[1].orderId]);
    await use('postOrder', await client.createLimitOrder(bid(0.03)));
    expect((await use('cancelAll')).canceled).toHaveLength(1);
    expect(await client.listOpenOrders().firstPage()).toMatchObject({ items: [] });
  });

  test('market orders are filled and settle; trades, positions and the data API say so', async () => {
    const bought = await use('placeMarketOrder', { tokenId, side: 'BUY', amount: 10 });
    expect(bought).toMatchObject({ ok: true, status: 'matched', makingAmount: '10' });
    const sell = await use('createMarketOrder', { tokenId, side: 'SELL', shares: 5 });
    expect(await client.postOrder(sell)).toMatchObject({ ok: true, makingAmount: '5' });
    const size = Number(bought.takingAmount) - 5;
    // The data API shows what is on the chain.
    expect(await use('waitForOrderFillSettlement', bought)).toEqual([HASH]);
    await expect.poll(async () => (await use('listActivity')).length).toBe(2);
    const [held] = await use('listPositions');
    expect(held).toMatchObject({ conditionId, tokenId });
    expect(Number(held.size)).toBeCloseTo(size, 4);
    expect(await use('listClosedPositions')).toEqual([]);
    expect((await use('listAccountTrades')).length).toBeGreaterThanOrEqual(2);
    expect((await use('listTrades', { market: [conditionId] })).length).toBeGreaterThanOrEqual(2);
    const [{ value }] = await use('fetchPortfolioValue');
    expect(Number(value)).toBeGreaterThan(0);
    expect(await use('fetchTradedMarketCount')).toMatchObject({ traded: 1 });
    const [interest] = await use('listOpenInterest', { market: [conditionId] });
    expect(Number(interest.value)).toBeGreaterThanOrEqual(size - 1e-4);
    const holders = await use('listMarketHolders', { market: [conditionId] });
    expect(holders.find((one: Client) => one.token === tokenId).holders.length).toBeGreaterThan(0);
    const volume = await use('fetchEventLiveVolume', { id: eventId });
    expect(Number(volume[0].total)).toBeGreaterThan(0);
    const ofUser = { market: conditionId, user, status: 'OPEN' };
    const [yes, no] = await use('listMarketPositions', ofUser);
    expect(yes).toMatchObject({ token: tokenId, positions: [{ wallet: user.toLowerCase(), tokenId }] });
    expect(Number(yes.positions[0].size)).toBeCloseTo(size, 4);
    expect(no.positions).toEqual([]);
    const all = await client.listMarketPositions({ market: conditionId }).firstPage();
    expect(all.items[0].positions.length).toBeGreaterThan(0);
  });

  test('what the paper venue does not have is an empty list', async () => {
    const day = { date: '2026-11-22' };
    await expectEmpty({
      ...{ listComboPositions: undefined, listComboActivity: undefined, fetchNotifications: undefined },
      ...{ listBuilderTrades: { builderCode: `0x${'11'.repeat(32)}` }, listBuilderLeaderboard: {} },
      ...{ fetchBuilderVolume: {}, listTraderLeaderboard: {}, fetchTotalEarningsForUserForDay: day },
      ...{ listUserEarningsForDay: day, listUserEarningsAndMarketsConfig: day },
    });
    expect(await use('fetchRewardPercentages')).toEqual({});
    expect(await use('fetchClosedOnlyMode')).toBe(false);
    await use('dropNotifications', { ids: ['1'] });
  });

  test('books and own orders arrive by its sockets', async () => {
    tried.add('subscribe');
    const handle = await client.subscribe([{ topic: 'market', tokenIds: [tokenId] }, { topic: 'user' }]);
    const topics = new Set<string>();
    const placed = client.placeLimitOrder({ tokenId, side: 'BUY', price: 0.02, size: 10 });
    for await (const event of handle) {
      topics.add(event.topic);
      if (topics.size === 2) break;
    }
    await client.cancelOrder({ orderId: (await placed).orderId });
    await handle.close();
    await client.closeSubscriptions();
  });

  // It has the address of ExchangeV3 for approvals alone.
  test('in a market of Protocol V2 it signs for the older contract, and is refused as such', async () => {
    const [position = ''] = tradedMarket(world, 'v2').tokenIds;
    const order = { tokenId: position, side: 'BUY', price: 0.01, size: 10 };
    await expect(client.placeLimitOrder(order)).rejects.toThrow(/order_version_mismatch/);
  });

  test('without money an order is refused in the venue’s words', async () => {
    const poor = await connect(world);
    const order = { tokenId, side: 'BUY', price: 0.5, size: 10 };
    await expect(poor.placeLimitOrder(order)).rejects.toThrow(/the balance is not enough/);
  });
});

test('every method that it has is tried, or left out with a reason', () => {
  const names = new Set<string>();
  for (let one = client; one !== Object.prototype; one = Object.getPrototypeOf(one))
    for (const name of Object.getOwnPropertyNames(one))
      if (typeof client[name] === 'function') names.add(name);
  expect([...names].filter((name) => !tried.has(name) && !(name in LEFT_OUT))).toEqual([]);
  expect(Object.keys(LEFT_OUT).filter((name) => !names.has(name))).toEqual([]);
});
