/** Every read shows both venues: markets, positions, portfolio, briefing, context, journal; and none waits for venue B. */

import { transact } from '@bellwether/durable';
import { asSolanaAddress, type SolanaAddress, USDC_MINT } from '@bellwether/protocol';
import {
  type Briefing,
  buildMarketOrder,
  linkSolanaWallet,
  type Market,
  type Position,
  SolanaSigner,
} from '@bellwether/sdk';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/adapters/postgres/connection.ts';
import { writeEvidence } from '../../packages/server/src/adapters/postgres/evidence.ts';
import type { TickerMarket } from '../../packages/server/src/ports/quotes.ts';
import { createFakeQuoteVenue, type FakeQuoteVenue, fakeMarket } from '../fake-quote-venue.ts';
import {
  call,
  newAgent,
  newTrader,
  openMarkets,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';

const M = 1_000_000n;
const MINUTE = 60_000;
const DAY = 24 * 3_600_000;
const VENUES = ['polymarket', 'kalshi'];

let service: TestService;
let sql: Sql;
let fake: FakeQuoteVenue;
let key: string;
const statements: string[] = [];
const tokenCalls: string[] = [];

beforeAll(async () => {
  fake = createFakeQuoteVenue();
  const { chain } = fake.quotes;
  const { tokenAccount } = chain;
  chain.tokenAccount = (owner, mint) => {
    tokenCalls.push(owner);
    return tokenAccount(owner, mint);
  };
  service = await startTestService(
    { PAPER_WORLD: 'off' },
    { venues: () => [fake], onStatement: (_connection, statement) => statements.push(statement) },
  );
  sql = openPool(service.databaseUrl, { max: 2 });
  key = (await newAgent(service)).apiKey;
});
afterAll(() => sql.end());

const get = (path: string, as = key) => call(service, 'GET', path, { key: as });
const listed = (ticker: string): TickerMarket => {
  const market = fake.listed.get(ticker);
  if (market === undefined) throw new Error(`no market ${ticker}`);
  return market;
};
let tickers = 0;
/** A market of its own, so that no test is in another's way. */
function newTicker(given: Partial<TickerMarket> = {}): TickerMarket {
  tickers += 1;
  const market = fakeMarket(`KXREAD-${tickers}`, given);
  fake.listed.set(market.id, market);
  return market;
}
const token = (owner: string, mint: string, amount: bigint) =>
  fake.tokens.push({
    address: asSolanaAddress(SolanaSigner.generate().address),
    mint: asSolanaAddress(mint),
    owner: owner as SolanaAddress,
    amount,
    delegate: null,
    delegatedAmount: 0n,
    frozen: false,
  });

/** Much later than any read waits for. */
const late = () =>
  new Promise<never>((_, reject) => setTimeout(reject, 5_000, new Error('the fake venue is late')));

interface Placed {
  readonly agentId: string;
  readonly wallet: string;
  readonly ticker: string;
  readonly outcome?: 'YES' | 'NO';
  readonly shares?: bigint;
  readonly money?: bigint;
  readonly fee?: bigint;
  readonly status?: 'submitting' | 'delayed' | 'filled';
  readonly ageMs?: number;
}

let orders = 0;
/** An order of venue B as its row is written, and its fill as evidence is. */
async function placed(order: Placed): Promise<string> {
  const { agentId, wallet, ticker, outcome = 'YES', shares = 10n * M, money = 6n * M, fee = 0n } = order;
  const { status = 'filled', ageMs = 0 } = order;
  orders += 1;
  const orderId = `0190d000-0000-7000-8000-${String(orders).padStart(12, '0')}`;
  const market = listed(ticker);
  const mint = market.tokenIds[outcome === 'YES' ? 0 : 1];
  const at = new Date(Date.now() - ageMs);
  await sql`insert into orders (agent_id, order_id, user_id, venue, market_id, condition_id, question, token_id, outcome,
      kind, side, is_limit, time_in_force, post_only, defer_exec, price, limit_price, shares, money, funder, wallet_address,
      fee_amount, request_id, created_at, status, journal, reserved_day, reserved_amount, updated_at)
    select agent_id, ${orderId}, user_id, 'kalshi', ${ticker}, ${ticker}, ${market.question}, ${mint}, ${outcome}, 'quoted', 'BUY',
      false, 'FAK', false, false, 6000, 6100, ${shares.toString()}, ${money.toString()}, ${wallet}, ${wallet}, 0, 'test',
      ${at}, 'submitting', '[]', current_date, ${money.toString()}, ${at}
    from agents where agent_id = ${agentId}`;
  if (status !== 'submitting') await sql`update orders set status = 'delayed' where order_id = ${orderId}`;
  await sql`select note_agent_wallets(${agentId}::uuid, array[${wallet}::text], ${wallet}, now())`;
  if (status === 'filled') {
    await transact(sql, (tx) =>
      Promise.all(
        writeEvidence(tx, {
          outcomes: [
            {
              orderId,
              status: 'filled',
              filled: shares,
              cost: money,
              fees: fee,
              errorCode: null,
              first: { success: true, status: 'submitted', filled: 0n, cost: 0n, fees: 0n, errorCode: null },
              journal: [],
              at: Date.now(),
            },
          ],
          fills: [
            {
              wallet,
              orderId,
              tradeId: 0,
              conditionId: ticker,
              tokenId: mint,
              outcome,
              side: 'BUY',
              price: 6000,
              size: shares,
              cost: money,
              fee,
              liquidity: 'taker',
              matchKind: 'DFLOW',
              at: Date.now(),
            },
          ],
          markets: [
            {
              conditionId: ticker,
              marketId: ticker,
              slug: ticker,
              question: market.question,
              endDate: market.endDate,
              venue: 'kalshi',
            },
          ],
          resolutions: [],
          deposits: [],
        }),
      ),
    );
  }
  return orderId;
}

interface OnBoth extends Trader {
  readonly wallet: string;
  readonly solana: SolanaSigner;
}

/** Trades on both venues; the Solana wallet is linked and has 500 on its chain. */
async function onBoth(): Promise<OnBoth> {
  const trader = await newTrader(service);
  const solana = SolanaSigner.generate();
  await linkSolanaWallet(trader.client, solana);
  token(solana.address, USDC_MINT, 500n * M);
  return { ...trader, solana, wallet: solana.address };
}

const buyOnA = async (trader: Trader, amount = 20): Promise<Market> => {
  const [market] = (await openMarkets(trader.client)) as [Market];
  await trader.client.placeTrade(
    await buildMarketOrder({
      signer: trader.signer,
      market,
      outcome: 'YES',
      side: 'BUY',
      amount,
      worstPrice: 0.95,
    }),
  );
  return market;
};

describe('markets', () => {
  test('venue B is listed by its name, with the ticker as id and the mints as tokens', async () => {
    const market = newTicker({ question: 'Will the comet return?' });
    const { status, body, headers } = await get('/markets?q=comet&venue=kalshi');
    expect(status).toBe(200);
    expect(headers.get('x-total-count')).toBe('1');
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
    const all = (await get('/markets?q=*&venue=kalshi&limit=500')).body;
    expect(all.length).toBe(fake.listed.size);
    expect((await get('/markets?q=*')).body.every(({ venue }: Market) => venue === 'polymarket')).toBe(true);
  });

  test('filters, order and pages are the same as on venue A', async () => {
    const first = newTicker({ question: 'paged one', volume24h: 1n * M });
    const second = newTicker({ question: 'paged two', volume24h: 2n * M });
    const over = newTicker({ question: 'paged three', status: 'resolved', payout: 'YES' });
    const ids = async (query: string) =>
      (await get(`/markets?q=paged&venue=kalshi&${query}`)).body.map(({ id }: Market) => id);
    expect(await ids('order=volume24hr')).toEqual([second.id, first.id]);
    expect(await ids('order=volume24hr&ascending=true&limit=1&page=2')).toEqual([second.id]);
    expect(await ids('eventsStatus=resolved')).toEqual([over.id]);
  });

  test('a ticker or a mint finds its market, named venue or not; an id of venue A is none there', async () => {
    const market = newTicker();
    for (const id of [market.id, ...market.tokenIds]) {
      for (const venue of ['', '?venue=kalshi']) {
        const { status, body } = await get(`/markets/${id}${venue}`);
        expect({ status, id: body.id, venue: body.venue }).toEqual({
          status: 200,
          id: market.id,
          venue: 'kalshi',
        });
      }
      expect((await get(`/markets/check?marketId=${id}`)).body).toEqual({ exists: true });
      expect((await get(`/markets/check?marketId=${id}&venue=polymarket`)).body).toEqual({ exists: false });
    }
    const [onA] = (await get('/markets?q=*&limit=1')).body;
    expect((await get(`/markets/${onA.id}?venue=kalshi`)).body.code).toBe('market_not_found');
    expect((await get(`/markets/${onA.conditionId}`)).body.venue).toBe('polymarket');
    expect((await get('/markets/KXNONE-1')).body.code).toBe('market_not_found');
  });

  test('the book of a mint', async () => {
    const market = newTicker();
    const [yes, no] = market.tokenIds;
    for (const venue of ['', '?venue=kalshi']) {
      const { body } = await get(`/markets/orderbook/${no}${venue}`);
      expect(body).toMatchObject({
        tokenId: no,
        conditionId: market.id,
        outcome: 'NO',
        bids: [{ price: '0.4', size: '100' }],
        asks: [{ price: '0.41', size: '100' }],
      });
    }
    expect((await get(`/markets/orderbook/${yes}?venue=polymarket`)).body.code).toBe('market_not_found');
  });

  test('past prices: there are none, and that is said', async () => {
    const [mint] = newTicker().tokenIds;
    for (const query of [`market=${mint}`, `market=${mint}&venue=kalshi`]) {
      const { status, body } = await get(`/markets/prices-history?interval=1d&${query}`);
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' });
      expect(body.detail).toContain('no past prices of kalshi');
    }
  });

  test('an unknown venue is refused with both names, on every route', async () => {
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
      expect({ path, status, code: body.code }).toEqual({ path, status: 400, code: 'unknown_venue' });
      for (const name of VENUES) expect(body.detail).toContain(name);
    }
  });

  test('routes of venue A name the way on venue B', async () => {
    const trader = await newTrader(service);
    const market = await buyOnA(trader);
    const request = {
      ...(await buildMarketOrder({
        signer: trader.signer,
        market,
        outcome: 'YES',
        side: 'BUY',
        amount: 5,
        worstPrice: 0.95,
      })),
      venue: 'kalshi',
    };
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
    // A ticker that was traded here is no market of venue A, whatever the request says.
    const both = await onBoth();
    const { id } = newTicker();
    await placed({ agentId: both.agentId, wallet: both.wallet, ticker: id });
    await sql`update traded_markets set payout = 'YES' where condition_id = ${id}`;
    expect(await post('/markets/redeem', { marketId: id })).toMatchObject(refused);
  });
});

