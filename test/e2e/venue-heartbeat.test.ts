/** The venue's own heartbeat for a wallet: only the owner switches it, by passkey, and it ends with the desk or with the agents' silence. */
import { createVenueCredentials, credentialRequest, type Market } from '@bellwether/sdk';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createHeartbeatLog } from '../../packages/server/src/wallets/index.ts';
import { claim, ownerOf } from '../approving.ts';
import {
  aMarket,
  newAgent,
  newTrader,
  openMarkets,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { liveOrder, orderAt, poolOf, startLiveDesk, startVenue } from '../live-desk.ts';
import { Visitor } from '../passkey.ts';
import { movingClock } from '../world.ts';

const SECOND = 1_000;
const PATH = '/owner/wallets/heartbeat';

async function answerTo(owner: Visitor, walletAddress: string, on: boolean) {
  const { body } = await owner.send('POST', `${PATH}/passkey-options`, { walletAddress, on });
  return owner.signature(body.challenge);
}

const switchTo = async (owner: Visitor, walletAddress: string, on: boolean) =>
  owner.send('POST', PATH, { walletAddress, on, ...(await answerTo(owner, walletAddress, on)) });

const heartbeatOf = async (owner: Visitor, { agentId, funder }: Trader) => {
  const { body } = await owner.send('GET', `/owner/agents/${agentId}/wallets`);
  return body.find(({ walletAddress }: { walletAddress: string }) => walletAddress === funder)?.heartbeat;
};

let clock: ReturnType<typeof movingClock>;
let service: TestService;
let market: Market;
let owner: Visitor;
let trader: Trader;

beforeAll(async () => {
  clock = movingClock();
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
  owner = await ownerOf(service);
  market = await aMarket((await newTrader(service)).client);
});

beforeEach(async () => {
  trader = await newTrader(service);
  await claim(owner, trader);
});

describe('the owner’s word', () => {
  test('is off until the passkey says otherwise; owner and agent see it', async () => {
    expect(await heartbeatOf(owner, trader)).toEqual({ on: false, cancelsAfterS: null });
    expect((await trader.client.checkCredentials()).heartbeat).toBe(false);
    expect(await switchTo(owner, trader.signer.address, true)).toMatchObject({
      status: 200,
      body: { walletAddress: trader.funder, on: true },
    });
    expect(await heartbeatOf(owner, trader)).toMatchObject({ on: true });
    expect((await trader.client.checkCredentials()).heartbeat).toBe(true);
    expect((await switchTo(owner, trader.funder, false)).body).toMatchObject({ on: false });
    expect((await trader.client.checkCredentials()).heartbeat).toBe(false);
  });

  test('is not the session’s: without the passkey’s answer, or with one for something else, nothing changes', async () => {
    const change = { walletAddress: trader.funder, on: true };
    expect((await owner.send('POST', PATH, change)).status).toBe(400);
    const other = await newTrader(service);
    await claim(owner, other);
    for (const answer of [
      await answerTo(owner, trader.funder, false),
      await answerTo(owner, other.funder, true),
    ])
      expect((await owner.send('POST', PATH, { ...change, ...answer })).body.code).toBe(
        'passkey_challenge_expired',
      );
    // A challenge answers once.
    const answer = await answerTo(owner, other.funder, true);
    const again = { walletAddress: other.funder, on: true, ...answer };
    expect((await owner.send('POST', PATH, again)).status).toBe(200);
    expect((await owner.send('POST', PATH, again)).body.code).toBe('passkey_challenge_expired');
    expect(await heartbeatOf(owner, trader)).toMatchObject({ on: false });
  });

  test('is not another owner’s, nor the agent’s', async () => {
    const bob = await ownerOf(service);
    const begun = await bob.send('POST', `${PATH}/passkey-options`, {
      ...{ walletAddress: trader.funder, on: true },
    });
    expect(begun).toMatchObject({ status: 404, body: { code: 'wallet_not_found' } });
    const answer = await answerTo(owner, trader.funder, true);
    expect((await bob.send('POST', PATH, { walletAddress: trader.funder, on: true, ...answer })).status).toBe(
      404,
    );
    const asAgent = new Visitor(service);
    const key = { authorization: `Bearer ${trader.apiKey}` };
    const sent = await asAgent.send('POST', PATH, { walletAddress: trader.funder, on: true, ...answer }, key);
    expect(sent.status).toBe(401);
    expect(await heartbeatOf(owner, trader)).toMatchObject({ on: false });
  });

  test.each([
    [{ walletAddress: '0x12', on: true }, 400],
    [{ walletAddress: `0x${'7'.repeat(40)}`, on: true }, 404],
    [{ walletAddress: `0x${'7'.repeat(40)}`, on: 'yes' }, 400],
    [{ walletAddress: `0x${'7'.repeat(40)}`, on: true, onn: true }, 400],
  ])('%j is refused', async (body, status) => {
    expect((await owner.send('POST', `${PATH}/passkey-options`, body)).status).toBe(status);
  });
});

/** Passes time second by second, with the watch of each. */
async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    clock.advance(SECOND);
    await service.runJob('keep watch');
  }
}

/** Writes the call that was made last, which the service itself does every five seconds. */
async function written({ agentId }: Pick<Trader, 'agentId'>): Promise<void> {
  const keys = await service.needs.agents.keys(agentId);
  await service.needs.agents.touch(new Map(keys.map(({ id }) => [id, service.needs.clock.now()])));
}

