/** Rules for splits, merges, conversions and redemptions: each kind of broken promise has a history that the checker refuses, and a neighbour. */
import { expect, test } from 'vitest';
import { check } from './checker.ts';
import type { DeskFill, DeskOrder, FinalFacts, VenueMove } from './final-facts.ts';
import type { Operation, Outcome, SetOperation } from './history.ts';
import {
  A,
  at,
  factsOf,
  fill,
  historyOf,
  ORDER,
  OTHER,
  ok,
  type Reported,
  type Rule,
  refused,
  resting,
  settings,
  UNIT,
  wallet,
} from './small-histories.ts';

const TEN = 10n * UNIT;
const asks = (kind: SetOperation['kind'], amount = TEN): Operation => ({
  ...{ kind, agent: A, name: 'mine', market: 'm', amount },
});
const redeem: Operation = { kind: 'redeem', agent: A, market: 'm' };
const made = ok({ success: true, status: 'filled', setId: ORDER });

const setOf = (kind: SetOperation['kind'], changes: Partial<DeskOrder> = {}): DeskOrder =>
  resting(ORDER, {
    ...{ kind, name: 'mine', status: 'filled', word: 'filled', token: '' },
    ...{ side: kind === 'merge' ? 'SELL' : 'BUY', isTrade: kind !== 'merge' },
    ...{ shares: TEN, filled: TEN, cost: TEN, reserved: kind === 'merge' ? 0n : TEN },
    ...changes,
  });

/** Both halves of ten sets for half of the collateral each. */
const halves = (of: Partial<DeskFill> = {}): DeskFill[] =>
  (['YES', 'NO'] as const).map((outcome) => ({
    ...{ ...fill, matchKind: 'SPLIT', size: TEN, cost: TEN / 2n, fee: 0n, outcome, tradeId: outcome },
    ...of,
  }));
const moved = (kind: VenueMove['kind'], changes: Partial<VenueMove> = {}): VenueMove => ({
  ...{ wallet: '0xw', kind, conditionId: 'm', yes: TEN, no: TEN, collateral: TEN },
  ...changes,
});
const pairs = (yes: bigint, no: bigint, money: bigint) => {
  const tokens = yes + no === 0n ? [] : [{ conditionId: 'm', yes, no }];
  return [wallet({ money, tokens, positions: tokens })];
};

/** Ten sets that were split: everywhere the same. */
const splitFacts = (changes: Partial<FinalFacts> = {}, orders = [setOf('split')]): Partial<FinalFacts> =>
  factsOf(orders, {
    ...{ fills: halves(), moves: [moved('split')], wallets: pairs(TEN, TEN, 90n * UNIT) },
    ...changes,
  });
const split = (outcome: Outcome = made, facts = splitFacts()): Reported => ({
  calls: [at(0, 1, asks('split'), outcome)],
  facts,
});

const paid = (changes: Partial<VenueMove> = {}, money = 100n * UNIT): Partial<FinalFacts> =>
  splitFacts({
    fills: [
      ...halves(),
      { ...fill, orderId: 'redeemed:1', matchKind: 'REDEEMED', side: 'SELL', size: TEN, cost: TEN, fee: 0n },
      {
        ...fill,
        orderId: 'lost:m',
        matchKind: 'LOST',
        side: 'SELL',
        outcome: 'NO',
        size: TEN,
        cost: 0n,
        fee: 0n,
      },
    ],
    moves: [moved('split'), moved('redeem', changes)],
    payouts: [{ conditionId: 'm', payout: 'YES' }],
    wallets: pairs(0n, 0n, money),
  });

const limits = at(0, 1, settings({ maxPositionValue: 15n * UNIT }), ok());
const again = resting(OTHER, { ...setOf('split'), orderId: OTHER, name: 'other' });
const twoSplits = (nextTo: Partial<DeskFill>[]): Partial<FinalFacts> =>
  splitFacts(
    {
      fills: [
        ...halves(),
        ...nextTo.map((one) => ({ ...fill, fee: 0n, ...one })),
        ...halves({ orderId: OTHER, at: 9 }),
      ],
      moves: [moved('split'), moved('split')],
      wallets: [],
    },
    [setOf('split'), again],
  );

