/** Rules for listeners and for the end: each kind of broken promise has a history that the checker refuses, and a neighbour. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { check } from './checker.ts';
import type { DeskFill, Results } from './final-facts.ts';
import { Recorder, readHistory } from './history.ts';
import {
  A,
  at,
  briefing,
  cancel,
  canceled,
  e1,
  e2,
  e3,
  factsOf,
  fill,
  filled,
  hears,
  historyOf,
  inLog,
  live,
  logged,
  lost,
  ORDER,
  OTHER,
  ok,
  place,
  type Rule,
  resting,
  restingThere,
  UNIT,
  wallet,
} from './small-histories.ts';

/** A quarter of what was bought, for 0.6 a share. */
const sale: DeskFill = {
  ...{ ...fill, orderId: OTHER, side: 'SELL', size: 5n * UNIT, cost: 3n * UNIT },
  ...{ fee: 0n, gain: 3n * UNIT, nth: 2n },
};
const NO_SUMS = { size: 0n, cost: 0n, realized: 0n, fees: 0n, boughtSize: 20n * UNIT, boughtCost: 9n * UNIT };
const won: Results = {
  agent: A,
  sums: { volume: 9n * UNIT, fees: UNIT, realized: 0n, wins: 0n, losses: 0n },
  days: { fees: UNIT, realized: 0n },
};
const bought = factsOf([filled], { fills: [fill], wallets: [wallet({})], results: [won] });

const matched = (size: bigint) => ok({ success: true, status: 'matched', filled: size, fees: UNIT });
const unrecorded = ok({ success: true, isRecorded: false });