describe('heartbeats go on', () => {
  const goesOn = async () =>
    (await createHeartbeatLog(poolOf(service), 'polymarket').lease('test', 600_000)).includes(trader.funder);
  const limit = (who: Pick<Trader, 'client'>) => who.client.updateSettings({ silenceSeconds: 30 });

  /** Another agent of the owner that may use the wallet. */
  async function anotherAgent(): Promise<Trader> {
    const other = await newTrader(service);
    await claim(owner, other);
    const granted = { walletAddress: trader.funder, granted: true };
    expect((await owner.send('POST', `/owner/agents/${other.agentId}/wallets`, granted)).status).toBe(200);
    return { ...other, signer: trader.signer, funder: trader.funder };
  }

  beforeEach(async () => {
    expect((await switchTo(owner, trader.funder, true)).status).toBe(200);
  });

  test('where no agent has silenceSeconds', async () => {
    await written(trader);
    await pass(60);
    expect(await goesOn()).toBe(true);
  });

  test('until its only agent is silent, and again once that calls', async () => {
    await limit(trader);
    await written(trader);
    await pass(30);
    expect(await goesOn()).toBe(true);
    await pass(8);
    expect(await goesOn()).toBe(false);
    await trader.client.getMe();
    await written(trader);
    expect(await goesOn()).toBe(true);
  });

  test('while one of two calls, whose orders would be canceled, too', async () => {
    const other = await anotherAgent();
    await limit(trader);
    await limit(other);
    await written(trader);
    await written(other);
    for (const _ of [1, 2]) {
      await pass(20);
      await other.client.getMe();
      await written(other);
    }
    expect(await goesOn()).toBe(true);
    await pass(40);
    expect(await goesOn()).toBe(false);
  });

  test('while an order rests of an agent that no silence ends', async () => {
    const other = await anotherAgent();
    const { orderId } = await other.client.placeTrade(await restingOrder(other, market));
    await limit(trader);
    await written(trader);
    await pass(40);
    expect(await goesOn()).toBe(true);
    await other.client.cancelOrder(orderId);
    expect(await goesOn()).toBe(false);
  });
});

/** An agent of the owner with a wallet that has money and a key at the venue. */
async function liveTrader(desk: TestService, venue: TestService, of: Visitor): Promise<Trader> {
  const agent = await newAgent(desk);
  const { signer, client } = agent;
  const funder = signer.address.toLowerCase();
  const credentials = await createVenueCredentials({ clobUrl: `${venue.url}/paper/clob`, signer });
  await client.registerCredentials(credentialRequest(signer, credentials));
  await venue.exchange.execute({
    ...{ kind: 'deposit', account: funder, amount: 1_000_000_000n, reason: 'faucet' },
  });
  await claim(of, agent);
  return { ...agent, funder, signatureType: 0 };
}

const beatsSent = (desk: TestService) => desk.needs.venues.default.counts?.().heartbeats_sent as number;

test('once the desk has stopped, the venue cancels all of a key with a heartbeat, and nothing of others', async () => {
  const venueClock = movingClock();
  const venue = await startVenue({}, { clock: venueClock });
  const desk = await startLiveDesk(venue);
  const of = await ownerOf(desk);
  const [one, two] = [await liveTrader(desk, venue, of), await liveTrader(desk, venue, of)];
  const [listed] = (await openMarkets(one.client)) as [Market];
  const place = async (who: Trader) =>
    (await who.client.placeTrade(await liveOrder(who, listed, { side: 'BUY' }))).orderId;
  const [first, second] = [await place(one), await place(two)];
  expect((await switchTo(of, one.funder, true)).body).toEqual({
    ...{ walletAddress: one.funder, on: true, cancelsAfterS: 15 },
  });
  const openOf = ({ funder }: Trader) => venue.exchange.openOrders(funder).map(({ orderId }) => orderId);

  // More than ten seconds of the venue pass, with heartbeats in between.
  for (const _ of [1, 2, 3]) {
    const before = beatsSent(desk);
    await expect.poll(() => beatsSent(desk), { timeout: 60_000 }).toBeGreaterThan(before);
    venueClock.advance(4 * SECOND);
  }
  const sent = beatsSent(desk);
  await expect.poll(() => beatsSent(desk), { timeout: 60_000 }).toBeGreaterThan(sent);
  expect([openOf(one), openOf(two)]).toEqual([[first], [second]]);

  await desk.stop();
  venueClock.advance(11 * SECOND);
  await expect.poll(() => openOf(one), { timeout: 60_000 }).toEqual([]);
  expect(openOf(two)).toEqual([second]);

  // The desk that comes back learns of it, and keeps the key alive again.
  const { databaseUrl: DATABASE_URL, masterKey: MASTER_KEY } = desk;
  const again = await startLiveDesk(venue, { DATABASE_URL, MASTER_KEY });
  await expect
    .poll(async () => (await orderAt(again, one, first)).status, { timeout: 60_000 })
    .toBe('canceled');
  expect(await orderAt(again, two, second)).toMatchObject({ status: 'live' });
  await expect.poll(() => beatsSent(again), { timeout: 60_000 }).toBeGreaterThan(0);
});
