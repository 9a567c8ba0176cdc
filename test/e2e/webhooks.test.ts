/** Webhooks over HTTP, with a receiver that is a real server: what is told, signed, repeated, held back, given up. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WEBHOOK_EVENTS } from '@bellwether/contract';
import {
  BellwetherApiError,
  buildMarketOrder,
  type Market,
  verifyWebhook,
  type WebhookEvent,
  WebhookSignatureError,
  WebhookTooOldError,
} from '@bellwether/sdk';
import { Check } from 'typebox/value';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPool } from '../../packages/server/src/adapters/postgres/connection.ts';
import { watchRisks } from '../../packages/server/src/app/watch-risks.ts';
import { readConfig } from '../../packages/server/src/config.ts';
import {
  call,
  newAgent,
  newTrader,
  openMarkets,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { endingMarkets, manualClock, resolveMarket } from '../world.ts';

interface Delivery {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: WebhookEvent;
}

const VENUE_SECRET = 'a secret shared with the venue';
let service: TestService;
let receiver: Server;
let hooks: string;
const got: Delivery[] = [];
/** Status for the nth delivery of a path, 1 being the first. */
let answerOf: (delivery: Delivery, nth: number) => number = () => 204;
let clockAhead = 0;
let markets: Market[];

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const delivery = { path: request.url ?? '', headers: request.headers, body, event: JSON.parse(body) };
      got.push(delivery);
      response.writeHead(answerOf(delivery, at(delivery.path).length)).end('taken');
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  hooks = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  service = await startTestService(
    {
      PAPER_WORLD: 'off',
      WEBHOOKS_ALLOW_LOOPBACK: 'on',
      WEBHOOK_INBOUND_SECRETS: `venue=${VENUE_SECRET.replaceAll(' ', '-')},signer=0123456789abcdef=`,
    },
    { clock: { now: () => Date.now() + clockAhead } },
  );
  const { client } = await newAgent(service);
  markets = await openMarkets(client);
});
afterAll(() => {
  receiver.closeAllConnections();
  receiver.close();
});
beforeEach(() => {
  answerOf = () => 204;
});

const at = (path: string) => got.filter((delivery) => delivery.path === path);
const types = (path: string) => at(path).map(({ event }) => event.type);

async function until<T>(look: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
  const end = Date.now() + 15_000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error('it did not happen');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
const refused = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'nothing',
    (error: unknown) => (error instanceof BellwetherApiError ? (error.code ?? '') : String(error)),
  );
let paths = 0;
const newPath = () => `/hook/${++paths}`;
const subscribe = async (agent: Pick<Trader, 'client'>, events: readonly string[], path = newPath()) => {
  const webhook = await agent.client.createWebhook({
    url: hooks + path,
    events: events as never,
  });
  return { ...webhook, path };
};
const buy = async (trader: Trader, market: Market, amount = 20) =>
  trader.client.placeTrade(
    await buildMarketOrder({
      signer: trader.signer,
      signatureType: trader.signatureType,
      market,
      outcome: 'YES',
      side: 'BUY',
      amount,
      worstPrice: 0.95,
    }),
  );

