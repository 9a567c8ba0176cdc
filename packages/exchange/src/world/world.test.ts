/** The whole world: the same commands give the same bytes, outcomes are fair, liquidity is always available. */
import { createHash } from 'node:crypto';
import { MICRO, PIPS } from '@bellwether/contract/decimals';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EngineEvent, NewOrder, Outcome, Side } from '../engine/commands.ts';
import type { MarketIds } from './events.ts';
import type { MarketView } from './markets.ts';
import { Random } from './random.ts';
import { decodeWorld, type WorldEvent } from './records.ts';
import { FIRST_SLOTS, OPEN_MARKETS, SLOTS } from './slots.ts';
import { firstOf, World } from './world.ts';

const START = Date.UTC(2026, 10, 21, 12);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const ALICE = '0x00000000000000000000000000000000000a11ce';

const hash = (world: World): string => createHash('sha256').update(world.snapshot()).digest('hex');
const openMarkets = (world: World): MarketView[] =>
  [...world.markets()].filter((market) => market.status === 'open');
const hidden = (world: World) => decodeWorld(world.snapshot()).state;

let orders = 0;
function take(market: MarketView, outcome: Outcome, side: Side, size: bigint, spend?: bigint): NewOrder {
  orders += 1;
  return {
    orderId: `0x${orders.toString(16).padStart(64, '0')}`,
    account: ALICE,
    conditionId: market.conditionId,
    outcome,
    side,
    limit: side === 'BUY' ? PIPS - market.tickSize : market.tickSize,
    size,
    ...(spend === undefined ? {} : { spend }),
    timeInForce: 'FAK',
    postOnly: false,
  };
}

/** A trader without a plan: takes, rests and cancels, by a seed. */
function trade(world: World, random: Random, at: number): EngineEvent[] {
  const market = random.pick(openMarkets(world));
  const outcome = random.sign() > 0 ? 'YES' : 'NO';
  const size = BigInt(random.between(5, 3_000)) * MICRO;
  const kind = random.below(3);
  if (kind === 0)
    return world.execute({ kind: 'place', order: take(market, outcome, 'BUY', size, size) }, at);
  if (kind === 1) {
    const ticks = PIPS / market.tickSize;
    const limit = market.tickSize * random.between(1, ticks - 1);
    const order = { ...take(market, outcome, 'BUY', size), limit, timeInForce: 'GTC' } as const;
    return world.execute({ kind: 'place', order }, at);
  }
  const orderIds = world.openOrders(ALICE).map((order) => order.orderId);
  return world.execute({ kind: 'cancel', account: ALICE, orderIds: orderIds.slice(0, 3) }, at);
}

/** The plan before ticks of 0.005 and 0.0025, and those that change; and before outcomes had names. */
const SLOTS_BEFORE_TICKS = 113;
const SLOTS_BEFORE_NAMES = 116;

/** In `npm test` less of what is long (`test/setup/budget.ts`). */
const ALL = process.env.RANDOM_RUNS === 'all';

function story(steps: number, check: (world: World) => void = () => {}, slots = SLOTS.length): World {
  orders = 0;
  const random = Random.seeded('trader', 'test');
  const { world } = World.begin('golden', 1_000, START, { slots });
  world.execute({ kind: 'deposit', account: ALICE, amount: 10_000_000n * MICRO }, START);
  for (let i = 1; i <= steps; i += 1) {
    const at = START + i * 7 * SECOND;
    trade(world, random, at - SECOND);
    world.step(at);
    check(world);
  }
  return world;
}

