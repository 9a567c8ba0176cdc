/** The venue's clock: what is signed with, and when it is too far from ours. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Address } from '@bellwether/protocol';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createPooledSend } from '../src/platform/outbound/pooled-send.ts';
import { createVenueHttp } from '../src/venues/polymarket/http.ts';
import { createOrderClient } from '../src/venues/polymarket/order-client.ts';
import { startVenueClock } from '../src/venues/polymarket/venue-clock.ts';

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
  const server = createServer((request, response) => {
    if (request.url === '/time') {
      if (time === null) response.writeHead(503).end();
      else response.writeHead(200).end(JSON.stringify(time));
      return;
    }
    stamps.push(String(request.headers.poly_timestamp));
    response.writeHead(200).end(JSON.stringify({ data: [], next_cursor: 'LTE=', canceled: [] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const pool = createPooledSend();
  const clock = { now: () => NOW };
  const said: string[] = [];
  const log = { info: () => {}, warn: (_: object, message: string) => void said.push(message) };
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const http = createVenueHttp({ service: 'the venue', baseUrl, send: pool.send, clock, log });
  const own = startVenueClock({ http, clock, log, everyMs: 20, againMs: 10 });
  return {
    own,
    said,
    client: createOrderClient(http, own),
    close: () => {
      own.stop();
      pool.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

beforeEach(async () => {
  stamps = [];
  time = NOW / 1000;
  venue = await open();
});
afterEach(() => venue.close());

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
  expect(venue.said).toEqual(['the clocks differ too much', 'the clocks agree again']);
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
