/**
 * The official clients of before, unmodified, at the doors of the desk and of the stand-alone exchange: `@polymarket/clob-client` 4.8.1,
 * which many programs still use, and the first `@polymarket/clob-client-v2`. Every public method is called; an answer that is an
 * error of the client, or an empty one where there is something, fails. What the newest of both promise in their typings is compared in
 * official-client-one.test.ts and official-client-two.test.ts.
 */
import { createRequire } from 'node:module';
import { ClobClient as FirstOfTwo } from 'clob-client-v2-first';
import { generatePrivateKey } from 'viem/accounts';
import { beforeAll, describe, expect, test } from 'vitest';
import { methodNames } from '../client-typings.ts';
import { fund, tradedMarket, WORLDS, type World } from '../examiner-worlds.ts';
import { walletClientOf } from '../official-clients.ts';

// biome-ignore lint/suspicious/noExplicitAny: methods are called by their names, which the last test compares with the classes
type Client = any;

/** Its own ethers, of version 5: it signs with nothing newer. */
const requireFour = createRequire(createRequire(import.meta.url).resolve('clob-client-4'));
const { ClobClient: Four } = requireFour('./index.js');
const { Wallet } = requireFour('ethers');

interface Examined {
  readonly name: string;
  readonly clientClass: { readonly prototype: object };
  make(host: string, key: `0x${string}`, creds?: object): Client;
}

const EXAMINED: readonly Examined[] = [
  {
    name: '@polymarket/clob-client 4.8.1',
    clientClass: Four,
    make: (host, key, creds) => new Four(host, 137, new Wallet(key), creds, 0, new Wallet(key).address),
  },
  {
    name: '@polymarket/clob-client-v2 1.0.0',
    clientClass: FirstOfTwo,
    make: (host, key, creds) =>
      new FirstOfTwo({ host, chain: 137, signer: walletClientOf(key), creds: creds as never }),
  },
];

const PRIVATE = 'a part of the client, which its other methods use';
const BUILDER = 'needs a builder’s keys, which the paper venue does not give';
const LEFT_OUT: Readonly<Record<string, string>> = {
  ...{ get: PRIVATE, post: PRIVATE, del: PRIVATE, canL1Auth: PRIVATE, canL2Auth: PRIVATE },
  ...{ throwIfError: PRIVATE, isBuilderOrder: PRIVATE, ensureBuilderFeeRateCached: PRIVATE },
  ...{ resolveVersion: PRIVATE, revokeBuilderApiKey: BUILDER, createBuilderApiKey: BUILDER },
  getFeeExponent: 'reads a cache that only a market order fills',
};

