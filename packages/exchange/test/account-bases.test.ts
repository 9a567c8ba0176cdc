/** Cost bases: exact sums, the same however often and however far they were read before, bounded, and each caller's own limit. */
import { NO_POSITION } from '@bellwether/contract/positions';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Basis, BasisChange, NOTHING } from '../src/doors/data/cost-basis.ts';
import { AccountBases } from '../src/doors/data/reads.ts';
import type { MarketFacts } from '../src/index.ts';
import type { MoveRecord, TradeHistory, TradeRecord, TradeStatus } from '../src/trade-history.ts';

const ME = `0x${'a'.repeat(40)}`;
const MARKET: MarketFacts = {
  ...{
    id: '1',
    conditionId: `0x${'1'.repeat(64)}`,
    tokenIds: ['1', '2'],
    slug: 's',
    question: 'q',
    outcomes: ['Yes', 'No'],
    endDate: 9,
  },
};
const HASH = `0x${'f'.repeat(64)}`;

function trade(
  number: number,
  change: { at?: number; size: bigint; cost: bigint; isSell?: boolean },
): TradeRecord {
  const { at = number, size, cost, isSell = false } = change;
  const side = isSell ? 'SELL' : 'BUY';
  return {
    ...{ number, at, conditionId: MARKET.conditionId, market: MARKET, id: String(number) },
    settlement: { status: 'CONFIRMED', since: at, transactionHash: HASH },
    taker: { orderId: '0x1', account: ME, outcome: 'YES', side },
    matches: [
      {
        ...{ orderId: '0x2', account: 'house:x', outcome: 'YES', side: isSell ? 'BUY' : 'SELL', price: 5000 },
        ...{ size, cost, takerCost: cost, takerFee: 1n },
      },
    ],
  };
}

const move = (seq: number, kind: MoveRecord['kind'], change: Partial<MoveRecord>): MoveRecord => ({
  ...{ account: ME, at: seq, seq, part: 0, kind, conditionId: MARKET.conditionId, market: MARKET },
  ...{ yes: 0n, no: 0n, collateral: 0n },
  ...change,
});

/** A history in memory, which counts its reads. */
function fakeHistory(trades: readonly TradeRecord[], moves: readonly MoveRecord[] = []) {
  const statuses = new Map<number, TradeStatus>();
  const state = { trades: [...trades], moves: [...moves], reads: 0, rows: 0, statuses };
  const history: Pick<TradeHistory, 'trades' | 'moves'> = {
    trades: async ({ after, limit }) => {
      state.reads += 1;
      const found = state.trades
        .filter(({ number }) => after === undefined || number > after.number)
        .slice(0, limit);
      state.rows += found.length;
      return found.map((one) => {
        const status = statuses.get(one.number);
        return status === undefined ? one : { ...one, settlement: { ...one.settlement, status } };
      });
    },
    moves: async ({ after, limit }) =>
      state.moves.filter(({ seq }) => after === undefined || seq > after.seq).slice(0, limit),
  };
  return { state, bases: new AccountBases(() => history) };
}

const free = async () => {};
const holdingOf = (basis: Basis, outcome: 'YES' | 'NO') => {
  const found = basis.holdings.get(`${MARKET.conditionId} ${outcome}`);
  return { ...(found?.position ?? NO_POSITION), fees: found?.fees ?? 0n };
};
const yesOf = (basis: Basis) => holdingOf(basis, 'YES');

describe('a basis', () => {
  test('takes the average at a sale, and the rest of the cost with the last token', () => {
    const change = new BasisChange(NOTHING);
    change.trade(trade(1, { size: 3n, cost: 2n }), ME);
    change.trade(trade(2, { size: 4n, cost: 4n }), ME);
    change.trade(trade(3, { size: 5n, cost: 6n, isSell: true }), ME);
    // 5/7 of 6, rounded down, is 4.
    expect(yesOf(change.basis)).toMatchObject({
      size: 2n,
      cost: 2n,
      realized: 2n,
      boughtSize: 7n,
      boughtCost: 6n,
    });
    change.trade(trade(4, { size: 2n, cost: 1n, isSell: true }), ME);
    expect(yesOf(change.basis)).toMatchObject({ size: 0n, cost: 0n, fees: 0n, realized: 1n });
    expect(change.basis.volume).toBe(13n);
  });

  test('of any history loses and invents nothing: what was earned is what was received beyond what was paid', () => {
    const amounts = fc.record({
      size: fc.bigInt(1n, 10n ** 9n),
      cents: fc.bigInt(1n, 99n),
      kind: fc.constantFrom('buy', 'sell', 'split', 'merge', 'redeem'),
    });
    fc.assert(
      fc.property(fc.array(amounts, { maxLength: 40 }), (steps) => {
        const change = new BasisChange(NOTHING);
        let [paid, received] = [0n, 0n];
        for (const [nth, { size: wanted, cents, kind }] of steps.entries()) {
          const held = {
            yes: yesOf(change.basis).size,
            no: holdingOf(change.basis, 'NO').size,
          };
          const least = (limit: bigint): bigint => (wanted < limit ? wanted : limit);
          if (kind === 'buy' || kind === 'sell') {
            const size = kind === 'buy' ? wanted : least(held.yes);
            if (size === 0n) continue;
            const cost = (size * cents) / 100n;
            change.trade(trade(nth, { size, cost, isSell: kind === 'sell' }), ME);
            if (kind === 'buy') paid += cost;
            else received += cost;
            continue;
          }
          const pairs = kind === 'split' ? wanted : least(held.yes < held.no ? held.yes : held.no);
          const [yes, no] = kind === 'redeem' ? [held.yes, held.no] : [pairs, pairs];
          const collateral = kind === 'redeem' ? yes : pairs;
          const market = kind === 'redeem' ? { ...MARKET, payout: 'YES' as const } : MARKET;
          change.move(move(nth, kind, { yes, no, collateral, market }));
          if (kind === 'split') paid += collateral;
          else received += collateral;
        }
        const holdings = [...change.basis.holdings.values()].map(({ position }) => position);
        const sum = (pick: (holding: (typeof holdings)[number]) => bigint): bigint =>
          holdings.reduce((total, holding) => total + pick(holding), 0n);
        expect(sum(({ realized }) => realized)).toBe(received - (paid - sum(({ cost }) => cost)));
        for (const { size, cost } of holdings) {
          expect(size >= 0n && cost >= 0n).toBe(true);
          if (size === 0n) expect(cost).toBe(0n);
        }
      }),
    );
  });

  test('counts tokens from before the history as neither gain nor loss', () => {
    const change = new BasisChange(NOTHING);
    change.trade(trade(1, { size: 10n, cost: 5n, isSell: true }), ME);
    expect(yesOf(change.basis)).toMatchObject({ size: 0n, cost: 0n, realized: 0n });
  });
});

