/** Redemptions of owners at the live venue past the desk: the desk's positions, results and portfolio follow. */
import type { Market } from '@bellwether/sdk';
import { beforeAll, expect, test, vi } from 'vitest';
import { followRedemptions, resolveMarkets } from '../../packages/server/src/positions/redeem.ts';
import { call, marketBuy, type TestService, type Trader } from '../harness.ts';
import { newLiveTrader, orderAt, PROFILE, poolOf, startLiveDesk, startVenue } from '../live-desk.ts';
import { endingMarkets, type ManualClock, manualClock, micro, resolveMarket } from '../world.ts';

const AMOUNT = 10;

let clock: ManualClock;
let venue: TestService;
let desk: TestService;
/** A desk on the same database; it has read nothing of the venue yet, as after a start. */
let replica: TestService;
let redeems: Trader;
let waits: Trader;
let market: Market;
let won: 'YES' | 'NO';
let shares: Readonly<Record<'YES' | 'NO', number>>;
const OUTCOMES = ['YES', 'NO'] as const;

async function buy(trader: Trader, outcome: 'YES' | 'NO'): Promise<number> {
  const { signer, signatureType } = trader;
  const order = await marketBuy({ signer, signatureType }, market, AMOUNT, { profile: PROFILE, outcome });
  const { orderId, filledSize } = await trader.client.placeTrade(order);
  await vi.waitFor(
    async () => {
      // The venue settles by the same clock.
      clock.advance(500);
      await venue.exchange.step();
      expect((await orderAt(desk, trader, orderId)).status).toMatch(/^(filled|partially_filled_closed)$/);
    },
    { timeout: 30_000, interval: 200 },
  );
  return filledSize;
}

/** Tokens that the desk hears nothing of. */
const buyPastTheDesk = (trader: Trader, outcome: 'YES' | 'NO') =>
  venue.exchange.execute({
    kind: 'place',
    order: {
      ...{ orderId: `0x${(outcome === 'YES' ? 'aa' : 'bb').repeat(32)}`, account: trader.funder },
      ...{ conditionId: market.conditionId, outcome, side: 'BUY', limit: 9_900, size: 7_000_000n },
      ...{ timeInForce: 'FAK', postOnly: false },
    },
  });

/** From the replica that has not read the market while it was open. */
const read = async ({ apiKey }: Trader, what: string) =>
  (await call(replica, 'GET', `/markets/${what}`, { key: apiKey })).body;
const follow = () => Promise.all([followRedemptions(desk.needs), followRedemptions(replica.needs)]);
const redemptionFills = () => poolOf(desk)`
  select wallet, outcome, size, cost, agent_id from fills where match_kind = 'REDEEMED'`;

beforeAll(async () => {
  clock = manualClock(Date.now());
  venue = await startVenue({}, { clock });
  // In its own time: it signs with the venue's.
  desk = await startLiveDesk(venue);
  redeems = await newLiveTrader(desk, venue, 2);
  waits = await newLiveTrader(desk, venue);
  market = (await endingMarkets(redeems)).find(
    ({ bestBid, bestAsk }) => Number(bestBid) > 0.1 && Number(bestAsk) < 0.9,
  ) as Market;
  shares = { YES: await buy(redeems, 'YES'), NO: await buy(redeems, 'NO') };
  for (const outcome of OUTCOMES) {
    await buy(waits, outcome);
    await buyPastTheDesk(redeems, outcome);
  }
  const payout = await resolveMarket(venue, clock, market.conditionId);
  if (payout !== 'YES' && payout !== 'NO') throw new Error('the test needs a winner');
  won = payout;
  const { databaseUrl, masterKey } = desk;
  replica = await startLiveDesk(venue, { DATABASE_URL: databaseUrl, MASTER_KEY: masterKey });
  await vi.waitFor(
    async () => {
      await resolveMarkets(replica.needs);
      expect(await poolOf(desk)`select payout from traded_markets where payout is not null`).toEqual([
        { payout: won },
      ]);
    },
    { timeout: 60_000, interval: 500 },
  );
});

test('what the owner has redeemed closes the position, once, and never another wallet’s', {
  timeout: 300_000,
}, async () => {
  const redeem = async () =>
    (
      await call(replica, 'POST', '/markets/redeem', {
        key: redeems.apiKey,
        body: { marketId: market.id },
      })
    ).body;
  expect(await read(redeems, 'current-positions')).toMatchObject([{ outcome: won, redeemable: true }]);
  await follow();
  expect(await redemptionFills()).toEqual([]);
  expect(await redeem()).toMatchObject({ status: 'unsigned' });

  const before = venue.exchange.account(redeems.funder).available;
  await venue.exchange.execute({
    kind: 'redeem',
    account: redeems.funder,
    conditionId: market.conditionId,
  });
  const paid = venue.exchange.account(redeems.funder).available - before;
  // The owner was paid for the tokens from elsewhere, too.
  expect(paid).toBe(micro(shares[won]) + 7_000_000n);

  await expect
    .poll(
      async () => {
        expect(await redeem()).toMatchObject({ status: 'nothing_to_redeem' });
        await follow();
        return redemptionFills();
      },
      { timeout: 60_000, interval: 500 },
    )
    .toEqual([
      {
        wallet: redeems.funder,
        outcome: won,
        size: micro(shares[won]),
        cost: micro(shares[won]),
        agent_id: redeems.agentId,
      },
    ]);

  expect(await read(redeems, 'current-positions')).toEqual([]);
  const closed = (await read(redeems, 'closed-positions')) as { outcome: string; realizedPnl: number }[];
  expect(closed.find(({ outcome }) => outcome === won)).toMatchObject({ size: 0, redeemable: false });
  expect(closed.find(({ outcome }) => outcome === won)?.realizedPnl).toBeCloseTo(shares[won] - AMOUNT, 2);
  const settings = await desk.needs.agents.settings(redeems.agentId);
  const [all] = await poolOf(desk)`
    select sum(realized)::bigint as realized, sum(fee)::bigint as fees from fills where wallet = ${redeems.funder}`;
  // One outcome was lost, the other paid.
  expect(Number(all?.realized) / 1e6).toBeCloseTo(shares[won] - 2 * AMOUNT, 2);
  expect(settings.realizedToday).toBe(all?.realized - all?.fees);
  expect(await read(redeems, 'portfolio')).toMatchObject({ positionsCount: 0, redeemableCount: 0 });
  expect(await read(waits, 'current-positions')).toMatchObject([{ outcome: won, redeemable: true }]);

  await desk.needs.redemptions.makeDue('polymarket', [redeems.funder as never]);
  await follow();
  expect(await redemptionFills()).toHaveLength(1);
});
