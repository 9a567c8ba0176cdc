/** Owners over HTTP: passkeys and sessions, the claim and what moves with it, locks and pauses that a key cannot undo. */
import { createVenueCredentials, credentialRequest } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../packages/server/src/platform/database/connection.ts';
import { ownerOf } from '../approving.ts';
import {
  aMarket,
  limitOrder,
  newAgent,
  newTrader,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { Visitor } from '../passkey.ts';

let service: TestService;
let now = Date.now();

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock: { now: () => now } });
});

const codeOf = async (agent: Pick<Trader, 'client'>): Promise<string> =>
  (await agent.client.getMe()).claimCode as string;

const newOwner = async (name = 'Ada'): Promise<Visitor> => {
  const visitor = new Visitor(service);
  expect((await visitor.register(name)).status).toBe(200);
  return visitor;
};

const setLimits = (owner: Visitor, agentId: string, change: unknown) =>
  owner.send('POST', `/owner/agents/${agentId}/safeguards`, change);
const pause = (owner: Visitor, agentId: string, paused: boolean) =>
  owner.send('POST', `/owner/agents/${agentId}/pause`, { paused });
const settings = (agent: Pick<Trader, 'post'>, body: unknown) => agent.post('/agents/settings', body);

/** Name and value first, then the attributes, whose order has no meaning. */
const attributesOf = (setCookie: string | null | undefined): string[] => {
  const [pair = '', ...attributes] = (setCookie ?? '').split('; ');
  return [pair, ...attributes.sort()];
};

describe('passkeys and sessions', () => {
  test('a new owner registers, signs out, and signs in again with the same passkey', async () => {
    const ada = new Visitor(service);
    const registered = await ada.register('Ada');
    expect(registered.body).toEqual({
      ...{ signedIn: true, userId: expect.stringMatching(/^\d+$/), name: 'Ada' },
      ...{ canRecover: false, recovery: null },
    });
    expect(attributesOf(ada.lastSetCookie)).toEqual([
      expect.stringMatching(/^bw_owner=[\w-]{43}$/),
      'HttpOnly',
      'Max-Age=43200',
      'Path=/',
      'SameSite=Strict',
    ]);
    expect((await ada.send('POST', '/owner/sign-out')).body.signedIn).toBe(false);
    expect((await ada.send('GET', '/owner/session')).body.signedIn).toBe(false);
    const again = await ada.signIn();
    expect(again.body).toEqual(registered.body);
    expect((await ada.send('GET', '/owner/session')).body).toEqual(registered.body);
  });

  test('a session ends at sign-out, or after half a day', async () => {
    const ada = await newOwner();
    const old = ada.cookie as string;
    await ada.send('POST', '/owner/sign-out');
    ada.cookie = old;
    expect((await ada.send('GET', '/owner/agents')).body.code).toBe('owner_session_required');
    await ada.signIn();
    expect((await ada.send('GET', '/owner/agents')).status).toBe(200);
    now += 12 * 3_600_000 + 1;
    expect((await ada.send('GET', '/owner/agents')).status).toBe(401);
  });

  test('a challenge is valid once, for five minutes', async () => {
    const ada = await newOwner();
    const { body } = await ada.send('POST', '/owner/passkey/sign-in-options');
    const answer = ada.signature(body.challenge);
    expect((await ada.send('POST', '/owner/passkey/sign-in', answer)).status).toBe(200);
    const twice = await ada.send('POST', '/owner/passkey/sign-in', answer);
    expect([twice.status, twice.body.code]).toEqual([400, 'passkey_challenge_expired']);

    const late = await ada.send('POST', '/owner/passkey/sign-in-options');
    now += 5 * 60_000 + 1;
    const tooLate = await ada.send('POST', '/owner/passkey/sign-in', ada.signature(late.body.challenge));
    expect(tooLate.body.code).toBe('passkey_challenge_expired');

    // A challenge for one purpose is refused for the other.
    const other = await ada.send('POST', '/owner/passkey/sign-in-options');
    const mixed = await ada.send('POST', '/owner/passkey/register', ada.registration(other.body.challenge));
    expect(mixed.body.code).toBe('passkey_challenge_expired');
  });

  test('refuses another key, another site, an unverified user, an unknown passkey, a known passkey', async () => {
    const ada = await newOwner();
    const challenge = async () =>
      (await ada.send('POST', '/owner/passkey/sign-in-options')).body.challenge as string;
    const refused = async (answer: unknown, path = '/owner/passkey/sign-in') => {
      const { status, body } = await ada.send('POST', path, answer);
      expect([status, body.code]).toEqual([400, 'passkey_rejected']);
    };

    const forger = new Visitor(service);
    const forged = forger.signature(await challenge());
    await refused({ response: { ...forged.response, id: ada.signature('x').response.id } });
    await refused(forger.signature(await challenge()));

    const elsewhere = new Visitor(service, 'https://evil.example');
    elsewhere.passkey = ada.passkey;
    await refused(elsewhere.signature(await challenge()));
    await refused(ada.signature(await challenge(), 0x01));

    const options = await ada.send('POST', '/owner/passkey/register-options', { name: 'Ada again' });
    await refused(ada.registration(options.body.challenge), '/owner/passkey/register');
    await refused({
      response: { ...forged.response, response: { ...forged.response.response, clientDataJSON: 'AAAA' } },
    });
  });

  test('changes are accepted from our own pages only', async () => {
    const agent = await newAgent(service);
    const owner = await ownerOf(service, agent);
    for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }]) {
      const { status, body } = await owner.send(
        'POST',
        `/owner/agents/${agent.agentId}/pause`,
        { paused: true },
        headers,
      );
      expect([status, body.code]).toEqual([403, 'origin_not_allowed']);
    }
    const form = await owner.send('POST', '/owner/claim', 'claimCode=x', {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(form.status).toBe(415);
    expect((await agent.client.getSettings()).tradingPaused).toBe(false);
  });

  test('behind https the cookie is sent over https only', async () => {
    const secure = await startTestService({
      PAPER_WORLD: 'off',
      PUBLIC_URL: 'https://desk.example/api',
      BASE_PATH: '/api',
    });
    const ada = new Visitor(secure);
    expect(ada.origin).toBe('https://desk.example');
    expect((await ada.register('Ada')).status).toBe(200);
    expect(attributesOf(ada.lastSetCookie)).toEqual([
      expect.stringMatching(/^__Host-bw_owner=[\w-]{43}$/),
      'HttpOnly',
      'Max-Age=43200',
      'Path=/',
      'SameSite=Strict',
      'Secure',
    ]);
  });
});

