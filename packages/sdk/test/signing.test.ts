import { createPublicKey, verify } from 'node:crypto';
import { inspect } from 'node:util';
import {
  bytesToHex,
  exchangeDomain,
  exchangeDomains,
  hexToBytes,
  nobleRecover,
  ORDER_TYPE,
  orderDigest,
  orderStructHash,
  POLYMARKET_ORDER_TYPE,
  parseBase58,
  parseSignature,
  parseWrappedSignature,
  polymarketOrderStructHash,
  recoverAddress,
  typedDataSignDigest,
} from '@bellwether/protocol';
import {
  BellwetherUsageError,
  buildLimitOrder,
  type IdentityLink,
  InvalidPrivateKey,
  identityLink,
  orderIdOf,
  Signer,
  SolanaSigner,
} from '@bellwether/sdk';
import { privateKeyToAccount } from 'viem/accounts';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  L1_VECTORS,
  ORDER_VECTORS,
  TEST_DEPOSIT,
  TEST_EOA,
  TEST_KEY,
  TEST_PROXY,
  TEST_SAFE,
} from '../../protocol/test/vectors.ts';
import { signOrder } from '../src/build-order.ts';
import { MARKET } from './market.ts';

const signer = Signer.fromPrivateKey(TEST_KEY, { use: 'paper' });

test('the key derives its address and its wallets', () => {
  expect(signer.address).toBe(TEST_EOA);
  expect([0, 1, 2, 3].map((type) => signer.wallet(type as 0 | 1 | 2 | 3))).toEqual([
    TEST_EOA,
    TEST_PROXY,
    TEST_SAFE,
    TEST_DEPOSIT,
  ]);
  expect(signer.wallet(3, 'uups')).not.toBe(TEST_DEPOSIT);
  expect(Signer.generate().address).not.toBe(Signer.generate().address);
  expect(Signer.fromPrivateKey(TEST_KEY.slice(2)).address).toBe(TEST_EOA);
  expect(Signer.fromAccount(privateKeyToAccount(TEST_KEY)).address).toBe(TEST_EOA);
});

test.each(L1_VECTORS)('L1 vector on chain $chainId', async ({ chainId, timestamp, nonce, signature }) => {
  const headers = await signer.clobAuth({ chainId, timestampS: Number(timestamp), nonce: Number(nonce) });
  expect(headers).toEqual({
    POLY_ADDRESS: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    POLY_SIGNATURE: signature,
    POLY_TIMESTAMP: timestamp,
    POLY_NONCE: String(nonce),
  });
});

describe('order vectors', () => {
  // This package always signs a fee rate of 0, so the vector with another rate is skipped.
  const mine = ORDER_VECTORS.filter((vector) => vector.fields.feeRateBps === 0n);
  test.each(mine)('$name', async ({ domain, fields, hash, signature }) => {
    const version = domain.startsWith('v1') ? 1 : 2;
    const negRisk = domain.endsWith('NegRisk');
    const { tokenId, makerAmount, takerAmount, expiration, signatureType } = fields;
    const signed = await signOrder(
      signer,
      { tokenId, side: 'BUY', makerAmount, takerAmount, expiration, negRisk },
      { version, signatureType, salt: Number(fields.salt) },
    );
    expect(signed.signature).toBe(signature);
    expect(signed.maker).toBe(fields.maker);
    const trade = {
      marketConditionId: 'x',
      marketQuestion: 'x',
      outcome: 'YES',
      orderSize: 50,
      price: 0.5,
      orderVersion: version,
      negRisk,
      order: signed,
    } as const;
    expect(orderIdOf(trade)).toBe(hash);
  });
});

const limit = { signer, market: MARKET, outcome: 'YES', side: 'BUY', price: '0.5', size: 10 } as const;

