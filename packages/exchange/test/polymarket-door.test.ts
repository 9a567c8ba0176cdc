/** The venue's official client, unmodified, connected to the door on loopback. */

import type { Sql } from '@bellwether/durable';
import {
  controlsWallet,
  deriveProxyWallet,
  deriveSafeWallet,
  exchangeDomain,
  exchangeDomains,
  l2Signature,
  nobleRecover,
  orderDigest,
  orderStructHash,
  parseAddress,
  recoverAddress,
  type SignatureType,
  toChecksumAddress,
} from '@bellwether/protocol';
import {
  type ApiKeyCreds,
  Chain,
  ClobClient,
  OrderType,
  Side,
  type SignedOrder,
} from '@polymarket/clob-client';
import { type FastifyInstance, fastify } from 'fastify';
import { createWalletClient, custom, hashTypedData } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { polygon } from 'viem/chains';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestDatabase } from '../../../test/postgres.ts';
import { EXCHANGE_KEYS_SCHEMA, polymarketDoor, VenueKeys } from '../src/doors/polymarket/index.ts';
import { FINE_NEG_RISK, fakeExchange, PLAIN, RESOLVED } from './fake-exchange.ts';

let sql: Sql;
let app: FastifyInstance;
let host: string;
let keys: VenueKeys;

beforeAll(async () => {
  sql = await openTestDatabase();
  await sql.unsafe(EXCHANGE_KEYS_SCHEMA);
  keys = new VenueKeys({ sql, secret: new Uint8Array(32).fill(7) });
  app = fastify();
  await app.register(
    async (base) => {
      await base.register(polymarketDoor, {
        prefix: '/paper/clob',
        exchange: fakeExchange,
        keys,
        recover: nobleRecover,
        chainId: 137,
        domains: exchangeDomains(),
        gtdMinLeadS: 180,
        limitsSigners: true,
        now: Date.now,
        orderVersion: 1,
        guard: null,
      });
    },
    { prefix: '/bw' },
  );
  host = `${await app.listen({ host: '127.0.0.1', port: 0 })}/bw/paper/clob`;
});

afterAll(async () => {
  await app?.close();
});

function newClient(type: 0 | 1 | 2 = 0, creds?: ApiKeyCreds, key = generatePrivateKey()) {
  const account = privateKeyToAccount(key);
  const eoa = parseAddress(account.address)!;
  const maker = type === 1 ? deriveProxyWallet(eoa) : type === 2 ? deriveSafeWallet(eoa) : eoa;
  const transport = custom({ request: () => Promise.reject(new Error('no chain here')) });
  const wallet = createWalletClient({ account, chain: polygon, transport });
  const client = new ClobClient(host, Chain.POLYGON, wallet, creds, type, toChecksumAddress(maker));
  return { client, key, eoa, maker };
}

