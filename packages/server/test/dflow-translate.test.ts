import { USDC_MINT } from '@bellwether/protocol';
import { describe, expect, test } from 'vitest';
import type { WireMarket } from '../src/venues/dflow/client.ts';
import { maintenanceEnd, refusalOfCountry } from '../src/venues/dflow/open.ts';
import { costOf, railOf, toBook, toTickerMarket } from '../src/venues/dflow/translate.ts';
import type { TickerMarket } from '../src/venues/quotes.ts';
import {
  CAPTURED_BUY,
  capturedMarket,
  dflow,
  key,
  logged,
  MINTS,
  NOON,
  seen,
  stage,
  TICKER,
  useStage,
  venue,
} from './dflow-venue-stage.ts';

function translated(changes: object = {}, rail: object = {}) {
  const market = capturedMarket(changes, rail) as unknown as WireMarket;
  const on = railOf(market, USDC_MINT);
  return on === null || on === 'unreadable' ? on : toTickerMarket(market, on, NOON);
}

/** Of a market that can be read. */
const readable = (changes: object = {}, rail: object = {}) => translated(changes, rail) as TickerMarket;

describe('a market', () => {
  test('has its ticker as id, prices in pips, and the tokens of our collateral', () => {
    expect(translated()).toMatchObject({
      id: TICKER,
      conditionId: TICKER,
      tokenIds: [MINTS.yes, MINTS.no],
      question: 'Wolverhampton vs Arsenal Winner? (Wolverhampton)',
      status: 'open',
      phase: 'active',
      bestBid: 700,
      bestAsk: 800,
      asks: { YES: 800, NO: 9_300 },
      pays: { YES: null, NO: null },
      tickSize: 100,
      minOrderSize: 1_000_000n,
      feeRate: 80_000n,
      feeExponent: 1,
      createdAt: 1_770_000_000_000,
      endDate: 1_771_444_800_000,
      volume: 12_345_500_000n,
    });
  });

  test('without tokens for our collateral is left out', () => {
    expect(translated({ accounts: {} })).toBeNull();
  });

  test('whose tokens for our collateral cannot be read is not taken for one without', () => {
    for (const yesMint of ['no-mint', MINTS.no, 5]) expect(translated({}, { yesMint })).toBe('unreadable');
  });

  test.each([
    ['active', 'active', 'open'],
    ['Active', 'active', 'open'],
    ['initialized', 'inactive', 'closed'],
    ['inactive', 'inactive', 'closed'],
    ['closed', 'closed', 'closed'],
    ['determined', 'closed', 'closed'],
    ['an unknown state', 'inactive', 'closed'],
    ['__proto__', 'inactive', 'closed'],
  ])('in the state %s is %s', (status, phase, shown) => {
    expect(translated({ status })).toMatchObject({ phase, status: shown });
  });

  test.each([
    [true, 'active'],
    ['TRUE', 'active'],
    [null, 'active'],
    [false, 'inactive'],
    ['false', 'inactive'],
    [7, 'inactive'],
  ])(
    'whose first buyer would pay for its accounts is not tradable: isInitialized %j',
    (isInitialized, phase) => {
      expect(translated({}, { isInitialized })).toMatchObject({ phase });
    },
  );

  test.each([
    ['yes', undefined, 'resolved', 'YES', { YES: 10_000, NO: 0 }],
    ['no', undefined, 'resolved', 'NO', { YES: 0, NO: 10_000 }],
    ['', 5_000, 'resolved', 'HALF', { YES: 5_000, NO: 5_000 }],
    [null, 2_500, 'resolved', '0.25', { YES: 2_500, NO: 7_500 }],
    ['', 2_400, 'resolved', '0.24', { YES: 2_400, NO: 7_600 }],
    ['scalar', 2_400, 'resolved', '0.24', { YES: 2_400, NO: 7_600 }],
    ['scalar', 9_999, 'resolved', '0.9999', { YES: 9_999, NO: 1 }],
    ['scalar', 10_000, 'resolved', 'YES', { YES: 10_000, NO: 0 }],
    ['scalar', 0, 'resolved', 'NO', { YES: 0, NO: 10_000 }],
    ['Scalar', '2400', 'resolved', '0.24', { YES: 2_400, NO: 7_600 }],
    ['YES', 'half', 'resolved', 'YES', { YES: 10_000, NO: 0 }],
  ])('finalized as %j (%j) pays that result', (result, scalarOutcomePct, status, payout, pays) => {
    const pct = scalarOutcomePct === undefined ? {} : { scalarOutcomePct };
    const market = readable({ status: 'Finalized', result }, { redemptionStatus: 'Open', ...pct });
    expect(market).toMatchObject({ phase: 'settled', status, pays });
    expect(market.payout).toBe(payout);
    expect(market).not.toHaveProperty('unknownResult');
  });

  test('pays nothing before redemption opens, or for an unknown result', () => {
    const none = { YES: null, NO: null };
    const ended = (status: string, result: string, redemptionStatus: string | null) =>
      translated({ status, result }, { redemptionStatus });
    expect(ended('finalized', 'yes', 'pending')).toMatchObject({
      phase: 'settled',
      payout: 'YES',
      pays: none,
    });
    expect(ended('finalized', 'void', 'open')).toMatchObject({
      ...{ phase: 'closed', status: 'closed', pays: none, unknownResult: 'void' },
    });
    expect(ended('finalized', 'constructor', 'open')).toMatchObject({ unknownResult: 'constructor' });
    expect(ended('finalized', 'scalar', 'open')).toMatchObject({ phase: 'closed', pays: none });
    for (const scalarOutcomePct of ['half', '24 %', 10_001, -1, 0.5])
      expect(
        translated({ status: 'finalized', result: '' }, { redemptionStatus: 'open', scalarOutcomePct }),
      ).toMatchObject({ phase: 'closed', pays: none, unknownResult: String(scalarOutcomePct) });
    expect(ended('determined', 'yes', 'open')).toMatchObject({ phase: 'settled' });
    expect(ended('determined', 'no', null)).toMatchObject({ phase: 'closed', pays: none, decided: 0 });
    expect(ended('closed', '', null)).not.toHaveProperty('decided');
  });

  test.each([
    ['Wolverhampton', 'Wolverhampton', ['Yes', 'No']],
    ['Lakers', ' Celtics\u0007', ['Lakers', 'Celtics']],
    ['Above 4 %', null, ['Above 4 %', 'No']],
    ['', undefined, ['Yes', 'No']],
  ])(
    'has the names of its subtitles, unless they are about the question: %j, %j',
    (yesSubTitle, noSubTitle, names) => {
      expect(readable({ yesSubTitle, noSubTitle }).outcomes).toEqual(names);
    },
  );

  test('accepts times in seconds or milliseconds, and finer prices for a finer tick', () => {
    const end = (closeTime: unknown) => readable({ closeTime }).endDate;
    expect([1_771_444_800_123, '1771444800.123', '2026-02-18T20:00:00.123Z'].map(end)).toEqual(
      Array(3).fill(1_771_444_800_123),
    );
    expect([null, undefined, 0, 'soon', -1, 1e300, {}].map(end)).toEqual(Array(7).fill(null));
    expect(readable({ yesBid: '0.0750' }).tickSize).toBe(10);
    expect(readable({ yesBid: '0.0755' }).tickSize).toBe(1);
  });

  test.each([['0.07555'], ['1.0000'], ['0.0000'], ['about a half'], [null]])(
    'has no offer for the price %j',
    (yesAsk) => {
      expect(readable({ yesAsk }).asks.YES).toBeNull();
    },
  );
});

