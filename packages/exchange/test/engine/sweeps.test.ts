/**
 * An engine that removes dead orders in slices, beside one that removes them at once: no caller can tell them apart,
 * except by when the end of a dead order is reported.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { budget } from '../../../../test/setup/budget.ts';
import type {
  EngineCommand,
  EngineEvent,
  Outcome,
  Payout,
  Side,
  TimeInForce,
} from '../../src/engine/commands.ts';
import { Engine } from '../../src/engine/engine.ts';
import { ACCOUNTS, commandOf, MARKETS, type Recipe } from './recipes.ts';

const DEAD = new Set(['expired', 'market_closed', 'market_resolved']);
const SHUT: ReadonlySet<string> = new Set(['closed', 'resolved']);
const isDeadsEnd = (event: EngineEvent): boolean => event.kind === 'order_done' && DEAD.has(event.reason);

const wait = fc.constantFrom(0, 0, 0, 1, 3);
const account = fc.constantFrom(0, 1, 2);
const market = fc.constantFrom(0, 0, 1);
const place: fc.Arbitrary<Recipe> = fc.record({
  kind: fc.constant('place' as const),
  wait,
  account,
  market,
  outcome: fc.constantFrom<Outcome>('YES', 'NO'),
  side: fc.constantFrom<Side>('BUY', 'SELL'),
  price: fc.nat({ max: 4 }),
  size: fc.integer({ min: 2_000_000, max: 7_000_000 }).map(BigInt),
  timeInForce: fc.constantFrom<TimeInForce>('GTC', 'GTC', 'GTD', 'GTD', 'GTD', 'FOK', 'FAK'),
  postOnly: fc.constantFrom(false, false, false, true),
  spendPercent: fc.constantFrom(0, 100),
  lifetime: fc.constantFrom(1, 2, 3, 5, 9, 30),
  sameIdAs: fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 3),
});
const other: fc.Arbitrary<Recipe> = fc.oneof(
  fc.record({
    kind: fc.constant('cancel' as const),
    wait,
    account,
    back: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constantFrom('split' as const, 'merge' as const),
    wait,
    account,
    market,
    amount: fc.integer({ min: 1, max: 9_000_001 }).map(BigInt),
  }),
  fc.record({ kind: fc.constant('expire' as const), wait }),
  fc.record({ kind: fc.constant('redeem' as const), wait, account, market }),
);
const ending: fc.Arbitrary<Recipe> = fc.oneof(
  fc.record({ kind: fc.constant('close' as const), wait, market }),
  fc.record({
    kind: fc.constant('resolve' as const),
    wait,
    market,
    payout: fc.constantFrom<Payout>('YES', 'NO', 'HALF', '0.999999'),
  }),
);
const sequence = fc.array(
  fc.oneof(
    { weight: 24, arbitrary: place },
    { weight: 6, arbitrary: other },
    { weight: 1, arbitrary: ending },
  ),
  { minLength: 10, maxLength: 40, size: 'max' },
);

test('slices are visible only in when the end of a dead order is reported', () => {
  let behind = 0;
  fc.assert(
    fc.property(sequence, fc.constantFrom(0, 1, 2, 5), fc.nat({ max: 40 }), (recipes, slice, restart) => {
      const run = new Both(slice);
      for (const [index, recipe] of recipes.entries()) {
        if (index === restart) run.restart();
        run.now += recipe.wait;
        const command = commandOf(recipe, index, run.now);
        if (command !== undefined) run.apply(command);
        if (run.sliced.isBehind()) behind += 1;
      }
      run.finish();
    }),
    { numRuns: budget(3_000) },
  );
  // A seventh of what is usual: a tenth of the runs varies by more than a half of it.
  expect(behind).toBeGreaterThan(budget(600));
}, 120_000);

class Both {
  readonly whole = new Engine();
  sliced = new Engine();
  now = 1_000;
  readonly #slice: number;
  readonly #ends = { whole: [] as string[], sliced: [] as string[] };

  constructor(slice: number) {
    this.#slice = slice;
    for (const market of MARKETS) this.apply({ kind: 'list', market });
    for (const account of ACCOUNTS.slice(0, 3)) {
      this.apply({ kind: 'deposit', account, amount: 60_000_000n });
      for (const { conditionId } of MARKETS)
        this.apply({ kind: 'split', account, conditionId, amount: 15_000_001n });
    }
  }

  restart(): void {
    this.sliced = Engine.restore(this.sliced.snapshot());
  }

  apply(command: EngineCommand): void {
    this.sliced.allowSweeps(this.#slice);
    const whole = this.whole.apply(command, this.now);
    const sliced = this.sliced.apply(command, this.now);
    expect(sliced.filter((event) => !isDeadsEnd(event))).toEqual(whole.filter((event) => !isDeadsEnd(event)));
    this.#note(this.#ends.whole, whole);
    this.#note(this.#ends.sliced, sliced);
    this.sliced.checkConservation();
    for (const account of ACCOUNTS) {
      expect(this.sliced.account(account)).toEqual(this.whole.account(account));
      const open = this.whole.openOrders(account);
      expect(this.sliced.openOrders(account)).toEqual(open);
    }
    for (const id of this.#ends.whole) expect(this.sliced.openOrder(id)).toEqual(this.whole.openOrder(id));
    for (const { conditionId } of MARKETS) {
      if (!SHUT.has(this.whole.marketStatus(conditionId) ?? 'open')) continue;
      const { bids, asks } = this.sliced.book(conditionId, 'YES')!;
      expect([bids, asks, this.sliced.liquidity(conditionId)]).toEqual([[], [], 0n]);
      expect(this.sliced.bestPrices(conditionId)).not.toHaveProperty('bid');
    }
  }

  /** Everything that was left is removed, once each. */
  finish(): void {
    this.sliced.allowSweeps(Number.POSITIVE_INFINITY);
    this.#note(this.#ends.whole, this.whole.apply({ kind: 'expire' }, this.now));
    this.#note(this.#ends.sliced, this.sliced.apply({ kind: 'expire' }, this.now));
    expect(this.sliced.isBehind()).toBe(false);
    expect(this.#ends.sliced.sort()).toEqual(this.#ends.whole.sort());
  }

  #note(ends: string[], events: readonly EngineEvent[]): void {
    for (const event of events)
      if (event.kind === 'order_done' && DEAD.has(event.reason)) ends.push(event.orderId);
  }
}
