/** A world that mirrors a live venue: paper orders fill against the live depth, once, and wait in the live queue. */
import { MICRO } from '@bellwether/contract/decimals';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { EngineEvent, NewOrder } from '../engine/commands.ts';
import type { MirrorChange, MirroredLevel } from './mirror.ts';
import { World } from './world.ts';

const AT = 1_790_000_000_000;
const ID = '0xlive';
const ANN = '0x00000000000000000000000000000000000000aa';
const BOB = '0x00000000000000000000000000000000000000bb';
const shares = (count: number): bigint => BigInt(Math.round(count * 1e6));

let world: World;
let orders: number;

const LISTED: Extract<MirrorChange, { kind: 'list' }> = {
  kind: 'list',
  market: {
    id: '1',
    conditionId: ID,
    tokenIds: ['7', '8'],
    slug: 'live',
    question: 'Live?',
    description: '',
    category: 'Weather',
    eventId: '9',
    eventTitle: 'Live',
    negRisk: false,
    feeRate: 0n,
    feeExponent: 1,
    createdAt: AT,
    tickSize: 100,
    minOrderSize: 5n * MICRO,
    endDate: AT + 1e9,
  },
};
const mirror = (...changes: MirrorChange[]): EngineEvent[] => world.mirror(changes, AT);
const levels = (rows: readonly MirroredLevel[], isWhole = false): MirrorChange => ({
  kind: 'levels',
  conditionId: ID,
  levels: rows,
  isWhole,
});
const trade = (side: 'BUY' | 'SELL', price: number, size: number): MirrorChange => ({
  kind: 'trade',
  conditionId: ID,
  side,
  price,
  size: shares(size),
});
const place = (changes: Partial<NewOrder>): EngineEvent[] => {
  orders += 1;
  const order: NewOrder = {
    orderId: `0x${orders}`,
    account: ANN,
    conditionId: ID,
    outcome: 'YES',
    side: 'BUY',
    limit: 5_000,
    size: shares(10),
    timeInForce: 'GTC',
    postOnly: false,
    ...changes,
  };
  return world.execute({ kind: 'place', order }, AT);
};
const fillsOf = (events: readonly EngineEvent[], account = ANN) =>
  events.flatMap((event) =>
    event.kind === 'fill' && event.account === account ? [[event.price, event.size, event.liquidity]] : [],
  );
const reasons = (events: readonly EngineEvent[]) =>
  events.flatMap((event) => ('reason' in event ? [event.reason] : []));
const book = () => {
  const { bids, asks } = world.book(ID, 'YES')!;
  return { bids, asks };
};

beforeEach(() => {
  world = World.begin('mirror', 1_000, AT, { slots: 0 }).world;
  orders = 0;
  for (const account of [ANN, BOB]) {
    world.execute({ kind: 'deposit', account, amount: 100_000n * MICRO }, AT);
  }
  mirror(
    LISTED,
    levels(
      [
        ['bid', 4_500, shares(100)],
        ['bid', 4_400, shares(200)],
        ['ask', 5_000, shares(50)],
        ['ask', 5_100, shares(70)],
      ],
      true,
    ),
  );
});

describe('an order that takes', () => {
  test('walks the live depth', () => {
    const events = place({ limit: 5_100, size: shares(80), timeInForce: 'FAK' });
    expect(fillsOf(events)).toEqual([
      [5_000, shares(50), 'taker'],
      [5_100, shares(30), 'taker'],
    ]);
    expect(book().asks).toEqual([[5_100, shares(40)]]);
  });

  test('finds what others took already gone, as long as the live level stays', () => {
    place({ size: shares(50), timeInForce: 'FAK' });
    mirror(levels([['ask', 5_000, shares(50)]]));
    expect(reasons(place({ account: BOB, timeInForce: 'FAK' }))).toContain('fak_no_match');
    // Ten more came there: ten can be taken.
    mirror(levels([['ask', 5_000, shares(60)]]));
    expect(fillsOf(place({ account: BOB, size: shares(30), timeInForce: 'FAK' }), BOB)).toEqual([
      [5_000, shares(10), 'taker'],
    ]);
    // The level went and came back.
    mirror(levels([['ask', 5_000, 0n]]), levels([['ask', 5_000, shares(20)]]));
    expect(book().asks[0]).toEqual([5_000, shares(20)]);
  });

  test('finds no more than the live level has, also after part of it was taken', () => {
    place({ size: shares(20), timeInForce: 'FAK' });
    mirror(levels([['ask', 5_000, shares(25)]]));
    expect(book().asks[0]).toEqual([5_000, shares(25)]);
    mirror(levels([['ask', 5_000, shares(40)]]));
    expect(book().asks[0]).toEqual([5_000, shares(40)]);
  });

  test('of NO takes the mirror of the live bids', () => {
    const events = place({ outcome: 'NO', limit: 5_500, size: shares(30), timeInForce: 'FOK' });
    expect(fillsOf(events)).toEqual([[5_500, shares(30), 'taker']]);
    expect(book().bids[0]).toEqual([4_500, shares(70)]);
  });
});

