/**
 * Compares the engine with the naive model on random command sequences: after every command the same events, accounts,
 * books, open orders and totals, and the conservation law recomputed from scratch; from a random point on also a copy
 * restored from a snapshot, which must give the same events and the same final bytes. fast-check prints the seed and a
 * minimal counterexample when one fails.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { budget } from '../../../../test/setup/budget.ts';
import type {
  EngineCommand,
  EngineEvent,
  NewOrder,
  Outcome,
  Payout,
  Side,
  TimeInForce,
} from '../../src/engine/commands.ts';
import { Engine } from '../../src/engine/engine.ts';
import { NaiveExchange } from './naive.ts';
import { ACCOUNTS, commandOf, conditionOf, MARKETS, POOL, type Recipe } from './recipes.ts';

const ALL_SEQUENCES = 10_000;
const SEQUENCES = budget(ALL_SEQUENCES);

// The distributions are bent so that orders meet, and in sizes that force rounding.

/** The last one starts with nothing. */
const account = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(0, 1, 2) },
  { weight: 1, arbitrary: fc.constant(3) },
);
const market = fc.oneof(
  { weight: 60, arbitrary: fc.constantFrom(0, 0, 1) },
  { weight: 1, arbitrary: fc.constant(2) },
);
const wait = fc.constantFrom(0, 0, 0, 1, 4);

/** Micro-shares: dust, about one collateral's worth, ordinary, and arbitrary. */
const size = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0n, 1n, 2n, 3n, 7n, 33n, 4_999n) },
  { weight: 8, arbitrary: fc.constantFrom(2_100_000n, 2_040_817n, 3_000_000n, 3_000_001n, 3_100_300n) },
  { weight: 8, arbitrary: fc.integer({ min: 2_000_000, max: 7_000_000 }).map(BigInt) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 200_000_000 }).map(BigInt) },
);
const amount = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(-1n, 0n, 1n) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 9_000_001 }).map(BigInt) },
);

const place: fc.Arbitrary<Recipe> = fc.record({
  kind: fc.constant('place' as const),
  wait,
  account,
  market,
  outcome: fc.constantFrom<Outcome>('YES', 'NO'),
  side: fc.constantFrom<Side>('BUY', 'SELL'),
  price: fc.oneof(
    { weight: 40, arbitrary: fc.nat({ max: 4 }) },
    { weight: 1, arbitrary: fc.nat({ max: 9 }) },
  ),
  size,
  timeInForce: fc.constantFrom<TimeInForce>('GTC', 'GTC', 'GTC', 'GTC', 'GTD', 'GTD', 'FOK', 'FAK'),
  postOnly: fc.constantFrom(false, false, false, false, false, false, false, false, false, true),
  spendPercent: fc.constantFrom(0, 0, 100, 100, 60, 130),
  lifetime: fc.constantFrom(1, 3, 5, 9, 9, 20, 20, 0),
  sameIdAs: fc.oneof(
    { weight: 60, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(1, 2) },
  ),
});

const other: fc.Arbitrary<Recipe> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('cancel' as const),
      wait,
      account,
      back: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('reduce' as const),
      wait,
      account,
      back: fc.integer({ min: 1, max: 6 }),
      amount,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('deposit' as const), wait, account, amount }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('split' as const), wait, account, market, amount }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('merge' as const), wait, account, market, amount }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('convert' as const), wait, account, market, amount }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('list' as const), wait, market: fc.nat({ max: 1 }) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('reverse' as const), wait, back: fc.nat({ max: 3 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('expire' as const), wait }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('close' as const), wait, market }) },
);

/** How a market ends: rarely in the middle of a sequence, usually not at all. */
const ending: fc.Arbitrary<Recipe> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('resolve' as const),
      wait,
      market,
      payout: fc.constantFrom<Payout>('YES', 'NO', 'HALF', 'HALF', '0.24', '0.333333'),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('redeem' as const), wait, account, market }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('archive' as const), wait, market }) },
);

