import {
  addressOfPublicKey,
  asAddress,
  bytesToHex,
  clobAuthDigest,
  controlsWallet,
  deriveDepositWallets,
  deriveProxyWallet,
  deriveSafeWallet,
  EXTENDED_ORDER_TYPE,
  EXTENDED_ORDER_TYPE_HASH,
  exchangeDomain,
  exchangeDomains,
  hashText,
  hexToBytes,
  l2Signature,
  nobleRecover,
  ORDER_TYPE,
  ORDER_TYPE_HASH,
  orderDigest,
  orderStructHash,
  POLYMARKET_ORDER_TYPE,
  POLYMARKET_ORDER_TYPE_HASH,
  parseWrappedSignature,
  polymarketOrderStructHash,
  recoverAddress,
  signatureTypeOf,
  toChecksumAddress,
  typedDataSignDigest,
  verifyL2Signature,
  walletKindsOf,
  wrapDepositSignature,
} from '@bellwether/protocol';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { describe, expect, test } from 'vitest';
import { signDigest } from '../src/accounts.ts';
import { loadNativeRecover } from './native-recover.ts';
import {
  type DomainName,
  L1_VECTORS,
  L2_VECTOR,
  ORDER_VECTORS,
  POLYMARKET_VECTORS,
  SEPARATORS,
  TEST_DEPOSIT,
  TEST_EOA,
  testKeyBytes,
  V3_SEPARATOR,
  WALLETS,
  WRAPPED_VECTOR,
} from './vectors.ts';

const native = loadNativeRecover();
const recoveries = [
  ['native', native],
  ['noble', nobleRecover],
] as const;

const separators: Record<DomainName, Uint8Array> = (() => {
  const domains = exchangeDomains();
  return {
    v1: exchangeDomain(domains, 1, false).separator,
    v1NegRisk: exchangeDomain(domains, 1, true).separator,
    v2: exchangeDomain(domains, 2, false).separator,
    v2NegRisk: exchangeDomain(domains, 2, true).separator,
    v3: exchangeDomain(domains, 3, false).separator,
  };
})();

function expectSigned(digest: Uint8Array, signature: string): void {
  expect(bytesToHex(signDigest(digest, testKeyBytes()))).toBe(signature);
  for (const [name, recover] of recoveries)
    expect(recoverAddress(recover, digest, signature), name).toEqual({ ok: true, address: TEST_EOA });
}

test('type hashes', () => {
  expect(ORDER_TYPE_HASH).toBe('0xa852566c4e14d00869b6db0220888a9090a13eccdaea03713ff0a3d27bf9767c');
  expect(POLYMARKET_ORDER_TYPE_HASH).toBe(
    '0xbb86318a2138f5fa8ae32fbe8e659f8fcf13cc6ae4014a707893055433818589',
  );
  expect(bytesToHex(hashText(ORDER_TYPE))).toBe(ORDER_TYPE_HASH);
  expect(bytesToHex(hashText(POLYMARKET_ORDER_TYPE))).toBe(POLYMARKET_ORDER_TYPE_HASH);
  expect(bytesToHex(hashText(EXTENDED_ORDER_TYPE))).toBe(EXTENDED_ORDER_TYPE_HASH);
});

test('domain separators', () => {
  for (const name of ['v1', 'v1NegRisk', 'v2', 'v2NegRisk'] as const)
    expect(bytesToHex(separators[name]), name).toBe(SEPARATORS[name]);
  expect(bytesToHex(separators.v3)).toBe(V3_SEPARATOR);
  expect(exchangeDomains().map((domain) => [domain.version, domain.negRisk])).toEqual([
    [2, false],
    [2, true],
    [1, false],
    [1, true],
    [3, null],
  ]);
});

describe('orders of 12 fields', () => {
  test.each(ORDER_VECTORS)('$name', ({ domain, fields, hash, signature }) => {
    const digest = orderDigest(separators[domain], orderStructHash(fields));
    expect(bytesToHex(digest)).toBe(hash);
    expectSigned(digest, signature);
    expect(controlsWallet(fields.signer, fields.signatureType, fields.maker)).toBe(true);
  });
});