describe('what is told', () => {
  test('orders, fills and fees: signed, described by the contract, in their order', async () => {
    const trader = await newTrader(service);
    const { path, secret } = await subscribe(trader, ['*']);
    const [market] = markets as [Market];
    const placed = await buy(trader, market);
    const resting = await trader.client.placeTrade(await restingOrder(trader, market));
    await trader.client.cancelOrder(resting.orderId);
    await until(() => types(path).includes('order.canceled'));
    const told = types(path);
    expect(told[0]).toMatch(/^order\.(matched|filled)$/);
    expect(told.filter((type) => type === 'fill').length).toBeGreaterThan(0);
    expect(told.filter((type) => type === 'fee').length).toBeGreaterThan(0);
    expect(told.slice(-2)).toEqual(['order.live', 'order.canceled']);
    const ids = at(path).map(({ headers }) => Number(headers['x-delivery-id']));
    expect(ids).toEqual([...ids].sort((a, b) => a - b));

    for (const { body, headers, event } of at(path)) {
      expect(headers['x-signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'));
      const signature = String(headers['x-signature']);
      expect(verifyWebhook({ secret, body, signature })).toEqual(event);
      const sent = Date.parse(event.sentAt);
      expect(sent).toBe(Number(headers['x-timestamp']));
      expect(verifyWebhook({ secret, body, signature, now: sent + 300_000 })).toEqual(event);
      for (const now of [sent + 300_001, sent - 300_001])
        expect(() => verifyWebhook({ secret, body, signature, now })).toThrow(WebhookTooOldError);
      expect(() =>
        verifyWebhook({ secret, body: `${body} `, signature: String(headers['x-signature']) }),
      ).toThrow(WebhookSignatureError);
      expect(headers).toMatchObject({
        'x-event-id': event.id,
        'x-event-type': event.type,
        'x-delivery-attempt': '1',
        'content-type': 'application/json; charset=utf-8',
      });
      expect(Math.abs(Number(headers['x-timestamp']) - Date.now())).toBeLessThan(60_000);
      expect(event.agentId).toBe(trader.agentId);
      const kind = WEBHOOK_EVENTS[event.type];
      expect(kind, event.type).toBeDefined();
      expect(Check(kind!.data, event.data), JSON.stringify(event)).toBe(true);
    }
    expect(new Set(at(path).map(({ event }) => event.id)).size).toBe(told.length);
    const detail = await trader.client.getOrder(placed.orderId);
    expect(at(path)[0]?.event.data).toMatchObject({
      orderId: placed.orderId,
      marketConditionId: market.conditionId,
      orderSize: detail.orderSize,
      filledSize: detail.filledSize,
      filledAmount: detail.filledAmount,
      feePaid: detail.feePaid,
      price: detail.price,
    });
    const sizes = at(path)
      .filter(({ event }) => event.type === 'fill')
      .map(({ event }) => Number(event.data.size));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeCloseTo(detail.filledSize, 6);
  });

  test('only what was subscribed to, and only to the agent whose it is', async () => {
    const [one, two] = [await newTrader(service), await newTrader(service)];
    const mine = await subscribe(one, ['order.canceled']);
    const theirs = await subscribe(two, ['order.*', 'fill']);
    const { orderId } = await one.client.placeTrade(await restingOrder(one, markets[0] as Market));
    await one.client.cancelOrder(orderId);
    await two.client.testWebhook(theirs.id);
    await until(() => types(mine.path).length > 0 && types(theirs.path).length > 0);
    expect(types(mine.path)).toEqual(['order.canceled']);
    expect(types(theirs.path)).toEqual(['webhook.test']);
  });

  test('a resolution, to who holds the market and to who has an order in it', async () => {
    const clock = manualClock();
    const world = await startTestService({ PAPER_WORLD: 'off', WEBHOOKS_ALLOW_LOOPBACK: 'on' }, { clock });
    const [holder, rester, bystander] = [
      await newTrader(world),
      await newTrader(world),
      await newTrader(world),
    ];
    const [market] = (await endingMarkets(holder)) as [Market];
    await buy(holder, market);
    await buy(rester, market);
    const events = ['market.resolved', 'order.*'];
    const [held, rested, stood] = await Promise.all(
      [holder, rester, bystander].map((agent) => subscribe(agent, events)),
    );
    const payout = await resolveMarket(world, clock, market.conditionId);
    await until(() => types(held!.path).length > 0 && types(rested!.path).length > 0);
    expect(types(held!.path)).toEqual(['market.resolved']);
    expect(types(stood!.path)).toEqual([]);
    expect(at(rested!.path)[0]?.event.data).toEqual({
      marketId: market.id,
      marketConditionId: market.conditionId,
      marketQuestion: market.question,
      payout,
    });
    expect(Check(WEBHOOK_EVENTS['market.resolved']!.data, at(held!.path)[0]?.event.data)).toBe(true);
  });

  test('a risk alert, once while it stands and again when it comes back', async () => {
    const { client } = await newAgent(service);
    const { path } = await subscribe({ client }, ['risk']);
    const paused = () => at(path).filter(({ event }) => event.data.code === 'trading_paused').length;
    await client.updateSettings({ tradingPaused: true });
    await watchRisks(service.deps);
    await watchRisks(service.deps);
    await until(() => paused() > 0);
    expect(Check(WEBHOOK_EVENTS.risk!.data, at(path)[0]?.event.data)).toBe(true);
    expect((await client.getBriefing()).riskAlerts).toContainEqual(at(path)[0]?.event.data);
    await client.updateSettings({ tradingPaused: false });
    await watchRisks(service.deps);
    await client.updateSettings({ tradingPaused: true });
    await watchRisks(service.deps);
    await until(() => paused() > 1);
    expect(paused()).toBe(2);
  });
});