const RULES: readonly Rule[] = [
  [
    'a stream loses nothing',
    { heard: hears('stream', e1, e3), facts: logged },
    'Stream l never heard of position (event e2)',
    { heard: hears('stream', e1, e2, e3), facts: logged },
  ],
  [
    'a stream repeats nothing',
    { heard: hears('stream', e1, e2, e2, e3), facts: logged },
    'Stream l heard twice of position (event e2)',
    { heard: hears('webhook', e1, e3, e3), facts: logged },
  ],
  [
    'a stream has the order of the log',
    { heard: hears('stream', e2, e1, e3), facts: logged },
    'another order',
    { heard: hears('stream', e1, e2, e3), facts: logged },
  ],
  [
    'a stream tells nothing that is not in the log',
    { heard: hears('stream', e1, e2, e3, { id: 'e9', type: 'risk' }), facts: logged },
    'which is not in the log',
    { heard: hears('webhook', { id: 'e0', type: 'risk' }, e1, e3), facts: logged },
  ],
  [
    'a webhook gets everything',
    { heard: hears('webhook', e3), facts: logged },
    'Webhook l never got order.live of 0x0000000001 (event e1)',
    { heard: hears('webhook', e1, e3), facts: logged },
  ],
  [
    'a webhook tells of one order in its order',
    { heard: hears('webhook', e3, e1), facts: logged },
    'before order.live of 0x0000000001 (event e1)',
    { heard: hears('webhook', e1, e1, e3), facts: logged },
  ],
  [
    'the log ends with what the order is',
    { facts: factsOf([resting()], { logs: [{ agent: A, events: inLog }] }) },
    'The log ends with order.canceled for order 0x0000000001, which is live',
    { facts: logged },
  ],
  [
    'the log tells of each fill once',
    {
      facts: factsOf([canceled], {
        logs: [{ agent: A, events: [...inLog, { id: 'e4', type: 'fill', orderId: ORDER }] }],
      }),
    },
    'The log tells of 1 fills of order 0x0000000001, which has 0',
    {
      facts: factsOf([canceled], {
        logs: [
          {
            agent: A,
            events: [
              ...inLog,
              { id: 'e4', type: 'fill', orderId: ORDER },
              { id: 'e5', type: 'fill.reversed', orderId: ORDER },
            ],
          },
        ],
      }),
    },
  ],
  [
    'briefings leave no change out',
    { calls: [briefing([ORDER, 'live'])], facts: logged },
    'The last briefing about order 0x0000000001 said live, and it is canceled',
    { calls: [briefing([ORDER, 'live']), briefing([ORDER, 'canceled'])], facts: logged },
  ],
  [
    'briefings tell of a change once',
    { calls: [1, 2, 3, 4].map(() => briefing([ORDER, 'canceled'])), facts: logged },
    'Briefings showed 4 times the order 0x0000000001',
    {
      calls: [briefing([ORDER, 'submitting']), briefing([ORDER, 'live']), briefing([ORDER, 'canceled'])],
      facts: logged,
    },
  ],
  [
    'nothing stays in doubt for ever',
    { facts: factsOf([resting(ORDER, { status: 'unknown', word: 'unknown' })], { venueOrders: [] }) },
    'Order 0x0000000001 stays in doubt: it is still unknown',
    { facts: factsOf([resting()]) },
  ],
  [
    'an order that was answered stays',
    { calls: [at(0, 1, place(), live)] },
    'Orders that were answered are gone: 0x0000000001',
    { calls: [at(0, 1, place(), lost)] },
  ],
  [
    'what was answered as canceled does not rest',
    {
      calls: [at(0, 1, place(), live), at(2, 3, cancel, unrecorded)],
      facts: factsOf([resting()]),
      setUp: 'live',
    },
    'Order 0x0000000001 rests in the end, and call 2',
    {
      calls: [at(0, 1, place(), live), at(2, 3, cancel, unrecorded)],
      facts: factsOf([canceled]),
      setUp: 'live',
    },
  ],
  [
    'an answer says no more than was filled',
    { calls: [at(0, 1, place(), matched(20n * UNIT + 1n))], facts: bought },
    'says 20.000001 filled for 1.000000, and it was 20.000000 for 1.000000',
    { calls: [at(0, 1, place(), matched(20n * UNIT))], facts: bought },
  ],
  [
    'desk and venue agree to the millionth',
    {
      facts: factsOf([filled], {
        fills: [fill],
        venueOrders: [
          restingThere(ORDER, { isOpen: false, filled: 20n * UNIT, cost: 9n * UNIT + 1n, fees: UNIT }),
        ],
      }),
    },
    'the desk says cost 9.000000, the venue 9.000001',
    { facts: bought },
  ],
  [
    'what rests at the venue is open at the desk',
    { facts: factsOf([canceled], { venueOrders: [restingThere()] }) },
    'Order 0x0000000001 rests at the venue, and the desk says canceled',
    { facts: factsOf([canceled]) },
  ],
  [
    'what is rejected was not filled',
    {
      facts: factsOf([resting(ORDER, { status: 'rejected', word: 'rejected', isTrade: false })], {
        venueOrders: [restingThere(ORDER, { isOpen: false, filled: UNIT })],
      }),
    },
    'is rejected at the desk, and the venue has filled it',
    { facts: factsOf([resting(ORDER, { status: 'rejected', word: 'rejected', isTrade: false })]) },
  ],
  [
    'a settlement that failed is known',
    {
      facts: factsOf([canceled], { venueOrders: [restingThere(ORDER, { isOpen: false, hasFailed: true })] }),
    },
    'a trade of it failed to settle',
    {
      facts: factsOf([resting(ORDER, { status: 'settlement_failed', word: 'settlement_failed' })], {
        venueOrders: [restingThere(ORDER, { isOpen: false, hasFailed: true })],
      }),
    },
  ],
  [
    'fills make what the order says',
    { facts: factsOf([filled], { fills: [fill, { ...fill, tradeId: '2' }] }) },
    'The 2 fills of order 0x0000000001 do not make what its row says',
    { facts: bought },
  ],
  [
    'the venue has no order that the desk does not know',
    { facts: { venueOrders: [restingThere()] } },
    'The venue has order 0x0000000001, of which the desk knows nothing',
    { facts: { venueOrders: [restingThere(ORDER, { isKnown: false })] } },
  ],
  [
    'money is conserved',
    { facts: factsOf([filled], { fills: [fill], wallets: [wallet({ money: 91n * UNIT })] }) },
    'agent agent-a has 91.000000, and its deposit and fills make 90.000000',
    { facts: bought },
  ],
  [
    'positions are what the account holds',
    { facts: factsOf([filled], { fills: [fill], wallets: [wallet({ positions: [] })] }) },
    'Agent agent-a holds 20.000000 yes of m at the venue, and the desk says 0.000000',
    { facts: bought },
  ],
  [
    'a market has as many YES as NO',
    { facts: { supplies: [{ conditionId: 'm', yes: UNIT, no: 2n * UNIT }] } },
    'Market m has 1.000000 YES and 2.000000 NO over all accounts',
    { facts: { supplies: [{ conditionId: 'm', yes: UNIT, no: UNIT }] } },
  ],
  [
    "the venue's ledger holds",
    { facts: { ledgerFault: 'conservation violated' } },
    "The venue's ledger does not hold: conservation violated",
    { facts: { ledgerFault: null } },
  ],
  [
    'a position has the cost of its fills',
    {
      facts: {
        fills: [fill],
        books: [
          {
            wallet: '0xw',
            token: 'yes',
            sums: { ...NO_SUMS, size: 20n * UNIT, cost: 8n * UNIT, fees: UNIT },
          },
        ],
      },
    },
    'Position yes of 0xw: the desk says cost 8.000000, and the fills make 9.000000',
    { facts: { fills: [fill] } },
  ],
  [
    'a sale takes its share of the cost',
    { facts: { fills: [fill, sale], books: [] } },
    'Fill 1 of order 0x0000000002 gained 0.750000, and the desk says 3.000000',
    { facts: { fills: [fill, sale] } },
  ],
  [
    'a day has the results of its fills',
    {
      facts: {
        ...{ fills: [fill], wallets: [wallet({})] },
        results: [{ ...won, days: { fees: 0n, realized: 0n } }],
      },
    },
    'Agent agent-a by day: the desk says fees 0.000000, and the fills make 1.000000',
    { facts: bought },
  ],
  [
    'an order gives no more than was signed',
    { facts: factsOf([{ ...filled, money: 9n * UNIT - 1n }], { fills: [fill] }) },
    'Order 0x0000000001 gave 9.000000, and 8.999999 was signed',
    { facts: bought },
  ],
  [
    'a sale brings the price that was signed',
    { facts: factsOf([{ ...filled, side: 'SELL' }], { fills: [{ ...fill, side: 'SELL' }] }) },
    'Order 0x0000000001 was filled at a worse price than it signed',
    {
      facts: factsOf([{ ...filled, side: 'SELL', money: 9n * UNIT }], {
        fills: [{ ...fill, side: 'SELL' }],
      }),
    },
  ],
  [
    'receipts verify',
    { facts: { receiptFaults: ['agent-a, receipt 3'] } },
    'A receipt does not hold: agent-a, receipt 3',
    { facts: { receiptFaults: [] } },
  ],
  [
    'every order has a receipt',
    { facts: factsOf([resting()], { ordersWithReceipt: [] }) },
    'Orders without a receipt: 0x0000000001',
    { facts: factsOf([resting()]) },
  ],
];

test.each(RULES)('%s', (_, broken, sentence, kept) => {
  expect(check(historyOf(broken)).join('\n')).toContain(sentence);
  expect(check(historyOf(kept))).toEqual([]);
});

test('a history can be read again, with its money', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bw-history-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'history.jsonl');
  const { facts } = historyOf({ facts: factsOf([resting()]) });
  const recorder = new Recorder(file, { line: 'run', seed: 3, setUp: 'live' });
  recorder.hear({ listener: 'l', via: 'stream', agent: A, event: e1 });
  const history = recorder.end(facts);
  expect(readHistory(file)).toEqual({ ...history, facts: { line: 'facts', ...facts } });
  writeFileSync(file, '{"line":"run","seed":3,"setUp":"live"}\n');
  expect(() => readHistory(file)).toThrow('holds no whole history');
});
