/**
 * `@polymarket/clob-client` and `@polymarket/clob-client-v2`, unmodified, as examiners of the CLOB door: every public method, and every
 * answer compared with the client's own typings. The compiler refuses a table that lacks a method or a field; the first test
 * of each client compares its table with the class as it runs.
 */
import {
  AssetType,
  type BalanceAllowanceParams,
  ClobClient,
  type OpenOrderParams,
  OrderType,
  type PriceHistoryInterval,
  Side,
} from '@polymarket/clob-client';
import type { IRfqClient } from '@polymarket/clob-client/dist/rfq-deps.js';
import { ClobClient as ClobClientTwo, Side as SideOfTwo } from '@polymarket/clob-client-v2';
import { generatePrivateKey } from 'viem/accounts';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AnyCase, type Cases, examine, methodNames } from '../client-typings.ts';
import { newAgent, openMarkets, sharedTestService, type TestService } from '../harness.ts';
import {
  clientOne,
  clientTwo,
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
  MARKET_REWARD,
  maybe,
  NOTIFICATION,
  OPEN_ORDER,
  PAGE,
  PLACED,
  pageOf,
  SIGNED_BY_ONE,
  SIGNED_BY_TWO,
  strings,
  TOTAL_EARNING,
  TRADE_OF_ONE,
  TRADE_OF_TWO,
  USER_EARNING,
  USER_REWARDS,
} from '../official-shapes.ts';

let service: TestService;
let wallet: OfficialWallet;
let conditionId: string;
let tokenID: string;
let resting: string;
let signed: never;
let readonlyKey: string;

/** What one client asks for where the other asks for something else, and what differs in the answers. */
const ASKED_BY_ONE = {
  connect: clientOne,
  side: Side.BUY,
  type: OrderType.FOK,
  history: { interval: '1d' as PriceHistoryInterval, fidelity: 1 },
  orders: (): OpenOrderParams => ({ market: conditionId }),
  balance: (): BalanceAllowanceParams => ({ asset_type: AssetType.COLLATERAL }),
  /** Of an order that was matched. */
  hashes: [] as readonly unknown[],
};
const ASKED_BY_TWO: typeof ASKED_BY_ONE = {
  connect: clientTwo as unknown as typeof clientOne,
  side: Side.SELL,
  type: OrderType.FAK,
  history: { interval: '1w' as PriceHistoryInterval, fidelity: 5 },
  orders: () => ({ asset_id: tokenID }),
  balance: () => ({ asset_type: AssetType.CONDITIONAL, token_id: tokenID }),
  // It waits for them.
  hashes: [expect.stringMatching(/^0x[0-9a-f]{64}$/)],
};
let my = ASKED_BY_ONE;

const DAY = '2026-11-22';
const BUILDER = `0x${'b'.repeat(64)}`;
const options = { tickSize: '0.01', negRisk: false } as const;
const NUMBER = expect.stringMatching(/^0\.\d+$/);

const placed = (answer: unknown) =>
  expect(answer).toMatchObject({ success: true, errorMsg: '', orderID: expect.stringMatching(/^0x/) });
const page = (rows: unknown) => expect((rows as { data: unknown[] }).data.length).toBeGreaterThan(50);
const order = () => ({ tokenID, side: Side.BUY, price: 0.01, size: 10 }) as const;
const books = () => [{ token_id: tokenID, side: Side.BUY }];
const cancels = () => ({ canceled: expect.any(Array), not_canceled: {} });

