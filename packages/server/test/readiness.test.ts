/** `/readyz` about venues while the database takes nothing. */
import { expect, test } from 'vitest';
import type { ReadinessParts } from '../src/wiring/readiness.ts';
import { createReadiness } from '../src/wiring/readiness.ts';

const venue = (id: string, status: string) =>
  [id, { id, name: id, status: () => status, backend: 'paper' }] as const;
const venues = new Map([
  venue('one', 'ready'),
  venue('two', 'in maintenance'),
]) as unknown as ReadinessParts['venues'];

const asked = async (database: string) => {
  const parts = { paper: { probe: async () => 'ready' }, venues, version: '1', isDraining: () => false };
  const { ready, body } = await createReadiness({ ...parts, database: async () => database })();
  return {
    ready,
    statuses: (body.venues as readonly { readonly status: string }[]).map(({ status }) => status),
  };
};

test('no venue is ready while the disk of the database is full', async () => {
  expect(await asked('ready')).toEqual({ ready: true, statuses: ['ready', 'in maintenance'] });
  expect(await asked('its disk is full')).toEqual({
    ready: false,
    statuses: ['waits for the database: its disk is full', 'in maintenance'],
  });
});
