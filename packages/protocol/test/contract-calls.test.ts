/** Calls for owners to sign, compared with what viem encodes. */
import {
  type Abi,
  encodeFunctionData,
  maxUint256,
  parseAbi,
  toFunctionSelector,
  zeroAddress,
  zeroHash,
} from 'viem';
import { expect, test } from 'vitest';
import type { Address } from '../src/address.ts';
import {
  approvalCalls,
  CONDITIONAL_TOKENS,
  ownerCall,
  POSITION_MANAGER,
  POSITION_ROUTER,
  PUSD,
  redeemCall,
  redeemPositionCall,
} from '../src/contract-calls.ts';
import { POLYGON_EXCHANGES } from '../src/order.ts';
import { deriveProxyWallet, deriveSafeWallet, PROXY_FACTORY } from '../src/wallets.ts';

const ABI: Abi = parseAbi([
  'function redeemPositions(address collateral, bytes32 parent, bytes32 condition, uint256[] indexSets)',
  'function approve(address spender, uint256 amount)',
  'function redeem(bytes31 condition, uint256 outcome, uint256 amount)',
  'function setApprovalForAll(address operator, bool approved)',
  'struct ProxyCall { uint8 kind; address to; uint256 value; bytes data; }',
  'function proxy(ProxyCall[] calls)',
  'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures)',
]);
const CONDITION = `0x${'5f'.repeat(32)}` as const;
const EOA = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' as Address;

const redeemData = encodeFunctionData({
  abi: ABI,
  functionName: 'redeemPositions',
  args: [PUSD, zeroHash, CONDITION, [1n, 2n]],
});

test('a redemption goes to the adapter of the market’s kind', () => {
  expect(redeemCall(CONDITION, false)).toEqual({
    to: '0xada100db00ca00073811820692005400218fce1f',
    data: redeemData,
  });
  expect(redeemCall(CONDITION, true)).toEqual({
    to: '0xada2005600dec949baf300f4c6120000bdb6eaab',
    data: redeemData,
  });
});

test('an EOA and a deposit wallet make the call itself', () => {
  const call = redeemCall(CONDITION, false);
  expect(ownerCall({ eoa: EOA, wallet: EOA, type: 0 }, call)).toEqual({ from: EOA, ...call });
  const wallet = `0x${'d1'.repeat(20)}` as Address;
  expect(ownerCall({ eoa: EOA, wallet, type: 3 }, call)).toEqual({ from: wallet, ...call });
});

test('the owner of a proxy wallet calls the factory', () => {
  const call = redeemCall(CONDITION, true);
  expect(ownerCall({ eoa: EOA, wallet: deriveProxyWallet(EOA), type: 1 }, call)).toEqual({
    from: EOA,
    to: PROXY_FACTORY,
    data: encodeFunctionData({
      abi: ABI,
      functionName: 'proxy',
      args: [[{ kind: 1, to: call.to, value: 0n, data: call.data }]],
    }),
  });
});

test('the owner of a Safe executes with its own transaction as the approval', () => {
  const call = redeemCall(CONDITION, false);
  const wallet = deriveSafeWallet(EOA);
  const signatures = `0x${EOA.slice(2).padStart(64, '0')}${'0'.repeat(64)}01` as const;
  expect(ownerCall({ eoa: EOA, wallet, type: 2 }, call)).toEqual({
    from: EOA,
    to: wallet,
    data: encodeFunctionData({
      abi: ABI,
      functionName: 'execTransaction',
      args: [call.to, 0n, call.data, 0, 0n, 0n, 0n, zeroAddress, zeroAddress, signatures],
    }),
  });
});

test('approvals name the exchanges, the adapters and the router, for collateral and for tokens', () => {
  const calls = approvalCalls();
  expect(calls).toHaveLength(12);
  expect(new Set(calls.map(({ spender }) => spender))).toContain(POLYGON_EXCHANGES.v2NegRisk);
  const ofV2: readonly string[] = [POLYGON_EXCHANGES.v3, POSITION_ROUTER];
  for (const { asset, spender, to, data } of calls)
    expect({ to, data }).toEqual(
      asset === 'collateral'
        ? {
            to: PUSD,
            data: encodeFunctionData({ abi: ABI, functionName: 'approve', args: [spender, maxUint256] }),
          }
        : {
            to: ofV2.includes(spender) ? POSITION_MANAGER : CONDITIONAL_TOKENS,
            data: encodeFunctionData({ abi: ABI, functionName: 'setApprovalForAll', args: [spender, true] }),
          },
    );
});

test('a redemption of Protocol V2 names one position and an amount', () => {
  const condition = `0x01${'ab'.repeat(16)}${'00'.repeat(14)}` as const;
  const call = redeemPositionCall(`${condition}00`, { outcome: 1, amount: 7_000_000n });
  expect(call).toEqual({
    to: POSITION_ROUTER,
    data: encodeFunctionData({ abi: ABI, functionName: 'redeem', args: [condition, 1n, 7_000_000n] }),
  });
  expect(call.data.slice(0, 10)).toBe('0xd217a3cc');
});

test('the selectors are those of the wire reference', () => {
  expect(redeemData.slice(0, 10)).toBe('0x01b7037c');
  expect(toFunctionSelector('approve(address,uint256)')).toBe('0x095ea7b3');
  expect(toFunctionSelector('setApprovalForAll(address,bool)')).toBe('0xa22cb465');
});
