/**
 * Quoted orders through the whole service on the real sandbox: the chain, the venue's doors and the paper exchange's
 * book. The desk's records are compared with the chain.
 */
import { QUOTE_ERRORS } from '@bellwether/contract';
import { associatedTokenAddress, SOLANA_PROGRAMS, type SolanaAddress, USDC_MINT } from '@bellwether/protocol';
import { linkSolanaWallet, type Market, type QuotedOrderDetail } from '@bellwether/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { claim } from '../approving.ts';
import { tokenTransfer } from '../fake-quote-venue.ts';
import { call, startTestService, type TestService, withTurns } from '../harness.ts';
import { Visitor } from '../passkey.ts';
import {
  aSandboxMarket,
  newSandboxTrader,
  type SandboxTrader,
  sandboxMarkets,
  tokenAccounts,
  usdcOf,
} from '../sandbox.ts';
import { movingClock, resolveMarket } from '../world.ts';
import { expectToAddUp, statementOf } from './statement-stage.ts';

const CREDITED = 10_000;
const BREAKER_REST_MS = 5_001;
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
  Object.assign(service.sandbox.venue.switches, {
    ...{ fill: 'auto', fillDelayMs: 600, maintenance: 'off', geoblock: 'off', outage: 'off' },
    ...{ kyc: 'off', verifiedWallets: new Set(), restrictedWallets: new Set() },
  });
});

const held = async (wallet: string, mint: string): Promise<number> => {
  const accounts = await tokenAccounts(sql);
  const own = accounts.filter((one) => one.owner === wallet && one.mint === mint);
  return own.reduce((sum, { amount }) => sum + Number(amount), 0) / 1e6;
};
const money = (wallet: SolanaAddress): Promise<number> => held(wallet, USDC_MINT);
const spent = (order: QuotedOrderDetail): number => order.filledAmount + order.feePaid;
const buy = (amount: number) => ({ ticker: market.id, side: 'YES', action: 'BUY', amount }) as const;
const sell = (shares: number) => ({ ticker: market.id, side: 'YES', action: 'SELL', shares }) as const;

/** Its wallet is linked and has paper money. */
async function linked(): Promise<SandboxTrader> {
  const trader = await newSandboxTrader(service);
  await linkSolanaWallet(trader.client, trader.signer);
  return trader;
}