describe('delivery', () => {
  test('a failed attempt is repeated with the same id and a time of its own, and holds back what is behind it', async () => {
    const { client } = await newAgent(service);
    const { id, path } = await subscribe({ client }, ['fill']);
    answerOf = (_delivery, nth) => (nth <= 2 ? 503 : 200);
    const first = await client.testWebhook(id);
    await until(() => at(path).length > 0);
    const second = await client.testWebhook(id);
    const log = await until(async () => {
      const [, oldest] = await client.listWebhookDeliveries(id);
      return oldest?.attempts === 1 && oldest;
    });
    expect(log).toMatchObject({
      id: first.id,
      status: 'pending',
      responseStatus: 503,
      error: 'answered 503',
    });
    expect(Date.parse(log.nextAttemptAt ?? '')).toBeGreaterThan(Date.parse(log.lastAttemptAt ?? ''));
    expect((await client.listWebhooks())[0]).toMatchObject({
      status: 'enabled',
      consecutiveFailures: 1,
      pendingDeliveries: 2,
    });
    clockAhead += 7_000;
    await until(() => at(path).length >= 2);
    clockAhead += 13_000;
    await until(() => at(path).length >= 4);
    expect(at(path).map(({ event }) => event.id)).toEqual([
      first.event.id,
      first.event.id,
      first.event.id,
      second.event.id,
    ]);
    const attempts = at(path).slice(0, 3);
    expect(new Set(attempts.map(({ event }) => event.sentAt)).size).toBe(3);
    expect(new Set(attempts.map(({ event }) => JSON.stringify({ ...event, sentAt: null }))).size).toBe(1);
    expect(at(path).map(({ headers }) => headers['x-delivery-attempt'])).toEqual(['1', '2', '3', '1']);
    const done = await until(async () => {
      const rows = await client.listWebhookDeliveries(id, { status: 'delivered' });
      return rows.length === 2 && rows;
    });
    expect(done.map((row) => row.id)).toEqual([second.id, first.id]);
    expect((await client.listWebhooks())[0]).toMatchObject({ consecutiveFailures: 0, pendingDeliveries: 0 });
  });

  test('agents whose receivers never answer leave the others their turn', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    for (let i = 0; i < 4; i += 1) {
      const { client } = await newAgent(service);
      for (let n = 0; n < 10; n += 1) {
        const { id } = await client.createWebhook({ url: `${url}${n}`, events: ['fill'] as never });
        await client.testWebhook(id);
      }
    }
    const { client } = await newAgent(service);
    const { id, path } = await subscribe({ client }, ['fill']);
    const asked = Date.now();
    await client.testWebhook(id);
    await until(() => at(path).length > 0);
    expect(Date.now() - asked).toBeLessThan(4_000);
    const sql = openPool(service.databaseUrl, { max: 1 });
    const leased = await sql`select agent_id, count(*)::int as held from webhook_endpoints
      where lease_until > ${new Date(Date.now() + clockAhead)} group by 1`;
    await sql.end();
    expect(leased.length).toBeGreaterThan(0);
    for (const { held } of leased) expect(held).toBeLessThanOrEqual(2);
    silent.closeAllConnections();
    silent.close();
  });

  test('of more events than may wait for an endpoint, the oldest are given up, and say so', async () => {
    const { client, agentId } = await newAgent(service);
    const { id } = await subscribe({ client }, ['fill']);
    const sql = openPool(service.databaseUrl, { max: 1 });
    await sql`update webhook_endpoints set hold_until = now() + interval '10 years' where id = ${id}`;
    await sql`insert into webhook_deliveries (endpoint_id, agent_id, event_id, type, data, created_at)
      select ${id}::uuid, ${agentId}::uuid, gen_random_uuid(), 'fill', '{}',
        ${new Date(Date.now() + clockAhead)}::timestamptz from generate_series(1, 5003)`;
    await until(async () => (await client.listWebhooks())[0]?.pendingDeliveries === 5_000);
    const failed = await client.listWebhookDeliveries(id, { status: 'failed' });
    expect(failed).toHaveLength(3);
    expect(failed[0]?.error).toBe('given up: more than 5000 events were waiting');
    const [oldest] = await sql`select min(id)::text as id from webhook_deliveries
      where endpoint_id = ${id} and status = 'pending'`;
    await sql`delete from webhook_deliveries where endpoint_id = ${id}`;
    await sql.end();
    expect(Number(failed[0]?.id)).toBeLessThan(Number(oldest?.id));
  });

  test('an event that is never taken is overtaken after its first attempts', async () => {
    const { client } = await newAgent(service);
    const { id, path } = await subscribe({ client }, ['fill']);
    const poison = await client.testWebhook(id);
    answerOf = ({ event }) => (event.id === poison.event.id ? 500 : 200);
    await until(() => at(path).length > 0);
    const next = await client.testWebhook(id);
    for (let attempt = 1; attempt <= 5; attempt++) {
      await until(() => at(path).length >= attempt);
      expect(at(path).map(({ event }) => event.id)).not.toContain(next.event.id);
      await until(async () => (await client.listWebhookDeliveries(id))[1]?.attempts === attempt);
      clockAhead += 110_000;
    }
    await until(() => at(path).some(({ event }) => event.id === next.event.id));
  });

  test('after a day an event is given up; after long failure the endpoint is switched off, until it is enabled', async () => {
    const { client } = await newAgent(service);
    const { id, path } = await subscribe({ client }, ['fill']);
    answerOf = () => 410;
    await client.testWebhook(id);
    const state = async () => (await client.listWebhooks())[0];
    for (let hours = 0; (await state())?.status === 'enabled'; hours++) {
      expect(hours).toBeLessThan(60);
      const before = at(path).length;
      clockAhead += 4_600_000;
      await until(async () => at(path).length > before || (await state())?.pendingDeliveries === 0);
      if ((await state())?.pendingDeliveries === 0 && (await state())?.status === 'enabled')
        await client.testWebhook(id);
    }
    expect(await state()).toMatchObject({ status: 'disabled', disabledAt: expect.any(String) });
    const failed = await client.listWebhookDeliveries(id, { status: 'failed' });
    expect(
      failed.length + (await client.listWebhookDeliveries(id, { status: 'pending' })).length,
    ).toBeGreaterThan(0);
    expect(await refused(client.testWebhook(id))).toBe('webhook_disabled');
    const quiet = at(path).length;
    answerOf = () => 200;
    expect(await client.enableWebhook(id)).toMatchObject({ status: 'enabled', consecutiveFailures: 0 });
    await client.testWebhook(id);
    await until(() => at(path).length > quiet);
    await until(async () => (await state())?.lastSuccessAt !== null);
  });

  test('two processes on one database share the work: every event once, and in order', async () => {
    const other = await startTestService({
      PAPER_WORLD: 'off',
      WEBHOOKS_ALLOW_LOOPBACK: 'on',
      DATABASE_URL: service.databaseUrl,
      MASTER_KEY: service.masterKey,
    });
    try {
      clockAhead = 0;
      const { client } = await newAgent(service);
      const endpoints = await Promise.all(Array.from({ length: 4 }, () => subscribe({ client }, ['fill'])));
      for (let i = 0; i < 10; i++) for (const { id } of endpoints) await client.testWebhook(id);
      await until(() => endpoints.every(({ path }) => at(path).length >= 10));
      for (const { path } of endpoints) {
        const ids = at(path).map(({ headers }) => Number(headers['x-delivery-id']));
        expect(ids).toHaveLength(10);
        expect(ids).toEqual([...ids].sort((a, b) => a - b));
      }
    } finally {
      await other.stop();
    }
  });
});

