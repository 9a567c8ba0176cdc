/**
 * The service ends with transactions in flight: between recording one and sending it, between sending and landing, between
 * landing and the fill. Afterwards every order has an end that the chain proves, and nothing was executed twice.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseTransactionBytes, toBase64 } from '@bellwether/protocol';
import { expect, test, vi } from 'vitest';
import { openPool } from '../../packages/server/src/platform/database/connection.ts';
import { followChainOrders } from '../../packages/server/src/quoting/follow.ts';
import { allEnded, expectChainToAgree } from '../chain-books.ts';
import { call, startTestService } from '../harness.ts';
import { createDeskDatabase } from '../postgres.ts';
import { newQuoteTrader, SIXTEEN, startQuotingDesk } from '../quote-trader.ts';
import { newSandboxTrader, type SandboxTrader, sandboxMarkets, usdcOf } from '../sandbox.ts';
import { kill, type ServiceProcess, startProcess } from '../service-process.ts';
import { afterFile } from '../setup/clean-up.ts';

const TRADERS = 4;
const QUOTES_EACH = 9;
/** The kill comes after this many acknowledgements of a burst, with the other submits in flight. */
const ACKNOWLEDGED = 8;
/** Submits that arrive together are acknowledged together, which would leave none in flight. */
const SENT_LAST = 8;
const SUBMIT_EVERY_MS = 10;

interface Signed {
  readonly by: SandboxTrader;
  readonly quoteId: string;
  readonly transaction: string;
}

async function signedQuotes(by: SandboxTrader, tickers: readonly string[]): Promise<Signed[]> {
  const signed: Signed[] = [];
  for (let i = 0; i < QUOTES_EACH; i += 1) {
    const { body } = await by.quote({
      marketTicker: tickers[i % tickers.length],
      side: i % 2 === 0 ? 'YES' : 'NO',
      action: 'BUY',
      amount: 5,
    });
    const wire = by.signer.signTransaction(parseTransactionBytes(body.unsignedTransaction));
    signed.push({ by, quoteId: body.quoteId, transaction: toBase64(wire) });
  }
  return signed;
}

/**
 * Submits them shortly after one another; the last ones once some are acknowledged, and kills the service as soon as they are sent.
 * @returns the acknowledged orders
 */
async function submitAndKill(service: ServiceProcess, all: readonly Signed[]): Promise<Set<string>> {
  const acknowledged = new Set<string>();
  const enough = Promise.withResolvers<void>();
  await Promise.all(
    all.map(async ({ by, quoteId, transaction }, nth) => {
      if (nth < all.length - SENT_LAST) await sleep(nth * SUBMIT_EVERY_MS);
      else await enough.promise;
      const submitting = by.submit(quoteId, transaction).catch(() => null);
      if (nth === all.length - 1) kill(service.child.pid as number, 'SIGKILL');
      const answer = await submitting;
      if (answer === null) return;
      expect(answer.body).toMatchObject({ success: true, orderId: quoteId });
      acknowledged.add(quoteId);
      if (acknowledged.size === ACKNOWLEDGED) enough.resolve();
    }),
  );
  expect(await service.exit()).toEqual({ code: null, signal: 'SIGKILL' });
  return acknowledged;
}

