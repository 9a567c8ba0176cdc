/**
 * Agents that are killed or frozen, a leader that dies meanwhile, and a venue that is away: what rests of a silent agent is canceled
 * once, nothing of another agent is, its owner sees it, and an agent that comes back trades again.
 */
import { randomBytes } from 'node:crypto';
import {
  BellwetherClient,
  createVenueCredentials,
  credentialRequest,
  type Market,
  Signer,
} from '@bellwether/sdk';
import { expect, test } from 'vitest';
import { type AgentProcess, startAgent } from '../agent-process.ts';
import { claim } from '../approving.ts';
import { aMarket, newAgent, openMarkets, restingOrder, type Trader } from '../harness.ts';
import { type LiveVenue, PROFILE, poolOf, startVenue } from '../live-desk.ts';
import { liveEnvironment } from '../live-environment.ts';
import { Visitor } from '../passkey.ts';
import { createDeskDatabase } from '../postgres.ts';
import { aSandboxMarket } from '../sandbox.ts';
import { kill, type ServiceProcess, startProcess } from '../service-process.ts';
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts';

const SILENCE_S = 30;
/** Eight seconds are promised on an idle machine (docs/decisions/exits-and-silence.md); a busy one, and a takeover, get more. */
const LATEST_MS = 40_000;
const FUNDS = 1_000_000_000n;
const SIZES = [10, 11, 12] as const;
const NOTHING = Buffer.alloc(0);
const CAUSE = 'canceled by the desk: the agent had made no request for silenceSeconds';

interface Stage {
  readonly databaseUrl: string;
  readonly leader: ServiceProcess;
  /** It lives through the test. */
  readonly other: ServiceProcess;
  /** `undefined` on paper. */
  readonly venue?: LiveVenue;
}

async function twoReplicas(env: Record<string, string>, venue?: LiveVenue): Promise<Stage> {
  const databaseUrl = await createDeskDatabase();
  const shared = { DATABASE_URL: databaseUrl, MASTER_KEY: randomBytes(32).toString('hex') };
  const settings = { ...shared, RATE_LIMITS: 'off', LOG_LEVEL: 'fatal', PAPER_WORLD: 'off', ...env };
  const leader = await startProcess({ env: settings });
  const other = await startProcess({ env: settings });
  return { databaseUrl, leader, other, ...(venue === undefined ? {} : { venue }) };
}

interface Keyed extends Trader {
  readonly privateKey: string;
}

/** An agent of the owner at the replica that lives, with a wallet of its own. */
async function agentOf(
  { other, venue }: Stage,
  owner: Visitor,
  silenceSeconds: number | null,
): Promise<Keyed> {
  const privateKey = randomBytes(32).toString('hex');
  const signer = Signer.fromPrivateKey(privateKey, { use: 'paper' });
  const agent = { ...(await newAgent(other)), signer };
  await claim(owner, agent);
  const credentials = await createVenueCredentials({
    clobUrl: `${venue?.url ?? other.url}/paper/clob`,
    signer,
  });
  await agent.client.registerCredentials(credentialRequest(signer, credentials));
  const funder = signer.address.toLowerCase();
  await venue?.exchange.execute({ kind: 'deposit', account: funder, amount: FUNDS, reason: 'faucet' });
  await agent.client.updateSettings({ silenceSeconds });
  return { ...agent, funder, signatureType: 0, privateKey };
}

async function ownerAt(process: ServiceProcess): Promise<Visitor> {
  const owner = new Visitor(process, `http://localhost:${process.port}`);
  expect((await owner.register('Ada')).status).toBe(200);
  return owner;
}

const started = ({ other, venue }: Stage, agent: Keyed, market: Market, more: object = {}) =>
  startAgent({
    ...{ url: other.url, apiKey: agent.apiKey, privateKey: agent.privateKey, market, sizes: SIZES },
    ...(venue === undefined ? {} : { profile: PROFILE }),
    ...more,
  });

interface Standing {
  readonly id: string;
  readonly status: string;
  readonly cause: string | null;
  readonly ends: number;
  /** When it was canceled. */
  readonly endedAt: number | null;
}

/** Read past the API: a request would be a sign of life. Each end is logged once for all subscribers. */
async function standings({ databaseUrl }: Stage, ids: readonly string[]): Promise<Standing[]> {
  const rows = await poolOf({ databaseUrl })`
    select o.order_id, o.status, o.cancel_cause, f.ends, f.ended_at from orders o
    cross join lateral (
      select count(*)::int as ends, extract(epoch from min(at)) * 1000 as ended_at from facts
      where kind = 'order' and subject = o.order_id and payload ->> 'status' = 'canceled') f
    where o.order_id = any(${ids as string[]}) order by o.order_id`;
  return rows.map((row) => ({
    ...{ id: row.order_id, status: row.status, cause: row.cancel_cause, ends: row.ends },
    endedAt: row.ended_at === null ? null : Math.round(Number(row.ended_at)),
  }));
}