describe('whose wallet', () => {
  test('linked, or signer of a submitted order; an address that is only named is nobody’s', async () => {
    const owner = await onBoth();
    const { id } = newTicker();
    await placed({ agentId: owner.agentId, wallet: owner.wallet, ticker: id });

    const stranger = await newAgent(service);
    await stranger.client.updateSolAddress(owner.wallet);
    for (const path of [
      '/markets/current-positions',
      '/markets/positions/expiring?hours=8000',
      '/markets/closed-positions',
      '/venueb/agent/positions',
    ]) {
      const { status, body } = await get(path, stranger.apiKey);
      expect({ path, status, shown: (body.positions ?? body).length }).toEqual({
        path,
        status: 200,
        shown: 0,
      });
    }
    for (const path of [
      `/markets/current-positions?user=${owner.wallet}`,
      `/markets/portfolio?user=${owner.wallet}`,
      `/markets/briefing?user=${owner.wallet}`,
      `/markets/wallet/${owner.wallet}/positions`,
      `/markets/context/${id}?user=${owner.wallet}`,
    ]) {
      const { status, body } = await get(path, stranger.apiKey);
      expect({ path, status, code: body.code }).toEqual({ path, status: 404, code: 'wallet_not_found' });
    }
    const briefing = (await get('/markets/briefing', stranger.apiKey)).body as Briefing;
    expect(briefing.venues.kalshi).toMatchObject({ currentPositionsCount: 0, positionsValue: 0 });
    expect((await get(`/markets/context/${id}`, stranger.apiKey)).body).toMatchObject({
      positions: [],
      safeguards: { positionValue: { used: 0 } },
    });

    const trader = await newAgent(service);
    const traded = SolanaSigner.generate().address;
    await placed({ agentId: trader.agentId, wallet: traded, ticker: id });
    expect((await get('/markets/current-positions', trader.apiKey)).body).toHaveLength(1);
    expect((await get(`/markets/wallet/${traded}/positions`, trader.apiKey)).body.positionCount).toBe(1);
  });

  test('a link takes the wallet from whoever traded with it; an unlink gives it up', async () => {
    const first = await newAgent(service);
    const solana = SolanaSigner.generate();
    const { id } = newTicker();
    await placed({ agentId: first.agentId, wallet: solana.address, ticker: id });
    const count = async (as: string) => (await get('/markets/current-positions', as)).body.length;
    expect(await count(first.apiKey)).toBe(1);
    const second = await newAgent(service);
    await linkSolanaWallet(second.client, solana);
    expect([await count(first.apiKey), await count(second.apiKey)]).toEqual([0, 1]);
    await second.client.unlinkWallet(solana.address);
    expect([await count(first.apiKey), await count(second.apiKey)]).toEqual([1, 0]);
  });

  test('an address of the other venue, or of none, is no wallet of the venue', async () => {
    const both = await onBoth();
    for (const query of [
      `venue=polymarket&user=${both.wallet}`,
      `venue=kalshi&user=${both.funder}`,
      `user=${'2'.repeat(32)}`,
    ]) {
      const { status, body } = await get(`/markets/current-positions?${query}`, both.apiKey);
      expect({ query, status, code: body.code }).toEqual({ query, status: 404, code: 'wallet_not_found' });
    }
    expect((await get('/markets/current-positions?user=nobody', both.apiKey)).body.code).toBe(
      'invalid_request',
    );
  });

  test('is credited when it is linked or named; a link holds without', async () => {
    const agent = await newAgent(service);
    const [linked, named, broke] = [1, 2, 3].map(() => SolanaSigner.generate());
    await linkSolanaWallet(agent.client, linked as SolanaSigner);
    await agent.client.updateSolAddress((named as SolanaSigner).address);
    expect(fake.credited).toEqual(
      expect.arrayContaining([(linked as SolanaSigner).address, (named as SolanaSigner).address]),
    );
    fake.fate.creditFails = true;
    try {
      const result = await linkSolanaWallet(agent.client, broke as SolanaSigner);
      expect(result.success).toBe(true);
    } finally {
      fake.fate.creditFails = false;
    }
    expect((await agent.client.getMe()).solAddress).toBe((broke as SolanaSigner).address);
  });
});

