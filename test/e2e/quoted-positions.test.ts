/** Positions and portfolio over both venues. */
import { type Briefing, type Position, SolanaSigner } from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';
import { call, newAgent } from '../harness.ts';
import { within } from '../service-process.ts';
import {
  buyBySignedOrder,
  fake,
  get,
  late,
  M,
  newTicker,
  onBoth,
  placed,
  service,
  token,
  useStage,
  VENUES,
} from './quoted-reads-stage.ts';

useStage();

describe('positions and portfolio', () => {
  test('cover both venues, each with its name, and filter by venue', async () => {
    const both = await onBoth();
    const onA = await buyBySignedOrder(both);
    const ticker = newTicker({ endDate: Date.now() + 3 * 3_600_000 });
    await placed({ agentId: both.agentId, wallet: both.wallet, ticker: ticker.id, fee: 100_000n });
    const all = (await get('/markets/current-positions', both.apiKey)).body as Position[];
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
    const one = async (query: string) => (await get(`/markets/current-positions?${query}`, both.apiKey)).body;
    expect(await one('venue=kalshi')).toEqual([onB]);
    expect(await one(`user=${both.wallet}`)).toEqual([onB]);
    expect((await one('venue=polymarket')).map(({ marketId }: Position) => marketId)).toEqual([onA.id]);
    expect((await one(`user=${both.funder}`)).map(({ marketId }: Position) => marketId)).toEqual([onA.id]);
    expect((await get(`/markets/wallet/${both.wallet}/positions`, both.apiKey)).body).toEqual({
      walletAddress: both.wallet,
      positionCount: 1,
      positions: [onB],
      totalValue: 5.95,
    });
    const expiring = (await get('/markets/positions/expiring?venue=kalshi&hours=4', both.apiKey)).body;
    expect(expiring).toMatchObject({ total: 1, venue: 'kalshi', positions: [{ marketId: ticker.id }] });

    const portfolio = (await get('/markets/portfolio', both.apiKey)).body;
    const onlyA = (await get('/markets/portfolio?venue=polymarket', both.apiKey)).body;
    const onlyB = (await get('/markets/portfolio?venue=kalshi', both.apiKey)).body;
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
    expect(portfolio.venue).toBe('polymarket');
    expect(portfolio.balance).toBe(onlyA.balance);
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

  test('the winning tokens of a quoted market are redeemable, the losing ones are not', async () => {
    const both = await onBoth();
    const ticker = newTicker();
    const common = { agentId: both.agentId, wallet: both.wallet, ticker: ticker.id };
    await placed(common);
    await placed({ ...common, outcome: 'NO', shares: 3n * M, money: 1n * M });
    token(both.wallet, ticker.tokenIds[0], 10n * M);
    token(both.wallet, ticker.tokenIds[1], 3n * M);
    fake.settle(ticker.id, 'YES');
    for (const path of ['/markets/current-positions', '/venueb/agent/positions']) {
      const positions = (await get(path, both.apiKey)).body as Position[];
      const reported = positions.map(({ outcome, currentPrice, redeemable }) => ({
        outcome,
        currentPrice,
        redeemable,
      }));
      expect(reported.toSorted((a, b) => (a.outcome < b.outcome ? 1 : -1))).toEqual([
        { outcome: 'YES', currentPrice: 1, redeemable: true },
        { outcome: 'NO', currentPrice: 0, redeemable: false },
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

  test('quantities come from the chain, costs from the desk; only the recorded part has cost and gain', async () => {
    const both = await onBoth();
    const more = newTicker();
    const less = newTicker();
    const common = { agentId: both.agentId, wallet: both.wallet };
    await placed({ ...common, ticker: more.id });
    await placed({ ...common, ticker: less.id });
    token(both.wallet, more.tokenIds[0], 10n * M);
    token(both.wallet, more.tokenIds[0], 5n * M);
    token(both.wallet, more.tokenIds[1], 2n * M);
    token(both.wallet, less.tokenIds[0], 4n * M);
    token(both.wallet, SolanaSigner.generate().address, 9n * M);
    const record = { venue: 'kalshi', marketStatus: 'active', redeemable: false };
    const expected = [
      {
        ...record,
        mint: more.tokenIds[0],
        size: 15,
        avgPrice: 0.6,
        initialValue: 6,
        currentValue: 8.925,
        unrealizedPnl: -0.05,
      },
      {
        ...record,
        mint: more.tokenIds[1],
        size: 2,
        avgPrice: 0,
        initialValue: 0,
        currentValue: 0.81,
        unrealizedPnl: 0,
      },
      {
        ...record,
        mint: less.tokenIds[0],
        size: 4,
        avgPrice: 0.6,
        initialValue: 2.4,
        currentValue: 2.38,
        unrealizedPnl: -0.02,
      },
    ];
    const path = '/venueb/agent/positions';
    const got = await get(path, both.apiKey);
    expect(got.body).toMatchObject(expected);
    expect(got.body).toHaveLength(3);
    expect(got.headers.get('x-total-count')).toBe('3');
    const post = (body: unknown, as = both.apiKey) => call(service, 'POST', path, { key: as, body });
    expect((await post({})).body).toEqual(got.body);
    expect((await post({ userPublicKey: both.wallet })).body).toEqual(got.body);
    expect((await get(`/kalshi/agent/positions`, both.apiKey)).body).toEqual(got.body);

    // An agent that only names the wallet sees its public data on the chain, and nothing of the desk's records.
    const stranger = await newAgent(service);
    expect((await post({ userPublicKey: both.wallet }, stranger.apiKey)).body.code).toBe('wallet_not_found');
    expect((await post({ userPublicKey: 'nobody' }, stranger.apiKey)).body.code).toBe(
      'invalid_solana_address',
    );
    expect((await post({}, stranger.apiKey)).body).toEqual([]);
    await stranger.client.updateSolAddress(both.wallet);
    const seen = (await post({}, stranger.apiKey)).body as Position[];
    expect(seen.map(({ size }) => size)).toEqual([15, 2, 4]);
    for (const position of seen) {
      expect(position).toMatchObject({
        avgPrice: 0,
        initialValue: 0,
        realizedPnl: 0,
        unrealizedPnl: 0,
        fees: 0,
      });
    }
  });

  test('while the chain is silent: the last known balance and a warning; its own route reports the error', async () => {
    const both = await onBoth();
    await placed({ agentId: both.agentId, wallet: both.wallet, ticker: newTicker().id });
    expect((await get('/markets/portfolio', both.apiKey)).body.warnings).toEqual([]);
    fake.controls.silent = true;
    try {
      await new Promise((resolve) => setTimeout(resolve, 1_700));
      const portfolio = (await get('/markets/portfolio', both.apiKey)).body;
      expect(portfolio.venues.kalshi).toMatchObject({ balance: 500, positionsCount: 1 });
      expect(portfolio.warnings).toMatchObject([{ code: 'venue_not_answering', severity: 'warning' }]);
      expect(portfolio.warnings[0].message).toContain('last known');
      const unseen = await onBoth();
      const first = (await get('/markets/portfolio?venue=kalshi', unseen.apiKey)).body;
      expect(first).toMatchObject({ balance: 0, warnings: [{ code: 'venue_not_answering' }] });
      expect(first.warnings[0].message).toContain('not known');
      expect((await get('/markets/portfolio?venue=polymarket', both.apiKey)).body.warnings).toEqual([]);
    } finally {
      fake.controls.silent = false;
    }
  });

  test('while markets cannot be read, answers do not wait: positions are valued at cost', async () => {
    const both = await onBoth();
    await placed({ agentId: both.agentId, wallet: both.wallet, ticker: newTicker().id });
    const { findAll } = fake.markets;
    Object.assign(fake.markets, { findAll: late });
    try {
      const [position] = (await within(10_000, get('/markets/current-positions', both.apiKey))).body;
      expect(position).toMatchObject({ size: 10, currentPrice: 0.6, currentValue: 6, unrealizedPnl: 0 });
      const portfolio = (await within(10_000, get('/markets/portfolio', both.apiKey))).body;
      expect(portfolio.warnings).toMatchObject([{ code: 'venue_not_answering' }]);
      expect(portfolio.warnings[0].message).toContain('what they cost');
      const asked = await get('/markets/current-positions?venue=kalshi', both.apiKey);
      expect({ status: asked.status, code: asked.body.code }).toEqual({
        status: 503,
        code: 'service_unavailable',
      });
      const briefing = (await get('/markets/briefing', both.apiKey)).body as Briefing;
      expect(briefing.venues.kalshi).toMatchObject({ currentPositionsCount: 1, positionsValue: 6 });
      expect(briefing.riskAlerts).toMatchObject([{ code: 'venue_not_answering', severity: 'warning' }]);
    } finally {
      Object.assign(fake.markets, { findAll });
    }
  });
});