describe('determinism', () => {
  test('the same seed and commands give the same bytes, here and on every machine', () => {
    const first = hash(story(400));
    expect(hash(story(400))).toBe(first);
    expect(first).toBe('ee5acdf0f70108e458fb2efb67e687d12a414f87b90451675574950991eb5750');
    // Also for worlds with earlier plans: their journals must still give the same state.
    const unnamed = hash(story(400, undefined, SLOTS_BEFORE_NAMES));
    expect(unnamed).toBe('e1e61af33c55fdb25a470c3ac73d3d2d6e607a486c05587e490d9a957fd0c2b6');
    const before = hash(story(400, undefined, SLOTS_BEFORE_TICKS));
    expect(before).toBe('10ada089ccbd62b73ad868572cadc3fedf0f6f5517a787ea21b0e84e0d4266ac');
    const older = hash(story(400, undefined, FIRST_SLOTS));
    expect(older).toBe('be7b55045a5c3e52dd8094a245453c5a738f0ee9623b878af4a42a39ab66bacf');
  });

  test('token ids follow from the condition, also of what a world of an earlier release lists from now on', () => {
    const tokensOf: MarketIds['tokensOf'] = (conditionId, negRisk) => [
      BigInt(conditionId).toString(),
      `${negRisk ? 2 : 1}${BigInt(conditionId)}`,
    ];
    const ids: MarketIds = { tokensOf, v2ConditionsOf: () => [] };
    const isDerived = ({ conditionId, negRisk, tokenIds }: MarketView) =>
      tokensOf(conditionId, negRisk).join() === tokenIds.join();
    const { world } = World.begin('tokens', 1_000, START, { ids });
    expect([...world.markets()].filter((market) => !isDerived(market))).toEqual([]);
    const older = World.begin('tokens', 1_000, START).world;
    // Nothing else depends on it.
    expect([...older.markets()].map(({ question }) => question)).toEqual(
      [...world.markets()].map(({ question }) => question),
    );
    const before = new Map([...older.markets()].map(({ conditionId, tokenIds }) => [conditionId, tokenIds]));
    expect([...older.markets()].filter(isDerived)).toEqual([]);
    older.deriveTokens(ids);
    for (let i = 1; i < 40; i += 1) older.step(START + i * 10 * MINUTE);
    const copy = World.restore(older.snapshot(), ids);
    copy.step(copy.now + 60 * MINUTE);
    const listed = [...copy.markets()].filter(({ conditionId }) => !before.has(conditionId));
    expect(listed.length).toBeGreaterThan(0);
    expect(listed.every(isDerived)).toBe(true);
    for (const { conditionId, tokenIds } of copy.markets())
      expect(before.get(conditionId) ?? tokenIds).toEqual(tokenIds);
  });

  test('another seed gives a different world', () => {
    expect(hash(World.begin('a', 1_000, START).world)).not.toBe(hash(World.begin('b', 1_000, START).world));
  });

  test('a restored world continues exactly like the original', () => {
    const world = story(100);
    const copy = World.restore(world.snapshot());
    expect(hash(copy)).toBe(hash(world));
    for (let i = 1; i <= 200; i += 1) {
      world.step(world.now + MINUTE);
      copy.step(copy.now + MINUTE);
    }
    expect(hash(copy)).toBe(hash(world));
  });

  test('trades do not change future probabilities or listings', () => {
    const { world } = World.begin('same', 1_000, START);
    const other = World.restore(world.snapshot());
    const [market] = openMarkets(other);
    other.execute({ kind: 'deposit', account: ALICE, amount: 1_000_000n * MICRO }, START + 1);
    for (let i = 1; i <= 300; i += 1) {
      world.step(START + i * 10 * MINUTE);
      other.execute(
        { kind: 'place', order: take(market!, 'YES', 'BUY', 50n * MICRO, 50n * MICRO) },
        other.now,
      );
      other.step(START + i * 10 * MINUTE);
    }
    const latents = (events: readonly WorldEvent[]) =>
      events.map((event) => event.markets.map((one) => [one.id, one.probability, one.payout]));
    expect(latents(hidden(other).open)).toEqual(latents(hidden(world).open));
    expect(latents(hidden(other).resolved)).toEqual(latents(hidden(world).resolved));
  });
});

