/** Quoted markets: listed, found, priced, and features of signed-order markets that they lack. */
import { buildMarketOrder, type Market } from '@bellwether/sdk';
import { describe, expect, test } from 'vitest';
import { call, newTrader } from '../harness.ts';
import {
  buyBySignedOrder,
  fake,
  get,
  M,
  newTicker,
  onBoth,
  placed,
  service,
  sql,
  useStage,
  VENUES,
} from './quoted-reads-stage.ts';

useStage();

describe('markets', () => {
  test('quoted markets have their venue’s name, the ticker as id and the mints as tokens', async () => {
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

  test('filters, order and pages are the same as for signed-order markets', async () => {
    const first = newTicker({ question: 'paged one', volume24h: 1n * M });
    const second = newTicker({ question: 'paged two', volume24h: 2n * M });
    const over = newTicker({ question: 'paged three', status: 'resolved', payout: 'YES' });
    const ids = async (query: string) =>
      (await get(`/markets?q=paged&venue=kalshi&${query}`)).body.map(({ id }: Market) => id);
    expect(await ids('order=volume24hr')).toEqual([second.id, first.id]);
    expect(await ids('order=volume24hr&ascending=true&limit=1&page=2')).toEqual([second.id]);
    expect(await ids('eventsStatus=resolved')).toEqual([over.id]);
  });

  test('a ticker or a mint finds its market, with or without the venue; other venues’ ids do not', async () => {
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

  test('past prices do not exist, and the answer says so', async () => {
    const [mint] = newTicker().tokenIds;
    for (const query of [`market=${mint}`, `market=${mint}&venue=kalshi`]) {
      const { status, body } = await get(`/markets/prices-history?interval=1d&${query}`);
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' });
      expect(body.detail).toContain('no past prices of kalshi');
    }
  });

  test('an unknown venue is refused with the names of both venues, on every route', async () => {
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

  test('routes for signed orders name the quoted alternative', async () => {
    const trader = await newTrader(service);
    const market = await buyBySignedOrder(trader);
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
    // A ticker that was traded here is not a signed-order market, in any request.
    const both = await onBoth();
    const { id } = newTicker();
    await placed({ agentId: both.agentId, wallet: both.wallet, ticker: id });
    await sql`update traded_markets set payout = 'YES' where condition_id = ${id}`;
    expect(await post('/markets/redeem', { marketId: id })).toMatchObject(refused);
  });
});