/** Methods that both clients have, in the order in which they are called: the typings of client 1 say what they are given. */
const BOTH = {
  getOk: { equals: () => 'OK' },
  getServerTime: {
    shape: 'number',
    also: (time) => expect(Math.abs(time - Date.now() / 1000)).toBeLessThan(60),
  },
  getSamplingSimplifiedMarkets: { shape: PAGE, also: page },
  getSamplingMarkets: { shape: PAGE, also: page },
  getSimplifiedMarkets: { shape: PAGE, also: page },
  getMarkets: {
    shape: PAGE,
    also: (answer) => {
      page(answer);
      expect([answer.data.length, answer.next_cursor]).toEqual([answer.count, 'LTE=']);
      expect(answer.data.map((market) => market.condition_id)).toContain(conditionId);
    },
  },
  getMarket: {
    args: () => [conditionId],
    also: (market) => expect(market).toMatchObject({ condition_id: conditionId, accepting_orders: true }),
  },
  getOrderBook: { args: () => [tokenID], shape: BOOK },
  getOrderBooks: { args: () => [books()], shape: ['list', BOOK], also: (all) => expect(all).toHaveLength(1) },
  getTickSize: { args: () => [tokenID], shape: 'string', equals: () => '0.01' },
  getNegRisk: { args: () => [tokenID], shape: 'boolean' },
  getFeeRateBps: { args: () => [tokenID], shape: 'number' },
  getOrderBookHash: {
    run: async (clob) => {
      const book = await clob.getOrderBook(tokenID);
      const { hash } = book;
      expect(await clob.getOrderBookHash(book)).toBe(hash);
      return hash;
    },
    shape: 'string',
  },
  getMidpoint: { args: () => [tokenID], equals: () => ({ mid: NUMBER }) },
  getMidpoints: { args: () => [books()], equals: () => ({ [tokenID]: NUMBER }) },
  getPrice: { args: () => [tokenID, my.side], equals: () => ({ price: NUMBER }) },
  getPrices: {
    args: () => [[...books(), { token_id: tokenID, side: Side.SELL }]],
    equals: () => ({ [tokenID]: { BUY: expect.any(String), SELL: expect.any(String) } }),
  },
  getSpread: { args: () => [tokenID], equals: () => ({ spread: expect.any(String) }) },
  getSpreads: { args: () => [books()], equals: () => ({ [tokenID]: expect.any(String) }) },
  getLastTradePrice: { args: () => [tokenID], equals: () => ({ price: expect.any(String), side: 'BUY' }) },
  getLastTradesPrices: {
    args: () => [books()],
    equals: () => [{ token_id: tokenID, price: expect.any(String), side: 'BUY' }],
  },
  getPricesHistory: {
    args: () => [{ market: tokenID, ...my.history }],
    typingIsWrong: 'the venue answers an object with the array',
    equals: () => ({ history: expect.arrayContaining([{ t: expect.any(Number), p: expect.any(Number) }]) }),
  },
  createApiKey: { args: () => [7], shape: CREDS },
  deriveApiKey: { args: () => [7], shape: CREDS },
  createOrDeriveApiKey: { shape: CREDS, equals: () => wallet.creds },
  getApiKeys: {
    typingIsWrong: 'the venue lists the keys without their secrets',
    equals: () => ({ apiKeys: expect.arrayContaining([wallet.creds.key]) }),
  },
  getClosedOnlyMode: { shape: { closed_only: 'boolean' } },
  createReadonlyApiKey: { shape: strings('apiKey') },
  getReadonlyApiKeys: { shape: ['list', 'string'], also: (keys) => expect(keys).toContain(readonlyKey) },
  deleteReadonlyApiKey: { args: () => [readonlyKey], shape: 'boolean', equals: () => true },
  getOrder: {
    args: () => [resting],
    shape: OPEN_ORDER,
    also: (found) =>
      expect(found).toMatchObject({ id: resting, owner: wallet.creds.key, maker_address: wallet.funder }),
  },
  getNotifications: { shape: ['list', NOTIFICATION] },
  dropNotifications: { args: () => [{ ids: ['1', '2'] }], shape: 'nothing' },
  updateBalanceAllowance: { args: () => [my.balance()], shape: 'nothing' },
  createAndPostOrder: { args: () => [order(), options, OrderType.GTC], shape: PLACED, also: placed },
  createAndPostMarketOrder: {
    args: () => [{ tokenID, side: Side.BUY, amount: 5 }, options, OrderType.FAK],
    shape: PLACED,
    also: (answer) => {
      placed(answer);
      expect(answer.transactionsHashes).toEqual(my.hashes);
    },
  },
  getOpenOrders: {
    args: () => [my.orders()],
    shape: ['list', OPEN_ORDER],
    also: (open) => expect(open.map(({ id }) => id)).toContain(resting),
  },
  postOrder: { args: () => [signed, OrderType.GTC], shape: PLACED, also: placed },
  postOrders: {
    run: async (clob) =>
      clob.postOrders([{ order: await clob.createOrder(order(), options), orderType: OrderType.GTC }]),
    shape: ['list', PLACED],
    also: (answers) => {
      expect(answers).toHaveLength(1);
      placed(answers[0]);
    },
  },
  cancelOrder: {
    args: () => [{ orderID: resting }],
    equals: () => ({ canceled: [resting], not_canceled: {} }),
  },
  cancelOrders: {
    args: () => [[resting]],
    equals: () => ({ canceled: [], not_canceled: { [resting]: expect.any(String) } }),
  },
  cancelMarketOrders: { args: () => [{ market: conditionId }], equals: cancels },
  cancelAll: { equals: cancels },
  postHeartbeat: {
    run: async (clob) => {
      const first = await clob.postHeartbeat();
      expect(await clob.postHeartbeat('wrong')).toEqual({
        error: 'Invalid Heartbeat ID',
        error_msg: 'Invalid Heartbeat ID',
        heartbeat_id: first.heartbeat_id,
        status: 400,
      });
      return clob.postHeartbeat(first.heartbeat_id);
    },
    shape: { ...strings('heartbeat_id'), ...maybe('string', 'error', 'error_msg') },
  },
  isOrderScoring: { args: () => [{ order_id: resting }], shape: { scoring: 'boolean' } },
  areOrdersScoring: {
    args: () => [{ orderIds: [resting] }],
    shape: ['map', 'boolean'],
    equals: () => ({ [resting]: false }),
  },
  getEarningsForUserForDay: { args: () => [DAY], shape: ['list', USER_EARNING] },
  getTotalEarningsForUserForDay: { args: () => [DAY], shape: ['list', TOTAL_EARNING] },
  getUserEarningsAndMarketsConfig: { args: () => [DAY], shape: ['list', USER_REWARDS] },
  getRewardPercentages: { shape: ['map', 'number'] },
  getCurrentRewards: { shape: ['list', MARKET_REWARD] },
  getRawRewardsForMarket: { args: () => [conditionId], shape: ['list', MARKET_REWARD] },
  getMarketTradesEvents: {
    args: () => [conditionId],
    shape: ['list', ACTIVITY],
    also: (events) => expect(events.length).toBeGreaterThan(0),
  },
  calculateMarketPrice: { args: () => [tokenID, my.side, 5, my.type], shape: 'number' },
  createBuilderApiKey: {
    typingIsWrong: 'a refusal is an object with `error`',
    equals: () => ({ error: 'builder keys are not supported by the paper venue', status: 400 }),
  },
  getBuilderApiKeys: { shape: ['list', BUILDER_KEY] },
  deleteApiKey: {
    run: async () => my.connect(service, await newOfficialWallet(service)).deleteApiKey(),
    equals: () => 'OK',
  },
} as const satisfies Partial<Cases<ClobClient, ClobClientTwo>>;

