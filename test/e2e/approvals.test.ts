/** Trades above approvalAbove: they wait for the owner, who approves one order with the passkey, and nothing weaker. */
import { randomUUID } from 'node:crypto';
import { linkSignersWallet, type Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { approve, begin, claim, decline, ownerOf } from '../approving.ts';
import {
  aMarket,
  call,
  limitOrder,
  newAgent,
  newTrader,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { Visitor } from '../passkey.ts';

let service: TestService;
let market: Market;
let owner: Visitor;
/** The clock's offset; the service reads it. */
let later = 0;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock: { now: () => Date.now() + later } });
  market = await aMarket((await newTrader(service)).client);
  owner = await ownerOf(service);
});

/** An agent of the owner whose trades above ten wait. */
async function asking(above = 10): Promise<Trader> {
  const trader = await newTrader(service);
  await claim(owner, trader);
  await trader.client.updateSettings({ approvalAbove: above });
  return trader;
}

/** Twenty shares at 0.01 more than the best ask would cost more than ten. */
const bigOrder = (trader: Trader, size = 100, side: 'BUY' | 'SELL' = 'BUY') =>
  limitOrder(trader, market, {
    side,
    price: market.bestAsk as string,
    size,
    reasoning: 'the odds are wrong',
    source: 'sdk:test',
  });

type Order = Awaited<ReturnType<typeof bigOrder>>;
const post = (trader: Pick<Trader, 'post'>, body: unknown, path = '/markets/trade') =>
  trader.post(path, body);

async function ask(trader: Trader): Promise<{ order: Order; approvalId: string }> {
  const order = await bigOrder(trader);
  const { status, body } = await post(trader, order);
  expect({ status, code: body.code }).toEqual({ status: 403, code: 'approval_required' });
  return { order, approvalId: body.approvalId };
}

