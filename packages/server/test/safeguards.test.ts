import { describe, expect, test } from 'vitest';
import {
  allowances,
  assess,
  DEFAULT_SAFEGUARDS,
  NO_LOCKS,
  type Restriction,
  type Safeguards,
  type TradeFacts,
} from '../src/domain/safeguards.ts';

const FACTS: TradeFacts = {
  hasCredentials: true,
  claimed: false,
  claimMissing: false,
  addsExposure: true,
  mayRest: true,
  amount: 50_000_000n,
  usage: { trades: 3, amount: 100_000_000n },
  positionValue: 20_000_000n,
  realizedToday: -5_000_000n,
  openOrders: 2,
  restrictions: [],
};
const STRICT: Safeguards = {
  ...DEFAULT_SAFEGUARDS,
  maxPositionValue: 70_000_000n,
  dailyLossLimit: 6_000_000n,
};

const codeOf = (safeguards: Partial<Safeguards>, facts: Partial<TradeFacts> = {}) =>
  assess({ ...STRICT, ...safeguards }, { ...FACTS, ...facts })?.code ?? null;

test('a trade within every limit is allowed', () => {
  expect(assess(STRICT, FACTS)).toBeNull();
});

/** In the documented order of refusal. Each row breaks exactly one rule. */
const DENIALS = [
  ['trading_paused', { tradingPaused: true }, {}],
  ['credentials_not_registered', {}, { hasCredentials: false }],
  ['claim_required', {}, { claimMissing: true }],
  ['max_trade_amount_exceeded', { maxTradeAmount: 49_999_999n }, {}],
  ['max_trades_per_day_exceeded', { maxTradesPerDay: 3 }, {}],
  ['daily_trade_amount_exceeded', { dailyTradeAmountLimit: 149_999_999n }, {}],
  ['max_position_value_exceeded', { maxPositionValue: 69_999_999n }, {}],
  ['daily_loss_limit_reached', { dailyLossLimit: 5_000_000n }, {}],
  ['max_open_orders_exceeded', { maxOpenOrders: 2 }, {}],
] as const satisfies readonly (readonly [string, Partial<Safeguards>, Partial<TradeFacts>])[];

test.for(DENIALS)('%s', ([code, safeguards, facts]) => {
  expect(codeOf(safeguards, facts)).toBe(code);
});

test('of any two faults the one documented first is reported', () => {
  for (const [index, [first, ...a]] of DENIALS.entries())
    for (const [, ...b] of DENIALS.slice(index + 1))
      expect(codeOf({ ...a[0], ...b[0] }, { ...a[1], ...b[1] })).toBe(first);
});

test("the owner's pause denies, too, and is reported first", () => {
  expect(assess({ ...STRICT, ownerPaused: true }, { ...FACTS, hasCredentials: false })).toMatchObject({
    code: 'trading_paused',
    fix: expect.stringContaining('owner'),
  });
});

describe('boundaries, to the micro-unit', () => {
  const rows = [
    ['the amount of a trade', { maxTradeAmount: 50_000_000n }, {}, 'amount'],
    ['the amount of a day', { dailyTradeAmountLimit: 150_000_000n }, {}, 'amount'],
    ['the value of a position', { maxPositionValue: 70_000_000n }, {}, 'amount'],
  ] as const;
  test.for(rows)('%s may be reached, not exceeded', ([, safeguards]) => {
    expect(codeOf(safeguards)).toBeNull();
    expect(codeOf(safeguards, { amount: FACTS.amount + 1n })).not.toBeNull();
  });

  test('the last trade of the day is allowed', () => {
    expect(codeOf({ maxTradesPerDay: 4 })).toBeNull();
    expect(codeOf({ maxTradesPerDay: 3 })).toBe('max_trades_per_day_exceeded');
    expect(codeOf({ maxTradesPerDay: 0 }, { usage: { trades: 0, amount: 0n } })).toBe(
      'max_trades_per_day_exceeded',
    );
  });

  test('a loss at its limit denies, one micro-unit less does not; a gain never does', () => {
    expect(codeOf({ dailyLossLimit: 5_000_001n })).toBeNull();
    expect(codeOf({ dailyLossLimit: 5_000_000n })).toBe('daily_loss_limit_reached');
    expect(codeOf({ dailyLossLimit: 1n }, { realizedToday: 10_000_000n })).toBeNull();
  });
});

describe('tradeLimitEnabled off', () => {
  const rows = DENIALS.map(
    ([code, safeguards, facts], index) => [code, index < 3, safeguards, facts] as const,
  );
  test.for(rows)('%s still denies: %s', ([code, stays, safeguards, facts]) => {
    expect(codeOf({ ...safeguards, tradeLimitEnabled: false }, facts)).toBe(stays ? code : null);
  });
});

