/**
 * The quote venue in live mode: a desk whose venue, chain and signing key are external services, reached over
 * HTTP. Another desk's sandbox plays the venue and the chain, a local server plays Fireblocks.
 */
import { USDC_MINT } from '@bellwether/protocol';
import { SANDBOX_PATHS } from '@bellwether/sandbox';
import { linkSolanaWallet, type Market } from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import type { Sql } from '../../packages/server/src/platform/database/connection.ts';
import type { FireblocksServer } from '../../packages/server/test/fireblocks-server.ts';
import { claim } from '../approving.ts';
import { expectChainToAgree } from '../chain-books.ts';
import { call, startTestService, type TestService } from '../harness.ts';
import { poolOf, startLiveQuoteDesk } from '../live-desk.ts';
import { Visitor } from '../passkey.ts';
import { aSandboxMarket, newSandboxTrader, type SandboxTrader, tokenAccounts } from '../sandbox.ts';

const SOL = 1_000_000_000;
let world: TestService;
let live: TestService;
let fireblocks: FireblocksServer;
let sql: Sql;
let trader: SandboxTrader;
let market: Market;
let rpcUrl: string;

const rpc = async (method: string, ...params: unknown[]): Promise<unknown> => {
  const { body } = await call({ url: rpcUrl }, 'POST', '', {
    body: { jsonrpc: '2.0', id: 1, method, params },
  });
  if (body.error !== undefined) throw new Error(JSON.stringify(body.error));
  return body.result;
};

beforeAll(async () => {
  world = await startTestService({ PAPER_WORLD: 'off' });
  sql = poolOf(world);
  rpcUrl = world.url + SANDBOX_PATHS.rpc;
  ({ desk: live, fireblocks } = await startLiveQuoteDesk(world));
  await rpc('requestAirdrop', fireblocks.address, SOL);
  trader = await newSandboxTrader(live);
  market = await aSandboxMarket(trader.client);
});
const BUY = { side: 'YES', action: 'BUY', amount: 20 } as const;
const usdcOf = async (wallet: string): Promise<number> => {
  const accounts = await tokenAccounts(sql);
  const own = accounts.filter(({ owner, mint }) => owner === wallet && mint === USDC_MINT);
  return own.reduce((sum, { amount }) => sum + Number(amount), 0) / 1e6;
};

test('it reports that it is live, and gives no paper money', async () => {
  const { client, wallet, signer } = trader;
  const { venues } = await client.getMe();
  expect(venues.map(({ name, backend }) => [name, backend])).toEqual([
    ['polymarket', 'paper'],
    ['kalshi', 'live'],
  ]);
  const ready = await call(live, 'GET', '/readyz');
  expect(ready.body.venues).toMatchObject([
    { backend: 'paper' },
    { name: 'kalshi', backend: 'live', status: 'ready' },
  ]);
  const { body } = await trader.quote({ marketTicker: market.id, ...BUY });
  expect(body).toMatchObject({ quoteErrorCode: 'insufficient_balance' });
  await linkSolanaWallet(client, signer);
  expect((await client.venueB.delegation()).rpcUrl).toBeNull();
  expect(await usdcOf(wallet)).toBe(0);
  expect(await rpc('getBalance', wallet)).toMatchObject({ value: 0 });
});

test('an unclaimed agent cannot trade', async () => {
  const { client, wallet, signer } = trader;
  // The money comes from outside: here from the desk that runs the chain.
  const giver = await newSandboxTrader(world);
  await giver.quote({ marketTicker: market.id, ...BUY, userPublicKey: wallet });
  expect(await usdcOf(wallet)).toBe(10_000);
  await expect(client.venueB.trade({ ticker: market.id, ...BUY, signer })).rejects.toMatchObject({
    code: 'quote_not_executable',
    quoteErrorCode: 'claim_required',
  });
  expect(await client.venueB.orders()).toEqual([]);
  expect(await usdcOf(wallet)).toBe(10_000);
});

test('a claimed agent buys, sells, and is charged a fee that Fireblocks signs', async () => {
  const { client, signer, wallet, apiKey } = trader;
  const owner = new Visitor(live);
  expect((await owner.register('Ada')).status).toBe(200);
  await claim(owner, trader);

  const bought = await trader.trade({ ticker: market.id, ...BUY });
  expect(bought).toMatchObject({ status: 'filled', venue: 'kalshi' });
  const sold = await trader.trade({ ticker: market.id, side: 'YES', action: 'SELL', shares: 3 });
  expect(sold).toMatchObject({ status: 'filled', filledSize: 3 });
  const page = (path: string) => call(live, 'GET', path, { key: apiKey });
  const latest = await page('/venueb/agent/orders?limit=1');
  expect([latest.body[0].orderId, latest.headers.get('x-total-count')]).toEqual([sold.orderId, '2']);
  const [, next = ''] = /<(.+cursor=.+)>; rel="next"/.exec(latest.headers.get('link') ?? '') ?? [];
  const last = await page(next);
  expect([last.body.map(({ orderId }: { orderId: string }) => orderId), last.headers.get('link')]).toEqual([
    [bought.orderId],
    null,
  ]);
  await expectChainToAgree(sql, [trader]);

  const delegate = fireblocks.address;
  const { delegation } = await client.venueB.approveDelegate({ signer, amount: 1, rpcUrl, delegate });
  expect(delegation).toMatchObject({ delegate, delegatedAmount: '1' });
  const charge = () =>
    call(live, 'POST', '/venueb/agent/charge-fee', {
      key: apiKey,
      body: { amount: '0.2', fromAddress: wallet },
      headers: { 'idempotency-key': bought.orderId },
    });
  const { body } = await charge();
  expect(body).toMatchObject({ status: 'BROADCASTED', toAddress: delegate, amount: '0.2' });
  expect((await charge()).body).toEqual(body);
  await expectChainToAgree(sql, [trader], { charged: new Map([[wallet, 0.2]]) });
  expect(await usdcOf(delegate)).toBeCloseTo(0.2, 6);
  expect(await rpc('getSignatureStatuses', [body.txSignature])).toMatchObject({ value: [{ err: null }] });
});

test('while the quote venue is unreachable, signed orders still work and the desk reports it', async () => {
  const { switches } = world.sandbox.venue;
  switches.outage = 'on';
  const { body } = await trader.quote({ marketTicker: market.id, ...BUY });
  expect(body).toMatchObject({ quoteErrorCode: 'venue_unavailable' });
  expect((await call(live, 'GET', '/readyz')).status).toBe(200);
  expect((await trader.client.listMarkets({ q: '*', limit: 5 })).length).toBe(5);
  switches.outage = 'off';
});