describe('a trade above the limit', () => {
  test('waits, reserves nothing, shows the owner what it is; approved, the same order trades', async () => {
    const trader = await asking();
    const { order, approvalId } = await ask(trader);
    expect((await trader.client.getMe()).tradesToday).toBe(0);
    const { body: shown } = await owner.send('GET', `/owner/approvals/${approvalId}`);
    expect(shown).toMatchObject({
      approvalId,
      agentId: trader.agentId,
      status: 'waiting',
      venue: 'polymarket',
      marketConditionId: market.conditionId,
      outcome: 'YES',
      side: 'BUY',
      orderSize: 100,
      price: Number(market.bestAsk),
      amount: Number(market.bestAsk) * 100,
      approvalAbove: 10,
      walletAddress: trader.funder,
      decidedAt: null,
      untrustedText: { reasoning: 'the odds are wrong', source: 'sdk:test' },
    });
    expect(shown.book).toMatchObject({ bestAsk: Number(market.bestAsk) });
    expect(shown.checks).toContainEqual(
      expect.objectContaining({ code: 'max_trade_amount_exceeded', passed: true, limit: 100_000 }),
    );
    expect(shown.checks.some(({ code }: { code: string }) => code === 'approval_required')).toBe(false);
    const { status, body } = await approve(owner, approvalId);
    expect({ status, state: body.status }).toEqual({ status: 200, state: 'approved' });
    expect(Date.parse(body.approvedUntil) - Date.parse(body.decidedAt)).toBe(600_000);
    const placed = await post(trader, order);
    expect({ status: placed.status, success: placed.body.success }).toEqual({ status: 201, success: true });
    expect((await trader.get(`/agents/approvals/${approvalId}`)).body.status).toBe('used');
    // A replay is the first answer, not another trade.
    expect((await post(trader, order)).body).toEqual(placed.body);
    expect((await trader.client.getMe()).tradesToday).toBe(1);
  });

  test('one at the limit needs none; selling what is held asks, too', async () => {
    const price = Number(market.bestAsk);
    const trader = await asking(price * 100);
    expect((await post(trader, await bigOrder(trader))).status).toBe(201);
    await trader.client.updateSettings({ approvalAbove: 0 });
    const sell = await limitOrder(trader, market, {
      side: 'SELL',
      price: market.bestBid as string,
      size: 10,
    });
    expect((await post(trader, sell)).body.code).toBe('approval_required');
  });

  test('the same order asks once; a changed one asks anew', async () => {
    const trader = await asking();
    const { order, approvalId } = await ask(trader);
    // One after the other: of twins that come together only one is placed; the others get a refusal.
    const again = [await post(trader, order), await post(trader, order)];
    const twins = await Promise.all([post(trader, order), post(trader, order), post(trader, order)]);
    again.push(...twins.filter(({ status }) => status !== 409));
    expect(new Set(again.map(({ body }) => body.approvalId))).toEqual(new Set([approvalId]));
    await approve(owner, approvalId);
    const other = await ask(trader);
    expect(other.approvalId).not.toBe(approvalId);
    expect(
      (await trader.get('/agents/approvals')).body.map(({ status }: { status: string }) => status),
    ).toEqual(['waiting', 'approved']);
  });

  test('what would be refused anyway asks for nothing', async () => {
    const trader = await asking();
    await trader.client.updateSettings({ maxTradeAmount: 5 });
    expect((await post(trader, await bigOrder(trader))).body.code).toBe('max_trade_amount_exceeded');
    await trader.client.updateSettings({ maxTradeAmount: 100_000 });
    expect((await post(trader, await bigOrder(trader, 99_000))).body.code).toBe('insufficient_balance');
    expect((await trader.get('/agents/approvals')).body).toEqual([]);
  });

  test('an approval passes no other check: a pause after it refuses the order', async () => {
    const trader = await asking();
    const { order, approvalId } = await ask(trader);
    await approve(owner, approvalId);
    await owner.send('POST', `/owner/agents/${trader.agentId}/pause`, { paused: true });
    expect((await post(trader, order)).body.code).toBe('trading_paused');
    await owner.send('POST', `/owner/agents/${trader.agentId}/pause`, { paused: false });
    expect((await post(trader, order)).status).toBe(201);
  });

  test('without an owner no person can be asked, and the answer says so', async () => {
    const trader = await newTrader(service);
    await trader.client.updateSettings({ approvalAbove: 10 });
    const { body } = await post(trader, await bigOrder(trader));
    expect(body).toMatchObject({ code: 'approval_required', fix: expect.stringContaining('claimUrl') });
    expect(body.approvalId).toBeUndefined();
    expect((await trader.get('/agents/approvals')).body).toEqual([]);
  });

  test('in a batch each order asks alone', async () => {
    const trader = await asking();
    const small = await bigOrder(trader, 5);
    const big = await bigOrder(trader);
    const { body } = await post(trader, { orders: [small, big] }, '/markets/batch-trade');
    expect(body.results[0].success).toBe(true);
    expect(body.results[1].problem).toMatchObject({
      code: 'approval_required',
      approvalId: expect.any(String),
    });
  });

  test('checking and preparing say that it would ask, and do not ask', async () => {
    const trader = await asking();
    const order = await bigOrder(trader);
    const checked = await post(trader, { ...order, validateOnly: true });
    expect({ status: checked.status, code: checked.body.code }).toEqual({
      status: 403,
      code: 'approval_required',
    });
    expect(checked.body.approvalId).toBeUndefined();
    const prepared = await trader.client.prepareTrade({
      marketId: market.id,
      outcome: 'YES',
      side: 'BUY',
      price: Number(market.bestAsk),
      size: 100,
      clientOrderId: 'one',
    } as never);
    expect(prepared.accepted).toBe(false);
    expect(prepared.checks.find(({ code }) => code === 'approval_required')).toMatchObject({
      passed: false,
      limit: 10,
    });
    expect((await trader.get('/agents/approvals')).body).toEqual([]);
    const { approvalId } = (await post(trader, order)).body;
    await approve(owner, approvalId);
    expect((await post(trader, { ...order, validateOnly: true })).body.status).toBe('validated');
  });
});

