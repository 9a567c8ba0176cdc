/** Context, journal and leaderboard over both venues, and the sandbox's markets. */
import { linkSolanaWallet, type Market, SolanaSigner } from '@bellwether/sdk';
import { describe, expect, test, vi } from 'vitest';
import { call, newAgent, startTestService } from '../harness.ts';
import {
  buyBySignedOrder,
  fake,
  get,
  M,
  newTicker,
  onBoth,
  placed,
  service,
  token,
  useStage,
} from './quoted-reads-stage.ts';

useStage();

describe('context and journal', () => {
  test('predicts a trade: whole contracts, including the fee, balances from the chain', async () => {
    const both = await onBoth();
    const ticker = newTicker();
    await placed({ agentId: both.agentId, wallet: both.wallet, ticker: ticker.id });
    token(both.wallet, ticker.tokenIds[0], 10n * M);
    const context = await both.client.getMarketContext(ticker.id, { side: 'BUY', size: 13 });
    expect(context.market).toMatchObject({ id: ticker.id, venue: 'kalshi' });
    expect(context.account).toEqual({
      walletAddress: both.wallet,
      available: 500,
      yesShares: 10,
      noShares: 0,
    });
    expect(context.positions).toMatchObject([{ venue: 'kalshi', size: 10 }]);
    expect(context.safeguards.positionValue.used).toBe(6);
    // 0.6 and 0.0192 for each: 20 contracts cost 12.384, one more exceeds the amount.
    expect(context.slippage.find(({ amount, outcome }) => amount === 13 && outcome === 'YES')).toMatchObject({
      filledShares: 20,
      cost: 12,
      fee: 0.384,
      averagePrice: 0.6,
      complete: true,
    });
    expect(context.slippage.find(({ amount, outcome }) => amount === 250 && outcome === 'YES')).toMatchObject(
      {
        filledShares: 100,
        complete: false,
      },
    );
    expect(context.warnings.map(({ code }) => code)).toEqual(['whole_contracts', 'asynchronous_fill']);
    const codes = async (query: string, as = both.apiKey) =>
      (await get(`/markets/context/${ticker.id}?${query}`, as)).body.warnings.map(
        ({ code }: { code: string }) => code,
      );
    expect(await codes('side=BUY&size=0.5')).toContain('amount_too_small');
    expect(await codes('side=BUY&size=501')).toContain('insufficient_balance');
    expect(await codes('side=BUY&size=500')).not.toContain('insufficient_balance');
    expect(await codes('side=SELL&size=11')).toContain('insufficient_balance');
    expect(await codes('')).not.toContain('wallet_missing');
    const fresh = await newAgent(service);
    expect(await codes('', fresh.apiKey)).toContain('wallet_missing');
    expect(await codes('', fresh.apiKey)).not.toContain('credentials_not_registered');
    // One cap for both venues.
    await both.client.updateSettings({ maxTradeAmount: 12 });
    expect(await codes('side=BUY&size=13')).toContain('max_trade_amount_exceeded');
    fake.settle(ticker.id, 'YES');
    const over = await both.client.getMarketContext(ticker.id);
    expect(over.warnings[0]).toMatchObject({ code: 'market_not_active', severity: 'critical' });
    expect(over.warnings[0]?.message).toContain('SELL quote of the winning outcome');
  });

  test('while the chain is silent the context has no account', async () => {
    const both = await onBoth();
    const { id } = newTicker();
    fake.controls.silent = true;
    try {
      const { status, body } = await get(`/markets/context/${id}?side=BUY&size=13`, both.apiKey);
      expect(status).toBe(200);
      expect(body.account).toBeNull();
      expect(body.warnings.map(({ code }: { code: string }) => code)).not.toContain('insufficient_balance');
    } finally {
      fake.controls.silent = false;
    }
  });

  test('the journal and the leaderboard cover both venues; the journal filters by venue', async () => {
    const both = await onBoth();
    await buyBySignedOrder(both);
    const orderId = await placed({
      agentId: both.agentId,
      wallet: both.wallet,
      ticker: newTicker().id,
    });
    const trades = async (query: string) => (await get(`/agents/trades${query}`, both.apiKey)).body;
    expect(await trades('')).toMatchObject({
      total: 2,
      trades: [{ platform: 'kalshi', orderId, walletAddress: both.wallet }, { platform: 'polymarket' }],
    });
    expect(await trades('?venue=kalshi')).toMatchObject({
      total: 1,
      venue: 'kalshi',
      trades: [{ platform: 'kalshi' }],
    });
    expect(await trades('?venue=polymarket')).toMatchObject({
      total: 1,
      trades: [{ platform: 'polymarket' }],
    });
    // A leaderboard is a few seconds old at most.
    await vi.waitFor(
      async () => {
        const { entries } = (await get('/agents/leaderboard?limit=100')).body;
        expect(entries.find(({ id }: { id: string }) => id === both.agentId)).toMatchObject({
          tradesCount: 2,
        });
      },
      { timeout: 30_000, interval: 500 },
    );
  });
});

describe('on the sandbox', () => {
  test('the world’s markets by ticker, and on its chain the paper money credited by the link', async () => {
    const sandbox = await startTestService({ PAPER_WORLD: 'off' });
    const agent = await newAgent(sandbox);
    const solana = SolanaSigner.generate();
    await linkSolanaWallet(agent.client, solana);
    const read = async (path: string) => (await call(sandbox, 'GET', path, { key: agent.apiKey })).body;
    const { simulationBalance } = await agent.client.getMe();
    expect((await read('/markets/portfolio?venue=kalshi')).venues).toEqual({
      kalshi: { balance: simulationBalance, pnl: 0, positionsCount: 0, totalExposure: 0 },
    });
    const briefing = await agent.client.getBriefing();
    expect(briefing.venues.kalshi).toMatchObject({
      walletAddress: solana.address,
      balance: simulationBalance,
      actions: [],
    });
    expect(briefing.riskAlerts).toEqual([]);
    expect(await read('/venueb/agent/positions')).toEqual([]);

    const listedThere = (await read('/markets?q=*&venue=kalshi&limit=500&order=volume24hr')) as Market[];
    const market = listedThere.find(({ bestBid, bestAsk }) => Number(bestBid) > 0.2 && Number(bestAsk) < 0.8);
    if (market === undefined) throw new Error('the sandbox lists no such market');
    expect(market).toMatchObject({ venue: 'kalshi', conditionId: market.id, active: true });
    for (const id of [market.id, ...market.clobTokenIds])
      expect((await read(`/markets/${id}`)).id).toBe(market.id);
    const book = await read(`/markets/orderbook/${market.clobTokenIds[0]}`);
    expect(book.asks[0].price).toBe(market.bestAsk);
    const context = await agent.client.getMarketContext(market.id, { side: 'BUY', size: 50 });
    expect(context.account).toMatchObject({ walletAddress: solana.address, available: simulationBalance });
    const reported = context.slippage.find(({ amount, outcome }) => amount === 50 && outcome === 'YES');
    const quote = await call(sandbox, 'POST', '/venueb/agent/quote', {
      key: agent.apiKey,
      body: { marketTicker: market.id, side: 'YES', action: 'BUY', amount: 50 },
    });
    // The venue rounds its fee up to the cent: a contract less, at most.
    const quoted = Number(quote.body.outAmount) / 1e6;
    expect((reported?.filledShares ?? 0) - quoted).toBeGreaterThanOrEqual(0);
    expect((reported?.filledShares ?? 0) - quoted).toBeLessThanOrEqual(1);
  });
});
