/** Rules for answers of calls: each kind of broken promise has a history that the checker refuses, and a neighbour that it accepts. */
import { expect, test } from 'vitest';
import { check } from './checker.ts';
import type { Operation } from './history.ts';
import {
  A,
  at,
  cancel,
  canceled,
  caps,
  createKey,
  factsOf,
  historyOf,
  list,
  live,
  lost,
  ORDER,
  OTHER,
  ok,
  place,
  type Rule,
  read,
  refused,
  resting,
  settings,
  two,
  UNIT,
  usage,
  withKey,
} from './small-histories.ts';

const rejected = resting(ORDER, { status: 'rejected', word: 'rejected', isTrade: false });
const prepare: Operation = { kind: 'prepare', agent: A, name: 'mine' };

const RULES: readonly Rule[] = [
  [
    "the agent's own name for an order means one order",
    { calls: [at(0, 1, prepare, ok({ whole: ORDER })), at(2, 3, prepare, ok({ whole: OTHER }))] },
    'One intent was made two orders: call 1',
    { calls: [at(0, 1, prepare, ok({ whole: ORDER })), at(2, 3, prepare, ok({ whole: ORDER }))] },
  ],
  [
    'an order is there from its answer on',
    {
      calls: [at(0, 1, place(), live), at(2, 3, read, refused('order_not_found'))],
      facts: factsOf([resting()]),
    },
    'call 2 (client 2: read order 0x0000000001 → refused: order_not_found)',
    {
      calls: [at(0, 3, place(), live), at(1, 2, read, refused('order_not_found'))],
      facts: factsOf([resting()]),
    },
  ],
  [
    'an order that a read has shown does not vanish',
    {
      calls: [
        at(0, 1, place(), lost),
        at(2, 3, read, ok({ status: 'live' })),
        at(4, 5, read, refused('order_not_found')),
      ],
      facts: factsOf([resting()]),
    },
    'No order of its calls explains what was answered about order 0x0000000001',
    {
      calls: [
        at(0, 1, place(), lost),
        at(2, 3, read, refused('order_not_found')),
        at(4, 5, read, ok({ status: 'live' })),
      ],
      facts: factsOf([resting()]),
    },
  ],
  [
    'what was canceled is not open afterwards',
    {
      calls: [
        at(0, 1, place(), live),
        at(2, 3, cancel, ok({ success: true })),
        at(4, 5, list, ok({ orderIds: [ORDER], isWhole: true })),
      ],
      facts: factsOf([canceled]),
    },
    'call 3 (client 3: list open orders → ok)',
    {
      calls: [
        at(0, 1, place(), live),
        at(2, 5, cancel, ok({ success: true })),
        at(3, 4, list, ok({ orderIds: [ORDER], isWhole: true })),
      ],
      facts: factsOf([canceled]),
    },
  ],
  [
    'a live cancel that is recorded shows in the next read',
    {
      calls: [
        at(0, 1, place(), live),
        at(2, 3, cancel, ok({ success: true, isRecorded: true })),
        at(4, 5, read, ok({ status: 'live' })),
      ],
      ...{ facts: factsOf([canceled]), setUp: 'live' },
    },
    'call 3 (client 3: read order 0x0000000001 → ok, live)',
    {
      calls: [
        at(0, 1, place(), live),
        at(2, 3, cancel, ok({ success: true, isRecorded: false })),
        at(4, 5, read, ok({ status: 'live' })),
      ],
      ...{ facts: factsOf([canceled]), setUp: 'live' },
    },
  ],
  [
    'an order that is refused is open from its record to its refusal',
    {
      calls: [
        at(0, 1, place(), ok({ success: false, status: 'rejected' })),
        at(2, 3, list, ok({ orderIds: [ORDER], isWhole: true })),
      ],
      facts: factsOf([rejected]),
    },
    'call 2 (client 2: list open orders → ok)',
    {
      calls: [
        at(0, 5, place(), ok({ success: false, status: 'rejected' })),
        at(1, 2, list, ok({ orderIds: [ORDER], isWhole: true })),
        at(3, 4, read, ok({ status: 'submitting' })),
      ],
      facts: factsOf([rejected]),
    },
  ],
  [
    'an order is canceled once',
    {
      calls: [
        at(0, 1, place(), live),
        at(2, 5, cancel, ok({ success: true })),
        at(2, 5, cancel, ok({ success: true })),
      ],
      facts: factsOf([canceled]),
    },
    'cancel 0x0000000001 → ok',
    {
      calls: [
        at(0, 1, place(), live),
        at(2, 5, cancel, ok({ success: true })),
        at(2, 5, cancel, ok({ success: false, reason: 'already canceled' })),
      ],
      facts: factsOf([canceled]),
    },
  ],
  [
    'fills of a paper order do not become fewer',
    {
      calls: [
        at(0, 1, place(), live),
        at(2, 3, read, ok({ status: 'live', filled: 5n })),
        at(4, 5, read, ok({ status: 'live', filled: 4n })),
      ],
      facts: factsOf([resting()]),
    },
    'call 3 (client 3: read order 0x0000000001 → ok, live)',
    {
      calls: [
        at(0, 1, place(), live),
        at(2, 3, read, ok({ status: 'live', filled: 5n })),
        at(4, 5, read, ok({ status: 'live', filled: 4n })),
      ],
      facts: factsOf([resting()]),
      setUp: 'live',
    },
  ],
  [
    'a replay comes before any refusal',
    {
      calls: [at(0, 1, place(), live), at(2, 3, place(), refused('insufficient_balance'))],
      facts: factsOf([resting()]),
    },
    'call 2 (client 2: place 0x0000000001 → refused: insufficient_balance)',
    {
      calls: [at(0, 1, place(), refused('insufficient_balance')), at(2, 3, place(), live)],
      facts: factsOf([resting()]),
    },
  ],
  [
    'the same signed order has one first answer',
    {
      calls: [at(0, 1, place(), live), at(2, 3, place(), ok({ success: true, whole: 'another' }))],
      facts: factsOf([resting()]),
    },
    'The same signed order 0x0000000001 had two first answers',
    { calls: [at(0, 1, place(), live), at(2, 3, place(), live)], facts: factsOf([resting()]) },
  ],
  [
    'an Idempotency-Key has one answer',
    {
      calls: [
        at(0, 1, cancel, ok({ whole: 'one' }), withKey()),
        at(2, 3, cancel, ok({ whole: 'two' }), withKey()),
      ],
    },
    'No order of its calls explains what was answered about Idempotency-Key "k"',
    {
      calls: [
        at(0, 1, list, ok({ whole: 'one' }), withKey()),
        at(2, 3, list, ok({ whole: 'one' }), withKey()),
      ],
    },
  ],
  [
    'an Idempotency-Key takes one body',
    { calls: [at(0, 1, list, ok(), withKey('b1')), at(2, 3, list, ok(), withKey('b2'))] },
    'about Idempotency-Key "k"',
    {
      calls: [
        at(0, 1, list, ok(), withKey('b1')),
        at(2, 3, list, refused('idempotency_key_reused'), withKey('b2')),
      ],
    },
  ],
  [
    'a key is not used up by a refusal',
    {
      calls: [
        at(0, 1, list, refused('trading_paused'), withKey()),
        at(2, 3, list, refused('secret_already_shown'), withKey()),
      ],
    },
    'refused: secret_already_shown',
    { calls: [at(0, 1, list, lost, withKey()), at(2, 3, list, refused('secret_already_shown'), withKey())] },
  ],
  [
    'a key has its effect once',
    {
      calls: [at(0, 1, createKey, lost, withKey())],
      facts: { apiKeys: [{ agent: A, name: 'spare', count: 2 }] },
    },
    'One Idempotency-Key had its effect 2 times: API key "spare"',
    {
      calls: [at(0, 1, createKey, lost, withKey())],
      facts: { apiKeys: [{ agent: A, name: 'spare', count: 1 }] },
    },
  ],
  [
    'what was answered with a key is there',
    { calls: [at(0, 1, createKey, ok(), withKey())] },
    'API key "spare" of agent-a was answered and is not there',
    { calls: [at(0, 1, createKey, refused('api_key_limit_reached'), withKey())] },
  ],
  [
    'a revoked key is refused from the next call on',
    {
      calls: [
        at(0, 1, { kind: 'revoke api key', agent: A, apiKey: '7' }, ok()),
        at(2, 3, { kind: 'use api key', agent: A, apiKey: '7' }, ok()),
      ],
    },
    'No order of its calls explains what was answered about API key 7',
    {
      calls: [
        at(0, 3, { kind: 'revoke api key', agent: A, apiKey: '7' }, ok()),
        at(1, 2, { kind: 'use api key', agent: A, apiKey: '7' }, ok()),
        at(4, 5, { kind: 'use api key', agent: A, apiKey: '7' }, refused('unauthorized')),
      ],
    },
  ],
  [
    'a pause holds from the next call on',
    {
      calls: [at(0, 1, settings({ tradingPaused: true }), ok()), at(2, 3, place(), live)],
      facts: factsOf([resting()]),
    },
    'how the limits of agent agent-a were judged: call 2',
    {
      calls: [at(0, 3, settings({ tradingPaused: true }), ok()), at(1, 2, place(), live)],
      facts: factsOf([resting()]),
    },
  ],
  [
    'nothing is refused by a pause that is over',
    {
      calls: [
        at(0, 1, settings({ tradingPaused: true }), ok()),
        at(2, 3, settings({ tradingPaused: false }), ok()),
        at(4, 5, place(), refused('trading_paused')),
      ],
    },
    'call 3 (client 3: place 0x0000000001 → refused: trading_paused)',
    {
      calls: [
        at(0, 1, settings({ tradingPaused: true }), ok()),
        at(2, 3, settings({ tradingPaused: false }), lost),
        at(4, 5, place(), refused('trading_paused')),
      ],
    },
  ],
  [
    'no trade is above the amount for one trade',
    {
      calls: [at(0, 1, settings({ maxTradeAmount: 9n * UNIT }), ok()), at(2, 3, place(), live)],
      facts: factsOf([resting()]),
    },
    'how the limits of agent agent-a were judged',
    {
      calls: [at(0, 1, settings({ maxTradeAmount: 10n * UNIT }), ok()), at(2, 3, place(), live)],
      facts: factsOf([resting()]),
    },
  ],
  [
    'two trades at once do not pass a cap together',
    { calls: [caps, at(2, 5, place(), live), at(2, 5, place(OTHER), live)], facts: two },
    'how the limits of agent agent-a were judged',
    {
      calls: [caps, at(2, 5, place(), live), at(2, 5, place(OTHER), refused('max_trades_per_day_exceeded'))],
      facts: factsOf([resting()]),
    },
  ],
  [
    'no trade is refused by a cap that has room',
    { calls: [caps, at(2, 3, place(), refused('max_trades_per_day_exceeded'))] },
    'refused: max_trades_per_day_exceeded',
    {
      calls: [caps, at(2, 3, place(OTHER), lost), at(4, 5, place(), refused('daily_trade_amount_exceeded'))],
      facts: factsOf([resting(OTHER)]),
    },
  ],
  [
    'what a read says of the day is what the trades have used',
    {
      calls: [at(0, 1, place(), live), at(2, 3, usage, ok({ trades: 0, tradedAmount: 0n }))],
      facts: factsOf([resting()]),
    },
    'call 2 (client 2: read usage → ok)',
    {
      calls: [at(0, 3, place(), live), at(1, 2, usage, ok({ trades: 0, tradedAmount: 0n }))],
      facts: factsOf([resting()]),
    },
  ],
  [
    'the budget is what the orders make',
    { facts: factsOf([resting()], { budgets: [{ agent: A, trades: 1, amount: 0n }] }) },
    'The budget of agent agent-a says 1 trades and 0',
    { facts: factsOf([resting()], { budgets: [{ agent: A, trades: 1, amount: 10n * UNIT }] }) },
  ],
];

test.each(RULES)('%s', (_, broken, sentence, kept) => {
  expect(check(historyOf(broken)).join('\n')).toContain(sentence);
  expect(check(historyOf(kept))).toEqual([]);
});
