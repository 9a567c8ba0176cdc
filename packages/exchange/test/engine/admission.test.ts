/** One row per refusal with the exact event, and the order in which refusals are reported when two faults meet. */
import { parseMicro } from '@bellwether/contract/decimals';
import { expect, test } from 'vitest';
import type { EngineCommand, Outcome, RejectReason, Side } from '../../src/engine/types.ts';
import { Desk, MARKET, order, type Terms } from './desk.ts';

type Words = readonly [Side, Outcome, string, number];

interface Row {
  readonly reason: RejectReason;
  readonly why: string;
  readonly words: Words;
  readonly terms?: Terms;
  readonly figures?: { readonly needed: bigint; readonly available: bigint };
}

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
  { reason: 'duplicate_order', why: 'the id is open', words: FINE, terms: { orderId: 'mine' } },
  { reason: 'duplicate_order', why: "another account's id is open", words: FINE, terms: { orderId: 'ask' } },
  { reason: 'market_not_found', why: 'no such market', words: FINE, terms: { conditionId: '0xnone' } },
  { reason: 'market_closed', why: 'closed', words: FINE, terms: { conditionId: '0xclosed' } },
  { reason: 'market_closed', why: 'resolved', words: FINE, terms: { conditionId: '0xresolved' } },
  {
    reason: 'post_only_needs_gtc_or_gtd',
    why: 'FOK',
    words: FINE,
    terms: { postOnly: true, timeInForce: 'FOK' },
  },
  {
    reason: 'post_only_needs_gtc_or_gtd',
    why: 'FAK',
    words: FINE,
    terms: { postOnly: true, timeInForce: 'FAK' },
  },
  { reason: 'price_off_tick_grid', why: 'between two ticks', words: ['BUY', 'YES', '10', 5050] },
  { reason: 'price_off_tick_grid', why: 'no whole pip', words: ['BUY', 'YES', '10', 5000.5] },
  { reason: 'price_off_tick_grid', why: 'no number', words: ['BUY', 'YES', '10', Number.NaN] },
  { reason: 'price_out_of_range', why: 'nought', words: ['BUY', 'YES', '10', 0] },
  { reason: 'price_out_of_range', why: 'one', words: ['SELL', 'NO', '10', 10_000] },
  { reason: 'price_out_of_range', why: 'negative', words: ['BUY', 'YES', '10', -100] },
  { reason: 'size_below_minimum', why: 'GTC under 5', words: ['BUY', 'YES', '4.999999', 5000] },
  {
    reason: 'size_below_minimum',
    why: 'GTD under 5',
    words: ['SELL', 'NO', '4.999999', 5000],
    terms: { timeInForce: 'GTD', expiresAt: 9_999 },
  },
  {
    reason: 'size_below_minimum',
    why: 'nothing',
    words: ['SELL', 'YES', '0', 4000],
    terms: { timeInForce: 'FAK' },
  },
  { reason: 'already_expired', why: 'past', words: FINE, terms: { timeInForce: 'GTD', expiresAt: 999 } },
  { reason: 'already_expired', why: 'due now', words: FINE, terms: { timeInForce: 'GTD', expiresAt: 1_000 } },
  { reason: 'already_expired', why: 'no time', words: FINE, terms: { timeInForce: 'GTD' } },
  {
    reason: 'post_only_would_cross',
    why: 'meets an ask',
    words: ['BUY', 'YES', '10', 6000],
    terms: { postOnly: true },
  },
  {
    reason: 'post_only_would_cross',
    why: 'meets a bid in the mirror',
    words: ['BUY', 'NO', '10', 6000],
    terms: { postOnly: true },
  },
  {
    reason: 'post_only_would_cross',
    why: 'meets its own order',
    words: ['SELL', 'YES', '10', 4000],
    terms: { postOnly: true, account: 'bob' },
  },
  {
    reason: 'amount_below_minimum',
    why: 'immediate',
    words: ['BUY', 'YES', '2', 4900],
    terms: { timeInForce: 'FAK' },
  },
  {
    reason: 'amount_below_minimum',
    why: 'a budget of a micro-unit less than 1',
    words: ['BUY', 'YES', '2', 6000],
    terms: { timeInForce: 'FOK', spend: '0.999999' },
  },
  {
    reason: 'amount_below_minimum',
    why: 'a budget below nothing',
    words: ['BUY', 'YES', '2', 6000],
    terms: { timeInForce: 'FAK', spend: '-5' },
  },
  {
    reason: 'insufficient_balance',
    why: 'collateral',
    words: ['BUY', 'YES', '1800.000002', 5000],
    figures: { needed: 900_000_001n, available: 899_950_000n },
  },
  {
    reason: 'insufficient_balance',
    why: 'tokens',
    words: ['SELL', 'NO', '100.000001', 5000],
    figures: { needed: 100_000_001n, available: 100_000_000n },
  },
  {
    reason: 'insufficient_balance',
    why: 'an account that never was',
    words: FINE,
    terms: { account: 'eve' },
    figures: { needed: 5_000_000n, available: 0n },
  },
  { reason: 'fak_no_match', why: 'an empty book', words: FINE, terms: { timeInForce: 'FAK' } },
  {
    reason: 'fak_no_match',
    why: 'only its own order',
    words: ['BUY', 'YES', '10', 6000],
    terms: { timeInForce: 'FAK', account: 'bob' },
  },
  {
    reason: 'fok_not_filled',
    why: 'too little there',
    words: ['BUY', 'YES', '20.000001', 6000],
    terms: { timeInForce: 'FOK' },
  },
  {
    reason: 'fok_not_filled',
    why: 'a budget that the book cannot use up',
    words: ['BUY', 'YES', '21', 6000],
    terms: { timeInForce: 'FOK', spend: '12.6' },
  },
  {
    reason: 'fok_not_filled',
    why: 'too little there without its own',
    words: ['SELL', 'YES', '5', 4000],
    terms: { timeInForce: 'FOK', account: 'bob' },
  },
];

