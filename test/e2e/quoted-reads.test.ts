/** Quoted markets, whose wallet it is that trades there, and what an agent reads before and after a trade. */
import { type Briefing, linkSolanaWallet, type Market, SolanaSigner } from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';
import { call, newAgent, newTrader } from '../harness.ts';
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
  signedBuy,
  sql,
  token,
  useStage,
  VENUES,
} from './quoted-reads-stage.ts';

useStage();

describe('markets', () => {
  test('have their venue’s name, the ticker as id and the mints as tokens', async () => {
    const market = newTicker({ question: 'Will the comet return?' });
    const { status, body, headers } = await get('/markets?q=comet&venue=kalshi');
    expect([status, headers.get('x-total-count')]).toEqual([200, '1']);
    expect(body).toEqual([
      expect.objectContaining({
        id: market.id,
        venue: 'kalshi',
        conditionId: market.id,
        clobTokenIds: market.tokenIds,
        status: 'active',
        bestAsk: '0.6',
        yesPrice: 0.595,
      }),
    ]);
    expect((await get('/markets?q=*&venue=kalshi&limit=500')).body.length).toBe(fake.listed.size);
    expect((await get('/markets?q=*')).body.every(({ venue }: Market) => venue === 'polymarket')).toBe(true);
  });

  test('are filtered, ordered and cut into pages as those of signed orders', async () => {
    const first = newTicker({ question: 'paged one', volume24h: 1n * M });
    const second = newTicker({ question: 'paged two', volume24h: 2n * M });
    const over = newTicker({ question: 'paged three', status: 'resolved', payout: 'YES' });
    const ids = async (query: string) =>
      (await get(`/markets?q=paged&venue=kalshi&${query}`)).body.map(({ id }: Market) => id);
    expect(await ids('order=volume24hr')).toEqual([second.id, first.id]);
    expect(await ids('order=volume24hr&ascending=true&limit=1&page=2')).toEqual([second.id]);
    expect(await ids('eventsStatus=resolved')).toEqual([over.id]);
  });

  test('are found by ticker or mint, with or without the venue; other venues’ ids are not', async () => {
    const market = newTicker();
    for (const id of [market.id, ...market.tokenIds]) {
      for (const path of [`/markets/${id}`, `/markets/${id}?venue=kalshi`]) {
        const { status, body } = await get(path);
        expect([status, body.id, body.venue], path).toEqual([200, market.id, 'kalshi']);
      }
      expect((await get(`/markets/check?marketId=${id}`)).body).toEqual({ exists: true });
      expect((await get(`/markets/check?marketId=${id}&venue=polymarket`)).body).toEqual({ exists: false });
    }
    const [onA] = (await get('/markets?q=*&limit=1')).body;
    expect((await get(`/markets/${onA.id}?venue=kalshi`)).body.code).toBe('market_not_found');
    expect((await get(`/markets/${onA.conditionId}`)).body.venue).toBe('polymarket');
    expect((await get('/markets/KXNONE-1')).body.code).toBe('market_not_found');
  });

  test('have a book for each mint, and no past prices: the answer says so', async () => {
    const market = newTicker();
    const [yes, no] = market.tokenIds;
    for (const venue of ['', '&venue=kalshi']) {
      expect((await get(`/markets/orderbook/${no}?${venue}`)).body).toMatchObject({
        tokenId: no,
        conditionId: market.id,
        outcome: 'NO',
        bids: [{ price: '0.4', size: '100' }],
        asks: [{ price: '0.41', size: '100' }],
      });
      const { status, body } = await get(`/markets/prices-history?interval=1d&market=${yes}${venue}`);
      expect([status, body.code]).toEqual([400, 'invalid_request']);
      expect(body.detail).toContain('no past prices of kalshi');
    }
    expect((await get(`/markets/orderbook/${yes}?venue=polymarket`)).body.code).toBe('market_not_found');
  });

  test('of an unknown venue are refused with the names of both venues, on every route', async () => {
    for (const path of [
      '/markets?q=*&',
      '/markets/7?',
      '/markets/check?marketId=7&',
      '/markets/orderbook/7?',
      '/markets/context/7?',
      '/markets/current-positions?',
      '/markets/closed-positions?',
      '/markets/positions/expiring?',
      '/markets/portfolio?',
      '/markets/briefing?',
      '/agents/trades?',
    ]) {
      const { status, body } = await get(`${path}venue=nasdaq`);
      expect([status, body.code], path).toEqual([400, 'unknown_venue']);
      for (const name of VENUES) expect(body.detail).toContain(name);
    }
  });

  test('are named on routes for signed orders: the refusal says what to do instead', async () => {
    const trader = await newTrader(service);
    const signed = await signedBuy(trader, await buyBySignedOrder(trader), 5);
    const request = { ...signed, venue: 'kalshi' };
    const post = (path: string, body: unknown) => call(service, 'POST', path, { key: trader.apiKey, body });
    const refused = { status: 400, body: { code: 'wrong_venue_route' } };
    expect(await post('/markets/trade', request)).toMatchObject(refused);
    expect((await post('/markets/batch-trade', { orders: [request] })).body.results[0]).toMatchObject({
      success: false,
      problem: { code: 'wrong_venue_route' },
    });
    const redeem = await post('/markets/redeem', { marketId: 'KXTEST-1', venue: 'kalshi' });
    expect(redeem).toMatchObject(refused);
    expect(redeem.body.detail).toContain('SELL quote of the winning outcome');
    // A ticker that was traded here is not a signed-order market, in any request.
    const ticker = newTicker();
    await placed(await onBoth(), ticker);
    await sql`update traded_markets set payout = 'YES' where condition_id = ${ticker.id}`;
    expect(await post('/markets/redeem', { marketId: ticker.id })).toMatchObject(refused);
  });
});

