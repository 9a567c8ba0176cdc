/** The briefing over both venues. */
import type { Briefing } from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';
import { call, newAgent, newTrader } from '../harness.ts';
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
  tokenCalls,
  useStage,
  VENUES,
} from './quoted-reads-stage.ts';

useStage();

const MINUTE = 60_000;

const DAY = 24 * 3_600_000;

describe('briefing', () => {
  test('covers both venues, each with its own counts; filters by venue or wallet', async () => {
    const both = await onBoth();
    await buyBySignedOrder(both);
    const ticker = newTicker();
    const common = { agentId: both.agentId, wallet: both.wallet, ticker: ticker.id };
    await placed(common);
    await placed({ ...common, status: 'delayed' });
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
    expect(briefing.recentTrades.map(({ venue }) => venue).sort()).toEqual([
      'kalshi',
      'kalshi',
      'polymarket',
    ]);
    expect((await both.client.getMe()).openOrderCount).toBe(1);
    const ask = async (query: string) =>
      (await get(`/markets/briefing?${query}`, both.apiKey)).body as Briefing;
    for (const query of ['venue=kalshi', `user=${both.wallet}`, `venue=kalshi&user=${both.wallet}`]) {
      const one = await ask(query);
      expect(one.venue).toBe('kalshi');
      expect(one.venues).toEqual({ kalshi: briefing.venues.kalshi });
      expect(one.opportunities.newMarkets.every(({ venue }) => venue === 'kalshi')).toBe(true);
    }
    const onB = await ask('venue=kalshi');
    expect(onB.recentTrades.map(({ venue }) => venue)).toEqual(['kalshi', 'kalshi']);
    expect(await ask('venue=polymarket')).toMatchObject({
      venues: { polymarket: briefing.venues.polymarket },
      recentTrades: [{ venue: 'polymarket' }],
    });
  });

  test('the chain is read once in five seconds, and never without a wallet', async () => {
    const both = await onBoth();
    const plain = await newTrader(service);
    await both.client.getBriefing();
    tokenCalls.length = 0;
    for (const client of [both.client, plain.client, both.client]) await client.getBriefing();
    expect(tokenCalls).toEqual([]);
    await (await newAgent(service)).client.getBriefing();
    expect(tokenCalls).toEqual([]);
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
    const common = { agentId: both.agentId, wallet: both.wallet, ticker: ticker.id };
    await placed(common);
    await placed({ ...common, outcome: 'NO', shares: 2n * M, money: 1n * M });
    fake.settle(ticker.id, 'YES');
    const briefing = await both.client.getBriefing();
    expect(briefing.venues.kalshi?.actions).toMatchObject([
      {
        code: 'redeem',
        method: 'POST',
        path: '/venueb/agent/quote',
        body: { marketTicker: ticker.id, side: 'YES', action: 'SELL', shares: 10 },
      },
    ]);
    expect(briefing.riskAlerts).toMatchObject([{ code: 'redeemable_winnings', marketId: ticker.id }]);
    expect(briefing.riskAlerts[0]?.message).toContain('POST /venueb/agent/quote');
    const [redeem] = briefing.venues.kalshi?.actions ?? [];
    const quote = await call(service, 'POST', redeem?.path ?? '', { key: both.apiKey, body: redeem?.body });
    expect(quote).toMatchObject({ status: 200, body: { isRedemption: true } });
  });

  test('a quoted order is in doubt after its blockhash must be dead, not after seconds', async () => {
    const both = await onBoth();
    const { id } = newTicker();
    const common = { agentId: both.agentId, wallet: both.wallet, ticker: id, status: 'submitting' } as const;
    await placed({ ...common, ageMs: 2 * MINUTE });
    expect((await both.client.getBriefing()).riskAlerts).toEqual([]);
    expect((await both.client.getMarketContext(id)).warnings.map(({ code }) => code)).not.toContain(
      'order_in_doubt',
    );
    const late = await placed({ ...common, ageMs: 3 * MINUTE });
    const briefing = await both.client.getBriefing();
    expect(briefing.riskAlerts).toMatchObject([{ code: 'order_in_doubt', marketId: id }]);
    expect(briefing.venues.kalshi?.actions).toMatchObject([
      { code: 'check_order', method: 'GET', path: `/venueb/agent/orders/${late}` },
    ]);
    expect((await both.client.getMarketContext(id)).warnings.map(({ code }) => code)).toContain(
      'order_in_doubt',
    );
  });

  test('alerts use the sum of the accounts on both venues', async () => {
    const both = await onBoth();
    await both.client.faucet({ address: both.funder, amount: 1 });
    // 500 on the chain and 10,000 at the signed-order venue: 5,950 is less than four tenths of the sum.
    await placed({
      agentId: both.agentId,
      wallet: both.wallet,
      ticker: newTicker().id,
      shares: 10_000n * M,
      money: 6_000n * M,
    });
    expect((await both.client.getBriefing()).riskAlerts).toEqual([]);
    await placed({
      agentId: both.agentId,
      wallet: both.wallet,
      ticker: newTicker({ endDate: Date.now() + DAY / 2 }).id,
      shares: 20_000n * M,
      money: 12_000n * M,
    });
    expect((await both.client.getBriefing()).riskAlerts.map(({ code }) => code)).toEqual([
      'position_concentrated',
      'position_near_resolution',
    ]);
  });

  test('new markets of both venues, each once; markets missing while the quote venue fails stay new', async () => {
    const agent = await newAgent(service);
    const { nextCursor } = await agent.client.getBriefing();
    const market = newTicker({ createdAt: Date.now() + 1_000 });
    const { listedAfter } = fake.markets;
    Object.assign(fake.markets, { listedAfter: late });
    const silent = await agent.client.getBriefing({ since: nextCursor });
    Object.assign(fake.markets, { listedAfter });
    expect(silent.opportunities.newMarkets).toEqual([]);
    const reported = await agent.client.getBriefing({ since: silent.nextCursor });
    expect(reported.opportunities.newMarkets).toMatchObject([{ id: market.id, venue: 'kalshi' }]);
    expect((await agent.client.getBriefing({ since: reported.nextCursor })).opportunities.newMarkets).toEqual(
      [],
    );
    // A cursor from before it covered the quote venue.
    const old = nextCursor.replace(/^(b1\.\d+\.\d+)\.\d+/, '$1');
    expect((await get(`/markets/briefing?since=${old}`, agent.apiKey)).status).toBe(200);
  });
});
