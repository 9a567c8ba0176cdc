/** A desk that is configured for a live venue A: what it refuses, and what it keeps apart. */
import { buildMarketOrder, type Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { ownerOf } from '../approving.ts';
import { call, newAgent, openMarkets, startTestService, type TestService, type Trader } from '../harness.ts';
import {
  claim,
  liveOrder,
  newLiveTrader,
  orderAt,
  PROFILE,
  poolOf,
  startLiveDesk,
  startVenue,
} from '../live-desk.ts';
import { liveEnvironment } from '../live-environment.ts';
import { Visitor } from '../passkey.ts';

let venue: TestService;
let desk: TestService;
let trader: Trader;
let market: Market;

beforeAll(async () => {
  venue = await startVenue();
  desk = await startLiveDesk(venue);
  trader = await newLiveTrader(desk, venue);
  [market] = (await openMarkets(trader.client)) as [Market];
});

describe('the start', () => {
  test('says what is live, and has none of its doors', async () => {
    const { body } = await call(desk, 'GET', '/readyz');
    expect(body.venues[0]).toMatchObject({ name: 'polymarket', kind: 'A', backend: 'live', status: 'ready' });
    expect((await trader.client.getMe()).venues[0]).toMatchObject({ backend: 'live' });
    for (const path of ['/paper/clob/time', '/paper/gamma/markets'])
      expect((await call(desk, 'GET', path)).status).toBe(404);
    const faucet = await call(desk, 'POST', '/paper/faucet', { body: { address: trader.funder, amount: 1 } });
    expect(faucet.body.code).toBe('paper_only');
  });

  test('with a clock that is far from the venue’s takes no orders, and /readyz says why', async () => {
    const slow = await startLiveDesk(venue, {}, { clock: { now: () => Date.now() - 90_000 } });
    const other = await newLiveTrader(slow, venue);
    const statusOf = async () => (await call(slow, 'GET', '/readyz')).body.venues[0].status;
    await expect.poll(statusOf).toMatch(/^the venue's clock is \d+ s ahead of this service's: set the clock/);
    const refused = await other.client
      .placeTrade(await liveOrder(other, market, { side: 'BUY' }))
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 503, code: 'service_unavailable' });
    expect(String(refused)).toContain('s ahead of this service');
  });

  test('is refused on a database of the other backend, both ways', async () => {
    const of = ({ databaseUrl, masterKey }: TestService) => ({
      DATABASE_URL: databaseUrl,
      MASTER_KEY: masterKey,
    });
    await expect(startTestService(of(desk))).rejects.toThrow(
      'This database holds live orders of polymarket, which is configured as paper.',
    );
    await expect(startTestService({ ...liveEnvironment(venue.url), ...of(venue) })).rejects.toThrow(
      'This database holds paper orders of polymarket, which is configured as live.',
    );
  });

  test('a database from before the backends were recorded is of the paper exchange', async () => {
    const sql = poolOf(venue);
    await venue.exchange.step();
    const paper = await startTestService({ PAPER_WORLD: 'off' });
    const before = poolOf(paper);
    const { newTrader, restingOrder } = await import('../harness.ts');
    const one = await newTrader(paper);
    const [open] = (await openMarkets(one.client)) as [Market];
    await one.client.placeTrade(await restingOrder(one, open));
    await before`delete from venue_backends`;
    await paper.stop();
    const { databaseUrl, masterKey } = paper;
    await expect(
      startTestService({ ...liveEnvironment(venue.url), DATABASE_URL: databaseUrl, MASTER_KEY: masterKey }),
    ).rejects.toThrow('This database holds paper orders');
    expect(await sql`select backend from venue_backends where venue = 'polymarket'`).toMatchObject([
      { backend: 'paper' },
    ]);
  });
});

