/**
 * Every half answer that the venue can give to every call of the desk that concerns an order. What was not said clearly is
 * unknown: no order counts as canceled, refused or placed for it.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Answer, isPost, live, type Stage, startStage } from './live-orders-stage.ts';

type Row = readonly [what: string, answer: (orderId: string) => Answer];

const FOREIGN = `0x${'f'.repeat(64)}`;
const body = (value: unknown, status = 200): Answer => ({ status, body: value });
const cut = (value: unknown): Answer => ({ body: value, isCut: true });
const same = (what: string, answer: Answer): Row => [what, () => answer];

/** Says nothing, to any question. */
const NO_ANSWERS: readonly Row[] = [
  same('a connection that is cut', 'reset'),
  same('an empty body', body('')),
  same('null', body('null')),
  same('a text', body('"ok"')),
  same('a number', body('7')),
  same('true', body('true')),
  same('HTML', body('<html><body>ok</body></html>')),
  same('a redirect', { status: 302, headers: { location: 'http://elsewhere.example/' } }),
  same('500 without a body', body('', 500)),
  same('500 with an error', body({ error: 'internal error' }, 500)),
  same('502 with HTML', body('<html>bad gateway</html>', 502)),
  same('503 with an error', body({ error: 'not now' }, 503)),
  same('425', body('', 425)),
  same('a bare 429', body({ error: 'Too Many Requests' }, 429)),
  same('408', body({ error: 'timeout' }, 408)),
];

describe('POST /order', () => {
  const taken = (id: string) => ({
    ...{ success: true, errorMsg: '', orderID: id, status: 'live', makingAmount: '', takingAmount: '' },
  });
  const match = (id: string) => ({ ...taken(id), status: 'matched', makingAmount: '5', takingAmount: '10' });

  test.each<Row>([
    ...NO_ANSWERS,
    same('an empty object', body({})),
    same('an empty list', body([])),
    ['a list with the answer', (id) => body([taken(id)])],
    ['an answer that is cut off', (id) => cut(taken(id))],
    ['no success', (id) => body({ ...taken(id), success: undefined })],
    ['success as a text', (id) => body({ ...taken(id), success: 'true' })],
    ['success: false', (id) => body({ ...taken(id), success: false })],
    ['no id', (id) => body({ ...taken(id), orderID: undefined })],
    ['an empty id', (id) => body({ ...taken(id), orderID: '' })],
    ['the id in a list', (id) => body({ ...taken(id), orderID: [id] })],
    ['the id twice', (id) => body({ ...taken(id), orderID: `${id}${id}` })],
    ['a foreign id', (id) => body({ ...taken(id), orderID: FOREIGN })],
    ['no status', (id) => body({ ...taken(id), status: undefined })],
    ['a status that is not known', (id) => body({ ...taken(id), status: 'resting' })],
    ['a status as a number', (id) => body({ ...taken(id), status: 1 })],
    ['an error that is an object', (id) => body({ ...taken(id), errorMsg: { code: 7 } })],
    ['an error that is true', (id) => body({ ...taken(id), errorMsg: true })],
    ['words that are not known', (id) => body({ ...taken(id), errorMsg: 'odd' })],
    same('a duplicate', body({ error: 'order 0x1 is invalid. Duplicated.' }, 400)),
    same('a canceled context', body({ error: 'context canceled' }, 400)),
    same('a delayed match', body({ error: 'order match delayed due to market conditions' }, 400)),
    same('a failed execution', body({ error: 'could not run the execution' }, 500)),
    same(
      'cancel-only mode',
      body(
        { error: 'Trading is currently cancel-only. New orders are not accepted, but cancels are allowed.' },
        503,
      ),
    ),
    [
      'a refusal of an order that rests',
      (id) => body({ ...taken(id), errorMsg: 'not enough balance / allowance' }),
    ],
    ['a match without what was given', (id) => body({ ...match(id), makingAmount: '' })],
    ['a match without what was got', (id) => body({ ...match(id), takingAmount: undefined })],
    ['a match with amounts as objects', (id) => body({ ...match(id), takingAmount: { shares: 10 } })],
    ['a match with a negative amount', (id) => body({ ...match(id), takingAmount: '-10' })],
    ['a match with an amount that is no number', (id) => body({ ...match(id), takingAmount: 'ten' })],
  ])('%s leaves the order in doubt', async (what, answerOf) => {
    const stage = await startStage();
    const made = await stage.newOrder();
    stage.answer = (asked) => (isPost(asked) ? answerOf(made.order.orderId) : undefined);
    expect(await made.submit()).toEqual({ kind: 'unknown' });
    expect(await made.row()).toMatchObject({ status: 'submitting', error_code: null, filled: 0n });
    // Only an answer that was cut makes the desk send the same bytes again.
    expect(stage.asked.filter(isPost)).toHaveLength(/that is cut/.test(what) ? 2 : 1);
  });

  test.each<readonly [string, (stage: Stage) => void]>([
    ['the venue does not listen any more', (stage) => void stage.closeVenue()],
    ['the deadline passes', () => {}],
  ])(
    'after a cut first attempt nothing is known, when no second one is sent because %s',
    async (why, then) => {
      const stage = await startStage();
      const made = await stage.newOrder(why === 'the deadline passes' ? { deadline: Date.now() + 260 } : {});
      stage.answer = (asked) => {
        if (!isPost(asked)) return undefined;
        then(stage);
        return why === 'the deadline passes' ? 'hang' : 'reset';
      };
      expect(await made.submit()).toEqual({ kind: 'unknown' });
      expect(await made.row()).toMatchObject({ status: 'submitting', error_code: null });
      expect(stage.asked.filter(isPost)).toHaveLength(1);
    },
  );
});

