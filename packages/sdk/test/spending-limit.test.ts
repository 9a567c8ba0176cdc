import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BellwetherApiError, BellwetherConnectionError } from '@bellwether/sdk';
import { deskPlace, provesNoEffect, SpendingLimit, SpendingLimitReached } from '@bellwether/sdk/keystore';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/setup/clean-up.ts';

const URL_OF_DESK = 'http://127.0.0.1:8080';
const NOON = Date.parse('2026-11-22T12:00:00Z');
const DAY_MS = 86_400_000;

const newPlace = () => deskPlace({ BELLWETHER_HOME: temporaryFolder() }, URL_OF_DESK);

function limitOf(micro: bigint, place = newPlace()) {
  const clock = { now: NOON };
  const limit = new SpendingLimit(place, () => clock.now);
  limit.setLimit(micro);
  return { limit, place, clock };
}

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

describe('the limit of a day', () => {
  test('is 100 until another is set, and its files are for this user alone', () => {
    const place = newPlace();
    const limit = new SpendingLimit(place);
    limit.reserve('a', 1n);
    expect(limit.standing()).toMatchObject({ limit: 100_000_000n, spent: 1n, left: 99_999_999n });
    for (const name of readdirSync(place.folder))
      expect(statSync(join(place.folder, name)).mode & 0o777).toBe(0o600);
  });

  test('lets through exactly as much as it says, and names the figures when it refuses', () => {
    const { limit } = limitOf(10n);
    limit.reserve('a', 4n);
    limit.reserve('b', 6n);
    expect(() => limit.reserve('c', 1n)).toThrow(SpendingLimitReached);
    expect(limit.reserve('d', 0n)).toMatchObject({ spent: 10n, left: 0n });
    expect(limit.standing()).toEqual({ day: '2026-11-22', limit: 10n, spent: 10n, left: 0n });
  });

  test('begins anew with the UTC day, and old days are forgotten', () => {
    const { limit, clock, place } = limitOf(10n);
    limit.reserve('a', 10n);
    clock.now = NOON + DAY_MS / 2;
    expect(limit.reserve('b', 10n).day).toBe('2026-11-23');
    clock.now = NOON + 40 * DAY_MS;
    limit.reserve('c', 1n);
    expect(readdirSync(place.folder).filter((name) => name.endsWith('.jsonl'))).toHaveLength(1);
  });

  test('can never be set to what is not an amount of money', () => {
    const { limit } = limitOf(10n);
    expect(() => limit.setLimit(-1n)).toThrow('no spending limit');
    expect(limit.standing().limit).toBe(10n);
  });

  test('that is lowered below what is spent leaves nothing', () => {
    const { limit } = limitOf(10n);
    limit.reserve('a', 8n);
    expect(limit.setLimit(5n)).toMatchObject({ spent: 8n, left: 0n });
    expect(() => limit.reserve('b', 1n)).toThrow(SpendingLimitReached);
  });
});

describe('an order', () => {
  test('that is tried again counts once', () => {
    const { limit } = limitOf(10n);
    limit.reserve('a', 7n);
    expect(limit.reserve('a', 7n).spent).toBe(7n);
  });

  test('that an earlier release gave back is free again, once, and not where another try is in doubt', () => {
    const { limit, place } = limitOf(10n);
    limit.reserve('a', 4n);
    const refused = limit.reserve('b', 6n);
    const log = place.spending(refused.day);
    const giveBack = (attempt: string) => appendFileSync(log, `\n${JSON.stringify({ giveBack: attempt })}\n`);
    giveBack(refused.attempt);
    giveBack(refused.attempt);
    expect(limit.standing().spent).toBe(4n);
    expect(limit.reserve('b', 6n).spent).toBe(10n);
    giveBack(limit.reserve('b', 6n).attempt);
    expect(limit.standing().spent).toBe(10n);
  });

  test('whose later try costs more counts as the dearer one, where there is room', () => {
    const { limit } = limitOf(10n);
    limit.reserve('a', 7n);
    expect(limit.reserve('a', 8n).spent).toBe(8n);
    expect(() => limit.reserve('a', 11n)).toThrow(SpendingLimitReached);
    expect(limit.standing().spent).toBe(8n);
  });
});

