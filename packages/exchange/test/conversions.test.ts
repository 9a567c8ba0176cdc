/** NO shares of one market of an event become YES shares of the others, and the pool that gives them gets back what it lends. */
import { MICRO, PIPS } from '@bellwether/contract/decimals';
import { describe, expect, test } from 'vitest';
import type { NewOrder } from '../src/engine/commands.ts';
import type { MarketView } from '../src/world/markets.ts';
import { Random } from '../src/world/random.ts';
import { World } from '../src/world/world.ts';

const START = Date.UTC(2026, 10, 21, 12);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const ALICE = '0x00000000000000000000000000000000000a11ce';

const openMarkets = (world: World): MarketView[] =>
  [...world.markets()].filter((market) => market.status === 'open');

let orders = 0;
function buyNo({ conditionId, tickSize }: MarketView, spend: bigint): NewOrder {
  orders += 1;
  return {
    orderId: `0x${orders.toString(16).padStart(64, '0')}`,
    ...{ account: ALICE, conditionId, outcome: 'NO', side: 'BUY' },
    ...{ limit: PIPS - tickSize, size: MICRO, spend, timeInForce: 'FAK', postOnly: false },
  };
}

describe('conversions', () => {
  const SIZE = 100n * MICRO;
  const noOf = (world: World, { conditionId }: MarketView) => world.freeTokens(ALICE, conditionId, 'NO');

  function stage() {
    const { world } = World.begin('convert', 1_000, START);
    world.execute({ kind: 'deposit', account: ALICE, amount: 1_000_000n * MICRO }, START);
    const events = Map.groupBy(openMarkets(world), ({ eventId }) => eventId);
    const event = [...events.values()].find((markets) => markets[0]?.negRisk === true)!;
    return { world, event, alone: [...events.values()].find(({ length }) => length === 1)![0]! };
  }

  const split = (world: World, { conditionId }: MarketView) =>
    world.execute({ kind: 'split', account: ALICE, conditionId, amount: SIZE }, world.now);
  const convert = (world: World, { conditionId }: MarketView, amount = SIZE) =>
    world.execute({ kind: 'convert', account: ALICE, conditionId, amount }, world.now);

  test('NO of one market becomes YES of all the others, worth the same, and pays the same', () => {
    const { world, event } = stage();
    const [first, ...others] = event as [MarketView, ...MarketView[]];
    split(world, first);
    const before = world.available(ALICE);
    const [converted] = convert(world, first).filter(({ kind }) => kind === 'converted');
    if (converted?.kind !== 'converted') throw new Error('it was refused');
    expect(converted.made.map(({ conditionId }) => conditionId)).toEqual(
      others.map(({ conditionId }) => conditionId),
    );
    expect(converted.made.reduce((sum, { worth }) => sum + worth, 0n)).toBe(converted.worth);
    expect([noOf(world, first), world.available(ALICE)]).toEqual([0n, before]);
    for (const other of others)
      expect([world.freeTokens(ALICE, other.conditionId, 'YES'), noOf(world, other)]).toEqual([SIZE, 0n]);
    world.checkConservation();

    // YES of every market of the event is one collateral a share, whichever market wins.
    let at = world.now;
    while (
      [...world.markets()].some(({ eventId, status }) => eventId === first.eventId && status !== 'resolved')
    ) {
      at += 60 * MINUTE;
      world.step(at);
    }
    for (const { conditionId } of event) world.execute({ kind: 'redeem', account: ALICE, conditionId }, at);
    expect(world.available(ALICE)).toBe(before + SIZE);
    // The pool has what it had: what it lent came back.
    expect(world.available('house:conversions')).toBe(SIZE * BigInt(others.length));
    world.checkConservation();
  });

  test('it is refused where there is not enough, and where one market alone has its event', () => {
    const { world, event, alone } = stage();
    const [first] = event as [MarketView];
    split(world, first);
    const refused = (reason: string) => [{ kind: 'refused', command: 'convert', reason }];
    expect(convert(world, first, SIZE + 1n)).toEqual(refused('insufficient_balance'));
    expect(convert(world, first, 0n)).toEqual(refused('amount_not_positive'));
    expect(convert(world, { ...first, conditionId: '0xnone' })).toEqual(refused('market_not_found'));
    split(world, alone);
    expect(convert(world, alone)).toEqual(refused('conversion_not_supported'));
    expect(world.available('house:conversions')).toBe(0n);
  });

  test('at random among purchases, splits and merges, nothing comes from nothing', () => {
    const random = Random.seeded('converter', 'test');
    const { world, event } = stage();
    let at = world.now;
    for (let nth = 0; nth < 300; nth += 1) {
      const market = random.pick(event);
      const { conditionId } = market;
      const amount = BigInt(random.between(1, 40)) * MICRO + BigInt(random.below(3));
      const kind = random.below(5);
      if (kind === 0) world.execute({ kind: 'split', account: ALICE, conditionId, amount }, at);
      else if (kind === 1) world.execute({ kind: 'merge', account: ALICE, conditionId, amount }, at);
      else if (kind === 2) world.execute({ kind: 'place', order: buyNo(market, amount) }, at);
      else convert(world, market, amount);
      at += SECOND;
      if (nth % 10 === 0) world.step(at);
      world.checkConservation();
    }
    expect(World.restore(world.snapshot()).snapshot()).toEqual(world.snapshot());
  });
});