describe('DELETE /orders', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await startStage();
  });

  /** Two orders that rest, and what becomes of a cancel of both. @param ended what the venue's record of the first says then */
  async function cancelTwo(answerOf: (a: string, b: string) => Answer, ended: 'CANCELED' | 'LIVE' = 'LIVE') {
    const orders = [await stage.newOrder(), await stage.newOrder()] as const;
    const [a, b] = [orders[0].order.orderId, orders[1].order.orderId];
    stage.answer = (asked) => (isPost(asked) ? live(asked.body.includes('"salt"') ? next : '') : undefined);
    let next = a;
    await orders[0].submit();
    next = b;
    await orders[1].submit();
    const record = { original_size: '10', size_matched: '0' };
    stage.answer = ({ method, path }) => {
      if (method === 'DELETE') return answerOf(a, b);
      if (path === `/data/order/${a}`) return body({ ...record, id: a, status: ended });
      return path === `/data/order/${b}` ? body({ ...record, id: b, status: 'LIVE' }) : undefined;
    };
    const answer = await stage.orders.cancel(orders[0].order.funder, [a, b]);
    const statuses = await Promise.all(orders.map(async (one) => (await one.row()).status));
    return { a, b, answer, statuses };
  }
  const NO_WORD = 'the venue gave no answer; ask again';

  test.each<readonly [string, (a: string, b: string) => Answer]>([
    ...NO_ANSWERS,
    ['an empty object', () => body({})],
    ['an empty list', () => body([])],
    ['a list of ids', (a, b) => body([a, b])],
    ['an answer that is cut off', (a, b) => cut({ canceled: [a, b], not_canceled: {} })],
    ['no list of what is canceled', () => body({ not_canceled: {} })],
    ['null as that list', () => body({ canceled: null, not_canceled: {} })],
    ['a text as that list', (a) => body({ canceled: a, not_canceled: {} })],
    ['an object as that list', (a) => body({ canceled: { [a]: true }, not_canceled: {} })],
    ['400 with HTML', () => body('<html>bad request</html>', 400)],
    ['403 without a body', () => body('', 403)],
    ['404 with HTML', () => body('<html>not found</html>', 404)],
  ])('%s says nothing of any order', async (_, answerOf) => {
    const { answer, statuses } = await cancelTwo(answerOf);
    expect(answer).toEqual({ kind: 'unknown' });
    expect(statuses).toEqual(['live', 'live']);
  });

  test.each<readonly [string, (a: string, b: string) => unknown, { canceled: string; reason: string }]>([
    ['leaves one out', (a) => ({ canceled: [a], not_canceled: {} }), { canceled: 'a', reason: NO_WORD }],
    ['leaves both out', () => ({ canceled: [], not_canceled: {} }), { canceled: '', reason: NO_WORD }],
    ['has no reasons', (a) => ({ canceled: [a] }), { canceled: 'a', reason: NO_WORD }],
    [
      'has null for reasons',
      (a) => ({ canceled: [a], not_canceled: null }),
      { canceled: 'a', reason: NO_WORD },
    ],
    ['lists reasons', (a) => ({ canceled: [a], not_canceled: ['no'] }), { canceled: 'a', reason: NO_WORD }],
    [
      'names foreign orders',
      (a) => ({ canceled: [a, FOREIGN], not_canceled: { [`0x${'e'.repeat(64)}`]: 'no' } }),
      { canceled: 'a', reason: NO_WORD },
    ],
    ['names one twice', (a) => ({ canceled: [a, a], not_canceled: {} }), { canceled: 'a', reason: NO_WORD }],
    [
      'names one in capitals',
      (a) => ({ canceled: [a.toUpperCase().replace('0X', '0x')], not_canceled: {} }),
      { canceled: 'a', reason: NO_WORD },
    ],
    [
      'has one in an object',
      (a, b) => ({ canceled: [a, { orderID: b }, null, 7], not_canceled: {} }),
      { canceled: 'a', reason: NO_WORD },
    ],
    [
      'says of one that it is canceled and that it is not',
      (a, b) => ({ canceled: [a, b], not_canceled: { [b]: 'order already matched' } }),
      { canceled: 'a', reason: 'the venue contradicts itself about this order; ask again' },
    ],
    [
      'has a reason that is no text',
      (a, b) => ({ canceled: [a], not_canceled: { [b]: { code: 7 } } }),
      { canceled: 'a', reason: 'the venue does not say why' },
    ],
    [
      'has a reason',
      (a, b) => ({ canceled: [a], not_canceled: { [b]: 'order already matched' } }),
      { canceled: 'a', reason: 'order already matched' },
    ],
  ])('an answer that %s cancels what it names, once, and nothing else', async (_, answerOf, expected) => {
    const isCanceled = expected.canceled === 'a';
    const { a, b, answer, statuses } = await cancelTwo(
      (...ids) => body(answerOf(...ids)),
      isCanceled ? 'CANCELED' : 'LIVE',
    );
    expect(answer).toEqual({
      kind: 'answered',
      canceled: isCanceled ? [a] : [],
      notCanceled: { ...(isCanceled ? {} : { [a]: expected.reason }), [b]: expected.reason },
    });
    expect(statuses).toEqual([isCanceled ? 'canceled' : 'live', 'live']);
  });

  test('an order that was canceled and cannot be counted yet is not said to be recorded', async () => {
    const { a, b, answer, statuses } = await cancelTwo((a) => {
      stage.answer = ({ path }) =>
        path.startsWith('/data/') ? body({ error: 'not ready' }, 503) : undefined;
      return body({ canceled: [a], not_canceled: {} });
    });
    expect(answer).toEqual({
      kind: 'answered',
      canceled: [a],
      notCanceled: { [b]: NO_WORD },
      isRecorded: false,
    });
    expect(statuses).toEqual(['live', 'live']);
  });

  test('a refusal in words leaves both orders where they are', async () => {
    const { a, b, answer, statuses } = await cancelTwo(() => body({ error: 'Invalid orderID' }, 400));
    const notCanceled = { [a]: 'Invalid orderID', [b]: 'Invalid orderID' };
    expect(answer).toEqual({ kind: 'answered', canceled: [], notCanceled });
    expect(statuses).toEqual(['live', 'live']);
  });
});