describe('a complete session with quoted orders', () => {
  let trader: SandboxTrader;
  let bought: QuotedOrderDetail;
  let yes: string;
  let no: string;
  beforeAll(async () => {
    trader = await linked();
    [yes, no] = market.clobTokenIds as [string, string];
  });

  test('before the first trade: the credit, the market by each of its ids, a prediction that the quote bears out', async () => {
    const { client, wallet, apiKey } = trader;
    const read = async (path: string) => (await call(service, 'GET', path, { key: apiKey })).body;
    const { simulationBalance } = await client.getMe();
    expect((await read('/markets/portfolio?venue=kalshi')).venues).toEqual({
      kalshi: { balance: simulationBalance, pnl: 0, positionsCount: 0, totalExposure: 0 },
    });
    const { venues, riskAlerts } = await client.getBriefing();
    expect(venues.kalshi).toMatchObject({ walletAddress: wallet, balance: simulationBalance, actions: [] });
    expect(riskAlerts).toEqual([]);
    expect(await read('/venueb/agent/positions')).toEqual([]);

    expect(market).toMatchObject({ venue: 'kalshi', conditionId: market.id, active: true });
    for (const id of [market.id, yes, no]) expect((await read(`/markets/${id}`)).id).toBe(market.id);
    expect((await read(`/markets/orderbook/${yes}`)).asks[0].price).toBe(market.bestAsk);
    const context = await client.getMarketContext(market.id, { side: 'BUY', size: 50 });
    expect(context.account).toMatchObject({ walletAddress: wallet, available: simulationBalance });
    const reported = context.slippage.find(({ amount, outcome }) => amount === 50 && outcome === 'YES');
    const { body } = await trader.quote({ marketTicker: market.id, side: 'YES', action: 'BUY', amount: 50 });
    // The venue rounds its fee up to the cent: a contract less, at most.
    const fewer = (reported?.filledShares ?? 0) - Number(body.outAmount) / 1e6;
    expect(fewer).toBeGreaterThanOrEqual(0);
    expect(fewer).toBeLessThanOrEqual(1);
  });

  test('a BUY is open at first, then filled by another transaction', async () => {
    const { client, signer, wallet } = trader;
    service.sandbox.venue.switches.fill = 'never';
    const labels = { reasoning: 'To see it through.', source: 'sdk:e2e' };
    const submitted = await client.venueB.trade({ ...buy(40), signer, ...labels });
    expect(submitted).toMatchObject({ success: true, status: 'submitted', filledSize: 0, venue: 'kalshi' });
    const status = async () => (await client.venueB.order(submitted.orderId)).status;
    await withTurns(service, ['follow'], expect.poll(status).toBe('open'));
    // Landed and not filled: the money has left the wallet, no tokens have arrived.
    expect(await money(wallet)).toBeCloseTo(CREDITED - 40, 6);
    expect(await held(wallet, yes)).toBe(0);
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
    expect(await held(wallet, yes)).toBe(bought.filledSize);
    expect(await money(wallet)).toBeCloseTo(CREDITED - spent(bought), 6);
    const [position, ...others] = await client.venueB.positions();
    expect(others).toEqual([]);
    expect(position).toMatchObject({
      venue: 'kalshi',
      marketTicker: market.id,
      mint: yes,
      outcome: 'YES',
      size: bought.filledSize,
      marketStatus: 'active',
    });
    expect(position?.avgPrice).toBeCloseTo(bought.filledAmount / bought.filledSize, 4);
    const byPost = await call(service, 'POST', '/kalshi/agent/positions', { key: apiKey, body: {} });
    expect(byPost.body).toEqual([position]);
    const positions = await client.getCurrentPositions({ venue: 'kalshi' });
    expect(positions).toMatchObject([{ size: bought.filledSize }]);
    const { venues } = await client.getPortfolio();
    expect(venues.kalshi).toMatchObject({ positionsCount: 1 });
    expect(venues.kalshi?.balance).toBeCloseTo(CREDITED - spent(bought), 5);
    const briefing = await client.getBriefing();
    expect(briefing.venues.kalshi).toMatchObject({ walletAddress: wallet, currentPositionsCount: 1 });
    const counts = { tradesToday: 1, currentPositionCount: 1, openOrderCount: 0 };
    expect(await client.getMe()).toMatchObject(counts);
    const { trades } = await client.listAgentTrades({ venue: 'kalshi' });
    expect(trades).toMatchObject([
      { orderId: bought.orderId, platform: 'kalshi', actionType: 'BUY', direction: 'YES', status: 'filled' },
    ]);
  });

  test('a part of the position is sold', async () => {
    const { client, wallet } = trader;
    const before = await money(wallet);
    const sold = await trader.trade(sell(10));
    expect(sold).toMatchObject({ status: 'filled', filledSize: 10 });
    expect(await money(wallet)).toBeCloseTo(before + sold.filledAmount - sold.feePaid, 6);
    const [position] = await client.venueB.positions();
    expect(position?.size).toBe(bought.filledSize - 10);
    expect(await held(wallet, yes)).toBe(bought.filledSize - 10);
    expect(await client.getMe()).toMatchObject({ tradesToday: 2 });
  });

  test('an order that cannot be filled completely is returned in part or in full', async () => {
    const { wallet } = trader;
    const before = await money(wallet);
    service.sandbox.venue.switches.fill = 'partial';
    const part = await trader.trade({ ...buy(20), side: 'NO' });
    expect(part).toMatchObject({ status: 'partially_filled', reverts: [{ mint: USDC_MINT }] });
    expect(await held(wallet, no)).toBe(part.filledSize);
    expect(await money(wallet)).toBeCloseTo(before - spent(part), 6);
    service.sandbox.venue.switches.fill = 'revert';
    const none = await trader.trade({ ...buy(20), side: 'NO' });
    expect(none).toMatchObject({ status: 'reverted', filledSize: 0, reverts: [{ amount: '20000000' }] });
    expect(await money(wallet)).toBeCloseTo(before - spent(part), 6);
    const sale = await trader.trade(sell(5));
    expect(sale).toMatchObject({ status: 'reverted', reverts: [{ mint: yes, amount: '5000000' }] });
    // A completely reverted order does not count as a trade.
    expect(await trader.client.getMe()).toMatchObject({ tradesToday: 3 });
  });
});