describe('a SELL of held tokens', () => {
  const rows = DENIALS.map(
    ([code, safeguards, facts], index) => [code, index < 5, safeguards, facts] as const,
  );
  test.for(rows)('%s still denies: %s', ([code, stays, safeguards, facts]) => {
    expect(codeOf(safeguards, { ...facts, addsExposure: false })).toBe(stays ? code : null);
  });
});

test('a denial contains the limit, the usage and the request', () => {
  expect(assess({ ...STRICT, dailyTradeAmountLimit: 120_000_000n }, FACTS)).toMatchObject({
    context: { limit: 120, used: 100, asked: 50 },
    detail: expect.stringContaining('120'),
  });
});

describe('restrictions by a former owner', () => {
  const FREE: Restriction = {
    paused: false,
    locks: NO_LOCKS,
    usage: { trades: 9, amount: 900_000_000n },
    positionValue: 90_000_000n,
    realizedToday: -90_000_000n,
    openOrders: 6,
  };
  const bound = (locks: Partial<Restriction['locks']>, paused = false): Restriction => ({
    ...FREE,
    paused,
    locks: { ...NO_LOCKS, ...locks },
  });

  test.each([
    ['nothing locked', [FREE], null],
    ['a pause', [FREE, bound({}, true)], 'trading_paused'],
    ['the amount of a trade', [bound({ maxTradeAmount: 49_999_999n })], 'max_trade_amount_exceeded'],
    ['trades', [bound({ maxTradesPerDay: 9 })], 'max_trades_per_day_exceeded'],
    ['trades left', [bound({ maxTradesPerDay: 10 })], null],
    ['the day', [bound({ dailyTradeAmountLimit: 949_999_999n })], 'daily_trade_amount_exceeded'],
    ['the position', [bound({ maxPositionValue: 139_999_999n })], 'max_position_value_exceeded'],
    ['the loss', [bound({ dailyLossLimit: 90_000_000n })], 'daily_loss_limit_reached'],
    ['open orders', [bound({ maxOpenOrders: 6 })], 'max_open_orders_exceeded'],
    ['open orders left', [bound({ maxOpenOrders: 7 })], null],
    // The documented order applies across all bounds.
    [
      'two of them',
      [bound({ dailyTradeAmountLimit: 1n }), bound({ maxTradesPerDay: 1 })],
      'max_trades_per_day_exceeded',
    ],
  ])('%s', (_what, restrictions, code) => {
    expect(codeOf({}, { restrictions })).toBe(code);
    // Restrictions apply even when the agent's own caps are off.
    expect(codeOf({ tradeLimitEnabled: false }, { restrictions })).toBe(code);
  });

  test('a SELL is only subject to restrictions that ignore exposure', () => {
    const restrictions = [bound({ dailyTradeAmountLimit: 1n, maxPositionValue: 1n, dailyLossLimit: 1n })];
    expect(codeOf({}, { restrictions, addsExposure: false })).toBeNull();
  });

  test('a denial names who can lift the restriction', () => {
    const denial = assess(STRICT, { ...FACTS, restrictions: [bound({ maxTradesPerDay: 1 })] });
    expect(denial?.detail).toContain('had this wallet before');
    expect(denial?.fix).toContain('operator');
  });

  test('allowances show the tightest bound', () => {
    const standing = {
      ...FACTS,
      restrictions: [bound({ maxTradesPerDay: 10, maxPositionValue: 500_000_000n })],
    };
    expect(allowances(STRICT, standing)).toEqual({
      tradingPaused: false,
      caps: {
        maxTradeAmount: { limit: STRICT.maxTradeAmount, used: 0n, left: STRICT.maxTradeAmount },
        maxTradesPerDay: { limit: 10n, used: 9n, left: 1n },
        dailyTradeAmountLimit: { limit: 500_000_000n, used: 100_000_000n, left: 400_000_000n },
        maxPositionValue: { limit: 70_000_000n, used: 20_000_000n, left: 50_000_000n },
        dailyLossLimit: { limit: 6_000_000n, used: 5_000_000n, left: 1_000_000n },
        maxOpenOrders: { limit: null, used: 2n, left: null },
        approvalAbove: { limit: null, used: 0n, left: null },
      },
    });
    expect(allowances({ ...STRICT, tradeLimitEnabled: false }, FACTS).caps).toMatchObject({
      maxTradeAmount: { limit: null },
      maxTradesPerDay: { limit: null, used: 3n, left: null },
    });
  });
});