const bought = (trades: unknown) =>
  expect(trades).toMatchObject([
    { trader_side: 'TAKER', owner: wallet.creds.key, maker_address: wallet.funder },
  ]);

/** Client 1 has builder trades only for builders, which sign with keys of their own. */
const builder = () =>
  new ClobClient(
    ...([doorOf(service), 137, walletClientOf(wallet.key), wallet.creds, 0, wallet.funder] as const),
    ...[undefined, false, { isValid: () => true, generateBuilderHeaders: async () => ({}) } as never],
  );

const ONE: Omit<Cases<ClobClient>, keyof typeof BOTH> = {
  clearTickSizeCache: { shape: 'nothing' },
  validateReadonlyApiKey: {
    args: () => [wallet.eoa, readonlyKey],
    shape: 'string',
    equals: () => wallet.eoa,
  },
  getTrades: { args: () => [{ market: conditionId }], shape: ['list', TRADE_OF_ONE], also: bought },
  getTradesPaginated: { shape: pageOf({ trades: ['list', TRADE_OF_ONE] }) },
  getBuilderTrades: {
    run: () => builder().getBuilderTrades(),
    shape: pageOf({ trades: ['list', BUILDER_TRADE] }),
    equals: () => expect.objectContaining({ trades: [] }),
  },
  getBalanceAllowance: {
    args: () => [{ asset_type: AssetType.CONDITIONAL, token_id: tokenID }],
    shape: strings('balance', 'allowance'),
    also: ({ balance }) => expect(Number(balance)).toBeGreaterThan(1e6),
  },
  createOrder: { args: () => [order()], shape: SIGNED_BY_ONE },
  createMarketOrder: { args: () => [{ tokenID, side: Side.BUY, amount: 5 }], shape: SIGNED_BY_ONE },
  revokeBuilderApiKey: {
    // A builder signs with its builder key, and no such key is any good here.
    run: () => builder().revokeBuilderApiKey(),

    equals: () => ({ error: 'Unauthorized/Invalid api key', status: 401 }),
  },
};