describe('who decides', () => {
  test('the session alone does not approve, nor the answer for something else', async () => {
    const trader = await asking();
    const { order, approvalId } = await ask(trader);
    const path = `/owner/approvals/${approvalId}/approve`;
    const codeOf = async (body: unknown) => (await owner.send('POST', path, body)).body.code;
    expect(await codeOf({})).toBe('invalid_request');
    // For a sign-in.
    const signIn = await owner.send('POST', '/owner/passkey/sign-in-options');
    expect(await codeOf(owner.signature(signIn.body.challenge))).toBe('passkey_challenge_expired');
    // For another approval.
    const other = await ask(trader);
    const theirs = await begin(owner, other.approvalId);
    expect(await codeOf(owner.signature(theirs.body.challenge))).toBe('passkey_challenge_expired');
    // Without the person.
    const unverified = await begin(owner, approvalId);
    expect(await codeOf(owner.signature(unverified.body.challenge, 0x01))).toBe('passkey_rejected');
    // The answer that approves does not sign anybody in, and works once.
    const own = await begin(owner, approvalId);
    const answer = owner.signature(own.body.challenge);
    expect((await owner.send('POST', '/owner/passkey/sign-in', answer)).body.code).toBe(
      'passkey_challenge_expired',
    );
    expect((await post(trader, order)).body).toMatchObject({ code: 'approval_required', approvalId });
  });

  test('another owner sees nothing and decides nothing, with a passkey of theirs neither', async () => {
    const trader = await asking();
    const { approvalId } = await ask(trader);
    const stranger = new Visitor(service);
    await stranger.register('Eve');
    const path = `/owner/approvals/${approvalId}`;
    expect((await stranger.send('GET', path)).body.code).toBe('approval_not_found');
    expect((await stranger.send('GET', '/owner/approvals')).body).toEqual([]);
    for (const agentId of [trader.agentId, randomUUID()]) {
      const { status, body } = await stranger.send('GET', `/owner/approvals?agentId=${agentId}`);
      expect({ status, code: body.code }).toEqual({ status: 404, code: 'agent_not_found' });
    }
    expect((await begin(stranger, approvalId)).body.code).toBe('approval_not_found');
    expect((await decline(stranger, approvalId)).body.code).toBe('approval_not_found');
    const { body } = await begin(owner, approvalId);
    expect(
      (await stranger.send('POST', `${path}/approve`, stranger.signature(body.challenge))).body.code,
    ).toBe('approval_not_found');
    // The owner's browser, a stranger's passkey.
    const again = await begin(owner, approvalId);
    expect(
      (await owner.send('POST', `${path}/approve`, stranger.signature(again.body.challenge))).body.code,
    ).toBe('passkey_rejected');
  });

  test("the agent's key opens none of the owner's routes, and another agent's key sees nothing", async () => {
    const trader = await asking();
    const { approvalId } = await ask(trader);
    for (const path of ['passkey-options', 'approve', 'decline'])
      expect((await post(trader, {}, `/owner/approvals/${approvalId}/${path}`)).status).toBe(401);
    const other = await newTrader(service);
    expect((await other.get(`/agents/approvals/${approvalId}`)).body.code).toBe('approval_not_found');
  });

  test('a session that ended in the middle decides nothing, and the next one can', async () => {
    const person = await ownerOf(service);
    const trader = await newTrader(service);
    await claim(person, trader);
    await trader.client.updateSettings({ approvalAbove: 10 });
    const { order, approvalId } = await ask(trader);
    const { body } = await begin(person, approvalId);
    const answer = person.signature(body.challenge);
    const { passkey } = person;
    await person.send('POST', '/owner/sign-out');
    const path = `/owner/approvals/${approvalId}/approve`;
    expect((await person.send('POST', path, answer)).body.code).toBe('owner_session_required');
    const back = Object.assign(new Visitor(service), { passkey });
    await back.signIn();
    expect((await approve(back, approvalId)).body.status).toBe('approved');
    expect((await post(trader, order)).status).toBe(201);
  });

  test('declined says so, with the reason, and stays so', async () => {
    const trader = await asking();
    const { order, approvalId } = await ask(trader);
    expect((await decline(owner, approvalId, 'too much')).body).toMatchObject({ status: 'declined' });
    expect((await post(trader, order)).body).toMatchObject({
      code: 'approval_required',
      context: { approvalStatus: 'declined' },
      approvalId,
      detail: expect.stringContaining('too much'),
    });
    expect((await decline(owner, approvalId)).body.status).toBe('declined');
    expect((await approve(owner, approvalId)).body.code).toBe('approval_gone');
  });

  test('twice the same is once; two that decide at once leave one decision', async () => {
    const trader = await asking();
    const { approvalId } = await ask(trader);
    const options = await Promise.all([begin(owner, approvalId), begin(owner, approvalId)]);
    const path = `/owner/approvals/${approvalId}/approve`;
    const answers = await Promise.all([
      ...options.map(({ body }) => owner.send('POST', path, owner.signature(body.challenge))),
      decline(owner, approvalId),
    ]);
    const { body: now } = await owner.send('GET', `/owner/approvals/${approvalId}`);
    expect(['approved', 'declined']).toContain(now.status);
    for (const { status, body } of answers)
      expect(status === 200 ? body.status : body.code).toBe(status === 200 ? now.status : 'approval_gone');
    const last = (await approve(owner, approvalId)).body;
    expect(last.code ?? last.status).toBe(now.status === 'approved' ? 'approved' : 'approval_gone');
  });

  test('locked, the agent can only lower it; the lock goes with the wallet, and no other owner approves beyond it', async () => {
    const former = await newTrader(service);
    await claim(owner, former);
    await owner.send('POST', `/owner/agents/${former.agentId}/safeguards`, {
      approvalAbove: { limit: 10, locked: true },
    });
    for (const approvalAbove of [11, null]) {
      const change = await post(former, { approvalAbove }, '/agents/settings');
      expect(change.body.code).toBe('locked_by_owner');
    }
    expect((await former.client.updateSettings({ approvalAbove: 9 })).approvalAbove).toBe(9);
    const fresh = { ...(await newAgent(service)), signer: former.signer };
    const other = new Visitor(service);
    await other.register('Eve');
    await claim(other, fresh);
    await linkSignersWallet({ client: fresh.client, signer: former.signer, signatureType: 0 });
    const trader: Trader = { ...fresh, signatureType: 0, funder: former.funder };
    const { body } = await post(trader, await bigOrder(trader));
    expect(body).toMatchObject({
      code: 'approval_required',
      detail: expect.stringContaining('had this wallet before'),
    });
    expect(body.approvalId).toBeUndefined();
    expect((await other.send('GET', '/owner/approvals')).body).toEqual([]);
  });

  test('two replicas decide and place the same at once: one decision, one order', async () => {
    const replica = () =>
      startTestService({
        PAPER_WORLD: 'off',
        DATABASE_URL: service.databaseUrl,
        MASTER_KEY: service.masterKey,
      });
    const trader = await asking();
    const { order, approvalId } = await ask(trader);
    const second = await replica();
    const there = Object.assign(new Visitor(second), { passkey: owner.passkey });
    await there.signIn();
    const both = await Promise.all([approve(owner, approvalId), approve(there, approvalId)]);
    expect(both.map(({ body }) => body.status)).toContain('approved');
    expect((await owner.send('GET', `/owner/approvals/${approvalId}`)).body.status).toBe('approved');
    const [here, elsewhere] = await Promise.all(
      [service, second].map((one) =>
        call(one, 'POST', '/markets/trade', { key: trader.apiKey, body: order }),
      ),
    );
    // One places it; the other may get the answer that this is under way.
    const placed = [here, elsewhere].find((answer) => answer?.status === 201);
    for (const answer of [here, elsewhere])
      expect([201, 'idempotency_in_flight']).toContain(answer?.body.code ?? answer?.status);
    const orderAt = async (one: TestService) =>
      (await call(one, 'POST', '/markets/trade', { key: trader.apiKey, body: order })).body.orderId;
    for (const one of [service, second])
      await expect.poll(() => orderAt(one)).toBe(placed?.body.orderId ?? 'the order of one of them');
    expect((await trader.client.getMe()).tradesToday).toBe(1);
    await second.stop();
  });
});

