/** GET /venues and /venues/{id}/signing: held to the vectors, and enough to sign with. */
import { bytesToHex, parseWrappedSignature } from '@bellwether/protocol';
import { hashTypedData, recoverAddress } from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  L1_VECTORS,
  L2_VECTOR,
  ORDER_VECTORS,
  POLYMARKET_VECTORS,
  SEPARATORS,
  TEST_EOA,
  V3_SEPARATOR,
  WALLETS,
  WRAPPED_VECTOR,
} from '../../packages/protocol/test/vectors.ts';
import { call, sharedTestService, type TestService } from '../harness.ts';

let service: TestService;
let own: TestService;

beforeAll(async () => {
  service = await sharedTestService();
  own = await sharedTestService({ VENUE_A_ORDER_PROFILE: 'polymarket' });
});

const guideOf = async (of: TestService) => (await call(of, 'GET', '/venues/polymarket/signing')).body.orders;
// biome-ignore lint/suspicious/noExplicitAny: the answer is read by path
type Example = any;
/** By a library that knows nothing of this code. */
const hashOf = ({ typedData: { domain, types, primaryType, message } }: Example) => {
  const { EIP712Domain: _domain, ...structs } = types;
  return hashTypedData({ domain, types: structs, primaryType, message });
};

describe('the venues', () => {
  test('are listed without a key, with what each can do', async () => {
    const { status, body } = await call(service, 'GET', '/venues');
    expect(status).toBe(200);
    expect(body).toMatchObject([
      { name: 'polymarket', backend: 'paper', wallets: 'evm' },
      { name: 'kalshi', backend: 'paper', wallets: 'solana' },
    ]);
    expect(body[0].capabilities).toContain('signedOrders');
    expect(body[1].capabilities).toContain('quotes');
    const guide = await fetch(body[0].signingUrl);
    expect(guide.status).toBe(200);
  });

  test('an unknown one is not found, and the answer names those that there are', async () => {
    const { status, body } = await call(service, 'GET', '/venues/nowhere/signing');
    expect(status).toBe(404);
    expect(body).toMatchObject({ code: 'venue_not_found' });
    expect(body.detail).toContain('polymarket');
  });
});

describe('the guide to signing', () => {
  test('has the separators, wallets and authentication of the vectors', async () => {
    const guide = await guideOf(service);
    const separators = Object.fromEntries(
      guide.domains.map(({ orderVersion, exchangeVersion, negRisk, separator }: Example) => [
        `v${exchangeVersion ?? orderVersion}${negRisk ? 'NegRisk' : ''}`,
        separator,
      ]),
    );
    expect(separators).toEqual({ ...SEPARATORS, v3: V3_SEPARATOR });
    const wallets = WALLETS.find(({ eoa }) => eoa.toLowerCase() === TEST_EOA);
    expect(guide.exampleWallets).toEqual({
      eoa: TEST_EOA,
      proxy: wallets?.proxy.toLowerCase(),
      safe: wallets?.safe.toLowerCase(),
      deposit: { beacon: wallets?.beacon.toLowerCase(), uups: wallets?.uups.toLowerCase() },
    });
    const { l1, l2 } = guide.authentication;
    expect(l1.signature).toBe(L1_VECTORS[1].signature);
    expect(hashOf(l1)).toBe(l1.digest);
    expect(l2.example).toEqual(L2_VECTOR);
  });

  test.each([
    ['Version 2', 'V2'],
    ['Version 2, neg-risk market', 'V2 neg-risk'],
    ['Version 1', 'V1'],
    ['Version 1, neg-risk market', 'V1 neg-risk'],
    ['Version 2 by a proxy wallet', 'V2 type 1'],
    ['Version 2 by a Safe', 'V2 type 2'],
    ['Version 2 by a deposit wallet, signed plainly', 'V2 type 3'],
  ])('%s is the vector %s', async (name, vector) => {
    const { examples } = await guideOf(service);
    const example = examples.find((one: Example) => one.name === name);
    const expected = ORDER_VECTORS.find((one) => one.name === vector);
    expect(example).toMatchObject({ orderId: expected?.hash, signature: expected?.signature });
    expect(example.digest).toBe(example.orderId);
    expect(hashOf(example)).toBe(example.digest);
  });

  test('under the order profile of 11 fields, the venue’s own vectors', async () => {
    const { examples } = await guideOf(own);
    for (const [name, vector] of [
      ['Version 2', 'V2'],
      ['Version 2, neg-risk market', 'V2 neg-risk'],
    ]) {
      const example = examples.find((one: Example) => one.name === name);
      const expected = POLYMARKET_VECTORS.find((one) => one.name === vector);
      expect(example).toMatchObject({ orderId: expected?.hash, signature: expected?.signature });
    }
    const wrapped = examples.find(({ name }: Example) => name.includes('ERC-7739'));
    expect(wrapped.orderId).toBe(WRAPPED_VECTOR.hash);
    expect(wrapped.signature.length).toBe(2 + 2 * WRAPPED_VECTOR.bytes);
    const parts = parseWrappedSignature(wrapped.signature);
    expect(parts.ok && bytesToHex(parts.inner)).toBe(WRAPPED_VECTOR.inner);
    expect(hashOf(wrapped)).toBe(wrapped.digest);
    const signer = await recoverAddress({ hash: wrapped.digest, signature: WRAPPED_VECTOR.inner });
    expect(signer.toLowerCase()).toBe(TEST_EOA);
  });

  test('names every program of a quoted transaction, and how to check it', async () => {
    const { body } = await call(service, 'GET', '/venues/kalshi/signing');
    expect(body.orders).toBeNull();
    expect(body.transactions.programs.length).toBe(8);
    for (const program of body.transactions.programs) {
      expect(program.address).toMatch(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
      expect(program.check.length).toBeGreaterThan(10);
    }
  });

  test('is a page, too, and llms.txt leads there', async () => {
    const page = await call(service, 'GET', '/docs/signing');
    expect(page.body).toContain(ORDER_VECTORS[3]?.signature);
    expect(page.body).toContain(WRAPPED_VECTOR.hash);
    expect((await call(service, 'GET', '/llms.txt')).body).toContain('/docs/signing');
  });
});
