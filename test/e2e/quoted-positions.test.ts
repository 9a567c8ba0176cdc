/** Positions, portfolio and briefing over both venues. */
import { type Briefing, type Position, SolanaSigner } from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';
import type { TickerMarket } from '../../packages/server/src/venues/quotes.ts';
import { call, newAgent, newTrader } from '../harness.ts';
import { within } from '../service-process.ts';
import {
  buyBySignedOrder,
  fake,
  get,
  M,
  newTicker,
  onBoth,
  placed,
  refusedRead,
  service,
  token,
  useStage,
  VENUES,
} from './quoted-reads-stage.ts';

useStage();

const HOUR_MS = 3_600_000;

/** Answers much later than any read waits. */
const late = () =>
  new Promise<never>((_, reject) => setTimeout(reject, 100_000, new Error('the fake venue is late')).unref());

/** Runs it while the venue is late with an answer about markets. */
async function whileLate<T>(method: 'findAll' | 'listedAfter', run: () => Promise<T>): Promise<T> {
  const { [method]: before } = fake.markets;
  Object.assign(fake.markets, { [method]: late });
  return run().finally(() => Object.assign(fake.markets, { [method]: before }));
}

describe('positions and portfolio', () => {
  test('cover both venues, each with its name, and filter by venue', async () => {
    const both = await onBoth();
    const onA = await buyBySignedOrder(both);
    const ticker = newTicker({ endDate: Date.now() + 3 * HOUR_MS });
    await placed(both, ticker, { fee: 100_000n });
    const read = async (path: string) => (await get(path, both.apiKey)).body;
    const all = (await read('/markets/current-positions')) as Position[];
    expect(all.map(({ venue }) => venue).sort()).toEqual(VENUES.toSorted());
    const onB = all.find(({ venue }) => venue === 'kalshi');
    expect(onB).toMatchObject({
      marketId: ticker.id,
      tokenId: ticker.tokenIds[0],
      outcome: 'YES',
      size: 10,
      avgPrice: 0.6,
      currentPrice: 0.595,
      initialValue: 6,
      currentValue: 5.95,
      unrealizedPnl: -0.05,
      fees: 0.1,
      redeemable: false,
      mergeable: false,
      walletAddress: both.wallet,
    });
    for (const query of ['venue=kalshi', `user=${both.wallet}`])
      expect(await read(`/markets/current-positions?${query}`), query).toEqual([onB]);
    for (const query of ['venue=polymarket', `user=${both.funder}`]) {
      const positions = (await read(`/markets/current-positions?${query}`)) as Position[];
      expect(positions.map(({ marketId }) => marketId)).toEqual([onA.id]);
    }
    expect(await read(`/markets/wallet/${both.wallet}/positions`)).toEqual({
      walletAddress: both.wallet,
      positionCount: 1,
      positions: [onB],
      totalValue: 5.95,
    });
    expect(await read('/markets/positions/expiring?venue=kalshi&hours=4')).toMatchObject({
      total: 1,
      venue: 'kalshi',
      positions: [{ marketId: ticker.id }],
    });

    const portfolio = await read('/markets/portfolio');
    const onlyA = await read('/markets/portfolio?venue=polymarket');
    const onlyB = await read('/markets/portfolio?venue=kalshi');
    expect(onlyB).toMatchObject({
      venue: 'kalshi',
      balance: 500,
      positionsCount: 1,
      totalExposure: 6,
      pnlTotal: -0.15,
      unrealizedPnl: -0.05,
      fees: 0.1,
      venues: { kalshi: { balance: 500, pnl: -0.15, positionsCount: 1, totalExposure: 6 } },
    });
    expect([portfolio.venue, portfolio.balance]).toEqual(['polymarket', onlyA.balance]);
    expect(portfolio.venues).toEqual({ ...onlyA.venues, ...onlyB.venues });
    expect(portfolio.total.positionsCount).toBe(2);
    expect(portfolio.total.totalExposure).toBeCloseTo(onlyA.totalExposure + 6, 6);

    const me = await both.client.getMe();
    expect(me.venues).toEqual([
      { name: 'polymarket', kind: 'A', backend: 'paper', status: 'ready' },
      { name: 'kalshi', kind: 'B', backend: 'paper', status: 'ready' },
    ]);
    expect(me.currentPositionCount).toBe(2);
    expect(me.totalPnl).toBeCloseTo(onlyA.pnlTotal + onlyB.pnlTotal, 6);
  });

  test('are worth what they cost where nothing says a price, and what a result says before it is final', async () => {
    const both = await onBoth();
    const unpriced = (given: Partial<TickerMarket> = {}): TickerMarket => {
      const { bestBid: _, bestAsk: __, ...market } = newTicker({ ...given, asks: { YES: null, NO: null } });
      fake.listed.set(market.id, market);
      return market;
    };
    const dark = unpriced();
    const decided = unpriced({ phase: 'closed', status: 'closed', decided: 0 });
    for (const ticker of [dark, decided]) {
      await placed(both, ticker);
      token(both.wallet, ticker.tokenIds[0], 10n * M);
    }
    const worth = [
      { marketId: dark.id, currentPrice: 0.6, currentValue: 6, unrealizedPnl: 0 },
      { marketId: decided.id, currentPrice: 0, currentValue: 0, unrealizedPnl: -6 },
    ];
    for (const path of ['/markets/current-positions?venue=kalshi', '/venueb/agent/positions']) {
      const { body } = await get(path, both.apiKey);
      expect(body, path).toHaveLength(2);
      expect(body, path).toEqual(expect.arrayContaining(worth.map((one) => expect.objectContaining(one))));
    }
    const { body } = await get('/markets/portfolio?venue=kalshi', both.apiKey);
    expect(body).toMatchObject({ unrealizedPnl: -6 });
  });

  test('quantities come from the chain, costs from the desk; only the recorded part has cost and gain', async () => {
    const both = await onBoth();
    const more = newTicker();
    const less = newTicker();
    await placed(both, more);
    await placed(both, less);
    token(both.wallet, more.tokenIds[0], 10n * M);
    token(both.wallet, more.tokenIds[0], 5n * M);
    token(both.wallet, more.tokenIds[1], 2n * M);
    token(both.wallet, less.tokenIds[0], 4n * M);
    token(both.wallet, SolanaSigner.generate().address, 9n * M);
    const path = '/venueb/agent/positions';
    const got = await get(path, both.apiKey);
    expect(got.body).toMatchObject(
      [
        [more.tokenIds[0], 15, 0.6, 6, 8.925, -0.05],
        [more.tokenIds[1], 2, 0, 0, 0.81, 0],
        [less.tokenIds[0], 4, 0.6, 2.4, 2.38, -0.02],
      ].map(([mint, size, avgPrice, initialValue, currentValue, unrealizedPnl]) => ({
        ...{ mint, size, avgPrice, initialValue, currentValue, unrealizedPnl },
        ...{ venue: 'kalshi', marketStatus: 'active', redeemable: false },
      })),
    );
    expect(got.headers.get('x-total-count')).toBe('3');
    const post = async (body: unknown, as = both.apiKey) =>
      (await call(service, 'POST', path, { key: as, body })).body;
    expect(await post({})).toEqual(got.body);
    expect(await post({ userPublicKey: both.wallet })).toEqual(got.body);
    expect((await get(`/kalshi/agent/positions`, both.apiKey)).body).toEqual(got.body);

    // An agent that only names the wallet sees its public data on the chain, and nothing of the desk's records.
    const stranger = await newAgent(service);
    expect((await post({ userPublicKey: both.wallet }, stranger.apiKey)).code).toBe('wallet_not_found');
    expect((await post({ userPublicKey: 'nobody' }, stranger.apiKey)).code).toBe('invalid_solana_address');
    expect(await post({}, stranger.apiKey)).toEqual([]);
    await stranger.client.updateSolAddress(both.wallet);
    const unknown = { avgPrice: 0, initialValue: 0, realizedPnl: 0, unrealizedPnl: 0, fees: 0 };
    expect(await post({}, stranger.apiKey)).toMatchObject([15, 2, 4].map((size) => ({ size, ...unknown })));
  });

  test('winning tokens are redeemable, losing ones are not', async () => {
    const both = await onBoth();
    const ticker = newTicker();
    await placed(both, ticker);
    await placed(both, ticker, { outcome: 'NO', shares: 3n * M, money: 1n * M });
    token(both.wallet, ticker.tokenIds[0], 10n * M);
    token(both.wallet, ticker.tokenIds[1], 3n * M);
    fake.settle(ticker.id, 'YES');
    for (const path of ['/markets/current-positions', '/venueb/agent/positions']) {
      const positions = (await get(path, both.apiKey)).body as Position[];
      expect(
        positions.map(({ outcome, currentPrice, redeemable }) => [outcome, currentPrice, redeemable]).sort(),
      ).toEqual([
        ['NO', 0, false],
        ['YES', 1, true],
      ]);
    }
    const { redeemableCount, warnings } = (await get('/markets/portfolio?venue=kalshi', both.apiKey)).body;
    expect(redeemableCount).toBe(1);
    expect(
      warnings.map(({ code, message }: { code: string; message: string }) => `${code}: ${message}`),
    ).toContain(
      'redeemable_positions: 1 positions are resolved and pay 10: ask for a SELL quote of each, POST /venueb/agent/quote.',
    );
    expect((await get('/markets/positions/expiring?hours=8000', both.apiKey)).body.total).toBe(0);
  });

  test('while the chain is silent: the last known balance and a warning', async () => {
    const both = await onBoth();
    await placed(both, newTicker());
    const portfolio = async (query = '', { apiKey } = both) =>
      (await get(`/markets/portfolio${query}`, apiKey)).body;
    expect((await portfolio()).warnings).toEqual([]);
    fake.controls.silent = true;
    const warning = (message: string) => [
      { code: 'venue_not_answering', severity: 'warning', message: expect.stringContaining(message) },
    ];
    await expect
      .poll(() => portfolio())
      .toMatchObject({
        venues: { kalshi: { balance: 500, positionsCount: 1 } },
        warnings: warning('last known'),
      });
    expect(await portfolio('?venue=kalshi', await onBoth())).toMatchObject({
      balance: 0,
      warnings: warning('not known'),
    });
    expect((await portfolio('?venue=polymarket')).warnings).toEqual([]);
  });

  test('while markets cannot be read, answers do not wait: positions are valued at cost', async () => {
    const both = await onBoth();
    await placed(both, newTicker());
    const read = async (path: string) => (await within(10_000, get(path, both.apiKey))).body;
    await whileLate('findAll', async () => {
      expect(await read('/markets/current-positions')).toMatchObject([
        { size: 10, currentPrice: 0.6, currentValue: 6, unrealizedPnl: 0 },
      ]);
      expect((await read('/markets/portfolio')).warnings).toMatchObject([
        { code: 'venue_not_answering', message: expect.stringContaining('what they cost') },
      ]);
      expect(await refusedRead('/markets/current-positions?venue=kalshi', both.apiKey)).toEqual([
        503,
        'service_unavailable',
      ]);
      const briefing: Briefing = await read('/markets/briefing');
      expect(briefing.venues.kalshi).toMatchObject({ currentPositionsCount: 1, positionsValue: 6 });
      expect(briefing.riskAlerts).toMatchObject([{ code: 'venue_not_answering', severity: 'warning' }]);
    });
  });
});