test('kill -9 twice, with transactions in flight', { timeout: 180_000 }, async () => {
  const env = {
    ...{ DATABASE_URL: await createDeskDatabase(), MASTER_KEY: randomBytes(32).toString('hex') },
    ...{ RATE_LIMITS: 'off', LOG_LEVEL: 'warn', PAPER_B_FILL_DELAY_MS: '1500' },
  };
  const sql = openPool(env.DATABASE_URL, { max: 2 });
  afterFile('pools', () => sql.end());
  const first = await startProcess({ env });
  const traders = await Promise.all(Array.from({ length: TRADERS }, () => newSandboxTrader(first)));
  const markets = await sandboxMarkets((traders[0] as SandboxTrader).client);
  const tickers = markets.slice(0, 6).map(({ id }) => id);
  const signed = (await Promise.all(traders.map((trader) => signedQuotes(trader, tickers)))).flat();
  const usdc = await usdcOf(sql);

  const acknowledged = await submitAndKill(first, signed);
  expect(acknowledged.size).toBeLessThan(signed.length);
  const [left] = await sql`
    select count(*)::int as recorded, count(*) filter (where stage <> 'done')::int as unfinished
    from chain_orders`;
  // All acknowledged orders are there, none of them filled yet.
  expect(left?.recorded).toBeGreaterThanOrEqual(acknowledged.size);
  expect(left?.unfinished).toBe(left?.recorded);

  const second = await startProcess({ env, port: first.port });
  const again = await submitAndKill(second, signed);
  const third = await startProcess({ env, port: first.port });
  for (const { by, quoteId, transaction } of signed) {
    const { body } = await by.submit(quoteId, transaction);
    // Only transactions that were never recorded may have expired meanwhile.
    if (acknowledged.has(quoteId) || again.has(quoteId))
      expect(body).toMatchObject({ success: true, orderId: quoteId });
    else expect([quoteId, 'quote_expired']).toContain(body.orderId ?? body.code);
  }
  await allEnded(traders);
  const orders = await expectChainToAgree(sql, traders);
  expect(orders.length).toBeGreaterThanOrEqual(new Set([...acknowledged, ...again]).size);
  expect(orders.filter(({ filledSize }) => filledSize > 0).length).toBeGreaterThan(ACKNOWLEDGED);
  expect(await usdcOf(sql)).toBe(usdc);
  kill(third.child.pid as number, 'SIGTERM');
  expect(await third.exit()).toMatchObject({ code: 0 });
});

/** Two services on one database, one of which records orders and dies before it sends them; and an agent of that one. */
async function startPairOfWhichOneDies() {
  const { service: survivor, venue } = await startQuotingDesk();
  const { databaseUrl: DATABASE_URL, masterKey: MASTER_KEY } = survivor;
  const dying = await startTestService(
    { PAPER_WORLD: 'off', DATABASE_URL, MASTER_KEY },
    { venues: () => [venue] },
  );
  vi.spyOn(dying.needs.chainOrders, 'beginSend').mockRejectedValue(new Error('died'));
  return { survivor, dying, venue, agent: await newQuoteTrader(dying) };
}

test('what a process recorded and never sent is sent by the next one', async () => {
  const { survivor, dying, venue, agent } = await startPairOfWhichOneDies();
  const { orderId, txSignature, status } = await agent.trade();
  expect([status, venue.sent]).toEqual(['submitted', []]);
  await dying.stop();
  const sent = async () => {
    await followChainOrders(survivor.needs);
    return venue.sent.map(({ signature }) => signature);
  };
  await expect.poll(sent).toEqual([txSignature]);
  venue.fill(txSignature, SIXTEEN);
  const order = async () => {
    await followChainOrders(survivor.needs);
    return (await call(survivor, 'GET', `/venueb/agent/orders/${orderId}`, { key: agent.apiKey })).body
      .status;
  };
  await expect.poll(order).toBe('filled');
});

test('unless it is canceled before, by any route: then it is never sent', async () => {
  const { survivor, dying, venue, agent } = await startPairOfWhichOneDies();
  const { wallet, apiKey: key } = agent;
  const cancel = async (path: string, body: unknown) => (await agent.post(path, body)).body.canceled;
  type Order = { readonly orderId: string; readonly venueOrderId: string };
  const byRoute: ((order: Order) => Promise<string[]>)[] = [
    ({ orderId }) => cancel('/venueb/agent/cancel', { orderId }),
    ({ venueOrderId }) => cancel('/venueb/agent/cancel', { venueOrderId }),
    ({ orderId }) => cancel('/markets/orders/cancel', { orderId }),
    () => cancel('/markets/orders/cancel-market', { marketConditionId: 'KXTEST-1' }),
    () => cancel('/markets/orders/cancel-market', { walletAddress: wallet.address }),
    async () => {
      const { body } = await call(dying, 'DELETE', '/markets/orders', { key });
      expect(body.results[0].walletAddress).toBe(wallet.address);
      return body.results[0].canceled;
    },
  ];
  for (const cancelBy of byRoute) {
    const order = await agent.trade();
    expect(await agent.usage()).toEqual({ trades: 1, amount: 10 });
    expect(await cancelBy(order)).toEqual([order.orderId]);
    expect(await agent.usage()).toEqual({ trades: 0, amount: 0 });
    expect(await agent.order(order.orderId)).toMatchObject({ status: 'canceled', orderStatus: 3 });
    const begun = await survivor.needs.chainOrders.beginSend([order.orderId], Date.now(), Date.now());
    expect(begun.size).toBe(0);
  }
  expect(venue.sent).toEqual([]);
});
