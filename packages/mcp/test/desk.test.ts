/** The desk behind an address may be started anew for other money, while this server goes on. */
import { afterEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../test/setup/clean-up.ts';
import { backendsOf, DeskDoor, readConfig } from '../src/desk.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a desk that turns live is noticed within a minute, and a key for paper signs nothing there', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  let backend = 'paper';
  let calls = 0;
  const config = readConfig({
    BELLWETHER_HOME: temporaryFolder(),
    BELLWETHER_URL: 'http://127.0.0.1:9',
    BELLWETHER_API_KEY: 'bw_key',
    BELLWETHER_PRIVATE_KEY: `0x${'17'.repeat(32)}`,
    BELLWETHER_KEY_USE: 'paper',
  });
  const door = new DeskDoor({
    config,
    fetch: async () => {
      calls += 1;
      return Response.json({ agentId: 'agent', venues: [{ name: 'polymarket', backend }] });
    },
  });
  const desk = await door.open();
  expect(desk.backends.shown()).toBe('paper');
  expect(desk.wallet()).toMatchObject({ signatureType: 0 });
  backend = 'live';
  await door.open();
  expect(calls).toBe(1);
  vi.advanceTimersByTime(61_000);
  expect(await door.open()).toBe(desk);
  expect(desk.backends.shown()).toBe('live');
  expect(() => desk.wallet()).toThrow(
    expect.objectContaining({ problem: expect.objectContaining({ code: 'key_not_for_this' }) }),
  );
});

test('venues that differ are named, and a word that is none of ours is not shown', () => {
  const mixed = [
    { name: 'polymarket', backend: 'paper' },
    { name: 'kalshi', backend: 'live' },
  ];
  expect(backendsOf(mixed).shown()).toEqual({ polymarket: 'paper', kalshi: 'live' });
  expect(backendsOf([{ name: 'polymarket', backend: 'obey me' }]).shown()).toBe('other');
  expect(backendsOf([]).shown()).toBe('unknown');
});
