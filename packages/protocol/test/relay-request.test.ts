/** Requests to the relayer, compared with those that the venue's own client makes and signs. */
import {
  buildDepositWalletBatchRequest,
  buildProxyTransactionRequest,
  buildSafeTransactionRequest,
} from '@polymarket/builder-relayer-client/dist/builder/index.js';
import { getContractConfig } from '@polymarket/builder-relayer-client/dist/config/index.js';
import { encodeProxyTransactionData } from '@polymarket/builder-relayer-client/dist/encode/index.js';
import { type Hex, toBytes } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Address, signDigest, toChecksumAddress } from '../src/accounts.ts';
import { bytesToHex, hexToBytes } from '../src/bytes.ts';
import {
  approvalCalls,
  type ContractCall,
  type RelayTerms,
  redeemCall,
  relayRequest,
  signedRelayBody,
  splitCall,
} from '../src/wallet-calls.ts';
import { TEST_DEPOSIT, TEST_EOA, TEST_KEY, TEST_PROXY, TEST_SAFE } from './vectors.ts';

const account = privateKeyToAccount(TEST_KEY);
const contracts = getContractConfig(137);
const CONDITION = `0x${'5f'.repeat(32)}` as const;
const [approve] = approvalCalls();
const one = [redeemCall(CONDITION, true)];
const several = [
  { to: approve!.to, data: approve!.data },
  splitCall({ conditionId: CONDITION, negRisk: false }, 5_000_000n),
];
const RELAY = `0x${'7e'.repeat(20)}` as Address;

/** As the client's own wrapper of an account signs. */
const signer = {
  getAddress: async () => account.address,
  signMessage: (hash: Hex) => account.signMessage({ message: { raw: toBytes(hash) } }),
  signTypedData: (
    domain: object,
    types: Record<string, readonly { readonly name: string; readonly type: string }[]>,
    message: Record<string, unknown>,
    primaryType: string,
  ) => account.signTypedData({ domain, types, message, primaryType }),
  estimateGas: async () => 0n,
} as never;

const checked = (calls: readonly ContractCall[]) =>
  calls.map(({ to, data }) => ({ to: toChecksumAddress(to), data, value: '0' }));

const signed = (
  wallet: readonly [Address, 1 | 2 | 3],
  calls: readonly ContractCall[],
  terms: RelayTerms,
): object => {
  const request = relayRequest({ eoa: TEST_EOA, wallet: wallet[0], type: wallet[1] }, calls, terms);
  return signedRelayBody(request, bytesToHex(signDigest(request.digest, hexToBytes(TEST_KEY))));
};

beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

describe.each([
  ['one call', one],
  ['several calls', several],
] as const)('the venue’s client makes the same body of %s', (_, calls) => {
  test('for a Safe', async () => {
    const theirs = await buildSafeTransactionRequest(
      signer,
      {
        transactions: checked(calls).map((call) => ({ ...call, operation: 0 })),
        ...{ from: account.address, nonce: '7', chainId: 137 },
      },
      contracts.SafeContracts,
    );
    expect(signed([TEST_SAFE, 2], calls, { type: 'SAFE', nonce: 7n })).toEqual(theirs);
  });

  test('for a proxy wallet', async () => {
    const theirs = await buildProxyTransactionRequest(
      signer,
      {
        data: encodeProxyTransactionData(checked(calls).map((call) => ({ ...call, typeCode: '1' as never }))),
        ...{ from: account.address, gasPrice: '0', gasLimit: '10000000' },
        ...{ relay: toChecksumAddress(RELAY), nonce: '3' },
      },
      contracts.ProxyContracts,
    );
    expect(signed([TEST_PROXY, 1], calls, { type: 'PROXY', nonce: 3n, relay: RELAY })).toEqual(theirs);
  });

  test('for a deposit wallet', async () => {
    const theirs = await buildDepositWalletBatchRequest(
      signer,
      {
        calls: checked(calls).map(({ to, ...call }) => ({ target: to, ...call })),
        ...{ from: account.address, walletAddress: toChecksumAddress(TEST_DEPOSIT), chainId: 137 },
        ...{ nonce: '12', deadline: '1764000300' },
      },
      contracts.DepositWalletContracts,
    );
    const ours = signed([TEST_DEPOSIT, 3], calls, { type: 'WALLET', nonce: 12n, deadlineS: 1_764_000_300 });
    expect(ours).toEqual(theirs);
  });
});