describe.each(EXAMINED)('$name', ({ name: which, clientClass, make }) => {
  const tried = new Set<string>();
  const methods = methodNames(clientClass);

  describe.each(WORLDS)('at %s', (_where, start) => {
    let world: World;
    let clob: Client;
    let spare: Client;
    let market: ReturnType<typeof tradedMarket>;
    let tokenID: string;
    const options = { tickSize: '0.01', negRisk: false };

    const newClient = async () => {
      const host = `${world.url}/paper/clob`;
      const key = generatePrivateKey();
      await fund(world, new Wallet(key).address);
      const creds = await make(host, key).createOrDeriveApiKey();
      return make(host, key, creds);
    };
    /** Calls a method, where this client has it. @throws for an answer that says an error */
    const use = async (name: string, ...args: unknown[]): Promise<Client> => {
      if (!methods.includes(name)) return undefined;
      tried.add(name);
      const answer = await clob[name](...args);
      if (answer?.error !== undefined) throw new Error(`${name}: ${JSON.stringify(answer)}`);
      return answer;
    };
    const has = (name: string): boolean => methods.includes(name);

    beforeAll(async () => {
      world = await start();
      market = tradedMarket(world);
      [tokenID] = market.tokenIds;
      clob = await newClient();
      spare = await newClient();
    });

    test('keys', async () => {
      for (const name of ['createOrDeriveApiKey', 'createApiKey', 'deriveApiKey', 'deleteApiKey'])
        tried.add(name);
      expect((await use('getApiKeys')).apiKeys).toEqual([expect.any(String)]);
      expect(await spare.deriveApiKey()).toMatchObject({ key: expect.any(String) });
      await spare.deleteApiKey();
      expect(await spare.createApiKey(1)).toMatchObject({ secret: expect.any(String) });
      if (!has('createReadonlyApiKey')) return;
      const { apiKey } = await use('createReadonlyApiKey');
      expect(await use('getReadonlyApiKeys')).toHaveLength(1);
      expect(await use('deleteReadonlyApiKey', apiKey)).toBe(true);
      expect(await use('getBuilderApiKeys')).toEqual([]);
      expect(await use('getClosedOnlyMode')).toEqual({ closed_only: false });
    });

    test('markets, books and prices', async () => {
      const { conditionId, bestAsk = 0, bestBid = 0 } = market;
      const [bid, ask] = [bestBid / 10_000, bestAsk / 10_000];
      const one = [{ token_id: tokenID, side: 'BUY' }];
      expect(await use('getOk')).toBe('OK');
      expect(Math.abs((await use('getServerTime')) - Date.now() / 1000)).toBeLessThan(60);
      for (const name of [
        'getMarkets',
        'getSimplifiedMarkets',
        'getSamplingMarkets',
        'getSamplingSimplifiedMarkets',
      ])
        expect((await use(name)).data.length, name).toBeGreaterThan(50);
      expect(await use('getMarket', conditionId)).toMatchObject({ condition_id: conditionId });
      if (has('getClobMarketInfo'))
        expect((await use('getClobMarketInfo', conditionId)).t[0].t).toBe(tokenID);
      const book = await use('getOrderBook', tokenID);
      expect([book.bids.at(-1).price, book.asks.at(-1).price].map(Number)).toEqual([bid, ask]);
      expect(await use('getOrderBookHash', book)).toBe(book.hash);
      expect(await use('getOrderBooks', one)).toHaveLength(1);
      expect(await use('getTickSize', tokenID)).toBe('0.01');
      expect(await use('_resolveTickSize', tokenID, '0.01')).toBe('0.01');
      expect(await use('getNegRisk', tokenID)).toBe(false);
      if (has('getFeeRateBps')) expect(await use('getFeeRateBps', tokenID)).toEqual(expect.any(Number));
      if (has('getVersion')) expect([1, 2]).toContain(await use('getVersion'));
      expect(Number((await use('getMidpoint', tokenID)).mid)).toBeCloseTo((bid + ask) / 2);
      expect(Number((await use('getMidpoints', one))[tokenID])).toBeCloseTo((bid + ask) / 2);
      expect(Number((await use('getPrice', tokenID, 'BUY')).price)).toBe(bid);
      expect(Number((await use('getPrices', one))[tokenID].BUY)).toBe(bid);
      expect(Number((await use('getSpread', tokenID)).spread)).toBeCloseTo(ask - bid);
      expect(Number((await use('getSpreads', one))[tokenID])).toBeCloseTo(ask - bid);
      expect(await use('getLastTradePrice', tokenID)).toMatchObject({ price: expect.any(String) });
      expect(await use('getLastTradesPrices', one)).toHaveLength(1);
      const history = await use('getPricesHistory', { market: tokenID, interval: '1d', fidelity: 1 });
      expect(history.history).toBeInstanceOf(Array);
      // Version 4 reads the offers from the worst on: its own market orders name a price that is too high.
      const reached = await use('calculateMarketPrice', tokenID, 'BUY', 1, 'FOK');
      expect(reached).toBe(clientClass === Four ? Number(book.asks[0].price) : ask);
      expect(await use('getMarketTradesEvents', conditionId)).toBeInstanceOf(Array);
    });

    test('orders rest, are read, and are canceled', async () => {
      const bid = (price: number) => ({ tokenID, side: 'BUY', price, size: 10 });
      const post = async (price: number): Promise<string> => {
        const signed = await use('createOrder', bid(price), options);
        const { success, orderID } = await use('postOrder', signed);
        expect(success).toBe(true);
        return orderID;
      };
      const orderID = await post(0.01);
      expect(await use('getOrder', orderID)).toMatchObject({ id: orderID, price: '0.01' });
      expect((await use('getOpenOrders')).map(({ id }: Client) => id)).toEqual([orderID]);
      expect(await use('isOrderScoring', { order_id: orderID })).toEqual({ scoring: false });
      expect(await use('areOrdersScoring', { orderIds: [orderID] })).toEqual({ [orderID]: false });
      expect(await use('cancelOrder', { orderID })).toMatchObject({ canceled: [orderID] });
      const second = await post(0.02);
      expect(await use('cancelOrders', [second])).toMatchObject({ canceled: [second] });
      const third = await post(0.03);
      const ofMarket = { market: market.conditionId, asset_id: tokenID };
      expect(await use('cancelMarketOrders', ofMarket)).toMatchObject({ canceled: [third] });
      if (has('postOrders')) {
        const two = await Promise.all([0.01, 0.02].map((price) => clob.createOrder(bid(price), options)));
        const posted = await use(
          'postOrders',
          two.map((order) => ({ order, orderType: 'GTC' })),
        );
        expect(posted).toMatchObject([{ success: true }, { success: true }]);
        await use('createAndPostOrder', bid(0.03), options);
        expect((await use('postHeartbeat', '')).heartbeat_id).toEqual(expect.any(String));
      } else await post(0.01);
      expect((await use('cancelAll')).canceled).toHaveLength(has('postOrders') ? 3 : 1);
      if (has('getPreMigrationOrders')) expect(await use('getPreMigrationOrders')).toEqual([]);
    });

    test('market orders are filled; balance and trades say so', async () => {
      const [make, more] = has('createMarketOrder')
        ? ['createMarketOrder', { side: 'BUY' }]
        : ['createMarketBuyOrder', {}];
      const signed = await use(make, { tokenID, amount: 10, ...more }, options);
      expect(await use('postOrder', signed, 'FOK')).toMatchObject({ success: true, status: 'matched' });
      if (has('createAndPostMarketOrder'))
        expect(
          await use('createAndPostMarketOrder', { tokenID, amount: 10, side: 'BUY' }, options),
        ).toMatchObject({ success: true });
      expect((await use('getTrades')).length).toBeGreaterThan(0);
      if (has('getTradesPaginated'))
        expect((await use('getTradesPaginated', {})).trades.length).toBeGreaterThan(0);
      const held = await use('getBalanceAllowance', { asset_type: 'CONDITIONAL', token_id: tokenID });
      expect(Number(held.balance)).toBeGreaterThan(0);
      await use('updateBalanceAllowance', { asset_type: 'COLLATERAL' });
      const sell = { tokenID, side: 'SELL', price: market.tickSize / 10_000, size: 5 };
      expect(await use('postOrder', await use('createOrder', sell, options))).toMatchObject({
        status: 'matched',
      });
    });

    test('what the paper venue does not have is an empty list', async () => {
      const day = '2026-11-22';
      expect(await use('getNotifications')).toEqual([]);
      await use('dropNotifications', { ids: ['1'] });
      expect(await use('getCurrentRewards')).toEqual([]);
      expect(await use('getRawRewardsForMarket', market.conditionId)).toEqual([]);
      expect(await use('getEarningsForUserForDay', day)).toEqual([]);
      expect(await use('getTotalEarningsForUserForDay', day)).toEqual([]);
      expect(await use('getUserEarningsAndMarketsConfig', day)).toEqual([]);
      expect(await use('getRewardPercentages')).toEqual({});
      if (has('getBuilderTrades'))
        expect((await use('getBuilderTrades', { builder_code: `0x${'11'.repeat(32)}` })).trades).toEqual([]);
    });
  });

  test('every public method is tried, or left out with a reason', () => {
    const open = methods.filter((name) => !name.startsWith('_') && !tried.has(name) && !(name in LEFT_OUT));
    expect(open, which).toEqual([]);
  });
});

test('nothing is left out that no client has', () => {
  const all = EXAMINED.flatMap(({ clientClass }) => methodNames(clientClass));
  expect(Object.keys(LEFT_OUT).filter((name) => !all.includes(name))).toEqual([]);
});