describe('profiles and wallets', () => {
  const domains = exchangeDomains();

  test.each([
    [1, 0],
    [1, 1],
    [1, 2],
    [1, 3],
    [2, 0],
    [2, 1],
    [2, 2],
    [2, 3],
  ] as const)(
    'version %i, type %i: the 12-field struct recovers to the key',
    async (version, signatureType) => {
      const trade = await buildLimitOrder({ ...limit, version, signatureType });
      const { order } = trade;
      const fields = {
        salt: BigInt(order.salt),
        maker: signer.wallet(signatureType),
        signer: signer.address,
        taker: '0x0000000000000000000000000000000000000000' as never,
        tokenId: BigInt(order.tokenId),
        makerAmount: 5_000_000n,
        takerAmount: 10_000_000n,
        expiration: 0n,
        nonce: 0n,
        feeRateBps: 0n,
        side: 0 as const,
        signatureType,
      };
      const digest = orderDigest(
        exchangeDomain(domains, version, MARKET.negRisk).separator,
        orderStructHash(fields),
      );
      expect(recoverAddress(nobleRecover, digest, order.signature)).toEqual({ ok: true, address: TEST_EOA });
      expect(parseSignature(order.signature).ok).toBe(true);
      expect(orderIdOf(trade)).toBe(bytesToHex(digest));
      expect(order).toMatchObject({ signatureType, maker: fields.maker, signer: TEST_EOA, side: 'BUY' });
      for (const field of ['timestamp', 'metadata', 'builder']) expect(order).not.toHaveProperty(field);
      expect(trade.orderVersion).toBe(version);
    },
  );

  test('the `polymarket` profile signs 11 fields and sends exactly those', async () => {
    const trade = await buildLimitOrder({ ...limit, profile: 'polymarket' });
    const { order } = trade;
    expect(Math.abs(Number(order.timestamp) - Date.now())).toBeLessThan(60_000);
    const digest = orderDigest(
      exchangeDomain(domains, 2, false).separator,
      polymarketOrderStructHash({
        salt: BigInt(order.salt),
        maker: signer.address,
        signer: signer.address,
        tokenId: BigInt(order.tokenId),
        makerAmount: 5_000_000n,
        takerAmount: 10_000_000n,
        side: 0,
        signatureType: 0,
        timestamp: BigInt(order.timestamp!),
        metadata: hexToBytes(order.metadata!),
        builder: hexToBytes(order.builder!),
      }),
    );
    expect(recoverAddress(nobleRecover, digest, order.signature)).toEqual({ ok: true, address: TEST_EOA });
    expect(orderIdOf(trade)).toBe(bytesToHex(digest));
  });

  test.each([
    ['polymarket', {}, POLYMARKET_ORDER_TYPE],
    ['interface', { wrapped: true }, ORDER_TYPE],
  ] as const)('a deposit wallet signs wrapped in the %s profile', async (profile, more, orderType) => {
    const trade = await buildLimitOrder({ ...limit, profile, signatureType: 3, ...more });
    expect(trade.order).toMatchObject({ maker: TEST_DEPOSIT, signer: TEST_DEPOSIT });
    const parts = parseWrappedSignature(trade.order.signature);
    if (!parts.ok) throw new Error(parts.reason);
    expect(parts.orderType).toBe(orderType);
    const digest = typedDataSignDigest({ ...parts, wallet: TEST_DEPOSIT, chainId: 137 });
    expect(recoverAddress(nobleRecover, digest, parts.inner)).toEqual({ ok: true, address: TEST_EOA });
    expect(orderIdOf(trade)).toBe(bytesToHex(orderDigest(parts.separator, parts.contentsHash)));
  });
});