describe('a Solana wallet', () => {
  test('is an agent’s by a link or a submitted order; naming an address proves nothing', async () => {
    const owner = await onBoth();
    const ticker = newTicker();
    await placed(owner, ticker);

    const stranger = await newAgent(service);
    await stranger.client.updateSolAddress(owner.wallet);
    for (const path of [
      '/markets/current-positions',
      '/markets/positions/expiring?hours=8000',
      '/markets/closed-positions',
      '/venueb/agent/positions',
    ]) {
      const { status, body } = await get(path, stranger.apiKey);
      expect([status, (body.positions ?? body).length], path).toEqual([200, 0]);
    }
    for (const path of [
      `/markets/current-positions?user=${owner.wallet}`,
      `/markets/portfolio?user=${owner.wallet}`,
      `/markets/briefing?user=${owner.wallet}`,
      `/markets/wallet/${owner.wallet}/positions`,
      `/markets/context/${ticker.id}?user=${owner.wallet}`,
    ])
      expect(await refusedRead(path, stranger.apiKey), path).toEqual([404, 'wallet_not_found']);
    const briefing = (await get('/markets/briefing', stranger.apiKey)).body as Briefing;
    expect(briefing.venues.kalshi).toMatchObject({ currentPositionsCount: 0, positionsValue: 0 });
    expect((await get(`/markets/context/${ticker.id}`, stranger.apiKey)).body).toMatchObject({
      positions: [],
      safeguards: { positionValue: { used: 0 } },
    });
  });

  test('that an agent traded with goes to the one that links it, until it unlinks it', async () => {
    const first = await newAgent(service);
    const solana = SolanaSigner.generate();
    const wallet = solana.address;
    await placed({ ...first, wallet }, newTicker());
    const count = async (as: string) => (await get('/markets/current-positions', as)).body.length;
    expect(await count(first.apiKey)).toBe(1);
    expect((await get(`/markets/wallet/${wallet}/positions`, first.apiKey)).body.positionCount).toBe(1);
    const second = await newAgent(service);
    await linkSolanaWallet(second.client, solana);
    expect([await count(first.apiKey), await count(second.apiKey)]).toEqual([0, 1]);
    await second.client.unlinkWallet(wallet);
    expect([await count(first.apiKey), await count(second.apiKey)]).toEqual([1, 0]);
  });

  test('is none with an address of another venue, or of none', async () => {
    const both = await onBoth();
    const path = '/markets/current-positions';
    for (const query of [
      `venue=polymarket&user=${both.wallet}`,
      `venue=kalshi&user=${both.funder}`,
      `user=${'2'.repeat(32)}`,
    ])
      expect(await refusedRead(`${path}?${query}`, both.apiKey), query).toEqual([404, 'wallet_not_found']);
    expect((await get(`${path}?user=nobody`, both.apiKey)).body.code).toBe('invalid_request');
  });

  test('is credited when it is linked or named; a failed credit does not prevent the link', async () => {
    const { client } = await newAgent(service);
    const [linked, named, broke] = [
      SolanaSigner.generate(),
      SolanaSigner.generate(),
      SolanaSigner.generate(),
    ];
    await linkSolanaWallet(client, linked);
    await client.updateSolAddress(named.address);
    expect(fake.credited).toEqual(expect.arrayContaining([linked.address, named.address]));
    fake.controls.creditFails = true;
    expect((await linkSolanaWallet(client, broke)).success).toBe(true);
    expect((await client.getMe()).solAddress).toBe(broke.address);
  });
});

