/**
 * Matches of several trades: for every answer to the order, and for everything that is heard of them before and after it,
 * each share is booked once, with its own cost and fee.
 */
import { expect, test } from 'vitest';
import { budget } from '../../../test/setup/budget.ts';
import {
  type Answer,
  CONDITION,
  isPost,
  live,
  type NewOrder,
  type Stage,
  startStage,
  type VenueRequest,
} from './live-orders-stage.ts';

/** Parts of a match: shares and price of each trade. */
type Parts = readonly (readonly [shares: number, price: number])[];

const ONE: Parts = [[10, 0.5]];
const TWO: Parts = [
  [6, 0.5],
  [4, 0.25],
];
const THREE: Parts = [
  [5, 0.5],
  [3, 0.4],
  [2, 0.25],
];

const micro = (amount: number): bigint => BigInt(Math.round(amount * 1_000_000));
const text = (amount: number): string => String(Number(amount.toFixed(6)));

function tradesOf(orderId: string, parts: Parts, status = 'MATCHED') {
  return parts.map(([shares, price], nth) => ({
    ...{ id: `${orderId} ${nth}`, taker_order_id: orderId, market: CONDITION, asset_id: '1001', side: 'BUY' },
    ...{ size: text(shares), price: text(price), status, match_time: String(Math.floor(Date.now() / 1000)) },
    maker_orders: [
      { order_id: '0xmaker', matched_amount: text(shares), price: text(1 - price), asset_id: '1002' },
    ],
  }));
}
type Trades = ReturnType<typeof tradesOf>;

const sum = (parts: Parts, of: (part: Parts[number]) => number): number =>
  parts.reduce((total, part) => total + of(part), 0);

/** How the answer names its trades. */
const NAMINGS: Readonly<Record<string, (ids: readonly string[]) => unknown>> = {
  'names each trade': (ids) => ids,
  'names them backwards': (ids) => ids.toReversed(),
  'names each twice': (ids) => [...ids, ...ids],
  'has no list of them': () => undefined,
  'has an empty list of them': () => [],
  'has null for their list': () => null,
  'names the first one in words and the others in numbers': (ids) => [
    ids[0],
    ...ids.slice(1).map((_, nth) => nth),
  ],
  'names the first one and nothing': (ids) => [ids[0], ...ids.slice(1).map(() => '')],
};

/** Lists of trades that the venue shows while the answer is read. */
const LISTS: Readonly<Record<string, (asked: Trades, all: Trades) => Answer>> = {
  all: (trades) => ({ body: { data: trades, next_cursor: 'LTE=' } }),
  'all, twice': (trades) => ({ body: { data: [...trades, ...trades], next_cursor: 'LTE=' } }),
  'all, for any question': (_, all) => ({ body: { data: all, next_cursor: 'LTE=' } }),
  'the last one': (trades) => ({ body: { data: trades.slice(-1), next_cursor: 'LTE=' } }),
  'none yet': () => ({ body: { data: [], next_cursor: 'LTE=' } }),
  'no answer': () => ({ status: 404, body: { error: 'not now' } }),
};

/** When the user socket sends the trades, and in which order. */
const EVENTS: Readonly<
  Record<string, { readonly before: (all: Trades) => Trades; readonly after: (all: Trades) => Trades }>
> = {
  none: { before: () => [], after: () => [] },
  'before the answer': { before: (all) => all, after: () => [] },
  'after the answer, backwards and twice': {
    before: () => [],
    after: (all) => [...all.toReversed(), ...all],
  },
  'around the answer': { before: (all) => all.slice(-1), after: (all) => all },
};

interface Case {
  readonly parts: Parts;
  readonly naming: string;
  readonly list: string;
  readonly events: string;
}

const inEveryOrder = (parts: Parts): readonly Case[] =>
  Object.keys(NAMINGS).flatMap((naming) =>
    Object.keys(LISTS).flatMap((list) =>
      Object.keys(EVENTS).map((events) => ({ parts, naming, list, events })),
    ),
  );

/**
 * An order that rests, so that the wallet is followed and its socket is open: the venue lists it at every look, of
 * which a busy machine has more than one.
 */
async function followed(stage: Stage): Promise<NewOrder> {
  const resting = await stage.newOrder();
  stage.answer = (asked) => (isPost(asked) ? live(resting.order.orderId) : listed(asked, resting));
  await resting.submit();
  await stage.say({});
  return resting;
}
const listed = ({ path }: VenueRequest, resting: NewOrder): Answer | undefined =>
  path.startsWith('/data/orders') ? openOrders(resting) : undefined;
const openOrders = ({ order }: NewOrder): Answer => ({
  body: {
    data: [{ id: order.orderId, status: 'LIVE', original_size: '10', size_matched: '0' }],
    next_cursor: 'LTE=',
  },
});