describe('time and bounds', () => {
  test('an approval that comes too late, and one that is used too late', async () => {
    const trader = await asking();
    const { order, approvalId } = await ask(trader);
    const { body } = await begin(owner, approvalId);
    try {
      later = 24 * 3_600_000 + 1_000;
      const back = Object.assign(new Visitor(service), { passkey: owner.passkey });
      await back.signIn();
      const path = `/owner/approvals/${approvalId}/approve`;
      expect((await back.send('POST', path, back.signature(body.challenge))).body.code).toBe('approval_gone');
      const asked = await post(trader, order);
      expect(asked.body.code).toBe('approval_required');
      expect(asked.body.approvalId).not.toBe(approvalId);
      expect((await approve(back, asked.body.approvalId)).body.status).toBe('approved');
      later += 10 * 60_000 + 1_000;
      const late = await post(trader, order);
      expect(late.body.code).toBe('approval_required');
      expect(late.body.approvalId).not.toBe(asked.body.approvalId);
    } finally {
      later = 0;
    }
  });

  test.each([-1, '5', 2_000_000, {}])('%j is no value for it', async (approvalAbove) => {
    const { status, body } = await post(await newTrader(service), { approvalAbove }, '/agents/settings');
    expect({ status, path: body.errors[0].path }).toEqual({ status: 400, path: 'approvalAbove' });
  });

  test('misspelt, it is refused', async () => {
    expect((await post(await newTrader(service), { aprovalAbove: 5 }, '/agents/settings')).status).toBe(400);
  });
});

