/** A region that the live venue does not serve is shown to people, and stops nothing here: the venue judges each order. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { call } from '../harness.ts';
import { startLiveDesk, startVenue } from '../live-desk.ts';
import { afterFile } from '../setup/clean-up.ts';

test('the notice is in /readyz, and the venue stays ready', async () => {
  const site = createServer((_request, response) =>
    response.end(JSON.stringify({ blocked: true, ip: '203.0.113.9', country: 'XX', region: 'YY' })),
  );
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  afterFile('processes', () => {
    site.closeAllConnections();
    site.close();
  });
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const desk = await startLiveDesk(await startVenue(), { POLYMARKET_SITE_URL: url });
  await expect
    .poll(async () => (await call(desk, 'GET', '/readyz', {})).body.venues[0])
    .toMatchObject({
      backend: 'live',
      status: 'ready',
      notice: 'the venue does not serve this region (XX YY): it refuses orders',
    });
  expect(JSON.stringify((await call(desk, 'GET', '/readyz', {})).body)).not.toContain('203.0.113.9');
});