describe('other processes', () => {
  const reserveElsewhere = (folder: string, name: string, then: string) => {
    const code = `
      const { SpendingLimit, deskPlace } = await import('@bellwether/sdk/keystore');
      const limit = new SpendingLimit(deskPlace({ BELLWETHER_HOME: ${JSON.stringify(folder)} }, '${URL_OF_DESK}'), () => ${NOON});
      let passed = 0;
      for (let i = 0; i < 20; i++) try { limit.reserve('${name}-' + i, 3n); passed += 1; } catch (error) { if (error.code !== 'spending_limit_reached') throw error; }
      console.log(passed);
      ${then}`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
      cwd: join(import.meta.dirname, '..'),
    });
    children.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    return {
      child,
      output: () => output.trim(),
      ended: new Promise((resolve) => child.once('close', resolve)),
    };
  };

  test('share it to the last unit', async () => {
    const { limit, place } = limitOf(100n);
    const others = ['a', 'b', 'c'].map((name) => reserveElsewhere(place.folder, name, ''));
    await Promise.all(others.map(({ ended }) => ended));
    const passed = others.map(({ output }) => Number(output()));
    expect(passed.reduce((sum, one) => sum + one, 0)).toBe(33);
    expect(limit.standing().spent).toBe(99n);
  });

  test('that are frozen or killed block no other, and free nothing', async () => {
    const { limit, place } = limitOf(100n);
    const { child, output, ended } = reserveElsewhere(place.folder, 'a', 'setTimeout(() => {}, 120_000);');
    await expect.poll(output, { timeout: 60_000 }).toBe('20');
    child.kill('SIGSTOP');
    expect(limit.reserve('b', 10n).spent).toBe(70n);
    child.kill('SIGKILL');
    await ended;
    expect(limit.reserve('c', 10n).spent).toBe(80n);
  });
});

describe('the file', () => {
  test('of which a line was written in part counts without it', () => {
    const { limit, place } = limitOf(10n);
    const { day } = limit.reserve('a', 4n);
    appendFileSync(place.spending(day), '\n{"reserve":"b","attem');
    expect(limit.reserve('c', 6n).spent).toBe(10n);
  });

  test('that is damaged stops everything that costs', () => {
    const { limit, place } = limitOf(10n);
    const { day } = limit.reserve('a', 4n);
    appendFileSync(place.spending(day), '\nsomething else\n');
    expect(() => limit.reserve('b', 1n)).toThrow(/damaged.*limit set/);
    writeFileSync(place.limit, '{}');
    expect(() => limit.standing()).toThrow(/damaged/);
  });
});

describe('a failed try', () => {
  test.each([
    [403, 'trading_paused', true],
    [400, 'insufficient_balance', true],
    [429, 'rate_limited', true],
    [503, 'overloaded', true],
    [503, 'service_unavailable', false],
    [500, 'order_outcome_unknown', false],
    [409, 'order_already_placed', false],
    [409, 'idempotency_in_flight', false],
    [403, undefined, false],
  ])('with %i %s proves that nothing happened: %s', (status, code, proves) => {
    const problem = code === undefined ? {} : { code };
    expect(provesNoEffect(new BellwetherApiError(status, problem))).toBe(proves);
  });

  test('without an answer proves nothing', () => {
    expect(provesNoEffect(new BellwetherConnectionError('unreachable', 'POST', '/markets/trade'))).toBe(
      false,
    );
    expect(provesNoEffect(new Error('anything'))).toBe(false);
  });
});

test('what counts never exceeds the limit, and nothing is refused for which there is room', () => {
  const step = fc.record({
    order: fc.integer({ min: 0, max: 5 }),
    micro: fc.integer({ min: 0, max: 8 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const { limit } = limitOf(20n);
      const open = new Map<string, { micro: bigint }>();
      const spent = () => [...open.values()].reduce((sum, one) => sum + one.micro, 0n);
      for (const { order, micro } of steps) {
        const id = String(order);
        const known = open.get(id);
        const most = known !== undefined && known.micro > BigInt(micro) ? known.micro : BigInt(micro);
        const fits = spent() - (known?.micro ?? 0n) + most <= 20n;
        try {
          limit.reserve(id, BigInt(micro));
          expect(fits).toBe(true);
          open.set(id, { micro: most });
        } catch (error) {
          expect(error).toBeInstanceOf(SpendingLimitReached);
          expect(fits).toBe(false);
        }
        expect(limit.standing().spent).toBe(spent());
        expect(spent()).toBeLessThanOrEqual(20n);
      }
    }),
    { numRuns: 30 },
  );
});
