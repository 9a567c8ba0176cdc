import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NewOrder, Outcome, Side, TimeInForce } from '../engine/commands.ts';
import { decodeCommand, encodeCommand, type JournalCommand } from './commands.ts';

const ref = { orderId: '0x01', account: '0x02', conditionId: '0x03' };
const sides = { outcome: 'NO', side: 'SELL' } as const;

test.each<JournalCommand>([
  { kind: 'begin', seed: '42', speed: 1_000 },
  { kind: 'step' },
  { kind: 'step', speed: 2_500 },
  { kind: 'deposit', account: '123', amount: 5n },
  {
    kind: 'place',
    order: {
      ...ref,
      ...sides,
      limit: 5_700,
      size: 1n,
      spend: 2n ** 70n,
      timeInForce: 'FAK',
      postOnly: false,
    },
  },
  {
    kind: 'place',
    order: { ...ref, ...sides, limit: 1, size: 0n, timeInForce: 'GTD', postOnly: true, expiresAt: 1.7e12 },
  },
  { kind: 'cancel', account: '0x02', orderIds: ['0x01', '7'] },
  { kind: 'split', account: '0x02', conditionId: '0x03', amount: 1n },
  { kind: 'merge', account: '0x02', conditionId: '0x03', amount: 1n },
  { kind: 'convert', ...ref, amount: 2n ** 60n },
  { kind: 'merge', ...ref, amount: 2n ** 60n },
  { kind: 'redeem', account: '0x02', conditionId: '0x03' },
  {
    kind: 'mirror',
    changes: [
      {
        kind: 'list',
        market: {
          id: '1',
          conditionId: '0x03',
          tokenIds: ['7', '8'],
          slug: 's',
          question: 'q',
          description: 'd',
          outcomes: ['São “Paulo”', 'No'],
          category: 'Weather',
          eventId: '9',
          eventTitle: 'e',
          negRisk: true,
          feeRate: 70_000n,
          feeExponent: 1,
          createdAt: 1,
          tickSize: 10,
          minOrderSize: 5n,
          endDate: 2,
        },
      },
      { kind: 'terms', conditionId: '0x03', terms: { tickSize: 1, minOrderSize: 2n ** 70n, endDate: 3 } },
      {
        kind: 'terms',
        conditionId: '0x03',
        terms: { tickSize: 1, minOrderSize: 1n, endDate: 3, outcomes: ['Over 2.5', 'Under 2.5'] },
      },
      { kind: 'levels', conditionId: '0x03', levels: [['bid', 4_500, 0n]], isWhole: true },
      { kind: 'pause', conditionId: '0x03' },
      { kind: 'trade', conditionId: '0x03', side: 'SELL', price: 4_500, size: 2n ** 65n },
      { kind: 'resolve', conditionId: '0x03', payout: 'HALF' },
    ],
  },
])('a command survives the journal: $kind', (command) => {
  expect(decodeCommand(encodeCommand(command))).toEqual(command);
});

/** As earlier releases wrote and read commands: with a callback for every part. */
const writtenBefore = (command: JournalCommand): string =>
  JSON.stringify(command, (_name, part: unknown) => (typeof part === 'bigint' ? part.toString() : part));

const id = fc.oneof(fc.string(), fc.stringMatching(/^0x[0-9a-f]{64}$/), fc.stringMatching(/^[0-9]{1,5}$/));
const amount = fc.bigInt({ min: 0n, max: 2n ** 200n });
const order = fc.record(
  {
    orderId: id,
    account: id,
    conditionId: id,
    outcome: fc.constantFrom<Outcome>('YES', 'NO'),
    side: fc.constantFrom<Side>('BUY', 'SELL'),
    limit: fc.integer(),
    size: amount,
    spend: amount,
    timeInForce: fc.constantFrom<TimeInForce>('GTC', 'GTD', 'FOK', 'FAK'),
    postOnly: fc.boolean(),
    expiresAt: fc.double({ noNaN: true, noDefaultInfinity: true, min: 1 }),
  },
  {
    requiredKeys: 'orderId account conditionId outcome side limit size timeInForce postOnly'.split(
      ' ',
    ) as never,
    noNullPrototype: true,
  },
) as fc.Arbitrary<NewOrder>;
const command: fc.Arbitrary<JournalCommand> = fc.oneof(
  order.map((placed) => ({ kind: 'place', order: placed }) as const),
  fc.record({ kind: fc.constant('deposit' as const), account: id, amount }),
  fc.record({
    kind: fc.constantFrom('split' as const, 'merge' as const),
    account: id,
    conditionId: id,
    amount,
  }),
  fc.record({ kind: fc.constant('redeem' as const), account: id, conditionId: id }),
  fc.record({ kind: fc.constant('cancel' as const), account: id, orderIds: fc.array(id) }),
  fc.constantFrom<JournalCommand>(
    { kind: 'sweep' },
    { kind: 'step', boundedSweeps: true, derivedTokens: true },
  ),
);

test('any command survives, and is read as earlier releases wrote it', () => {
  fc.assert(
    fc.property(command, (one) => {
      expect(decodeCommand(encodeCommand(one))).toEqual(one);
      expect(decodeCommand(writtenBefore(one))).toEqual(one);
      expect(JSON.parse(encodeCommand(one))).toEqual(JSON.parse(writtenBefore(one)));
    }),
    { numRuns: 2_000 },
  );
});

test('a conversion is unreadable to the releases that would pass over it', () => {
  const { amount } = JSON.parse(encodeCommand({ kind: 'convert', ...ref, amount: 5n }));
  expect(() => BigInt(amount)).toThrow(SyntaxError);
});
