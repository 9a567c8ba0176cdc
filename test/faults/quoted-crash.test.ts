/**
 * The service is killed with transactions in flight: between recording one and sending it, between sending and
 * landing, between landing and the fill. Afterwards every order has an end that the chain proves, and nothing was
 * executed twice.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { toBase64 } from '@bellwether/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { allEnded, expectChainToAgree } from '../chain-books.ts';
import { createDeskDatabase } from '../postgres.ts';
import { newSandboxTrader, type SandboxTrader, sandboxMarkets, usdcOf } from '../sandbox.ts';
import { kill, type ServiceProcess, startProcess } from '../service-process.ts';

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

const env: Record<string, string> = {};
let sql: Sql;

beforeAll(async () => {
  env.DATABASE_URL = await createDeskDatabase();
  env.MASTER_KEY = randomBytes(32).toString('hex');
  Object.assign(env, { RATE_LIMITS: 'off', LOG_LEVEL: 'warn', PAPER_B_FILL_DELAY_MS: '1500' });
  sql = openPool(env.DATABASE_URL, { max: 2 });
});
afterAll(() => sql?.end());

async function signedQuotes(by: SandboxTrader, tickers: readonly string[]): Promise<Signed[]> {
  const signed: Signed[] = [];
  for (let i = 0; i < QUOTES_EACH; i += 1) {
    const { body } = await by.quote({
      marketTicker: tickers[i % tickers.length],
      side: i % 2 === 0 ? 'YES' : 'NO',
      action: 'BUY',
      amount: 5,
    });
    const wire = by.signer.signTransaction(new Uint8Array(Buffer.from(body.unsignedTransaction, 'base64')));
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
