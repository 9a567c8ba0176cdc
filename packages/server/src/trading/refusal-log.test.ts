import { expect, test } from 'vitest';
import { RepeatedRefusals } from './refusal-log.ts';

type Refused = Parameters<RepeatedRefusals['add']>[0];

const attempt = (at: number, more: Partial<Refused> = {}): Refused => ({
  ...{ agentId: 'a', at, code: 'max_trade_amount_exceeded', conditionId: '0x1', side: 'BUY' },
  ...more,
});
const waits = (attempts: readonly Refused[], log = new RepeatedRefusals()) =>
  attempts.map((one) => log.add(one));
const every = (count: number, ms: number, more: Partial<Refused> = {}) =>
  Array.from({ length: count }, (_, nth) => attempt(nth * ms, more));

test('from the tenth within a minute on the wait grows, up to a minute', () => {
  expect(waits(every(18, 100))).toEqual([...Array(9).fill(null), 1, 2, 4, 8, 16, 32, 60, 60, 60]);
});

test('nine within a minute, for ever, are no loop', () => {
  expect(waits(every(100, 60_000 / 9)).every((wait) => wait === null)).toBe(true);
});

test.each<Partial<Refused>>([
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
