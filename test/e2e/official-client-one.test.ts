/**
 * `@polymarket/clob-client`, unmodified, as an examiner of the CLOB door: every public method (those for quotes are in
 * official-client-quotes.test.ts), and every answer compared with the
 * client's own typings. The compiler refuses a table that lacks a method or a field; the first test compares it with the class
 * as it runs.
 */
import {
  AssetType,
  ClobClient,
  OrderType,
  PriceHistoryInterval,
  Side,
  type SignedOrder,
} from '@polymarket/clob-client';
import { generatePrivateKey } from 'viem/accounts';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AnyCase, type Cases, examine, methodNames } from '../client-typings.ts';
import { newAgent, openMarkets, sharedTestService, type TestService } from '../harness.ts';
import {
  clientOne,
  doorOf,
  newOfficialWallet,
  type OfficialWallet,
  walletClientOf,
} from '../official-clients.ts';
import {
  ACTIVITY,
  BOOK,
  BUILDER_KEY,
  BUILDER_TRADE,
  CREDS,
  MAKER_ORDER,
  MARKET_REWARD,
  NOTIFICATION,
  OPEN_ORDER,
  PAGE,
  TOTAL_EARNING,
  TRADE,
  USER_EARNING,
  USER_REWARDS,
} from '../official-shapes.ts';

let service: TestService;
let wallet: OfficialWallet;
let clob: ClobClient;
/** A client whose key the tests may delete. */
let spare: ClobClient;
let conditionId: string;
let tokenID: string;
let resting: string;
let options: { tickSize: '0.01'; negRisk: false };
let signed: SignedOrder;
let readonlyKey: string;

const DAY = '2026-11-22';

beforeAll(async () => {
  service = await sharedTestService();
  const { client } = await newAgent(service);
  const [market] = await openMarkets(client, '0.01');
  conditionId = market!.conditionId;
  tokenID = market!.clobTokenIds[0]!;
  options = { tickSize: '0.01', negRisk: false };
  wallet = await newOfficialWallet(service);
  clob = clientOne(service, wallet);
  spare = clientOne(service, await newOfficialWallet(service));
  await clob.createAndPostMarketOrder({ tokenID, side: Side.BUY, amount: 20 }, options);
  const bid = await clob.createAndPostOrder({ tokenID, side: Side.BUY, price: 0.01, size: 10 }, options);
  resting = bid.orderID;
  signed = await clob.createOrder({ tokenID, side: Side.BUY, price: 0.02, size: 10 }, options);
  readonlyKey = (await clob.createReadonlyApiKey()).apiKey;
});

const SIGNED = {
  salt: 'string',
  maker: 'string',
  signer: 'string',
  taker: 'string',
  tokenId: 'string',
  makerAmount: 'string',
  takerAmount: 'string',
  expiration: 'string',
  nonce: 'string',
  feeRateBps: 'string',
  side: 'number',
  signatureType: 'number',
  signature: 'string',
} as const;
const CLIENT_TRADE = {
  ...TRADE,
  transaction_hash: 'string',
  maker_orders: ['list', { ...MAKER_ORDER, side: 'string' }],
} as const;
const PLACED = expect.objectContaining({
  success: true,
  errorMsg: '',
  orderID: expect.stringMatching(/^0x/),
});
const page = (rows: unknown) => expect((rows as { data: unknown[] }).data.length).toBeGreaterThan(50);
const order = () => ({ tokenID, side: Side.BUY, price: 0.01, size: 10 }) as const;
const books = () => [{ token_id: tokenID, side: Side.BUY }];
const cancels = { canceled: expect.any(Array), not_canceled: {} };

/** Client 1 has builder trades only for builders, which sign with keys of their own. */
const builder = () =>
  new ClobClient(
    doorOf(service),
    137,
    walletClientOf(wallet.key),
    wallet.creds,
    0,
    wallet.funder,
    undefined,
    false,
    {
      isValid: () => true,
      generateBuilderHeaders: async () => ({}),
    } as never,
  );

