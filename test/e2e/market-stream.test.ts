/** The stream of books: what it takes, how it begins, and how it goes on when the venue does not answer. */
import type { BellwetherClient, Market, MarketEvent } from '@bellwether/sdk';
import { BellwetherApiError } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Book } from '../../packages/server/src/domain/market.ts';
import { EventStream } from '../../packages/server/src/streams/open-streams.ts';
import { type BookClient, WatchedBooks } from '../../packages/server/src/streams/watched-books.ts';
import {
  newTrader,
  openMarkets,
  restingOrder,
  sharedTestService,
  type TestService,
  type Trader,
} from '../harness.ts';

let service: TestService;
let trader: Trader;
let markets: Market[];

beforeAll(async () => {
  service = await sharedTestService();
  trader = await newTrader(service);
  markets = await openMarkets(trader.client);
});

const tokenOf = (nth: number) => markets[nth]?.clobTokenIds[0] as string;

async function until(
  client: BellwetherClient,
  tokens: readonly string[],
  fits: (event: MarketEvent, all: readonly MarketEvent[]) => unknown,
): Promise<MarketEvent[]> {
  const ending = new AbortController();
  const events: MarketEvent[] = [];
  for await (const event of client.watchMarket(tokens, { signal: ending.signal })) {
    events.push(event);
    if (fits(event, events)) ending.abort();
  }
  return events;
}

describe('the stream', () => {
  test('whole books first, then an order as a change of one level', async () => {
    let isPlaced = false;
    const events = await until(trader.client, [tokenOf(0), tokenOf(1)], (event, all) => {
      if (!isPlaced && all.filter(({ type }) => type === 'book').length === 2) {
        isPlaced = true;
        void restingOrder(trader, markets[0] as Market).then((order) => trader.client.placeTrade(order));
      }
      return event.type === 'delta';
    });
    const whole = events.find((event) => event.type === 'book' && event.data.tokenId === tokenOf(0));
    const delta = events.at(-1);
    if (delta?.type !== 'delta' || whole?.type !== 'book') throw new Error('no delta');
    expect(delta.data).toMatchObject({
      tokenId: tokenOf(0),
      previousSequence: whole.data.sequence,
      asks: [],
    });
    expect(delta.data.bids).toHaveLength(1);
    expect(Number(delta.data.bids[0]?.price)).toBe(Number(markets[0]?.tickSize));
    expect(Date.parse(delta.data.checkedAt)).toBeGreaterThanOrEqual(Date.parse(whole.data.checkedAt));
  });

  test('how fresh each book is, while nothing changes', async () => {
    const events = await until(
      trader.client,
      [tokenOf(2)],
      (event) => event.type === 'fresh' && event.data.books.length === 1,
    );
    const last = events.at(-1);
    expect(last?.type === 'fresh' && last.data.books[0]?.tokenId).toBe(tokenOf(2));
  });

  test.each([
    ['no token', () => [''], 'invalid_request'],
    ['more than fifty', () => Array.from({ length: 51 }, (_, nth) => String(nth)), 'invalid_request'],
    ['an unknown token', () => [tokenOf(0), '123456789012345678901234567890'], 'market_not_found'],
  ])('%s is refused', async (_, tokens, code) => {
    const error = await until(trader.client, tokens(), () => true).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(BellwetherApiError);
    expect(error).toMatchObject({ code });
  });
});

