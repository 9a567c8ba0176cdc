/** Who signed a posted order: the reference's vectors for every struct, contract and kind of wallet, and what must not pass. */
import {
  type Address,
  asAddress,
  bytesToHex,
  exchangeDomains,
  hexToBytes,
  nobleRecover,
  ORDER_TYPE,
  POLYMARKET_ORDER_TYPE,
  polymarketOrderStructHash,
  wrapDepositSignature,
  ZERO_ADDRESS,
} from '@bellwether/protocol';
import { describe, expect, test } from 'vitest';
import {
  ORDER_VECTORS,
  POLYMARKET_VECTORS,
  SEPARATORS,
  TEST_EOA,
  WRAPPED_VECTOR,
} from '../../protocol/test/vectors.ts';
import { type PostedBody, parseOrderBody, verifyPostedOrder } from '../src/doors/polymarket/posted-order.ts';

const TERMS = { domains: exchangeDomains(), chainId: 137, recover: nobleRecover };
const STRANGER = asAddress('0x00000000000000000000000000000000000a11ce');

const twelve = ({ fields, signature }: (typeof ORDER_VECTORS)[number]): PostedBody => ({
  ...{ fields, extras: null, signature, owner: '', timeInForce: 'GTC', postOnly: false },
});

const eleven = (fields: (typeof POLYMARKET_VECTORS)[number]['fields'], signature: string): PostedBody => {
  const { timestamp, metadata, builder, ...rest } = fields;
  return {
    fields: { ...rest, taker: ZERO_ADDRESS, expiration: 0n, nonce: 0n, feeRateBps: 0n },
    extras: { timestamp, metadata, builder },
    ...{ signature, owner: '', timeInForce: 'GTC', postOnly: false },
  };
};

const wrapped = (parts: { inner?: string; orderType?: string; separator?: string } = {}) =>
  wrapDepositSignature({
    inner: hexToBytes(parts.inner ?? WRAPPED_VECTOR.inner),
    separator: hexToBytes(parts.separator ?? SEPARATORS.v2),
    contentsHash: polymarketOrderStructHash(WRAPPED_VECTOR.fields),
    orderType: parts.orderType ?? POLYMARKET_ORDER_TYPE,
  });

const verify = (body: PostedBody, negRisk: boolean, eoa: Address = TEST_EOA) =>
  verifyPostedOrder(body, negRisk, eoa, TERMS);
const invalid = { ok: false, fault: 'invalid signature' };

describe('the vectors of the reference', () => {
  test.each(ORDER_VECTORS)('12 fields: $name', (vector) => {
    const negRisk = vector.domain.endsWith('NegRisk');
    expect(verify(twelve(vector), negRisk)).toEqual({ ok: true, orderId: vector.hash });
    // For the market's other contract, and by another key, it is no known order.
    expect(verify(twelve(vector), !negRisk)).toEqual(invalid);
    expect(verify(twelve(vector), negRisk, STRANGER)).toEqual(invalid);
  });

  test.each(POLYMARKET_VECTORS)('11 fields: $name', ({ domain, fields, hash, signature }) => {
    const negRisk = domain === 'v2NegRisk';
    expect(verify(eleven(fields, signature), negRisk)).toEqual(
      domain === 'v3' ? { ok: false, fault: 'order_version_mismatch' } : { ok: true, orderId: hash },
    );
    expect(verify({ ...eleven(fields, signature), extras: null }, negRisk)).toEqual(invalid);
  });

  test('a wrapped signature of a deposit wallet', () => {
    const body = eleven(WRAPPED_VECTOR.fields, wrapped());
    expect(verify(body, false)).toEqual({ ok: true, orderId: WRAPPED_VECTOR.hash });
    expect(verify(body, true)).toEqual(invalid);
    expect(verify(body, false, STRANGER)).toEqual(invalid);
    for (const changed of [
      wrapped({ separator: SEPARATORS.v2NegRisk }),
      wrapped({ orderType: ORDER_TYPE }),
      wrapped({ inner: POLYMARKET_VECTORS[0]!.signature }),
      WRAPPED_VECTOR.inner,
      `${wrapped()}00`,
    ])
      expect(verify({ ...body, signature: changed }, false)).toEqual(invalid);
    // A wrapped signature is for a wallet that is maker and signer.
    const split = { ...body, fields: { ...body.fields, signer: TEST_EOA } };
    expect(verify(split, false)).toEqual(invalid);
  });
});

