/** The replay of a statement against the fold of positions, which is the only description of what fills do. */
import { fold, type Holding, holdingKey, Lots, NO_POSITION } from '@bellwether/contract/positions';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WalletAddress } from '../domain/records.ts';
import { type FillEvent, Replay } from './replay.ts';

const WALLET = '0x00000000000000000000000000000000000000aa' as WalletAddress;
const TOKEN = { wallet: WALLET, conditionId: '0xc', outcome: 'YES' as const };

const fills = fc.array(
  fc.record({
    token: fc.constantFrom('1', '2'),
    side: fc.constantFrom('BUY' as const, 'SELL' as const),
    size: fc.bigInt({ min: 1n, max: 1_000n }),
    cost: fc.bigInt({ min: 0n, max: 1_000n }),
    fee: fc.bigInt({ min: 0n, max: 9n }),
    /** A chain may sell what the desk does not know of. */
    matchKind: fc.constantFrom('LIVE', 'LIVE', 'LOST'),
  }),
  { maxLength: 60 },
);

/** The same fills as the desk records them, each with the result that the fold gave it, and the positions after all of them. */
function recorded(given: typeof fills extends fc.Arbitrary<infer T> ? T : never) {
  const holdings = new Map<string, Holding>();
  const events = given.flatMap(({ token, side, matchKind, ...move }, nth): FillEvent[] => {
    const isLoss = matchKind === 'LOST';
    const held = holdings.get(holdingKey({ wallet: WALLET, tokenId: token }))?.position ?? NO_POSITION;
    if (isLoss && held.size === 0n) return [];
    const fill = {
      ...{ ...TOKEN, tokenId: token, price: 0, liquidity: 'taker' as const, at: nth, matchKind },
      ...{ ...move, side: isLoss ? ('SELL' as const) : side },
      ...(isLoss ? { size: held.size, cost: 0n, fee: 0n } : {}),
    };
    const made = fold(holdings, [{ kind: 'fills', fills: [{ ...fill, orderId: `o${nth}`, tradeId: nth }] }]);
    for (const [key, holding] of made.holdings) holdings.set(key, holding);
    const [part] = made.parts;
    if (part?.kind !== 'counted') throw new Error('a fill was not counted');
    const labels = { agentId: null, source: null, skillSlug: null };
    const realized = part.fills[0]?.gain ?? 0n;
    return [{ kind: 'fill', ...fill, orderId: `o${nth}`, tradeId: String(nth), ...labels, realized }];
  });
  return { events, positions: [...holdings.values()].map(({ position }) => position) };
}

const total = (values: readonly bigint[]): bigint => values.reduce((sum, value) => sum + value, 0n);

describe('a replay', () => {
  test('by average holds what the positions hold, and won what they won', () => {
    fc.assert(
      fc.property(fills, (given) => {
        const { events, positions } = recorded(given);
        const replay = new Replay('average');
        const entries = events.map((event) => replay.take(event));
        expect(replay.total.cost).toBe(total(positions.map(({ cost }) => cost)));
        expect(total(entries.map(({ realized }) => realized))).toBe(
          total(positions.map(({ realized }) => realized)),
        );
        expect(total(entries.map(({ shares }) => shares))).toBe(total(positions.map(({ size }) => size)));
        expect(total(entries.map(({ venueFee }) => venueFee))).toBe(total(positions.map(({ fees }) => fees)));
      }),
    );
  });

  test('moves the money that was paid and received, whichever way cost is counted', () => {
    fc.assert(
      fc.property(fills, fc.constantFrom('average' as const, 'fifo' as const), (given, method) => {
        const { events } = recorded(given);
        const replay = new Replay(method);
        for (const event of events) {
          const { cash, costBasis, realized, venueFee, pastDesk } = replay.take(event);
          const paid = event.side === 'BUY' ? -event.cost : event.cost;
          expect(cash).toBe(paid - event.fee);
          // Money is cost, result, fees, or was received for shares that nobody bought here.
          expect(cash).toBe(realized + pastDesk - costBasis - venueFee);
        }
        expect(replay.total.netDeposits).toBe(
          replay.total.cash + replay.total.cost - realizedOf(events, method),
        );
      }),
    );
  });

  test('first in, first out counts by the lots', () => {
    fc.assert(
      fc.property(fills, (given) => {
        const { events } = recorded(given);
        const replay = new Replay('fifo');
        const lots = new Map<string, Lots>();
        for (const event of events) {
          const own = lots.get(event.tokenId) ?? new Lots();
          lots.set(event.tokenId, own);
          expect(replay.take(event).realized).toBe(own.take(event).gain);
        }
        expect(replay.total.cost).toBe(total([...lots.values()].map(({ cost }) => cost)));
      }),
    );
  });
});

/** Results less fees of all fills. */
function realizedOf(events: readonly FillEvent[], method: 'average' | 'fifo'): bigint {
  const replay = new Replay(method);
  return total(
    events.map((event) => replay.take(event)).map(({ realized, venueFee }) => realized - venueFee),
  );
}