test('the book mirrors the bids for the other outcome', () => {
  const wire = {
    yes_bids: { '0.0500': 3, '0.0700': '12.5' },
    no_bids: { '0.9200': 40, '0.9000': 7 },
    sequence: 9,
  };
  const shown = { depth: 1, now: NOON };
  expect(toBook(TICKER, 'YES', wire, { depth: 5, now: NOON })).toEqual({
    conditionId: TICKER,
    outcome: 'YES',
    bids: [
      [700, 12_500_000n],
      [500, 3_000_000n],
    ],
    asks: [
      [800, 40_000_000n],
      [1_000, 7_000_000n],
    ],
    sequence: 9,
    changedAt: NOON,
  });
  expect(toBook(TICKER, 'NO', wire, shown)).toMatchObject({
    bids: [[9_200, 40_000_000n]],
    asks: [[9_300, 12_500_000n]],
  });
});

test('the fee equals the fee of a captured order', () => {
  const { contracts, price, paid } = CAPTURED_BUY;
  expect(costOf(contracts, price)).toBe(paid);
});

test('maintenance is on Thursday from 3 to 5 a.m. in New York, in summer and winter', () => {
  const ends = (times: readonly string[]) => times.map((time) => maintenanceEnd(Date.parse(time)));
  const within = ['2026-01-15T08:00:00Z', '2026-07-16T07:00:00Z', '2026-07-16T08:59:59Z'];
  const [winter, summer] = [Date.parse('2026-01-15T10:00:00Z'), Date.parse('2026-07-16T09:00:00Z')];
  expect(ends(within)).toEqual([winter, summer, summer]);
  const outside = ['2026-01-15T07:59:59Z', '2026-07-16T09:00:00Z', '2026-07-17T07:30:00Z'];
  expect(ends(outside)).toEqual([null, null, null]);
});

test('a country may buy when it is one assigned code that is not blocked, in either case', () => {
  expect(['DE', 'br', ' JP ', 'IE'].map(refusalOfCountry)).toEqual([null, null, null, null]);
  const blocked = [
    'US',
    'us',
    'GB',
    'UK',
    'PL',
    'AE',
    'GP',
    'RE',
    'GF',
    'PF',
    'MQ',
    'YT',
    'NC',
    'PM',
    'BL',
    'MF',
  ];
  for (const code of [...blocked, 'WF', 'TF'])
    expect(refusalOfCountry(code)).toMatch(/bought .* country [A-Z]{2}\.$/);
  for (const said of [null, '', 'XX', 'T1', 'ZZ', 'EU', 'USA', 'DE, US', 'DE,DE', 'UA-43', 'constructor'])
    expect(refusalOfCountry(said)).toMatch(
      /needs the country .* names (no country|"[^"]+", which is not one)/,
    );
});

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