async function match(stage: Stage, resting: NewOrder, { parts, naming, list, events }: Case) {
  const made = await stage.newOrder({ timeInForce: 'FAK', deadline: Date.now() + 60_000 });
  const { orderId, funder } = made.order;
  const [trades, settled] = [tradesOf(orderId, parts), tradesOf(orderId, parts, 'CONFIRMED')];
  const tell = async (some: Trades): Promise<void> => {
    for (const trade of some) await stage.say({ event_type: 'trade', ...trade });
  };
  const answer = {
    ...{ success: true, errorMsg: '', orderID: orderId, status: 'matched' },
    makingAmount: text(sum(parts, ([shares, price]) => shares * price)),
    takingAmount: text(sum(parts, ([shares]) => shares)),
    tradeIDs: NAMINGS[naming]?.(trades.map(({ id }) => id)),
  };
  stage.answer = async (asked) => {
    if (isPost(asked)) {
      await tell(EVENTS[events]?.before(trades) ?? []);
      return { body: answer };
    }
    if (!asked.path.startsWith('/data/trades')) return listed(asked, resting);
    // As the venue does: a trade that is asked for by its id is alone in the list.
    const id = new URL(asked.path, 'http://venue').searchParams.get('id');
    return LISTS[list]?.(id === null ? trades : trades.filter((trade) => trade.id === id), trades);
  };
  const first = await made.submit();
  await tell(EVENTS[events]?.after(trades) ?? []);
  stage.answer = (asked) => {
    if (asked.method === 'DELETE')
      return { body: { canceled: [], not_canceled: { [orderId]: 'order already matched' } } };
    const isTrades = asked.path.startsWith('/data/trades');
    return isTrades ? { body: { data: settled, next_cursor: 'LTE=' } } : listed(asked, resting);
  };
  // A cancel looks the order up, with any answer of the venue.
  await stage.orders.cancel(funder, [orderId]);
  await expect.poll(async () => (await made.row()).status).toBe('filled');
  return { first, orderId };
}

async function booked(stage: Stage, orderId: string) {
  const [order] = await stage.sql`select filled, cost, fees from orders where order_id = ${orderId}`;
  const fills =
    await stage.sql`select size, cost, fee from fills where order_id = ${orderId} order by size desc`;
  return { ...order, fills: fills.map((fill) => ({ ...fill })) };
}

/** As many as the budget allows, spread evenly over all. */
const aShareOf = <T>(all: readonly T[]): readonly T[] => {
  const count = budget(all.length);
  return Array.from({ length: count }, (_, nth) => all[Math.floor((nth * all.length) / count)] as T);
};

const feeOf = (rate: number, [shares, price]: Parts[number]): bigint =>
  BigInt(Math.ceil(Number((shares * rate * price * (1 - price) * 1_000_000).toFixed(3))));

test('an order that a trade names twice as its maker has both parts, in any casing of its state', async () => {
  const stage = await startStage();
  const made = await stage.newOrder();
  const { orderId } = made.order;
  stage.answer = (asked) => (isPost(asked) ? live(orderId) : undefined);
  await made.submit();
  const maker = (matched_amount: string, price: string) => ({
    ...{ order_id: orderId, matched_amount, price, asset_id: '1001', side: 'BUY' },
  });
  const trade = (status: string) => ({
    ...{ event_type: 'trade', id: 't1', taker_order_id: '0xtaker', market: CONDITION, asset_id: '1001' },
    ...{ side: 'SELL', size: '10', price: '0.5', status, match_time: String(Math.floor(Date.now() / 1000)) },
    maker_orders: [maker('4', '0.5'), maker('6', '0.5')],
  });
  await stage.say(trade('trade_status_matched'));
  await expect.poll(() => made.row()).toMatchObject({ filled: 10_000_000n });
  await stage.say(trade('failed'));
  await expect.poll(() => made.row()).toMatchObject({ filled: 0n });
});

test.each([
  { what: 'without fees', rate: 0 },
  { what: 'with fees', rate: 0.02 },
])('$what each share of a match is booked once', { timeout: 300_000 }, async ({ rate }) => {
  const stage = await startStage({ feeRate: micro(rate) });
  const resting = await followed(stage);
  for (const one of aShareOf([ONE, TWO, THREE].flatMap(inEveryOrder))) {
    const { first, orderId } = await match(stage, resting, one);
    const fees = one.parts.map((part) => feeOf(rate, part));
    const total = {
      filled: micro(sum(one.parts, ([shares]) => shares)),
      cost: micro(sum(one.parts, ([shares, price]) => shares * price)),
    };
    expect({ one, first }).toMatchObject({ one, first: { kind: 'accepted', status: 'matched', ...total } });
    // The answer names no fee beyond the whole one, also when something was heard twice.
    if (first.kind === 'accepted') expect(first.fees).toBeLessThanOrEqual(fees.reduce((a, b) => a + b, 0n));
    expect({ one, booked: await booked(stage, orderId) }).toEqual({
      one,
      booked: {
        ...total,
        fees: fees.reduce((a, b) => a + b, 0n),
        fills: one.parts.map(([shares, price], nth) => ({
          ...{ size: micro(shares), cost: micro(shares * price), fee: fees[nth] },
        })),
      },
    });
  }
  const [position] =
    await stage.sql`select sum(size)::bigint as size from positions where wallet is not null`;
  const [all] = await stage.sql`select sum(size)::bigint as size from fills`;
  expect(position?.size).toBe(all?.size);
});
