/** One row per refusal with the exact event, and the order in which refusals are reported when two faults meet. */
import { parseMicro } from '@bellwether/contract/decimals';
import { expect, test } from 'vitest';
import type { EngineCommand, Outcome, RejectReason, Side } from '../../src/engine/commands.ts';
import { Desk, MARKET, order, type Terms } from './desk.ts';

type Words = readonly [Side, Outcome, string, number];

type Row = readonly [
  reason: RejectReason,
  why: string,
  words: Words,
  terms?: Terms,
  figures?: Readonly<Record<'needed' | 'available', bigint>>,
];

/** bob sells 20 YES at 0.60, and buys 20 YES at 0.40; ann is about to place. cyd's market is another one. */
function prepared(): Desk {
  const desk = new Desk();
  desk.place('ask', 'bob', ['SELL', 'YES', '20', 6000]);
  desk.place('bid', 'bob', ['BUY', 'YES', '20', 4000]);
  desk.place('mine', 'ann', ['BUY', 'YES', '5', 100]);
  desk.apply({ kind: 'list', market: { ...MARKET, conditionId: '0xclosed' } });
  desk.apply({ kind: 'close', conditionId: '0xclosed' });
  desk.apply({ kind: 'list', market: { ...MARKET, conditionId: '0xresolved' } });
  desk.apply({ kind: 'resolve', conditionId: '0xresolved', payout: 'YES' });
  return desk;
}

const FINE: Words = ['BUY', 'YES', '10', 5000];

const ROWS: readonly Row[] = [
  ['duplicate_order', 'the id is open', FINE, { orderId: 'mine' }],
  ['duplicate_order', "another account's id is open", FINE, { orderId: 'ask' }],
  ['market_not_found', 'no such market', FINE, { conditionId: '0xnone' }],
  ['market_closed', 'closed', FINE, { conditionId: '0xclosed' }],
  ['market_closed', 'resolved', FINE, { conditionId: '0xresolved' }],
  ['post_only_needs_gtc_or_gtd', 'FOK', FINE, { postOnly: true, timeInForce: 'FOK' }],
  ['post_only_needs_gtc_or_gtd', 'FAK', FINE, { postOnly: true, timeInForce: 'FAK' }],
  ['price_off_tick_grid', 'between two ticks', ['BUY', 'YES', '10', 5050]],
  ['price_off_tick_grid', 'no whole pip', ['BUY', 'YES', '10', 5000.5]],
  ['price_off_tick_grid', 'no number', ['BUY', 'YES', '10', Number.NaN]],
  ['price_out_of_range', 'nought', ['BUY', 'YES', '10', 0]],
  ['price_out_of_range', 'one', ['SELL', 'NO', '10', 10_000]],
  ['price_out_of_range', 'negative', ['BUY', 'YES', '10', -100]],
  ['size_below_minimum', 'GTC under 5', ['BUY', 'YES', '4.999999', 5000]],
  [
    'size_below_minimum',
    'GTD under 5',
    ['SELL', 'NO', '4.999999', 5000],
    { timeInForce: 'GTD', expiresAt: 9_999 },
  ],
  ['size_below_minimum', 'nothing', ['SELL', 'YES', '0', 4000], { timeInForce: 'FAK' }],
  ['already_expired', 'past', FINE, { timeInForce: 'GTD', expiresAt: 999 }],
  ['already_expired', 'due now', FINE, { timeInForce: 'GTD', expiresAt: 1_000 }],
  ['already_expired', 'no time', FINE, { timeInForce: 'GTD' }],
  ['post_only_would_cross', 'meets an ask', ['BUY', 'YES', '10', 6000], { postOnly: true }],
  ['post_only_would_cross', 'meets a bid in the mirror', ['BUY', 'NO', '10', 6000], { postOnly: true }],
  [
    'post_only_would_cross',
    'meets its own order',
    ['SELL', 'YES', '10', 4000],
    { postOnly: true, account: 'bob' },
  ],
  ['amount_below_minimum', 'immediate', ['BUY', 'YES', '2', 4900], { timeInForce: 'FAK' }],
  [
    'amount_below_minimum',
    'a budget of a micro-unit less than 1',
    ['BUY', 'YES', '2', 6000],
    { timeInForce: 'FOK', spend: '0.999999' },
  ],
  [
    'amount_below_minimum',
    'a budget below nothing',
    ['BUY', 'YES', '2', 6000],
    { timeInForce: 'FAK', spend: '-5' },
  ],
  [
    'insufficient_balance',
    'collateral',
    ['BUY', 'YES', '1800.000002', 5000],
    {},
    { needed: 900_000_001n, available: 899_950_000n },
  ],
  [
    'insufficient_balance',
    'tokens',
    ['SELL', 'NO', '100.000001', 5000],
    {},
    { needed: 100_000_001n, available: 100_000_000n },
  ],
  [
    'insufficient_balance',
    'an account that never was',
    FINE,
    { account: 'eve' },
    { needed: 5_000_000n, available: 0n },
  ],
  ['fak_no_match', 'an empty book', FINE, { timeInForce: 'FAK' }],
  ['fak_no_match', 'only its own order', ['BUY', 'YES', '10', 6000], { timeInForce: 'FAK', account: 'bob' }],
  ['fok_not_filled', 'too little there', ['BUY', 'YES', '20.000001', 6000], { timeInForce: 'FOK' }],
  [
    'fok_not_filled',
    'a budget that the book cannot use up',
    ['BUY', 'YES', '21', 6000],
    { timeInForce: 'FOK', spend: '12.6' },
  ],
  [
    'fok_not_filled',
    'too little there without its own',
    ['SELL', 'YES', '5', 4000],
    { timeInForce: 'FOK', account: 'bob' },
  ],
];