describe('the bases of accounts', () => {
  test('are read once, and then only what is new', async () => {
    const { state, bases } = fakeHistory(
      Array.from({ length: 2_500 }, (_, nth) => trade(nth + 1, { size: 2n, cost: 1n })),
    );
    expect(yesOf(await bases.of(ME, free))).toMatchObject({ size: 5_000n, cost: 2_500n });
    expect(state.rows).toBe(2_500);
    state.trades.push(trade(2_501, { size: 1n, cost: 1n }));
    expect(yesOf(await bases.of(ME, free))).toMatchObject({ size: 5_001n, cost: 2_501n });
    expect(state.rows).toBe(2_501);
  });

  test('count a trade that may still fail, and no longer once it has failed', async () => {
    const { state, bases } = fakeHistory([1, 2, 3].map((number) => trade(number, { size: 2n, cost: 1n })));
    state.statuses.set(2, 'RETRYING').set(3, 'MATCHED');
    expect(yesOf(await bases.of(ME, free))).toMatchObject({ size: 6n, cost: 3n });
    state.statuses.set(2, 'FAILED').set(3, 'CONFIRMED');
    expect(yesOf(await bases.of(ME, free))).toMatchObject({ size: 4n, cost: 2n });
    const before = state.rows;
    expect(yesOf(await bases.of(ME, free))).toMatchObject({ size: 4n, cost: 2n });
    expect(state.rows).toBe(before);
  });

  test('keep what was read when the caller cannot pay on, and the next call goes on from there', async () => {
    const { state, bases } = fakeHistory(
      Array.from({ length: 3_500 }, (_, nth) => trade(nth + 1, { size: 1n, cost: 1n })),
    );
    let purse = 1;
    const pay = async () => {
      purse -= 1;
      if (purse < 0) throw new Error('wait');
    };
    await expect(bases.of(ME, pay)).rejects.toThrow('wait');
    expect(state.rows).toBe(2_000);
    expect(yesOf(await bases.of(ME, free))).toMatchObject({ size: 3_500n });
    expect(state.rows).toBe(3_500);
  });

  test('do not fail for a caller because another one, who asked first, cannot pay', async () => {
    const { bases } = fakeHistory(
      Array.from({ length: 1_500 }, (_, nth) => trade(nth + 1, { size: 1n, cost: 1n })),
    );
    const poor = bases.of(ME, () => Promise.reject(new Error('wait')));
    const rich = bases.of(ME, free);
    await expect(poor).rejects.toThrow('wait');
    expect(yesOf(await rich)).toMatchObject({ size: 1_500n });
  });

  test('put splits before trades of the same time, and what uses tokens up behind them', async () => {
    const { bases } = fakeHistory(
      [trade(5, { at: 5, size: 4n, cost: 4n, isSell: true })],
      [
        move(5, 'split', { at: 5, yes: 10n, no: 10n, collateral: 10n }),
        move(6, 'merge', { at: 5, yes: 6n, no: 6n, collateral: 6n }),
      ],
    );
    expect(yesOf(await bases.of(ME, free))).toMatchObject({ size: 0n, cost: 0n, realized: 2n });
  });

  test('forget the account that was asked for longest ago', async () => {
    const { state, bases } = fakeHistory([trade(1, { size: 1n, cost: 1n })]);
    await bases.of(ME, free);
    for (let nth = 0; nth < 5_000; nth += 1) await bases.of(`0x${nth}`, free);
    const before = state.rows;
    await bases.of(ME, free);
    expect(state.rows).toBe(before + 1);
  });
});
