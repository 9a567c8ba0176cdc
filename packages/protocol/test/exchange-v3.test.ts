/** Orders for ExchangeV3: the reference's vectors, a digest that the deployed contract gave, the venue's own client, and what is refused. */
import { randomBytes } from 'node:crypto';
import {
  asAddress,
  bytesToHex,
  candidateOrderIds,
  exchangeDomain,
  exchangeDomains,
  hexToBytes,
  nobleRecover,
  type OrderExtras,
  type OrderFields,
  orderDigest,
  orderStructHash,
  POLYMARKET_ORDER_TYPE,
  polymarketOrderStructHash,
  type SentOrder,
  type SignatureType,
  structHash,
  typedDataSignDigest,
  verifyOrder,
  walletKindsOf,
  wrapDepositSignature,
  ZERO_ADDRESS,
} from '@bellwether/protocol';
import { ClobClient, Side } from '@polymarket/clob-client-v2';
import ccxt from 'ccxt';
import { createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { polygon } from 'viem/chains';
import { describe, expect, test } from 'vitest';
import { signDigest } from '../src/accounts.ts';
import { loadNativeRecover } from './native-recover.ts';
import { TEST_EOA, TEST_KEY, testKeyBytes, V3_SEPARATOR } from './vectors.ts';

const POSITION = 663574927012476832975694178961957910328055987427402067619466963999000625152n;
const domains = exchangeDomains();
const V3 = exchangeDomain(domains, 3, false);
const PROFILES = ['interface', 'polymarket'] as const;
const recover = loadNativeRecover();
const wallets = walletKindsOf(TEST_EOA);
const makers = [wallets.eoa, wallets.proxy, wallets.safe, wallets.deposit.beacon] as const;
const EXTRAS: OrderExtras = {
  timestamp: 1_780_449_126_930n,
  metadata: new Uint8Array(32),
  builder: new Uint8Array(32),
};
const BUY = { tokenId: POSITION, makerAmount: 5_200_000n, takerAmount: 10_000_000n, side: 0 } as const;
const SELL = { tokenId: POSITION + 1n, makerAmount: 10_000_000n, takerAmount: 4_700_000n, side: 1 } as const;

const orderOf = (type: SignatureType, terms: typeof BUY | typeof SELL, isWrapped = false): OrderFields => ({
  ...{ salt: 479_249_096_354n, taker: ZERO_ADDRESS, expiration: 0n, nonce: 0n, feeRateBps: 0n },
  ...terms,
  ...{ maker: makers[type], signer: isWrapped ? makers[type] : TEST_EOA, signatureType: type },
});

const VECTORS: readonly [string, OrderFields, digest: string, signature: string][] = [
  [
    '0 BUY',
    orderOf(0, BUY),
    '0x011b6e55b7e6fd7f37d020b1062f9e152c0ea5c33652590a6a2594a4f7addc0c',
    '0xd6fbe449ebf2bfe98b4f03fb337c46458cd850de61300e224f5e8c217fbbe6f10ba96710121c144c79c4d69c44cdec2e9c8fec4b5f29a6a8ae1e9d31861eca3b1c',
  ],
  [
    '0 SELL',
    orderOf(0, SELL),
    '0x8910b376cbe7f2d7bdaaf42bbb0f1e9806fb2af81446419993f0e77dc92761a5',
    '0xe6eca263fad74212d749bc65d558c6be00cde90f18214cc9eea344a162e14ad209fd6c0926bcd3504bc470a83419fd1d6ef2f892ac9b6cdcd16acdb26e97bc361b',
  ],
  [
    '1 BUY',
    orderOf(1, BUY),
    '0x90bfdfaaeeb830797e6dcfb8e44143b317e57ba7f5cae8ffdb24a05de91d8c53',
    '0x5afe557db699a7c16908a4554084e5c4e2697a0026e8b017b4356d91e973d0b53f7b7a3f880b06f809ec108d30751d168bb42b3bb7087c81e489c9b0e97d3f0f1b',
  ],
  [
    '2 SELL',
    orderOf(2, SELL),
    '0xa63a23992b4ec0a9b5f8736403ddf8a349e82ed030956f6eef9ff489f1c3db58',
    '0xc38f169a76945135431a6a11dbb12381874a6a949d0733f9a92a75ae0ba70f40530502949371f361b64b919384b6b470bfed012352cb8bcbee7693e5b2c444281b',
  ],
];
const WRAPPED = {
  struct: '0x4d881fdcf6db3c08ef33585e217709490e3c26cd4d653123c0b530eff9f2c32b',
  digest: '0xc5de839cd614502c7ae60a7f534bc39e6febc83ce03b1fc4a988d1177e8fc3d9',
  signed: '0x1aee379c722a290dfc73bda653e7c391885772935421a9c44ca2d393d43f73af',
  inner:
    '0xd5b5da9069e4fb532243a63b43ebee42d26863827e8468f09bf60a370aabcdc00b9dead5ff6b8b0e865b84ddef24d1e3cd40b9d1440045af1f3b89506d7a1ed21b',
  bytes: 317,
};

const sent = (fields: OrderFields, signature: string, over: Partial<SentOrder> = {}): SentOrder => ({
  ...{ fields, extras: EXTRAS, signature, version: null },
  ...over,
});
const rulesOf = (profile: (typeof PROFILES)[number]) => ({ domains, chainId: 137, profile, recover });
const sign = (digest: Uint8Array): string => bytesToHex(signDigest(digest, testKeyBytes()));

test('one contract for all markets of Protocol V2', () => {
  expect(bytesToHex(V3.separator)).toBe(V3_SEPARATOR);
  expect(exchangeDomain(domains, 3, true)).toBe(V3);
  expect(V3.negRisk).toBeNull();
});

test.each(VECTORS)('the vector of type %s', (_name, fields, digest, signature) => {
  for (const profile of PROFILES) {
    const rules = rulesOf(profile);
    expect(bytesToHex(orderDigest(V3.separator, structHash(sent(fields, ''), 3, profile)!))).toBe(digest);
    expect(sign(hexToBytes(digest))).toBe(signature);
    expect(candidateOrderIds(sent(fields, signature), rules)).toEqual([digest]);
    for (const negRisk of [false, true])
      for (const version of [null, 2] as const)
        expect(verifyOrder(sent(fields, signature, { version }), negRisk, rules)).toEqual({
          ...{ ok: true, orderId: digest, version: 2, exchangeVersion: 3, eoa: TEST_EOA },
        });
  }
});

test('the vector of type 3, wrapped', () => {
  const fields = orderOf(3, BUY, true);
  const contentsHash = polymarketOrderStructHash({ ...fields, ...EXTRAS });
  expect(bytesToHex(contentsHash)).toBe(WRAPPED.struct);
  expect(bytesToHex(orderDigest(V3.separator, contentsHash))).toBe(WRAPPED.digest);
  const parts = { separator: V3.separator, contentsHash, orderType: POLYMARKET_ORDER_TYPE };
  const signed = typedDataSignDigest({ ...parts, wallet: fields.maker, chainId: 137 });
  expect([bytesToHex(signed), sign(signed)]).toEqual([WRAPPED.signed, WRAPPED.inner]);
  const signature = wrapDepositSignature({ ...parts, inner: hexToBytes(WRAPPED.inner) });
  expect(hexToBytes(signature)).toHaveLength(WRAPPED.bytes);
  for (const profile of PROFILES)
    expect(verifyOrder(sent(fields, signature), false, rulesOf(profile))).toEqual({
      ...{ ok: true, orderId: WRAPPED.digest, version: 2, exchangeVersion: 3, eoa: TEST_EOA },
    });
});

test('the digest that the deployed contract gave', () => {
  const struct = polymarketOrderStructHash({
    ...{ salt: 1n, maker: ZERO_ADDRESS, signer: ZERO_ADDRESS, tokenId: 1n },
    ...{ makerAmount: 1_000_000n, takerAmount: 2_000_000n, side: 0, signatureType: 3 },
    ...{ ...EXTRAS, timestamp: 1_791_220_000n },
  });
  expect(bytesToHex(orderDigest(V3.separator, struct))).toBe(
    '0x529d440652102e5d9aea11536d90c0a43148fc1dc7e80c525de83cd0cfe14040',
  );
});

/** ccxt's prediction class, set to the exchange of Protocol V2, as its options allow. */
function ccxtSigner() {
  // biome-ignore lint/suspicious/noExplicitAny: ccxt types its prediction classes as any
  const client = new (ccxt as any).prediction.polymarket({ privateKey: TEST_KEY, walletAddress: TEST_EOA });
  return (order: Readonly<Record<string, unknown>>, type: SignatureType): string =>
    client.signClobOrder(order, V3.verifyingContract, '3', type);
}

test('the venue’s client and ccxt agree on 1,000 random orders of all types', async () => {
  const client = (type: SignatureType) =>
    new ClobClient({
      ...{ host: 'http://127.0.0.1:1', chain: 137, signatureType: type, funderAddress: makers[type] },
      signer: createWalletClient({
        account: privateKeyToAccount(TEST_KEY),
        chain: polygon,
        transport: http('http://127.0.0.1:1'),
      }),
    });
  const clients = ([0, 1, 2, 3] as const).map(client);
  const byCcxt = ccxtSigner();
  const random = (below: number): number => randomBytes(6).readUIntBE(0, 6) % below;
  for (let nth = 0; nth < 1_000; nth += 1) {
    const type = (nth % 4) as SignatureType;
    const isExclusive = random(2) === 1;
    const hash = BigInt(bytesToHex(randomBytes(16))) << 120n;
    const head = isExclusive ? (2n << 248n) | (5n << 104n) | (BigInt(random(6)) << 8n) : 1n << 248n;
    const signed = await clients[type]!.createExchangeV3OrderFromAmounts({
      tokenID: String(head | hash | BigInt(random(2))),
      side: random(2) === 0 ? Side.BUY : Side.SELL,
      makerAmount: String(1 + random(2 ** 47)),
      takerAmount: String(1 + random(2 ** 47)),
      metadata: bytesToHex(randomBytes(32)),
      builderCode: bytesToHex(randomBytes(32)),
    });
    const fields: OrderFields = {
      ...{ taker: ZERO_ADDRESS, expiration: 0n, nonce: 0n, feeRateBps: 0n, signatureType: type },
      salt: BigInt(signed.salt),
      maker: asAddress(signed.maker),
      signer: asAddress(signed.signer),
      tokenId: BigInt(signed.tokenId),
      makerAmount: BigInt(signed.makerAmount),
      takerAmount: BigInt(signed.takerAmount),
      side: signed.side === Side.BUY ? 0 : 1,
    };
    const extras = {
      timestamp: BigInt(String(signed.timestamp)),
      metadata: hexToBytes(String(signed.metadata)),
      builder: hexToBytes(String(signed.builder)),
    };
    const verdict = verifyOrder(
      { fields, extras, signature: signed.signature, version: null },
      random(2) === 0,
      rulesOf(PROFILES[random(2)]!),
    );
    expect(verdict, JSON.stringify(signed)).toMatchObject({ ok: true, exchangeVersion: 3, eoa: TEST_EOA });
    const { salt, maker, signer, tokenId, makerAmount, takerAmount, timestamp, metadata, builder } = signed;
    const message = {
      ...{ salt, maker, signer, tokenId, makerAmount, takerAmount, timestamp, metadata, builder },
      ...{ side: fields.side, signatureType: type },
    };
    expect(byCcxt(message, type)).toBe(signed.signature.toLowerCase());
  }
}, 60_000);

describe('refused, with the mistake', () => {
  const fields = orderOf(0, BUY);
  const v2 = exchangeDomain(domains, 2, false);
  const eleven = polymarketOrderStructHash({ ...fields, ...EXTRAS });
  const diagnosed = (order: SentOrder, profile: (typeof PROFILES)[number], negRisk = false) => {
    const verdict = verifyOrder(order, negRisk, rulesOf(profile));
    if (verdict.ok) throw new Error('it was accepted');
    return verdict;
  };

  test.each(PROFILES)('signed for the V2 exchange, under %s', (profile) => {
    for (const domain of [v2, exchangeDomain(domains, 2, true)])
      for (const struct of [eleven, orderStructHash(fields)]) {
        const signature = sign(orderDigest(domain.separator, struct));
        const { diagnosis, fix } = diagnosed(sent(fields, signature), profile);
        expect(diagnosis.check).toBe('market_version');
        expect(fix).toContain('signed for the V2 exchange; this market trades on V3');
        expect(fix).toContain(V3.verifyingContract);
      }
  });

  test.each(PROFILES)('signed for ExchangeV3 in a market of V1, under %s', (profile) => {
    const hashed = { ...fields, tokenId: 2n ** 255n + 77n };
    const struct = polymarketOrderStructHash({ ...hashed, ...EXTRAS });
    const { diagnosis, fix } = diagnosed(
      sent(hashed, sign(orderDigest(V3.separator, struct))),
      profile,
      true,
    );
    expect(diagnosis.check).toBe('market_version');
    expect(fix).toContain('signed for the V3 exchange; this market trades on V2');
  });

  test.each(PROFILES)(
    'the wrong struct, the wrong domain version and a missing field, under %s',
    (profile) => {
      const twelve = sign(orderDigest(V3.separator, orderStructHash(fields)));
      expect(diagnosed(sent(fields, twelve), profile).fix).toContain(
        "this market's orders have the 11-field struct",
      );
      const version = exchangeDomains(137, {
        v1: V3.verifyingContract,
        v1NegRisk: V3.verifyingContract,
        v2: V3.verifyingContract,
        v2NegRisk: V3.verifyingContract,
      })[0];
      const { diagnosis } = diagnosed(sent(fields, sign(orderDigest(version.separator, eleven))), profile);
      expect(diagnosis).toMatchObject({ check: 'domain_version', signedVersion: '2', expectedVersion: '3' });
      const good = sign(orderDigest(V3.separator, eleven));
      expect(diagnosed(sent(fields, good, { extras: null }), profile).diagnosis.check).toBe('order_fields');
      expect(diagnosed(sent(fields, good, { version: 1 }), profile).diagnosis.check).toBe('order_version');
    },
  );

  test('a wrapped signature under the separator of the V2 exchange', () => {
    const wrapped = orderOf(3, BUY, true);
    const contentsHash = polymarketOrderStructHash({ ...wrapped, ...EXTRAS });
    const parts = { separator: v2.separator, contentsHash, orderType: POLYMARKET_ORDER_TYPE };
    const inner = signDigest(
      typedDataSignDigest({ ...parts, wallet: wrapped.maker, chainId: 137 }),
      testKeyBytes(),
    );
    const { diagnosis } = diagnosed(sent(wrapped, wrapDepositSignature({ ...parts, inner })), 'polymarket');
    expect(diagnosis.check).toBe('market_version');
  });

  test('both recoveries agree', () => {
    const order = sent(fields, sign(orderDigest(V3.separator, eleven)));
    const slow = { ...rulesOf('interface'), recover: nobleRecover };
    expect(verifyOrder(order, false, slow)).toEqual(verifyOrder(order, false, rulesOf('interface')));
  });
});
