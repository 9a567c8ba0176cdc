/** Markets of DFlow: read in batches, listed, searched. */
import { describe, expect, test } from 'vitest';
import { capturedMarket, MINTS, TICKER } from './dflow-fixtures.ts';
import { dflow, key, logged, seen, stage, useStage, venue } from './dflow-venue-stage.ts';

useStage();

describe('markets', () => {
  const batches = () => seen.filter(({ url }) => url.endsWith('/markets/batch')).map(({ body }) => body);

  test('wanted at the same time are read with one request, and cached for a moment', async () => {
    dflow['/api/v1/markets/batch'] = { markets: [capturedMarket(), { ticker: 'broken' }], cursor: null };
    const { markets } = venue;
    const [found, missing, byToken, all] = await Promise.all([
      markets.find(TICKER),
      markets.find('KXNONE-1'),
      markets.byToken(MINTS.no),
      markets.findAll([TICKER, 'KXNONE-1']),
    ]);
    expect(found?.id).toBe(TICKER);
    expect(missing).toBeNull();
    expect(logged).toEqual(['warn DFlow lists things in a shape that is not known {"left":1}']);
    expect(byToken).toMatchObject({ market: { id: TICKER }, outcome: 'NO' });
    expect(all.map(({ id }) => id)).toEqual([TICKER]);
    expect(batches()).toEqual([{ tickers: [TICKER, 'KXNONE-1'], mints: [MINTS.no] }]);
    stage.now += 1_999;
    await markets.find(TICKER);
    expect(batches()).toHaveLength(1);
    stage.now += 1;
    await markets.find(TICKER);
    expect(batches()).toHaveLength(2);
  });

  test('more than a hundred are read in several requests', async () => {
    dflow['/api/v1/markets/batch'] = { markets: [], cursor: null };
    await venue.markets.findAll(Array.from({ length: 150 }, (_, index) => `KXMANY-${index}`));
    expect(batches().map((body) => (body as { tickers: string[] }).tickers.length)).toEqual([100, 50]);
  });

  test('a failure is not cached', async () => {
    dflow['/api/v1/markets/batch'] = (reply) => reply.code(400).send({});
    await expect(venue.markets.find(TICKER)).rejects.toMatchObject({ name: 'VenueUnavailable' });
    dflow['/api/v1/markets/batch'] = { markets: [capturedMarket()] };
    expect(await venue.markets.find(TICKER)).toMatchObject({ id: TICKER });
  });

  test('are listed page by page, each once, newest first', async () => {
    const row = (index: number) =>
      capturedMarket({ ticker: `KXROW-${index}`, openTime: 1_770_000_000 + index });
    const pages: Record<string, object[]> = {
      'active 0': Array.from({ length: 255 }, (_, index) => row(index)),
      'active 255': [row(254), row(255)],
      'closed 0': [capturedMarket({ ticker: 'KXCLOSED-1', status: 'closed' })],
    };
    stage.listing = (status, cursor) => pages[`${status} ${cursor}`] ?? [];
    const all = (await venue.markets.search({ words: '*' })).markets;
    expect(all).toHaveLength(257);
    expect(seen.filter(({ url }) => url.includes('status=active'))).toHaveLength(2);
    expect(seen).toHaveLength(5);
    const { markets, latest } = await venue.markets.listedAfter(1_770_000_253_000, 5);
    expect(markets.map(({ id }) => id)).toEqual(['KXROW-255', 'KXROW-254']);
    expect(latest).toBe(1_770_000_255_000);
    expect(seen).toHaveLength(5);
  });

  test('are found by words; those with all words come first', async () => {
    const other = capturedMarket({ ticker: 'KXEPLGAME-26FEB18WOLARS-ARS', yesSubTitle: 'Arsenal' });
    dflow['/api/v1/search'] = {
      events: [{ ticker: 'KXEPLGAME-26FEB18WOLARS', title: 'x', markets: [other, capturedMarket()] }],
      cursor: null,
    };
    const found = (await venue.markets.search({ words: '(wolverhampton) winner' })).markets;
    expect(found.map(({ id }) => id)).toEqual([TICKER, 'KXEPLGAME-26FEB18WOLARS-ARS']);
    await venue.markets.search({ words: '(wolverhampton) winner' });
    expect(seen).toHaveLength(1);
  });

  test('are found by the mints that the venue calls outcome tokens', async () => {
    dflow['/api/v1/filter_outcome_mints'] = { outcomeMints: [MINTS.yes] };
    dflow['/api/v1/markets/batch'] = { markets: [capturedMarket()] };
    const found = await venue.quotes.marketsByMint([MINTS.yes, key(70)]);
    expect([...found.keys()]).toEqual([MINTS.yes]);
    expect(seen[0]!.body).toEqual({ addresses: [MINTS.yes, key(70)] });
  });

  test('may have a book', async () => {
    expect(await venue.markets.book(TICKER, 'YES', 5)).toBeNull();
    dflow['/api/v1/orderbook/'] = { yes_bids: { '0.0700': 3 }, no_bids: { '0.9200': '4' }, sequence: 2 };
    expect(await venue.markets.book(TICKER, 'YES', 5)).toMatchObject({
      bids: [[700, 3_000_000n]],
      asks: [[800, 4_000_000n]],
    });
  });

  test('in an unknown state are logged once', async () => {
    dflow['/api/v1/market/'] = capturedMarket({ status: 'an unknown state' });
    await venue.quotes.market(TICKER);
    await venue.quotes.market(TICKER);
    expect(logged).toHaveLength(1);
  });
});
