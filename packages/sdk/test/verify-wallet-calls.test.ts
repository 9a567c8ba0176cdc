/** Transactions for a wallet's owner, from a service that changes one field of them. */
import {
  conditionIdOf,
  hexToBytes,
  NEG_RISK_COLLATERAL_ADAPTER,
  negRiskConditionId,
  outcomeTokens,
  POSITION_ROUTER,
  signatureTypeOf,
} from '@bellwether/protocol';
import {
  OrderBuildError,
  Signer,
  verifyWalletCalls,
  type WalletAction,
  WalletCallsError,
  type WalletPins,
  type WalletTransaction,
  walletTransactions,
} from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';

const signer = Signer.fromPrivateKey(`0x${'4b'.repeat(32)}`);
const QUESTION = `0x${'7a'.repeat(31)}02`;

const marketOf = (conditionId: string, negRisk: boolean, version: 'v1' | 'v2') => ({
  ...{ conditionId, negRisk, version },
  clobTokenIds: [...outcomeTokens(conditionId, negRisk)],
});
const MARKETS = {
  ordinary: marketOf(`0x${'5f'.repeat(32)}`, false, 'v1'),
  exclusive: marketOf(negRiskConditionId(QUESTION), true, 'v1'),
  binary: marketOf(conditionIdOf({ module: 1, baseHash: 77n, arity: 0, index: 0 }), false, 'v2'),
  ofSeveral: marketOf(conditionIdOf({ module: 2, baseHash: 78n, arity: 3, index: 1 }), true, 'v2'),
};
const pinsOf = (type: 0 | 1 | 2 | 3, market: WalletPins['market'] = MARKETS.ordinary): WalletPins => ({
  ...{ signer, wallet: signer.wallet(type), market },
});
const given = (transactions: readonly WalletTransaction[]) => ({
  status: 'unsigned',
  transactions: transactions.map((one) => ({ ...one, description: 'Sign me.' })),
});
const SPLIT: WalletAction = { kind: 'split', amount: 25.5 };

const ACTIONS: readonly (readonly [WalletAction, WalletPins['market']])[] = [
  ...Object.values(MARKETS).flatMap((market) => [
    [SPLIT, market] as const,
    [{ kind: 'merge', amount: 3 }, market] as const,
    [{ kind: 'redeem', shares: { YES: 4, NO: 0.5 } }, market] as const,
  ]),
  [{ kind: 'convert', amount: 2, questionId: QUESTION }, MARKETS.exclusive],
  [{ kind: 'convert', amount: 2 }, MARKETS.ofSeveral],
];

/** Each field of a transaction as something else: the nearest thing that would still be taken for it. */
const LIES: readonly (readonly [string, (one: WalletTransaction) => Partial<Record<string, unknown>>])[] = [
  ['from', () => ({ from: `0x${'9'.repeat(40)}` })],
  ['to', ({ to }) => ({ to: `${to.slice(0, -1)}${to.endsWith('0') ? '1' : '0'}` })],
  ['value', () => ({ value: '1' })],
  ['value', () => ({ value: 0 })],
  ['chainId', () => ({ chainId: 1 })],
];

describe.each([0, 1, 2, 3] as const)('of a wallet of type %i', (type) => {
  test.each(ACTIONS)(
    '%o is taken as it is, with and without the approval of its contract',
    (action, market) => {
      const pins = pinsOf(type, market);
      for (const isApproved of [true, false]) {
        const built = walletTransactions(action, pins, isApproved);
        expect(verifyWalletCalls(given(built), action, pins)).toEqual(built);
      }
      expect(signatureTypeOf(signer.address, pins.wallet as never)).toBe(type);
    },
  );

  test.each(ACTIONS)('%o is refused with any other field', (action, market) => {
    const pins = pinsOf(type, market);
    const built = walletTransactions(action, pins);
    for (const [name, lie] of LIES) {
      const [first, ...others] = built;
      const answer = given([{ ...first!, ...lie(first!) } as never, ...others]);
      expect(() => verifyWalletCalls(answer, action, pins)).toThrow(
        expect.objectContaining({ name: 'WalletCallsError', field: `transactions.0.${name}` }),
      );
    }
  });

  test('a change of any byte of the data is refused', () => {
    const pins = pinsOf(type);
    const [only] = walletTransactions(SPLIT, pins);
    const bytes = hexToBytes(only!.data);
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ 1;
      const answer = given([{ ...only!, data: `0x${Buffer.from(changed).toString('hex')}` }]);
      expect(() => verifyWalletCalls(answer, SPLIT, pins)).toThrow(WalletCallsError);
    }
  });
});