describe('negative risk', () => {
  test('probabilities of an event sum to one at every step; one market wins; all end together', () => {
    const { world } = World.begin('contest', 20_000_000, START);
    const contests = SLOTS.flatMap((slot, index) => (slot.markets > 1 ? [index] : []));
    expect(contests).toHaveLength(3);
    let decided = 0;
    const seen = new Set<string>();
    for (let i = 1; decided < 6 && i < 20_000; i += 1) {
      const events = world.step(START + i * SECOND);
      if (i % 25 === 0) {
        for (const slot of contests) {
          const sum = hidden(world).open[slot]!.markets.reduce((total, one) => total + one.probability, 0);
          expect(sum).toBe(1_000_000);
        }
      }
      const resolved = new Map<string, string>();
      for (const event of events)
        if (event.kind === 'market_resolved') resolved.set(event.conditionId, event.payout);
      const decidedNow = [...resolved.keys()]
        .map((conditionId) => world.market(conditionId)!)
        .filter((market) => market.negRisk);
      for (const eventId of new Set(decidedNow.map((market) => market.eventId))) {
        const members = [...world.markets()].filter((market) => market.eventId === eventId);
        expect(members.filter((market) => resolved.get(market.conditionId) === 'YES')).toHaveLength(1);
        expect(members.filter((market) => resolved.get(market.conditionId) === 'NO')).toHaveLength(
          members.length - 1,
        );
        expect(seen.has(eventId)).toBe(false);
        seen.add(eventId);
        decided += 1;
      }
    }
    expect(decided).toBeGreaterThanOrEqual(6);
  });
});

const RESOLVED = ALL ? 4_000 : 1_000;

describe('calibration', () => {
  test('over thousands of markets, YES comes as often as the price at listing said', () => {
    const { world } = World.begin('calibration', 2_000_000, START);
    const listed = new Map<string, number>();
    const bands = Array.from({ length: 5 }, () => ({ count: 0, yes: 0, expected: 0, variance: 0 }));
    let resolved = 0;
    for (let i = 1; resolved < RESOLVED; i += 1) {
      for (const event of world.step(START + i * SECOND)) {
        if (event.kind === 'market_listed') {
          const { bestBid, bestAsk } = world.market(event.conditionId)!;
          listed.set(event.conditionId, (bestBid! + bestAsk!) / 2 / PIPS);
        } else if (event.kind === 'market_resolved') {
          const price = listed.get(event.conditionId);
          if (price === undefined) continue;
          resolved += 1;
          const band = bands[Math.min(4, Math.floor(price * 5))]!;
          band.count += 1;
          band.yes += event.payout === 'YES' ? 1 : 0;
          band.expected += price;
          band.variance += price * (1 - price);
        }
      }
    }
    for (const band of bands) {
      expect(band.count).toBeGreaterThan(RESOLVED / 40);
      expect(Math.abs(band.yes - band.expected)).toBeLessThan(3.3 * Math.sqrt(band.variance));
    }
  });
});

