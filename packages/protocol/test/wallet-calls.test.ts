/** Transactions of owners, compared with what viem encodes. */
import { type Abi, concatHex, encodeFunctionData, encodePacked, parseAbi, size, zeroAddress } from 'viem';
import { expect, test } from 'vitest';
import type { Address } from '../src/accounts.ts';
import { approvalCalls, ownerCalls, redeemCall, SAFE_MULTISEND, splitCall } from '../src/wallet-calls.ts';
import { PROXY_FACTORY } from '../src/wallets.ts';
import { TEST_DEPOSIT, TEST_EOA, TEST_PROXY, TEST_SAFE } from './vectors.ts';

const ABI: Abi = parseAbi([
  'struct ProxyCall { uint8 kind; address to; uint256 value; bytes data; }',
  'function proxy(ProxyCall[] calls)',
  'function multiSend(bytes transactions)',
  'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures)',
]);
const CONDITION = `0x${'5f'.repeat(32)}` as const;
const market = { conditionId: CONDITION, negRisk: false };
const one = [redeemCall(CONDITION, false)];
const [approve] = approvalCalls();
const several = [
  { to: approve!.to, data: approve!.data },
  splitCall(market, 5n),
  redeemCall(CONDITION, true),
];
const EOA = TEST_EOA;

test('an EOA and a deposit wallet make each call itself', () => {
  for (const [type, wallet] of [
    [0, EOA],
    [3, TEST_DEPOSIT],
  ] as const)
    expect(ownerCalls({ eoa: EOA, wallet, type }, several)).toEqual(
      several.map((call) => ({ from: wallet, ...call })),
    );
});

test.each([one, several])('the owner of a proxy wallet calls the factory once', (...calls) => {
  expect(ownerCalls({ eoa: EOA, wallet: TEST_PROXY, type: 1 }, calls)).toEqual([
    {
      from: EOA,
      to: PROXY_FACTORY,
      data: encodeFunctionData({
        abi: ABI,
        functionName: 'proxy',
        args: [calls.map(({ to, data }) => ({ kind: 1, to, value: 0n, data }))],
      }),
    },
  ]);
});

const execution = (to: Address, data: `0x${string}`, operation: number) => ({
  from: EOA,
  to: TEST_SAFE,
  data: encodeFunctionData({
    abi: ABI,
    functionName: 'execTransaction',
    args: [
      ...[to, 0n, data, operation, 0n, 0n, 0n, zeroAddress, zeroAddress],
      `0x${EOA.slice(2).padStart(64, '0')}${'0'.repeat(64)}01`,
    ],
  }),
});

test('the owner of a Safe executes one call with its own transaction as the approval', () => {
  const [call] = one;
  expect(ownerCalls({ eoa: EOA, wallet: TEST_SAFE, type: 2 }, one)).toEqual([
    execution(call!.to, call!.data, 0),
  ]);
});

test('a Safe makes several calls through the pinned multisend, and only there as a delegate', () => {
  const packed = several.map(({ to, data }) =>
    encodePacked(['uint8', 'address', 'uint256', 'uint256', 'bytes'], [0, to, 0n, BigInt(size(data)), data]),
  );
  const data = encodeFunctionData({ abi: ABI, functionName: 'multiSend', args: [concatHex(packed)] });
  expect(ownerCalls({ eoa: EOA, wallet: TEST_SAFE, type: 2 }, several)).toEqual([
    execution(SAFE_MULTISEND, data, 1),
  ]);
});

test('no transaction is made of no call', () => {
  for (const [type, wallet] of [
    [0, EOA],
    [1, TEST_PROXY],
    [2, TEST_SAFE],
    [3, TEST_DEPOSIT],
  ] as const)
    expect(() => ownerCalls({ eoa: EOA, wallet, type }, [])).toThrow('no call');
});