test('every term and every call changes what is signed', () => {
  const digestOf = (calls: readonly ContractCall[], terms: RelayTerms, wallet = TEST_SAFE, chainId = 137) => {
    const type = ({ PROXY: 1, SAFE: 2, WALLET: 3 } as const)[terms.type];
    return bytesToHex(relayRequest({ eoa: TEST_EOA, wallet, type }, calls, terms, chainId).digest);
  };
  const safe = { type: 'SAFE', nonce: 1n } as const;
  const proxy = { type: 'PROXY', nonce: 1n, relay: RELAY } as const;
  const batch = { type: 'WALLET', nonce: 1n, deadlineS: 100 } as const;
  const digests = [
    ...[digestOf(one, safe), digestOf(several, safe), digestOf(one, { ...safe, nonce: 2n })],
    digestOf(one, safe, TEST_SAFE, 80002),
    ...[digestOf(one, proxy, TEST_PROXY), digestOf(several, proxy, TEST_PROXY)],
    ...[
      digestOf(one, { ...proxy, nonce: 2n }, TEST_PROXY),
      digestOf(one, { ...proxy, relay: TEST_EOA }, TEST_PROXY),
    ],
    ...[digestOf(one, batch, TEST_DEPOSIT), digestOf(several, batch, TEST_DEPOSIT)],
    ...[
      digestOf(one, { ...batch, nonce: 2n }, TEST_DEPOSIT),
      digestOf(one, { ...batch, deadlineS: 101 }, TEST_DEPOSIT),
    ],
    digestOf(one, batch, TEST_DEPOSIT, 80002),
  ];
  expect(new Set(digests).size).toBe(digests.length);
});

test('a signature with v of 0 or 1 is the same with 27 or 28', () => {
  const at = { type: 'WALLET', nonce: 1n, deadlineS: 100 } as const;
  const batch = relayRequest({ eoa: TEST_EOA, wallet: TEST_DEPOSIT, type: 3 }, one, at);
  const safe = relayRequest({ eoa: TEST_EOA, wallet: TEST_SAFE, type: 2 }, one, { type: 'SAFE', nonce: 1n });
  const rs = 'ab'.repeat(64);
  for (const [given, plain, ofSafe] of [
    ['00', '1b', '1f'],
    ['1b', '1b', '1f'],
    ['01', '1c', '20'],
    ['1c', '1c', '20'],
  ]) {
    expect(signedRelayBody(batch, `0x${rs}${given}`).signature).toBe(`0x${rs}${plain}`);
    expect(signedRelayBody(safe, `0x${rs}${given}`).signature).toBe(`0x${rs}${ofSafe}`);
  }
});

test('another wallet, another form and a broken signature are refused', () => {
  const owner = { eoa: TEST_EOA, wallet: TEST_SAFE, type: 2 } as const;
  const safe = { type: 'SAFE', nonce: 1n } as const;
  expect(() => relayRequest({ ...owner, wallet: TEST_PROXY }, one, safe)).toThrow('no wallet of type 2');
  expect(() => relayRequest({ ...owner, wallet: TEST_EOA, type: 0 }, one, safe)).toThrow('not relayed');
  expect(() => relayRequest(owner, one, { ...safe, type: 'WALLET', deadlineS: 1 })).toThrow('not relayed');
  expect(() => relayRequest(owner, [], safe)).toThrow('no call');
  expect(() => signedRelayBody(relayRequest(owner, one, safe), '0x12')).toThrow('65 bytes');
});