describe('briefing', () => {
  test('covers both venues, each with its own counts; filters by venue or wallet', async () => {
    const both = await onBoth();
    await buyBySignedOrder(both);
    const ticker = newTicker();
    await placed(both, ticker);
    await placed(both, ticker, { status: 'delayed' });
    const briefing = await both.client.getBriefing();
    expect(Object.keys(briefing.venues)).toEqual(VENUES);
    expect(briefing.venues.polymarket).toMatchObject({
      walletAddress: both.funder,
      openOrdersCount: 0,
      currentPositionsCount: 1,
    });
    expect(briefing.venues.kalshi).toEqual({
      walletAddress: both.wallet,
      openOrdersCount: 1,
      currentPositionsCount: 1,
      balance: 500,
      availableBalance: 500,
      positionsValue: 5.95,
      actions: [],
    });
    const venuesOf = ({ recentTrades }: Briefing) => recentTrades.map(({ venue }) => venue).sort();
    expect(venuesOf(briefing)).toEqual(['kalshi', 'kalshi', 'polymarket']);
    expect((await both.client.getMe()).openOrderCount).toBe(1);
    const ask = async (query: string): Promise<Briefing> =>
      (await get(`/markets/briefing?${query}`, both.apiKey)).body;
    for (const query of ['venue=kalshi', `user=${both.wallet}`, `venue=kalshi&user=${both.wallet}`]) {
      const one = await ask(query);
      expect(one.venue).toBe('kalshi');
      expect(one.venues).toEqual({ kalshi: briefing.venues.kalshi });
      expect(one.opportunities.newMarkets.every(({ venue }) => venue === 'kalshi')).toBe(true);
    }
    expect(venuesOf(await ask('venue=kalshi'))).toEqual(['kalshi', 'kalshi']);
    expect(await ask('venue=polymarket')).toMatchObject({
      venues: { polymarket: briefing.venues.polymarket },
      recentTrades: [{ venue: 'polymarket' }],
    });
  });

  test('the chain is read once in five seconds, and never without a wallet', async () => {
    const both = await onBoth();
    const plain = await newTrader(service);
    const unnamed = await newAgent(service);
    await both.client.getBriefing();
    const { chain } = fake.quotes;
    const { tokenAccount } = chain;
    const asked: string[] = [];
    chain.tokenAccount = (owner, mint) => {
      asked.push(owner);
      return tokenAccount(owner, mint);
    };
    for (const { client } of [both, plain, both, unnamed]) await client.getBriefing();
    chain.tokenAccount = tokenAccount;
    expect(asked).toEqual([]);
  });

  test('without a wallet: how to get one; with winnings: the quote request that redeems them', async () => {
    const agent = await newAgent(service);
    const step = { code: 'set_solana_wallet', method: 'POST', path: '/wallet/update-sol-address' };
    expect((await agent.client.getBriefing()).venues.kalshi).toMatchObject({
      walletAddress: null,
      balance: 0,
      actions: [step],
    });
    const both = await onBoth();
    const ticker = newTicker();
    await placed(both, ticker);
    await placed(both, ticker, { outcome: 'NO', shares: 2n * M, money: 1n * M });
    fake.settle(ticker.id, 'YES');
    const { venues, riskAlerts } = await both.client.getBriefing();
    const body = { marketTicker: ticker.id, side: 'YES', action: 'SELL', shares: 10 };
    const path = '/venueb/agent/quote';
    expect(venues.kalshi?.actions).toMatchObject([{ code: 'redeem', method: 'POST', path, body }]);
    expect(riskAlerts).toMatchObject([
      {
        code: 'redeemable_winnings',
        marketId: ticker.id,
        message: expect.stringContaining('POST /venueb/agent/quote'),
      },
    ]);
    const asked = { key: both.apiKey, body: venues.kalshi?.actions[0]?.body };
    expect(await call(service, 'POST', path, asked)).toMatchObject({
      status: 200,
      body: { isRedemption: true },
    });
  });

  test('a quoted order is in doubt after its blockhash must be dead, not after seconds', async () => {
    const both = await onBoth();
    const ticker = newTicker();
    const read = async () => ({
      briefing: await both.client.getBriefing(),
      warnings: (await both.client.getMarketContext(ticker.id)).warnings.map(({ code }) => code),
    });
    await placed(both, ticker, { status: 'submitting', ageMs: 2 * 60_000 });
    const soon = await read();
    expect(soon.briefing.riskAlerts).toEqual([]);
    expect(soon.warnings).not.toContain('order_in_doubt');
    const doubted = await placed(both, ticker, { status: 'submitting', ageMs: 3 * 60_000 });
    const { briefing, warnings } = await read();
    expect(briefing.riskAlerts).toMatchObject([{ code: 'order_in_doubt', marketId: ticker.id }]);
    expect(briefing.venues.kalshi?.actions).toMatchObject([
      { code: 'check_order', method: 'GET', path: `/venueb/agent/orders/${doubted}` },
    ]);
    expect(warnings).toContain('order_in_doubt');
  });

  test('alerts use the sum of the accounts on both venues', async () => {
    const both = await onBoth();
    await both.client.faucet({ address: both.funder, amount: 1 });
    // 500 on the chain and 10,000 at the signed-order venue: 5,950 is less than four tenths of the sum.
    await placed(both, newTicker(), { shares: 10_000n * M, money: 6_000n * M });
    expect((await both.client.getBriefing()).riskAlerts).toEqual([]);
    const soon = newTicker({ endDate: Date.now() + 12 * HOUR_MS });
    await placed(both, soon, { shares: 20_000n * M, money: 12_000n * M });
    expect((await both.client.getBriefing()).riskAlerts.map(({ code }) => code)).toEqual([
      'position_concentrated',
      'position_near_resolution',
    ]);
  });

  test('new markets of both venues, each once; markets missing while the quote venue fails stay new', async () => {
    const { client, apiKey } = await newAgent(service);
    const { nextCursor } = await client.getBriefing();
    const market = newTicker({ createdAt: Date.now() + 1_000 });
    const since = async (cursor: string) => {
      const briefing = await client.getBriefing({ since: cursor });
      return { found: briefing.opportunities.newMarkets, nextCursor: briefing.nextCursor };
    };
    const silent = await whileLate('listedAfter', () => since(nextCursor));
    expect(silent.found).toEqual([]);
    const reported = await since(silent.nextCursor);
    expect(reported.found).toMatchObject([{ id: market.id, venue: 'kalshi' }]);
    expect((await since(reported.nextCursor)).found).toEqual([]);
    // A cursor from before it covered the quote venue.
    const old = nextCursor.replace(/^(b1\.\d+\.\d+)\.\d+/, '$1');
    expect((await get(`/markets/briefing?since=${old}`, apiKey)).status).toBe(200);
  });
});
