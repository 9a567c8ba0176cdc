/** Signature checks on really signed orders and on the wire reference's vectors. */

import type { TradeRequest } from '@bellwether/contract';
import {
  domainSeparator,
  exchangeDomain,
  exchangeDomains,
  extendedOrderStructHash,
  hexToBytes,
  nobleRecover,
  ORDER_TYPE,
  type OrderExtras,
  type OrderFields,
  type OrderProfile,
  type OrderVersion,
  orderDigest,
  orderStructHash,
  orderStructHashWithTextSide,
  polymarketOrderStructHash,
  wrapDepositSignature,
} from '@bellwether/protocol';
import { type LimitOrder, orderIdOf, Signer } from '@bellwether/sdk';
import { hashTypedData } from 'viem';
import { describe, expect, test } from 'vitest';
import { ORDER_VECTORS } from '../../protocol/test/vectors.ts';
import { verifyDraft } from '../src/trading/judge-trade.ts';
import { draftOf, SIGNER, signedRequest } from './drafts.ts';

const CHAIN_ID = 137;
const DOMAINS = exchangeDomains(CHAIN_ID);
const STRANGER = Signer.fromPrivateKey(`0x${'11'.repeat(32)}`, { use: 'paper' });

function verify(request: TradeRequest, options: { profile?: OrderProfile; negRisk?: boolean } = {}) {
  let recoveries = 0;
  const draft = draftOf(request);
  const terms = { domains: DOMAINS, chainId: CHAIN_ID, profile: options.profile ?? 'interface' };
  const verdict = verifyDraft(draft, options.negRisk ?? false, {
    rules: {
      ...terms,
      recover: (digest, rs, recovery) => {
        recoveries += 1;
        return nobleRecover(digest, rs, recovery);
      },
    },
    unsigned: null,
  });
  return { verdict, recoveries };
}

const refused = (request: TradeRequest, options: Parameters<typeof verify>[1] = {}) => {
  const { verdict } = verify(request, options);
  if (verdict.ok) throw new Error('it was accepted');
  expect(verdict.denial).toMatchObject({
    code: 'invalid_order_payload',
    detail: 'Invalid order payload',
    path: 'order',
  });
  expect(verdict.denial.fix).toMatch(/\.$/);
  return verdict.denial.diagnosis;
};

const withOrder = (request: TradeRequest, change: Partial<TradeRequest['order']>): TradeRequest => ({
  ...request,
  order: { ...request.order, ...change },
});
const without = (request: TradeRequest, name: 'orderVersion'): TradeRequest => {
  const { [name]: _, ...rest } = request;
  return rest;
};

describe('accepted', () => {
  const WAYS = [
    ['version 2', { version: 2 }],
    ['version 1', { version: 1 }],
    ['a proxy wallet', { signatureType: 1 }],
    ['a Safe', { signatureType: 2 }],
    ['a deposit wallet', { signatureType: 3 }],
    ['an older deposit wallet', { signatureType: 3, depositKind: 'uups' }],
    ['a deposit wallet, wrapped by ERC-7739', { signatureType: 3, wrapped: true }],
    ['an older deposit wallet, wrapped', { signatureType: 3, depositKind: 'uups', wrapped: true }],
  ] as const satisfies readonly (readonly [string, Partial<LimitOrder>])[];

  test.for(WAYS)('%s, in one recovery; the id is the digest', async ([, how]) => {
    const request = await signedRequest(how);
    const { verdict, recoveries } = verify(request);
    expect(verdict).toEqual({
      ok: true,
      orderId: orderIdOf(request),
      version: (how as { version?: OrderVersion }).version ?? 2,
      exchangeVersion: (how as { version?: OrderVersion }).version ?? 2,
      eoa: SIGNER.address,
    });
    expect(recoveries).toBe(1);
  });

  test('the `polymarket` profile, plain and wrapped', async () => {
    for (const how of [{}, { signatureType: 3 }, { signatureType: 3, wrapped: false }] as const) {
      const request = await signedRequest({ profile: 'polymarket', ...how });
      const { verdict, recoveries } = verify(request, { profile: 'polymarket' });
      expect(verdict).toMatchObject({
        ok: true,
        orderId: orderIdOf(request),
        version: 2,
        eoa: SIGNER.address,
      });
      expect(recoveries).toBe(1);
    }
  });

  test('without orderVersion the version is that of the contract that verifies', async () => {
    const current = verify(without(await signedRequest({ version: 2 }), 'orderVersion'));
    expect(current).toMatchObject({ verdict: { ok: true, version: 2 }, recoveries: 1 });
    const legacy = verify(without(await signedRequest({ version: 1 }), 'orderVersion'));
    expect(legacy).toMatchObject({ verdict: { ok: true, version: 1 }, recoveries: 2 });
  });

  test('deprecated fields that were sent along but not signed are dropped', async () => {
    const request = withOrder(await signedRequest(), {
      timestamp: '1780449126930',
      metadata: `0x${'00'.repeat(32)}`,
    });
    expect(verify(request)).toMatchObject({ verdict: { ok: true }, recoveries: 1 });
  });
});

