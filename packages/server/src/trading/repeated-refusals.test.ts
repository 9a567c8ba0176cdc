import { expect, test } from 'vitest';
import type { RefusedAttempt } from './refusal-log.ts';
import { RepeatedRefusals } from './repeated-refusals.ts';

const attempt = (at: number, more: Partial<RefusedAttempt> = {}): RefusedAttempt => ({
  ...{ agentId: 'a', at, code: 'max_trade_amount_exceeded', detail: '', venue: 'v', conditionId: '0x1' },
  ...{ question: '', outcome: 'YES', side: 'BUY', shares: 1n, money: 1n, walletAddress: '0x2' },
  ...{ reasoning: null, source: null, skillSlug: null, requestId: 'r' },
  ...more,
});
const waits = (attempts: readonly RefusedAttempt[], log = new RepeatedRefusals()) =>
  attempts.map((one) => log.add(one));
const every = (count: number, ms: number, more: Partial<RefusedAttempt> = {}) =>
  Array.from({ length: count }, (_, nth) => attempt(nth * ms, more));

test('from the tenth within a minute on the wait grows, up to a minute', () => {
  expect(waits(every(18, 100))).toEqual([...Array(9).fill(null), 1, 2, 4, 8, 16, 32, 60, 60, 60]);
});

test('nine within a minute, for ever, are no loop', () => {
  expect(waits(every(100, 60_000 / 9)).every((wait) => wait === null)).toBe(true);
});

test.each<Partial<RefusedAttempt>>([
  { agentId: 'b' },
  { conditionId: '0x9' },
  { side: 'SELL' },
  { code: 'trading_paused' },
])('another one is not the same: %j', (more) => {
  const log = new RepeatedRefusals();
  waits(every(9, 100), log);
  expect(log.add(attempt(1_000, more))).toBeNull();
  expect(log.add(attempt(1_000))).toBe(1);
});

test('twenty thousand markets are forgotten one by one, the oldest first', () => {
  const log = new RepeatedRefusals();
  waits(every(9, 1), log);
  for (let market = 0; market < 9_999; market += 1) log.add(attempt(10, { conditionId: `m${market}` }));
  expect(log.add(attempt(11))).toBe(1);
  for (let market = 0; market < 10_001; market += 1) log.add(attempt(12, { conditionId: `n${market}` }));
  expect(log.add(attempt(13))).toBeNull();
});
