/**
 * Quoted orders through the whole service on the real sandbox: the chain, the venue's doors and the paper exchange's
 * book. The desk's records are compared with the chain.
 */
import { type SolanaAddress, USDC_MINT } from '@bellwether/protocol';
import { linkSolanaWallet, type Market, type QuotedOrderDetail } from '@bellwether/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { call, startTestService, type TestService, withTurns } from '../harness.ts';
import {
  aSandboxMarket,
  newSandboxTrader,
  type SandboxTrader,
  sandboxMarkets,
  tokenAccounts,
  usdcOf,
} from '../sandbox.ts';
import { movingClock, resolveMarket } from '../world.ts';

const CREDITED = 10_000;
const clock = movingClock();
let service: TestService;
let sql: Sql;
let market: Market;
let usdc: bigint;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
  sql = openPool(service.databaseUrl, { max: 2 });
  market = await aSandboxMarket((await newSandboxTrader(service)).client);
  usdc = await usdcOf(sql);
});
afterAll(async () => {
  // After all trades, reverts and redemptions: no USDC was created or lost.
  expect(await usdcOf(sql)).toBe(usdc);
  await sql.end();
});
beforeEach(() => {
  Object.assign(service.sandbox.venue.switches, { fill: 'auto', fillDelayMs: 600 });
});

const held = async (wallet: string, mint: string): Promise<number> => {
  const accounts = await tokenAccounts(sql);
  const own = accounts.filter((one) => one.owner === wallet && one.mint === mint);
  return own.reduce((sum, { amount }) => sum + Number(amount), 0) / 1e6;
};
const money = (wallet: SolanaAddress): Promise<number> => held(wallet, USDC_MINT);
const yes = ({ clobTokenIds }: Market): string => clobTokenIds[0] as string;
const spent = (order: QuotedOrderDetail): number => order.filledAmount + order.feePaid;