describe('the form of the signature', () => {
  const bend = async (change: (signature: string) => string) => {
    const request = await signedRequest();
    return refused(withOrder(request, { signature: change(request.order.signature) }));
  };
  const HALF = 2n ** 256n;
  const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

  test('a high s is refused: it is the malleable form of a valid signature', async () => {
    const diagnosis = await bend((signature) => {
      const s = BigInt(`0x${signature.slice(66, 130)}`);
      expect(s < HALF).toBe(true);
      const flipped = signature.slice(130) === '1b' ? '1c' : '1b';
      return `${signature.slice(0, 66)}${(ORDER - s).toString(16).padStart(64, '0')}${flipped}`;
    });
    expect(diagnosis).toMatchObject({ check: 'signature_form', reason: 'high_s' });
  });

  test.for([
    ['wrong_length', (signature: string) => signature.slice(0, -2)],
    ['zero_r', (signature: string) => `0x${'0'.repeat(64)}${signature.slice(66)}`],
    ['zero_s', (signature: string) => `${signature.slice(0, 66)}${'0'.repeat(64)}1b`],
    ['bad_recovery_id', (signature: string) => `${signature.slice(0, -2)}1d`],
  ] as const)('%s', async ([reason, change]) => {
    expect(await bend(change)).toMatchObject({ check: 'signature_form', reason });
  });

  test('a wrapped signature is only for deposit wallets', async () => {
    const request = await signedRequest({ signatureType: 3, wrapped: true });
    expect(refused(withOrder(request, { signatureType: 2 }))).toMatchObject({
      check: 'signature_form',
      signatureType: 2,
    });
  });

  test('a wrapped signature names the wallet as signer, too', async () => {
    const request = await signedRequest({ signatureType: 3, wrapped: true });
    expect(refused(withOrder(request, { signer: SIGNER.address }))).toMatchObject({ check: 'signer' });
  });
});

type StructOfBoth = (fields: OrderFields, extras: OrderExtras) => Uint8Array;
/** What a test changes after the signature. */
type Change = Partial<Omit<TradeRequest, 'order'>> & { readonly order?: Partial<TradeRequest['order']> };
const EXTRAS = {
  timestamp: '1780449126930',
  metadata: `0x${'00'.repeat(32)}`,
  builder: `0x${'00'.repeat(32)}`,
};
const OTHER_VERSION = {
  signedFor: expect.stringContaining('version 1'),
  expectedContract: expect.stringContaining('version 2'),
};