describe('the claim', () => {
  test('binds the agent in /agents/me, look-up and the owner’s list; a second person is refused', async () => {
    const agent = await newAgent(service, 'Claimed agent');
    const before = await agent.client.getMe();
    const code = before.claimCode as string;
    const owner = await newOwner('Grace');
    const answer = await owner.send('POST', '/owner/claim', { claimCode: code.toLowerCase() });
    expect(answer.body).toMatchObject({ agentId: agent.agentId, name: 'Claimed agent' });

    const me = await agent.client.getMe();
    const session = await owner.send('GET', '/owner/session');
    expect(me).toMatchObject({ claimed: true, claimCode: null, userId: session.body.userId });
    expect(me.userId).not.toBe(before.userId);
    expect(await agent.client.getClaim(code)).toMatchObject({
      claimCode: code,
      id: before.id,
      userId: me.userId,
    });
    expect((await owner.send('GET', '/owner/agents')).body).toHaveLength(1);

    const second = await newOwner('Eve');
    const refused = await second.send('POST', '/owner/claim', { claimCode: code });
    expect([refused.status, refused.body.code]).toEqual([409, 'agent_already_claimed']);
    expect((await agent.client.getMe()).userId).toBe(me.userId);
    // The same person may submit twice.
    expect((await owner.send('POST', '/owner/claim', { claimCode: code })).status).toBe(200);
    const unknown = await owner.send('POST', '/owner/claim', { claimCode: '00000-00000' });
    expect(unknown.body.code).toBe('claim_code_not_found');
  });

  test('of ten people at the same time, one becomes the owner', async () => {
    const agent = await newAgent(service);
    const claimCode = await codeOf(agent);
    const people = await Promise.all(Array.from({ length: 10 }, (_, i) => newOwner(`Person ${i}`)));
    const answers = await Promise.all(
      people.map((person) => person.send('POST', '/owner/claim', { claimCode })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === 'agent_already_claimed')).toHaveLength(9);
  });

  test('wallets, credentials and orders move, and each agent keeps its own reach', async () => {
    const first = await newTrader(service);
    const second = await newTrader(service);
    const market = await aMarket(first.client);
    const { orderId } = await first.client.placeTrade(await restingOrder(first, market));
    const owner = await newOwner();
    for (const agent of [first, second]) {
      const answer = await owner.send('POST', '/owner/claim', { claimCode: await codeOf(agent) });
      expect(answer.status).toBe(200);
    }
    const { userId } = (await owner.send('GET', '/owner/session')).body;
    for (const agent of [first, second]) expect((await agent.client.getMe()).userId).toBe(userId);

    // Each agent still trades with its own wallet, and neither reaches the other's.
    expect((await first.client.placeTrade(await restingOrder(first, market))).userId).toBe(userId);
    expect((await second.client.checkCredentials(first.signer.address)).hasCredentials).toBe(false);
    expect((await second.client.cancelAll()).totalCanceled).toBe(0);
    expect((await first.client.getOrder(orderId)).status).toBe('live');
    const granted = await owner.send('POST', `/owner/agents/${second.agentId}/wallets`, {
      walletAddress: first.funder,
      granted: true,
    });
    expect(granted.status).toBe(200);
    expect((await second.client.checkCredentials(first.signer.address)).hasCredentials).toBe(true);
    const canceled = await second.client.cancelAll();
    expect(canceled.totalCanceled).toBe(2);

    // The sealed credential can be opened as the new owner's.
    const sql = openPool(service.databaseUrl, { max: 1 });
    const rows = await sql`select * from credentials where user_id = ${BigInt(userId)}`;
    const left =
      await sql`select 1 from orders where user_id <> ${BigInt(userId)} and agent_id = ${first.agentId}`;
    await sql.end();
    expect(rows).toHaveLength(2);
    expect(left).toHaveLength(0);
    for (const row of rows) {
      const opened = service.needs.secrets.open(
        { keyId: row.key_id, bytes: row.sealed },
        `credentials/${userId}/${row.wallet_address}`,
      );
      expect(JSON.parse(opened)).toHaveProperty('passphrase');
    }
  });

  test('every table that names an owner names it in a column that the claim moves', async () => {
    const sql = openPool(service.databaseUrl, { max: 1 });
    const named = await sql`select table_name, column_name from information_schema.columns
      where table_schema = 'public' and column_name like '%user_id%' and column_name <> 'user_id'`;
    await sql.end();
    // merge_owner moves every "user_id"; a column of another name would be forgotten.
    expect(named).toEqual([]);
  });

  test('during trading: no trade is lost, refused or left with the former owner', async () => {
    const agent = await newTrader(service);
    const market = await aMarket(agent.client);
    const claimCode = await codeOf(agent);
    const owner = await newOwner();
    const requests = await Promise.all(Array.from({ length: 40 }, () => restingOrder(agent, market, 6)));
    const trades = Promise.all(requests.map((request) => agent.client.placeTrade(request)));
    const claim = owner.send('POST', '/owner/claim', { claimCode });
    expect((await claim).status).toBe(200);
    expect((await trades).every(({ success }) => success)).toBe(true);
    const { userId } = (await owner.send('GET', '/owner/session')).body;
    const sql = openPool(service.databaseUrl, { max: 1 });
    const [row] = await sql`select count(*)::int as count from orders
      where agent_id = ${agent.agentId} and user_id = ${BigInt(userId)}`;
    await sql.end();
    expect(row?.count).toBe(40);
  });
});

