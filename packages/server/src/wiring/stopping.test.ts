import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createStops, type Stops } from './stopping.ts';

const warnings: string[] = [];
const log = {
  warn(context: object, message: string) {
    warnings.push(`${(context as { what: string }).what}: ${message}`);
  },
};
/** Steps run in the reverse order, so the database is last. */
const stopsWith = (run: (withinMs: number) => Promise<unknown>): Stops => {
  const stops = createStops(log);
  stops.push('database', 1_000, () => sleep(300));
  stops.push('step', 50, run);
  return stops;
};

test('a step that ends late, but before the last one, has stopped cleanly', async () => {
  expect(await stopsWith(() => sleep(350)).run()).toBe(true);
  expect(warnings).toContain('step: something did not stop in time');
});

test('a step that never ends, and one that fails late, have not', async () => {
  const never = Promise.withResolvers<void>();
  expect(await stopsWith(() => never.promise).run()).toBe(false);
  const failsLate = () => sleep(350).then(() => Promise.reject(new Error('made up')));
  expect(await stopsWith(failsLate).run()).toBe(false);
});

test('while the database is away, each step but the last is given a moment only', async () => {
  const stops = createStops(log);
  const given: number[] = [];
  const step = async (ms: number) => void given.push(ms);
  stops.push('database', 5_000, async () => {});
  for (const what of ['pool', 'jobs', 'door']) stops.push(what, 5_000, step);
  stops.watch(() => true);
  expect(await stops.run()).toBe(true);
  expect(given).toEqual([250, 250, 250]);
});

test('a step that fails at once has not, and those after it run', async () => {
  const stops = createStops(log);
  let ended = false;
  stops.push('database', 1_000, async () => {
    ended = true;
  });
  stops.push('step', 50, () => Promise.reject(new Error('made up')));
  expect(await stops.run()).toBe(false);
  expect(ended).toBe(true);
});