const page = (data: unknown): Answer => body({ data, next_cursor: 'LTE=' });

/** Halves of a list, of any kind. */
const HALF_PAGES: readonly Row[] = [
  same('an empty object', body({})),
  same('no rows', body({ next_cursor: 'LTE=' })),
  same('null for rows', page(null)),
  same('an object for rows', page({})),
  same('no cursor: there may be more', body({ data: [] })),
  same('a cursor that is no text', body({ data: [], next_cursor: { page: 2 } })),
  same('null for a row', page([null])),
  same('a text for a row', page(['order'])),
  same('an empty row', page([{}])),
  same('404', body({ error: 'not found' }, 404)),
  same('401', body({ error: 'Unauthorized/Invalid api key' }, 401)),
  ['a list that is cut off', (id) => cut({ data: [{ id, status: 'LIVE' }], next_cursor: 'LTE=' })],
];

describe('asked for an order in doubt whose time is over', () => {
  const record = (id: string) => ({ id, status: 'LIVE', original_size: '10', size_matched: '0' });
  const trade = (id: string) => ({
    ...{ id: 't1', taker_order_id: id, asset_id: '1001', side: 'BUY', size: '4', price: '0.5' },
    ...{ status: 'MATCHED', match_time: String(Math.floor(Date.now() / 1000)), maker_orders: [] },
  });

  async function resolveWith(path: string, answerOf: Row[1]) {
    const stage = await startStage({ doubtMs: -1 });
    const made = await stage.newOrder();
    const { orderId } = made.order;
    stage.answer = (asked) => (isPost(asked) ? 'reset' : undefined);
    await made.submit();
    const asked = path === '/data/order' ? `/data/order/${orderId}` : path;
    stage.answer = (one) => (one.path.split('?')[0] === asked ? answerOf(orderId) : undefined);
    return { answer: await stage.orders.resolve(orderId, made.order), row: await made.row() };
  }

  const UNCLEAR: readonly (readonly [string, readonly Row[]])[] = [
    [
      '/data/order',
      [
        ...NO_ANSWERS.filter(([what]) => what !== 'an empty body' && what !== 'null'),
        same('an empty list', body([])),
        same('404 with HTML', body('<html>not found</html>', 404)),
        same('403', body({ error: 'forbidden' }, 403)),
        ['a record that is cut off', (id) => cut(record(id))],
        ['a record without an id', (id) => body({ ...record(id), id: undefined })],
        ['a record with a foreign id', (id) => body({ ...record(id), id: FOREIGN })],
        ['a record with the id in a list', (id) => body({ ...record(id), id: [id] })],
        ['a record without a status', (id) => body({ ...record(id), status: undefined })],
        ['a record with a status that is a number', (id) => body({ ...record(id), status: 5 })],
        ['a list with the record', (id) => body([record(id)])],
      ],
    ],
    [
      '/data/orders',
      [
        ...NO_ANSWERS,
        ...HALF_PAGES,
        ['a row without an id', (id) => page([{ ...record(id), id: undefined }])],
        ['a row without a status', (id) => page([{ ...record(id), status: null }])],
      ],
    ],
    [
      '/data/trades',
      [
        ...NO_ANSWERS,
        ...HALF_PAGES,
        ['a trade without an id', (id) => page([{ ...trade(id), id: null }])],
        ['a trade without a size', (id) => page([{ ...trade(id), size: undefined }])],
        ['a trade with an odd price', (id) => page([{ ...trade(id), price: {} }])],
        [
          'a trade without its makers',
          (id) => page([{ ...trade(id), taker_order_id: FOREIGN, maker_orders: null }]),
        ],
        [
          'a maker without an id',
          (id) => page([{ ...trade(id), maker_orders: [{ matched_amount: '4', price: '0.5' }] }]),
        ],
      ],
    ],
  ];

  describe.each(UNCLEAR)('%s answers', (path, rows) => {
    test.each(rows)('%s: the order stays in doubt', async (_, answerOf) => {
      const { answer, row } = await resolveWith(path, answerOf);
      expect(answer).toEqual({ kind: 'unknown' });
      expect(row).toMatchObject({ status: 'submitting', error_code: null, filled: 0n });
    });
  });

  test.each<readonly [string, Row]>([
    ['/data/order', same('null', body('null'))],
    ['/data/order', same('an empty body', body(''))],
    ['/data/order', same('404 with an error', body({ error: 'not found' }, 404))],
    ['/data/orders', ['a foreign order', () => page([record(FOREIGN)])]],
    ['/data/trades', ['a foreign trade', () => page([trade(FOREIGN)])]],
  ])('%s: %s is a clear answer, so the order was never received', async (path, [, answerOf]) => {
    expect((await resolveWith(path, answerOf)).answer).toEqual({ kind: 'never_received' });
  });

  test.each<readonly [string, Row]>([
    ['/data/order', ['its record', (id) => body(record(id))]],
    ['/data/orders', ['its row, twice', (id) => page([record(id), record(id)])]],
    ['/data/trades', ['its trade, twice', (id) => page([trade(id), trade(id)])]],
  ])('%s: %s proves that it is there', async (path, [, answerOf]) => {
    const { answer, row } = await resolveWith(path, answerOf);
    expect(answer).toMatchObject({ kind: 'accepted' });
    expect(row.filled).toBe(path === '/data/trades' ? 4_000_000n : 0n);
  });
});