describe('an order that waits', () => {
  test('is filled by live trades only after what was there before it', () => {
    place({ limit: 4_500, size: shares(10) });
    expect(fillsOf(mirror(trade('SELL', 4_500, 60), levels([['bid', 4_500, shares(40)]])))).toEqual([]);
    expect(fillsOf(mirror(trade('SELL', 4_500, 45), levels([['bid', 4_500, 0n]])))).toEqual([
      [4_500, shares(5), 'maker'],
    ]);
  });

  test('stays before what comes later', () => {
    place({ limit: 4_500, size: shares(10) });
    mirror(levels([['bid', 4_500, shares(500)]]));
    expect(fillsOf(mirror(trade('SELL', 4_500, 120)))).toEqual([[4_500, shares(10), 'maker']]);
  });

  test('does not move forward when others cancel', () => {
    place({ limit: 4_500, size: shares(10) });
    mirror(levels([['bid', 4_500, shares(500)]]), levels([['bid', 4_500, shares(90)]]));
    expect(fillsOf(mirror(trade('SELL', 4_500, 90)))).toEqual([]);
    expect(fillsOf(mirror(trade('SELL', 4_500, 3)))).toEqual([[4_500, shares(3), 'maker']]);
  });

  test('at a price of its own is filled first, at its own price', () => {
    place({ limit: 4_700, size: shares(10) });
    expect(fillsOf(mirror(trade('SELL', 4_500, 30)))).toEqual([[4_700, shares(10), 'maker']]);
  });

  test('that sells is filled by live buyers', () => {
    world.execute({ kind: 'split', account: ANN, conditionId: ID, amount: shares(20) }, AT);
    place({ side: 'SELL', limit: 4_900, size: shares(10) });
    expect(fillsOf(mirror(trade('BUY', 5_000, 4)))).toEqual([[4_900, shares(4), 'maker']]);
  });

  test('is met by a live order that comes to its price', () => {
    place({ limit: 4_800, size: shares(10) });
    expect(fillsOf(mirror(levels([['ask', 4_800, shares(25)]])))).toEqual([[4_800, shares(10), 'maker']]);
    expect(book().asks[0]).toEqual([4_800, shares(15)]);
  });

  test('is not filled by a trade at a worse price than its own', () => {
    place({ limit: 4_400, size: shares(10) });
    expect(fillsOf(mirror(trade('SELL', 4_500, 1_000)))).toEqual([]);
  });

  test('keeps its place while the live book is unknown', () => {
    place({ limit: 4_500, size: shares(10) });
    mirror({ kind: 'pause', conditionId: ID }, trade('SELL', 4_500, 500));
    expect(reasons(place({ account: BOB }))).toEqual(['market_closed']);
    mirror(levels([['bid', 4_500, shares(60)]], true));
    expect(book().asks).toEqual([]);
    expect(fillsOf(mirror(trade('SELL', 4_500, 60)))).toEqual([]);
    expect(fillsOf(mirror(trade('SELL', 4_500, 10)))).toEqual([[4_500, shares(10), 'maker']]);
  });
});

