/** Searches of the paper venue keep what they found. What they answer must be what a search without a past answers. */

import type { PaperExchange } from '@bellwether/exchange';
import { describe, expect, test } from 'vitest';
import { World } from '../../exchange/src/world/world.ts';
import { BoundedCache } from '../src/domain/bounded-cache.ts';
import {
  type FoundMarkets,
  isEverything,
  type MarketSearch,
  selectMarkets,
} from '../src/domain/market-search.ts';
import { createPaperMarketData, MarketPages, MarketWords } from '../src/venues/paper/paper-market-data.ts';

const STARTED_AT = Date.parse('2026-03-01T12:00:00Z');
const SPEED = 60_000;
const FAST_SPEED = 600_000;
const STEP_MS = 7_000;
const STEPS = 60;
const MICRO = 1_000_000n;

const SEARCHES: readonly MarketSearch[] = [
  { words: '*' },
  { words: '*', status: 'active', page: { offset: 20, limit: 20 } },
  { words: '*', status: 'active', sort: 'volume24hr', page: { offset: 0, limit: 20 } },
  { words: '*', sort: 'volume', ascending: true },
  { words: '*', status: 'resolved', sort: 'endDate' },
  { words: 'will', status: 'closed' },
  { words: ' Will ', status: 'active', ascending: true },
  { words: 'crypto', status: 'active', sort: 'liquidity', page: { offset: 3, limit: 5 } },
  { words: 'above', status: 'active', minPrice: 0.3 },
  { words: 'above', status: 'active', minPrice: 0.3, maxPrice: 0.8, ascending: true },
  { words: 'above', category: 'FINANCE', sort: 'volume24hr', maxPrice: 0.9 },
  { words: 'film', endsBefore: STARTED_AT + 20 * 86_400_000, sort: 'createdAt' },
  { words: 'no market has these words' },
];

describe('kept searches', () => {
  /** @returns the statuses of what was found */
  async function follow(world: World, step: (nth: number, at: number) => void): Promise<Set<string>> {
    const pages = new MarketPages(world);
    const words = new MarketWords();
    const statuses = new Set<string>();
    for (let nth = 0; nth < STEPS; nth += 1) {
      step(nth, STARTED_AT + (nth + 1) * STEP_MS);
      for (const search of SEARCHES) {
        const fresh = await searchAnew(world, words, search);
        const found = await pages.find(search);
        expect(comparable(search, found), `step ${nth}, ${JSON.stringify(search)}`).toEqual(
          comparable(search, fresh),
        );
        for (const { status } of fresh.markets) statuses.add(status);
      }
    }
    return statuses;
  }

  test('answer as a search without a past, after every trade, end, beginning and change of speed', async () => {
    const { world } = World.begin('kept searches', SPEED, STARTED_AT);
    const statuses = await follow(world, (nth, at) => {
      world.step(at, nth > STEPS / 2 ? FAST_SPEED : SPEED);
      trade(world, nth, at);
    });
    expect(statuses).toEqual(new Set(['open', 'closed', 'resolved']));
  });

  test('also while nothing ends and only prices and volumes move, of few markets or of all', async () => {
    const { world } = World.begin('prices move', 1_000, STARTED_AT);
    const { lives } = world.catalogue;
    await follow(world, (nth) => {
      if (nth % 10 === 9)
        for (let more = 0; more < 100; more += 1) trade(world, nth * 100 + more, STARTED_AT);
      trade(world, nth, STARTED_AT);
    });
    expect(world.catalogue.lives).toBe(lives);
  });

  test('look at the markets that changed, and at those of the page', async () => {
    const { world } = World.begin('few change', 1_000, STARTED_AT);
    let looks = 0;
    const pages = new MarketPages({
      catalogue: world.catalogue,
      market(id) {
        looks += 1;
        return world.market(id);
      },
    });
    const page = { offset: 0, limit: 5 };
    const searches = [
      { words: '*', sort: 'volume24hr', page },
      { words: '*', minPrice: 0.1, page },
      { words: '*', minPrice: 0.1, sort: 'liquidity', page },
    ] as const;
    for (const search of searches) {
      await pages.find(search);
      trade(world, 7, STARTED_AT);
      looks = 0;
      await pages.find(search);
      expect(looks).toBeLessThan(20);
      expect(looks).toBeGreaterThan(page.limit);
    }
  });

  test('follow an exchange that was reopened', async () => {
    const { world } = World.begin('before', SPEED, STARTED_AT);
    const exchange = { of: world };
    const pages = new MarketPages({
      get catalogue() {
        return exchange.of.catalogue;
      },
      market: (id) => exchange.of.market(id),
    });
    for (const search of SEARCHES) await pages.find(search);
    exchange.of = World.begin('after', SPEED, STARTED_AT).world;
    for (const search of SEARCHES)
      expect(await pages.find(search)).toEqual(await new MarketPages(exchange.of).find(search));
  });
});

/** How relevant words make a market depends a little on the searches before: there, only which ones are found is compared. */
const comparable = ({ words, sort }: MarketSearch, { markets, total }: FoundMarkets) => ({
  total,
  markets:
    sort === undefined && !isEverything(words)
      ? markets.toSorted((a, b) => Number(a.id) - Number(b.id))
      : markets,
});

async function searchAnew(world: World, words: MarketWords, search: MarketSearch): Promise<FoundMarkets> {
  await words.follow(world);
  const ids = isEverything(search.words) ? world.catalogue.conditionIds() : words.find(search.words);
  return selectMarkets(
    [...ids].map((id) => world.market(id)).filter((market) => market !== undefined),
    search,
  );
}