const RULES: readonly Rule[] = [
  [
    'a name has one effect',
    {
      calls: [at(0, 1, asks('split'), made), at(2, 3, asks('split', UNIT), made)],
      facts: splitFacts({}, [setOf('split'), setOf('split', { orderId: OTHER, shares: UNIT })]),
    },
    'One name had 2 effects: split "mine"',
    {
      calls: [
        at(0, 1, asks('split'), made),
        at(2, 3, asks('split', UNIT), refused('client_order_id_already_used')),
      ],
      facts: splitFacts(),
    },
  ],
  [
    'the same body has one answer',
    {
      calls: [
        at(0, 1, asks('split'), made),
        at(2, 3, asks('split'), ok({ ...{ success: true, status: 'filled' }, whole: 'other' })),
      ],
      facts: splitFacts(),
    },
    'The same split "mine" had two answers: call 1',
    { calls: [at(0, 1, asks('split'), made), at(2, 3, asks('split'), made)], facts: splitFacts() },
  ],
  [
    'what was answered as made is there',
    split(made, {}),
    'What was answered as made is not there: call 1',
    split(),
  ],
  [
    'what was refused is not made',
    split(refused('max_trade_amount_exceeded')),
    'What was refused was made all the same: call 1',
    split(refused('idempotency_in_flight')),
  ],
  [
    'no safeguard stands in the way of a merge',
    { calls: [at(0, 1, asks('merge'), refused('trading_paused'))] },
    'A safeguard stands in the way of an exit: call 1',
    { calls: [at(0, 1, asks('merge'), refused('insufficient_balance'))] },
  ],
  [
    'a split counts its collateral',
    split(made, splitFacts({}, [setOf('split', { reserved: 0n })])),
    'of 10.000000 counted 0.000000 under the safeguards, not 10.000000',
    split(),
  ],
  [
    'both halves of a set are booked',
    split(made, splitFacts({ fills: halves().slice(0, 1) })),
    'The 1 fills of order 0x0000000001 do not make what its row says',
    split(),
  ],
  [
    'the desk books the sets that the venue made',
    split(made, splitFacts({ moves: [moved('split'), moved('split')] })),
    'has a split of 20.000000 YES, 20.000000 NO and 20.000000 in market m, and the desk has booked 10.000000 YES',
    split(),
  ],
  [
    'a market pays for the tokens that there were',
    { facts: paid({ yes: 2n * TEN, collateral: 2n * TEN }, 110n * UNIT) },
    `Agent ${A} has redeemed 20.000000 YES of market m and holds 0.000000, and its fills make 10.000000`,
    { facts: paid() },
  ],
  [
    'a market pays what it resolved to',
    { facts: paid({ collateral: 2n * TEN }, 110n * UNIT) },
    `Market m resolved YES and has paid 20.000000 for 10.000000 of it to agent ${A}`,
    { facts: paid() },
  ],
  [
    'nobody is told twice of a payout',
    { calls: [at(0, 1, redeem, ok({ paid: TEN })), at(0, 1, redeem, ok({ paid: TEN }))], facts: paid() },
    `Answers told agent ${A} of 20.000000 for market m, which has paid 10.000000: call 1`,
    { calls: [at(0, 1, redeem, ok({ paid: TEN })), at(0, 1, redeem, ok({ paid: 0n }))], facts: paid() },
  ],
  [
    'one half that is sold leaves no room for a split',
    {
      calls: [limits],
      facts: {
        ...twoSplits([]),
        wallets: [
          wallet({
            money: 80n * UNIT,
            tokens: [{ conditionId: 'm', yes: 2n * TEN, no: 2n * TEN }],
            positions: [{ conditionId: 'm', yes: 2n * TEN, no: 2n * TEN }],
          }),
        ],
      },
    },
    `With a split agent ${A} has 20.000000 in market m, and its limit is 15.000000`,
    { calls: [limits], facts: splitFacts() },
  ],
  [
    'no conversion passes while positions have a limit',
    { calls: [limits, at(2, 3, asks('convert'), made)], facts: factsOf([setOf('convert')]) },
    `No order of its calls explains how the limits of agent ${A} were judged`,
    { calls: [limits, at(2, 3, asks('convert'), refused('max_position_value_exceeded'))] },
  ],
];

test.each(RULES)('%s', (_, broken, sentence, kept) => {
  expect(check(historyOf(broken)).join('\n')).toContain(sentence);
  expect(check(historyOf(kept))).toEqual([]);
});