/** A market's whole end: without it, hardly a market is redeemed by all and archived, or asked for when it is gone. */
const wholeEnd: fc.Arbitrary<readonly Recipe[]> = fc
  .record({
    market: fc.nat({ max: 1 }),
    payout: fc.constantFrom<Payout>('YES', 'NO', 'HALF', '0.24', '0.000001'),
  })
  .map((how): readonly Recipe[] => [
    { kind: 'resolve', wait: 1, ...how },
    ...[...ACCOUNTS, POOL].map(
      (_, nth): Recipe => ({ kind: 'redeem', wait: 0, account: nth, market: how.market }),
    ),
    { kind: 'archive', wait: 0, market: how.market },
    { kind: 'convert', wait: 0, account: 0, market: 1 - how.market, amount: 1_000_000n },
  ]);

/** 10 to 42 commands: a trading phase, then often the end of the markets, and commands that come too late. */
const sequence: fc.Arbitrary<readonly Recipe[]> = fc
  .tuple(
    fc.array(
      fc.oneof(
        { weight: 40, arbitrary: place },
        { weight: 12, arbitrary: other },
        { weight: 1, arbitrary: ending },
      ),
      { minLength: 10, maxLength: 32, size: 'max' },
    ),
    fc.oneof(
      { weight: 19, arbitrary: fc.array(ending, { maxLength: 8, size: 'max' }) },
      { weight: 1, arbitrary: wholeEnd },
    ),
    fc.array(fc.oneof(place, other), { maxLength: 2, size: 'max' }),
  )
  .map(([trading, end, late]) => [...trading, ...end, ...late]);

/** Counts what the sequences did, so that the test cannot pass without covering it. */
const seen = new Map<string, number>();
const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);

test(`behaves like the naive model on ${SEQUENCES} random sequences`, () => {
  fc.assert(
    fc.property(sequence, fc.nat({ max: 40 }), (recipes, restart) => runBoth(recipes, restart)),
    { numRuns: SEQUENCES },
  );
  // Rare events may be missing where only a tenth runs.
  const isWhole = SEQUENCES === ALL_SEQUENCES;
  for (const [what, least] of Object.entries(AT_LEAST))
    expect(seen.get(what) ?? 0, `${what} must occur`).toBeGreaterThanOrEqual(
      isWhole || least >= 40 ? budget(least) : 0,
    );
}, 240_000);

/** At most half of what is usual, also in a tenth of the runs: nearer, chance alone would fall below it. */
const AT_LEAST: Readonly<Record<string, number>> = {
  'FOK BUY filled': 200,
  'FOK SELL filled': 300,
  'MINT that rounds up': 1_000,
  archived: 170,
  'budget limits a fill': 800,
  'cancel_refused order_not_found': 6_000,
  'dust dropped': 200,
  'order reduced': 45,
  'fee clamped': 300,
  'fill COMPLEMENTARY BUY': 2_000,
  'fill COMPLEMENTARY SELL': 2_000,
  'fill MERGE SELL': 2_000,
  'fill MINT BUY': 2_000,
  'fill with a rounded cost': 6_000,
  'several makers': 1_000,
  'price improvement': 5_000,
  merged: 1_000,
  split: 6_000,
  converted: 400,
  'refused conversion_not_supported': 5,
  'redeemed something': 1_000,
  'redeemed with half a unit lost': 200,
  'order_done canceled': 400,
  'order_done expired': 4_000,
  'order_done filled': 9_000,
  'order_done killed': 400,
  'order_done market_closed': 600,
  'order_done market_resolved': 5_000,
  'order_done self_trade': 4_000,
  'order_rejected already_expired': 1_000,
  'order_rejected amount_below_minimum': 2_000,
  'order_rejected duplicate_order': 300,
  'order_rejected fak_no_match': 3_000,
  'order_rejected fok_not_filled': 4_000,
  'order_rejected insufficient_balance': 3_000,
  'order_rejected market_closed': 3_000,
  'order_rejected market_not_found': 900,
  'order_rejected post_only_needs_gtc_or_gtd': 1_000,
  'order_rejected post_only_would_cross': 1_000,
  'order_rejected price_off_tick_grid': 200,
  'order_rejected price_out_of_range': 300,
  'order_rejected size_below_minimum': 1_000,
  trade_reversed: 1_000,
  'reversal_refused insufficient_balance': 10,
  'reversal_refused market_resolved': 20,
  'refused amount_not_positive': 400,
  'refused insufficient_balance': 80,
  'refused market_closed': 60,
  'refused market_exists': 400,
  'refused market_not_found': 200,
  'refused market_not_resolved': 5_000,
  'refused market_resolved': 800,
};

