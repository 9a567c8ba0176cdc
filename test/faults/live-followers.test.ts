/** Two desks on a live venue A and one database: a wallet has one follower, and another when that one freezes. */
import { expect, test } from 'vitest';
import { aMarket } from '../harness.ts';
import { liveOrder, newLiveTrader, orderAt, poolOf, startLiveDesk, startVenue } from '../live-desk.ts';

test('of two replicas one follows a wallet, and the other takes over when it stops', {
  timeout: 300_000,
}, async () => {
  const venue = await startVenue();
  const desk = await startLiveDesk(venue);
  const { databaseUrl, masterKey } = desk;
  const trader = await newLiveTrader(desk, venue);
  const market = await aMarket(trader.client);
  const placed = await trader.client.placeTrade(await liveOrder(trader, market, { side: 'BUY', size: 36 }));
  const sql = poolOf(desk);
  const holders = () => sql`select holder from venue_followers where wallet_address = ${trader.funder}`;
  await expect.poll(async () => (await holders()).length).toBe(1);
  const [first] = await holders();
  const second = await startLiveDesk(venue, { DATABASE_URL: databaseUrl, MASTER_KEY: masterKey });
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect(await holders()).toEqual([first]);
  // As a replica does that is frozen: it neither renews nor gives up.
  await sql`update venue_followers set holder = 'frozen', leased_until = clock_timestamp() + interval '1 second'`;
  await expect.poll(async () => (await holders())[0]?.holder, { timeout: 30_000 }).not.toBe('frozen');
  await venue.exchange.execute({ kind: 'cancel', account: trader.funder, orderIds: [placed.orderId] });
  await expect
    .poll(async () => (await orderAt(second, trader, placed.orderId)).status, { timeout: 60_000 })
    .toBe('canceled');
});