const statuses = async (stage: Stage, ids: readonly string[]) =>
  (await standings(stage, ids)).map(({ status }) => status);

/** Its orders end, with their cause, not before its time is over. @returns milliseconds after that, of each */
async function canceledLate(stage: Stage, agent: AgentProcess): Promise<number[]> {
  await expect
    .poll(() => statuses(stage, agent.placed), { timeout: SILENCE_S * 1_000 + 2 * LATEST_MS })
    .toEqual(agent.placed.map(() => 'canceled'));
  const overAt = agent.lastCalledAt() + SILENCE_S * 1_000;
  const ended = await standings(stage, agent.placed);
  for (const one of ended) expect(one).toMatchObject({ cause: 'silence', ends: 1 });
  return ended.map(({ endedAt }) => Number(endedAt) - overAt);
}

/** The numbers are in the message of what fails. */
function expectInTime(late: readonly number[], latestMs = LATEST_MS): void {
  const all = `canceled ${late.join(', ')} ms after silenceSeconds`;
  expect(Math.min(...late), all).toBeGreaterThanOrEqual(0);
  expect(Math.max(...late), all).toBeLessThan(latestMs);
}

async function expectOnce({ other }: Stage, agent: Keyed, ids: readonly string[]): Promise<void> {
  const client = new BellwetherClient({ baseUrl: other.url, apiKey: agent.apiKey });
  for (const id of ids) {
    const { journal } = await client.getOrder(id);
    const ends = journal.filter(({ event }) => event === 'canceled');
    expect(ends).toEqual([expect.objectContaining({ detail: CAUSE })]);
  }
}

async function expectOwnerSees(owner: Visitor, agentId: string, orders: number): Promise<void> {
  const { alerts } = (await owner.send('GET', `/owner/agents/${agentId}`)).body;
  const message = expect.stringContaining(`${orders} open orders were`);
  expect(alerts).toContainEqual(expect.objectContaining({ code: 'agent_silent', message }));
}

test('killed and frozen agents lose what rests of them, once; others keep theirs', {
  timeout: 900_000,
}, async () => {
  const stage = await twoReplicas({ PAPER_B_FILL: 'never' });
  const { databaseUrl, other } = stage;
  const [owner, stranger] = [await ownerAt(other), await ownerAt(other)];
  const killed = await agentOf(stage, owner, SILENCE_S);
  const frozen = await agentOf(stage, owner, SILENCE_S);
  const living = await agentOf(stage, owner, SILENCE_S);
  const unset = await agentOf(stage, stranger, null);
  const market = await aMarket(killed.client);
  const ticker = (await aSandboxMarket(killed.client)).id;
  const kept = (await unset.client.placeTrade(await restingOrder(unset, market))).orderId;
  const one = await started(stage, killed, market, { ticker });
  const two = await started(stage, frozen, market);
  const three = await started(stage, living, market);
  one.kill();
  two.freeze();

  expectInTime([...(await canceledLate(stage, one)), ...(await canceledLate(stage, two))]);
  // As long as they are silent: to ask with their keys is a sign of life.
  await expectOwnerSees(owner, killed.agentId, SIZES.length + 1);
  await expectOwnerSees(owner, frozen.agentId, SIZES.length);
  await expectOnce(stage, killed, one.placed);
  await expectOnce(stage, frozen, two.placed);
  const untouched = await standings(stage, [...three.placed, kept]);
  for (const order of untouched) expect(order).toMatchObject({ status: 'live', cause: null });

  // What a chain has taken cannot be called back: it is asked for until it has ended, and does not pass for canceled.
  const [quoted] = await poolOf({ databaseUrl })`
    select o.status, o.cancel_cause, l.due_at > o.cancel_at as is_asked_again
    from orders o join late_orders l using (order_id) where o.order_id = ${one.quoted as string}`;
  expect(quoted).toEqual({ status: 'delayed', cancel_cause: 'silence', is_asked_again: true });

  two.thaw();
  await expect.poll(two.again).toBeDefined();
  const back = await started(stage, killed, market, { sizes: [13] });
  expect(await statuses(stage, [two.again() as string, ...back.placed])).toEqual(['live', 'live']);
  await expectOnce(stage, frozen, two.placed);
});

type Moment = 'while its time runs' | 'when its orders are handed over';