describe('books that are followed', () => {
  const book = (sequence: number, bids: readonly (readonly [number, bigint])[]): Book => ({
    conditionId: 'c1',
    outcome: 'YES',
    bids,
    asks: [],
    sequence,
    changedAt: 0,
  });

  function follow(read: () => Promise<Book | null>) {
    const token = {
      tokenId: 't1',
      outcome: 'YES',
      market: { conditionId: 'c1' },
      venue: { id: 'venue', markets: { book: read } },
    } as unknown as Parameters<WatchedBooks['follow']>[0][number];
    const sent: [string, Record<string, unknown>][] = [];
    const state = { isVerified: true, asked: 0, waitingBytes: 0, ended: '' };
    const client: BookClient = {
      get waitingBytes() {
        return state.waitingBytes;
      },
      send: (event, data) => event !== 'fresh' && sent.push([event, JSON.parse(data)]),
      end: (reason) => {
        state.ended = reason;
      },
    };
    const books = new WatchedBooks({
      needs: { venues: new Map() as never },
      isVerified() {
        state.asked += 1;
        return state.isVerified;
      },
      clock: { now: () => Date.now() },
    });
    const leave = books.follow([token], client);
    return { sent, state, leave, types: () => sent.map(([type]) => type) };
  }

  test('a venue that fails, hangs and counts anew makes a gap each, and whole books follow', async () => {
    let answer: () => Promise<Book | null> = async () => book(5, [[4000, 1n]]);
    const { sent, types, leave } = follow(() => answer());
    await expect.poll(types).toEqual(['book']);
    answer = () => Promise.reject(new Error('no answer'));
    await expect.poll(types).toEqual(['book', 'gap']);
    answer = async () => book(9, [[4100, 2_000_000n]]);
    await expect.poll(types).toEqual(['book', 'gap', 'book']);
    answer = () => new Promise(() => {});
    await expect.poll(types).toEqual(['book', 'gap', 'book', 'gap']);
    answer = async () => book(9, [[4100, 2_000_000n]]);
    await expect.poll(types).toEqual(['book', 'gap', 'book', 'gap', 'book']);
    answer = async () => book(2, []);
    await expect.poll(() => types().slice(5)).toEqual(['gap', 'book']);
    answer = async () => book(4, [[4200, 1_000_000n]]);
    await expect.poll(() => types().slice(7)).toEqual(['delta']);
    expect(sent.at(-1)?.[1]).toMatchObject({ previousSequence: 2, bids: [{ price: '0.42', size: '1' }] });
    answer = async () => null;
    await expect.poll(() => sent.at(-1)?.[1].reason).toBe('ended');
    leave();
  });

  test('nothing is sent while the keys of the streams are unproved', async () => {
    let reads = 0;
    const { state, types, leave } = follow(async () => {
      reads += 1;
      return book(reads, []);
    });
    await expect.poll(() => types().length).toBeGreaterThan(2);
    state.isVerified = false;
    const [sentBefore, readsBefore] = [types().length, reads];
    const { asked } = state;
    await expect.poll(() => state.asked).toBeGreaterThan(asked + 3);
    expect([types().length, reads]).toEqual([sentBefore, readsBefore]);
    leave();
  });

  test('a client for which too much waits is ended', async () => {
    const { state, leave } = follow(async () => book(1, []));
    state.waitingBytes = 3 * 1024 * 1024;
    await expect.poll(() => state.ended).toBe('slow_consumer');
    leave();
  });
});

test('a client that does not read gets the reason, and its connection ends whether or not it reads that', async () => {
  const written: string[] = [];
  const listeners = new Map<string, () => void>();
  const raw = {
    destroyed: false,
    writableLength: 10_000_000,
    writeHead() {},
    write: (text: string) => written.push(text),
    end() {},
    destroy() {
      raw.destroyed = true;
      listeners.get('close')?.();
    },
    on: (name: string, listener: () => void) => listeners.set(name, listener),
    once: (name: string, listener: () => void) => listeners.set(name, listener),
    off() {},
  };
  const request = { caller: { agentId: 'a', keyId: 1n, userId: 1n }, deadline: null, leave: null } as never;
  const stream = new EventStream(
    request,
    { headers: {} } as never,
    { raw, hijack() {}, getHeaders: () => ({}) } as never,
  );
  stream.begin(request, { raw, hijack() {}, getHeaders: () => ({}) } as never);
  let hasLeft = false;
  stream.onClose(() => {
    hasLeft = true;
  });
  expect(stream.isCongested).toBe(true);
  stream.end('slow_consumer');
  expect(written.at(-1)).toMatch(/^retry: \d+\nevent: dropped\ndata: {"reason":"slow_consumer"/);
  expect(hasLeft).toBe(true);
  stream.send([{ event: 'fill', data: '{}' }]);
  expect(written.at(-1)).toContain('dropped');
  await expect.poll(() => raw.destroyed).toBe(true);
});