/** A stranger buys the best offer of a market, so that volume, price and liquidity move. */
function trade(world: World, step: number, at: number): void {
  const open = [...world.markets()].filter(
    ({ status, bestAsk }) => status === 'open' && bestAsk !== undefined,
  );
  const market = open[step % open.length];
  if (market === undefined) throw new Error('no market is open');
  world.execute({ kind: 'deposit', account: '0xabc', amount: 1_000n * MICRO, reason: 'faucet' }, at);
  world.execute(
    {
      kind: 'place',
      order: {
        orderId: `0x${step.toString(16).padStart(64, '0')}`,
        account: '0xabc',
        conditionId: market.conditionId,
        outcome: 'YES',
        side: 'BUY',
        limit: market.bestAsk as number,
        size: 20n * MICRO,
        timeInForce: 'FAK',
        postOnly: false,
      },
    },
    at,
  );
}

describe('the counters of the catalogue', () => {
  const begin = () => World.begin('counters', 1_000, STARTED_AT).world;
  const counters = ({ catalogue: { listings, lives, changes } }: World) => ({ listings, lives, changes });

  test('a trade moves only the last', () => {
    const world = begin();
    const before = counters(world);
    trade(world, 0, STARTED_AT);
    const after = counters(world);
    expect(after).toEqual({ ...before, changes: expect.any(Number) });
    expect(after.changes).toBeGreaterThan(before.changes);
  });

  test('a market that ends moves all: another takes its place', () => {
    const world = begin();
    const before = counters(world);
    const ends = Math.min(...[...world.markets()].map(({ endDate }) => endDate));
    world.step(ends);
    const after = counters(world);
    for (const name of ['listings', 'lives', 'changes'] as const)
      expect(after[name]).toBeGreaterThan(before[name]);
  });

  test('an outcome moves the lives, not the listings', () => {
    const world = begin();
    const ends = Math.min(...[...world.markets()].map(({ endDate }) => endDate));
    world.step(ends);
    const before = counters(world);
    const others = [...world.markets()]
      .filter(({ status }) => status === 'open')
      .map(({ endDate }) => endDate);
    const resolvedAt = ends + 60_000;
    expect(Math.min(...others)).toBeGreaterThan(resolvedAt);
    world.step(resolvedAt);
    const after = counters(world);
    expect(after.listings).toBe(before.listings);
    expect(after.lives).toBeGreaterThan(before.lives);
  });
});

describe('a bounded cache', () => {
  test('forgets what was used longest ago, by count and by weight', () => {
    const cache = new BoundedCache<string>({ entries: 3, weight: 10, weightOf: (text) => text.length });
    for (const key of ['a', 'b', 'c']) cache.set(key, key);
    expect(cache.get('a')).toBe('a');
    cache.set('d', 'd');
    expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key))).toEqual(['a', undefined, 'c', 'd']);
    cache.set('heavy', 'x'.repeat(9));
    expect(['a', 'c', 'd', 'heavy'].map((key) => cache.get(key) !== undefined)).toEqual([
      false,
      false,
      true,
      true,
    ]);
    cache.set('too heavy', 'x'.repeat(11));
    expect(cache.get('too heavy')).toBeUndefined();
    expect(cache.get('heavy')).toBeUndefined();
  });
});

describe('kept books', () => {
  test('are the exchange’s own after every order, fill, cancel and step', async () => {
    const { world } = World.begin('kept books', SPEED, STARTED_AT);
    const data = createPaperMarketData(world as unknown as PaperExchange);
    let at = STARTED_AT;
    let changed = 0;
    for (let step = 0; step < STEPS; step += 1) {
      at += STEP_MS;
      const [market] = [...world.markets()].slice(step);
      if (market === undefined) throw new Error('there are too few markets');
      const before = await data.book(market.conditionId, 'YES', 5);
      expect(await data.book(market.conditionId, 'YES', 5)).toBe(before);
      trade(world, step, at);
      world.step(at);
      for (const { conditionId } of world.markets())
        for (const outcome of ['YES', 'NO'] as const)
          expect(await data.book(conditionId, outcome, 5)).toEqual(
            world.book(conditionId, outcome, 5) ?? null,
          );
      if ((await data.book(market.conditionId, 'YES', 5)) !== before) changed += 1;
    }
    expect(changed).toBeGreaterThan(0);
  });

  test('an order that rests and leaves changes the book each time', async () => {
    const { world } = World.begin('resting', SPEED, STARTED_AT);
    const data = createPaperMarketData(world as unknown as PaperExchange);
    const [market] = [...world.markets()].filter(
      ({ status, tickSize }) => status === 'open' && tickSize === 100,
    );
    if (market === undefined) throw new Error('no market is open');
    const { conditionId } = market;
    const orderId = `0x${'1'.repeat(64)}`;
    const bids = async () => (await data.book(conditionId, 'YES', 1_000))?.bids;
    const first = await bids();
    world.execute(
      { kind: 'deposit', account: '0xabc', amount: 1_000n * MICRO, reason: 'faucet' },
      STARTED_AT,
    );
    const order = {
      orderId,
      account: '0xabc',
      conditionId,
      outcome: 'YES',
      side: 'BUY',
      limit: 100,
    } as const;
    const terms = { size: 10n * MICRO, timeInForce: 'GTC', postOnly: true } as const;
    world.execute({ kind: 'place', order: { ...order, ...terms } }, STARTED_AT);
    expect(await bids()).toEqual(world.book(conditionId, 'YES', 1_000)?.bids);
    expect(await bids()).not.toEqual(first);
    world.execute({ kind: 'cancel', account: '0xabc', orderIds: [orderId] }, STARTED_AT);
    expect(await bids()).toEqual(first);
  });
});
