import { expect, test } from 'vitest';
import { decodeCommand, encodeCommand, type JournalCommand } from './command-codec.ts';

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
  { kind: 'redeem', account: '0x02', conditionId: '0x03' },
])('a command survives the journal: $kind', (command) => {
  expect(decodeCommand(encodeCommand(command))).toEqual(command);
});