describe('signatures that no order may have', () => {
  const vector = ORDER_VECTORS.find(({ name }) => name === 'V2')!;
  const bytes = hexToBytes(vector.signature);
  const changed = (change: (copy: Uint8Array) => void): string => {
    const copy = bytes.slice();
    change(copy);
    return bytesToHex(copy);
  };
  /** The other root: valid for the same key, and refused as a duplicate in disguise. */
  const highS = (): string => {
    const order = BigInt('0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141');
    const s = order - BigInt(bytesToHex(bytes.slice(32, 64)));
    const flipped = bytes[64] === 27 ? '1c' : '1b';
    return `${bytesToHex(bytes.slice(0, 32))}${s.toString(16).padStart(64, '0')}${flipped}`;
  };

  test.each([
    ['high s', highS()],
    ['zero r', changed((copy) => copy.fill(0, 0, 32))],
    ['zero s', changed((copy) => copy.fill(0, 32, 64))],
    ['another recovery id', changed((copy) => copy.fill(29, 64))],
    ['64 bytes', bytesToHex(bytes.slice(0, 64))],
    ['66 bytes', `${vector.signature}00`],
    ['no hex', '0xzz'],
    ['nothing', ''],
  ])('%s', (_name, signature) => {
    expect(verify({ ...twelve(vector), signature }, false)).toEqual(invalid);
  });

  test('every signed field is signed', () => {
    const body = twelve(vector);
    for (const change of [
      { salt: 1n },
      { tokenId: 1n },
      { makerAmount: 1n },
      { takerAmount: 1n },
      { expiration: 1n },
      { nonce: 1n },
      { feeRateBps: 1n },
      { side: 1 },
      { taker: STRANGER },
      { maker: STRANGER },
    ] as const)
      expect(verify({ ...body, fields: { ...body.fields, ...change } }, false)).toEqual(invalid);
  });
});

describe('bodies', () => {
  const order = {
    ...{ salt: 5, maker: TEST_EOA, signer: TEST_EOA, tokenId: '1234', makerAmount: '100', takerAmount: '50' },
    ...{ side: 'BUY', signatureType: 0, signature: '0x12' },
  };
  const body = { order, owner: 'KEY', orderType: 'GTC' };

  test('what the 11-field struct lacks is zero, and unknown fields are ignored', () => {
    const parsed = parseOrderBody({ ...body, new: 1, order: { ...order, also: [] } });
    expect(parsed).toMatchObject({
      fields: { salt: 5n, taker: ZERO_ADDRESS, expiration: 0n, nonce: 0n, feeRateBps: 0n, side: 0 },
      ...{ extras: null, owner: 'key', postOnly: false },
    });
  });

  test.each([
    ['no object', null],
    ['an array', [body]],
    ['no order', { ...body, order: undefined }],
    ['a salt beyond 2^53', { ...body, order: { ...order, salt: '9007199254740993' } }],
    ['a fraction', { ...body, order: { ...order, makerAmount: '1.5' } }],
    ['a negative number', { ...body, order: { ...order, takerAmount: '-1' } }],
    ['nothing to pay', { ...body, order: { ...order, makerAmount: '0' } }],
    ['a token beyond 256 bits', { ...body, order: { ...order, tokenId: (2n ** 256n).toString() } }],
    ['an address of another kind', { ...body, order: { ...order, maker: '0x12' } }],
    ['a type of signature that does not exist', { ...body, order: { ...order, signatureType: 4 } }],
    ['a side in lower case', { ...body, order: { ...order, side: 'buy' } }],
    ['short metadata', { ...body, order: { ...order, timestamp: '1', metadata: '0x00', builder: '0x00' } }],
    ['a signature without end', { ...body, order: { ...order, signature: 'a'.repeat(2_001) } }],
    ['an order type that does not exist', { ...body, orderType: 'IOC' }],
    ['post-only as a text', { ...body, postOnly: 'true' }],
    ['no owner', { ...body, owner: undefined }],
  ])('%s', (_name, given) => {
    expect(parseOrderBody(given)).toBeNull();
  });
});