describe('endpoints', () => {
  test('the secret is shown once, sealed at rest, and not replayed', async () => {
    const { client, apiKey } = await newAgent(service);
    const body = { url: `${hooks}/x`, events: ['fill'], description: 'mine' };
    const headers = { 'idempotency-key': 'hook' };
    const made = await call(service, 'POST', '/webhooks', { key: apiKey, body, headers });
    expect(made.body).toMatchObject({
      url: body.url,
      events: ['fill'],
      description: 'mine',
      status: 'enabled',
    });
    expect(made.body.secret).toMatch(/^whsec_[\w-]{43}$/);
    const again = await call(service, 'POST', '/webhooks', { key: apiKey, body, headers });
    expect(again.body.code).toBe('secret_already_shown');
    expect(await client.listWebhooks()).toHaveLength(1);
    expect(JSON.stringify(await client.listWebhooks())).not.toContain('whsec_');
    const sql = openPool(service.databaseUrl, { max: 1 });
    try {
      const [row] = await sql`select sealed_secret from webhook_endpoints where id = ${made.body.id}`;
      expect(row?.sealed_secret.toString('latin1')).not.toContain(made.body.secret.slice(6));
    } finally {
      await sql.end();
    }
  });

  test("another agent's webhook is not there", async () => {
    const [one, two] = [await newAgent(service), await newAgent(service)];
    const { id } = await subscribe(one, ['*']);
    for (const attempt of [
      () => two.client.deleteWebhook(id),
      () => two.client.enableWebhook(id),
      () => two.client.testWebhook(id),
      () => two.client.listWebhookDeliveries(id),
    ])
      expect(await refused(attempt())).toBe('webhook_not_found');
    expect(await two.client.listWebhooks()).toEqual([]);
    expect(await one.client.deleteWebhook(id)).toEqual({ success: true, id });
    expect(await refused(one.client.deleteWebhook(id))).toBe('webhook_not_found');
  });

  test('an agent has ten at most, also when it asks for all at once', async () => {
    const agent = await newAgent(service);
    const answers = await Promise.all(Array.from({ length: 13 }, () => refused(subscribe(agent, ['fill']))));
    expect(answers.filter((code) => code === 'webhook_limit_reached')).toHaveLength(3);
    expect(await agent.client.listWebhooks()).toHaveLength(10);
  });

  test('without the switch this machine is refused', async () => {
    const strict = await startTestService({ PAPER_WORLD: 'off' });
    const agent = await newAgent(strict);
    expect(await refused(subscribe(agent, ['fill']))).toBe('webhook_url_refused');
  });

  test('the OpenAPI document describes every event', async () => {
    const { body } = await call(service, 'GET', '/openapi.json');
    expect(Object.keys(body.webhooks).sort()).toEqual(Object.keys(WEBHOOK_EVENTS).sort());
    expect(
      body.webhooks.fill.post.requestBody.content['application/json'].schema.properties.data.properties,
    ).toHaveProperty('tradeId');
  });
});

