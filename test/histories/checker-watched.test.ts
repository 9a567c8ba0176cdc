/** Rules for times, silence and approvals: each kind of broken promise has a history that the checker refuses, and a neighbour that it accepts. */
import { expect, test } from 'vitest';
import { check } from './checker.ts';
import type { Operation, Settings } from './history.ts';
import {
  A,
  at,
  canceled,
  factsOf,
  historyOf,
  type Line,
  live,
  ORDER,
  OTHER,
  ok,
  place,
  type Reported,
  type Rule,
  refused,
  resting,
  restingThere,
  settings,
  UNIT,
} from './small-histories.ts';
import { type DeskApproval, NOTHING_WATCHED, type WatchedFacts, type WatchedOrder } from './watched-facts.ts';

const NOW = 100_000;
const HOUR = 3_600_000;
const WHY = 'not filled by cancelAt';

/** An order that rests, as a watch sees it. */
const seen = (changes: Partial<WatchedOrder> = {}): WatchedOrder => ({
  ...{ orderId: ORDER, agent: A, status: 'live', type: 'GTC', createdAt: 3, cancelAt: null },
  ...{ isOfSilence: false, expiresAt: null, isOfExit: false, goneAt: null, why: null },
  ...changes,
});
const watching = (
  order: Partial<WatchedOrder> | null,
  calls: readonly Line[] = [],
  changes: Partial<WatchedFacts> = {},
): Reported => {
  const orders = order === null ? [] : [seen(order)];
  const status = orders[0]?.status;
  const there = status === undefined ? [] : [status === 'canceled' ? canceled : resting()];
  return {
    calls: status === undefined ? calls : [at(2, 3, place(), live), ...calls],
    facts: factsOf(status === 'expired' ? [resting(ORDER, { status, word: status })] : there, {
      watched: { ...NOTHING_WATCHED, endedAt: NOW, now: NOW, orders, ...changes },
    }),
  };
};

const silence = at(0, 1, settings({ silenceSeconds: 30 } satisfies Settings), ok());
const read = (from: number): Line => at(from, from + 1, { kind: 'read usage', agent: A }, ok());
/** It says something every 15 seconds. */
const speaking = [silence, ...[15, 30, 45, 60, 75, 90].map((second) => read(second * 1_000))];
const ofSilence = { status: 'canceled', isOfSilence: true, cancelAt: 50_000, goneAt: 50_000 } as const;
const exit = { exitId: 'exit-1', agent: A, status: 'armed', trouble: null };

const limit = at(0, 1, settings({ approvalAbove: 5n * UNIT } satisfies Settings), ok());
const decide = (kind: 'approve' | 'decline' | 'shorten approval'): Operation => ({
  ...{ kind, agent: A, approvalId: 'approval-1' },
});
const send = (from: number, outcome = live): Line =>
  at(from, from + 1, { ...(place() as Operation & { kind: 'place' }), type: 'GTC' }, outcome);
const waits = refused('approval_required');
const approval = (changes: Partial<DeskApproval> = {}): DeskApproval => ({
  ...{ approvalId: 'approval-1', orderId: ORDER, type: 'GTC', decision: 'approved', approvedUntil: HOUR },
  told: ['approved'],
  ...changes,
});
/** A larger order that is there, with its approval. */
const sent = (calls: readonly Line[], changes: Partial<DeskApproval> = {}): Reported => ({
  calls: [limit, ...calls],
  facts: factsOf([resting()], {
    watched: { ...NOTHING_WATCHED, orders: [seen({ createdAt: 60 })], approvals: [approval(changes)] },
  }),
});
const approving = at(20, 21, decide('approve'), ok());
const declining = at(20, 21, decide('decline'), ok());
const decided = (calls: readonly Line[], changes: Partial<DeskApproval> = {}): Reported => ({
  calls: [limit, ...calls],
  facts: { watched: { ...NOTHING_WATCHED, approvals: [approval(changes)] } },
});
const gone = watching({ status: 'canceled', cancelAt: HOUR, goneAt: 50_000 });