describe('positions and portfolio', () => {
  test('both venues, each by its name, and one of them', async () => {
    const both = await onBoth();
    const onA = await buyOnA(both);
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

  test('winnings of venue B are redeemable, what lost is not', async () => {
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
      const told = positions.map(({ outcome, currentPrice, redeemable }) => ({
        outcome,
        currentPrice,
        redeemable,
      }));
      expect(told.toSorted((a, b) => (a.outcome < b.outcome ? 1 : -1))).toEqual([
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

  test('the chain says how much, the desk what it cost; the desk’s part alone has cost and gain', async () => {
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

    // Somebody who only names the wallet sees what everybody can see on the chain, and nothing of the books.
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

  test('while the chain is silent, the last known balance and a warning; its own route says so', async () => {
    const both = await onBoth();
    await placed({ agentId: both.agentId, wallet: both.wallet, ticker: newTicker().id });
    expect((await get('/markets/portfolio', both.apiKey)).body.warnings).toEqual([]);
    fake.fate.silent = true;
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
      fake.fate.silent = false;
    }
  });

  test('while markets do not come, nobody waits: positions count what they cost', async () => {
    const both = await onBoth();
    await placed({ agentId: both.agentId, wallet: both.wallet, ticker: newTicker().id });
    const { findAll } = fake.markets;
    Object.assign(fake.markets, { findAll: late });
    try {
      const begun = performance.now();
      const [position] = (await get('/markets/current-positions', both.apiKey)).body;
      expect(position).toMatchObject({ size: 10, currentPrice: 0.6, currentValue: 6, unrealizedPnl: 0 });
      const portfolio = (await get('/markets/portfolio', both.apiKey)).body;
      expect(portfolio.warnings).toMatchObject([{ code: 'venue_not_answering' }]);
      expect(portfolio.warnings[0].message).toContain('what they cost');
      expect(performance.now() - begun).toBeLessThan(4_000);
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

describe('briefing', () => {
  test('both venues, each with its own counts; with a venue or a wallet only that one', async () => {
    const both = await onBoth();
    await buyOnA(both);
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

  test('one statement; the chain is asked once in five seconds, and never without a wallet', async () => {
    const both = await onBoth();
    const plain = await newTrader(service);
    await both.client.getBriefing();
    statements.length = 0;
    tokenCalls.length = 0;
    for (const client of [both.client, plain.client, both.client]) await client.getBriefing();
    expect(statements.filter((text) => /pg_current_snapshot/.test(text)).length).toBe(3);
    expect(tokenCalls).toEqual([]);
    await (await newAgent(service)).client.getBriefing();
    expect(tokenCalls).toEqual([]);
  });

  test('no wallet: how to get one; winnings: the quote that redeems them, ready to send', async () => {
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

  test('an order of venue B is in doubt once its blockhash must be dead, not after seconds', async () => {
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

  test('alerts weigh both venues: the account is their sum', async () => {
    const both = await onBoth();
    await both.client.faucet({ address: both.funder, amount: 1 });
    // 500 on the chain and 10,000 on venue A: 5,950 are less than four tenths of it all.
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

  test('new markets of both, each told once; what venue B did not tell stays new', async () => {
    const agent = await newAgent(service);
    const { nextCursor } = await agent.client.getBriefing();
    const market = newTicker({ createdAt: Date.now() + 1_000 });
    const { listedAfter } = fake.markets;
    Object.assign(fake.markets, { listedAfter: late });
    const silent = await agent.client.getBriefing({ since: nextCursor });
    Object.assign(fake.markets, { listedAfter });
    expect(silent.opportunities.newMarkets).toEqual([]);
    const told = await agent.client.getBriefing({ since: silent.nextCursor });
    expect(told.opportunities.newMarkets).toMatchObject([{ id: market.id, venue: 'kalshi' }]);
    expect((await agent.client.getBriefing({ since: told.nextCursor })).opportunities.newMarkets).toEqual([]);
    // A cursor from before venue B had a part in it.
    const old = nextCursor.replace(/^(b1\.\d+\.\d+)\.\d+/, '$1');
    expect((await get(`/markets/briefing?since=${old}`, agent.apiKey)).status).toBe(200);
  });
});

describe('context and journal', () => {
  test('what a trade would get: whole contracts, the fee inside, balances from the chain', async () => {
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
    // 0.6 and 0.0192 for each: 20 contracts cost 12.384, a further one is not in it.
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

  test('while the chain is silent the context comes without an account', async () => {
    const both = await onBoth();
    const { id } = newTicker();
    fake.fate.silent = true;
    try {
      const { status, body } = await get(`/markets/context/${id}?side=BUY&size=13`, both.apiKey);
      expect(status).toBe(200);
      expect(body.account).toBeNull();
      expect(body.warnings.map(({ code }: { code: string }) => code)).not.toContain('insufficient_balance');
    } finally {
      fake.fate.silent = false;
    }
  });

  test('the journal and the leaderboard have both; the journal filters by venue', async () => {
    const both = await onBoth();
    await buyOnA(both);
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
      { timeout: 15_000, interval: 500 },
    );
  });
});

describe('on the sandbox', () => {
  test('the world’s markets by ticker, and the money that a link brought, on its chain', async () => {
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
    const told = context.slippage.find(({ amount, outcome }) => amount === 50 && outcome === 'YES');
    const quote = await call(sandbox, 'POST', '/venueb/agent/quote', {
      key: agent.apiKey,
      body: { marketTicker: market.id, side: 'YES', action: 'BUY', amount: 50 },
    });
    // The venue rounds its fee up to the cent: a contract less, at most.
    const quoted = Number(quote.body.outAmount) / 1e6;
    expect((told?.filledShares ?? 0) - quoted).toBeGreaterThanOrEqual(0);
    expect((told?.filledShares ?? 0) - quoted).toBeLessThanOrEqual(1);
  });
});
