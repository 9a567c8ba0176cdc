/** Which orders in doubt a replica looks up: those of a venue that it keeps at once, others when they can arrive no more. */
import { expect, test } from 'vitest';
import { leftAloneMs, type ResolveDoubtNeeds, resolveDoubt } from '../src/trading/resolve-doubt.ts';
import type { Venue } from '../src/venues/venue.ts';

const NOW = Date.UTC(2026, 10, 21);

interface DoubtfulOrder {
  readonly status: 'submitting' | 'unknown';
  readonly ageMs: number;
}

/** Asks about orders with these ages. @param keptForMs `null`: another process keeps the venue */
async function asked(orders: readonly DoubtfulOrder[], keptForMs: number | null): Promise<readonly string[]> {
  const found: string[] = [];
  const venue = {
    id: 'paper',
    signedOrders: {
      keptSince: () => (keptForMs === null ? null : NOW - keptForMs),
      async resolve(orderId: string) {
        found.push(orderId);
        return { kind: 'accepted' };
      },
    },
  } as unknown as Venue;
  const rows = orders.map(({ status, ageMs }) => ({
    ...{ venue: 'paper', orderId: `${status} ${ageMs}`, status, createdAt: NOW - ageMs },
  }));
  const needs = {
    clock: { now: () => NOW },
    venues: new Map([['paper', venue]]),
    orders: { inDoubt: async (before: number) => rows.filter(({ createdAt }) => createdAt < before) },
  } as unknown as ResolveDoubtNeeds;
  await resolveDoubt(needs, leftAloneMs(true));
  return found;
}

const AGES = [1, 600, 4_100, 11_900, 12_100];
const ORDERS = AGES.flatMap((ageMs): DoubtfulOrder[] => [
  { status: 'submitting', ageMs },
  { status: 'unknown', ageMs },
]);

test('the replica that keeps the venue asks at once about orders whose senders have stopped', async () => {
  const unknown = AGES.map((ageMs) => `unknown ${ageMs}`);
  expect(await asked(ORDERS, 60_000)).toEqual(
    expect.arrayContaining([...unknown, 'submitting 4100', 'submitting 11900']),
  );
  expect(await asked(ORDERS, 60_000)).not.toContain('submitting 600');
});

test('it asks about orders of an earlier lead as soon as their senders have had time to send them to it', async () => {
  expect(await asked([{ status: 'submitting', ageMs: 600 }], 400)).toEqual([]);
  expect(await asked([{ status: 'submitting', ageMs: 600 }], 550)).toEqual(['submitting 600']);
  expect(await asked([{ status: 'submitting', ageMs: 500 }], 550)).toEqual([]);
});

test('another replica leaves them alone until they can arrive no more by any clock', async () => {
  expect(await asked(ORDERS, null)).toEqual(['submitting 12100', 'unknown 12100']);
});
