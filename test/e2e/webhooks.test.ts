/** Webhooks over HTTP: which events are sent, signed, repeated, delayed, abandoned. */
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { WEBHOOK_EVENTS } from '@bellwether/contract';
import { type Market, verifyWebhook, WebhookSignatureError, WebhookTooOldError } from '@bellwether/sdk';
import { Check } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { watchRisks } from '../../packages/server/src/briefing/watch-risks.ts';
import { openPool } from '../../packages/server/src/platform/database/connection.ts';
import {
  marketBuy,
  newAgent,
  newTrader,
  refusalOf,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { standIn } from '../stand-in.ts';
import { endingMarkets, manualClock, resolveMarket } from '../world.ts';
import { at, markets, service, stage, subscribe, useStage } from './webhooks-stage.ts';

useStage();

const types = (path: string) => at(path).map(({ event }) => event.type);

/** Looks after each turn of the job that sends, until there is something. */
async function until<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
  desks: readonly TestService[] = [service],
): Promise<T> {
  const end = Date.now() + 60_000;
  for (;;) {
    for (const desk of desks) await desk.runJob('webhooks');
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error('it did not happen');
    await sleep(20);
  }
}

const buy = async (trader: Trader, market: Market, amount = 20) =>
  trader.client.placeTrade(await marketBuy(trader, market, amount));

