/** Random sequences of events at a live venue. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { TradeStatus } from '../src/venues/live-orders.ts';
import type { Observation } from '../src/venues/polymarket/observations.ts';
import {
  accepted,
  M,
  NOW,
  newWorld,
  openWorlds,
  orderOf,
  place,
  positionOf,
  resultsOf,
  standing,
  tell,
  trade,
} from './live-order-world.ts';

beforeAll(openWorlds);

describe('any order of events', () => {
  const shuffled = <T>(items: readonly T[], random: () => number): T[] =>
    items
      .map((item) => [random(), item] as const)
      .sort(([a], [b]) => a - b)
      .map(([, item]) => item);
  const seeded = (seed: number) => () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };

  test.each([
    ['with duplicates, and with failures among purchases and sales', 0],
    ['with purchases and sales that the desk hears of after later ones', 0.4],
  ])('%s, ends where the successful trades alone end', async (_what, lateShare) => {
    for (let seed = 1; seed <= 12; seed += 1) {
      const random = seeded(seed + 100 * lateShare);
      const [noisy, clean] = [await newWorld(), await newWorld()];
      // One after another in time; each may fail, and its failure may come after all others.
      const steps = Array.from({ length: 8 }, (_, nth) => ({
        name: `o${nth}`,
        side: nth % 3 === 2 ? ('SELL' as const) : ('BUY' as const),
        price: 3_000 + Math.floor(random() * 4_000),
        size: BigInt(1 + Math.floor(random() * 9)) * M,
        fee: BigInt(Math.floor(random() * 1_000)),
        fails: random() < 0.35,
        isLate: random() < lateShare,
      }));
      // Later purchases must bring what a failed one had brought to sell (see above): here nothing was sold of it.
      const lacks = (some: typeof steps): boolean => {
        const sum = (side: string, until: number) =>
          some.reduce((all, one, nth) => (nth <= until && one.side === side ? all + one.size : all), 0n);
        return some.some(({ side }, nth) => side === 'SELL' && sum('SELL', nth) > sum('BUY', nth));
      };
      if (lacks(steps.filter(({ side, fails }) => side === 'SELL' || !fails)))
        for (const one of steps) if (one.side === 'BUY') one.fails = false;
      const late: Observation[][] = [];
      for (const [nth, { name, side, price, size, fee, fails, isLate }] of steps.entries()) {
        const shift = (one: Observation): Observation => {
          const at = NOW + nth * 10_000;
          return one.kind === 'trade' ? { ...one, at, part: { ...one.part, matchedAt: at } } : { ...one, at };
        };
        const money = (size * BigInt(price)) / 10_000n;
        const [a, b] = [
          await place(noisy, name, { side, shares: size, money }),
          await place(clean, name, { side, shares: size, money }),
        ];
        const of = (id: string, status: TradeStatus) => shift(trade(id, 't', status, size, price, fee));
        const end = (id: string) => shift(standing(id, 'filled', size));
        const events = shuffled([accepted(a), of(a, 'matched'), of(a, 'matched'), end(a)], random).map(shift);
        if (isLate) late.push(events.map((one) => ({ ...one, at: NOW + 500_000 })));
        else await tell(events);
        late.push([of(a, fails ? 'failed' : 'confirmed'), of(a, 'mined'), of(a, 'matched')]);
        if (!fails) await tell([accepted(b), of(b, 'confirmed'), end(b)].map(shift));
      }
      for (const events of shuffled(late.flat(), random)) await tell([events]);
      expect({ seed, position: await positionOf(noisy), ...(await resultsOf(noisy)) }).toEqual({
        seed,
        position: await positionOf(clean),
        ...(await resultsOf(clean)),
      });
      for (const { name, fails } of steps)
        expect((await orderOf(`${noisy.wallet} ${name}`))?.status).toBe(
          fails ? 'settlement_failed' : 'filled',
        );
    }
  });
});