describe('keys', () => {
  test('a fresh account creates its key, later derives the same, and lists it', async () => {
    const { client, key, eoa } = newClient();
    const created = await client.createOrDeriveApiKey();
    expect(created.key).toMatch(/^[0-9a-f-]{36}$/);
    expect(await newClient(0, undefined, key).client.createOrDeriveApiKey()).toEqual(created);
    expect(await client.deriveApiKey()).toEqual(created);
    const authenticated = newClient(0, created, key).client;
    expect(await authenticated.getApiKeys()).toEqual({ apiKeys: [created.key] });
    const all = { apiKey: created.key, secret: created.secret, passphrase: created.passphrase };
    expect(await keys.verify(all)).toEqual({ address: eoa });
  });

  test('a second nonce is a second key; a deleted key stays invalid', async () => {
    const { client, key } = newClient();
    const first = await client.createApiKey(0);
    const second = await client.createApiKey(5);
    expect(second.key).not.toBe(first.key);
    const withFirst = newClient(0, first, key).client;
    const withSecond = newClient(0, second, key).client;
    expect(await withSecond.getApiKeys()).toEqual({ apiKeys: [first.key, second.key] });
    expect(await withFirst.deleteApiKey()).toBe('OK');
    expect(await withFirst.getApiKeys()).toMatchObject({
      error: 'Unauthorized/Invalid api key',
      status: 401,
    });
    expect(await withSecond.getApiKeys()).toEqual({ apiKeys: [second.key] });
    expect((await client.deriveApiKey(0)).key).toBeUndefined();
    expect((await client.createApiKey(0)).key).toBeUndefined();
  });

  test('wrong secret, passphrase or account are refused', async () => {
    const { client, key } = newClient();
    const creds = await client.createApiKey();
    const stranger = newClient().key;
    for (const [changed, signer] of [
      [{ ...creds, secret: `${creds.secret.slice(0, 5)}AAAA${creds.secret.slice(9)}` }, key],
      [{ ...creds, passphrase: creds.passphrase.replace(/.$/, (last) => (last === '0' ? '1' : '0')) }, key],
      [{ ...creds, key: '00000000-0000-8000-8000-000000000000' }, key],
      [creds, stranger],
    ] as const)
      expect(await newClient(0, changed, signer).client.getApiKeys()).toMatchObject({ status: 401 });
  });

  test('L1 refusals in the words of the venue', async () => {
    const headers = {
      poly_address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      poly_timestamp: '1700000000',
      poly_nonce: '0',
      poly_signature:
        '0x659ed4b28ae28e0f038fdf0023c00863c9559caacb9ebc83f44eea87059a099a36f1e1dee110e7faa1c4f65d17489b2da1333ebef78bbe2116d81207b975052d1c',
    };
    const now = String(Math.floor(Date.now() / 1000));
    for (const [sent, header] of [
      [{}, 'POLY_ADDRESS'],
      [headers, 'POLY_TIMESTAMP'],
      [{ ...headers, poly_timestamp: now, poly_nonce: '1'.repeat(20) }, 'POLY_NONCE'],
      [{ ...headers, poly_timestamp: now }, 'POLY_SIGNATURE'],
      [{ ...headers, poly_timestamp: now, poly_signature: '0x1234' }, 'POLY_SIGNATURE'],
    ] as const) {
      const answer = await app.inject({
        method: 'POST',
        url: '/bw/paper/clob/auth/api-key',
        headers: sent,
      });
      expect(answer.statusCode).toBe(401);
      expect(answer.json()).toMatchObject({ error: 'Invalid L1 Request headers', header });
      expect(answer.json().message).toContain(header);
    }
  });

  test('the typed data of a refusal, signed as it is, is accepted', async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const ask = (signature: string, timestamp: string) =>
      app.inject({
        method: 'POST',
        url: '/bw/paper/clob/auth/api-key',
        headers: { poly_address: account.address, poly_timestamp: timestamp, poly_signature: signature },
      });
    const refused = (await ask('0x00', String(Math.floor(Date.now() / 1000)))).json();
    expect(hashTypedData(refused.typedData)).toBe(refused.digest);
    const { timestamp } = refused.typedData.message;
    const accepted = await ask(await account.signTypedData(refused.typedData), timestamp);
    expect([accepted.statusCode, accepted.json().apiKey]).toEqual([200, expect.any(String)]);
  });

  test('a request whose signature covers the whole path is as good as one over the path below the base', async () => {
    const { client, eoa } = newClient();
    const { key, secret, passphrase } = await client.createApiKey();
    const timestamp = String(Math.floor(Date.now() / 1000));
    const ask = (signed: string) =>
      app.inject({
        url: '/bw/paper/clob/auth/api-keys?any=1',
        headers: {
          poly_address: eoa,
          poly_api_key: key,
          poly_passphrase: passphrase,
          poly_timestamp: timestamp,
          poly_signature: l2Signature(secret, { timestamp, method: 'GET', path: signed, body: '' }),
        },
      });
    for (const [path, status] of [
      ['/auth/api-keys', 200],
      ['/bw/paper/clob/auth/api-keys', 200],
      ['/paper/clob/auth/api-keys', 401],
      ['/bw/paper/clob/auth/api-key', 401],
    ] as const)
      expect([path, (await ask(path)).statusCode]).toEqual([path, status]);
  });

  test('what was never created cannot be derived', async () => {
    const raw = newClient();
    expect(await raw.client.deriveApiKey()).toEqual({
      key: undefined,
      secret: undefined,
      passphrase: undefined,
    });
  });
});