describe('an agent', () => {
  test('must be claimed before it trades', async () => {
    const unclaimed = await newLiveTrader(desk, venue);
    const sql = poolOf(desk);
    await sql`update agents set claimed_at = null where agent_id = ${unclaimed.agentId}`;
    const body = await liveOrder(unclaimed, market, { side: 'BUY' });
    const answer = await call(desk, 'POST', '/markets/trade', { key: unclaimed.apiKey, body });
    expect([answer.status, answer.body.code]).toEqual([403, 'claim_required']);
    await claim(desk, unclaimed.agentId);
    const again = await call(desk, 'POST', '/markets/trade', { key: unclaimed.apiKey, body });
    expect([again.status, again.body.success]).toEqual([201, true]);
  });

  test('is claimed with the limits that its owner was shown, after any raise meanwhile', async () => {
    const agent = await newAgent(desk);
    await agent.client.updateSettings({ maxTradeAmount: 20, dailyTradeAmountLimit: 100 });
    const { claimCode } = await agent.client.getMe();
    const owner = new Visitor(desk);
    expect((await owner.register('Ada')).status).toBe(200);
    // By name: a page that is asked for by address redirects.
    const page = await call({ url: desk.needs.publicUrl }, 'GET', `/agents/claim/${claimCode}`, {
      headers: { accept: 'text/html', cookie: owner.cookie ?? '' },
    });
    const attribute = /data-safeguards="([^"]+)"/.exec(page.body)?.[1] ?? '';
    const shown = JSON.parse(attribute.replaceAll('&quot;', '"').replaceAll('&#34;', '"'));
    expect(shown.maxTradeAmount).toEqual({ limit: 20, locked: true });
    await agent.client.updateSettings({ maxTradeAmount: 5_000, dailyTradeAmountLimit: 30 });
    const claimed = await owner.send('POST', '/owner/claim', { claimCode, safeguards: shown });
    expect(claimed.body.settings).toMatchObject({
      maxTradeAmount: 20,
      dailyTradeAmountLimit: 30,
      lockedByOwner: { maxTradeAmount: 20, dailyTradeAmountLimit: 100 },
    });
    const raised = await call(desk, 'POST', '/agents/settings', {
      key: agent.apiKey,
      body: { maxTradeAmount: 21 },
    });
    expect(raised.body.code).toBe('locked_by_owner');
  });

  test('is claimed with every cap locked where the claim names none', async () => {
    const agent = await newAgent(desk);
    await agent.client.updateSettings({ maxTradeAmount: 17 });
    const { claimCode } = await agent.client.getMe();
    const owner = await ownerOf(desk);
    const { body } = await owner.send('POST', '/owner/claim', { claimCode });
    expect(body.settings.lockedByOwner).toMatchObject({ maxTradeAmount: 17, maxTradesPerDay: 50 });
  });

  test('whose key is wrong, or of another address, learns which address is missing', async () => {
    const stranger = await newAgent(desk);
    const secrets = { apiKey: crypto.randomUUID(), apiSecret: 'c2VjcmV0', apiPassphrase: 'x'.repeat(64) };
    const answer = await call(desk, 'POST', '/wallet/credentials', {
      key: stranger.apiKey,
      body: { walletAddress: stranger.signer.wallet(2), signatureType: 2, ...secrets },
    });
    expect(answer.body).toMatchObject({ code: 'venue_credentials_invalid' });
    expect(answer.body.detail).toContain('polyAddress');
  });

  test.each([1, 2, 3] as const)('trades from a wallet of signatureType %i', async (type) => {
    const other = await newLiveTrader(desk, venue, type);
    const placed = await other.client.placeTrade(await liveOrder(other, market, { side: 'BUY' }));
    expect(placed).toMatchObject({ success: true, status: 'live', signatureType: type });
    expect(venue.exchange.openOrders(other.funder)).toHaveLength(1);
  });
});

const isCanceled = (orderId: string) =>
  expect
    .poll(async () => (await orderAt(desk, trader, orderId)).status, { timeout: 60_000 })
    .toBe('canceled');

test('orders that were placed past the desk leave no trace in it, and its own are not disturbed', async () => {
  const placed = await trader.client.placeTrade(await liveOrder(trader, market, { side: 'BUY', size: 33 }));
  await venue.exchange.execute({
    kind: 'place',
    order: {
      ...{
        orderId: `0x${'ab'.repeat(32)}`,
        account: trader.funder,
        conditionId: market.conditionId,
        outcome: 'YES',
      },
      ...{ side: 'BUY', limit: 9_900, size: 20_000_000n, timeInForce: 'FAK', postOnly: false },
    },
  });
  const sql = poolOf(desk);
  // The venue reports orders one after another.
  const later = await trader.client.placeTrade(await liveOrder(trader, market, { side: 'BUY', size: 35 }));
  await venue.exchange.execute({ kind: 'cancel', account: trader.funder, orderIds: [later.orderId] });
  await isCanceled(later.orderId);
  expect(await orderAt(desk, trader, placed.orderId)).toMatchObject({ status: 'live', filledSize: 0 });
  expect(await sql`select 1 from fills where wallet = ${trader.funder}`).toEqual([]);
  expect(await sql`select 1 from positions where wallet = ${trader.funder}`).toEqual([]);
});

