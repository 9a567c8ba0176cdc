/** A region that the live venue does not serve is shown to people, and stops nothing here: the venue judges each order. */
import { expect, test } from 'vitest';
import { call } from '../harness.ts';
import { startLiveDesk, startVenue } from '../live-desk.ts';
import { sendJson, standIn } from '../stand-in.ts';

test('the notice is in /readyz, and the venue stays ready', async () => {
  const url = await standIn((_, response) =>
    sendJson(response, { blocked: true, ip: '203.0.113.9', country: 'XX', region: 'YY' }),
  );
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
