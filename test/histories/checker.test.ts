/** Each kind of broken promise has a history of a few lines that the checker refuses, and a neighbour that it accepts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { check } from './checker.ts';
import type { DeskOrder, FinalFacts, VenueOrder, Wallet } from './final-facts.ts';
import {
  type Answer,
  type Call,
  type Heard,
  type History,
  type Operation,
  type Outcome,
  Recorder,
  readHistory,
  type SetUpName,
} from './history.ts';

const A = 'agent-a';
const ORDER = '0x0000000001';
const OTHER = '0x0000000002';
const UNIT = 1_000_000n;

const NO_FACTS: FinalFacts = {
  hasMidnight: false,
  orders: [],
  venueOrders: [],
  fills: [],
  wallets: [],
  budgets: [],
  apiKeys: [],
  logs: [],
  supplies: [],
  ledgerFault: null,
  receiptFaults: [],
  ordersWithReceipt: [],
};

const ok = (answer: Partial<Answer> = {}): Outcome => ({
  kind: 'ok',
  answer: { whole: 'the answer', isReplay: false, ...answer },
});
const refused = (code: string): Outcome => ({ kind: 'refused', code });
const lost: Outcome = { kind: 'unknown', why: 'broken' };

type Line = Omit<Call, 'line' | 'id' | 'client'>;
const at = (
  invokedAt: number,
  returnedAt: number,
  operation: Operation,
  outcome: Outcome,
  key?: Call['key'],
): Line => ({ invokedAt, returnedAt, operation, outcome, ...(key === undefined ? {} : { key }) });

const place = (orderId = ORDER, amount = 10n * UNIT): Operation => ({
  kind: 'place',
  agent: A,
  orderId,
  amount,
});
const cancel: Operation = { kind: 'cancel', agent: A, orderId: ORDER };
const read: Operation = { kind: 'read order', agent: A, orderId: ORDER };
const list: Operation = { kind: 'list open orders', agent: A };
const usage: Operation = { kind: 'read usage', agent: A };
const settings = (changes: object): Operation => ({ kind: 'change settings', agent: A, changes });
const createKey: Operation = { kind: 'create api key', agent: A, name: 'spare' };
const withKey = (body = 'b1') => ({ route: 'r', key: 'k', body });

/** An order of ten units that rests, everywhere the same. */
const resting = (orderId = ORDER, changes: Partial<DeskOrder> = {}): DeskOrder => ({
  ...{ orderId, agent: A, status: 'live', word: 'live', isTrade: true, side: 'BUY', shares: 20n * UNIT },
  ...{ filled: 0n, cost: 0n, fees: 0n, reserved: 10n * UNIT },
  ...changes,
});
const restingThere = (orderId = ORDER, changes: Partial<VenueOrder> = {}): VenueOrder => ({
  ...{ orderId, isKnown: true, isOpen: true, hasFailed: false, filled: 0n, cost: 0n, fees: 0n },
  ...changes,
});
const factsOf = (orders: readonly DeskOrder[], changes: Partial<FinalFacts> = {}): Partial<FinalFacts> => ({
  orders,
  venueOrders: orders.map(({ orderId, status, filled, cost, fees }) =>
    restingThere(orderId, {
      ...{ isOpen: status === 'live', isKnown: status !== 'rejected' },
      ...{ filled, cost, fees },
    }),
  ),
  ordersWithReceipt: orders.map(({ orderId }) => orderId),
  ...changes,
});

interface Told {
  readonly calls?: readonly Line[];
  readonly heard?: readonly Omit<Heard, 'line' | 'at'>[];
  readonly facts?: Partial<FinalFacts>;
  readonly setUp?: SetUpName;
}

const historyOf = ({ calls = [], heard = [], facts = {}, setUp = 'paper' }: Told): History => ({
  run: { line: 'run', seed: 1, setUp },
  calls: calls.map((call, nth) => ({ line: 'call', id: nth + 1, client: `client ${nth + 1}`, ...call })),
  heard: heard.map((one, nth) => ({ line: 'heard', at: nth, ...one })),
  facts: { ...NO_FACTS, ...facts },
});

const live = ok({ success: true, status: 'live' });
const inLog = [
  { id: 'e1', type: 'order.live', orderId: ORDER },
  { id: 'e2', type: 'position' },
  { id: 'e3', type: 'order.canceled', orderId: ORDER },
];
const [e1, e2, e3] = inLog as [Heard['event'], Heard['event'], Heard['event']];
const canceled = resting(ORDER, { status: 'canceled', word: 'canceled' });
const logged = factsOf([canceled], { logs: [{ agent: A, events: inLog }] });
const hears = (via: Heard['via'], ...events: Heard['event'][]) =>
  events.map((event) => ({ listener: 'l', via, agent: A, event }));
const briefing = (...changed: [string, string][]): Line =>
  at(1, 2, { kind: 'briefing', agent: A, chain: 'c' }, ok({ changed, isWhole: true }));
const filled = resting(ORDER, {
  status: 'filled',
  word: 'filled',
  filled: 20n * UNIT,
  cost: 9n * UNIT,
  fees: UNIT,
});
const fill = {
  orderId: ORDER,
  tradeId: '1',
  side: 'BUY',
  wallet: '0xw',
  size: 20n * UNIT,
  cost: 9n * UNIT,
  fee: UNIT,
} as const;
const wallet = (changes: Partial<Wallet>): Wallet => ({
  ...{ wallet: '0xw', agent: A, deposited: 100n * UNIT, money: 90n * UNIT },
  ...{ tokens: [{ conditionId: 'm', yes: 20n * UNIT, no: 0n }] },
  ...{ positions: [{ conditionId: 'm', yes: 20n * UNIT, no: 0n }] },
  ...changes,
});
const caps = at(0, 1, settings({ maxTradesPerDay: 1, dailyTradeAmountLimit: 15n * UNIT }), ok());
const two = factsOf([resting(), resting(OTHER)]);

/** The promise, a history that breaks it with its sentence, and one beside it that does not. */
const RULES: readonly (readonly [promise: string, broken: Told, sentence: string, kept: Told])[] = [
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
    'a webhook is told of everything',
    { heard: hears('webhook', e3), facts: logged },
    'Webhook l was never told of order.live of 0x0000000001 (event e1)',
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
    'Briefings told 4 times of order 0x0000000001',
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
    { facts: factsOf([filled], { fills: [fill] }) },
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
    { facts: factsOf([filled], { fills: [fill] }) },
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
    { facts: factsOf([filled], { fills: [fill], wallets: [wallet({})] }) },
  ],
  [
    'positions are what the account holds',
    { facts: factsOf([filled], { fills: [fill], wallets: [wallet({ positions: [] })] }) },
    'Agent agent-a holds 20.000000 yes of m at the venue, and the desk says 0.000000',
    { facts: factsOf([filled], { fills: [fill], wallets: [wallet({})] }) },
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