test('an order that is canceled past the desk is canceled in it', async () => {
  const placed = await trader.client.placeTrade(await liveOrder(trader, market, { side: 'BUY', size: 34 }));
  await venue.exchange.execute({ kind: 'cancel', account: trader.funder, orderIds: [placed.orderId] });
  await isCanceled(placed.orderId);
});

test('LIVE_ORDERS=off does everything but send, and returns the budget', async () => {
  const dry = await startLiveDesk(venue, { LIVE_ORDERS: 'off' });
  const agent = await newLiveTrader(dry, venue);
  const before = await agent.client.getMe();
  const order = await liveOrder(agent, market, { side: 'BUY', size: 35 });
  const placed = await agent.client.placeTrade(order);
  expect(placed).toMatchObject({ success: false, status: 'rejected', errorCode: 'dry_run' });
  expect(venue.exchange.openOrders(agent.funder)).toEqual([]);
  expect(await orderAt(dry, agent, placed.orderId)).toMatchObject({
    status: 'rejected',
    errorCode: 'dry_run',
  });
  expect((await agent.client.getMe()).tradesRemaining).toBe(before.tradesRemaining);
  expect(await agent.client.placeTrade(order)).toMatchObject({ errorCode: 'dry_run' });
});

test('past prices are those that the venue recorded, of either token', async () => {
  const [yes, no] = market.clobTokenIds as [string, string];
  const tick = (minutesAgo: number, pips: number) =>
    poolOf(venue)`insert into exchange_prices (token_id, at_ms, pips)
      values (${yes}, ${Date.now() - minutesAgo * 60_000}, ${pips}) on conflict do nothing`;
  await poolOf(venue)`delete from exchange_prices where token_id = ${yes}`;
  await tick(300, 3_100);
  await tick(45, 4_200);
  await tick(30, 4_300);
  const history = async (query: string) =>
    (await call(desk, 'GET', `/markets/prices-history?${query}`, { key: trader.apiKey })).body.history;
  const hour = await history(`market=${yes}&interval=1h`);
  // It begins with the price that held then, and ends with the price of now.
  expect(hour.slice(0, 3).map(({ p }: { p: number }) => p)).toEqual([0.31, 0.42, 0.43]);
  expect(hour.length).toBeGreaterThan(3);
  const mirrored = await history(`market=${no}&interval=1h`);
  expect(mirrored[1].p).toBeCloseTo(0.58, 6);
  const whole = await history(`market=${yes}&interval=max`);
  expect(whole[0].p).toBe(0.31);
});

test('a search lists markets of Protocol V2, open, with their position ids', async () => {
  const listed = [...venue.exchange.markets()].find(({ version }) => version === 'v2')!;
  const { body } = await call(desk, 'GET', `/markets?${new URLSearchParams({ q: listed.conditionId })}`, {
    key: trader.apiKey,
  });
  const found = (body as Market[]).find(({ conditionId }) => conditionId === listed.conditionId);
  expect(found).toMatchObject({ version: 'v2', active: true, clobTokenIds: [...listed.tokenIds] });
  expect(found).not.toHaveProperty('untradable');
});

test('buys and sells in markets of Protocol V2, exclusive ones as well', async () => {
  const markets = [...venue.exchange.markets()].filter(
    ({ version, status, bestBid = 0 }) => version === 'v2' && status === 'open' && bestBid > 500,
  );
  for (const negRisk of [false, true]) {
    const listed = markets.find((market) => market.negRisk === negRisk)!;
    const market = await trader.client.getMarket(listed.conditionId);
    const { signer, signatureType } = trader;
    const common = { signer, signatureType, profile: PROFILE, market, outcome: 'YES' } as const;
    const bought = await trader.client.placeTrade(
      await buildMarketOrder({ ...common, side: 'BUY', amount: 5, worstPrice: 0.99 }),
    );
    expect(bought).toMatchObject({ success: true, orderVersion: 2, exchangeVersion: 3 });
    const sold = await trader.client.placeTrade(
      await buildMarketOrder({ ...common, side: 'SELL', shares: 1, worstPrice: 0.01 }),
    );
    expect(sold).toMatchObject({ success: true, exchangeVersion: 3 });
    await expect
      .poll(async () => (await orderAt(desk, trader, sold.orderId)).filledSize, { timeout: 30_000 })
      .toBe(1);
  }
});