describe('who gets events', () => {
  test('events when it is asked and when it is decided; the briefing lists what waits', async () => {
    const trader = await asking();
    const reported: { readonly type: string; readonly data: { readonly status?: string } }[] = [];
    const ready = Promise.withResolvers<void>();
    const ending = new AbortController();
    const reading = (async () => {
      for await (const event of trader.client.events({ signal: ending.signal })) {
        if (event.type === 'ready') ready.resolve();
        if (event.type.startsWith('approval.')) reported.push(event as never);
        if (reported.length === 2) break;
      }
    })();
    await ready.promise;
    const webhook = { url: 'https://hooks.example.com/approvals', events: ['approval.*'] };
    const { id } = (await post(trader, webhook, '/webhooks')).body;
    const { approvalId } = await ask(trader);
    const briefing = (await trader.get('/markets/briefing')).body;
    expect(briefing.approvals).toEqual([expect.objectContaining({ approvalId, status: 'waiting' })]);
    await approve(owner, approvalId);
    expect((await trader.get('/markets/briefing')).body.approvals).toEqual([
      expect.objectContaining({ approvalId, status: 'approved' }),
    ]);
    await reading;
    ending.abort();
    await expect
      .poll(async () =>
        (await trader.get(`/webhooks/${id}/deliveries`)).body
          .map(({ event }: { event: { type: string } }) => event.type)
          .toSorted(),
      )
      .toEqual(['approval.asked', 'approval.decided']);
    expect(reported.map(({ type, data }) => [type, data.status])).toEqual([
      ['approval.asked', 'waiting'],
      ['approval.decided', 'approved'],
    ]);
  });
});