test.each(ROWS)('$reason: $why', ({ reason, words, terms, figures }) => {
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
const LADDER: readonly {
  readonly reports: RejectReason;
  readonly terms: Partial<ReturnType<typeof order>>;
}[] = [
  { reports: 'duplicate_order', terms: { orderId: 'mine', conditionId: '0xnone', limit: 50, size: 0n } },
  { reports: 'market_not_found', terms: { conditionId: '0xnone', limit: 50, size: 0n } },
  {
    reports: 'market_closed',
    terms: { conditionId: '0xclosed', timeInForce: 'FOK', postOnly: true, limit: 50 },
  },
  {
    reports: 'post_only_needs_gtc_or_gtd',
    terms: { timeInForce: 'FOK', postOnly: true, limit: 50, size: 0n },
  },
  { reports: 'price_off_tick_grid', terms: { limit: 9_950, size: 0n, timeInForce: 'GTD', expiresAt: 1 } },
  { reports: 'price_out_of_range', terms: { limit: 10_000, size: 0n, timeInForce: 'GTD', expiresAt: 1 } },
  {
    reports: 'size_below_minimum',
    terms: { size: 1n, timeInForce: 'GTD', expiresAt: 1, limit: 9_900, postOnly: true },
  },
  { reports: 'already_expired', terms: { timeInForce: 'GTD', expiresAt: 1, limit: 9_900, postOnly: true } },
  { reports: 'post_only_would_cross', terms: { limit: 6_000, size: 1_000_000_000_000n, postOnly: true } },
  { reports: 'amount_below_minimum', terms: { account: 'eve', limit: 6_000, size: 1n, timeInForce: 'FOK' } },
  { reports: 'insufficient_balance', terms: { account: 'eve', limit: 5_000, timeInForce: 'FAK' } },
];

test.each(LADDER)('of several faults, $reports is reported first', ({ reports, terms }) => {
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