const RULES: readonly Rule[] = [
  [
    'an order rests no longer than its time',
    watching({ cancelAt: 80_000 }),
    'Order 0x0000000001 still rests, and its time was over 20.0 s ago',
    watching({ cancelAt: 99_000 }),
  ],
  [
    'an order rests until its time is over',
    gone,
    'Order 0x0000000001 is canceled, 3550.0 s before its time was over',
    watching({ status: 'canceled', cancelAt: HOUR, goneAt: 50_000 }, [
      at(4, 5, { kind: 'cancel', agent: A, orderId: ORDER }, ok({ success: true })),
    ]),
  ],
  [
    'only the venue itself ends it before',
    gone,
    'Order 0x0000000001 is canceled, 3550.0 s before its time was over',
    {
      ...gone,
      facts: { ...gone.facts, venueOrders: [restingThere(ORDER, { isOpen: false, isEndedThere: true })] },
    },
  ],
  [
    'a GTD order rests until its time is over',
    watching({ status: 'expired', type: 'GTD', expiresAt: HOUR, goneAt: 50_000 }),
    'Order 0x0000000001 is expired, 3490.0 s before its time was over',
    watching({ status: 'expired', type: 'GTD', expiresAt: 51_000, goneAt: 50_000 }),
  ],
  [
    'nobody cancels a GTD order that no one asks for',
    watching({ status: 'canceled', type: 'GTD', expiresAt: HOUR, goneAt: 50_000 }),
    'Order 0x0000000001 was canceled, and nobody asked for it',
    watching({
      status: 'canceled',
      type: 'GTD',
      expiresAt: HOUR,
      cancelAt: 49_000,
      goneAt: 50_000,
      why: WHY,
    }),
  ],
  [
    'its journal says why it ended',
    watching({ status: 'canceled', cancelAt: 50_000, goneAt: 50_100 }),
    'Order 0x0000000001 was canceled when its time was over, and its journal does not say why',
    watching({ status: 'canceled', cancelAt: 50_000, goneAt: 50_100, why: WHY }),
  ],
  [
    'who speaks in time keeps its orders',
    watching(ofSilence, speaking),
    'Order 0x0000000001 was canceled for silence, and its agent was silent for 15.0 s at most',
    watching(ofSilence, [silence, read(90_000)]),
  ],
  [
    'who speaks in time keeps its shares',
    watching(null, speaking, { exits: [{ ...exit, status: 'fired' }] }),
    'Exit exit-1 was sent for silence, and its agent was silent for 15.0 s at most',
    watching(null, [silence], { exits: [{ ...exit, status: 'fired' }] }),
  ],
  [
    'what rests of a silent agent is canceled',
    watching({}, [silence]),
    'Order 0x0000000001 still rests, and its agent is silent',
    watching({ isOfExit: true }, [silence]),
  ],
  [
    'the exits of a silent agent are sent',
    watching(null, [silence], { exits: [exit] }),
    'Exit exit-1 waits for silence, and its agent is silent',
    watching(null, [silence, at(2, 3, settings({ silenceSeconds: null }), ok())], { exits: [exit] }),
  ],
  [
    'a larger order waits for its owner',
    sent([send(30)], { decision: null, told: [] }),
    'Order 0x0000000001 (GTC) was sent without an approval that lets it pass',
    sent([send(10, waits), approving, send(30)]),
  ],
  [
    'an approval is of one order',
    sent([approving, send(30)], { orderId: OTHER }),
    'was sent without an approval that lets it pass',
    sent([approving, send(30)]),
  ],
  [
    'an approval is of one type of an order',
    sent([approving, send(30)], { type: 'FAK' }),
    'was sent without an approval that lets it pass',
    sent([approving, send(30)], { type: 'GTC' }),
  ],
  [
    'an approval comes before its order',
    sent([send(10), approving]),
    'was sent without an approval that lets it pass',
    sent([at(10, 25, { ...(place() as Operation & { kind: 'place' }), type: 'GTC' }, live), approving]),
  ],
  [
    'an approval has an end',
    sent([approving, at(22, 23, decide('shorten approval'), ok()), send(30)], { approvedUntil: 50 }),
    'was sent without an approval that lets it pass',
    sent([approving, at(22, 23, decide('shorten approval'), ok()), send(30)], { approvedUntil: 61 }),
  ],
  [
    'a declined order is never sent',
    sent([declining, send(30)], { decision: 'declined', told: ['declined'] }),
    'Order 0x0000000001 was sent after it was declined: call 2',
    decided([declining, send(30, waits)], { decision: 'declined', told: ['declined'] }),
  ],
  [
    'the first decision stays',
    decided([approving, declining]),
    'Approval approval-1 was decided twice: call 2',
    decided([approving, at(20, 21, decide('decline'), refused('approval_gone'))]),
  ],
  [
    'what was answered is what was decided',
    decided([approving], { decision: 'declined', told: ['declined'] }),
    'Approval approval-1 is declined, and was answered otherwise: call 2',
    decided([approving]),
  ],
  [
    'a decision is told once',
    decided([approving], { told: ['declined', 'approved'] }),
    'Approval approval-1 is approved, and was told as declined, approved',
    decided([approving]),
  ],
  [
    'an approved order does not wait again',
    decided([approving, send(30, waits)]),
    'Approval approval-1 was given, and its order is refused: call 3',
    decided([send(10, waits), approving]),
  ],
  [
    "no trade passes an owner's pause",
    {
      calls: [at(0, 1, settings({ ownerPaused: true }), ok()), at(2, 3, place(), live)],
      facts: factsOf([resting()]),
    },
    'how the limits of agent agent-a were judged',
    {
      calls: [at(0, 3, settings({ ownerPaused: true }), ok()), at(1, 2, place(), live)],
      facts: factsOf([resting()]),
    },
  ],
  [
    'other terms of an order are refused where it is there',
    { calls: [at(0, 1, place(), refused('order_already_placed'))] },
    'refused: order_already_placed',
    {
      calls: [at(0, 1, place(), live), at(2, 3, place(), refused('order_already_placed'))],
      facts: factsOf([resting()]),
    },
  ],
];

test.each(RULES)('%s', (_, broken, sentence, kept) => {
  expect(check(historyOf(broken)).join('\n')).toContain(sentence);
  expect(check(historyOf(kept))).toEqual([]);
});
