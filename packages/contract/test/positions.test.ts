/** The fold of positions by itself: costs, lots, results, resolutions, late fills and reversals, on random histories. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Fill,
  fold,
  type Holding,
  holdingKey,
  holdingOf,
  Lots,
  type Move,
  mayBeLate,
  NO_POSITION,
  type PositionEvent,
  payoutOf,
  paysOf,
  redeemedFor,
  step,
} from '../src/positions.ts';

const TOKEN = { wallet: 'w', conditionId: 'c', tokenId: 't', outcome: 'YES' } as const;
const KEY = holdingKey(TOKEN);
const NOW = Date.UTC(2026, 5, 1);

const fill = (
  nth: number,
  side: Fill['side'],
  size: bigint,
  cost: bigint,
  more: Partial<Fill> = {},
): Fill => ({
  ...TOKEN,
  ...{ orderId: `o${nth}`, tradeId: nth, side, size, cost, fee: 0n, price: 5_000, liquidity: 'taker' },
  ...{ matchKind: 'LIVE', at: NOW + nth * 60_000, ...more },
});
const fills = (...reported: readonly Fill[]): PositionEvent => ({ kind: 'fills', fills: reported });
const nothing = (history: Holding['history'] = []): ReadonlyMap<string, Holding> =>
  new Map([[KEY, holdingOf(TOKEN, history)]]);
const positionAfter = (events: readonly PositionEvent[], from = nothing()) =>
  fold(from, events).holdings.get(KEY)?.position;

const moves = fc.array(
  fc.record({
    side: fc.constantFrom('BUY' as const, 'BUY' as const, 'SELL' as const),
    size: fc.bigInt(1n, 20_000_000n),
    pips: fc.bigInt(1n, 9_999n),
    fee: fc.bigInt(0n, 1_000n),
  }),
  { maxLength: 40 },
);
type Given = {
  readonly side: Move['side'];
  readonly size: bigint;
  readonly pips: bigint;
  readonly fee: bigint;
};
const toFills = (given: readonly Given[]): Fill[] =>
  given.map(({ side, size, pips, fee }, nth) => fill(nth, side, size, (size * pips) / 10_000n, { fee }));

describe('a position', () => {
  test('after any moves has won what it received beyond what it paid, and no cost without shares', () => {
    fc.assert(
      fc.property(moves, (given) => {
        let position = NO_POSITION;
        let [paid, received] = [0n, 0n];
        for (const one of toFills(given)) {
          const done = step(position, one);
          // A sale of shares that the desk does not know of is neither a gain nor a loss.
          if (one.side === 'BUY') paid += one.cost;
          else received += done.known === one.size ? one.cost : (one.cost * done.known) / one.size;
          position = done.position;
          if (position.size === 0n) expect(position.cost).toBe(0n);
          expect(position.closedAt === null).toBe(position.size > 0n || one.side === 'BUY');
        }
        expect(position.realized).toBe(received - (paid - position.cost));
      }),
    );
  });

  test('says with each close what was won or lost since the one before, fees included', () => {
    let position = NO_POSITION;
    const nets: bigint[] = [];
    for (const one of [
      fill(0, 'BUY', 10n, 5n, { fee: 1n }),
      fill(1, 'SELL', 10n, 8n, { fee: 1n }),
      fill(2, 'BUY', 10n, 5n, { fee: 1n }),
      fill(3, 'SELL', 10n, 6n, { fee: 1n }),
    ]) {
      const done = step(position, one);
      position = done.position;
      nets.push(done.net);
    }
    expect(nets).toEqual([0n, 1n, 0n, -1n]);
    expect(position).toMatchObject({ realized: 4n, fees: 4n, settled: 0n });
  });
});

const taken = (moves: readonly Fill[]) => {
  const lots = new Lots();
  const gains = moves.map((move) => lots.take(move).gain);
  return { open: lots.open, gains };
};

describe('lots', () => {
  test('hold what the position holds, and earn with it what it earns once it is closed', () => {
    fc.assert(
      fc.property(moves, (given) => {
        const all = toFills(given);
        const held = all.reduce((position, one) => step(position, one).position, NO_POSITION);
        const closed = held.size === 0n ? all : [...all, fill(all.length, 'SELL', held.size, held.cost)];
        const sizeOf = (of: readonly Fill[]) => taken(of).open.reduce((sum, { size }) => sum + size, 0n);
        expect(sizeOf(all)).toBe(held.size);
        expect(sizeOf(closed)).toBe(0n);
        const fifo = taken(closed).gains.reduce((sum, gain) => sum + gain, 0n);
        const average = closed.reduce((position, one) => step(position, one).position, NO_POSITION).realized;
        expect(fifo).toBe(average);
      }),
    );
  });

  test('are sold oldest first', () => {
    const [first, second, sale] = [
      fill(0, 'BUY', 10n, 2n),
      fill(1, 'BUY', 10n, 6n),
      fill(2, 'SELL', 15n, 9n),
    ];
    const { open, gains } = taken([first, second, sale]);
    // All of the first, and half of the second.
    expect(gains).toEqual([0n, 0n, 9n - (2n + 3n)]);
    expect(open).toEqual([{ move: second, size: 5n, cost: 3n }]);
  });

  test('cost what is left of their purchases, however many were sold', () => {
    const many = Array.from({ length: 400 }, (_, i) =>
      i % 2 === 0 ? fill(i, 'BUY', 10n, BigInt(i)) : fill(i, 'SELL', 9n, 9n),
    );
    const lots = new Lots();
    for (const one of many) lots.take(one);
    expect(lots.open.length).toBeLessThan(40);
    expect(lots.cost).toBe(lots.open.reduce((sum, { cost }) => sum + cost, 0n));
    expect(lots.open.reduce((sum, { size }) => sum + size, 0n)).toBe(200n);
  });

  test('of a sale of more than there is, the rest came past the desk', () => {
    const lots = new Lots();
    lots.take(fill(0, 'BUY', 10n, 4n));
    expect(lots.take(fill(1, 'SELL', 20n, 16n))).toEqual({ gain: 4n, known: 10n });
    expect(lots.open).toEqual([]);
  });
});

describe('the fold', () => {
  test('gives one event after another the same as all at once', () => {
    fc.assert(
      fc.property(moves, fc.nat({ max: 40 }), (given, at) => {
        const all = toFills(given);
        const [before, after] = [all.slice(0, at), all.slice(at)];
        const first = fold(nothing(), [fills(...before)]);
        const known = first.holdings.size === 0 ? nothing() : first.holdings;
        expect(positionAfter([fills(...after)], known) ?? first.holdings.get(KEY)?.position).toEqual(
          positionAfter([fills(...before), fills(...after)]),
        );
      }),
    );
  });

  test('changes nothing that it is given', () => {
    const known = nothing();
    const before = structuredClone(known);
    fold(known, [
      fills(fill(0, 'BUY', 10n, 5n)),
      { kind: 'resolution', conditionId: 'c', payout: 'NO', at: NOW },
    ]);
    expect(known).toEqual(before);
  });

  test('of a reversed fill leaves nothing: as if it had never happened', () => {
    fc.assert(
      fc.property(moves, fc.nat(), (given, which) => {
        // Purchases alone: what was sold of a failed purchase has rules of its own.
        const all = toFills(given).filter(({ side }) => side === 'BUY');
        const gone = all[which % Math.max(1, all.length)];
        if (gone === undefined) return;
        const at = NOW + 86_400_000;
        const with_ = positionAfter([fills(...all), { kind: 'reversal', key: KEY, fills: [gone], at }]);
        const without = positionAfter([fills(...all.filter((one) => one !== gone))]);
        expect(with_).toEqual(without ?? NO_POSITION);
      }),
    );
  });

  test('ignores the reversal of a fill that is not there, also when it comes twice', () => {
    const [kept, gone] = [fill(0, 'BUY', 10n, 5n), fill(1, 'BUY', 10n, 9n)];
    const reversal: PositionEvent = { kind: 'reversal', key: KEY, fills: [gone], at: NOW };
    expect(positionAfter([fills(kept, gone), reversal, reversal])).toMatchObject({ size: 10n, cost: 5n });
  });

  test('counts a sale that is reported before its purchase with the purchase', () => {
    const [bought, sold] = [fill(0, 'BUY', 10n, 4n), fill(1, 'SELL', 10n, 7n)];
    expect(mayBeLate([bought], holdingOf(TOKEN), { fills: [sold], sold: 10n })).toBe(true);
    const { parts, holdings } = fold(nothing(), [fills(sold), fills(bought)]);
    expect(holdings.get(KEY)?.position).toMatchObject({ size: 0n, realized: 3n });
    expect(parts.at(-1)).toMatchObject({
      kind: 'recounted',
      fills: [{ fill: { orderId: 'o1' }, gain: 3n, wins: 1, losses: 0 }],
    });
  });

  describe('of facts of a chain', () => {
    const SETS = { BUY: ['SPLIT', 'CONVERTED'], SELL: ['MERGED', 'CONVERTED', 'REDEEM'] } as const;
    const kindOf = (side: Fill['side'], which: number): string =>
      which < 3 ? 'LIVE' : (SETS[side][which % SETS[side].length] as string);
    const facts = fc
      .array(fc.tuple(fc.nat({ max: 5 }), fc.constantFrom<Fill['side']>('BUY', 'SELL'), fc.bigInt(1n, 30n)), {
        minLength: 2,
        maxLength: 9,
      })
      .map((all) =>
        all.map(([which, side, size], nth) =>
          fill(nth, side, size, (size * BigInt(nth + 1)) / 3n, { matchKind: kindOf(side, which) }),
        ),
      );
    const heard = facts.chain((all) =>
      fc.record({
        all: fc.constant(all),
        order: fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }),
      }),
    );

    test('makes the same, in whichever order the desk hears of them', () => {
      fc.assert(
        fc.property(heard, ({ all, order }) => {
          expect(positionAfter(order.map((one) => fills(one)))).toEqual(positionAfter([fills(...all)]));
        }),
      );
    });

    test('makes the same where some are heard of after the resolution', () => {
      const lost = { kind: 'resolution', conditionId: 'c', payout: 'NO', at: NOW + 9e6 } as const;
      fc.assert(
        fc.property(heard, fc.nat({ max: 9 }), ({ all, order }, known) => {
          const after = order.slice(known).flatMap((one): PositionEvent[] => [fills(one), lost]);
          const late = positionAfter([...order.slice(0, known).map((one) => fills(one)), lost, ...after]);
          const { size, realized, fees } = positionAfter([fills(...all), lost]) ?? NO_POSITION;
          expect(late).toMatchObject({ size, realized, fees });
        }),
      );
    });

    test.each(['SPLIT', 'CONVERTED'])('a %s counts before the sale of what it brought', (matchKind) => {
      const [made, sold] = [fill(0, 'BUY', 20n, 10n, { matchKind }), fill(1, 'SELL', 8n, 6n)];
      expect(mayBeLate([made], holdingOf(TOKEN), { fills: [sold], sold: 8n })).toBe(true);
      expect(positionAfter([fills(sold), fills(made)])).toMatchObject({ size: 12n, cost: 6n, realized: 2n });
      // By the venue's clock it came three seconds later.
      const later = { ...made, at: sold.at + 3_000 };
      expect(mayBeLate([later], holdingOf(TOKEN), { fills: [sold], sold: 8n })).toBe(true);
      expect(positionAfter([fills(sold), fills(later)])).toMatchObject({ size: 12n, cost: 6n, realized: 2n });
    });
  });

  test('loses what a resolution leaves worthless, once, and nothing of a draw', () => {
    const resolution = { kind: 'resolution', conditionId: 'c', at: NOW + 9e6 } as const;
    const bought = fills(fill(0, 'BUY', 10n, 4n));
    expect(positionAfter([bought, { ...resolution, payout: 'HALF' }])).toMatchObject({
      size: 10n,
      closedAt: null,
    });
    expect(positionAfter([bought, { ...resolution, payout: 'YES' }])).toMatchObject({ size: 10n });
    const no: PositionEvent = { ...resolution, payout: 'NO' };
    const { parts, holdings } = fold(nothing(), [bought, no, no]);
    expect(holdings.get(KEY)?.position).toMatchObject({ size: 0n, realized: -4n, closedAt: resolution.at });
    expect(parts.filter(({ kind }) => kind === 'counted')).toHaveLength(2);
  });

  test('takes of redemptions past the desk only what was not recorded before', () => {
    const redeemed = (size: bigint): PositionEvent => ({
      kind: 'redemption',
      key: KEY,
      size,
      payout: 'YES',
      at: NOW,
    });
    const bought = fills(fill(0, 'BUY', 10n, 4n));
    expect(positionAfter([bought, redeemed(4n), redeemed(4n)])).toMatchObject({ size: 6n, realized: 3n });
    expect(positionAfter([bought, redeemed(4n), redeemed(99n)])).toMatchObject({ size: 0n, realized: 6n });
  });

  test('refuses a sale at a paper venue of what is not there', () => {
    const sale = fill(0, 'SELL', 10n, 4n, { matchKind: 'COMPLEMENTARY' });
    expect(() => fold(nothing(), [fills(sale)])).toThrow(RangeError);
  });

  test('refuses a reversal of a position whose fills were not read', () => {
    const reversal: PositionEvent = { kind: 'reversal', key: KEY, fills: [fill(0, 'BUY', 1n, 1n)], at: NOW };
    expect(() => fold(nothing(null), [reversal])).toThrow('were not read');
  });
});

describe('a payout', () => {
  test.each([
    [1_000_000n, 'YES'],
    [0n, 'NO'],
    [500_000n, 'HALF'],
    [240_000n, '0.24'],
    [1n, '0.000001'],
    [999_999n, '0.999999'],
  ] as const)('of %s millionths for YES is %s, and the rest of one for NO', (yes, payout) => {
    expect(payoutOf(yes)).toBe(payout);
    expect([paysOf(payout, 'YES'), paysOf(payout, 'NO')]).toEqual([yes, 1_000_000n - yes]);
  });

  test('is never below nothing or above one', () => {
    for (const yes of [-1n, 1_000_001n]) expect(() => payoutOf(yes)).toThrow(RangeError);
  });

  test('rounds down what shares are redeemed for', () => {
    expect(redeemedFor('0.24', 'YES', 10n)).toBe(2n);
    expect(redeemedFor('0.24', 'NO', 10n)).toBe(7n);
  });
});