function runBoth(recipes: readonly Recipe[], restart: number): void {
  const engine = new Engine();
  const naive = new NaiveExchange();
  const placed = new Map<string, NewOrder>();
  const trades: Reversal[] = [];
  let restored: Engine | undefined;
  let now = 1_000;
  const apply = (
    recipe: Recipe | undefined,
    index: number,
    command = recipe!.kind === 'reverse' ? trades.at(-1 - recipe!.back) : commandOf(recipe!, index, now),
  ): void => {
    if (command === undefined) {
      if (recipe?.kind === 'reverse') return;
      archive(engine, restored, naive, conditionOf((recipe as { market: number }).market));
      return;
    }
    const events = engine.apply(command, now);
    same('events', events, naive.apply(command, now));
    if (restored !== undefined) same('events after a restart', restored.apply(command, now), events);
    observe(command, events);
    trades.push(...reversalsOf(events));
    for (const event of events) {
      // In its turn: an order of the same id may have come due in the same command.
      if (event.kind === 'order_accepted' && command.kind === 'place')
        placed.set(event.orderId, command.order);
      respectsLimit(placed, event);
    }
    if (naive.budgetLimited > 0) count('budget limits a fill');
    if (naive.dustDropped > 0) count('dust dropped');
    for (; naive.reduced > 0; naive.reduced--) count('order reduced');
    naive.budgetLimited = 0;
    naive.dustDropped = 0;
  };
  for (const market of MARKETS) apply(undefined, 0, { kind: 'list', market });
  apply(undefined, 0, { kind: 'deposit', account: POOL, amount: 1_000_000_000_000n });
  for (const account of ACCOUNTS.slice(0, 3)) {
    apply(undefined, 0, { kind: 'deposit', account, amount: 60_000_000n });
    for (const { conditionId } of MARKETS)
      apply(undefined, 0, { kind: 'split', account, conditionId, amount: 15_000_001n });
  }
  for (const [index, recipe] of recipes.entries()) {
    if (index === restart) restored = Engine.restore(engine.snapshot());
    now += recipe.wait;
    apply(recipe, index);
    compareViews(engine, naive);
    engine.checkConservation();
  }
  const bytes = engine.snapshot();
  same('bytes after restore', Engine.restore(bytes).snapshot(), bytes);
  if (restored !== undefined) same('bytes after a restart', restored.snapshot(), bytes);
}

type Reversal = Extract<EngineCommand, { kind: 'reverse' }>;

/** Reversals that would undo each trade: the taker of a command against all its makers. */
function reversalsOf(events: readonly EngineEvent[]): Reversal[] {
  const fills = events.filter((event) => event.kind === 'fill');
  const [first] = fills;
  if (first === undefined) return [];
  return [{ kind: 'reverse', conditionId: first.conditionId, trade: first.matchId, legs: fills }];
}

function archive(
  engine: Engine,
  restored: Engine | undefined,
  naive: NaiveExchange,
  conditionId: string,
): void {
  const gone = engine.archive(conditionId);
  same('archive', gone, naive.archive(conditionId));
  if (restored !== undefined) same('archive after a restart', restored.archive(conditionId), gone);
  if (gone) count('archived');
}