test('other terms than the person’s are refused: amount, action, market, approval', () => {
  const pins = pinsOf(2);
  const refused = (action: WalletAction, from: WalletPins = pins, isApproved = true) =>
    expect(() => verifyWalletCalls(given(walletTransactions(action, from, isApproved)), SPLIT, pins)).toThrow(
      expect.objectContaining({ field: expect.stringMatching(/^transactions\.0\.(data|to)$/) }),
    );
  refused({ kind: 'split', amount: 25.500001 });
  refused({ kind: 'merge', amount: 25.5 });
  refused({ kind: 'redeem' });
  for (const market of [MARKETS.exclusive, MARKETS.binary]) refused(SPLIT, { ...pins, market });
  // The approval that another action needs, or another market.
  refused({ kind: 'merge', amount: 25.5 }, pins, false);
  refused(SPLIT, { ...pins, market: MARKETS.exclusive }, false);
});

test('a transaction more or less is refused', () => {
  const pins = pinsOf(0);
  const built = walletTransactions(SPLIT, pins, false);
  for (const some of [[], [...built, ...built], built.slice(0, 1)])
    expect(() => verifyWalletCalls(given(some), SPLIT, pins)).toThrow(WalletCallsError);
  expect(() => verifyWalletCalls({ status: 'filled' }, SPLIT, pins)).toThrow('nothing to sign');
});

test('a market that lies about its kind gets no transaction', () => {
  for (const market of [MARKETS.ordinary, MARKETS.exclusive])
    expect(() => walletTransactions(SPLIT, pinsOf(0, { ...market, negRisk: !market.negRisk }))).toThrow(
      OrderBuildError,
    );
  const lie = { ...MARKETS.ordinary, conditionId: MARKETS.binary.conditionId };
  expect(() => walletTransactions(SPLIT, pinsOf(0, lie))).toThrow(OrderBuildError);
});

describe('in a market whose venue lists No first', () => {
  const turned = (market: (typeof MARKETS)['binary']) => {
    const [first = '', second = ''] = market.clobTokenIds;
    return { ...market, clobTokenIds: [second, first], outcomes: ['Yes', 'No'] };
  };
  const tokenIdsOf = ({ clobTokenIds }: { readonly clobTokenIds: string[] }) =>
    clobTokenIds as unknown as readonly [string, string];

  test('sets, and what is redeemed as a whole, take both tokens: nothing has to be known', () => {
    for (const kind of ['split', 'merge'] as const)
      for (const market of Object.values(MARKETS))
        expect(walletTransactions({ kind, amount: 3 }, pinsOf(0, turned(market)))).toEqual(
          walletTransactions({ kind, amount: 3 }, pinsOf(0, market)),
        );
    expect(walletTransactions({ kind: 'redeem' }, pinsOf(0, turned(MARKETS.exclusive)))).toEqual(
      walletTransactions({ kind: 'redeem' }, pinsOf(0, MARKETS.exclusive)),
    );
  });

  test('shares of YES are redeemed as what the condition lists second, by who knows the tokens', () => {
    const market = turned(MARKETS.binary);
    const redeem = (YES: number, NO: number): WalletAction => ({ kind: 'redeem', shares: { YES, NO } });
    expect(() => walletTransactions(redeem(4, 0.5), pinsOf(0, market))).toThrow(OrderBuildError);
    expect(
      walletTransactions(redeem(4, 0.5), { ...pinsOf(0, market), tokenIds: tokenIdsOf(market) }),
    ).toEqual(walletTransactions(redeem(0.5, 4), pinsOf(0, MARKETS.binary)));
  });

  test('no NO shares are converted: the contract converts the other ones', () => {
    const market = turned(MARKETS.ofSeveral);
    const pins = { ...pinsOf(0, market), tokenIds: tokenIdsOf(market) };
    expect(() => walletTransactions({ kind: 'convert', amount: 2 }, pins)).toThrow(
      expect.objectContaining({ name: 'WalletCallsError', field: 'market' }),
    );
  });
});

test('the contracts are the pinned ones of the market’s kind', () => {
  const to = (market: WalletPins['market'], action = SPLIT) =>
    walletTransactions(action, pinsOf(0, market))[0]?.to;
  expect(to(MARKETS.exclusive)).toBe(NEG_RISK_COLLATERAL_ADAPTER);
  expect(to(MARKETS.ofSeveral)).toBe(POSITION_ROUTER);
});

test('what cannot be asked for is named', () => {
  const build =
    (action: unknown, pins: unknown = pinsOf(0)) =>
    () =>
      walletTransactions(action as WalletAction, pins as WalletPins);
  expect(build({ kind: 'split', amount: 0.0000001 })).toThrow('at most 6 decimals');
  expect(build({ kind: 'split', amount: -1 })).toThrow(WalletCallsError);
  expect(build({ kind: 'redeem' }, pinsOf(0, MARKETS.binary))).toThrow('say which shares');
  expect(build({ kind: 'convert', amount: 1 }, pinsOf(0, MARKETS.exclusive))).toThrow('question id');
  expect(build({ kind: 'convert', amount: 1, questionId: QUESTION })).toThrow('excludes others');
  expect(build(SPLIT, { ...pinsOf(0), wallet: `0x${'1'.repeat(40)}` })).toThrow('is no wallet of the key');
  expect(build({ kind: 'steal' })).toThrow('needs kind');
});
