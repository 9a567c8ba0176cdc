/**
 * `@polymarket/clob-client-v2`, unmodified, as an examiner of the CLOB door, as official-client-one.test.ts is with the older
 * client. Under the order profile `polymarket` it signs the 11-field struct.
 */
import {
  AssetType,
  ClobClient,
  OrderType,
  PriceHistoryInterval,
  Side,
  type SignedOrder,
} from '@polymarket/clob-client-v2';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AnyCase, type Cases, examine, methodNames } from '../client-typings.ts';
import { newAgent, openMarkets, sharedTestService, type TestService } from '../harness.ts';
import { clientTwo, newOfficialWallet, type OfficialWallet } from '../official-clients.ts';
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
const BUILDER = `0x${'b'.repeat(64)}`;

beforeAll(async () => {
  service = await sharedTestService({ VENUE_A_ORDER_PROFILE: 'polymarket' });
  const { client } = await newAgent(service);
  const [market] = await openMarkets(client, '0.01');
  conditionId = market!.conditionId;
  tokenID = market!.clobTokenIds[0]!;
  options = { tickSize: '0.01', negRisk: false };
  wallet = await newOfficialWallet(service, 3);
  clob = clientTwo(service, wallet, 3);
  spare = clientTwo(service, await newOfficialWallet(service));
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
  tokenId: 'string',
  makerAmount: 'string',
  takerAmount: 'string',
  expiration: 'string',
  side: 'string',
  signatureType: 'number',
  timestamp: 'string',
  metadata: 'string',
  builder: 'string',
  signature: 'string',
} as const;
const CLIENT_TRADE = {
  ...TRADE,
  match_time_nano: ['maybe', 'string'],
  transaction_hash: ['maybe', 'string'],
  err_msg: ['maybe', 'string'],
  maker_orders: [
    'list',
    {
      ...MAKER_ORDER,
      side: ['maybe', 'string'],
      builder_fee: ['maybe', 'string'],
      builder_code: ['maybe', 'string'],
    },
  ],
} as const;
const PLACED = {
  success: 'boolean',
  errorMsg: 'string',
  orderID: 'string',
  transactionsHashes: ['maybe', ['list', 'string']],
  tradeIDs: ['maybe', ['list', 'string']],
  status: 'string',
  takingAmount: 'string',
  makingAmount: 'string',
} as const;
const TOKEN = { t: 'string', o: 'string' } as const;
const placed = (answer: unknown) =>
  expect(answer).toMatchObject({ success: true, errorMsg: '', orderID: expect.stringMatching(/^0x/) });
const page = (rows: unknown) => expect((rows as { data: unknown[] }).data.length).toBeGreaterThan(50);
const order = () => ({ tokenID, side: Side.BUY, price: 0.01, size: 10 }) as const;
const books = () => [{ token_id: tokenID, side: Side.BUY }];
const cancels = { canceled: expect.any(Array), not_canceled: {} };

const CASES: Cases<ClobClient> = {
  getOk: { run: () => clob.getOk(), shape: 'any', also: (ok) => expect(ok).toBe('OK') },
  getVersion: { run: () => clob.getVersion(), shape: 'number', also: (version) => expect(version).toBe(2) },
  getServerTime: { run: () => clob.getServerTime(), shape: 'number' },
  getSamplingSimplifiedMarkets: { run: () => clob.getSamplingSimplifiedMarkets(), shape: PAGE, also: page },
  getSamplingMarkets: { run: () => clob.getSamplingMarkets(), shape: PAGE, also: page },
  getSimplifiedMarkets: { run: () => clob.getSimplifiedMarkets(), shape: PAGE, also: page },
  getMarkets: { run: () => clob.getMarkets(), shape: PAGE, also: page },
  getMarket: {
    run: () => clob.getMarket(conditionId),
    shape: 'any',
    also: (market) => expect(market).toMatchObject({ condition_id: conditionId }),
  },
  getClobMarketInfo: {
    run: () => clob.getClobMarketInfo(conditionId),
    shape: {
      c: 'string',
      t: ['list', TOKEN],
      mts: 'number',
      nr: ['maybe', 'boolean'],
      fd: ['maybe', { r: ['maybe', 'number'], e: ['maybe', 'number'], to: ['maybe', 'boolean'] }],
      mbf: ['maybe', 'number'],
      tbf: ['maybe', 'number'],
      r: [
        'maybe',
        {
          mi: ['maybe', 'number'],
          ma: ['maybe', 'number'],
          e: ['maybe', 'boolean'],
          smoa: ['maybe', 'boolean'],
          moas: ['maybe', 'number'],
        },
      ],
      ao: ['maybe', 'boolean'],
      mos: ['maybe', 'number'],
      sd: ['maybe', 'number'],
      gst: ['maybe', 'string'],
      cbos: ['maybe', 'boolean'],
      aot: ['maybe', 'string'],
      rfqe: ['maybe', 'boolean'],
      itode: ['maybe', 'boolean'],
      ibce: ['maybe', 'boolean'],
    },
    also: ({ t, ao }) => expect([t[0].t, ao]).toEqual([tokenID, true]),
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
  getNegRisk: { run: () => clob.getNegRisk(tokenID), shape: 'boolean' },
  getFeeRateBps: { run: () => clob.getFeeRateBps(tokenID), shape: 'number' },
  getFeeExponent: { run: () => clob.getFeeExponent(tokenID), shape: 'number' },
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
    also: (answer) => expect(answer).toEqual({ mid: expect.any(String) }),
  },
  getMidpoints: {
    run: () => clob.getMidpoints(books()),
    shape: 'any',
    also: (answer) => expect(answer).toEqual({ [tokenID]: expect.any(String) }),
  },
  getPrice: {
    run: () => clob.getPrice(tokenID, 'SELL'),
    shape: 'any',
    also: (answer) => expect(answer).toEqual({ price: expect.any(String) }),
  },
  getPrices: {
    run: () => clob.getPrices(books()),
    shape: 'any',
    also: (answer) => expect(answer).toEqual({ [tokenID]: { BUY: expect.any(String) } }),
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
    also: (answer) => expect(answer).toMatchObject({ price: expect.any(String), side: 'BUY' }),
  },
  getLastTradesPrices: {
    run: () => clob.getLastTradesPrices(books()),
    shape: 'any',
    also: (answer) => expect(answer).toMatchObject([{ token_id: tokenID }]),
  },
  getPricesHistory: {
    run: () =>
      clob.getPricesHistory({ market: tokenID, interval: PriceHistoryInterval.ONE_WEEK, fidelity: 5 }),
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
  deleteReadonlyApiKey: {
    run: () => clob.deleteReadonlyApiKey(readonlyKey),
    shape: 'boolean',
    also: (answer) => expect(answer).toBe(true),
  },
  getOrder: {
    run: () => clob.getOrder(resting),
    shape: OPEN_ORDER,
    also: (found) => expect(found).toMatchObject({ id: resting, maker_address: wallet.funder }),
  },
  getTrades: {
    run: () => clob.getTrades(),
    shape: ['list', CLIENT_TRADE],
    also: (trades) => expect(trades).toMatchObject([{ trader_side: 'TAKER', maker_address: wallet.funder }]),
  },
  getTradesPaginated: {
    run: () => clob.getTradesPaginated(),
    shape: { trades: ['list', CLIENT_TRADE], next_cursor: 'string', limit: 'number', count: 'number' },
  },
  getBuilderTrades: {
    run: () => clob.getBuilderTrades({ builder_code: BUILDER }),
    shape: {
      trades: ['list', { ...BUILDER_TRADE, builderFee: 'string', builderCode: 'string' }],
      next_cursor: 'string',
      limit: 'number',
      count: 'number',
    },
    also: ({ trades }) => expect(trades).toEqual([]),
  },
  getNotifications: { run: () => clob.getNotifications(), shape: ['list', NOTIFICATION] },
  dropNotifications: { run: () => clob.dropNotifications({ ids: ['1', '2'] }), shape: 'nothing' },
  getBalanceAllowance: {
    run: () => clob.getBalanceAllowance({ asset_type: AssetType.COLLATERAL }),
    shape: { balance: 'string', allowances: ['map', 'string'] },
    also: ({ balance, allowances }) => {
      expect(Number(balance)).toBeGreaterThan(9_000e6);
      expect(Object.keys(allowances)).toHaveLength(6);
    },
  },
  updateBalanceAllowance: {
    run: () => clob.updateBalanceAllowance({ asset_type: AssetType.CONDITIONAL, token_id: tokenID }),
    shape: 'nothing',
  },
  createOrder: { run: () => clob.createOrder(order()), shape: SIGNED },
  createMarketOrder: {
    // Asks for the fees of the market and of a builder.
    run: () =>
      clob.createMarketOrder({
        ...{ tokenID, side: Side.BUY, amount: 5, userUSDCBalance: 5, builderCode: BUILDER },
      }),
    shape: SIGNED,
    also: ({ makerAmount }) => expect(Number(makerAmount)).toBeGreaterThan(4e6),
  },
  createExchangeV3OrderFromAmounts: {
    run: () =>
      clob.createExchangeV3OrderFromAmounts({
        ...{ tokenID, side: Side.BUY, makerAmount: '100000', takerAmount: '10000000' },
      }),
    shape: SIGNED,
  },
  createAndPostOrder: {
    run: () => clob.createAndPostOrder(order(), options, OrderType.GTC),
    shape: PLACED,
    also: placed,
  },
  createAndPostMarketOrder: {
    run: () => clob.createAndPostMarketOrder({ tokenID, side: Side.BUY, amount: 5 }, options, OrderType.FAK),
    shape: PLACED,
    also: (answer) => {
      placed(answer);
      expect(answer.transactionsHashes).toEqual([expect.stringMatching(/^0x[0-9a-f]{64}$/)]);
    },
  },
  getOpenOrders: {
    run: () => clob.getOpenOrders({ asset_id: tokenID }),
    shape: ['list', OPEN_ORDER],
    also: (open) => expect(open.map(({ id }) => id)).toContain(resting),
  },
  getPreMigrationOrders: {
    run: () => clob.getPreMigrationOrders(),
    shape: ['list', OPEN_ORDER],
    also: (orders) => expect(orders).toEqual([]),
  },
  postOrder: { run: () => clob.postOrder(signed, OrderType.GTC), shape: PLACED, also: placed },
  postOrders: {
    run: async () =>
      clob.postOrders([{ order: await clob.createOrder(order(), options), orderType: OrderType.GTC }]),
    shape: ['list', PLACED],
    also: (answers) => answers.forEach(placed),
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
    run: async () => clob.postHeartbeat((await clob.postHeartbeat()).heartbeat_id),
    shape: { heartbeat_id: 'string', error_msg: ['maybe', 'string'] },
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
    run: () => clob.calculateMarketPrice(tokenID, Side.SELL, 5, OrderType.FAK),
    shape: 'number',
  },
  createBuilderApiKey: {
    run: () => clob.createBuilderApiKey(),
    typingIsWrong: 'a refusal is an object with `error`',
    also: (answer) => expect(answer).toMatchObject({ status: 400 }),
  },
  getBuilderApiKeys: { run: () => clob.getBuilderApiKeys(), shape: ['list', BUILDER_KEY] },
  revokeBuilderApiKey: {
    run: () => clob.revokeBuilderApiKey(),
    shape: 'any',
    also: (answer) => expect(answer).toMatchObject({ status: 400 }),
  },
};

/** Marked private in the typings. */
const INTERNAL = [
  ...['_ensureMarketInfoCached', '_isOrderVersionMismatch', '_resolveFeeRateBps', '_resolveTickSize'],
  ...['_retryOnVersionUpdate', 'adjustBuyAmountForBalance', 'canL1Auth', 'canL2Auth', 'del'],
  ...['ensureBuilderFeeRateCached', 'get', 'getBuilderTakerFeeRate', 'isBuilderOrder', 'post'],
  ...['resolveTransactionsHashes', 'resolveVersion', 'throwIfError', 'waitForResolvedTrades'],
];

describe('@polymarket/clob-client-v2', () => {
  test('every method of the class has a case', () => {
    expect(methodNames(ClobClient)).toEqual([...Object.keys(CASES), ...INTERNAL].sort());
  });

  test.each(Object.entries(CASES as unknown as Record<string, AnyCase>))('%s', async (_name, one) => {
    expect(await examine(one)).toEqual([]);
  });
});
