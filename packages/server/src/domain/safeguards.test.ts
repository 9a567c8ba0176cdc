import { CAP_NAMES } from '@bellwether/contract';
import { describe, expect, test } from 'vitest';
import { decideOwnerChange, type OwnerChange } from '../owners/owned-agents.ts';
import {
  assess,
  CAPS_IN_ORDER,
  DEFAULT_SAFEGUARDS,
  lockedDenials,
  NO_LOCKS,
  type OwnerLocks,
  type TradeFacts,
  utcDay,
  verdicts,
} from './safeguards.ts';

const RUNNING = { ownerPaused: false };
const PAUSED = { ownerPaused: true };
const LOCKS: OwnerLocks = {
  maxTradesPerDay: 5,
  maxTradeAmount: 20_000_000n,
  dailyTradeAmountLimit: 100_000_000n,
  maxPositionValue: 40_000_000n,
  dailyLossLimit: 10_000_000n,
  maxOpenOrders: 8,
  approvalAbove: 15_000_000n,
  silenceSeconds: 300,
  tradeLimitEnabled: true,
};

const FACTS: TradeFacts = {
  hasCredentials: true,
  claimed: false,
  claimMissing: false,
  addsExposure: true,
  mayRest: true,
  amount: 1n,
  usage: { trades: 0, amount: 0n },
  positionValue: 0n,
  realizedToday: 0n,
  openOrders: 0,
  restrictions: [],
};

describe('what an agent’s key may change', () => {
  test('without locks: everything', () => {
    const all = {
      maxTradesPerDay: 5000,
      maxPositionValue: null,
      tradeLimitEnabled: false,
      tradingPaused: false,
    };
    expect(lockedDenials(RUNNING, NO_LOCKS, all)).toEqual([]);
  });

  const ceilings = CAP_NAMES.filter((name) => name !== 'silenceSeconds');
  test.each(ceilings)('%s: at the lock and below, not above; "none" is above', (name) => {
    const lock = LOCKS[name] as number | bigint;
    const one = typeof lock === 'bigint' ? 1n : 1;
    const ask = (value: unknown) =>
      lockedDenials(RUNNING, { ...NO_LOCKS, [name]: lock }, { [name]: value }).map(({ path }) => path);
    expect(ask(lock)).toEqual([]);
    expect(ask((lock as never) - (one as never))).toEqual([]);
    expect(ask((lock as never) + (one as never))).toEqual([name]);
    expect(ask(null)).toEqual([name]);
  });

  test('a silence: at the lock and above, not below; "none" is no silence', () => {
    const ask = (silenceSeconds: number | null) =>
      lockedDenials(RUNNING, { ...NO_LOCKS, silenceSeconds: 600 }, { silenceSeconds }).map(
        ({ path }) => path,
      );
    expect([ask(600), ask(900), ask(599), ask(30), ask(null)]).toEqual([
      ...[[], []],
      ...[['silenceSeconds'], ['silenceSeconds'], ['silenceSeconds']],
    ]);
  });

  test('a lock at zero is a lock', () => {
    expect(lockedDenials(RUNNING, { ...NO_LOCKS, maxTradesPerDay: 0 }, { maxTradesPerDay: 1 })).toHaveLength(
      1,
    );
    expect(
      lockedDenials(RUNNING, { ...NO_LOCKS, maxTradesPerDay: 0 }, { tradeLimitEnabled: false }),
    ).toHaveLength(1);
  });

  test('a locked silence is no cap of orders: the caps can be switched off beside it', () => {
    const locks = { ...NO_LOCKS, silenceSeconds: 300 };
    expect(lockedDenials(RUNNING, locks, { tradeLimitEnabled: false })).toEqual([]);
  });

  test.each([...CAPS_IN_ORDER, 'tradeLimitEnabled'] as const)('%s locked: the caps stay on', (name) => {
    const locks = { ...NO_LOCKS, [name]: LOCKS[name] };
    expect(lockedDenials(RUNNING, locks, { tradeLimitEnabled: false })).toHaveLength(1);
    expect(lockedDenials(RUNNING, locks, { tradeLimitEnabled: true })).toEqual([]);
  });

  test('the owner’s pause cannot be lifted, the agent’s own can, and more can always be paused', () => {
    expect(lockedDenials(PAUSED, NO_LOCKS, { tradingPaused: false })).toHaveLength(1);
    expect(lockedDenials(RUNNING, NO_LOCKS, { tradingPaused: false })).toEqual([]);
    expect(lockedDenials(PAUSED, NO_LOCKS, { tradingPaused: true })).toEqual([]);
  });

  test('every forbidden field gets a denial, and the first lists all of them', () => {
    const denials = lockedDenials(PAUSED, LOCKS, {
      tradingPaused: false,
      maxTradesPerDay: 4,
      maxTradeAmount: 20_000_001n,
      tradeLimitEnabled: false,
    });
    expect(denials.map(({ path }) => path)).toEqual(['tradingPaused', 'maxTradeAmount', 'tradeLimitEnabled']);
    expect(denials[0]?.context).toEqual({ lockedFields: 'tradingPaused, maxTradeAmount, tradeLimitEnabled' });
    expect(denials[1]?.detail).toBe('maxTradeAmount is locked by the owner at 20; 20.000001 was asked.');
  });
});