describe('context and journal', () => {
  const warningsOf = async (path: string, as: string): Promise<string[]> =>
    (await get(path, as)).body.warnings.map(({ code }: { code: string }) => code);

  test('the context predicts a trade: whole contracts, including the fee, balances from the chain', async () => {
    const both = await onBoth();
    const ticker = newTicker();
    await placed(both, ticker);
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
    const buysYes = (size: number) =>
      context.slippage.find(({ amount, outcome }) => amount === size && outcome === 'YES');
    // 0.6 and 0.0192 for each: 20 contracts cost 12.384, one more exceeds the amount.
    expect(buysYes(13)).toMatchObject({
      filledShares: 20,
      cost: 12,
      fee: 0.384,
      averagePrice: 0.6,
      complete: true,
    });
    expect(buysYes(250)).toMatchObject({ filledShares: 100, complete: false });
    expect(context.warnings.map(({ code }) => code)).toEqual(['whole_contracts', 'asynchronous_fill']);
    const codes = (query: string, as = both.apiKey) =>
      warningsOf(`/markets/context/${ticker.id}?${query}`, as);
    expect(await codes('side=BUY&size=0.5')).toContain('amount_too_small');
    expect(await codes('side=BUY&size=501')).toContain('insufficient_balance');
    expect(await codes('side=BUY&size=500')).not.toContain('insufficient_balance');
    expect(await codes('side=SELL&size=11')).toContain('insufficient_balance');
    expect(await codes('')).not.toContain('wallet_missing');
    const fresh = await codes('', (await newAgent(service)).apiKey);
    expect(fresh).toContain('wallet_missing');
    expect(fresh).not.toContain('credentials_not_registered');
    // One cap for both venues.
    await both.client.updateSettings({ maxTradeAmount: 12 });
    expect(await codes('side=BUY&size=13')).toContain('max_trade_amount_exceeded');
    fake.settle(ticker.id, 'YES');
    const over = await both.client.getMarketContext(ticker.id);
    expect(over.warnings[0]).toMatchObject({
      code: 'market_not_active',
      severity: 'critical',
      message: expect.stringContaining('SELL quote of the winning outcome'),
    });
  });

  test('while the chain is silent the context has no account', async () => {
    const both = await onBoth();
    const path = `/markets/context/${newTicker().id}?side=BUY&size=13`;
    fake.controls.silent = true;
    const { status, body } = await get(path, both.apiKey);
    expect([status, body.account]).toEqual([200, null]);
    expect(await warningsOf(path, both.apiKey)).not.toContain('insufficient_balance');
  });

  test('the journal and the leaderboard cover both venues; the journal filters by venue', async () => {
    const both = await onBoth();
    await buyBySignedOrder(both);
    const orderId = await placed(both, newTicker());
    const trades = async (query: string) => (await get(`/agents/trades${query}`, both.apiKey)).body;
    expect(await trades('')).toMatchObject({
      total: 2,
      trades: [{ platform: 'kalshi', orderId, walletAddress: both.wallet }, { platform: 'polymarket' }],
    });
    for (const venue of VENUES)
      expect(await trades(`?venue=${venue}`)).toMatchObject({
        total: 1,
        venue,
        trades: [{ platform: venue }],
      });
    // A leaderboard is a few seconds old at most.
    const listed = async () =>
      (await get('/agents/leaderboard?limit=100')).body.entries.find(
        ({ id }: { id: string }) => id === both.agentId,
      );
    await expect.poll(listed, { interval: 500 }).toMatchObject({ tradesCount: 2 });
  });
});