describe('a complete session with quoted orders', () => {
  let trader: SandboxTrader;
  let bought: QuotedOrderDetail;
  beforeAll(async () => {
    trader = await newSandboxTrader(service);
    await linkSolanaWallet(trader.client, trader.signer);
  });

  test('a BUY is open at first, then filled by another transaction', async () => {
    const { client, signer, wallet } = trader;
    service.sandbox.venue.switches.fill = 'never';
    const submitted = await client.venueB.trade({
      ticker: market.id,
      side: 'YES',
      action: 'BUY',
      amount: 40,
      signer,
      reasoning: 'To see it through.',
      source: 'sdk:e2e',
    });
    expect(submitted).toMatchObject({ success: true, status: 'submitted', filledSize: 0, venue: 'kalshi' });
    const status = async () => (await client.venueB.order(submitted.orderId)).status;
    await withTurns(service, ['follow'], expect.poll(status).toBe('open'));
    // Landed and not filled: the money has left the wallet, no tokens have arrived.
    expect(await money(wallet)).toBeCloseTo(CREDITED - 40, 6);
    expect(await held(wallet, yes(market))).toBe(0);
    const open = await client.listOpenOrders();
    expect(open).toMatchObject([{ orderId: submitted.orderId, venue: 'kalshi', status: 'open' }]);
    expect((await client.getMe()).openOrderCount).toBe(1);
    expect((await client.getBriefing()).venues.kalshi).toMatchObject({ openOrdersCount: 1 });

    service.sandbox.venue.switches.fill = 'auto';
    bought = await trader.ended(submitted.orderId);
    expect(bought).toMatchObject({
      status: 'filled',
      orderStatus: 2,
      reasoning: 'To see it through.',
      venueOrderId: submitted.txSignature,
      errorCode: null,
    });
    expect(bought.fills).toHaveLength(1);
    // The balance cached before the fill must not be used.
    expect((await client.getBriefing()).venues.kalshi?.balance).toBeCloseTo(await money(wallet), 6);
    expect(bought.fills[0]?.txSignature).not.toBe(submitted.txSignature);
    expect(bought.feePaid).toBeGreaterThan(0);
    expect(await client.listOpenOrders()).toEqual([]);
  });

  test('the chain and every read of the desk show the same position', async () => {
    const { client, wallet, apiKey } = trader;
    expect(await held(wallet, yes(market))).toBe(bought.filledSize);
    expect(await money(wallet)).toBeCloseTo(CREDITED - spent(bought), 6);
    const [position, ...others] = await client.venueB.positions();
    expect(others).toEqual([]);
    expect(position).toMatchObject({
      venue: 'kalshi',
      marketTicker: market.id,
      mint: yes(market),
      outcome: 'YES',
      size: bought.filledSize,
      marketStatus: 'active',
    });
    expect(position?.avgPrice).toBeCloseTo(bought.filledAmount / bought.filledSize, 4);
    const byPost = await call(service, 'POST', '/kalshi/agent/positions', { key: apiKey, body: {} });
    expect(byPost.body).toEqual([position]);
    expect(await client.getCurrentPositions({ venue: 'kalshi' })).toMatchObject([
      { size: bought.filledSize },
    ]);
    const { venues } = await client.getPortfolio();
    expect(venues.kalshi).toMatchObject({ positionsCount: 1 });
    expect(venues.kalshi?.balance).toBeCloseTo(CREDITED - spent(bought), 5);
    const briefing = await client.getBriefing();
    expect(briefing.venues.kalshi).toMatchObject({ walletAddress: wallet, currentPositionsCount: 1 });
    expect(await client.getMe()).toMatchObject({
      tradesToday: 1,
      currentPositionCount: 1,
      openOrderCount: 0,
    });
    const { trades } = await client.listAgentTrades({ venue: 'kalshi' });
    expect(trades).toMatchObject([
      { orderId: bought.orderId, platform: 'kalshi', actionType: 'BUY', direction: 'YES', status: 'filled' },
    ]);
  });

  test('a part of the position is sold', async () => {
    const { client, wallet } = trader;
    const before = await money(wallet);
    const sold = await trader.trade({ ticker: market.id, side: 'YES', action: 'SELL', shares: 10 });
    expect(sold).toMatchObject({ status: 'filled', filledSize: 10 });
    expect(await money(wallet)).toBeCloseTo(before + sold.filledAmount - sold.feePaid, 6);
    const [position] = await client.venueB.positions();
    expect(position?.size).toBe(bought.filledSize - 10);
    expect(await held(wallet, yes(market))).toBe(bought.filledSize - 10);
    expect(await client.getMe()).toMatchObject({ tradesToday: 2 });
  });

  test('the fee is charged once per key, on the route that public clients call', async () => {
    const { client, signer, wallet, apiKey } = trader;
    await client.venueB.approveDelegate({ signer, amount: 5 });
    const before = await money(wallet);
    const body = { amount: '0.4', fromAddress: wallet };
    const charge = (path: string) =>
      call(service, 'POST', path, { key: apiKey, body, headers: { 'idempotency-key': bought.orderId } });
    const first = await charge('/aiagent/charge-fee/kalshi/trade-fee');
    expect(first.body).toMatchObject({ status: 'BROADCASTED', amount: '0.4', fromAddress: wallet });
    expect((await charge('/venueb/charge-fee')).body).toEqual(first.body);
    await vi.waitFor(async () => expect(await money(wallet)).toBeCloseTo(before - 0.4, 6), {
      timeout: 30_000,
    });
    expect(await money(first.body.toAddress)).toBeCloseTo(0.4, 6);
  });

  test('an order that cannot be filled completely is returned in part or in full', async () => {
    const { wallet } = trader;
    const before = await money(wallet);
    service.sandbox.venue.switches.fill = 'partial';
    const part = await trader.trade({ ticker: market.id, side: 'NO', action: 'BUY', amount: 20 });
    expect(part).toMatchObject({ status: 'partially_filled', reverts: [{ mint: USDC_MINT }] });
    expect(await held(wallet, market.clobTokenIds[1] as string)).toBe(part.filledSize);
    expect(await money(wallet)).toBeCloseTo(before - spent(part), 6);
    service.sandbox.venue.switches.fill = 'revert';
    const none = await trader.trade({ ticker: market.id, side: 'NO', action: 'BUY', amount: 20 });
    expect(none).toMatchObject({ status: 'reverted', filledSize: 0, reverts: [{ amount: '20000000' }] });
    expect(await money(wallet)).toBeCloseTo(before - spent(part), 6);
    const sale = await trader.trade({ ticker: market.id, side: 'YES', action: 'SELL', shares: 5 });
    expect(sale).toMatchObject({ status: 'reverted', reverts: [{ mint: yes(market), amount: '5000000' }] });
    // A completely reverted order does not count as a trade.
    expect(await trader.client.getMe()).toMatchObject({ tradesToday: 3 });
  });
});

