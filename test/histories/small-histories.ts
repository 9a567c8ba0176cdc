/** Histories of a few lines, written by hand, that the tests of the checker are made of. */
import { booksOf } from './books-rules.ts';
import type { DeskFill, DeskOrder, FinalFacts, VenueOrder, Wallet } from './final-facts.ts';
import type { Answer, Call, Heard, History, Operation, Outcome, SetUpName } from './history.ts';
import { NOTHING_WATCHED } from './watched-facts.ts';

export const A = 'agent-a';
export const ORDER = '0x0000000001';
export const OTHER = '0x0000000002';
export const UNIT = 1_000_000n;

const NO_FACTS: FinalFacts = {
  hasMidnight: false,
  orders: [],
  exits: [],
  toldExits: [],
  exitAttempts: { refused: 0, unanswered: 0 },
  exitPlaces: [],
  unguarded: [],
  venueOrders: [],
  fills: [],
  moves: [],
  payouts: [],
  wallets: [],
  books: [],
  results: [],
  budgets: [],
  apiKeys: [],
  logs: [],
  supplies: [],
  ledgerFault: null,
  receiptFaults: [],
  ordersWithReceipt: [],
  watched: NOTHING_WATCHED,
};

export const ok = (answer: Partial<Answer> = {}): Outcome => ({
  kind: 'ok',
  answer: { whole: 'the answer', isReplay: false, ...answer },
});
export const refused = (code: string): Outcome => ({ kind: 'refused', code });
export const lost: Outcome = { kind: 'unknown', why: 'broken' };

export type Line = Omit<Call, 'line' | 'id' | 'client'>;
export const at = (
  invokedAt: number,
  returnedAt: number,
  operation: Operation,
  outcome: Outcome,
  key?: Call['key'],
): Line => ({ invokedAt, returnedAt, operation, outcome, ...(key === undefined ? {} : { key }) });

export const place = (orderId = ORDER, amount = 10n * UNIT): Operation => ({
  kind: 'place',
  agent: A,
  orderId,
  amount,
});
export const cancel: Operation = { kind: 'cancel', agent: A, orderId: ORDER };
export const read: Operation = { kind: 'read order', agent: A, orderId: ORDER };
export const list: Operation = { kind: 'list open orders', agent: A };
export const usage: Operation = { kind: 'read usage', agent: A };
export const settings = (changes: object): Operation => ({ kind: 'change settings', agent: A, changes });
export const createKey: Operation = { kind: 'create api key', agent: A, name: 'spare' };
export const withKey = (body = 'b1') => ({ route: 'r', key: 'k', body });

/** An order of ten units that rests, everywhere the same. */
export const resting = (orderId = ORDER, changes: Partial<DeskOrder> = {}): DeskOrder => ({
  ...{
    orderId,
    agent: A,
    kind: 'signed',
    name: null,
    status: 'live',
    word: 'live',
    isTrade: true,
    token: 'yes',
    side: 'BUY',
    shares: 20n * UNIT,
    money: 10n * UNIT,
  },
  ...{ filled: 0n, cost: 0n, fees: 0n, reserved: 10n * UNIT },
  ...changes,
});
export const restingThere = (orderId = ORDER, changes: Partial<VenueOrder> = {}): VenueOrder => ({
  ...{ orderId, isKnown: true, isOpen: true, isEndedThere: false, hasFailed: false },
  ...{ matches: [], filled: 0n, cost: 0n, fees: 0n },
  ...changes,
});
export const factsOf = (
  orders: readonly DeskOrder[],
  changes: Partial<FinalFacts> = {},
): Partial<FinalFacts> => ({
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

export interface Reported {
  readonly calls?: readonly Line[];
  readonly heard?: readonly Omit<Heard, 'line' | 'at'>[];
  readonly facts?: Partial<FinalFacts>;
  readonly setUp?: SetUpName;
}

export const historyOf = ({ calls = [], heard = [], facts = {}, setUp = 'paper' }: Reported): History => ({
  run: { line: 'run', seed: 1, setUp },
  calls: calls.map((call, nth) => ({ line: 'call', id: nth + 1, client: `client ${nth + 1}`, ...call })),
  heard: heard.map((one, nth) => ({ line: 'heard', at: nth, ...one })),
  facts: {
    ...{ ...NO_FACTS, ...facts },
    // They are right, unless the history is about them.
    ...(facts.books === undefined ? booksOf(facts.fills ?? [], setUp) : {}),
  },
});

export const live = ok({ success: true, status: 'live' });
export const inLog = [
  { id: 'e1', type: 'order.live', orderId: ORDER },
  { id: 'e2', type: 'position' },
  { id: 'e3', type: 'order.canceled', orderId: ORDER },
];
export const [e1, e2, e3] = inLog as [Heard['event'], Heard['event'], Heard['event']];
export const canceled = resting(ORDER, { status: 'canceled', word: 'canceled' });
export const logged = factsOf([canceled], { logs: [{ agent: A, events: inLog }] });
export const hears = (via: Heard['via'], ...events: Heard['event'][]) =>
  events.map((event) => ({ listener: 'l', via, agent: A, event }));
export const briefing = (...changed: [string, string][]): Line =>
  at(1, 2, { kind: 'briefing', agent: A, chain: 'c' }, ok({ changed, isWhole: true }));
export const filled = resting(ORDER, {
  status: 'filled',
  word: 'filled',
  filled: 20n * UNIT,
  cost: 9n * UNIT,
  fees: UNIT,
});
export const fill = {
  orderId: ORDER,
  tradeId: '1',
  side: 'BUY',
  wallet: '0xw',
  token: 'yes',
  conditionId: 'm',
  outcome: 'YES',
  matchKind: 'COMPLEMENTARY',
  size: 20n * UNIT,
  cost: 9n * UNIT,
  fee: UNIT,
  gain: 0n,
  at: 1,
  nth: 1n,
} as const satisfies DeskFill;
export const wallet = (changes: Partial<Wallet>): Wallet => ({
  ...{ wallet: '0xw', agent: A, deposited: 100n * UNIT, money: 90n * UNIT },
  ...{ tokens: [{ conditionId: 'm', yes: 20n * UNIT, no: 0n }] },
  ...{ positions: [{ conditionId: 'm', yes: 20n * UNIT, no: 0n }] },
  ...changes,
});
export const caps = at(0, 1, settings({ maxTradesPerDay: 1, dailyTradeAmountLimit: 15n * UNIT }), ok());
export const two = factsOf([resting(), resting(OTHER)]);

/** The promise, a history that breaks it, a sentence that the checker says of it, and one beside it that breaks nothing. */
export type Rule = readonly [promise: string, broken: Reported, sentence: string, kept: Reported];