describe('orders of the official client', () => {
  const domains = exchangeDomains();

  function expectValid(order: SignedOrder, negRisk: boolean): void {
    const signer = parseAddress(order.signer)!;
    const maker = parseAddress(order.maker)!;
    const type = Number(order.signatureType) as SignatureType;
    const structHash = orderStructHash({
      salt: BigInt(order.salt),
      maker,
      signer,
      taker: parseAddress(order.taker)!,
      tokenId: BigInt(order.tokenId),
      makerAmount: BigInt(order.makerAmount),
      takerAmount: BigInt(order.takerAmount),
      expiration: BigInt(order.expiration),
      nonce: BigInt(order.nonce),
      feeRateBps: BigInt(order.feeRateBps),
      // The client's type says "BUY"; what it makes is 0.
      side: Number(order.side) as 0 | 1,
      signatureType: type,
    });
    const digest = orderDigest(exchangeDomain(domains, 1, negRisk).separator, structHash);
    expect(recoverAddress(nobleRecover, digest, order.signature)).toEqual({ ok: true, address: signer });
    expect(controlsWallet(signer, type, maker)).toBe(true);
  }

  test.each([0, 1, 2] as const)('type %i: limit and market orders, plain and negative risk', async (type) => {
    const { client } = newClient(type);
    for (const market of [PLAIN, FINE_NEG_RISK]) {
      const tokenID = market.tokenIds[0];
      const limit = await client.createOrder({ tokenID, price: 0.47, size: 10, side: Side.BUY });
      expectValid(limit, market.negRisk);
      expect(limit.feeRateBps).toBe(market.feeRate > 0n ? '1000' : '0');
      const buy = await client.createMarketOrder({ tokenID, amount: 100, side: Side.BUY });
      expectValid(buy, market.negRisk);
      // 80 × 0.49 = 39.2, so the budget reaches the level at 0.50.
      expect(buy.makerAmount).toBe('100000000');
      expect(buy.takerAmount).toBe('200000000');
      const sell = await client.createMarketOrder({
        tokenID: market.tokenIds[1],
        amount: 50,
        side: Side.SELL,
        orderType: OrderType.FOK,
      });
      expectValid(sell, market.negRisk);
      expect(sell.takerAmount).toBe('25500000');
    }
  });
});

