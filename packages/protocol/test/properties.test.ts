import { randomBytes } from 'node:crypto';
import {
  addressFromBytes,
  addressOfPublicKey,
  addressToBytes,
  asAddress,
  bytesToHex,
  equalBytes,
  extendedOrderStructHash,
  hexToBytes,
  isAddress,
  l2Signature,
  nobleRecover,
  ORDER_TYPE,
  type OrderFields,
  orderStructHash,
  POLYMARKET_ORDER_TYPE,
  parseAddress,
  parseBase64,
  parseHex,
  parseSignature,
  parseWrappedSignature,
  recoverAddress,
  toBase64Url,
  toChecksumAddress,
  uint256,
  wrapDepositSignature,
} from '@bellwether/protocol';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { signDigest } from '../src/accounts.ts';
import { loadNativeRecover } from './native-recover.ts';
import { ORDER, ORDER_VECTORS, testKeyBytes } from './vectors.ts';

const native = loadNativeRecover();
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

test('hex and bytes convert both ways', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (value) => {
      expect(hexToBytes(bytesToHex(value))).toEqual(value);
      expect(bytesToHex(value)).toBe(`0x${Buffer.from(value).toString('hex')}`);
      expect(parseHex(Buffer.from(value).toString('hex').toUpperCase())).toEqual(value);
    }),
  );
  for (const text of ['0x1', '0xzz', '0x 1', '1g', '0x0x00']) expect(parseHex(text), text).toBeNull();
});

test('a uint256 is 32 big-endian bytes', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (value) => {
      expect(BigInt(bytesToHex(uint256(value)))).toBe(value);
    }),
  );
  expect(() => uint256(-1n)).toThrow(RangeError);
  expect(() => uint256(2n ** 256n)).toThrow(RangeError);
});

test('addresses: one spelling inside, any case in input', () => {
  fc.assert(
    fc.property(bytes(20), (value) => {
      const address = addressFromBytes(value);
      expect(isAddress(address)).toBe(true);
      expect(addressToBytes(address)).toEqual(value);
      expect(asAddress(toChecksumAddress(address))).toBe(address);
    }),
  );
  for (const text of ['', '0x', `0x${'0'.repeat(39)}`, `0x${'0'.repeat(41)}`, `0x${'g'.repeat(40)}`, 5, null])
    expect(parseAddress(text)).toBeNull();
  expect(isAddress(`0x${'A'.repeat(40)}`)).toBe(false);
});

test('base64 in both alphabets, padded or not', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (value) => {
      const buffer = Buffer.from(value);
      expect(toBase64Url(value).replace(/=+$/, '')).toBe(buffer.toString('base64url'));
      expect(toBase64Url(value).length % 4).toBe(0);
      for (const text of [toBase64Url(value), buffer.toString('base64'), buffer.toString('base64url')])
        expect(parseBase64(text)).toEqual(value);
    }),
  );
  for (const text of ['A', 'A===', '!!!!', 'AAAA AAAA']) expect(parseBase64(text), text).toBeNull();
});

test('an L2 signature is the same whichever alphabet spells the secret', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), fc.string(), (secret, body) => {
      const request = { timestamp: '1', method: 'POST', path: '/x', body };
      const standard = Buffer.from(secret).toString('base64');
      expect(l2Signature(standard, request)).toBe(l2Signature(toBase64Url(secret), request));
    }),
  );
});

test('equalBytes', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
      expect(equalBytes(a, b)).toBe(Buffer.from(a).equals(Buffer.from(b)));
      expect(equalBytes(a, Uint8Array.from(a))).toBe(true);
    }),
  );
});

const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const address = bytes(20).map(addressFromBytes);
const anyOrder: fc.Arbitrary<OrderFields> = fc.record({
  salt: fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }),
  maker: address,
  signer: address,
  taker: address,
  tokenId: uint,
  makerAmount: uint,
  takerAmount: uint,
  expiration: uint,
  nonce: uint,
  feeRateBps: uint,
  side: fc.constantFrom(0 as const, 1 as const),
  signatureType: fc.constantFrom(0 as const, 1 as const, 2 as const, 3 as const),
});

describe('order encoding', () => {
  test('every field changes the hash, and no data of the previous order remains', () => {
    fc.assert(
      fc.property(anyOrder, anyOrder, (a, b) => {
        const first = bytesToHex(orderStructHash(a));
        for (const field of Object.keys(a) as (keyof OrderFields)[]) {
          const mixed = { ...a, [field]: b[field] };
          expect(bytesToHex(orderStructHash(mixed)) === first).toBe(a[field] === b[field]);
        }
        expect(bytesToHex(orderStructHash(a))).toBe(first);
      }),
      { numRuns: 50 },
    );
  });

  test('an order refused half-way does not spoil the next', () => {
    const before = orderStructHash(ORDER);
    expect(() => orderStructHash({ ...ORDER, takerAmount: -1n })).toThrow(RangeError);
    expect(orderStructHash(ORDER)).toEqual(before);
  });

  test('deprecated fields inside the struct give another hash', () => {
    const extras = { timestamp: 0n, metadata: new Uint8Array(32), builder: new Uint8Array(32) };
    expect(extendedOrderStructHash(ORDER, extras)).not.toEqual(orderStructHash(ORDER));
    expect(extendedOrderStructHash(ORDER, { ...extras, timestamp: 1n })).not.toEqual(
      extendedOrderStructHash(ORDER, extras),
    );
  });
});