describe('a mirrored market', () => {
  test('has the live terms, also when they change', () => {
    expect(reasons(place({ limit: 4_550 }))).toEqual(['price_off_tick_grid']);
    expect(reasons(place({ limit: 4_600, size: shares(4) }))).toEqual(['size_below_minimum']);
    mirror({
      kind: 'terms',
      conditionId: ID,
      terms: { tickSize: 10, minOrderSize: shares(2), endDate: AT + 5 },
    });
    expect(place({ limit: 4_550, size: shares(3) })[0]).toMatchObject({ kind: 'order_accepted' });
    expect(world.market(ID)).toMatchObject({ tickSize: 10, minOrderSize: shares(2), endDate: AT + 5 });
    const ticksOf = (tickSize: number) =>
      mirror({
        kind: 'terms',
        conditionId: ID,
        terms: { tickSize, minOrderSize: shares(2), endDate: AT + 5 },
      });
    ticksOf(25);
    expect(place({ limit: 4_525, size: shares(3) })[0]).toMatchObject({ kind: 'order_accepted' });
    expect(reasons(place({ limit: 4_530, size: shares(3) }))).toEqual(['price_off_tick_grid']);
    // Finer than its grid here: no level of the live book would have its place.
    ticksOf(1);
    mirror(levels([['bid', 4_501, shares(60)]], true));
    expect(reasons(place({ limit: 4_500, size: shares(3) }))).toEqual(['market_closed']);
    ticksOf(10);
    mirror(levels([['bid', 4_500, shares(60)]], true));
    expect(place({ limit: 4_500, size: shares(3) })[0]).toMatchObject({ kind: 'order_accepted' });
  });

  test('pays out as the live one resolved, and is archived once its tokens are held no more', () => {
    place({ size: shares(20), timeInForce: 'FAK' });
    place({ limit: 4_000 });
    const events = mirror({ kind: 'resolve', conditionId: ID, payout: 'YES' });
    expect(events).toContainEqual(expect.objectContaining({ kind: 'market_resolved', payout: 'YES' }));
    expect(events).toContainEqual(expect.objectContaining({ kind: 'order_done', reason: 'market_resolved' }));
    const redeemed = world.execute({ kind: 'redeem', account: ANN, conditionId: ID }, AT);
    expect(redeemed).toContainEqual(expect.objectContaining({ kind: 'redeemed', payout: shares(20) }));
    world.checkConservation();
    world.step(AT + 25 * 3_600_000);
    expect(world.market(ID)).toBeUndefined();
  });

  test('is called Yes and No until the venue names its outcomes, and keeps the names', () => {
    const named = { ...LISTED.market, conditionId: '0xnamed', tokenIds: ['71', '81'] } as const;
    mirror({ kind: 'list', market: { ...named, outcomes: ['FaZe', 'illwill'] } });
    const names = () => ['0xnamed', ID].map((id) => [world.market(id)?.outcomes, world.facts(id)?.outcomes]);
    const [teams, usual] = [
      ['FaZe', 'illwill'],
      ['Yes', 'No'],
    ];
    expect(names()).toEqual([
      [teams, teams],
      [usual, usual],
    ]);
    expect(new TextDecoder().decode(world.snapshot()).match(/"outcomes"/g)).toHaveLength(1);
    world = World.restore(world.snapshot());
    expect(names()).toEqual([
      [teams, teams],
      [usual, usual],
    ]);
    // Terms of an exchange that knew no names say none, and change none.
    const { tickSize, minOrderSize, endDate } = LISTED.market;
    const terms = { tickSize, minOrderSize, endDate };
    mirror({ kind: 'terms', conditionId: '0xnamed', terms });
    mirror({ kind: 'terms', conditionId: ID, terms: { ...terms, outcomes: ['Up', 'Down'] } });
    expect(names()).toEqual([
      [teams, teams],
      [
        ['Up', 'Down'],
        ['Up', 'Down'],
      ],
    ]);
  });

  test('says where accounts wait', () => {
    expect([...world.unresolvedMirrors()]).toEqual([{ conditionId: ID, isPaused: false, hasOrders: false }]);
    place({ limit: 4_500 });
    expect([...world.unresolvedMirrors()]).toEqual([{ conditionId: ID, isPaused: false, hasOrders: true }]);
  });
});

const price = fc.integer({ min: 40, max: 60 }).map((ticks) => ticks * 100);
const side = fc.constantFrom('bid' as const, 'ask' as const);
const size = fc.integer({ min: 0, max: 60 }).map(shares);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({ rows: fc.array(fc.tuple(side, price, size), { maxLength: 4 }), isWhole: fc.boolean() })
      .map(({ rows, isWhole }): MirrorChange => levels(rows, isWhole)),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({
        side: fc.constantFrom('BUY' as const, 'SELL' as const),
        price,
        size: fc.integer({ min: 1, max: 80 }),
      })
      .map((one): MirrorChange => trade(one.side, one.price, one.size)),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      limit: price,
      side: fc.constantFrom('BUY' as const, 'SELL' as const),
      outcome: fc.constantFrom('YES' as const, 'NO' as const),
      size: fc.integer({ min: 5, max: 40 }).map(shares),
      account: fc.constantFrom(ANN, BOB),
    }),
  },
);

test('money is conserved, the house offers no more than the live book has, and a replay is the same', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 30 }), fc.nat({ max: 29 }), (steps, restart) => {
      world = World.begin('mirror', 1_000, AT, { slots: 0 }).world;
      for (const account of [ANN, BOB])
        world.execute({ kind: 'deposit', account, amount: 1_000n * MICRO }, AT);
      mirror(LISTED);
      for (const account of [ANN, BOB])
        world.execute({ kind: 'split', account, conditionId: ID, amount: 200n * MICRO }, AT);
      const live = new Map<string, bigint>();
      for (const [nth, one] of steps.entries()) {
        if (nth === restart) {
          const bytes = world.snapshot();
          world = World.restore(bytes);
          expect(world.snapshot()).toEqual(bytes);
        }
        if ('kind' in one) {
          mirror(one);
          if (one.kind === 'levels') {
            if (one.isWhole) live.clear();
            for (const [sideOf, at, total] of one.levels) live.set(`${sideOf} ${at}`, total);
          }
        } else place(one);
        world.checkConservation();
        const mine = new Map<string, bigint>();
        for (const account of [ANN, BOB])
          for (const order of world.openOrders(account)) {
            const isBid = (order.outcome === 'YES') === (order.side === 'BUY');
            const key = `${isBid ? 'bid' : 'ask'} ${order.outcome === 'YES' ? order.limit : 10_000 - order.limit}`;
            mine.set(key, (mine.get(key) ?? 0n) + order.size - order.filled);
          }
        const { bids, asks } = book();
        for (const [name, rows] of [
          ['bid', bids],
          ['ask', asks],
        ] as const)
          for (const [at, total] of rows) {
            const key = `${name} ${at}`;
            expect(total - (mine.get(key) ?? 0n) <= (live.get(key) ?? 0n), `${key} at ${nth}`).toBe(true);
          }
      }
    }),
    { numRuns: 300 },
  );
});
