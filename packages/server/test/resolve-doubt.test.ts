/** Which orders in doubt a replica looks up: the one that keeps the venue earlier than the others. */
import { expect, test } from 'vitest';
import type { ResolveDoubtNeeds } from '../src/app/orders/signed/resolve-doubt.ts';
import { resolveDoubtJob } from '../src/jobs/resolve-doubt.ts';

const NOW = Date.UTC(2026, 10, 21);

/** The youngest order that is looked up, by its age. */
async function youngest(isShared: boolean, keepsVenue: boolean): Promise<number> {
  const asked: number[] = [];
  const orders = {
    async inDoubt(before: number) {
      asked.push(NOW - before);
      return [];
    },
  };
  const needs = { clock: { now: () => NOW }, orders } as unknown as ResolveDoubtNeeds;
  await resolveDoubtJob(needs, { isShared, keepsVenue: () => keepsVenue }).run();
  return asked[0] as number;
}

test('the leader of a shared database does not wait for the clocks of others', async () => {
  expect(await youngest(true, true)).toBe(4_500);
  expect(await youngest(true, false)).toBe(12_000);
  expect(await youngest(false, true)).toBe(5_000);
});