describe('a statement', () => {
  /** A transfer as any wallet makes it: the desk is not asked. */
  async function send(from: SandboxTrader, to: SandboxTrader, amount: bigint): Promise<void> {
    const { chain } = service.sandbox;
    const { blockhash } = await chain.latestBlockhash();
    const destination = associatedTokenAddress(to.wallet, USDC_MINT, SOLANA_PROGRAMS.token);
    const { wire } = tokenTransfer({
      wallet: from.wallet,
      mint: USDC_MINT,
      amount,
      destination,
      recentBlockhash: blockhash,
    });
    expect(await chain.send(from.signer.signTransaction(wire))).not.toMatchObject({ kind: 'refused' });
  }

  test('explains purchases, sales and fees of the platform; a transfer past the desk is its own line', async () => {
    const [trader, friend] = [await linked(), await linked()];
    await trader.trade(buy(40));
    await trader.trade(sell(10));
    await trader.client.venueB.approveDelegate({ signer: trader.signer, amount: 1 });
    const body = { amount: '0.25', fromAddress: trader.wallet };
    const charged = await call(service, 'POST', '/venueb/agent/charge-fee', { key: trader.apiKey, body });
    expect(charged.status).toBe(200);
    const fees = async () => (await statementOf(trader)).totals.platformFees;
    await withTurns(service, ['follow fees'], expect.poll(fees).toBe(0.25));

    const before = await statementOf(trader);
    expectToAddUp(before);
    expect(before).toMatchObject({
      isCurrent: true,
      totals: { deposits: CREDITED, notExplained: 0, platformFees: 0.25 },
      closing: { cash: await money(trader.wallet) },
    });
    expect(before.events.map(({ kind }) => kind)).toEqual(['deposit', 'buy', 'sell', 'platform_fee']);

    await send(trader, friend, 1_234_567n);
    const after = await statementOf(trader);
    expectToAddUp(after);
    expect(after.totals.notExplained).toBe(-1.234567);
    expect(after.closing.cash).toBe(await money(trader.wallet));
    expect((await statementOf(friend)).totals.notExplained).toBe(1.234567);

    // Of an owner of both it never left.
    const owner = new Visitor(service);
    await owner.register('Ada');
    await claim(owner, trader);
    await claim(owner, friend);
    const ofBoth = (await owner.send('GET', '/owner/statement')).body;
    expectToAddUp(ofBoth);
    expect(ofBoth.totals).toMatchObject({ notExplained: 0, deposits: 2 * CREDITED });
  });

  test('shows shares bought for another wallet as a transfer from the one that paid to the one that has them', async () => {
    const [payer, receiver] = [await linked(), await linked()];
    await payer.trade({ ...buy(25), destination: receiver.wallet });
    const [paid, got] = [await statementOf(payer), await statementOf(receiver)];
    for (const one of [paid, got]) {
      expectToAddUp(one);
      expect(one.totals.notExplained).toBe(0);
    }
    expect(paid.closing.cash).toBe(await money(payer.wallet));
    expect(got.closing.cash).toBe(await money(receiver.wallet));
    const [out] = paid.events.filter(({ kind }) => kind === 'transfer');
    const [into] = got.events.filter(({ kind }) => kind === 'transfer');
    expect(out?.cash).toBeLessThan(0);
    expect(into?.cash).toBe(-(out?.cash as number));
    expect(got.closing.costBasis).toBeGreaterThan(0);
  });
});

