/** Webhook endpoints, and incoming callbacks. */
import { createHmac } from 'node:crypto';
import { WEBHOOK_EVENTS } from '@bellwether/contract';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../packages/server/src/config.ts';
import { openPool } from '../../packages/server/src/platform/database/connection.ts';
import { call, newAgent, refusalOf, sharedTestService, withTurns } from '../harness.ts';
import { hooks, service, stage, subscribe, useStage, VENUE_SECRET } from './webhooks-stage.ts';

useStage();

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

  test('a process that stood still longer than its lease takes nothing from the one that serves now', async () => {
    const agent = await newAgent(service);
    const { id } = await subscribe(agent, ['fill']);
    const { webhooks } = service.needs;
    const delivery = await agent.client.testWebhook(id);
    const status = async () => (await agent.client.listWebhookDeliveries(id))[0]?.status;
    await withTurns(service, ['webhooks'], expect.poll(status).toBe('delivered'));
    const sql = openPool(service.databaseUrl, { max: 1 });
    try {
      const now = Date.now() + stage.clockAhead;
      await sql`update webhook_endpoints set lease_until = ${new Date(now + 60_000)} where id = ${id}`;
      const endpoint = await webhooks.byId(agent.agentId, id);
      const { rows } = await webhooks.deliveries(agent.agentId, id, { offset: 0, limit: 1 });
      expect(String(rows[0]?.id)).toBe(delivery.id);
      // The job's next step: its attempt was broken off, and its turn is over.
      await webhooks.failed(rows[0]!, {
        at: now,
        nextAttemptAt: now + 5_000,
        holdUntil: now + 5_000,
        switchOff: false,
        responseStatus: null,
        error: 'no answer within 10 s',
      });
      await webhooks.release({ ...endpoint!, leaseUntil: now - 30_000 });
      const [row] = await sql`select failures, hold_until > ${new Date(now)} as held,
        lease_until > ${new Date(now)} as leased from webhook_endpoints where id = ${id}`;
      expect(row).toEqual({ failures: 0, held: false, leased: true });
      await webhooks.release({ ...endpoint!, leaseUntil: now + 60_000 });
      const [after] =
        await sql`select lease_until > ${new Date(now)} as leased from webhook_endpoints where id = ${id}`;
      expect(after).toEqual({ leased: false });
    } finally {
      await sql.end();
    }
  });

  test("another agent's webhook is not found", async () => {
    const [one, two] = [await newAgent(service), await newAgent(service)];
    const { id } = await subscribe(one, ['*']);
    for (const attempt of [
      () => two.client.deleteWebhook(id),
      () => two.client.enableWebhook(id),
      () => two.client.testWebhook(id),
      () => two.client.listWebhookDeliveries(id),
    ])
      expect(await refusalOf(attempt())).toBe('webhook_not_found');
    expect(await two.client.listWebhooks()).toEqual([]);
    expect(await one.client.deleteWebhook(id)).toEqual({ success: true, id });
    expect(await refusalOf(one.client.deleteWebhook(id))).toBe('webhook_not_found');
  });

  test('an agent has ten at most, even with simultaneous requests', async () => {
    const agent = await newAgent(service);
    const answers = await Promise.all(
      Array.from({ length: 13 }, () => refusalOf(subscribe(agent, ['fill']))),
    );
    expect(answers.filter((code) => code === 'webhook_limit_reached')).toHaveLength(3);
    expect(await agent.client.listWebhooks()).toHaveLength(10);
  });

  test('without the development switch this machine is refused', async () => {
    const strict = await sharedTestService();
    const agent = await newAgent(strict);
    expect(await refusalOf(subscribe(agent, ['fill']))).toBe('webhook_url_refused');
  });

  test('the OpenAPI document describes every event', async () => {
    const { body } = await call(service, 'GET', '/openapi.json');
    expect(Object.keys(body.webhooks).sort()).toEqual(Object.keys(WEBHOOK_EVENTS).sort());
    expect(
      body.webhooks.fill.post.requestBody.content['application/json'].schema.properties.data.properties,
    ).toHaveProperty('tradeId');
  });
});

describe('incoming callbacks', () => {
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

  test('the signature covers the received bytes, of any media type', async () => {
    // A JSON library would write neither of them.
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

  test('a wrong signature and an unknown source cannot be distinguished', async () => {
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

  test('a too large body is refused, and configuration errors contain no secrets', async () => {
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
