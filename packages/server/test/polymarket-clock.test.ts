/** The venue's clock: what is signed with, and when it is too far from ours. */
import type { Address } from '@bellwether/protocol';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createOrderClient } from '../src/venues/polymarket/order-client.ts';
import { startVenueClock } from '../src/venues/polymarket/venue.ts';
import { openVenue } from './polymarket-stand-in.ts';

const NOW = Date.UTC(2026, 10, 25, 12);
const KEY = {
  eoa: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' as Address,
  secrets: { apiKey: 'key', secret: `${'A'.repeat(43)}=`, passphrase: 'pass' },
};

/** The venue's answer to `/time`; `null`: nothing. */
let time: unknown;
let stamps: string[];
let venue: Awaited<ReturnType<typeof open>>;

async function open() {
  const venue = await openVenue(
    ({ pathname }, { headers }) => {
      if (pathname === '/time') return time === null ? new Response(null, { status: 503 }) : time;
      stamps.push(String(headers.poly_timestamp));
      return { data: [], next_cursor: 'LTE=', canceled: [] };
    },
    () => NOW,
  );
  const own = startVenueClock({ ...venue, everyMs: 20, againMs: 10 });
  return { ...venue, own, client: createOrderClient(venue.http, own) };
}

beforeEach(async () => {
  stamps = [];
  time = NOW / 1000;
  venue = await open();
});
afterEach(() => venue.own.stop());

const ahead = (seconds: number | null) =>
  vi.waitFor(() => expect(venue.own.aheadS()).toBe(seconds), { timeout: 10_000 });

test('clocks that agree sign with our time', async () => {
  await ahead(0);
  await venue.client.openOrders(KEY);
  expect(stamps).toEqual([String(NOW / 1000)]);
  expect(venue.own.status()).toBe('ready');
});

test.each([
  [20, '1795608020'],
  [-29, '1795607971'],
])('a venue that is %i s ahead gets signatures of its own time, cancels too', async (seconds, stamp) => {
  time = NOW / 1000 + seconds;
  await vi.waitFor(() => expect(Math.abs((venue.own.aheadS() ?? 0) - seconds)).toBeLessThanOrEqual(1));
  await venue.client.openOrders(KEY);
  await venue.client.cancel(KEY, ['0x1']);
  for (const one of stamps) expect(Math.abs(Number(one) - Number(stamp))).toBeLessThanOrEqual(1);
  expect(stamps).toHaveLength(2);
  expect(venue.own.status()).toBe('ready');
});

test('beyond thirty seconds the venue is not ready, says why, and is ready again once the clocks agree', async () => {
  time = NOW / 1000 + 45;
  await vi.waitFor(() =>
    expect(venue.own.status()).toMatch(
      /^the venue's clock is 4[56] s ahead of this service's: set the clock/,
    ),
  );
  time = NOW / 1000 - 3_600;
  await vi.waitFor(() => expect(venue.own.status()).toMatch(/ s behind this service's/));
  time = NOW / 1000;
  await vi.waitFor(() => expect(venue.own.status()).toBe('ready'));
  expect(venue.said.map(({ message }) => message)).toEqual([
    'the clocks differ too much',
    'the clocks agree again',
  ]);
});

test.each([[null], ['soon'], [{ time: NOW }], [12], [NOW], [1e20]])(
  'an answer of %j says nothing of the clock',
  async (answer) => {
    time = NOW / 1000 + 10;
    await vi.waitFor(() => expect(venue.own.aheadS()).not.toBe(0));
    const before = venue.own.aheadS();
    time = answer;
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(venue.own.aheadS()).toBe(before);
    expect(venue.own.status()).toBe('ready');
  },
);