describe('a quote', () => {
  test('without a wallet shows prices without a transaction', async () => {
    const trader = await newSandboxTrader(service);
    const ask = { marketTicker: market.id, side: 'yes', action: 'buy', amount: 10, userPublicKey: null };
    const { body } = await trader.quote(ask);
    expect(body).toMatchObject({ previewOnly: true, side: 'YES', action: 'BUY', inAmount: '10000000' });
    expect(body).not.toHaveProperty('unsignedTransaction');
    expect(Number(body.outAmount)).toBeGreaterThan(0);
    expect((await trader.submit(body.quoteId, 'AAAA')).body).toMatchObject({ code: 'quote_not_executable' });
  });

  test('is valid for two minutes, as long as its blockhash, and is refused afterwards', async () => {
    const trader = await newSandboxTrader(service);
    const ask = { marketTicker: market.id, side: 'YES', action: 'BUY', amount: 10 };
    const { body } = await trader.quote(ask);
    expect(body.expiresAt - clock.now()).toBeLessThanOrEqual(120_000);
    // Minus the age of the current block.
    expect(body.expiresAt - clock.now()).toBeGreaterThan(115_000);
    clock.moveTo(body.expiresAt + 1);
    const signed = trader.signer.signTransaction(Buffer.from(body.unsignedTransaction, 'base64'));
    const late = await trader.submit(body.quoteId, Buffer.from(signed).toString('base64'));
    expect(late).toMatchObject({ status: 400, body: { code: 'quote_expired' } });
    expect(await trader.client.getMe()).toMatchObject({ tradesToday: 0 });
    const again = await trader.trade({ ticker: market.id, side: 'YES', action: 'BUY', amount: 10 });
    expect(again.status).toBe('filled');
  });
});

describe('a market that ends', () => {
  test('winning tokens are redeemed for a dollar each, losing ones are worth nothing', async () => {
    const trader = await newSandboxTrader(service);
    const ending = (await sandboxMarkets(trader.client)).at(-1) as Market;
    const yesBought = await trader.trade({ ticker: ending.id, side: 'YES', action: 'BUY', amount: 12 });
    const noBought = await trader.trade({ ticker: ending.id, side: 'NO', action: 'BUY', amount: 12 });
    expect([yesBought.status, noBought.status]).toEqual(['filled', 'filled']);
    const listed = await service.sandbox.venue.catalog.byTicker(ending.id);
    const winner = (await resolveMarket(service, clock, listed?.conditionId as string)) as 'YES' | 'NO';
    const loser = winner === 'YES' ? 'NO' : 'YES';
    const [won, lost] = winner === 'YES' ? [yesBought, noBought] : [noBought, yesBought];
    await service.sandbox.venue.tick();

    const shares = lost.filledSize;
    const nothing = await trader.quote({ marketTicker: ending.id, side: loser, action: 'SELL', shares });
    expect(nothing.body).toMatchObject({ quoteErrorCode: 'market_closed', status: 'settled' });
    const tooLate = await trader.quote({ marketTicker: ending.id, side: winner, action: 'BUY', amount: 5 });
    expect(tooLate.body).toMatchObject({ quoteErrorCode: 'market_closed' });

    const before = await money(trader.wallet);
    const { tradesToday } = await trader.client.getMe();
    const redeemed = await trader.trade({
      ticker: ending.id,
      side: winner,
      action: 'SELL',
      shares: won.filledSize,
    });
    expect(redeemed).toMatchObject({ status: 'filled', isRedemption: true, feePaid: 0, avgPrice: 1 });
    expect(await money(trader.wallet)).toBeCloseTo(before + won.filledSize, 6);
    expect((await trader.client.getMe()).tradesToday).toBe(tradesToday);
    await vi.waitFor(
      async () => {
        const left = await trader.client.venueB.positions();
        expect(left).toMatchObject([
          { outcome: loser, size: lost.filledSize, currentValue: 0, redeemable: false },
        ]);
      },
      { timeout: 30_000 },
    );
  });
});
