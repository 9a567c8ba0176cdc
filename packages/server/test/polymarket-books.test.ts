/** Books by socket: what is answered is never older than promised, and never known to be wrong. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { VenueUnavailable } from '../src/domain/unavailable.ts';
import { type Json, openMarkets, wireBook, YES } from './polymarket-stand-in.ts';

let venue: Awaited<ReturnType<typeof openMarkets>>;
afterEach(() => venue.close());
const until = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 30_000, interval: 5 });
const begin = async (times?: Parameters<typeof openMarkets>[0]) => {
  venue = await openMarkets(times);
  await venue.books.book(YES);
  await until(() => expect(venue.books.known(YES)).not.toBeNull());
};
const change = (changes: readonly Json[], timestamp = '1001'): Json => ({
  event_type: 'price_change',
  market: 'm',
  timestamp,
  price_changes: changes.map((one) => ({ asset_id: YES, hash: 'h', ...one })),
});
const top = () => venue.books.known(YES)?.view({ conditionId: 'c' }, 'YES', 1);
const NEVER = { compareEveryMs: 1_000_000 };

describe('the socket’s book', () => {
  test('is read best first with its terms, and NO is its mirror', async () => {
    await begin(NEVER);
    const book = venue.books.known(YES)!;
    expect(book.view({ conditionId: 'c' }, 'YES', 10)).toEqual({
      conditionId: 'c',
      outcome: 'YES',
      bids: [
        [4_500, 20_500_000n],
        [4_000, 100_000_000n],
      ],
      asks: [
        [5_000, 30_000_000n],
        [6_000, 10_000_000n],
      ],
      lastTrade: 4_700,
      sequence: 1_000,
      changedAt: 1_000,
    });
    expect(book.view({ conditionId: 'c' }, 'NO', 1)).toMatchObject({
      bids: [[5_000, 30_000_000n]],
      asks: [[5_500, 20_500_000n]],
      lastTrade: 5_300,
    });
    expect(book.terms).toEqual({ tick: { tickSize: 100 }, minOrderSize: 5_000_000n, negRisk: false });
  });

  test('follows changes and trades without a question', async () => {
    await begin(NEVER);
    const before = venue.asked.length;
    venue.say(
      change([
        { price: '0.46', size: '7', side: 'BUY', best_bid: '0.46', best_ask: '0.5' },
        { price: '0.50', size: '0', side: 'SELL', best_bid: '0.46', best_ask: '0.60' },
      ]),
      {
        event_type: 'last_trade_price',
        asset_id: YES,
        price: '0.5',
        size: '30',
        side: 'BUY',
        timestamp: '1002',
      },
      { event_type: 'something_new', anything: 1 },
    );
    await until(() =>
      expect(top()).toMatchObject({
        bids: [[4_600, 7_000_000n]],
        asks: [[6_000, 10_000_000n]],
        lastTrade: 5_000,
      }),
    );
    expect((await venue.books.book(YES))?.at).toBe(1_002);
    expect(venue.asked).toHaveLength(before);
  });

  test('that does not lead to the best prices that the venue names is dropped and asked for again', async () => {
    await begin(NEVER);
    venue.state.sendsSnapshots = false;
    venue.say(change([{ price: '0.46', size: '7', side: 'BUY', best_bid: '0.48', best_ask: '0.5' }]));
    await until(() => expect(venue.books.known(YES)).toBeNull());
    await until(() =>
      expect(venue.heard.slice(-2)).toEqual([
        { operation: 'unsubscribe', assets_ids: [YES] },
        { operation: 'subscribe', assets_ids: [YES] },
      ]),
    );
    expect(venue.books.counts()).toEqual({ followed_books: 1, doubted_books: 1 });
    // Meanwhile the CLOB is asked.
    expect((await venue.books.book(YES))?.bestBid).toBe(4_500);
    expect(venue.asked.at(-1)).toContain('GET /book?');
  });

  test.each([
    ['a side that the venue says is empty', { best_bid: '0', best_ask: '0.5' }, true],
    ['no word about the best prices', {}, false],
    ['texts that are no prices', { best_bid: '', best_ask: '' }, false],
  ])('with %s is dropped: %o → %s', async (_title, said, isDropped) => {
    await begin(NEVER);
    venue.state.sendsSnapshots = false;
    venue.say(change([{ price: '0.44', size: '7', side: 'BUY', ...said }]));
    await until(() =>
      isDropped
        ? expect(venue.books.known(YES)).toBeNull()
        : expect(venue.books.known(YES)?.view({ conditionId: 'c' }, 'YES', 9).bids).toContainEqual([
            4_400,
            7_000_000n,
          ]),
    );
  });

  test('is dropped when the tick size changes, until a new snapshot says the new one', async () => {
    await begin(NEVER);
    venue.state.books = [wireBook({ tick_size: '0.001', timestamp: '2000' })];
    venue.say({
      event_type: 'tick_size_change',
      asset_id: YES,
      old_tick_size: '0.01',
      new_tick_size: '0.001',
    });
    await until(() => expect(venue.books.known(YES)?.terms.tick).toEqual({ tickSize: 10 }));
  });

  test('keeps the terms that later snapshots leave out', async () => {
    await begin(NEVER);
    const { min_order_size: _, tick_size: __, neg_risk: ___, ...bare } = wireBook({ timestamp: '3000' });
    venue.say({ event_type: 'book', ...bare });
    await until(() => expect(venue.books.known(YES)?.at).toBe(3_000));
    expect(venue.books.known(YES)?.terms).toEqual({
      tick: { tickSize: 100 },
      minOrderSize: 5_000_000n,
      negRisk: false,
    });
  });

  test('is not undone by events that arrive late', async () => {
    await begin(NEVER);
    venue.say(change([{ price: '0.46', size: '7', side: 'BUY', best_bid: '0.46', best_ask: '0.5' }], '1500'));
    await until(() => expect(top()?.bids[0]?.[0]).toBe(4_600));
    venue.say({ event_type: 'book', ...wireBook({ timestamp: '1200' }) });
    venue.say(change([{ price: '0.46', size: '0', side: 'BUY', best_bid: '0.45', best_ask: '0.5' }], '1100'));
    venue.say({
      event_type: 'last_trade_price',
      asset_id: YES,
      price: '0.11',
      size: '1',
      side: 'BUY',
      timestamp: '1600',
    });
    await until(() => expect(top()?.lastTrade).toBe(1_100));
    expect(top()?.bids[0]?.[0]).toBe(4_600);
  });

  test('ends with the connection, and comes back with the next one', async () => {
    await begin(NEVER);
    venue.state.books = [wireBook({ timestamp: '5000' })];
    for (const socket of venue.sockets) socket.terminate();
    await until(() => expect(venue.books.known(YES)).toBeNull());
    await until(() => expect(venue.books.known(YES)?.at).toBe(5_000));
  });

  test.each<[string, Json]>([
    ['a price that is none', { bids: [{ price: 'x', size: '1' }] }],
    ['a price finer than the desk reads', { bids: [{ price: '0.00001', size: '1' }] }],
    ['a price outside of 0 and 1', { asks: [{ price: '1', size: '1' }] }],
  ])('with %s is no book', async (_title, changes) => {
    await begin(NEVER);
    venue.say({ event_type: 'book', ...wireBook({ timestamp: '9000', ...changes }) });
    await until(() => expect(venue.books.known(YES)).toBeNull());
  });
});

describe('a socket that lies', () => {
  test('is found by the CLOB’s own answer, and its book is asked for again', async () => {
    await begin();
    venue.state.sendsSnapshots = false;
    venue.state.books = [wireBook({ timestamp: '7000', bids: [{ price: '0.10', size: '1' }] })];
    await until(() => expect(venue.books.known(YES)).toBeNull());
    venue.state.sendsSnapshots = true;
    await until(() => expect(venue.books.known(YES)?.bestBid).toBe(1_000));
  });

  test('and loses one change before the next one is found as well', async () => {
    await begin();
    // The socket never says that 0.40 went, nor what the newest answer of the CLOB has besides.
    venue.state.books = [
      wireBook({
        timestamp: '2000',
        bids: [{ price: '0.45', size: '20.5' }],
        asks: [{ price: '0.60', size: '10' }],
      }),
    ];
    venue.state.sendsSnapshots = false;
    venue.say(
      change([{ price: '0.50', size: '0', side: 'SELL', best_bid: '0.45', best_ask: '0.60' }], '2000'),
    );
    await until(() => expect(venue.books.known(YES)).toBeNull());
    venue.state.sendsSnapshots = true;
    await until(() =>
      expect(venue.books.known(YES)?.view({ conditionId: 'c' }, 'YES', 10).bids).toHaveLength(1),
    );
  });

  test('no longer, but is ahead of the CLOB, is believed', async () => {
    await begin();
    venue.say(
      change([{ price: '0.40', size: '9', side: 'BUY', best_bid: '0.45', best_ask: '0.50' }], '2000'),
    );
    venue.say(
      change([{ price: '0.40', size: '0', side: 'BUY', best_bid: '0.45', best_ask: '0.50' }], '2001'),
    );
    await until(() => expect(venue.books.known(YES)?.at).toBe(2_001));
    const asked = venue.asked.filter((one) => one.startsWith('POST /books')).length;
    await until(() =>
      expect(venue.asked.filter((one) => one.startsWith('POST /books')).length).toBeGreaterThan(asked + 3),
    );
    expect(venue.books.known(YES)?.at).toBe(2_001);
    expect(venue.books.counts().doubted_books).toBe(0);
  });

  test('whose book no answer confirms any more is not believed', async () => {
    await begin({ confirmedWithinMs: 300 });
    venue.state.broken.set('/books', 500).set('/book', 500);
    await until(() => expect(venue.books.known(YES)).toBeNull());
    // Its last answer is shared for half a second.
    await until(() => expect(venue.books.book(YES)).rejects.toBeInstanceOf(VenueUnavailable));
  });

  test('that says nothing any more is not believed', async () => {
    await begin({ heardWithinMs: 120, compareEveryMs: 1_000_000 });
    for (const socket of venue.sockets) socket.removeAllListeners('message');
    await until(() => expect(venue.books.known(YES)).toBeNull());
  });
});

test('tokens that were asked for last keep their subscriptions, and a followed one always does', async () => {
  await begin(NEVER);
  const trades: unknown[] = [];
  const stop = venue.books.follow(YES, { onBook: () => {}, onTrade: (trade) => trades.push(trade.price) });
  for (let nth = 0; nth < 620; nth++)
    await venue.books.book(String(10n ** 30n + BigInt(nth))).catch(() => null);
  await until(() => expect(venue.heard.some(({ operation }) => operation === 'unsubscribe')).toBe(true));
  expect(
    venue.heard.filter(({ operation }) => operation === 'unsubscribe').flatMap((one) => one.assets_ids),
  ).not.toContain(YES);
  expect(venue.sockets.size).toBe(3);
  venue.say({
    event_type: 'last_trade_price',
    asset_id: YES,
    price: '0.5',
    size: '30',
    side: 'BUY',
    timestamp: '1002',
  });
  await until(() => expect(trades.length).toBeGreaterThan(0));
  stop();
});

test('many readers of one book share a question', async () => {
  venue = await openMarkets(NEVER);
  venue.state.sendsSnapshots = false;
  await Promise.all(Array.from({ length: 50 }, () => venue.books.book(YES)));
  expect(venue.asked.filter((line) => line.startsWith('GET /book?'))).toHaveLength(1);
});
