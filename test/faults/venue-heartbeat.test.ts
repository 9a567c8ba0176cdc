/**
 * The venue's own heartbeat over deaths of the desk: while one replica lives orders rest on; once all are dead or frozen, or the wallet's
 * agents are silent, the venue cancels everything of the key, and nothing of a wallet whose owner did not ask for it.
 */
import { randomBytes } from 'node:crypto';
import { BellwetherClient, createVenueCredentials, credentialRequest, type Market } from '@bellwether/sdk';
import { expect, test } from 'vitest';
import { claim } from '../approving.ts';
import { newAgent, openMarkets, type TestService, type Trader } from '../harness.ts';
import { liveOrder, poolOf, startVenue } from '../live-desk.ts';
import { liveEnvironment } from '../live-environment.ts';
import { Visitor } from '../passkey.ts';
import { createDeskDatabase } from '../postgres.ts';
import { kill, type ServiceProcess, startProcess } from '../service-process.ts';

const FUNDS = 1_000_000_000n;
/** The venue looks every five seconds for keys that were silent for ten; a busy machine gets more. */
const CANCELED_MS = 60_000;
/** Longer than the venue waits. */
const RESTS_MS = 20_000;
const SILENCE_S = 30;

interface Stage {
  readonly venue: TestService;
  readonly databaseUrl: string;
  /** It was alone first, and sends. */
  readonly sender: ServiceProcess;
  readonly other: ServiceProcess;
  readonly market: Market;
  /** Of one owner, who wants heartbeats for the wallet of the first. Their clients ask the other replica. */
  readonly on: Trader;
  readonly off: Trader;
}

/** An agent of the owner with a wallet that has money and a key at the venue. */
async function traderAt(desk: ServiceProcess, venue: TestService, owner: Visitor): Promise<Trader> {
  const agent = await newAgent(desk);
  const { signer, client } = agent;
  const funder = signer.address.toLowerCase();
  const credentials = await createVenueCredentials({ clobUrl: `${venue.url}/paper/clob`, signer });
  await client.registerCredentials(credentialRequest(signer, credentials));
  await venue.exchange.execute({ kind: 'deposit', account: funder, amount: FUNDS, reason: 'faucet' });
  await claim(owner, agent);
  return { ...agent, funder, signatureType: 0 };
}

async function switchOn(owner: Visitor, { funder: walletAddress }: Trader): Promise<void> {
  const change = { walletAddress, on: true };
  const { body } = await owner.send('POST', '/owner/wallets/heartbeat/passkey-options', change);
  const answer = { ...change, ...owner.signature(body.challenge) };
  expect(await owner.send('POST', '/owner/wallets/heartbeat', answer)).toMatchObject({
    ...{ status: 200, body: { on: true, cancelsAfterS: 15 } },
  });
}

const holderOf = async (desk: Pick<Stage, 'databaseUrl'>): Promise<string | undefined> =>
  (await poolOf(desk)`select holder from heartbeat_senders where leased_until > now()`)[0]?.holder;

async function stage(silenceSeconds: number | null): Promise<Stage> {
  const venue = await startVenue();
  const databaseUrl = await createDeskDatabase();
  const env = {
    ...liveEnvironment(venue.url),
    ...{ DATABASE_URL: databaseUrl, MASTER_KEY: randomBytes(32).toString('hex') },
    ...{ RATE_LIMITS: 'off', LOG_LEVEL: 'fatal' },
  };
  const sender = await startProcess({ env });
  const owner = new Visitor(sender, `http://localhost:${sender.port}`);
  expect((await owner.register('Ada')).status).toBe(200);
  const [on, off] = [await traderAt(sender, venue, owner), await traderAt(sender, venue, owner)];
  await on.client.updateSettings({ silenceSeconds });
  await switchOn(owner, on);
  await expect.poll(() => holderOf({ databaseUrl }), { timeout: 30_000 }).toBeDefined();
  const other = await startProcess({ env });
  const there = (who: Trader): Trader => ({
    ...who,
    client: new BellwetherClient({ baseUrl: other.url, apiKey: who.apiKey }),
  });
  const [market] = (await openMarkets(on.client)) as [Market];
  return { venue, databaseUrl, sender, other, market, on: there(on), off: there(off) };
}

const place = async ({ market }: Stage, who: Trader, fields: object = {}) =>
  (await who.client.placeTrade(await liveOrder(who, market, { side: 'BUY', ...fields }))).orderId;

const openOf = ({ venue, on, off }: Stage) =>
  [on, off].map(({ funder }) => venue.exchange.openOrders(funder).map(({ orderId }) => orderId));

const signal = ({ child }: ServiceProcess, name: NodeJS.Signals) => kill(child.pid as number, name);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test.each<NodeJS.Signals>(['SIGKILL', 'SIGSTOP'])(
  'a sender that gets %s is replaced in time; without any replica the venue cancels',
  { timeout: 600_000 },
  async (death) => {
    const at = await stage(null);
    const { sender, other, on, off } = at;
    const [first, second] = [await place(at, on), await place(at, off)];
    const holder = await holderOf(at);
    signal(sender, death);
    await expect.poll(() => holderOf(at), { timeout: 30_000 }).not.toBeOneOf([undefined, holder]);
    await pause(RESTS_MS);
    expect(openOf(at)).toEqual([[first], [second]]);

    signal(other, 'SIGSTOP');
    await expect.poll(() => openOf(at), { timeout: CANCELED_MS }).toEqual([[], [second]]);

    // Those that come back learn of it, and one of them keeps the key alive.
    if (death === 'SIGSTOP') signal(sender, 'SIGCONT');
    signal(other, 'SIGCONT');
    const statusOf = async () => (await on.client.getOrder(first)).status;
    await expect.poll(statusOf, { timeout: 60_000 }).toBe('canceled');
    const third = await place(at, on, { size: 11 });
    await expect.poll(() => holderOf(at), { timeout: 30_000 }).toBeDefined();
    await pause(RESTS_MS);
    expect(openOf(at)).toEqual([[third], [second]]);
  },
);

test('a silent agent: the venue cancels what was placed past the desk, too, and heartbeats begin again with a request', {
  timeout: 600_000,
}, async () => {
  const at = await stage(SILENCE_S);
  const { venue, market, on, off } = at;
  const past = (nth: number) => ({
    ...{ orderId: `0x${String(nth).repeat(64)}`, account: on.funder, conditionId: market.conditionId },
    ...({ outcome: 'YES', side: 'BUY', limit: 100, size: 20_000_000n } as const),
    ...({ timeInForce: 'GTC', postOnly: false } as const),
  });
  await venue.exchange.execute({ kind: 'place', order: past(1) });
  const [first, second] = [await place(at, on), await place(at, off)];
  // The desk cancels its own, the venue the other.
  await expect.poll(() => openOf(at), { timeout: SILENCE_S * 1_000 + CANCELED_MS }).toEqual([[], [second]]);
  expect(await on.client.getOrder(first)).toMatchObject({ status: 'canceled' });

  const isKeptAlive = async () =>
    (await poolOf(venue)`select 1 from exchange_heartbeats where address = ${on.funder}`).length > 0;
  expect(await isKeptAlive()).toBe(false);
  const calls = async () => {
    await on.client.getMe();
    return isKeptAlive();
  };
  await expect.poll(calls, { timeout: 30_000 }).toBe(true);
  await venue.exchange.execute({ kind: 'place', order: past(2) });
  for (let s = 0; s < RESTS_MS / 1_000; s += 1) {
    await on.client.getMe();
    await pause(1_000);
  }
  expect(openOf(at)).toEqual([[past(2).orderId], [second]]);
});