describe('liquidity', () => {
  const FIFTY = 50n * MICRO;

  /** Buys and sells for 50 collateral in every open market and outcome, several times without a step between. */
  function tradeEverything(world: World): void {
    const at = world.now;
    world.execute({ kind: 'deposit', account: ALICE, amount: 1_000_000_000n * MICRO }, at);
    const markets = openMarkets(world);
    expect(markets).toHaveLength(OPEN_MARKETS);
    for (const market of markets) {
      for (let round = 0; round < 3; round += 1) {
        for (const outcome of ['YES', 'NO'] as const) {
          const buy = take(market, outcome, 'BUY', MICRO, FIFTY);
          expectFilled(world.execute({ kind: 'place', order: buy }, at), buy, market);
          const bid = world.book(market.conditionId, outcome, 1)!.bids[0]![0];
          const size = (FIFTY * BigInt(PIPS)) / BigInt(bid);
          world.execute({ kind: 'split', account: ALICE, conditionId: market.conditionId, amount: size }, at);
          const sell = take(market, outcome, 'SELL', size);
          expectFilled(world.execute({ kind: 'place', order: sell }, at), sell, market);
        }
      }
    }
    world.checkConservation();
  }

  function expectFilled(events: readonly EngineEvent[], order: NewOrder, market: MarketView): void {
    const done = events.find(
      (event) => 'orderId' in event && event.orderId === order.orderId && event.kind === 'order_done',
    );
    expect(
      done,
      `${order.side} ${order.outcome} of ${market.question} at ${market.bestBid}/${market.bestAsk}`,
    ).toMatchObject({
      reason: 'filled',
    });
  }

  test('50 collateral fill immediately on both sides of both outcomes, in a new world', () => {
    tradeEverything(World.begin('fills', 1_000, START).world);
  });

  test('and after a week of fast steps', () => {
    const { world } = World.begin('fills', 1_000, START);
    for (let i = 1; i <= 1_008; i += 1) world.step(START + i * 10 * MINUTE);
    tradeEverything(world);
  });

  test('the second of two large orders pays more: the maker steps back within the first one’s command', () => {
    const { world } = World.begin('skew', 1_000, START);
    world.execute({ kind: 'deposit', account: ALICE, amount: 1_000_000n * MICRO }, START);
    const market = openMarkets(world).find((one) => one.tickSize === 10 && one.bestAsk! < 6_000)!;
    const before = world.book(market.conditionId, 'YES', 1)!.asks[0]![0];
    const large = take(market, 'YES', 'BUY', MICRO, 700n * MICRO);
    world.execute({ kind: 'place', order: large }, START);
    const after = world.book(market.conditionId, 'YES')!;
    expect(after.asks[0]![0]).toBeGreaterThan(before);
    expect(after.bids[0]![0]).toBeLessThan(before);
  });

  test('the maker never bids above nor asks below the hidden probability', () => {
    let quotes = 0;
    story(150, (world) => {
      for (const event of hidden(world).open) {
        for (const market of event.markets) {
          const losing = market.quotes.filter(({ side, price }) =>
            side === 'bid' ? price * 100 > market.probability : price * 100 < market.probability,
          );
          // Collected, and not compared one by one: there are a hundred thousand.
          if (losing.length > 0) expect(losing).toEqual([]);
          quotes += market.quotes.length;
        }
      }
    });
    expect(quotes).toBeGreaterThan(10_000);
  });
});

/** A month each 4,320. */
const STEPS = ALL ? 9_000 : 1_500;

