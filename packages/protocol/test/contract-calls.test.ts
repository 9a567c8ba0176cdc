/** Calls of the venue's contracts, compared with what viem encodes. */
import { type Abi, encodeFunctionData, maxUint256, parseAbi, toFunctionSelector, zeroHash } from 'viem';
import { expect, test } from 'vitest';
import { POLYGON_EXCHANGES } from '../src/order.ts';
import { conditionIdOf, conditionsOfEvent } from '../src/token-ids.ts';
import {
  approvalCalls,
  CONDITIONAL_TOKENS,
  CTF_COLLATERAL_ADAPTER,
  convertCall,
  mergeCall,
  NEG_RISK_COLLATERAL_ADAPTER,
  negRiskConditionId,
  POSITION_MANAGER,
  POSITION_ROUTER,
  PUSD,
  positionContract,
  redeemCall,
  redeemPositionCall,
  splitCall,
} from '../src/wallet-calls.ts';

const ABI: Abi = parseAbi([
  'function redeemPositions(address collateral, bytes32 parent, bytes32 condition, uint256[] indexSets)',
  'function approve(address spender, uint256 amount)',
  'function redeem(bytes31 condition, uint256 outcome, uint256 amount)',
  'function setApprovalForAll(address operator, bool approved)',
  'function splitPosition(address collateral, bytes32 parent, bytes32 condition, uint256[] partition, uint256 amount)',
  'function mergePositions(address collateral, bytes32 parent, bytes32 condition, uint256[] partition, uint256 amount)',
  'function convertPositions(bytes32 eventId, uint256 indexSet, uint256 amount)',
  'function split(bytes31 condition, uint256 amount)',
  'function merge(bytes31 condition, uint256 amount)',
  'function convert(bytes29 eventId, uint16 index, uint256 amount)',
]);
const CONDITION = `0x${'5f'.repeat(32)}` as const;
const BINARY = `0x01${'ab'.repeat(16)}${'00'.repeat(14)}` as const;
/** The third of five questions that exclude each other. */
const EXCLUSIVE = conditionIdOf({ module: 2, baseHash: 0xabcdefn, arity: 5, index: 2 });
/** A real question and its market, of November 2024. */
const QUESTION = '0xe3b1bc389210504ebcb9cffe4b0ed06ccac50561e0f24abb6379984cec030f00';
const ITS_CONDITION = '0xdd22472e552920b8438158ea7238bfadfa4f736aa4cee91a6b86c39ead110917';

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

test('a split and a merge of the first contracts go to the adapter of the market’s kind', () => {
  const args = [PUSD, zeroHash, CONDITION, [1n, 2n], 7_000_000n];
  for (const negRisk of [false, true]) {
    const market = { conditionId: CONDITION, negRisk };
    const to = negRisk ? NEG_RISK_COLLATERAL_ADAPTER : CTF_COLLATERAL_ADAPTER;
    expect(positionContract(market)).toBe(to);
    expect(splitCall(market, 7_000_000n)).toEqual({
      to,
      data: encodeFunctionData({ abi: ABI, functionName: 'splitPosition', args }),
    });
    expect(mergeCall(market, 7_000_000n)).toEqual({
      to,
      data: encodeFunctionData({ abi: ABI, functionName: 'mergePositions', args }),
    });
  }
});

test('a split and a merge of Protocol V2 go to the router, whatever negRisk says', () => {
  for (const negRisk of [false, true]) {
    const market = { conditionId: `${BINARY}00`, negRisk };
    for (const [functionName, call] of [
      ['split', splitCall(market, 7n)],
      ['merge', mergeCall(market, 7n)],
    ] as const)
      expect(call).toEqual({
        to: POSITION_ROUTER,
        data: encodeFunctionData({ abi: ABI, functionName, args: [BINARY, 7n] }),
      });
  }
});

test('the condition of a question is the one that the venue lists', () => {
  expect(negRiskConditionId(QUESTION)).toBe(ITS_CONDITION);
});

test('a conversion names the event and the place of the question in it', () => {
  const market = { conditionId: ITS_CONDITION, negRisk: true };
  expect(convertCall(market, 5n, QUESTION)).toEqual({
    to: NEG_RISK_COLLATERAL_ADAPTER,
    data: encodeFunctionData({ abi: ABI, functionName: 'convertPositions', args: [QUESTION, 1n, 5n] }),
  });
  const fourth = `${QUESTION.slice(0, -2)}03` as const;
  expect(convertCall({ conditionId: negRiskConditionId(fourth), negRisk: true }, 5n, fourth).data).toBe(
    encodeFunctionData({ abi: ABI, functionName: 'convertPositions', args: [QUESTION, 8n, 5n] }),
  );
  expect(convertCall({ conditionId: EXCLUSIVE, negRisk: true }, 5n)).toEqual({
    to: POSITION_ROUTER,
    data: encodeFunctionData({
      abi: ABI,
      functionName: 'convert',
      args: [`0x${EXCLUSIVE.slice(2, 60)}`, 2, 5n],
    }),
  });
});

test('no call is made of what is not the market’s own', () => {
  const other = `${QUESTION.slice(0, -2)}01`;
  const market = { conditionId: ITS_CONDITION, negRisk: true };
  expect(() => convertCall(market, 5n, other)).toThrow('not the one of the market');
  expect(() => convertCall(market, 5n)).toThrow('question id');
  expect(() => convertCall({ ...market, negRisk: false }, 5n, QUESTION)).toThrow('excludes others');
  expect(() => convertCall({ conditionId: `${BINARY}00`, negRisk: true }, 5n)).toThrow('excludes others');
  expect(() => splitCall({ conditionId: '0x12', negRisk: false }, 5n)).toThrow('64 hex digits');
  for (const call of [splitCall, mergeCall, convertCall])
    for (const amount of [0n, -1n, 2n ** 256n])
      expect(() => call({ conditionId: EXCLUSIVE, negRisk: true }, amount)).toThrow(RangeError);
});

test('the selectors of sets and conversions are those of the references', () => {
  for (const [signature, selector] of [
    ['splitPosition(address,bytes32,bytes32,uint256[],uint256)', '0x72ce4275'],
    ['mergePositions(address,bytes32,bytes32,uint256[],uint256)', '0x9e7212ad'],
    ['convertPositions(bytes32,uint256,uint256)', '0xc64748c4'],
    ['split(bytes31,uint256)', '0x82d3b9f1'],
    ['merge(bytes31,uint256)', '0x5b63685e'],
    ['convert(bytes29,uint16,uint256)', '0x9380f1c8'],
  ] as const)
    expect(toFunctionSelector(signature)).toBe(selector);
});

test('a condition names every condition of its event; one that excludes no others names none', () => {
  const at = (index: number) => conditionIdOf({ module: 2, baseHash: 0xabcdefn, arity: 5, index });
  const all = [0, 1, 2, 3, 4, 5].map(at);
  for (const condition of [at(0), at(2), at(5), at(2).slice(0, 64)])
    expect(conditionsOfEvent(condition)).toEqual(all);
  const alone = conditionIdOf({ module: 1, baseHash: 0xabcdefn, arity: 0, index: 0 });
  for (const condition of [alone, `0x${'ab'.repeat(32)}`, '0x', 'no id'])
    expect(conditionsOfEvent(condition)).toBeNull();
});
