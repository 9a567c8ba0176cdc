/** What the paper world lists: its mixture, its texts, the names of outcomes. */
import { describe, expect, test } from 'vitest';
import { marketIds } from '../journal/recovery.ts';
import type { MarketView } from './markets.ts';
import { OPEN_MARKETS, SLOTS } from './slots.ts';
import { World } from './world.ts';

const START = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const openMarkets = (world: World): MarketView[] =>
  [...world.markets()].filter((market) => market.status === 'open');

describe('catalogue', () => {
  const { world } = World.begin('catalogue', 1_000, START);
  const markets = openMarkets(world);

  test('some 145 markets in at least eight categories, all ticks, ids as promised', () => {
    expect(OPEN_MARKETS).toBe(145);
    expect(markets).toHaveLength(OPEN_MARKETS);
    expect(new Set(markets.map((market) => market.category)).size).toBeGreaterThanOrEqual(8);
    expect(new Set(markets.map((market) => market.tickSize))).toEqual(new Set([1000, 100, 50, 25, 10, 1]));
    for (const key of ['id', 'conditionId', 'slug', 'question'] as const)
      expect(new Set(markets.map((market) => market[key])).size, key).toBe(OPEN_MARKETS);
    for (const market of markets) {
      expect(market.conditionId).toMatch(/^0x[0-9a-f]{64}$/);
      expect(market.id).toMatch(/^\d{1,7}$/);
      expect(market.slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(`${market.question}${market.eventTitle}${market.description}`).not.toMatch(/[{}]/);
      for (const tokenId of market.tokenIds) {
        const topByte = BigInt(tokenId) >> 248n;
        expect(topByte > 3n && topByte < 256n).toBe(true);
      }
    }
  });

  test('ends lie between minutes and months ahead', () => {
    const left = markets.map((market) => market.endDate - START).sort((a, b) => a - b);
    expect(left[0]).toBeLessThan(60 * MINUTE);
    expect(left.at(-1)).toBeGreaterThan(30 * DAY);
  });

  test('a view contains no hidden value', () => {
    for (const market of markets) {
      for (const secret of ['probability', 'moveSize', 'pressure', 'quotes', 'quoted'])
        expect(market).not.toHaveProperty(secret);
    }
  });

  test('a view is built once per change', () => {
    const [market] = markets;
    expect(world.market(market!.conditionId)).toBe(market);
    expect(world.marketByToken(market!.tokenIds[1])).toEqual({ market, outcome: 'NO' });
  });
});

describe('names of outcomes', () => {
  const isNamed = ({ outcomes }: MarketView) => outcomes.join() !== 'Yes,No';
  const founded = (seed: string, slots?: number) =>
    World.begin(seed, 1_000, START, {
      ids: marketIds,
      v2Share: 'few',
      ...(slots === undefined ? {} : { slots }),
    }).world;
  const named = openMarkets(founded('names')).filter(isNamed);

  test('a tenth of the markets have some, of both protocols, and none of a negative-risk event', () => {
    expect(named.length / OPEN_MARKETS).toBeGreaterThanOrEqual(0.1);
    expect(named.length / OPEN_MARKETS).toBeLessThan(0.11);
    expect(new Set(named.map(({ version }) => version))).toEqual(new Set(['v1', 'v2']));
    expect(named.filter(({ negRisk }) => negRisk)).toEqual([]);
    expect(openMarkets(founded('names', 116)).filter(isNamed)).toEqual([]);
  });

  test('are two, which question and rules speak of, YES’s first', () => {
    for (const { question, description, outcomes } of named) {
      const [yes, no] = outcomes;
      expect(yes).not.toBe(no);
      expect(description).toMatch(/^This market resolves to “/);
      expect(description.indexOf(`to “${yes}” if`)).toBeGreaterThan(0);
      expect(description.indexOf(`to “${no}” otherwise`)).toBeGreaterThan(description.indexOf(` if `));
      const isSide = /^(Up|Down|Over|Under)( \d+\.5)?$/;
      for (const name of outcomes) if (!isSide.test(name)) expect(question).toContain(name);
      expect(`${yes}${no}`).not.toMatch(/[{}]/);
    }
  });

  test('are as awkward as the venue’s', () => {
    const worlds = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((seed) => openMarkets(founded(seed)));
    const pairs = worlds.flatMap((markets) => markets.filter(isNamed).map(({ outcomes }) => outcomes));
    for (const awkward of [/'/, /\P{ASCII}/u, /&/, /^.{45,}$/, /^Over \d\.5$/, /^Up$/])
      expect(
        pairs.some(([yes, no]) => awkward.test(yes) || awkward.test(no)),
        String(awkward),
      ).toBe(true);
    for (const { slug } of worlds.flat()) expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  });

  test('a named place of the plan goes on to be named, also after a restore; the others go on without', () => {
    const world = founded('names');
    const first = new Set(openMarkets(world).map(({ id }) => id));
    for (let i = 1; i < 40; i += 1) world.step(START + i * 30 * MINUTE);
    const copy = World.restore(world.snapshot(), marketIds);
    expect(copy.snapshot()).toEqual(world.snapshot());
    expect([...copy.markets()]).toEqual([...world.markets()]);
    for (let i = 40; i < 80; i += 1) copy.step(START + i * 30 * MINUTE);
    const now = openMarkets(copy);
    expect(now.filter(isNamed)).toHaveLength(SLOTS.filter((slot) => slot.named !== undefined).length);
    expect(now.some((market) => isNamed(market) && !first.has(market.id))).toBe(true);
  });
});