describe('the long run', () => {
  test('money is conserved after every step, and the maker’s book agrees with the engine', () => {
    const world = story(ALL ? 1_200 : 200, (now) => now.checkConservation());
    const { state, engine } = decodeWorld(world.snapshot());
    for (const event of state.open) {
      for (const market of event.markets) {
        for (const quote of market.quotes) {
          const open = engine.openOrder(quote.orderId)!;
          expect(open.size - open.filled).toBe(quote.remaining);
        }
      }
    }
  });

  test('every slot stays open over a simulated time, and memory does not grow', () => {
    const { world } = World.begin('months', 60_000, START);
    let most = 0;
    for (let i = 1; i <= STEPS; i += 1) {
      world.step(START + i * 10 * SECOND);
      if (i % 20 !== 0) continue;
      const all = [...world.markets()];
      expect(all.filter((market) => market.status === 'open')).toHaveLength(OPEN_MARKETS);
      most = Math.max(most, all.length);
    }
    world.checkConservation();
    expect(most).toBeLessThan(800);
    const overdue = openMarkets(world).filter((market) => market.endDate < world.now - 30 * SECOND);
    expect(overdue).toEqual([]);
  });

  test('one market is always over within two minutes, and its question says so', () => {
    const { world } = World.begin('blitz', 1_000, START);
    for (let minute = 0; minute < 200; minute += 1) {
      world.step(START + minute * MINUTE);
      const soonest = openMarkets(world).filter((market) => market.endDate <= world.now + 2 * MINUTE);
      expect(soonest.some((market) => /minute \d{4}/.test(market.question))).toBe(true);
    }
    // Gone from the listings after an hour, not after a day.
    const blitz = [...world.markets()].filter((market) => /minute \d{4}/.test(market.question));
    expect(blitz.length).toBeGreaterThan(20);
    expect(blitz.length).toBeLessThan(75);
  });

  test('a tick that becomes finer near an end refuses the other grid, and leaves what rests and is held', () => {
    const { world } = World.begin('ticks', 1_000, START);
    const changing = SLOTS.findIndex(({ finerTick }) => finerTick !== undefined);
    const { conditionId } = hidden(world).open[changing]!.markets[0]!;
    const present = () => world.market(conditionId)!;
    const nextTick = (from: number) => {
      while (present().tickSize === from) {
        expect(present().status).toBe('open');
        world.step(world.now + 10 * SECOND);
      }
    };
    world.execute({ kind: 'deposit', account: ALICE, amount: 1_000_000n * MICRO }, START);
    nextTick(10);
    const cheap = present().bestAsk! < PIPS / 2 ? 'YES' : 'NO';
    const place = (order: Partial<NewOrder>) =>
      world.execute(
        { kind: 'place', order: { ...take(present(), cheap, 'BUY', 100n * MICRO), ...order } },
        world.now,
      );
    place({});
    const held = world.freeTokens(ALICE, conditionId, cheap);
    expect(held).toBeGreaterThan(0n);
    const resting = { limit: 100, timeInForce: 'GTC', size: 10n * MICRO } as const;
    place(resting);
    expect(place({ ...resting, limit: 110 })).toMatchObject([{ reason: 'price_off_tick_grid' }]);
    nextTick(100);
    expect(world.openOrders(ALICE)).toMatchObject([{ limit: 100 }]);
    place({ ...resting, limit: 90 });
    expect(place({ ...resting, limit: 95 })).toMatchObject([{ reason: 'price_off_tick_grid' }]);
    const sold = place({ side: 'SELL', limit: 10, size: held });
    expect(sold.filter(({ kind }) => kind === 'fill')).not.toEqual([]);
    world.checkConservation();
  });

  test('a world that was founded with fewer slots keeps its number through life and recovery', () => {
    const { world } = World.begin('older', 1_000, START, { slots: FIRST_SLOTS });
    for (let i = 1; i < 50; i += 1) world.step(START + i * 10 * MINUTE);
    const copy = World.restore(world.snapshot());
    copy.step(copy.now + MINUTE);
    expect(openMarkets(copy)).toHaveLength(120);
    expect(hidden(copy).open.some((event) => SLOTS[event.slot]!.horizon === 'blitz')).toBe(false);
  });

  test('after a long pause the due work is done in bounded slices', () => {
    const { world } = World.begin('pause', 1_000, START);
    let at = START + 30 * DAY;
    for (let i = 0; i < 60; i += 1) {
      const events = world.step(at);
      expect(events.filter((event) => event.kind === 'market_closed').length).toBeLessThanOrEqual(4 * 8);
      expect(events.length).toBeLessThan(1_000);
      at += SECOND;
    }
    expect(openMarkets(world).filter((market) => market.endDate <= at)).toEqual([]);
  });

  test('a new speed moves the ends to come in proportion', () => {
    const { world } = World.begin('speed', 1_000, START);
    const before = openMarkets(world).map((market) => market.endDate - START);
    world.step(START, 10_000);
    const after = openMarkets(world).map((market) => market.endDate - START);
    expect(after).toEqual(before.map((left) => Math.floor(left / 10)));
  });
});

test('the first items are those of a stable sort', () => {
  const items = fc.array(fc.record({ rank: fc.integer({ min: 0, max: 9 }), name: fc.string() }));
  const byRank = (a: { readonly rank: number }, b: { readonly rank: number }): number => a.rank - b.rank;
  fc.assert(
    fc.property(items, fc.nat(20), (all, count) => {
      expect(firstOf(all, count, byRank)).toEqual(all.toSorted(byRank).slice(0, count));
    }),
  );
});
