import { describe, expect, test } from 'vitest';
import { decodeOrderEvents, encodeOrderEvent, type OrderEvent } from './orders.ts';

const order = { orderId: '0x01', account: '0x02' };
const ref = { ...order, conditionId: '0x03' };

const rejected = (reason: 'fok_not_filled' | 'insufficient_balance') =>
  ({ kind: 'order_rejected', ...ref, reason }) as OrderEvent;
const filled: readonly OrderEvent[] = [
  { kind: 'order_accepted', ...ref },
  {
    ...{ kind: 'fill', ...ref, outcome: 'NO', side: 'SELL', matchId: 7, matchKind: 'MERGE' },
    ...{ liquidity: 'maker', price: 10, size: 2n ** 60n, cost: 2n, fee: 0n },
  },
  { kind: 'order_done', ...ref, reason: 'killed', filled: 3n, remaining: 4n, cost: 2n, fees: 1n },
];

const written = (events: readonly OrderEvent[]): string => events.map(encodeOrderEvent).join('\n');

describe('the events of an order', () => {
  test.each([
    ['accepted, filled and ended', filled],
    ['a split', [{ kind: 'split', ...ref, amount: 2n ** 60n, yesPrice: 4_150 }]],
    [
      'a conversion',
      [
        {
          ...{ kind: 'converted', ...ref, amount: 3n, worth: 2n ** 60n },
          made: [{ conditionId: '0x04', worth: 1n }],
        },
      ],
    ],
    ['a merge', [{ kind: 'merged', ...ref, amount: 1n }]],
    ['a deposit', [{ kind: 'deposited', ...order, amount: 2n ** 60n }]],
    ['rejected', [rejected('fok_not_filled')]],
    ['rejected for its balance', [{ ...rejected('insufficient_balance'), needed: 2n, available: 0n }]],
  ])('survive: %s', (_, events) => {
    expect(decodeOrderEvents(written(events as OrderEvent[]), order)).toEqual(events);
  });

  test('hold what only they know: neither the order nor its account, and the market once', () => {
    const lines = written(filled);
    expect(lines.match(/0x0[12]/g)).toBeNull();
    expect(lines.match(/0x03/g)).toHaveLength(1);
  });

  test('of earlier releases are read, also with lines of this release below them', () => {
    const asBefore = (event: OrderEvent): string =>
      JSON.stringify(event, (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part));
    expect(decodeOrderEvents(filled.map(asBefore).join('\n'), order)).toEqual(filled);
    const [first, ...more] = filled as [OrderEvent, ...OrderEvent[]];
    expect(decodeOrderEvents(`${asBefore(first)}\n${written(more)}`, order)).toEqual(filled);
  });

  test('are refused when no release has written them', () => {
    expect(() => decodeOrderEvents('["x"]', order)).toThrow(/unknown line/);
  });
});