describe('what an owner sets', () => {
  const decide = (change: OwnerChange, locks = NO_LOCKS) => decideOwnerChange(locks, change);

  test('a limit, with or without a lock on it', () => {
    expect(decide({ maxTradeAmount: { limit: 5n, locked: false } })).toEqual({
      limits: { maxTradeAmount: 5n },
      locks: { maxTradeAmount: null },
    });
    expect(decide({ maxTradeAmount: { limit: 5n, locked: true } })).toEqual({
      limits: { maxTradeAmount: 5n, tradeLimitEnabled: true },
      locks: { maxTradeAmount: 5n },
    });
  });

  test('"none" cannot be locked, and the caps cannot be off beside a lock', () => {
    expect(decide({ dailyLossLimit: { limit: null, locked: true } })).toEqual([
      expect.objectContaining({ path: 'dailyLossLimit.locked' }),
    ]);
    expect(decide({ tradeLimitEnabled: { limit: false, locked: true } })).toEqual([
      expect.objectContaining({ path: 'tradeLimitEnabled.limit' }),
    ]);
    const unlockAll = Object.fromEntries(
      CAP_NAMES.map((name) => [name, { limit: LOCKS[name], locked: false }]),
    );
    expect(
      decide({ ...unlockAll, tradeLimitEnabled: { limit: false, locked: false } } as OwnerChange, LOCKS),
    ).toMatchObject({ limits: { tradeLimitEnabled: false } });
  });
});

test('the owner’s pause is assessed first, also when the agent has paused itself', () => {
  for (const tradingPaused of [true, false]) {
    const denial = assess(
      { ...DEFAULT_SAFEGUARDS, tradingPaused, ownerPaused: true, tradeLimitEnabled: false },
      { ...FACTS, hasCredentials: false },
    );
    expect(denial?.code).toBe('trading_paused');
    expect(denial?.fix).toMatch(/owner/i);
  }
  expect(assess(DEFAULT_SAFEGUARDS, FACTS)).toBeNull();
});

test('an order takes nothing of the loss of a day: what it may lose is realised by what comes later', () => {
  const safeguards = { ...DEFAULT_SAFEGUARDS, dailyLossLimit: 10n };
  const lossOf = (realizedToday: bigint) =>
    verdicts(safeguards, { ...FACTS, amount: 7n, realizedToday }).find(
      ({ code }) => code === 'daily_loss_limit_reached',
    );
  expect(lossOf(-9n)).toMatchObject({ denial: null, cap: { limit: 10n, used: 9n, left: 1n, asked: 0n } });
  expect(lossOf(-10n)?.denial?.context).toEqual({ limit: 0.00001, used: 0.00001, asked: 0 });
});

test('a day ends with its last millisecond, also when days are asked for in turns', () => {
  const midnight = Date.UTC(2026, 10, 23);
  for (let turn = 0; turn < 2; turn += 1) {
    expect(utcDay(midnight - 1)).toBe('2026-11-22');
    expect(utcDay(midnight)).toBe('2026-11-23');
  }
  expect(utcDay(0)).toBe('1970-01-01');
  expect(utcDay(-1)).toBe('1969-12-31');
  expect(() => utcDay(Number.NaN)).toThrow(RangeError);
});
