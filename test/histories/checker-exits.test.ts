/** Rules for guarded exits: each kind of broken promise has a history that the checker refuses, and a neighbour that it accepts. */
import { expect, test } from 'vitest';
import { check } from './checker.ts';
import type { Call } from './history.ts';
import {
  around,
  bare,
  bothLeft,
  bothShown,
  cancelExit,
  canceled,
  EXIT,
  exitOf,
  failed,
  fired,
  goOnAt,
  group,
  leave,
  left,
  ofExits,
  pauseAt,
  readExit,
  resumeExit,
  shows,
  sold,
  suspended,
} from './small-exit-histories.ts';
import {
  A,
  at,
  historyOf,
  lost,
  ORDER,
  ok,
  place,
  type Rule,
  refused,
  restingThere,
  UNIT,
} from './small-histories.ts';

const RULES: readonly Rule[] = [
  [
    'no exit is suspended as if the database had been restored',
    ofExits([exitOf({ status: 'suspended', because: 'restored' })], [left]),
    'suspended as restored, and no database was',
    ofExits([exitOf()], [left]),
  ],
  [
    'a pause suspends an exit, from its answer on',
    ofExits([fired], [left, pauseAt(2, 3), at(4, 5, readExit(), shows('armed')), goOnAt(6, 7)]),
    'call 3 (client 3: read exit exit-1 → ok, armed)',
    ofExits(
      [fired],
      [
        left,
        pauseAt(2, 5),
        at(3, 4, readExit(), shows('armed')),
        goOnAt(6, 7),
        at(8, 9, resumeExit, shows('armed')),
      ],
    ),
  ],
  [
    'an exit that is left in a pause is suspended',
    ofExits([exitOf()], [pauseAt(0, 1), at(2, 3, leave(), shows('armed')), goOnAt(4, 5)]),
    'call 2 (client 2: leave exit 0x0000000001 → ok, armed)',
    ofExits([suspended], [pauseAt(0, 1), at(2, 3, leave(), shows('suspended')), goOnAt(4, 5)]),
  ],
  [
    'nothing arms it again but a word',
    ofExits([fired], [left, pauseAt(2, 3), at(4, 5, readExit(), shows('suspended')), goOnAt(6, 7)]),
    'it is fired in the end',
    ofExits(
      [fired],
      [
        left,
        pauseAt(2, 3),
        at(4, 5, readExit(), shows('suspended')),
        goOnAt(6, 7),
        at(8, 9, resumeExit, lost),
      ],
    ),
  ],
  [
    'an exit that is taken back sells nothing',
    ofExits([fired], [left, at(2, 3, cancelExit, shows('canceled'))]),
    'it is fired in the end',
    ofExits([fired], [left, at(2, 3, cancelExit, refused('exit_gone'))]),
  ],
  [
    'what was canceled cannot have gone',
    ofExits(
      [canceled],
      [left, at(2, 3, cancelExit, shows('canceled')), at(4, 5, cancelExit, refused('exit_gone'))],
    ),
    'call 3 (client 3: cancel exit exit-1 → refused: exit_gone)',
    ofExits(
      [canceled],
      [left, at(2, 3, cancelExit, shows('canceled')), at(4, 5, cancelExit, shows('canceled'))],
    ),
  ],
  [
    'a trigger that cannot hold sends nothing',
    ofExits([fired], [at(0, 1, leave({ trigger: { kind: 'never' } }), shows('armed'))]),
    'it is fired in the end',
    ofExits([exitOf()], [at(0, 1, leave({ trigger: { kind: 'never' } }), shows('armed'))]),
  ],
  [
    'each exit was left by a call',
    ofExits([exitOf()], []),
    'Exit exit-1 was left by no call',
    ofExits([exitOf()], [at(0, 1, leave(), lost)]),
  ],
  [
    'an end that sold nothing has sold nothing',
    ofExits([canceled], [left, at(2, 3, cancelExit, shows('canceled'))], { venue: [sold()] }),
    'Exit exit-1 is canceled, and its order has sold 20.000000',
    ofExits(
      [canceled],
      [left, at(2, 3, cancelExit, shows('canceled')), at(4, 5, place(), ok({ success: true }))],
      {
        venue: [sold()],
      },
    ),
  ],
  [
    'a sale that failed to settle is no sale',
    ofExits([fired], [left], { venue: [sold(ORDER, { filled: 0n, cost: 0n, matches: [] })] }),
    'Exit exit-1 is fired, and its order has sold nothing',
    ofExits([fired], [left]),
  ],
  [
    'a part is said',
    ofExits([fired], [left], {
      venue: [
        sold(ORDER, { filled: 5n * UNIT, matches: [{ number: 2, price: UNIT / 2n, size: 5n * UNIT }] }),
      ],
    }),
    'says that all is sold, and its order has sold 5.000000 of 20.000000',
    ofExits([exitOf({ ...fired, because: 'filled_in_part' })], [left], {
      told: ['sent', 'filled_in_part'].map((became) => ({ exitId: EXIT, became })),
      venue: [
        sold(ORDER, { filled: 5n * UNIT, matches: [{ number: 2, price: UNIT / 2n, size: 5n * UNIT }] }),
      ],
    }),
  ],
  [
    'it sells what it was left for',
    ofExits([fired], [left], { venue: [sold(ORDER, { filled: 21n * UNIT })] }),
    'Exit exit-1 was left for 20.000000, and has sold 21.000000',
    ofExits([fired], [left]),
  ],
  [
    'its agent has placed what the exit says that it placed',
    ofExits([exitOf({ status: 'canceled', because: 'order_placed' })], [left]),
    'says that its agent has placed its order, which it has not',
    ofExits(
      [exitOf({ status: 'canceled', because: 'order_placed' })],
      [left, at(2, 3, place(), ok({ success: true }))],
      { venue: [sold()] },
    ),
  ],
  [
    'nothing stays in doubt',
    ofExits([exitOf({ status: 'firing' })], [left]),
    'Exit exit-1 stays in doubt: it is still being sent',
    ofExits([exitOf()], [left]),
  ],
  [
    'an order that has ended is settled',
    ofExits([exitOf({ status: 'fired' })], [left], { venue: [sold()] }),
    'has an order that has ended, and does not say what that sold',
    ofExits([exitOf({ status: 'fired' })], [left], { venue: [restingThere()] }),
  ],
  [
    'an exit that is due is sent, or says why not',
    ofExits([exitOf({ isDue: true })], [left]),
    'Exit exit-1 is silent',
    ofExits([exitOf({ isDue: true, trouble: 'exit_liquidity_required' })], [left]),
  ],
  [
    'of a group one has an effect',
    ofExits(group('g', 'fired', 'fired'), [...bothLeft(2), bothShown]),
    'Two exits of the group "g" have sold: exit-1 and exit-2',
    ofExits(group('g', 'fired', 'fired'), bothLeft(2)),
  ],
  [
    'none sells below its price',
    ofExits([exitOf({ ...fired, worstPrice: (3n * UNIT) / 5n })], [left]),
    'Exit exit-1 has sold at 0.500000, below its worst price 0.600000',
    ofExits([fired], [left]),
  ],
  [
    'none is sent far below the market',
    ofExits([exitOf({ ...fired, worstPrice: UNIT / 100n })], [left]),
    'Exit exit-1 was sent at 0.010000 where the book paid 0.500000',
    ofExits([exitOf({ ...fired, worstPrice: UNIT / 4n })], [left]),
  ],
  [
    'none is sent before its time',
    ofExits(
      [fired],
      [
        at(0, 1, leave({ trigger: { kind: 'time', dueInMs: 10_000 } }), shows('armed')),
        at(2, 3, readExit(), shows('fired')),
      ],
    ),
    'Exit exit-1 was sent before its time: call 2',
    ofExits(
      [fired],
      [
        at(0, 1, leave({ trigger: { kind: 'time', dueInMs: 4_000 } }), shows('armed')),
        at(2, 3, readExit(), shows('fired')),
      ],
    ),
  ],
  [
    'a trigger that has held since before sells nothing',
    ofExits(
      [fired],
      [
        at(0, 1, leave({ trigger: { kind: 'time', dueInMs: 100 } }), shows('armed')),
        pauseAt(2, 3),
        goOnAt(4, 5),
        at(9_000, 9_001, readExit(), shows('suspended')),
        at(9_002, 9_003, resumeExit, shows('armed')),
      ],
    ),
    'Exit exit-1 was sold by a trigger that had held since before it was resumed: call 5',
    ofExits(
      [fired],
      [
        at(0, 1, leave({ trigger: { kind: 'time', dueInMs: 5_000 } }), shows('armed')),
        pauseAt(2, 3),
        goOnAt(4, 5),
        at(6, 7, resumeExit, shows('armed')),
      ],
    ),
  ],
  [
    'what is bought once a position was closed is not sold',
    around(fired),
    'Exit exit-1 has sold, although order 0x0000000004 had closed its position',
    around(
      exitOf({ status: 'canceled', because: 'position_closed' }),
      restingThere(ORDER, { isKnown: false }),
    ),
  ],
  [
    'what ended unsold is an alert while nothing sells what is held',
    bare([]),
    'Exit exit-1 ended (not_filled), 20.000000 is held that nothing sells, and no alert says so',
    bare([EXIT]),
  ],
  [
    'each change is told once',
    ofExits([fired], [left], {
      told: ['sent', 'sent', 'filled'].map((became) => ({ exitId: EXIT, became })),
    }),
    'Exit exit-1 was told as sent, sent, filled',
    ofExits([fired], [left]),
  ],
  [
    'the last change is told',
    ofExits([suspended], [left, pauseAt(2, 3), goOnAt(4, 5)], { told: [] }),
    'Exit exit-1 is pause, and was told last as nothing',
    ofExits([suspended], [left, pauseAt(2, 3), goOnAt(4, 5)]),
  ],
  [
    'the log tells the same',
    ofExits([canceled], [left, at(2, 3, cancelExit, shows('canceled'))], {
      more: { logs: [{ agent: A, events: [] }] },
    }),
    'The log tells nothing of exit exit-1, which became canceled',
    ofExits([canceled], [left, at(2, 3, cancelExit, shows('canceled'))], {
      more: { logs: [{ agent: A, events: [{ id: 'e', type: 'exit.canceled', exitId: EXIT }] }] },
    }),
  ],
  [
    'exits of a group keep one place, and those that ended none',
    ofExits(group('g', 'armed', 'armed'), bothLeft(2), {
      more: { exitPlaces: [{ agent: A, reserved: 2, open: 2, mostTrades: 50 }] },
    }),
    'The safeguards of agent agent-a keep 2 places for 2 exits, and its exits make 1 for 2',
    ofExits(group('g', 'armed', 'armed'), bothLeft(2), {
      more: { exitPlaces: [{ agent: A, reserved: 1, open: 2, mostTrades: 50 }] },
    }),
  ],
  [
    'a place that is kept for an exit is no other trade',
    ofExits([exitOf()], [left], {
      more: {
        exitPlaces: [{ agent: A, reserved: 1, open: 1, mostTrades: 0 }],
      },
    }),
    'Agent agent-a has placed 0 trades of 0, and 1 places are kept for its exits',
    ofExits([exitOf()], [left], {
      more: { exitPlaces: [{ agent: A, reserved: 1, open: 1, mostTrades: 1 }] },
    }),
  ],
  [
    'a refusal of a live venue ends none',
    { ...ofExits([exitOf({ ...failed, because: 'insufficient_balance' })], [left]), setUp: 'live' },
    'Exit exit-1 was ended by a refusal: insufficient_balance',
    { ...ofExits([failed], [left]), setUp: 'live' },
  ],
  [
    'a group ends by what was sold',
    ofExits(group('g', 'failed', 'canceled'), bothLeft(2)),
    'Exit exit-2 was canceled by its group, of which none has sold',
    ofExits(group('g', 'fired', 'canceled'), bothLeft(2)),
  ],
  [
    'a position that is held ends none',
    bare([], exitOf({ status: 'canceled', because: 'position_closed' })),
    'Exit exit-1 ended with its position, which was never closed',
    bare([], canceled, [at(2, 3, cancelExit, shows('canceled'))]),
  ],
];

test.each(RULES)('%s', (_, broken, sentence, kept) => {
  expect(check(historyOf(broken)).join('\n')).toContain(sentence);
  expect(check(historyOf(kept))).toEqual([]);
});

/** What a refusal said of an exit's order is no end of it, and its agent may have read it at any time. */
test("an exit's order is rejected, sent again and filled", () => {
  const read = (from: number, status: string, filled = 0n): Omit<Call, 'line' | 'id' | 'client'> =>
    at(from, from + 1, { kind: 'read order', agent: A, orderId: ORDER }, ok({ status, filled }));
  const calls = [left, read(2, 'rejected'), read(4, 'submitting'), read(6, 'filled', 20n * UNIT)];
  expect(check(historyOf(ofExits([fired], calls)))).toEqual([]);
  expect(check(historyOf(ofExits([fired], [...calls, read(8, 'live')]))).join()).toContain('call 5');
});