describe('locks', () => {
  test('the agent may set values below a lock, never above; every locked field is named', async () => {
    const agent = await newAgent(service);
    const owner = await ownerOf(service, agent);
    const answer = await setLimits(owner, agent.agentId, {
      maxTradeAmount: { limit: 20, locked: true },
      maxTradesPerDay: { limit: 5, locked: true },
      maxPositionValue: { limit: 40, locked: true },
    });
    expect(answer.body.settings).toMatchObject({
      maxTradeAmount: 20,
      maxTradesPerDay: 5,
      maxPositionValue: 40,
    });
    expect((await agent.client.getSettings()).lockedByOwner).toEqual({
      maxTradeAmount: 20,
      maxTradesPerDay: 5,
      maxPositionValue: 40,
    });

    const { status, body } = await settings(agent, {
      maxTradeAmount: 20.000001,
      maxTradesPerDay: 6,
      maxPositionValue: null,
      tradeLimitEnabled: false,
      dailyTradeAmountLimit: 1,
    });
    expect([status, body.code]).toEqual([403, 'locked_by_owner']);
    expect(body.errors.map(({ path }: { path: string }) => path)).toEqual([
      'maxTradesPerDay',
      'maxTradeAmount',
      'maxPositionValue',
      'tradeLimitEnabled',
    ]);
    // All or nothing: the field that was not locked did not change either.
    expect((await agent.client.getSettings()).dailyTradeAmountLimit).toBe(500);
    expect((await settings(agent, { maxTradeAmount: 10, maxTradesPerDay: 5 })).status).toBe(200);
    expect((await settings(agent, { maxTradeAmount: 20 })).status).toBe(200);
  });

  test('locking a cap enables the caps permanently', async () => {
    const agent = await newAgent(service);
    await agent.client.updateSettings({ tradeLimitEnabled: false });
    const owner = await ownerOf(service, agent);
    const refused = await setLimits(owner, agent.agentId, {
      maxTradeAmount: { limit: 20, locked: true },
      tradeLimitEnabled: { limit: false, locked: false },
    });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request']);
    await setLimits(owner, agent.agentId, { maxTradeAmount: { limit: 20, locked: true } });
    expect((await agent.client.getSettings()).tradeLimitEnabled).toBe(true);
    expect((await settings(agent, { tradeLimitEnabled: false })).status).toBe(403);

    await setLimits(owner, agent.agentId, { maxTradeAmount: { limit: 20, locked: false } });
    expect((await agent.client.getSettings()).lockedByOwner).toEqual({});
    expect((await settings(agent, { tradeLimitEnabled: false, maxTradeAmount: 50 })).status).toBe(200);
    await setLimits(owner, agent.agentId, { tradeLimitEnabled: { limit: true, locked: true } });
    expect((await settings(agent, { tradeLimitEnabled: false })).body.code).toBe('locked_by_owner');
  });

  test('settings that cannot be locked are refused', async () => {
    const agent = await newAgent(service);
    const owner = await ownerOf(service, agent);
    const none = await setLimits(owner, agent.agentId, { dailyLossLimit: { limit: null, locked: true } });
    expect(none.body).toMatchObject({ code: 'invalid_request', errors: [{ path: 'dailyLossLimit.locked' }] });
    const fine = await setLimits(owner, agent.agentId, {
      maxTradeAmount: { limit: 0.0000001, locked: true },
    });
    expect(fine.status).toBe(400);
    const unknown = await setLimits(owner, agent.agentId, { maxTrades: { limit: 1, locked: true } });
    expect(unknown.status).toBe(400);
  });

  test('a lock applies to the very next trade, and to simultaneous attempts to raise the cap', async () => {
    const agent = await newTrader(service);
    const owner = await ownerOf(service, agent);
    const market = await aMarket(agent.client);
    const raises = Array.from({ length: 20 }, () => settings(agent, { maxTradeAmount: 90_000 }));
    await setLimits(owner, agent.agentId, { maxTradeAmount: { limit: 2, locked: true } });
    await Promise.all(raises);
    expect((await agent.client.getSettings()).maxTradeAmount).toBeLessThanOrEqual(2);
    const order = await limitOrder(agent, market, { side: 'BUY', price: '0.1', size: 30 });
    await expect(agent.client.placeTrade(order)).rejects.toMatchObject({ code: 'max_trade_amount_exceeded' });
  });

  test('other people’s agents and unclaimed ones are not found', async () => {
    const agent = await newAgent(service);
    await ownerOf(service, agent);
    const unclaimed = await newAgent(service);
    const eve = await newOwner('Eve');
    for (const { agentId } of [agent, unclaimed]) {
      const { status, body } = await pause(eve, agentId, true);
      expect([status, body.code]).toEqual([404, 'agent_not_found']);
      expect((await setLimits(eve, agentId, {})).status).toBe(404);
    }
  });
});

