import { describe, expect, test } from 'vitest';
import {
  believedBid,
  type ExitTerms,
  type ExitTrigger,
  exitPriceDenial,
  exitQuote,
  HeldTriggers,
  isNearBid,
  triggerHolds,
} from './exits.ts';
import type { Book } from './market.ts';

const SHARE = 1_000_000n;
type Side = readonly (readonly [number, number])[];
const book = (bids: Side, asks: Side = [[9_000, 100]]): Book => ({
  ...{ conditionId: '0x1', outcome: 'YES', sequence: 1, changedAt: 0 },
  bids: bids.map(([price, shares]) => [price, BigInt(shares) * SHARE]),
  asks: asks.map(([price, shares]) => [price, BigInt(shares) * SHARE]),
});

describe('a believed bid', () => {
  test('is the best one of a book that is not crossed', () => {
    expect(believedBid(book([[4_000, 1]]))).toBe(4_000);
    expect(believedBid(book([[4_000, 1]], []))).toBe(4_000);
    expect(believedBid(book([[4_000, 1]], [[4_000, 1]]))).toBeNull();
    expect(believedBid(book([[4_100, 1]], [[4_000, 1]]))).toBeNull();
    expect(believedBid(book([]))).toBeNull();
    expect(believedBid(null)).toBeNull();
  });

  test('alone tells whether a price is near: a crossed book is near nothing', () => {
    expect(isNearBid(3_600, book([[4_000, 1]]), 10)).toBe(true);
    expect(isNearBid(3_599, book([[4_000, 1]]), 10)).toBe(false);
    // A stale bid of a tick beside the true ask: at a tick anything would be sold.
    expect(isNearBid(4_000, book([[4_000, 1]], [[3_900, 1]]), 10)).toBe(false);
    expect(isNearBid(4_000, book([[4_000, 1]], [[4_000, 1]]), 10)).toBe(false);
    expect(isNearBid(4_000, book([]), 10)).toBe(false);
    expect(isNearBid(4_000, null, 10)).toBe(false);
  });
});

describe('what a book pays for a size', () => {
  test('is the average of the levels that it takes, rounded down', () => {
    const quote = exitQuote(
      book([
        [4_000, 1],
        [3_000, 2],
      ]),
      3n * SHARE,
    );
    expect(quote).toEqual({ bid: 4_000, price: 333_333n, isComplete: true });
  });

  test('of a thin book is that of the part which it takes', () => {
    expect(exitQuote(book([[4_000, 1]]), 3n * SHARE)).toEqual({
      bid: 4_000,
      price: 400_000n,
      isComplete: false,
    });
  });
});

describe('a trigger', () => {
  const facts = { now: 1_000, quote: null, endsAt: 1_000_000, isSilent: false };
  const holds = (trigger: ExitTrigger, more: object = {}) => triggerHolds(trigger, { ...facts, ...more });
  const below: ExitTrigger = { kind: 'price_at_or_below', price: 4_000 };
  const above: ExitTrigger = { kind: 'price_at_or_above', price: 4_000 };
  const quote = (price: bigint, isComplete = true) => ({ quote: { bid: 4_000, price, isComplete } });

  test('of a price holds at the price itself, to the micro-unit', () => {
    expect([holds(below, quote(400_000n)), holds(below, quote(400_001n))]).toEqual([true, false]);
    expect([holds(above, quote(400_000n)), holds(above, quote(399_999n))]).toEqual([true, false]);
  });

  test('of a price holds in no book that is not believed', () => {
    expect([holds(below), holds(above)]).toEqual([false, false]);
  });

  test('in a book too thin for the size: a stop holds where its best part pays too little, a profit never', () => {
    expect([holds(below, quote(390_000n, false)), holds(below, quote(410_000n, false))]).toEqual([
      true,
      false,
    ]);
    expect(holds(above, quote(900_000n, false))).toBe(false);
  });

  test('of a time, of the end and of silence holds from then on', () => {
    expect([holds({ kind: 'time', at: 1_000 }), holds({ kind: 'time', at: 1_001 })]).toEqual([true, false]);
    const end = { kind: 'before_end', minutes: 1 } as const;
    expect([holds(end, { endsAt: 61_000 }), holds(end, { endsAt: 61_001 })]).toEqual([true, false]);
    expect([holds({ kind: 'silence' }), holds({ kind: 'silence' }, { isSilent: true })]).toEqual([
      false,
      true,
    ]);
  });
});