test.each<[NodeJS.Signals, Moment]>([
  ['SIGKILL', 'while its time runs'],
  ['SIGKILL', 'when its orders are handed over'],
  ['SIGSTOP', 'while its time runs'],
])('a leader that gets %s %s', { timeout: 900_000 }, async (signal, moment) => {
  const stage = await twoReplicas({});
  const owner = await ownerAt(stage.other);
  const [killed, living] = [await agentOf(stage, owner, SILENCE_S), await agentOf(stage, owner, SILENCE_S)];
  const market = await aMarket(killed.client);
  const one = await started(stage, killed, market);
  const two = await started(stage, living, market);
  one.kill();
  const strike = () => kill(stage.leader.child.pid as number, signal);
  const handedOver = async () => (await standings(stage, one.placed)).every(({ cause }) => cause !== null);
  const silentFor = (ms: number) =>
    expect.poll(() => Date.now() - one.lastCalledAt(), { timeout: 60_000 }).toBeGreaterThan(ms);
  await silentFor((SILENCE_S - 10) * 1_000);
  expect(await handedOver()).toBe(false);
  if (moment === 'when its orders are handed over') {
    await silentFor(SILENCE_S * 1_000);
    await expect.poll(handedOver, { timeout: 2 * LATEST_MS, interval: 5 }).toBe(true);
  }
  strike();

  expectInTime(await canceledLate(stage, one));
  if (signal === 'SIGSTOP') kill(stage.leader.child.pid as number, 'SIGCONT');
  await expectOwnerSees(owner, killed.agentId, SIZES.length);
  await expectOnce(stage, killed, one.placed);
  const untouched = await standings(stage, two.placed);
  for (const order of untouched) expect(order).toMatchObject({ status: 'live', cause: null });
  const back = await started(stage, killed, market, { sizes: [13] });
  expect(await statuses(stage, back.placed)).toEqual(['live']);
});

/** The network to a venue: nothing passes while it is away, and what was a cancel is counted. */
async function road(venue: LiveVenue) {
  const state = { isAway: false, losesNextCancel: false, cancels: 0, answersLost: 0 };
  const lost = { now: NOTHING, later: NOTHING, held: null };
  const proxy: TcpProxy = await startTcpProxy(
    { host: '127.0.0.1', port: Number(new URL(venue.url).port) },
    () => {
      let isCancel = false;
      return {
        fromClient: (bytes) => {
          isCancel = bytes.includes('DELETE /paper/clob/order');
          if (isCancel) state.cancels += 1;
          return state.isAway ? lost : null;
        },
        fromServer: () => {
          if (state.isAway) return lost;
          if (!isCancel || !state.losesNextCancel) return null;
          state.losesNextCancel = false;
          state.answersLost += 1;
          return lost;
        },
      };
    },
  );
  return { state, url: `http://127.0.0.1:${proxy.port}` };
}

test('a live venue that is away is asked until it gives the orders up, also by another replica', {
  timeout: 900_000,
}, async () => {
  const venue = await startVenue();
  const { state, url } = await road(venue);
  const stage = await twoReplicas(liveEnvironment(url), venue);
  const owner = await ownerAt(stage.other);
  const killed = await agentOf(stage, owner, SILENCE_S);
  const living = await agentOf(stage, owner, SILENCE_S);
  const [market] = (await openMarkets(killed.client)) as [Market];
  const one = await started(stage, killed, market);
  const two = await started(stage, living, market);
  one.kill();
  state.isAway = true;
  const open = () => venue.exchange.openOrders(killed.funder).length;
  await expect.poll(() => state.cancels, { timeout: 120_000 }).toBeGreaterThanOrEqual(2);
  // Asked again and again, and not believed to be canceled before the venue says so.
  expect(open()).toBe(SIZES.length);
  expect(await statuses(stage, one.placed)).toEqual(SIZES.map(() => 'live'));

  // Any replica goes on, also with what another one had begun.
  kill(stage.leader.child.pid as number, 'SIGKILL');
  const asked = state.cancels;
  await expect.poll(() => state.cancels, { timeout: 60_000 }).toBeGreaterThan(asked);
  state.losesNextCancel = true;
  state.isAway = false;
  const returnedAt = Date.now();
  const late = await canceledLate(stage, one);
  const sinceReturn = late.map((ms) => ms + one.lastCalledAt() + SILENCE_S * 1_000 - returnedAt);
  expectInTime(sinceReturn, 2 * LATEST_MS);
  // The venue did what it was asked, and its answer was lost.
  expect(state.answersLost).toBe(1);
  expect(state.cancels).toBeGreaterThan(asked);
  expect(open()).toBe(0);
  await expectOwnerSees(owner, killed.agentId, SIZES.length);
  await expectOnce(stage, killed, one.placed);
  expect(await statuses(stage, two.placed)).toEqual(SIZES.map(() => 'live'));
  expect(venue.exchange.openOrders(living.funder)).toHaveLength(SIZES.length);
  const back = await started(stage, killed, market, { sizes: [13] });
  expect(await statuses(stage, back.placed)).toEqual(['live']);
});