const CASES: Cases<Omit<ClobClient, 'rfq'>> = {
  getOk: { run: () => clob.getOk(), shape: 'any', also: (ok) => expect(ok).toBe('OK') },
  getServerTime: {
    run: () => clob.getServerTime(),
    shape: 'number',
    also: (time) => expect(Math.abs(time - Date.now() / 1000)).toBeLessThan(60),
  },
  getSamplingSimplifiedMarkets: { run: () => clob.getSamplingSimplifiedMarkets(), shape: PAGE, also: page },
  getSamplingMarkets: { run: () => clob.getSamplingMarkets(), shape: PAGE, also: page },
  getSimplifiedMarkets: { run: () => clob.getSimplifiedMarkets(), shape: PAGE, also: page },
  getMarkets: {
    run: () => clob.getMarkets(),
    shape: PAGE,
    also: ({ data, count, next_cursor }) => {
      expect([data.length, next_cursor]).toEqual([count, 'LTE=']);
      expect(data.map((market) => market.condition_id)).toContain(conditionId);
    },
  },
  getMarket: {
    run: () => clob.getMarket(conditionId),
    shape: 'any',
    also: (market) => expect(market).toMatchObject({ condition_id: conditionId, accepting_orders: true }),
  },
  getOrderBook: { run: () => clob.getOrderBook(tokenID), shape: BOOK },
  getOrderBooks: {
    run: () => clob.getOrderBooks(books()),
    shape: ['list', BOOK],
    also: (all) => expect(all).toHaveLength(1),
  },
  getTickSize: {
    run: () => clob.getTickSize(tokenID),
    shape: 'string',
    also: (tick) => expect(tick).toBe('0.01'),
  },
  clearTickSizeCache: { run: () => clob.clearTickSizeCache(), shape: 'nothing' },
  getNegRisk: { run: () => clob.getNegRisk(tokenID), shape: 'boolean' },
  getFeeRateBps: { run: () => clob.getFeeRateBps(tokenID), shape: 'number' },
  getOrderBookHash: {
    run: async () => {
      const book = await clob.getOrderBook(tokenID);
      const { hash } = book;
      expect(await clob.getOrderBookHash(book)).toBe(hash);
      return hash;
    },
    shape: 'string',
  },
  getMidpoint: {
    run: () => clob.getMidpoint(tokenID),
    shape: 'any',
    also: (answer) => expect(answer).toEqual({ mid: expect.stringMatching(/^0\.\d+$/) }),
  },
  getMidpoints: {
    run: () => clob.getMidpoints(books()),
    shape: 'any',
    also: (answer) => expect(answer).toEqual({ [tokenID]: expect.stringMatching(/^0\.\d+$/) }),
  },
  getPrice: {
    run: () => clob.getPrice(tokenID, 'BUY'),
    shape: 'any',
    also: (answer) => expect(answer).toEqual({ price: expect.stringMatching(/^0\.\d+$/) }),
  },
  getPrices: {
    run: () => clob.getPrices([...books(), { token_id: tokenID, side: Side.SELL }]),
    shape: 'any',
    also: (answer) =>
      expect(answer).toEqual({ [tokenID]: { BUY: expect.any(String), SELL: expect.any(String) } }),
  },
  getSpread: {
    run: () => clob.getSpread(tokenID),
    shape: 'any',
    also: (answer) => expect(answer).toEqual({ spread: expect.any(String) }),
  },
  getSpreads: {
    run: () => clob.getSpreads(books()),
    shape: 'any',
    also: (answer) => expect(answer).toEqual({ [tokenID]: expect.any(String) }),
  },
  getLastTradePrice: {
    run: () => clob.getLastTradePrice(tokenID),
    shape: 'any',
    also: (answer) => expect(answer).toEqual({ price: expect.any(String), side: 'BUY' }),
  },
  getLastTradesPrices: {
    run: () => clob.getLastTradesPrices(books()),
    shape: 'any',
    also: (answer) => expect(answer).toEqual([{ token_id: tokenID, price: expect.any(String), side: 'BUY' }]),
  },
  getPricesHistory: {
    run: () =>
      clob.getPricesHistory({ market: tokenID, interval: PriceHistoryInterval.ONE_DAY, fidelity: 1 }),
    typingIsWrong: 'the venue answers an object with the array',
    also: (answer) =>
      expect(answer).toEqual({
        history: expect.arrayContaining([{ t: expect.any(Number), p: expect.any(Number) }]),
      }),
  },
  createApiKey: { run: () => clob.createApiKey(7), shape: CREDS },
  deriveApiKey: { run: () => clob.deriveApiKey(7), shape: CREDS },
  createOrDeriveApiKey: {
    run: () => clob.createOrDeriveApiKey(),
    shape: CREDS,
    also: (creds) => expect(creds).toEqual(wallet.creds),
  },
  getApiKeys: {
    run: () => clob.getApiKeys(),
    typingIsWrong: 'the venue lists the keys without their secrets',
    also: (answer) => expect(answer).toEqual({ apiKeys: expect.arrayContaining([wallet.creds.key]) }),
  },
  getClosedOnlyMode: { run: () => clob.getClosedOnlyMode(), shape: { closed_only: 'boolean' } },
  deleteApiKey: {
    run: () => spare.deleteApiKey(),
    shape: 'any',
    also: (answer) => expect(answer).toBe('OK'),
  },
  createReadonlyApiKey: { run: () => clob.createReadonlyApiKey(), shape: { apiKey: 'string' } },
  getReadonlyApiKeys: {
    run: () => clob.getReadonlyApiKeys(),
    shape: ['list', 'string'],
    also: (keys) => expect(keys).toContain(readonlyKey),
  },
  validateReadonlyApiKey: {
    run: () => clob.validateReadonlyApiKey(wallet.eoa, readonlyKey),
    shape: 'string',
    also: (answer) => expect(answer).toBe(wallet.eoa),
  },
  deleteReadonlyApiKey: {
    run: () => clob.deleteReadonlyApiKey(readonlyKey),
    shape: 'boolean',
    also: (answer) => expect(answer).toBe(true),
  },
  getOrder: {
    run: () => clob.getOrder(resting),
    shape: OPEN_ORDER,
    also: (found) => expect(found).toMatchObject({ id: resting, owner: wallet.creds.key }),
  },
  getTrades: {
    run: () => clob.getTrades({ market: conditionId }),
    shape: ['list', CLIENT_TRADE],
    also: (trades) => expect(trades).toMatchObject([{ trader_side: 'TAKER', owner: wallet.creds.key }]),
  },
  getTradesPaginated: {
    run: () => clob.getTradesPaginated(),
    shape: { trades: ['list', CLIENT_TRADE], next_cursor: 'string', limit: 'number', count: 'number' },
  },
  getBuilderTrades: {
    run: () => builder().getBuilderTrades(),
    shape: { trades: ['list', BUILDER_TRADE], next_cursor: 'string', limit: 'number', count: 'number' },
    also: ({ trades }) => expect(trades).toEqual([]),
  },
  getNotifications: { run: () => clob.getNotifications(), shape: ['list', NOTIFICATION] },
  dropNotifications: { run: () => clob.dropNotifications({ ids: ['1'] }), shape: 'nothing' },
  getBalanceAllowance: {
    run: () => clob.getBalanceAllowance({ asset_type: AssetType.CONDITIONAL, token_id: tokenID }),
    shape: { balance: 'string', allowance: 'string' },
    also: ({ balance }) => expect(Number(balance)).toBeGreaterThan(1e6),
  },
  updateBalanceAllowance: {
    run: () => clob.updateBalanceAllowance({ asset_type: AssetType.COLLATERAL }),
    shape: 'nothing',
  },
  createOrder: { run: () => clob.createOrder(order()), shape: SIGNED },
  createMarketOrder: {
    run: () => clob.createMarketOrder({ tokenID, side: Side.BUY, amount: 5 }),
    shape: SIGNED,
  },
  createAndPostOrder: {
    run: () => clob.createAndPostOrder(order(), options, OrderType.GTC),
    shape: 'any',
    also: (answer) => expect(answer).toEqual(PLACED),
  },
  createAndPostMarketOrder: {
    run: () => clob.createAndPostMarketOrder({ tokenID, side: Side.BUY, amount: 5 }, options, OrderType.FAK),
    shape: 'any',
    also: (answer) => expect(answer).toEqual(PLACED),
  },
  getOpenOrders: {
    run: () => clob.getOpenOrders({ market: conditionId }),
    shape: ['list', OPEN_ORDER],
    also: (open) => expect(open.map(({ id }) => id)).toContain(resting),
  },
  postOrder: {
    run: () => clob.postOrder(signed, OrderType.GTC),
    shape: 'any',
    also: (answer) => expect(answer).toEqual(PLACED),
  },
  postOrders: {
    run: async () =>
      clob.postOrders([{ order: await clob.createOrder(order(), options), orderType: OrderType.GTC }]),
    shape: 'any',
    also: (answer) => expect(answer).toEqual([PLACED]),
  },
  cancelOrder: {
    run: () => clob.cancelOrder({ orderID: resting }),
    shape: 'any',
    also: (answer) => expect(answer).toEqual({ canceled: [resting], not_canceled: {} }),
  },
  cancelOrders: {
    run: () => clob.cancelOrders([resting]),
    shape: 'any',
    also: (answer) =>
      expect(answer).toEqual({ canceled: [], not_canceled: { [resting]: expect.any(String) } }),
  },
  cancelMarketOrders: {
    run: () => clob.cancelMarketOrders({ market: conditionId }),
    shape: 'any',
    also: (answer) => expect(answer).toEqual(cancels),
  },
  cancelAll: { run: () => clob.cancelAll(), shape: 'any', also: (answer) => expect(answer).toEqual(cancels) },
  postHeartbeat: {
    run: async () => {
      const first = await clob.postHeartbeat();
      expect(await clob.postHeartbeat('wrong')).toEqual({
        error: 'Invalid Heartbeat ID',
        error_msg: 'Invalid Heartbeat ID',
        heartbeat_id: first.heartbeat_id,
        status: 400,
      });
      return clob.postHeartbeat(first.heartbeat_id);
    },
    shape: { heartbeat_id: 'string', error: ['maybe', 'string'] },
  },
  isOrderScoring: { run: () => clob.isOrderScoring({ order_id: resting }), shape: { scoring: 'boolean' } },
  areOrdersScoring: {
    run: () => clob.areOrdersScoring({ orderIds: [resting] }),
    shape: ['map', 'boolean'],
    also: (answer) => expect(answer).toEqual({ [resting]: false }),
  },
  getEarningsForUserForDay: { run: () => clob.getEarningsForUserForDay(DAY), shape: ['list', USER_EARNING] },
  getTotalEarningsForUserForDay: {
    run: () => clob.getTotalEarningsForUserForDay(DAY),
    shape: ['list', TOTAL_EARNING],
  },
  getUserEarningsAndMarketsConfig: {
    run: () => clob.getUserEarningsAndMarketsConfig(DAY),
    shape: ['list', USER_REWARDS],
  },
  getRewardPercentages: { run: () => clob.getRewardPercentages(), shape: ['map', 'number'] },
  getCurrentRewards: { run: () => clob.getCurrentRewards(), shape: ['list', MARKET_REWARD] },
  getRawRewardsForMarket: {
    run: () => clob.getRawRewardsForMarket(conditionId),
    shape: ['list', MARKET_REWARD],
  },
  getMarketTradesEvents: {
    run: () => clob.getMarketTradesEvents(conditionId),
    shape: ['list', ACTIVITY],
    also: (events) => expect(events.length).toBeGreaterThan(0),
  },
  calculateMarketPrice: {
    run: () => clob.calculateMarketPrice(tokenID, Side.BUY, 5, OrderType.FOK),
    shape: 'number',
  },
  createBuilderApiKey: {
    run: () => clob.createBuilderApiKey(),
    typingIsWrong: 'a refusal is an object with `error`',
    also: (answer) =>
      expect(answer).toEqual({ error: 'builder keys are not supported by the paper venue', status: 400 }),
  },
  getBuilderApiKeys: { run: () => clob.getBuilderApiKeys(), shape: ['list', BUILDER_KEY] },
  revokeBuilderApiKey: {
    // A builder signs with its builder key, and no such key is any good here.
    run: () => builder().revokeBuilderApiKey(),
    shape: 'any',
    also: (answer) => expect(answer).toEqual({ error: 'Unauthorized/Invalid api key', status: 401 }),
  },
};

/** Marked private or protected in the typings. */
const INTERNAL = [
  ...['_generateBuilderHeaders', '_getBuilderHeaders', '_resolveFeeRateBps', '_resolveTickSize'],
  ...['canBuilderAuth', 'canL1Auth', 'canL2Auth', 'del', 'get', 'mustBuilderAuth', 'post', 'put'],
  ...['throwIfError', 'updateTickSizeFromOrderBook'],
];

describe('@polymarket/clob-client', () => {
  test('every method of the class has a case', () => {
    expect(methodNames(ClobClient)).toEqual([...Object.keys(CASES), ...INTERNAL].sort());
  });

  test.each(Object.entries(CASES as unknown as Record<string, AnyCase>))('%s', async (_name, one) => {
    expect(await examine(one)).toEqual([]);
  });

  test('a client that throws on errors throws the venue’s text', async () => {
    const strict = new ClobClient(
      ...([doorOf(service), 137, walletClientOf(generatePrivateKey()), wallet.creds] as const),
      ...([0, undefined, undefined, false, undefined, undefined, false, undefined, true] as const),
    );
    await expect(strict.getOpenOrders()).rejects.toThrow('Unauthorized/Invalid api key');
  });
});