describe('a quote without a transaction', () => {
  const SELL_ONE = { action: 'SELL', amount: undefined, shares: 1 };
  type Fields = Readonly<Record<string, unknown>>;
  const seen = new Set<string>();
  let trader: SandboxTrader;
  beforeAll(async () => {
    trader = await newSandboxTrader(service);
  });
  afterAll(() => {
    expect([...seen].sort()).toEqual(Object.keys(QUOTE_ERRORS).sort());
  });

  async function ask(fields: Fields = {}, headers?: Record<string, string>) {
    const { status, body } = await trader.quote(
      { marketTicker: market.id, side: 'YES', action: 'BUY', amount: 10, ...fields },
      headers,
    );
    expect(status).toBe(200);
    return body;
  }

  async function expectRefused(code: string, fields: Fields = {}, headers?: Record<string, string>) {
    const body = await ask(fields, headers);
    expect(body).toMatchObject({
      quoteErrorCode: code,
      quoteErrorMessage: expect.any(String),
      kycRequired: code === 'kyc_required',
      geoblocked: code === 'geoblocked',
      expiresAt: expect.any(Number),
    });
    expect(body).not.toHaveProperty('unsignedTransaction');
    const submitted = await trader.submit(body.quoteId, 'AAAA');
    expect(submitted).toMatchObject({ status: 400, body: { code: 'quote_not_executable' } });
    seen.add(code);
    return body;
  }

  test.each<[code: string, why: string, fields: Fields, switches?: object]>([
    ['market_not_found', 'an unknown ticker', { marketTicker: 'KXNONE-1-1' }],
    ['amount_too_small', 'money for less than a contract', { amount: 0.01 }],
    ['amount_too_small', 'a half contract', { ...SELL_ONE, shares: 0.5 }],
    ['fraction_of_contract', 'a sale is never rounded without a word', { ...SELL_ONE, shares: 2.7 }],
    ['insufficient_balance', 'money', { amount: 10_001 }],
    ['insufficient_balance', 'contracts', SELL_ONE],
    ['route_not_found', 'not enough buyers', { ...SELL_ONE, shares: 1e9, userPublicKey: null }],
    ['geoblocked', 'by the venue itself', {}, { geoblock: 'on' }],
    ['wallet_restricted', 'whatever the country', {}, { restrictedWallets: { has: () => true } }],
    ['venue_maintenance', 'once a week', {}, { maintenance: 'on' }],
  ])('has the code %s: %s', async (code, _why, fields, switches = {}) => {
    Object.assign(service.sandbox.venue.switches, switches);
    await expectRefused(code, fields);
  });

  test('has the code price_impact_too_high: an order too large for a cheap book', async () => {
    const markets = await trader.client.listMarkets({ q: '*', venue: 'kalshi', limit: 500 });
    const cheapest = markets
      .filter(({ active, bestAsk }) => active && Number(bestAsk) > 0)
      .sort((a, b) => Number(a.bestAsk) - Number(b.bestAsk))
      .slice(0, 10);
    for (const { id } of cheapest) {
      const fields = { marketTicker: id, amount: 1e8, userPublicKey: null };
      if ((await ask(fields)).quoteErrorCode !== 'price_impact_too_high') continue;
      await expectRefused('price_impact_too_high', fields);
      return;
    }
    throw new Error('no book of the world is thin in proportion');
  });

  test('has the code kyc_required for buyers, until the wallet is verified', async () => {
    service.sandbox.venue.switches.kyc = 'required';
    const { quoteErrorMessage } = await expectRefused('kyc_required');
    expect(quoteErrorMessage).toContain(`wallet=${trader.wallet}`);
    service.sandbox.venue.switches.verifiedWallets = new Set([trader.wallet]);
    expect(await ask()).toHaveProperty('unsignedTransaction');
  });

  test('has the code venue_unavailable until the venue answers again', async () => {
    service.sandbox.venue.switches.outage = 'on';
    for (let i = 0; i < 3; i += 1) await expectRefused('venue_unavailable');
    service.sandbox.venue.switches.outage = 'off';
    clock.advance(BREAKER_REST_MS);
    expect(await ask()).toHaveProperty('unsignedTransaction');
  });

  test('has the code market_closed past the end; then winners are redeemed for a dollar each, losers for nothing', async () => {
    const ending = (await sandboxMarkets(trader.client)).at(-1) as Market;
    const trade = (fields: object) => trader.trade({ ...buy(12), ticker: ending.id, ...fields });
    const [yesBought, noBought] = [await trade({ side: 'YES' }), await trade({ side: 'NO' })];
    expect([yesBought.status, noBought.status]).toEqual(['filled', 'filled']);
    const conditionId = (await service.sandbox.venue.catalog.byTicker(ending.id))?.conditionId as string;
    for (let i = 0; i < 10 && service.exchange.market(conditionId)?.status === 'open'; i += 1) {
      clock.moveTo(Date.parse(ending.endDate) + 1);
      await service.exchange.step();
      clock.advance(1_000);
    }
    await expectRefused('market_closed', { marketTicker: ending.id });
    const winner = (await resolveMarket(service, clock, conditionId)) as 'YES' | 'NO';
    const loser = winner === 'YES' ? 'NO' : 'YES';
    const [won, lost] = winner === 'YES' ? [yesBought, noBought] : [noBought, yesBought];
    await service.sandbox.venue.tick();

    const { wallet, client } = trader;
    const closed = { marketTicker: ending.id, side: loser, ...SELL_ONE, shares: lost.filledSize };
    expect(await expectRefused('market_closed', closed)).toMatchObject({ status: 'settled' });
    await expectRefused('market_closed', { marketTicker: ending.id, side: winner, amount: 5 });
    const before = await money(wallet);
    const { tradesToday } = await client.getMe();
    const redeemed = await trader.trade({ ...sell(won.filledSize), ticker: ending.id, side: winner });
    expect(redeemed).toMatchObject({ status: 'filled', isRedemption: true, feePaid: 0, avgPrice: 1 });
    expect(await money(wallet)).toBeCloseTo(before + won.filledSize, 6);
    expect((await client.getMe()).tradesToday).toBe(tradesToday);
    const left = async () =>
      (await client.venueB.positions()).filter(({ marketTicker }) => marketTicker === ending.id);
    await expect
      .poll(left)
      .toMatchObject([{ outcome: loser, size: lost.filledSize, currentValue: 0, redeemable: false }]);
  });
});