describe('signatures', () => {
  test('what a key signs recovers to its address, natively and in JavaScript', () => {
    fc.assert(
      fc.property(bytes(32), fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n }), (digest, secret) => {
        const key = uint256(secret);
        const owner = addressOfPublicKey(secp256k1.getPublicKey(key, false));
        const signature = signDigest(digest, key);
        const recovered = recoverAddress(native, digest, signature);
        expect(recovered).toEqual({ ok: true, address: owner });
        expect(recoverAddress(nobleRecover, digest, bytesToHex(signature))).toEqual(recovered);
        const lowV = Uint8Array.from(signature);
        lowV[64]! -= 27;
        expect(recoverAddress(native, digest, lowV)).toEqual(recovered);
      }),
      { numRuns: 30 },
    );
  });

  test('both recoveries agree on any 64 bytes', () => {
    fc.assert(
      fc.property(bytes(32), bytes(64), fc.constantFrom(0 as const, 1 as const), (digest, rs, v) => {
        const signature = Uint8Array.from([...rs, 27 + v]);
        signature[32]! &= 0x7f;
        expect(recoverAddress(native, digest, signature)).toEqual(
          recoverAddress(nobleRecover, digest, signature),
        );
      }),
      { numRuns: 40 },
    );
  });

  const good = hexToBytes(ORDER_VECTORS[0]!.signature);
  const withWord = (offset: number, value: bigint): Uint8Array => {
    const changed = Uint8Array.from(good);
    changed.set(uint256(value), offset);
    return changed;
  };
  const s = BigInt(bytesToHex(good.subarray(32, 64)));
  test.each([
    ['empty', '', 'wrong_length'],
    ['0x', '0x', 'wrong_length'],
    ['no hex', '0xzz', 'not_hex'],
    ['half a byte', '0x123', 'not_hex'],
    ['64 bytes (compact)', good.subarray(0, 64), 'wrong_length'],
    ['66 bytes', Uint8Array.from([...good, 0]), 'wrong_length'],
    ['zero r', withWord(0, 0n), 'zero_r'],
    ['zero s', withWord(32, 0n), 'zero_s'],
    ['all zero', new Uint8Array(65), 'zero_r'],
    ['r = n', withWord(0, CURVE_ORDER), 'r_out_of_range'],
    ['the malleable duplicate', withWord(32, CURVE_ORDER - s), 'high_s'],
    ['s just above the half', withWord(32, CURVE_ORDER / 2n + 1n), 'high_s'],
    ['v = 2', Uint8Array.from([...good.subarray(0, 64), 2]), 'bad_recovery_id'],
    ['v = 29', Uint8Array.from([...good.subarray(0, 64), 29]), 'bad_recovery_id'],
  ] as const)('%s is refused', (_, signature, reason) => {
    expect(parseSignature(signature)).toEqual({ ok: false, reason });
    expect(recoverAddress(native, new Uint8Array(32), signature)).toEqual({ ok: false, reason });
  });

  test('s at the very half is still accepted', () => {
    expect(parseSignature(withWord(32, CURVE_ORDER / 2n)).ok).toBe(true);
  });

  test('an r that is not the x of a point is not recoverable', () => {
    // 5³ + 7 is not a square modulo the field's prime.
    const signature = withWord(0, 5n);
    for (const recover of [native, nobleRecover])
      expect(recoverAddress(recover, randomBytes(32), signature)).toEqual({
        ok: false,
        reason: 'not_recoverable',
      });
  });
});

describe('wrapped signatures', () => {
  test('round trip for both orders', () => {
    fc.assert(
      fc.property(
        bytes(65),
        bytes(32),
        bytes(32),
        fc.constantFrom(ORDER_TYPE, POLYMARKET_ORDER_TYPE),
        (inner, separator, contentsHash, orderType) => {
          const parts = { inner, separator, contentsHash, orderType };
          expect(parseWrappedSignature(wrapDepositSignature(parts))).toEqual({ ok: true, ...parts });
        },
      ),
    );
  });

  const inner = signDigest(new Uint8Array(32).fill(1), testKeyBytes());
  const word = new Uint8Array(32);
  const wrap = (orderType: string) =>
    wrapDepositSignature({ inner, separator: word, contentsHash: word, orderType });
  test.each([
    ['no hex', 'hello', 'not_hex'],
    ['a plain signature', bytesToHex(inner), 'wrong_length'],
    ['cut short', wrap(ORDER_TYPE).slice(0, -2), 'wrong_length'],
    ['a byte too long', `${wrap(ORDER_TYPE)}00`, 'wrong_length'],
    ['another type', wrap('Permit(address owner)'), 'unknown_order_type'],
    ['no type at all', wrap(''), 'wrong_length'],
  ])('%s is refused', (_, signature, reason) => {
    expect(parseWrappedSignature(signature)).toEqual({ ok: false, reason });
  });
});