describe('callbacks that come in', () => {
  const secret = VENUE_SECRET.replaceAll(' ', '-');
  const sign = (body: string, key = secret) => createHmac('sha256', key).update(body).digest('hex');
  const post = (source: string, body: string, headers: Record<string, string>) =>
    call(service, 'POST', `/webhooks/inbound/${source}`, { body, headers });
  const stored = async (source: string) => {
    const sql = openPool(service.databaseUrl, { max: 1 });
    try {
      return await sql`select * from inbound_webhooks where source = ${source} order by id`;
    } finally {
      await sql.end();
    }
  };

  test('the signature is over the bytes as they came, of any media type', async () => {
    // Neither is what a JSON library would write.
    const bodies = ['{ "b" : 1.50,\n "a": "\\u00e9" }', 'order=1&state=done', '{broken'];
    const media = ['application/json', 'application/x-www-form-urlencoded', 'application/json'];
    for (const [i, body] of bodies.entries()) {
      const answer = await post('venue', body, {
        'x-signature': sign(body),
        'content-type': media[i] as string,
      });
      expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: { received: true } });
    }
    expect((await stored('venue')).map((row) => row.body.toString())).toEqual(bodies);
  });

  test('the same callback twice is stored once', async () => {
    const body = '{"id":"same"}';
    const before = (await stored('signer')).length;
    for (const signature of [sign(body, '0123456789abcdef='), sign(body, '0123456789abcdef=').toUpperCase()])
      expect((await post('signer', body, { 'x-signature': signature })).status).toBe(200);
    expect((await stored('signer')).length).toBe(before + 1);
  });

  test('a wrong signature and an unknown source cannot be told apart', async () => {
    const body = '{"id":1}';
    const answers = await Promise.all([
      post('venue', body, { 'x-signature': sign(`${body} `) }),
      post('venue', body, { 'x-signature': sign(body, 'another secret, as long') }),
      post('venue', body, { 'x-signature': 'nonsense' }),
      post('venue', body, {}),
      post('nobody', body, { 'x-signature': sign(body) }),
      post('signer', body, { 'x-signature': sign(body) }),
      post('constructor', body, { 'x-signature': sign(body) }),
    ]);
    const shape = ({ status, body: problem }: (typeof answers)[number]) => {
      const { requestId: _id, instance: _path, ...rest } = problem;
      return JSON.stringify({ status, rest });
    };
    expect(answers[0]).toMatchObject({ status: 401, body: { code: 'webhook_signature_invalid' } });
    expect(new Set(answers.map(shape)).size).toBe(1);
  });

  test('too large a body is refused, and the secrets are in no message of the configuration', async () => {
    const body = 'x'.repeat(70_000);
    expect((await post('venue', body, { 'x-signature': sign(body) })).status).toBe(413);
    for (const text of [
      'venue',
      'venue=tooshort',
      'venue=0123456789abcdef,venue=0123456789abcdef',
      'A=0123456789abcdef',
    ]) {
      try {
        readConfig({ WEBHOOK_INBOUND_SECRETS: text });
        expect.unreachable();
      } catch (error) {
        expect(String(error)).toContain('WEBHOOK_INBOUND_SECRETS');
        expect(String(error)).not.toMatch(/0123456789|tooshort/);
      }
    }
  });
});
