/** Quoted orders on two replicas: the sandbox runs at the leader, and both replicas give the same answers. */
import { randomBytes } from 'node:crypto';
import { parseTransactionBytes, toBase64 } from '@bellwether/protocol';
import { linkSolanaWallet, type Market, SolanaSigner } from '@bellwether/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { allEnded, expectChainToAgree } from '../chain-books.ts';
import {
  aMarket,
  call,
  newTrader,
  type RawAnswer,
  restingOrder,
  startTestService,
  type TestService,
} from '../harness.ts';
import { createDeskDatabase } from '../postgres.ts';
import { aSandboxMarket, newSandboxTrader, type SandboxTrader, usdcOf } from '../sandbox.ts';

const MAX_TRADES = 40;
const EACH = 50;
const QUOTES_AT_ONCE = 5;
/** Concurrent orders per venue: both replicas and this test share one process. */
const WAVE = 10;
let leader: TestService;
let follower: TestService;
let sql: Sql;
let market: Market;

beforeAll(async () => {
  const environment = {
    PAPER_WORLD: 'off',
    DATABASE_URL: await createDeskDatabase(),
    MASTER_KEY: randomBytes(32).toString('hex'),
  };
  leader = await startTestService(environment, { jobs: 'by timer' });
  follower = await startTestService(environment, { jobs: 'by timer' });
  sql = openPool(environment.DATABASE_URL, { max: 2 });
  market = await aSandboxMarket((await newSandboxTrader(leader)).client);
});
afterAll(() => sql?.end());

const BUY = { side: 'YES', action: 'BUY', amount: 5 } as const;

test('quote, submit and fee work at the follower', async () => {
  expect([leader.sandbox === null, follower.sandbox === null]).toEqual([false, true]);
  const trader = await newSandboxTrader(follower);
  await linkSolanaWallet(trader.client, trader.signer);
  const order = await trader.trade({ ticker: market.id, ...BUY, amount: 20 });
  expect(order.status).toBe('filled');
  const key = trader.apiKey;
  const atLeader = await call(leader, 'GET', `/venueb/agent/orders/${order.orderId}`, { key });
  expect(atLeader.body).toEqual(order);

  await trader.client.venueB.approveDelegate({ signer: trader.signer, amount: 2 });
  const charge = (service: TestService) =>
    call(service, 'POST', '/venueb/agent/charge-fee', {
      key,
      body: { amount: '0.2', fromAddress: trader.wallet },
      headers: { 'idempotency-key': order.orderId },
    });
  const answers = await Promise.all([charge(follower), charge(leader), charge(follower)]);
  const done = answers.filter(({ status }) => status === 200);
  expect(done.length).toBeGreaterThan(0);
  const again = await charge(leader);
  for (const { body } of done) expect(body).toEqual(again.body);
  await expectChainToAgree(sql, [trader], { charged: new Map([[trader.wallet, 0.2]]) });
});

test('the doors at the follower serve the leader’s data', async () => {
  const listed = await call(follower, 'GET', `/paper/dflow/metadata/api/v1/market/${market.id}`);
  expect(listed.body).toMatchObject({ ticker: market.id, status: 'active' });
  const asked = { body: { jsonrpc: '2.0', id: 1, method: 'getGenesisHash' } };
  const genesis = async (service: TestService) => (await call(service, 'POST', '/paper/solana', asked)).body;
  expect(await genesis(follower)).toEqual(await genesis(leader));
});