describe('market reads', () => {
  const yes = PLAIN.tokenIds[0];
  const no = PLAIN.tokenIds[1];

  test('ok, time and version', async () => {
    const { client } = newClient();
    expect(await client.getOk()).toBe('OK');
    expect(Math.abs((await client.getServerTime()) - Date.now() / 1000)).toBeLessThan(5);
    expect((await app.inject('/bw/paper/clob/version')).json()).toEqual({ version: 1 });
    const unknown = await app.inject('/bw/paper/clob/nothing');
    expect([unknown.statusCode, unknown.json()]).toEqual([404, { error: 'not found' }]);
  });

  test('the book has its best last, mirrors, and carries the hash that the client computes', async () => {
    const { client } = newClient();
    const book = await client.getOrderBook(yes);
    expect(book.bids).toEqual([
      { price: '0.46', size: '250.5' },
      { price: '0.47', size: '100' },
    ]);
    expect(book.asks.at(-1)).toEqual({ price: '0.49', size: '80' });
    expect(book).toMatchObject({
      market: PLAIN.conditionId,
      asset_id: yes,
      tick_size: '0.01',
      min_order_size: '5',
      neg_risk: false,
      last_trade_price: '0.48',
    });
    expect(await client.getOrderBookHash({ ...book })).toBe(book.hash);
    const mirror = await client.getOrderBook(no);
    expect(mirror.bids.at(-1)).toEqual({ price: '0.51', size: '80' });
    expect(mirror.asks.at(-1)).toEqual({ price: '0.53', size: '100' });
    expect(mirror.last_trade_price).toBe('0.48');
    const several = await client.getOrderBooks([
      { token_id: no, side: Side.BUY },
      { token_id: '424242', side: Side.BUY },
      { token_id: RESOLVED.tokenIds[0], side: Side.BUY },
    ]);
    expect(several).toEqual([mirror]);
    const same = Array.from({ length: 500 }, () => ({ token_id: no, side: Side.BUY }));
    expect(await client.getOrderBooks(same)).toEqual([mirror]);
  });

  test('ticks, fees and prices', async () => {
    const { client } = newClient();
    expect(await client.getTickSize(FINE_NEG_RISK.tokenIds[0])).toBe('0.001');
    expect(await client.getNegRisk(FINE_NEG_RISK.tokenIds[1])).toBe(true);
    expect(await client.getFeeRateBps(yes)).toBe(1000);
    expect(await client.getMidpoint(yes)).toEqual({ mid: '0.48' });
    expect(await client.getSpread(yes)).toEqual({ spread: '0.02' });
    expect(await client.getPrice(yes, Side.BUY)).toEqual({ price: '0.47' });
    expect(await client.getPrice(yes, Side.SELL)).toEqual({ price: '0.49' });
    expect(await client.getLastTradePrice(no)).toEqual({ price: '0.52', side: 'BUY' });
    expect(await client.getLastTradePrice(yes)).toEqual({ price: '0.48', side: 'SELL' });
  });

  test('market records, open and resolved', async () => {
    const { client } = newClient();
    expect(await client.getMarket(PLAIN.conditionId)).toMatchObject({
      condition_id: PLAIN.conditionId,
      closed: false,
      accepting_orders: true,
      minimum_order_size: 5,
      minimum_tick_size: 0.01,
      tokens: [
        { token_id: yes, outcome: 'Yes', price: 0.48, winner: false },
        { token_id: no, outcome: 'No', price: 0.52, winner: false },
      ],
    });
    expect((await client.getMarket(RESOLVED.conditionId)).tokens).toMatchObject([
      { outcome: 'Yes', price: 0, winner: false },
      { outcome: 'No', price: 1, winner: true },
    ]);
  });

  test('a market by its token, and in short', async () => {
    const get = async (path: string) => (await app.inject(`/bw/paper/clob${path}`)).json();
    expect(await get(`/markets-by-token/${no}`)).toEqual({
      condition_id: PLAIN.conditionId,
      primary_token_id: yes,
      secondary_token_id: no,
    });
    expect(await get(`/clob-markets/${PLAIN.conditionId.toUpperCase().replace('0X', '0x')}`)).toMatchObject({
      c: PLAIN.conditionId,
      t: [
        { t: yes, o: 'Yes' },
        { t: no, o: 'No' },
      ],
      mts: 0.01,
      mos: 5,
      fd: { r: 0.04, e: 1, to: true },
    });
    const free = await get(`/clob-markets/${FINE_NEG_RISK.conditionId}`);
    expect(free).toMatchObject({ mts: 0.001, nr: true });
    expect(free).not.toHaveProperty('fd');
    expect(await get(`/clob-markets/${PLAIN.conditionId}`)).not.toHaveProperty('nr');
  });

  test.each(['tick-size', 'neg-risk', 'fee-rate'])('%s takes its token in the path, too', async (path) => {
    const get = async (rest: string) => (await app.inject(`/bw/paper/clob/${path}${rest}`)).json();
    for (const { tokenIds } of [PLAIN, FINE_NEG_RISK])
      expect(await get(`/${tokenIds[1]}`)).toEqual(await get(`?token_id=${tokenIds[1]}`));
  });

  test.each([
    ['/markets-by-token/0x1', 400, 'Invalid token id'],
    ['/markets-by-token/424242', 404, 'market not found'],
    [`/clob-markets/0x${'9'.repeat(64)}`, 404, 'market not found'],
    ['/markets/%00', 400, 'The URL holds a NUL character (%00).'],
    ['/book?token_id=1%00', 400, 'The URL holds a NUL character (%00).'],
    ['/book', 400, 'Invalid token id'],
    ['/book?token_id=0x1', 400, 'Invalid token id'],
    ['/book?token_id=1&token_id=2', 400, 'Invalid token id'],
    ['/book?token_id=424242', 404, 'No orderbook exists for the requested token id'],
    [`/midpoint?token_id=${RESOLVED.tokenIds[0]}`, 404, 'No orderbook exists for the requested token id'],
    ['/fee-rate?token_id=424242', 404, 'fee rate not found for market'],
    ['/tick-size?token_id=424242', 404, 'market not found'],
    ['/fee-rate/424242', 404, 'fee rate not found for market'],
    ['/neg-risk/0x1', 400, 'Invalid token id'],
    [`/price?token_id=${PLAIN.tokenIds[0]}&side=HOLD`, 400, 'Invalid side'],
    [`/markets/0x${'9'.repeat(64)}`, 404, 'market not found'],
  ])('GET %s is %i %s', async (path, status, error) => {
    const answer = await app.inject(`/bw/paper/clob${path}`);
    expect([answer.statusCode, answer.json()]).toEqual([status, { error }]);
  });

  test.each([
    ['{', 'Invalid payload'],
    ['', 'Invalid payload'],
    ['{"token_id":"1"}', 'Invalid payload'],
    ['[{"token_id":1}]', 'Invalid payload'],
    ['[null]', 'Invalid payload'],
    [JSON.stringify(Array(501).fill({ token_id: '1' })), 'Payload exceeds the limit'],
  ])('POST /books %s is refused', async (payload, error) => {
    const answer = await app.inject({
      method: 'POST',
      url: '/bw/paper/clob/books',
      payload,
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.statusCode, answer.json()]).toEqual([400, { error }]);
  });
});