describe('events', () => {
  test('orders, fills and fees: signed, as the contract describes, in sequence', async () => {
    const trader = await newTrader(service);
    const { path, secret } = await subscribe(trader, ['*']);
    const [market] = markets as [Market];
    const placed = await buy(trader, market);
    const resting = await trader.client.placeTrade(await restingOrder(trader, market));
    await trader.client.cancelOrder(resting.orderId);
    await until(() => types(path).includes('order.canceled'));
    const reported = types(path);
    expect(reported[0]).toMatch(/^order\.(matched|filled)$/);
    expect(reported.filter((type) => type === 'fill').length).toBeGreaterThan(0);
    expect(reported.filter((type) => type === 'fee').length).toBeGreaterThan(0);
    expect(reported.slice(-2)).toEqual(['order.live', 'order.canceled']);
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
    expect(new Set(at(path).map(({ event }) => event.id)).size).toBe(reported.length);
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

  test('only subscribed events, and only to their agent', async () => {
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

  test('a resolution, to agents with a position or an order in the market', async () => {
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
    await until(() => types(held!.path).length > 0 && types(rested!.path).length > 0, [world]);
    expect(types(held!.path)).toEqual(['market.resolved']);
    expect(types(stood!.path)).toEqual([]);
    expect(at(rested!.path)[0]?.event.data).toEqual({
      marketId: market.id,
      outcomes: market.outcomes,
      marketConditionId: market.conditionId,
      marketQuestion: market.question,
      payout,
    });
    expect(Check(WEBHOOK_EVENTS['market.resolved']!.data, at(held!.path)[0]?.event.data)).toBe(true);
  });

  test('a risk alert, once while it lasts and again when it returns', async () => {
    const { client } = await newAgent(service);
    const { path } = await subscribe({ client }, ['risk']);
    const paused = () => at(path).filter(({ event }) => event.data.code === 'trading_paused').length;
    await client.updateSettings({ tradingPaused: true });
    await watchRisks(service.needs);
    await watchRisks(service.needs);
    await until(() => paused() > 0);
    expect(Check(WEBHOOK_EVENTS.risk!.data, at(path)[0]?.event.data)).toBe(true);
    expect((await client.getBriefing()).riskAlerts).toContainEqual(at(path)[0]?.event.data);
    await client.updateSettings({ tradingPaused: false });
    await watchRisks(service.needs);
    await client.updateSettings({ tradingPaused: true });
    await watchRisks(service.needs);
    await until(() => paused() > 1);
    expect(paused()).toBe(2);
  });
});

describe('delivery', () => {
  test('a failed attempt is repeated with the same id and a new time; later events wait', async () => {
    const { client } = await newAgent(service);
    const { id, path } = await subscribe({ client }, ['fill']);
    stage.answerOf = (_delivery, nth) => (nth <= 2 ? 503 : 200);
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
    stage.clockAhead += 7_000;
    await until(() => at(path).length >= 2);
    stage.clockAhead += 13_000;
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

  test('agents whose receivers never answer do not delay others', async () => {
    const url = `${await standIn(() => {})}/`;
    for (let i = 0; i < 4; i += 1) {
      const { client } = await newAgent(service);
      for (let n = 0; n < 10; n += 1) {
        const { id } = await client.createWebhook({ url: `${url}${n}`, events: ['fill'] });
        await client.testWebhook(id);
      }
    }
    const { client } = await newAgent(service);
    const { id, path } = await subscribe({ client }, ['fill']);
    await client.testWebhook(id);
    await until(() => at(path).length > 0);
    // The silent ones are still being waited for.
    const sql = openPool(service.databaseUrl, { max: 1 });
    const leased = await sql`select agent_id, count(*)::int as held from webhook_endpoints
      where lease_until > ${new Date(Date.now() + stage.clockAhead)} group by 1`;
    await sql.end();
    expect(leased.length).toBeGreaterThan(0);
    for (const { held } of leased) expect(held).toBeLessThanOrEqual(2);
  });

  test('above the limit of waiting events, the oldest are abandoned and marked as such', async () => {
    const { client, agentId } = await newAgent(service);
    const { id } = await subscribe({ client }, ['fill']);
    const sql = openPool(service.databaseUrl, { max: 1 });
    await sql`update webhook_endpoints set hold_until = now() + interval '10 years' where id = ${id}`;
    await sql`insert into webhook_deliveries (endpoint_id, agent_id, event_id, type, data, created_at)
      select ${id}::uuid, ${agentId}::uuid, gen_random_uuid(), 'fill', '{}',
        ${new Date(Date.now() + stage.clockAhead)}::timestamptz from generate_series(1, 5003)`;
    await service.runJob('trim webhooks');
    expect((await client.listWebhooks())[0]?.pendingDeliveries).toBe(5_000);
    const failed = await client.listWebhookDeliveries(id, { status: 'failed' });
    expect(failed).toHaveLength(3);
    expect(failed[0]?.error).toBe('given up: more than 5000 events were waiting');
    const [oldest] = await sql`select min(id)::text as id from webhook_deliveries
      where endpoint_id = ${id} and status = 'pending'`;
    await sql`delete from webhook_deliveries where endpoint_id = ${id}`;
    await sql.end();
    expect(Number(failed[0]?.id)).toBeLessThan(Number(oldest?.id));
  });

  test('an event that is never accepted is overtaken after its first attempts', async () => {
    const { client } = await newAgent(service);
    const { id, path } = await subscribe({ client }, ['fill']);
    const poison = await client.testWebhook(id);
    stage.answerOf = ({ event }) => (event.id === poison.event.id ? 500 : 200);
    await until(() => at(path).length > 0);
    const next = await client.testWebhook(id);
    for (let attempt = 1; attempt <= 5; attempt++) {
      await until(() => at(path).length >= attempt);
      expect(at(path).map(({ event }) => event.id)).not.toContain(next.event.id);
      await until(async () => (await client.listWebhookDeliveries(id))[1]?.attempts === attempt);
      stage.clockAhead += 110_000;
    }
    await until(() => at(path).some(({ event }) => event.id === next.event.id));
  });

  test('an event is abandoned after a day; after long failure the endpoint is disabled until it is enabled', async () => {
    const { client } = await newAgent(service);
    const { id, path } = await subscribe({ client }, ['fill']);
    stage.answerOf = () => 410;
    await client.testWebhook(id);
    const state = async () => (await client.listWebhooks())[0];
    for (let hours = 0; (await state())?.status === 'enabled'; hours++) {
      expect(hours).toBeLessThan(60);
      const before = at(path).length;
      stage.clockAhead += 4_600_000;
      await until(async () => at(path).length > before || (await state())?.pendingDeliveries === 0);
      if ((await state())?.pendingDeliveries === 0 && (await state())?.status === 'enabled')
        await client.testWebhook(id);
    }
    expect(await state()).toMatchObject({ status: 'disabled', disabledAt: expect.any(String) });
    const failed = await client.listWebhookDeliveries(id, { status: 'failed' });
    expect(
      failed.length + (await client.listWebhookDeliveries(id, { status: 'pending' })).length,
    ).toBeGreaterThan(0);
    expect(await refusalOf(client.testWebhook(id))).toBe('webhook_disabled');
    const quiet = at(path).length;
    stage.answerOf = () => 200;
    expect(await client.enableWebhook(id)).toMatchObject({ status: 'enabled', consecutiveFailures: 0 });
    await client.testWebhook(id);
    await until(() => at(path).length > quiet);
    await until(async () => (await state())?.lastSuccessAt !== null);
  });

  test('two processes on one database share deliveries: every event once, and in order', async () => {
    const other = await startTestService({
      PAPER_WORLD: 'off',
      WEBHOOKS_ALLOW_LOOPBACK: 'on',
      DATABASE_URL: service.databaseUrl,
      MASTER_KEY: service.masterKey,
    });
    try {
      stage.clockAhead = 0;
      const { client } = await newAgent(service);
      const endpoints = await Promise.all(Array.from({ length: 4 }, () => subscribe({ client }, ['fill'])));
      for (let i = 0; i < 10; i++) for (const { id } of endpoints) await client.testWebhook(id);
      await until(() => endpoints.every(({ path }) => at(path).length >= 10), [service, other]);
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