const TWO: Omit<Cases<ClobClientTwo>, keyof typeof BOTH> = {
  getVersion: { shape: 'number', equals: () => 2 },
  getClobMarketInfo: {
    args: () => [conditionId],
    shape: {
      c: 'string',
      t: ['list', strings('t', 'o')],
      mts: 'number',
      fd: ['maybe', { ...maybe('number', 'r', 'e'), ...maybe('boolean', 'to') }],
      r: ['maybe', { ...maybe('number', 'mi', 'ma', 'moas'), ...maybe('boolean', 'e', 'smoa') }],
      ...maybe('number', 'mbf', 'tbf', 'mos', 'sd'),
      ...maybe('boolean', 'nr', 'ao', 'cbos', 'rfqe', 'itode', 'ibce'),
      ...maybe('string', 'gst', 'aot'),
    },
    also: ({ t, ao }) => expect([t[0].t, ao]).toEqual([tokenID, true]),
  },
  getFeeExponent: { args: () => [tokenID], shape: 'number' },
  getTrades: { shape: ['list', TRADE_OF_TWO], also: bought },
  getTradesPaginated: { shape: pageOf({ trades: ['list', TRADE_OF_TWO] }) },
  getBuilderTrades: {
    args: () => [{ builder_code: BUILDER }],
    shape: pageOf({ trades: ['list', { ...BUILDER_TRADE, ...strings('builderFee', 'builderCode') }] }),
    equals: () => expect.objectContaining({ trades: [] }),
  },
  getBalanceAllowance: {
    args: () => [{ asset_type: AssetType.COLLATERAL as never }],
    shape: { balance: 'string', allowances: ['map', 'string'] },
    also: ({ balance, allowances }) => {
      expect(Number(balance)).toBeGreaterThan(9_000e6);
      expect(Object.keys(allowances)).toHaveLength(6);
    },
  },
  createOrder: { args: () => [{ ...order(), side: SideOfTwo.BUY }], shape: SIGNED_BY_TWO },
  createMarketOrder: {
    // Asks for the fees of the market and of a builder.
    args: () => [{ tokenID, side: SideOfTwo.BUY, amount: 5, userUSDCBalance: 5, builderCode: BUILDER }],
    shape: SIGNED_BY_TWO,
    also: ({ makerAmount }) => expect(Number(makerAmount)).toBeGreaterThan(4e6),
  },
  createExchangeV3OrderFromAmounts: {
    args: () => [{ tokenID, side: SideOfTwo.BUY, makerAmount: '100000', takerAmount: '10000000' }],
    shape: SIGNED_BY_TWO,
  },
  getPreMigrationOrders: { shape: ['list', OPEN_ORDER], equals: () => [] },
  revokeBuilderApiKey: {
    equals: () => ({ error: 'builder keys are not supported by the paper venue', status: 400 }),
  },
};

const CLIENTS = [
  {
    name: '@polymarket/clob-client',
    start: () => sharedTestService(),
    signatureType: 0,
    clientClass: ClobClient,
    cases: { ...ONE, ...BOTH },
    /** Marked private or protected in the typings. */
    internal: [
      ...['_generateBuilderHeaders', '_getBuilderHeaders', '_resolveFeeRateBps', '_resolveTickSize'],
      ...['canBuilderAuth', 'canL1Auth', 'canL2Auth', 'del', 'get', 'mustBuilderAuth', 'post', 'put'],
      ...['throwIfError', 'updateTickSizeFromOrderBook'],
    ],
    asks: ASKED_BY_ONE,
  },
  {
    name: '@polymarket/clob-client-v2',
    // There it signs the struct of 11 fields.
    start: () => sharedTestService({ VENUE_A_ORDER_PROFILE: 'polymarket' }),
    signatureType: 3,
    clientClass: ClobClientTwo,
    cases: { ...TWO, ...BOTH },
    internal: [
      ...['_ensureMarketInfoCached', '_isOrderVersionMismatch', '_resolveFeeRateBps', '_resolveTickSize'],
      ...['_retryOnVersionUpdate', 'adjustBuyAmountForBalance', 'canL1Auth', 'canL2Auth', 'del'],
      ...['ensureBuilderFeeRateCached', 'get', 'getBuilderTakerFeeRate', 'isBuilderOrder', 'post'],
      ...['resolveTransactionsHashes', 'resolveVersion', 'throwIfError', 'waitForResolvedTrades'],
    ],
    asks: ASKED_BY_TWO,
  },
] as const;

