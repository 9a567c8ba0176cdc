/** An order's life in a market of Protocol V2: webhooks, streams and receipts tell of it, and its winning side is redeemed by itself. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type AgentEvent,
  buildMarketOrder,
  type Market,
  verifyReceipts,
  verifyWebhook,
  type WebhookEvent,
} from '@bellwether/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { newTrader, startTestService, type TestService, type Trader, withTurns } from '../harness.ts';
import { afterFile } from '../setup/clean-up.ts';
import { type ManualClock, micro, movingClock, resolveMarket } from '../world.ts';
import { audit, chainOf } from './receipts-stage.ts';

const posted: { readonly signature: string; readonly body: string }[] = [];
const receiver = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  posted.push({ signature: String(request.headers['x-signature']), body });
  response.writeHead(204).end();
});

let service: TestService;
let sql: Sql;
let clock: ManualClock;
let trader: Trader;
let market: Market;
let secret: string;
const streamed: AgentEvent[] = [];
const ending = new AbortController();

beforeAll(async () => {
  clock = movingClock();
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  service = await startTestService({ PAPER_WORLD: 'off', WEBHOOKS_ALLOW_LOOPBACK: 'on' }, { clock });
  sql = openPool(service.databaseUrl, { max: 1 });
  afterFile('pools', () => sql.end());
  trader = await newTrader(service);
  const ofV2 = [...service.exchange.markets()].filter(
    ({ version, status, negRisk, bestAsk = 0 }) =>
      version === 'v2' && status === 'open' && !negRisk && bestAsk > 500 && bestAsk < 9_500,
  );
  market = await trader.client.getMarket(ofV2[0]?.conditionId ?? '');
  await trader.client.updateSettings({ autoRedeemEnabled: true });
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  ({ secret } = await trader.client.createWebhook({ url, events: ['*'] }));
  const opened = Promise.withResolvers<void>();
  void (async () => {
    for await (const event of trader.client.events({ signal: ending.signal })) {
      if (event.type === 'ready') opened.resolve();
      streamed.push(event);
    }
  })();
  await opened.promise;
});
afterAll(() => {
  ending.abort();
  receiver.closeAllConnections();
  receiver.close();
});

const buy = async (outcome: 'YES' | 'NO') => {
  const order = {
    signer: trader.signer,
    market,
    outcome,
    side: 'BUY',
    amount: 10,
    worstPrice: 0.99,
  } as const;
  return trader.client.placeTrade(await buildMarketOrder(order));
};
const hooks = (type: string) =>
  posted
    .map(({ body }) => JSON.parse(body) as WebhookEvent)
    .filter((event) => event.type === type || event.type.startsWith(`${type}.`));
const events = (type: string) =>
  streamed.filter((event) => event.type === type || event.type.startsWith(`${type}.`));
const cash = () => service.exchange.account(trader.funder).available;

test('it is matched, told, receipted, resolved and redeemed under the position ids of its market', async () => {
  expect(market).toMatchObject({ version: 'v2', active: true });
  const { conditionId, clobTokenIds } = market;
  const bought = { YES: await buy('YES'), NO: await buy('NO') };
  for (const placed of Object.values(bought))
    expect(placed).toMatchObject({ success: true, orderVersion: 2, exchangeVersion: 3 });

  await withTurns(
    service,
    ['webhooks'],
    expect.poll(() => [hooks('fill').length > 1, events('fill').length > 1]).toEqual([true, true]),
  );
  for (const told of [...hooks('fill'), ...events('fill')])
    expect(told.data).toMatchObject({
      marketConditionId: conditionId,
      tokenId: expect.stringMatching(/^\d{70,}$/),
    });
  const tokens = (told: readonly { readonly data: unknown }[]) =>
    new Set(told.map(({ data }) => (data as { tokenId: string }).tokenId));
  expect(tokens(hooks('fill'))).toEqual(new Set(clobTokenIds));
  expect(tokens(events('position'))).toEqual(new Set(clobTokenIds));
  for (const { orderId } of Object.values(bought)) {
    const isOf = ({ data }: { readonly data: unknown }) => (data as { orderId?: string }).orderId === orderId;
    for (const told of [hooks('order'), events('order')])
      expect(told.find(isOf)?.data).toMatchObject({ marketConditionId: conditionId, status: 'filled' });
  }

  const payout = (await resolveMarket(service, clock, conditionId)) as 'YES' | 'NO';
  const won = bought[payout].filledSize;
  await service.runJob('redeem');
  await expect.poll(() => events('redemption').length).toBe(1);
  expect(events('redemption')[0]?.data).toMatchObject({
    ...{ marketConditionId: conditionId, outcome: payout, size: won, payout: won },
    tokenId: clobTokenIds[payout === 'YES' ? 0 : 1],
  });
  expect(micro(10_000 - 20 + won)).toBeGreaterThanOrEqual(cash());
  expect(await trader.client.getCurrentPositions()).toEqual([]);
  expect(service.exchange.account(trader.funder).tokens.size).toBe(0);
  await withTurns(
    service,
    ['webhooks'],
    expect.poll(() => [hooks('market.resolved').length, events('market.resolved').length]).toEqual([1, 1]),
  );
  expect(hooks('market.resolved')[0]?.data).toMatchObject({ marketConditionId: conditionId });
  for (const { signature, body } of posted) {
    const event = JSON.parse(body) as WebhookEvent;
    expect(verifyWebhook({ secret, body, signature, now: Date.parse(event.sentAt) })).toEqual(event);
  }

  const chain = await chainOf({ service, sql, market }, trader);
  expect(verifyReceipts({ entries: chain })).toMatchObject({ ok: true });
  for (const { orderId } of Object.values(bought)) {
    const entry = chain.find(({ body }) => body.orderId === orderId);
    expect(entry?.body.asked).toMatchObject({ marketConditionId: conditionId });
    expect(entry?.body.state).toMatchObject({ status: 'filled' });
  }
  expect(await audit({ service, sql, market })).toEqual([]);
});
