/** Pauses, claims, revoked keys and moved wallets in the middle of a group of trades. */
import { openPool, type Sql } from '@bellwether/durable';
import { linkSignersWallet, type Market, orderIdOf, type TradeRequest } from '@bellwether/sdk';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  aMarket,
  call,
  longLeases,
  newAgent,
  newTrader,
  type RawAnswer,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { Visitor } from '../passkey.ts';
import { createDeskDatabase } from '../postgres.ts';
import { afterFile } from '../setup/clean-up.ts';
import { type Held, type SteppingProxy, startSteppingProxy } from '../stepping-proxy.ts';

let proxy: SteppingProxy;
let sql: Sql;
let service: TestService;
let market: Market;
let subjects: Subjects;

/** One agent for each kind of change. */
interface Subjects {
  readonly paused: Trader;
  readonly pausedByOwner: Trader;
  readonly revoked: Trader;
  readonly claimed: Trader;
  readonly unregistered: Trader;
  readonly moved: Trader;
}
const KINDS = ['paused', 'pausedByOwner', 'revoked', 'claimed', 'unregistered', 'moved'] as const;

beforeAll(async () => {
  // The journal is held for as long as six trades and their changes take to arrive.
  longLeases();
  const databaseUrl = await createDeskDatabase();
  proxy = await startSteppingProxy(databaseUrl);
  sql = openPool(databaseUrl, { max: 1 });
  afterFile('pools', () => sql.end({ timeout: 1 }));
  service = await startTestService({ PAPER_WORLD: 'off', DATABASE_URL: proxy.url });
  market = await aMarket((await newTrader(service)).client);
});

const newOwner = async (): Promise<Visitor> => {
  const owner = new Visitor(service);
  expect((await owner.register('Ada')).status).toBe(200);
  return owner;
};
const claim = async (owner: Visitor, { client }: Trader): Promise<RawAnswer> => {
  const claimCode = (await client.getMe()).claimCode as string;
  return (await owner.send('POST', '/owner/claim', { claimCode })) as RawAnswer;
};

/** Everything that the changes need beforehand, so that they are one request each. */
let changes: Readonly<Record<(typeof KINDS)[number], () => Promise<unknown>>>;

beforeEach(async () => {
  const [paused, pausedByOwner, revoked, claimed, unregistered, moved] = (await Promise.all(
    KINDS.map(() => newTrader(service)),
  )) as [Trader, Trader, Trader, Trader, Trader, Trader];
  subjects = { paused, pausedByOwner, revoked, claimed, unregistered, moved };
  const guardian = await newOwner();
  expect((await claim(guardian, pausedByOwner)).status).toBe(200);
  const claimer = await newOwner();
  const claimCode = (await claimed.client.getMe()).claimCode as string;
  const spare = await revoked.client.createApiKey('spare');
  const thief = await newAgent(service);
  const ok = async (answer: Promise<{ readonly status: number }>): Promise<void> => {
    expect((await answer).status).toBe(200);
  };
  changes = {
    paused: () => paused.client.updateSettings({ tradingPaused: true }),
    pausedByOwner: () =>
      ok(guardian.send('POST', `/owner/agents/${pausedByOwner.agentId}/pause`, { paused: true })),
    revoked: () => ok(call(service, 'DELETE', `/agents/api-key/${spare.id}`, { key: revoked.apiKey })),
    claimed: () => ok(claimer.send('POST', '/owner/claim', { claimCode })),
    unregistered: () =>
      ok(
        call(service, 'POST', '/wallet/unlink', {
          key: unregistered.apiKey,
          body: { address: unregistered.funder },
        }),
      ),
    moved: () => linkSignersWallet({ client: thief.client, signer: moved.signer }),
  };
  Object.assign(subjects, { revoked: { ...revoked, apiKey: spare.apiKeyCode } });
});

const send = (trader: Trader, body: TradeRequest): Promise<RawAnswer> =>
  call(service, 'POST', '/markets/trade', { key: trader.apiKey, body });

interface Sent {
  readonly kind: (typeof KINDS)[number];
  readonly orderId: string;
  readonly answer: Promise<RawAnswer>;
}

async function sendAll(): Promise<Sent[]> {
  const requests = await Promise.all(KINDS.map((kind) => restingOrder(subjects[kind], market)));
  // Keys that were looked up, so that a trade waits for the journal alone.
  for (const kind of KINDS)
    expect((await call(service, 'GET', '/agents/settings', { key: subjects[kind].apiKey })).status).toBe(200);
  return KINDS.map((kind, i) => {
    const request = requests[i] as TradeRequest;
    return { kind, orderId: orderIdOf(request), answer: send(subjects[kind], request) };
  });
}