test('where a proxy names countries, a BUY needs one that is allowed; a SELL none', async () => {
  const header = 'x-country';
  const guarded = await startTestService({
    ...{ PAPER_WORLD: 'off', TRUST_PROXY: 'on', VENUE_B_COUNTRY_HEADER: header },
  });
  const trader = await newSandboxTrader(guarded);
  const [open] = (await sandboxMarkets(trader.client)) as [Market];
  const ask = async (country: string | null, order: object = { action: 'BUY', amount: 10 }) =>
    (
      await trader.quote(
        { marketTicker: open.id, side: 'YES', ...order },
        country === null ? {} : { [header]: country },
      )
    ).body;
  for (const country of ['US', 'gb', 'UK', 'NC', 'XX', 'T1', 'DE, US', 'DE, DE', 'UA-43', '', null]) {
    const body = await ask(country);
    expect([country, body.quoteErrorCode, body.geoblocked]).toEqual([country, 'geoblocked', true]);
    expect(body).not.toHaveProperty('unsignedTransaction');
  }
  expect((await ask(null)).quoteErrorMessage).toMatch(/names no country\. Call without a VPN/);
  const { quoteId, unsignedTransaction } = await ask('de');
  const signed = trader.signer.signTransaction(Buffer.from(unsignedTransaction, 'base64'));
  const { body } = await trader.submit(quoteId, Buffer.from(signed).toString('base64'));
  expect((await trader.ended(body.orderId)).status).toBe('filled');
  for (const country of ['US', 'XX', null])
    expect(await ask(country, { action: 'SELL', shares: 1 })).toMatchObject({
      geoblocked: false,
      unsignedTransaction: expect.any(String),
    });
});
