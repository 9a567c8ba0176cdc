/** A desk is killed between the records of a batch and the venue's answer: each order ends as the venue has it. */
import { Faults } from '@bellwether/exchange/doors/polymarket';
import type { Market } from '@bellwether/sdk';
import { expect, test } from 'vitest';
import { call, openMarkets, type TestService } from '../harness.ts';
import { liveOrder, newLiveTrader, orderAt, poolOf, startVenue } from '../live-desk.ts';
import { liveEnvironment } from '../live-environment.ts';
import { createDeskDatabase } from '../postgres.ts';
import { dataFolder, kill, startProcess, waitFor } from '../service-process.ts';

const SLOW_MS = 1_200;

test.each([
  ['before the venue has heard of it', true],
  ['after the venue has taken it', false],
])('%s', async (_when, isLost) => {
  const faults = new Faults(Date.now);
  const venue = await startVenue({}, { faults });
  const databaseUrl = await createDeskDatabase();
  const env = {
    ...{ ...liveEnvironment(venue.url), DATABASE_URL: databaseUrl, MASTER_KEY: '7'.repeat(64) },
    ...{ VENUE_A_DOUBT_S: '5', RATE_LIMITS: 'off' },
  };
  const dataDir = dataFolder();
  const first = await startProcess({ dataDir, env });
  const desk = { url: first.url, databaseUrl } as TestService;
  const trader = await newLiveTrader(desk, venue);
  const [market] = (await openMarkets(trader.client)) as [Market];
  const orders = await Promise.all(
    [10, 11, 12].map((size) => liveOrder(trader, market, { side: 'BUY', size })),
  );
  // The venue waits before it does anything; then it executes them, and cuts the connection.
  faults.set({ latencyMs: { least: SLOW_MS, most: SLOW_MS }, droppedShare: isLost ? 0 : 1 });
  const answer = call(desk, 'POST', '/markets/batch-trade', { key: trader.apiKey, body: { orders } }).catch(
    () => null,
  );
  const sql = poolOf(desk);
  const inDoubt = async () =>
    Number((await sql`select count(*) from orders where status = 'submitting'`)[0]?.count);
  await expect.poll(inDoubt, { interval: 5 }).toBe(3);
  if (!isLost)
    await expect.poll(() => venue.exchange.openOrders(trader.funder).length, { interval: 5 }).toBe(3);
  kill(first.child.pid as number, 'SIGKILL');
  await waitFor(() => first.child.exitCode !== null || first.child.signalCode !== null, 10_000);
  await answer;
  faults.set({});

  const second = await startProcess({ dataDir, env, port: first.port });
  const rows = await sql<{ order_id: string }[]>`select order_id from orders`;
  expect(rows).toHaveLength(3);
  for (const { order_id: orderId } of rows)
    await expect
      .poll(async () => (await orderAt(second, trader, orderId)).status, { timeout: 30_000 })
      .toBe(isLost ? 'rejected' : 'live');
  expect(venue.exchange.openOrders(trader.funder)).toHaveLength(isLost ? 0 : 3);
});