describe('orders of the venue itself', () => {
  test.each(POLYMARKET_VECTORS)('$name', ({ domain, fields, hash, signature }) => {
    const digest = orderDigest(separators[domain], polymarketOrderStructHash(fields));
    expect(bytesToHex(digest)).toBe(hash);
    expectSigned(digest, signature);
  });

  test('V2 type 3, wrapped', () => {
    const contentsHash = polymarketOrderStructHash(WRAPPED_VECTOR.fields);
    expect(bytesToHex(orderDigest(separators.v2, contentsHash))).toBe(WRAPPED_VECTOR.hash);
    const signed = { separator: separators.v2, contentsHash, orderType: POLYMARKET_ORDER_TYPE };
    expectSigned(
      typedDataSignDigest({ ...signed, wallet: TEST_DEPOSIT, chainId: 137 }),
      WRAPPED_VECTOR.inner,
    );
    const wrapped = wrapDepositSignature({ ...signed, inner: hexToBytes(WRAPPED_VECTOR.inner) });
    expect(hexToBytes(wrapped)).toHaveLength(WRAPPED_VECTOR.bytes);
    expect(wrapped.endsWith('00ba')).toBe(true);
    expect(parseWrappedSignature(wrapped)).toEqual({
      ok: true,
      inner: hexToBytes(WRAPPED_VECTOR.inner),
      ...signed,
    });
  });
});

test.each(WALLETS)('wallets of $eoa', ({ eoa: text, beacon, uups, proxy, safe }) => {
  const eoa = asAddress(text);
  expect(toChecksumAddress(deriveProxyWallet(eoa))).toBe(proxy);
  expect(toChecksumAddress(deriveSafeWallet(eoa))).toBe(safe);
  const deposit = deriveDepositWallets(eoa);
  expect(toChecksumAddress(deposit.beacon)).toBe(beacon);
  expect(toChecksumAddress(deposit.uups)).toBe(uups);
  expect(walletKindsOf(eoa)).toEqual({
    eoa,
    proxy: asAddress(proxy),
    safe: asAddress(safe),
    deposit,
  });
  const types = [eoa, proxy, safe, beacon, uups].map((wallet) => signatureTypeOf(eoa, asAddress(wallet)));
  expect(types).toEqual([0, 1, 2, 3, 3]);
  expect(signatureTypeOf(eoa, asAddress(`0x${'9'.repeat(40)}`))).toBeNull();
  expect(controlsWallet(eoa, 1, asAddress(safe))).toBe(false);
});

test.each(L1_VECTORS)('L1 on chain $chainId', ({ chainId, timestamp, nonce, signature }) => {
  expectSigned(clobAuthDigest({ address: TEST_EOA, timestamp, nonce, chainId }), signature);
});

test('L2', () => {
  const { secret, signature, ...request } = L2_VECTOR;
  expect(l2Signature(secret, request)).toBe(signature);
  expect(verifyL2Signature(secret, request, signature)).toBe(true);
  expect(verifyL2Signature(secret, request, signature.replaceAll('_', '/').replaceAll('-', '+'))).toBe(true);
  expect(verifyL2Signature(secret, { ...request, path: '/orders?x=1' }, signature)).toBe(false);
  expect(verifyL2Signature(secret, request, '')).toBe(false);
  expect(verifyL2Signature('not base64!', request, signature)).toBe(false);
});

test('an address follows from a public key of 64 or 65 bytes', () => {
  const publicKey = secp256k1.getPublicKey(testKeyBytes(), false);
  expect(addressOfPublicKey(publicKey)).toBe(TEST_EOA);
  expect(addressOfPublicKey(publicKey.subarray(1))).toBe(TEST_EOA);
  expect(() => addressOfPublicKey(publicKey.subarray(2))).toThrow(RangeError);
});