describe.each(CLIENTS)('$name', ({ start, signatureType, clientClass, cases, internal, asks }) => {
  let clob: ClobClient;
  beforeAll(async () => {
    my = asks;
    service = await start();
    const { client } = await newAgent(service);
    const [market] = await openMarkets(client, '0.01');
    conditionId = market!.conditionId;
    tokenID = market!.clobTokenIds[0]!;
    wallet = await newOfficialWallet(service, signatureType);
    clob = my.connect(service, wallet, signatureType as 0);
    await clob.createAndPostMarketOrder({ tokenID, side: Side.BUY, amount: 20 }, options);
    resting = (await clob.createAndPostOrder(order(), options)).orderID;
    signed = (await clob.createOrder({ ...order(), price: 0.02 }, options)) as never;
    readonlyKey = (await clob.createReadonlyApiKey()).apiKey;
  });

  test('every method of the class has a case', () => {
    expect(methodNames(clientClass)).toEqual([...Object.keys(cases), ...internal].sort());
  });

  test.each(Object.entries(cases as unknown as Record<string, AnyCase>))('%s', async (name, one) => {
    expect(await examine(clob, name, one)).toEqual([]);
  });
});

const QUOTE = { requestId: 'r', quoteId: 'q', expiration: 0 };
const refused = () =>
  expect.objectContaining({ error: expect.stringContaining('not supported'), status: 400 });
const NO_QUOTES = { ...pageOf({ data: ['list', 'any'] }), ...maybe('number', 'total_count') };

/** The paper venue has no quotes: every method gets an answer in its own shape that says so, never a 404. */
const QUOTES: { readonly [Name in keyof IRfqClient]: AnyCase } = {
  createRfqRequest: {
    args: () => [order()],
    shape: { ...strings('requestId'), ...maybe('string', 'error') },
    equals: refused,
  },
  cancelRfqRequest: { args: () => [{ requestId: 'r' }], equals: refused },
  getRfqRequests: { args: () => [{ limit: 5 }], shape: NO_QUOTES },
  createRfqQuote: {
    args: () => [{ ...order(), requestId: 'r' }],
    shape: { ...strings('quoteId'), ...maybe('string', 'error') },
    equals: refused,
  },
  getRfqRequesterQuotes: { shape: NO_QUOTES },
  getRfqQuoterQuotes: { shape: NO_QUOTES },
  getRfqBestQuote: { args: () => [{ requestId: 'r' }], equals: () => null },
  cancelRfqQuote: { args: () => [{ quoteId: 'q' }], equals: refused },
  rfqConfig: { equals: () => ({ enabled: false }) },
  acceptRfqQuote: { args: () => [QUOTE], throws: 'RFQ quote not found' },
  approveRfqOrder: { args: () => [QUOTE], throws: 'RFQ quote not found' },
};

describe('besides, client 1', () => {
  let clob: ClobClient;
  beforeAll(async () => {
    service = await sharedTestService();
    clob = clientOne(service, await newOfficialWallet(service));
  });

  test('has a case for every method of its quotes', () => {
    const quotes = clob.rfq.constructor as unknown as { readonly prototype: object };
    const internal = ['ensureL2Auth', 'getRequestOrderCreationPayload'];
    expect(methodNames(quotes)).toEqual([...Object.keys(QUOTES), ...internal].sort());
  });

  test.each(Object.entries(QUOTES))('%s', async (name, one) => {
    expect(await examine(clob.rfq, name, one)).toEqual([]);
  });

  test('throws the venue’s text, where it is asked to throw on errors', async () => {
    const { creds } = await newOfficialWallet(service);
    const strict = new ClobClient(
      ...([doorOf(service), 137, walletClientOf(generatePrivateKey()), creds] as const),
      ...([0, undefined, undefined, false, undefined, undefined, false, undefined, true] as const),
    );
    await expect(strict.getOpenOrders()).rejects.toThrow('Unauthorized/Invalid api key');
  });
});