describe('two seconds', () => {
  test('count from the first of looks that all held', () => {
    const held = new HeldTriggers();
    expect([0, 500, 1_000, 1_500].map((at) => held.look('a', true, at))).toEqual([null, null, null, null]);
    expect(held.look('a', true, 2_000)).toBe(0);
    expect(held.look('a', false, 2_500)).toBeNull();
    expect(held.look('a', true, 3_000)).toBeNull();
  });

  test('count a second and a half of a longer gap: a late look delays an exit, and never begins anew', () => {
    const held = new HeldTriggers();
    held.look('a', true, 0);
    expect(held.look('a', true, 10_000)).toBeNull();
    expect(held.look('a', true, 10_400)).toBeNull();
    expect(held.look('a', true, 10_500)).toBe(8_500);
    expect(held.look('b', true, 0)).toBeNull();
    expect(held.look('b', true, 3_000)).toBeNull();
    expect(held.look('b', true, 6_000)).toBe(3_000);
  });

  test('belong to one exit', () => {
    const held = new HeldTriggers();
    held.look('a', true, 0);
    expect(held.look('b', true, 1_000)).toBeNull();
    held.forget('a');
    expect(held.look('a', true, 1_500)).toBeNull();
  });
});

describe('the worst price of an exit', () => {
  const sent: ExitTerms = { moment: 'sent', trigger: 4_000, places: 1, hasOwnersWord: false };
  const order = { limit: 3_600, shares: 10n * SHARE, timeInForce: 'GTC', distance: 10 } as const;
  const code = (more: object = {}, terms: Partial<ExitTerms> = {}) =>
    exitPriceDenial({ ...order, book: book([[4_000, 100]]), ...more }, { ...sent, ...terms })?.code ?? null;

  test('keeps the distance to the trigger and to the bid, at the pip', () => {
    expect(code()).toBeNull();
    expect(code({ limit: 3_599 })).toBe('exit_price_out_of_range');
    expect(code({ book: book([[4_001, 100]]) })).toBe('exit_price_out_of_range');
    expect(code({ limit: 1, distance: 10 }, { trigger: null })).toBe('exit_price_out_of_range');
    expect(code({ distance: 11, limit: 3_560 })).toBeNull();
  });

  test('sells nothing without a believed bid, whatever the trigger', () => {
    expect(code({ book: null })).toBe('believed_bid_required');
    expect(code({ book: book([[4_000, 1]], [[3_900, 1]]) })).toBe('believed_bid_required');
    expect(code({ book: null }, { trigger: null })).toBe('believed_bid_required');
  });

  test('is judged by its trigger alone when the exit is left', () => {
    expect(code({ book: null }, { moment: 'left' })).toBeNull();
    expect(code({ book: null, limit: 3_599 }, { moment: 'left' })).toBe('exit_price_out_of_range');
  });

  test('an order that executes at once is kept back where it would find nothing, or not all of what it needs', () => {
    const thin = book([
      [4_000, 4],
      [3_000, 100],
    ]);
    expect(code({ book: thin, timeInForce: 'FAK' })).toBeNull();
    expect(code({ book: thin, timeInForce: 'FOK' })).toBe('exit_liquidity_required');
    expect(code({ book: thin, timeInForce: 'FAK', limit: 4_100 })).toBe('exit_liquidity_required');
    expect(code({ book: thin, timeInForce: 'GTC', limit: 4_100 })).toBeNull();
  });
});