test.each(ROWS.map((row) => [row[0], row[1], row] as const))('%s: %s', (...[reason, , row]) => {
  const [, , words, terms, figures] = row;
  const desk = prepared();
  const before = desk.engine.snapshot();
  const placed = order('new', 'ann', words, terms);
  const { orderId, account, conditionId } = placed;
  expect(desk.apply({ kind: 'place', order: placed })).toEqual([
    { kind: 'order_rejected', orderId, account, conditionId, reason, ...figures },
  ]);
  expect(desk.engine.snapshot()).toEqual(before);
});

test('a crossing GTC BUY under 1 collateral is refused, a resting one is not', () => {
  const desk = new Desk({ minOrderSize: 1n });
  desk.place('ask', 'bob', ['SELL', 'YES', '20', 6000]);
  expect(desk.place('a', 'ann', ['BUY', 'YES', '1.6', 6000])).toMatchObject([
    { reason: 'amount_below_minimum' },
  ]);
  expect(desk.place('b', 'ann', ['BUY', 'YES', '1.6', 5900])).toMatchObject([{ kind: 'order_accepted' }]);
  // Matching only its own order does not count as taking.
  expect(desk.place('c', 'bob', ['BUY', 'YES', '1.6', 6000])).toMatchObject([
    { kind: 'order_accepted' },
    { kind: 'order_done', orderId: 'ask', reason: 'self_trade' },
  ]);
});

/** Each order has the faults of its row and of every row below it that can occur together. */
const LADDER: readonly (readonly [reports: RejectReason, terms: Partial<ReturnType<typeof order>>])[] = [
  ['duplicate_order', { orderId: 'mine', conditionId: '0xnone', limit: 50, size: 0n }],
  ['market_not_found', { conditionId: '0xnone', limit: 50, size: 0n }],
  ['market_closed', { conditionId: '0xclosed', timeInForce: 'FOK', postOnly: true, limit: 50 }],
  ['post_only_needs_gtc_or_gtd', { timeInForce: 'FOK', postOnly: true, limit: 50, size: 0n }],
  ['price_off_tick_grid', { limit: 9_950, size: 0n, timeInForce: 'GTD', expiresAt: 1 }],
  ['price_out_of_range', { limit: 10_000, size: 0n, timeInForce: 'GTD', expiresAt: 1 }],
  ['size_below_minimum', { size: 1n, timeInForce: 'GTD', expiresAt: 1, limit: 9_900, postOnly: true }],
  ['already_expired', { timeInForce: 'GTD', expiresAt: 1, limit: 9_900, postOnly: true }],
  ['post_only_would_cross', { limit: 6_000, size: 1_000_000_000_000n, postOnly: true }],
  ['amount_below_minimum', { account: 'eve', limit: 6_000, size: 1n, timeInForce: 'FOK' }],
  ['insufficient_balance', { account: 'eve', limit: 5_000, timeInForce: 'FAK' }],
];

test.each(LADDER)('of several faults, %s is reported first', (reports, terms) => {
  const desk = prepared();
  const command: EngineCommand = {
    kind: 'place',
    order: { ...order('new', 'ann', ['BUY', 'YES', '10', 5000]), ...terms },
  };
  expect(desk.apply(command)).toMatchObject([{ kind: 'order_rejected', reason: reports }]);
});

test('an order that takes needs its fees on top, one that only rests does not', () => {
  const desk = new Desk({ feeRate: 70_000n }, ['bob']);
  desk.place('ask', 'bob', ['SELL', 'YES', '100', 3600]);
  desk.apply({ kind: 'deposit', account: 'dan', amount: parseMicro('36') });
  // 100 × 0.07 × 0.36 × 0.64 = 1.6128
  const available = parseMicro('36');
  expect(desk.place('a', 'dan', ['BUY', 'YES', '100', 3600])).toMatchObject([
    { reason: 'insufficient_balance', needed: parseMicro('37.6128'), available },
  ]);
  expect(desk.place('b', 'dan', ['BUY', 'YES', '102.85', 3500])).toMatchObject([{ kind: 'order_accepted' }]);
  expect(desk.available('dan')).toBe(parseMicro('0.0025'));
});

test('what self-trade cancels would free does not pay for the order', () => {
  const desk = new Desk({}, ['ann', 'bob']);
  desk.place('mine', 'ann', ['BUY', 'NO', '1800', 5000]);
  expect(desk.available('ann')).toBe(0n);
  expect(desk.place('new', 'ann', ['BUY', 'YES', '10', 5000])).toMatchObject([
    { reason: 'insufficient_balance', needed: parseMicro('5'), available: 0n },
  ]);
  expect(desk.engine.openOrder('mine')).toBeDefined();
});
