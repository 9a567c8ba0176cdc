/**
 * kill -9 of the desk while it gives a signed request to the relayer: whatever the moment, the request has at most one effect, what
 * happened is booked, and what did not gives its budget back.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createVenueCredentials,
  type Market,
  readRelayTerms,
  Signer,
  signRelay,
  verifyRelay,
} from '@bellwether/sdk';
import { expect, test } from 'vitest';
import { Faults, NO_FAULTS } from '../../packages/exchange/src/doors/polymarket/index.ts';
import { followSets } from '../../packages/server/src/trading/sets.ts';
import { call, openMarkets, type TestService, type Trader } from '../harness.ts';
import { newLiveTrader, orderAt, poolOf, startLiveDesk, startVenue } from '../live-desk.ts';
import { liveEnvironment } from '../live-environment.ts';
import { kill, startProcess } from '../service-process.ts';
import { micro } from '../world.ts';

const AMOUNT = 3;
const KILLED_AFTER_MS = [0, 10, 30, 60, 90, 130, 200] as const;
/** Of the relayer, so that a kill comes between the record, the request and its answer. */
const SLOW = { ...NO_FAULTS, latencyMs: { least: 50, most: 70 } };

test('a request that was being forwarded when the desk was killed has one effect or none', {
  timeout: 300_000,
}, async () => {
  const faults = new Faults(Date.now);
  const venue = await startVenue({}, { faults });
  const operator = Signer.generate();
  const { apiKey } = await createVenueCredentials({ clobUrl: `${venue.url}/paper/clob`, signer: operator });
  const key = { POLYMARKET_RELAYER_API_KEY: apiKey, POLYMARKET_RELAYER_API_KEY_ADDRESS: operator.address };
  const desk = await startLiveDesk(venue, key);
  const { databaseUrl, masterKey } = desk;
  const env = { ...liveEnvironment(venue.url), ...key, DATABASE_URL: databaseUrl, MASTER_KEY: masterKey };
  const trader = await newLiveTrader(desk, venue, 2);
  const [market] = (await openMarkets(trader.client)) as [Market];
  const held = () => venue.exchange.account(trader.funder).tokens.get(market.conditionId)?.yes ?? 0n;
  const usedToday = async () =>
    (await trader.client.getMarketContext(market.id)).safeguards.dailyTradeAmount.used;
  const ends: string[] = [];
  for (const [nth, afterMs] of KILLED_AFTER_MS.entries()) {
    const killed = await startProcess({ env });
    const [before, usedBefore] = [held(), await usedToday()];
    const body = await prepared(trader, { market, nth, relayerUrl: `${venue.url}/paper/relayer` });
    faults.set(SLOW);
    const answer = call({ url: killed.url }, 'POST', '/markets/relay', { key: trader.apiKey, body }).catch(
      () => null,
    );
    await sleep(afterMs);
    kill(killed.child.pid as number, 'SIGKILL');
    await Promise.all([answer, killed.exit()]);
    faults.set(NO_FAULTS);
    // The same signature again, at a desk that lives: it may be sent now, if it was not.
    await call(desk, 'POST', '/markets/relay', { key: trader.apiKey, body });
    const status = await endOf(desk, trader, body.orderId);
    ends.push(status);
    const made = held() - before;
    expect([0n, micro(AMOUNT)]).toContain(made);
    expect(status).toBe(made === 0n ? 'expired' : 'filled');
    expect((await usedToday()) - usedBefore).toBe(made === 0n ? 0 : AMOUNT);
  }
  expect(ends).toContain('filled');
  expect(await trader.client.getCurrentPositions()).toMatchObject(
    Array(2).fill({ size: Number(held()) / 1e6 }),
  );
});

async function prepared(
  { client, signer, funder }: Trader,
  { market, nth, relayerUrl }: { readonly market: Market; readonly nth: number; readonly relayerUrl: string },
) {
  const answer = await client.splitSets({
    clientOrderId: `killed-${nth}`,
    marketId: market.id,
    amount: AMOUNT,
  });
  const own = { signer, wallet: funder };
  const terms = await readRelayTerms({ ...own, relayerUrl });
  const verified = verifyRelay(answer, { kind: 'split', amount: AMOUNT }, { ...own, market, terms });
  return signRelay(verified, signer);
}

/** Followed until it is decided; what the relayer never got ends by its time, which has passed then. */
async function endOf(desk: TestService, trader: Trader, orderId: string): Promise<string> {
  const statusOf = async () => (await orderAt(desk, trader, orderId)).status;
  const follow = async () => {
    await poolOf(desk)`update handed_out_sets set due_at = now() - interval '1 second'`;
    await followSets(desk.needs);
  };
  for (let look = 0; look < 10 && (await statusOf()) === 'live'; look += 1) {
    await follow();
    await sleep(300);
  }
  await poolOf(
    desk,
  )`update handed_out_sets set ends_at = now() - interval '1 second' where relay_state is null`;
  await follow();
  return statusOf();
}