describe('the private key never leaks', () => {
  const secret = TEST_KEY.slice(2);

  test('not when the signer is printed, stringified or enumerated', async () => {
    const trade = await buildLimitOrder(limit);
    for (const shown of [
      inspect(signer, { depth: 20, showHidden: true, getters: true }),
      inspect({ deep: [signer] }, { depth: 20, showHidden: true }),
      JSON.stringify(signer),
      JSON.stringify({ signer }),
      String(signer),
      Object.entries(signer).join(),
      JSON.stringify(Object.getOwnPropertyDescriptors(signer)),
      inspect(trade, { depth: 20 }),
    ])
      expect(shown.toLowerCase()).not.toContain(secret);
    expect(inspect(signer)).toBe(`Signer(${TEST_EOA})`);
    expect(JSON.parse(JSON.stringify(signer))).toEqual({ address: TEST_EOA });
  });

  test.each([
    ['too short', TEST_KEY.slice(0, -1)],
    ['too long', `${TEST_KEY}0`],
    ['no hex', TEST_KEY.replace('ac09', 'zz09')],
    ['zero', `0x${'0'.repeat(64)}`],
    ['beyond the order', `0x${'f'.repeat(64)}`],
    ['empty', ''],
  ])('not in the error for a key that is %s', (_, key) => {
    let caught: unknown;
    try {
      Signer.fromPrivateKey(key);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(InvalidPrivateKey);
    const shown = inspect(caught, { depth: 20, showHidden: true }) + (caught as Error).stack;
    if (key.length > 10) expect(shown).not.toContain(key.slice(2, 20));
  });
});

describe('the link at which a person proves their identity to DFlow', () => {
  const SECRET = new Uint8Array(32).fill(5);
  const AT = 1_767_225_600_123;
  /** The prefix of an Ed25519 key in SPKI. */
  const SPKI = Buffer.from('302a300506032b6570032100', 'hex');
  const redirectUri = 'https://agent.example/back?from=proof&x=1';
  const solana = SolanaSigner.fromSecretKey(SECRET, { use: 'live' });
  const linkOf = (link: Partial<IdentityLink> = {}) =>
    new URL(identityLink({ signer: solana, redirectUri, ...link }));
  afterEach(() => vi.useRealTimers());

  test('is at its host, with the four parameters, and its text alone is signed', () => {
    vi.useFakeTimers({ now: AT });
    const { origin, pathname, searchParams } = linkOf();
    expect([origin, pathname]).toEqual(['https://dflow.net', '/proof']);
    const { signature, ...rest } = Object.fromEntries(searchParams);
    expect(rest).toEqual({ wallet: solana.address, timestamp: String(AT), redirect_uri: redirectUri });
    const key = createPublicKey({
      key: Buffer.concat([SPKI, parseBase58(solana.address)!]),
      format: 'der',
      type: 'spki',
    });
    const isSigned = (text: string) =>
      verify(null, Buffer.from(text), key, parseBase58(signature as string)!);
    expect(isSigned(`Proof KYC verification: ${AT}`)).toBe(true);
    expect(isSigned(`Proof KYC verification: ${AT + 1}`)).toBe(false);
  });

  test('of a key for paper is the sandbox’s at the named desk; of any other key no desk changes it', () => {
    const paper = SolanaSigner.fromSecretKey(SECRET, { use: 'paper' });
    const paperDesk = 'http://127.0.0.1:8080/';
    expect(linkOf({ signer: paper, paperDesk }).href).toMatch(
      /^http:\/\/127\.0\.0\.1:8080\/paper\/dflow\/trade\/proof\?wallet=/,
    );
    for (const signer of [solana, SolanaSigner.fromSecretKey(SECRET)])
      expect(linkOf({ signer, paperDesk }).host).toBe('dflow.net');
    expect(() => linkOf({ signer: paper })).toThrow(
      /identityLink needs paperDesk: .*paper money needs no real identity/,
    );
  });

  test.each([
    'http://agent.example/',
    'javascript:alert(1)',
    'agent.example/back',
    'https://user:word@agent.example/',
    'myapp://back',
  ])('does not lead back to %s', (wrong) => {
    expect(() => linkOf({ redirectUri: wrong })).toThrow(BellwetherUsageError);
  });

  test('leads back into an extension', () => {
    const back = 'chrome-extension://abcdef/back.html';
    expect(linkOf({ redirectUri: back }).searchParams.get('redirect_uri')).toBe(back);
  });
});