function compareViews(engine: Engine, naive: NaiveExchange): void {
  for (const account of [...ACCOUNTS, POOL]) {
    same('account', engine.account(account), naive.account(account));
    const orders = engine.openOrders(account);
    same('open orders', orders, naive.openOrders(account));
    for (const order of orders) same('open order', engine.openOrder(order.orderId), order);
  }
  for (const { conditionId } of MARKETS) {
    const book = engine.book(conditionId, 'YES');
    same('YES book', book, naive.book(conditionId, 'YES'));
    same('NO book', engine.book(conditionId, 'NO'), naive.book(conditionId, 'NO'));
    const market = naive.market(conditionId);
    const best = {
      bid: book?.bids[0]?.[0],
      ask: book?.asks[0]?.[0],
      last: market?.last,
      changedAt: market?.changedAt,
    };
    same(
      'best prices',
      {
        bid: undefined,
        ask: undefined,
        last: undefined,
        changedAt: undefined,
        ...engine.bestPrices(conditionId),
      },
      best,
    );
    same('status', engine.marketStatus(conditionId), market?.status);
    same('payout', engine.marketPayout(conditionId), market?.payout);
    same('volume', engine.volume(conditionId), market?.volume ?? 0n);
    same('liquidity', engine.liquidity(conditionId), naive.liquidity(conditionId));
  }
  same('fees', engine.fees(), naive.t.fees);
}

/** Checks the signed terms, independently of the model: no price beyond the limit, no cost above the budget. */
function respectsLimit(placed: ReadonlyMap<string, NewOrder>, event: EngineEvent): void {
  if (event.kind !== 'fill' && event.kind !== 'order_done') return;
  const { side, limit, size, spend, timeInForce } = placed.get(event.orderId)!;
  if (event.kind === 'order_done') {
    const market = spend !== undefined && (timeInForce === 'FOK' || timeInForce === 'FAK');
    const budget = market ? spend : (size * BigInt(limit)) / 10_000n;
    if (side === 'BUY' && event.cost > budget)
      throw new Error(`${event.orderId} cost ${event.cost} of ${budget}`);
    return;
  }
  const kept = event.liquidity === 'maker' ? event.price === limit : (event.price - limit) * SIGN[side] <= 0;
  const least = (event.size * BigInt(limit)) / 10_000n;
  if (!kept || (side === 'SELL' && event.cost < least) || event.fee < 0n || event.cost < 0n)
    throw new Error(`${event.orderId} at ${limit} filled at ${event.price} for ${event.cost}`);
}

const SIGN = { BUY: 1, SELL: -1 } as const;

function observe(command: EngineCommand, events: readonly EngineEvent[]): void {
  const order = command.kind === 'place' ? command.order : undefined;
  const fills = events.filter((event) => event.kind === 'fill' && event.liquidity === 'taker');
  if (fills.length > 1) count('several makers');
  if (order?.timeInForce === 'FOK' && fills.length > 0) count(`FOK ${order.side} filled`);
  for (const event of events) {
    if ('reason' in event) count(`${event.kind} ${event.reason}`);
    else if (event.kind === 'fill' && event.liquidity === 'taker') observeFill(order!, event);
    else if (event.kind === 'redeemed' && event.yes + event.no > 0n) {
      count('redeemed something');
      if (event.payout * 2n === event.yes + event.no - 1n) count('redeemed with half a unit lost');
    } else count(event.kind);
  }
}

function observeFill(order: NewOrder, fill: Extract<EngineEvent, { kind: 'fill' }>): void {
  count(`fill ${fill.matchKind} ${fill.side}`);
  const exact = fill.size * BigInt(fill.price);
  if (fill.cost * 10_000n !== exact) count('fill with a rounded cost');
  if (fill.matchKind === 'MINT' && fill.cost * 10_000n > exact) count('MINT that rounds up');
  if (fill.price !== order.limit) count('price improvement');
  if (fill.side === 'SELL' && fill.fee === fill.cost) count('fee clamped');
}

/** Deep equality that is quick enough for a million comparisons; differences are printed in full. */
function same(what: string, left: unknown, right: unknown): void {
  if (equal(left, right)) return;
  expect(left, what).toEqual(right);
  throw new Error(`${what} differ`);
}

function equal(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    return left.length === right.length && left.every((byte, index) => byte === right[index]);
  }
  if (left instanceof Map && right instanceof Map) {
    return left.size === right.size && [...left].every(([key, value]) => equal(value, right.get(key)));
  }
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => equal(left[key as keyof typeof left], right[key as keyof typeof right]));
}