describe('the owner’s pause', () => {
  test('applies from the next trade; the owner can lift it, the key cannot', async () => {
    const agent = await newTrader(service);
    const owner = await ownerOf(service, agent);
    const market = await aMarket(agent.client);
    const { orderId } = await agent.client.placeTrade(await restingOrder(agent, market));
    expect((await pause(owner, agent.agentId, true)).body.settings).toMatchObject({
      tradingPaused: true,
      pausedByOwner: true,
    });
    await expect(agent.client.placeTrade(await restingOrder(agent, market))).rejects.toMatchObject({
      status: 403,
      code: 'trading_paused',
      message: expect.stringContaining('owner'),
    });
    const lifted = await settings(agent, { tradingPaused: false });
    expect([lifted.status, lifted.body.code, lifted.body.errors[0].path]).toEqual([
      403,
      'locked_by_owner',
      'tradingPaused',
    ]);
    // Cancels are never blocked.
    expect((await agent.client.cancelOrder(orderId)).canceled).toEqual([orderId]);
    expect((await pause(owner, agent.agentId, false)).body.settings.tradingPaused).toBe(false);
    expect((await agent.client.placeTrade(await restingOrder(agent, market))).success).toBe(true);
  });

  test('a resume by the owner lifts the agent’s own pause, too', async () => {
    const agent = await newAgent(service);
    await agent.client.updateSettings({ tradingPaused: true });
    const owner = await ownerOf(service, agent);
    await pause(owner, agent.agentId, false);
    expect(await agent.client.getSettings()).toMatchObject({ tradingPaused: false, pausedByOwner: false });
  });
});

test('a wallet registered after the claim belongs to the owner', async () => {
  const agent = await newAgent(service);
  const owner = await ownerOf(service, agent);
  const credentials = await createVenueCredentials({
    clobUrl: `${service.url}/paper/clob`,
    signer: agent.signer,
  });
  await agent.client.registerCredentials(credentialRequest(agent.signer, credentials, 0));
  const { userId } = (await owner.send('GET', '/owner/session')).body;
  expect((await agent.client.getMe()).userId).toBe(userId);
  expect((await agent.client.checkCredentials()).hasCredentials).toBe(true);
});