test('a hundred trades on both venues, over both replicas, share one limit of trades', async () => {
  leader.sandbox.venue.switches.fill = 'never';
  const trader = await newTrader(leader);
  const signer = SolanaSigner.generate();
  const post = (index: number, path: string, body: unknown) =>
    call(index % 2 === 0 ? leader : follower, 'POST', path, { key: trader.apiKey, body });
  const quotes: RawAnswer[] = [];
  // A few at a time: only the submits must be simultaneous.
  while (quotes.length < EACH) {
    const asked = { marketTicker: market.id, ...BUY, userPublicKey: signer.address };
    const some = Array.from({ length: QUOTES_AT_ONCE }, (_, index) =>
      post(index, '/venueb/agent/quote', asked),
    );
    quotes.push(...(await Promise.all(some)));
  }
  for (const { body } of quotes) expect(body.quoteErrorMessage).toBeUndefined();
  const marketA = await aMarket(trader.client);
  const resting = await Promise.all(Array.from({ length: EACH }, () => restingOrder(trader, marketA)));
  await trader.client.updateSettings({ maxTradesPerDay: MAX_TRADES });
  const send = async (...order: Parameters<typeof post>): Promise<RawAnswer> => {
    const answer = await post(...order);
    // On a busy machine the leader may answer late; sending a signed order again is safe.
    return answer.status === 503 ? send(...order) : answer;
  };
  const answers: RawAnswer[] = [];
  for (let from = 0; from < EACH; from += WAVE) {
    const submits = quotes
      .slice(from, from + WAVE)
      .map(({ body: { quoteId, unsignedTransaction } }, index) => {
        const wire = signer.signTransaction(parseTransactionBytes(unsignedTransaction));
        return send(index, '/venueb/agent/submit', { quoteId, signedTransaction: toBase64(wire) });
      });
    const trades = resting.slice(from, from + WAVE).map((body, index) => send(index, '/markets/trade', body));
    answers.push(...(await Promise.all([...submits, ...trades])));
  }
  const taken = answers.filter(({ body }) => body.success === true);
  const denied = answers.filter(({ body }) => body.code === 'max_trades_per_day_exceeded');
  expect([taken.length, denied.length]).toEqual([MAX_TRADES, 2 * EACH - MAX_TRADES]);
  expect(await trader.client.getMe()).toMatchObject({ tradesToday: MAX_TRADES, tradesRemaining: 0 });
  leader.sandbox.venue.switches.fill = 'auto';
});

test('the leader stops while orders are open: the other takes over and completes them', async () => {
  leader.sandbox.venue.switches.fill = 'never';
  const traders = await Promise.all([newSandboxTrader(follower), newSandboxTrader(follower)]);
  const usdc = await usdcOf(sql);
  const submit = async ({ client, signer }: SandboxTrader) =>
    (await client.venueB.trade({ ticker: market.id, ...BUY, side: 'NO', signer })).orderId;
  const orderIds = await Promise.all(
    traders.flatMap((trader) => [submit(trader), submit(trader), submit(trader)]),
  );
  const statuses = async () => {
    const orders = await Promise.all(traders.map(({ client }) => client.venueB.orders({})));
    return orders.flat().map(({ status }) => status);
  };
  await expect.poll(statuses, { interval: 200 }).toEqual(orderIds.map(() => 'open'));
  // Acknowledged by the follower while the leader stops.
  const late = Promise.allSettled(traders.map((trader) => submit(trader)));
  expect(await leader.stop()).toBe(true);
  await late;
  const venues = async () => (await call(follower, 'GET', '/readyz')).body.venues;
  await expect.poll(venues, { interval: 200 }).toMatchObject([{ status: 'ready' }, { status: 'ready' }]);
  await allEnded(traders, 100_000);
  const orders = await expectChainToAgree(sql, traders);
  expect(orders.filter(({ status }) => status === 'filled').map(({ orderId }) => orderId)).toEqual(
    expect.arrayContaining(orderIds),
  );
  const [trader] = traders as [SandboxTrader, SandboxTrader];
  const sold = await trader.trade({ ticker: market.id, side: 'NO', action: 'SELL', shares: 1 });
  expect(sold.status).toBe('filled');
  await expectChainToAgree(sql, traders);
  expect(await usdcOf(sql)).toBe(usdc);
});
