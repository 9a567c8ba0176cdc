import { expect, test } from 'vitest';
import {
  eventWord,
  ORDER_KINDS,
  ORDER_STATUSES,
  type OrderStatus,
  standingsOf,
  statusNumber,
  statusWord,
  WITHOUT_EFFECT_CODES,
} from './lifecycle.ts';

const quotedWord = (status: OrderStatus, errorCode: string | null = null) =>
  statusWord({ kind: 'quoted', status, errorCode });

test('a quoted order has the status text of its venue', () => {
  expect(Object.fromEntries(ORDER_STATUSES.map((status) => [status, quotedWord(status)]))).toEqual({
    submitting: 'submitted',
    unknown: 'submitted',
    live: 'open',
    delayed: 'open',
    unmatched: 'open',
    partially_filled: 'open',
    partially_filled_closed: 'partially_filled',
    filled: 'filled',
    canceled: 'canceled',
    expired: 'expired',
    rejected: 'failed',
    market_resolved: 'open',
    matched: 'open',
    settlement_failed: 'open',
  });
  expect(quotedWord('rejected', 'reverted')).toBe('reverted');
  expect(quotedWord('rejected', 'not_landed')).toBe('expired');
  expect(quotedWord('rejected', 'refused_by_chain')).toBe('failed');
});

test('numbers of the records, and the status texts of signed orders', () => {
  const number = (status: (typeof ORDER_STATUSES)[number], errorCode: string | null = null) =>
    statusNumber({ kind: 'quoted', status, errorCode });
  expect([number('submitting'), number('delayed'), number('partially_filled')]).toEqual([1, 1, 1]);
  expect([number('filled'), number('partially_filled_closed')]).toEqual([2, 2]);
  expect([number('canceled'), number('rejected', 'not_landed'), number('rejected', 'reverted')]).toEqual([
    3, 3, 3,
  ]);
  expect(number('rejected', 'transaction_failed')).toBe(5);
  const signed = { kind: 'signed', status: 'partially_filled', errorCode: null } as const;
  expect([statusWord(signed), statusNumber(signed)]).toEqual(['partially_filled', 1]);
});

test('a signed order’s text is its status, except when the rest was killed', () => {
  const words = ORDER_STATUSES.map((status) => [
    status,
    statusWord({ kind: 'signed', status, errorCode: null }),
  ]);
  expect(words.filter(([status, word]) => status !== word)).toEqual([['partially_filled_closed', 'matched']]);
  for (const [status, word] of words) expect(eventWord(status as OrderStatus)).toBe(word);
});

test('numbers of a signed order', () => {
  const numbers = ORDER_STATUSES.map((status) => [
    status,
    statusNumber({ kind: 'signed', status, errorCode: null }),
  ]);
  expect(Object.fromEntries(numbers)).toEqual({
    submitting: 1,
    unknown: 1,
    live: 1,
    delayed: 1,
    unmatched: 1,
    partially_filled: 1,
    partially_filled_closed: 2,
    filled: 2,
    canceled: 3,
    expired: 3,
    rejected: 5,
    market_resolved: 4,
    matched: 2,
    settlement_failed: 5,
  });
});

test('a search by number finds an order by its own number only', () => {
  for (const kind of ORDER_KINDS)
    for (const status of ORDER_STATUSES)
      for (const errorCode of [
        null,
        ...(kind === 'quoted' && status === 'rejected' ? WITHOUT_EFFECT_CODES : []),
      ]) {
        const standing = { kind, status, errorCode };
        const found = [1, 2, 3, 4, 5].filter((number) =>
          standingsOf(number).some((one) => JSON.stringify(one) === JSON.stringify(standing)),
        );
        expect(found).toEqual([statusNumber(standing)]);
      }
});