describe('the diagnosis', () => {
  test('wallet: the maker is not a wallet of the signer', async () => {
    const stranger = STRANGER.wallet(2);
    const posed = withOrder(await signedRequest({ signatureType: 2 }), { maker: stranger });
    const signature = await SIGNER.signDigest(hexToBytes(orderIdOf(posed)));
    expect(refused(withOrder(posed, { signature }))).toMatchObject({
      check: 'wallet',
      maker: stranger,
      recovered: SIGNER.address,
      expected: SIGNER.wallet(2),
    });
  });

  const polymarket = { profile: 'polymarket' } as const;
  const deposit = { ...polymarket, signatureType: 3 } as const;

  test.for<[string, Partial<LimitOrder>, Change, Parameters<typeof verify>[1], object]>([
    ['order_version', { version: 1 }, { orderVersion: 2 }, {}, OTHER_VERSION],
    ['signature_type', { signatureType: 1 }, { order: { signatureType: 2 } }, {}, { signedAs: 1, sent: 2 }],
    // The `polymarket` profile needs the three fields, and signs 11.
    ['order_profile', {}, {}, polymarket, {}],
    ['order_profile', {}, { order: EXTRAS }, polymarket, { signedStruct: '12 fields' }],
    ['deprecated_fields', { ...deposit, wrapped: false }, {}, {}, { signedStruct: '11 fields' }],
    ['deprecated_fields', { ...deposit, wrapped: true }, {}, {}, { signedStruct: '11 fields' }],
  ])(
    '%s: signed as %j, sent with %j to a desk with %j',
    async ([check, how, { order, ...rest }, options, facts]) => {
      const request = withOrder({ ...(await signedRequest(how)), ...rest }, order ?? {});
      expect(refused(request, options)).toMatchObject({ check, ...facts });
    },
  );

  test('verifying_contract: signed for the neg-risk contract, and the other way round', async () => {
    const plain = await signedRequest();
    expect(refused(plain, { negRisk: true })).toMatchObject({
      check: 'verifying_contract',
      expectedContract: expect.stringContaining('neg-risk'),
    });
    const wrapped = await signedRequest({ signatureType: 3, wrapped: true });
    expect(refused(wrapped, { negRisk: true })).toMatchObject({
      check: expect.stringMatching(/verifying_contract|order_hash/),
    });
  });

  test.for([
    ['of 15 fields', extendedOrderStructHash as StructOfBoth],
    [
      'of the venue’s 11 fields',
      ((fields, extras) => polymarketOrderStructHash({ ...fields, ...extras })) as StructOfBoth,
    ],
  ] as const)('deprecated_fields: signed %s', async ([, struct]) => {
    const request = withOrder(await signedRequest(), EXTRAS);
    const { fields, extras } = draftOf(request);
    const digest = orderDigest(
      exchangeDomain(DOMAINS, 2, false).separator,
      struct(fields, extras as OrderExtras),
    );
    const signature = await SIGNER.signDigest(digest);
    expect(refused(withOrder(request, { signature }))).toMatchObject({ check: 'deprecated_fields' });
  });

  test('signer: another key, with the recovered address', async () => {
    const request = await signedRequest({ signer: STRANGER });
    const posed = withOrder(request, { maker: SIGNER.address, signer: SIGNER.address });
    expect(refused(posed)).toMatchObject({
      check: 'signer',
      expected: SIGNER.address,
      recovered: expect.stringMatching(/^0x[0-9a-f]{40}$/),
    });
  });

  const signedAs = async (separator: Uint8Array, struct: Uint8Array, request: TradeRequest) =>
    withOrder(request, { signature: await SIGNER.signDigest(orderDigest(separator, struct)) });
  const RIGHT = {
    name: 'Polymarket CTF Exchange',
    version: '2',
    chainId: CHAIN_ID,
    verifyingContract: exchangeDomain(DOMAINS, 2, false).verifyingContract,
  };
  const { verifyingContract: _none, ...NOWHERE } = RIGHT;

  test.for([
    ['chain_id', 'domain.chainId', { ...RIGHT, chainId: 1 }, { signedChainId: 1, expectedChainId: 137 }],
    ['chain_id', 'domain.chainId', { ...RIGHT, chainId: 80_002 }, { signedChainId: 80_002 }],
    ['domain_name', 'domain.name', { ...RIGHT, name: 'CTF Exchange' }, { signedName: 'CTF Exchange' }],
    ['domain_version', 'domain.version', { ...RIGHT, version: '1' }, { signedVersion: '1' }],
    ['verifying_contract', 'domain.verifyingContract', NOWHERE, { signedFor: null }],
  ] as const)('%s: the domain differs in %s', async ([check, culprit, domain, facts]) => {
    for (const base of [await signedRequest(), without(await signedRequest(), 'orderVersion')]) {
      const struct = orderStructHash(draftOf(base).fields);
      const request = await signedAs(domainSeparator(domain), struct, base);
      expect(refused(request)).toMatchObject({ check, culprit, recovered: SIGNER.address, ...facts });
      expect(verify(request).recoveries).toBeLessThanOrEqual(32);
    }
    // A wrapped signature contains what was signed, so no recovery is needed.
    const wrapped = await signedRequest({ signatureType: 3, wrapped: true });
    const posed = withOrder(wrapped, {
      signature: wrapDepositSignature({
        inner: new Uint8Array(65).fill(1),
        separator: domainSeparator(domain),
        contentsHash: orderStructHash(draftOf(wrapped).fields),
        orderType: ORDER_TYPE,
      }),
    });
    expect(refused(posed)).toMatchObject({ check, culprit });
  });

  test('side: signed as the other one, or as a word', async () => {
    const request = await signedRequest();
    expect(refused(withOrder(request, { side: 'SELL' }))).toMatchObject({
      check: 'side',
      culprit: 'order.side',
      signedAs: 'BUY',
      sent: 'SELL',
    });
    const word = await signedAs(
      exchangeDomain(DOMAINS, 2, false).separator,
      orderStructHashWithTextSide(draftOf(request).fields, 'BUY'),
      request,
    );
    expect(refused(word)).toMatchObject({ check: 'side', signedAs: 'string side' });
  });

  test('always has the digest and the typed data to sign, within 32 recoveries', async () => {
    const posed = withOrder(await signedRequest({ signer: STRANGER }), {
      maker: SIGNER.address,
      signer: SIGNER.address,
    });
    for (const request of [posed, without(posed, 'orderVersion')]) {
      expect(verify(request).recoveries).toBeLessThanOrEqual(32);
      const { expectedDigest, typedData } = refused(request) as never as {
        expectedDigest: string;
        typedData: Parameters<typeof hashTypedData>[0];
      };
      expect(hashTypedData(typedData)).toBe(expectedDigest);
      const signature = await SIGNER.signDigest(hexToBytes(expectedDigest));
      expect(verify(withOrder(request, { signature })).verdict).toMatchObject({ ok: true });
    }
  });

  test('every field that changed after signing is detected', async () => {
    const request = await signedRequest();
    for (const change of [
      { salt: 1 },
      { tokenId: '1002' },
      { makerAmount: '4000001' },
      { takerAmount: '9999999' },
      { expiration: '1' },
      { nonce: '1' },
      { feeRateBps: '1' },
      { taker: STRANGER.address },
    ] as const)
      expect(refused(withOrder(request, change))).toMatchObject({ check: 'signer' });
  });
});

describe('the wire reference’s vectors', () => {
  /** Only the order matters here; the rest of the request is irrelevant. */
  const requestOf = async (fields: OrderFields, signature: string, orderVersion: 1 | 2) => {
    const request = await signedRequest();
    const { salt, side, ...texts } = fields;
    const order = Object.fromEntries(
      Object.entries(texts).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
    );
    return {
      ...request,
      orderVersion,
      order: { ...order, salt: String(salt), side, signature } as unknown as TradeRequest['order'],
    };
  };
  const known = ORDER_VECTORS.filter(({ domain }) => domain !== 'v3');

  test.for(known)('$name', async ({ domain, fields, hash, signature }) => {
    const version = domain.startsWith('v1') ? 1 : 2;
    const request = await requestOf(fields, signature, version);
    const negRisk = domain.endsWith('NegRisk');
    expect(verify(request, { negRisk })).toMatchObject({
      verdict: { ok: true, orderId: hash, version, eoa: SIGNER.address },
      recoveries: 1,
    });
    expect(refused(request, { negRisk: !negRisk })).toMatchObject({ check: 'verifying_contract' });
  });
});