/** A first trade holds the journal, so that the others form the next group, which is held, too. */
async function holdAll(
  step: Parameters<SteppingProxy['holdAt']>[0]['step'],
): Promise<{ sent: Sent[]; group: Held }> {
  const first = await newTrader(service);
  const request = await restingOrder(first, market);
  const before = proxy.holdAt({ step: 'after it has read' });
  const opening = send(first, request);
  const { release } = await before;
  const sent = await sendAll();
  // Until all of them wait for their group.
  const underWay = new RegExp(`^bellwether_in_flight{what="trades"} ${sent.length + 1}$`, 'm');
  await expect.poll(async () => (await call(service, 'GET', '/metrics')).body).toMatch(underWay);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const held = proxy.holdAt({ step });
  release();
  expect(await opening).toMatchObject({ status: 201 });
  const group = await held;
  for (const { orderId } of sent) expect(group.ids).toContain(orderId);
  return { sent, group };
}

const ownersOf = async (wallet: string): Promise<readonly bigint[]> =>
  (await sql`select user_id from credentials where wallet_address = ${wallet}`).map(({ user_id }) => user_id);
const ownerOf = async (agentId: string): Promise<bigint> =>
  (await sql`select user_id from agents where agent_id = ${agentId}`)[0]?.user_id;

/** The answer to the next trade of each. */
const AFTERWARDS: Readonly<Record<(typeof KINDS)[number], object>> = {
  paused: { status: 403, body: { code: 'trading_paused' } },
  pausedByOwner: { status: 403, body: { code: 'trading_paused' } },
  revoked: { status: 401, body: { code: 'unauthorized' } },
  claimed: { status: 201, body: { success: true } },
  unregistered: { status: 403, body: { code: 'credentials_not_registered' } },
  moved: { status: 403, body: { code: 'credentials_not_registered' } },
};

async function expectAfterwards(): Promise<void> {
  for (const kind of KINDS) {
    const answer = await send(subjects[kind], await restingOrder(subjects[kind], market));
    expect({ kind, ...answer }).toMatchObject({ kind, ...AFTERWARDS[kind] });
  }
}

describe('changes in the middle of a group', () => {
  test('acknowledged before the group has read: they refuse its trades', async () => {
    const { sent, group } = await holdAll('before it has locked and read');
    // Nothing is locked yet. The move also cancels orders at the venue, whose journal is held.
    const moving = changes.moved();
    await Promise.all(KINDS.filter((kind) => kind !== 'moved').map((kind) => changes[kind]()));
    const left = () => ownersOf(subjects.moved.funder);
    await expect.poll(left).not.toContain(await ownerOf(subjects.moved.agentId));
    group.release();
    await moving;
    for (const { kind, orderId, answer } of sent) {
      expect({ kind, ...(await answer) }).toMatchObject({ kind, ...AFTERWARDS[kind] });
      const row = await service.needs.orders.byId(subjects[kind].agentId, orderId);
      expect({ kind, is: row !== null }).toEqual({ kind, is: kind === 'claimed' });
    }
    await expectAfterwards();
  });

  test.each(['after it has read', 'with its commit on its way'] as const)(
    '%s: its trades count, the changes follow, and the next trades are refused',
    async (step) => {
      const { sent, group } = await holdAll(step);
      const changing = KINDS.map((kind) => changes[kind]());
      await new Promise((resolve) => setTimeout(resolve, 200));
      group.release();
      await Promise.all(changing);
      for (const { kind, answer } of sent)
        expect({ kind, ...(await answer) }).toMatchObject({ kind, status: 201, body: { success: true } });
      await expectAfterwards();
      // An owner takes the orders along, also the one that was on its way.
      const { claimed, moved } = subjects;
      const { userId } = (await service.needs.agents.byId(claimed.agentId)) ?? {};
      const orders = await service.needs.orders.open(claimed.agentId, { limit: 10, offset: 0 });
      expect(orders.orders.map((order) => order.userId)).toEqual([userId, userId]);
      // A wallet leaves none behind that could still spend its money.
      expect(service.exchange.openOrders(moved.funder)).toEqual([]);
      expect(service.exchange.status).toBe('open');
    },
  );
});
