/** The control route of the standalone exchange. */
import { addressBuckets } from '@bellwether/exchange/doors/limits';
import { Faults } from '@bellwether/exchange/doors/polymarket';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { CONTROL_PATH, controlDoor } from '../src/standalone/doors.ts';

const KEY = 'a key of enough characters';

test('reads and sets the faults with the key, refuses a misspelt one by name, and everything without the key', async () => {
  const faults = new Faults(() => 0);
  const app = fastify();
  const guard = addressBuckets({ perSecond: 1, burst: 100, now: () => 0 });
  await app.register(async (door) => controlDoor(door, { faults, key: KEY, guard }));
  const call = (method: 'GET' | 'PUT', payload?: object, authorization = `Bearer ${KEY}`) =>
    app.inject({
      method,
      url: CONTROL_PATH,
      headers: { authorization },
      ...(payload === undefined ? {} : { payload }),
    });
  expect((await call('GET')).json()).toMatchObject({ plan: { droppedShare: 0 }, now: { mode: 'open' } });
  expect((await call('PUT', { mode: 'post_only' })).json()).toMatchObject({ now: { mode: 'post_only' } });
  expect(faults.plan.mode).toBe('post_only');
  const refused = await call('PUT', { droppedshare: 1 });
  expect([refused.statusCode, refused.json().error]).toEqual([422, 'there is no fault "droppedshare".']);
  expect(faults.plan.mode).toBe('post_only');
  for (const wrong of ['', 'Bearer ', `Bearer ${KEY}x`, KEY])
    expect((await call('PUT', {}, wrong)).statusCode).toBe(401);
  expect((await app.inject({ method: 'PUT', url: CONTROL_PATH, payload: {} })).statusCode).toBe(401);
  expect(faults.plan.mode).toBe('post_only');
  await app.close();
});
