/** The live venue's markets, where its services say odd things. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { VenueUnavailable } from '../src/domain/unavailable.ts';
import { TokenBook } from '../src/venues/polymarket/books.ts';
import { agreed } from '../src/venues/polymarket/public-markets.ts';
import { READ, toListedMarket } from '../src/venues/polymarket/translate-market.ts';
import { CONDITION, gammaMarket, type Json, NO, openMarkets, wireBook, YES } from './polymarket-stand-in.ts';

let venue: Awaited<ReturnType<typeof openMarkets>>;
beforeEach(async () => {
  venue = await openMarkets();
});
afterEach(() => venue.close());

const translated = (changes: Json) => {
  const wire = READ.gammaMarket(gammaMarket(changes));
  return wire === null ? null : (toListedMarket(wire, { now: 1 })?.record ?? null);
};

describe('a market', () => {
  test('is found by number, slug, condition and either token, with the terms and prices of the CLOB', async () => {
    venue.state.books = [wireBook({ tick_size: '0.001', min_order_size: '15', neg_risk: true })];
    for (const id of [
      '559651',
      'will-it-rain-tomorrow',
      CONDITION,
      CONDITION.toUpperCase().replace('X', 'x'),
      YES,
      NO,
    ])
      expect(await venue.data.find(id), id).toMatchObject({
        id: '559651',
        conditionId: CONDITION,
        tokenIds: [YES, NO],
        status: 'open',
        tickSize: 10,
        minOrderSize: 15_000_000n,
        negRisk: true,
        bestBid: 4_500,
        bestAsk: 5_000,
        lastTrade: 4_700,
        feeRate: 70_000n,
        feeExponent: 1,
        category: 'Weather',
        eventId: '900',
        volume: 12_345_678_901n,
        createdAt: Date.parse('2026-10-01T10:00:00.123Z'),
      });
    expect(await venue.data.byToken(NO)).toMatchObject({ outcome: 'NO', market: { id: '559651' } });
    expect(await venue.data.byToken('559651')).toBeNull();
  });

  test('that lists No first has its last trade on the right side, in its record, its book and a trade', async () => {
    // Both of its books say it of the first outcome, which is No.
    venue.state.markets = [gammaMarket({ outcomes: '["No","Yes"]' })];
    venue.state.books = [wireBook({ asset_id: NO, bids: [], last_trade_price: '0.9' })];
    expect(await venue.data.find(CONDITION)).toMatchObject({ tokenIds: [NO, YES], lastTrade: 1_000 });
    expect(await venue.data.findAll([CONDITION])).toMatchObject([{ lastTrade: 1_000 }]);
    for (const [outcome, lastTrade] of [
      ['YES', 1_000],
      ['NO', 9_000],
    ] as const)
      expect(await venue.data.book(CONDITION, outcome, 10)).toMatchObject({ lastTrade });
    const book = TokenBook.read(READ.book(wireBook({ last_trade_price: '0.9' }))!)!;
    book.traded('0.2', 2_000);
    expect(book.view({ conditionId: CONDITION, isTurned: true }, 'YES', 1).lastTrade).toBe(2_000);
  });

  test('is asked for once by many readers, and ids that cannot be any are not asked for', async () => {
    await Promise.all(Array.from({ length: 50 }, () => venue.data.find(CONDITION)));
    expect(venue.asked.filter((line) => line.includes('keyset'))).toHaveLength(2);
    const before = venue.asked.length;
    for (const text of ['', '*', 'KXRAIN-26', '0x12', '../etc', 'word', '9'.repeat(90)]) {
      expect(venue.data.canBeId(text), text).toBe(false);
      expect(await venue.data.find(text), text).toBeNull();
    }
    expect(venue.asked).toHaveLength(before);
  });

  test('that is unknown is not asked for again at once', async () => {
    venue.state.markets = [];
    expect(await venue.data.find(CONDITION)).toBeNull();
    const before = venue.asked.length;
    expect(await venue.data.find(CONDITION)).toBeNull();
    expect(venue.asked).toHaveLength(before);
  });

  test.each([401, 403, 422])(
    'is not unknown because the catalogue answers %d: that is no answer',
    async (status) => {
      const path = '/markets/slug/will-it-rain-tomorrow';
      venue.state.broken.set(path, status);
      await expect(venue.data.find('will-it-rain-tomorrow')).rejects.toBeInstanceOf(VenueUnavailable);
      venue.state.broken.delete(path);
      expect(await venue.data.find('will-it-rain-tomorrow')).toMatchObject({ id: '559651' });
    },
  );

  test.each<[string, Json]>([
    ['with any answer of Gamma', {}],
    ['and with none', { active: null, acceptingOrders: null, enableOrderBook: null }],
  ])('that the CLOB has no book of takes no orders, %s', async (_title, changes) => {
    venue.state.markets = [gammaMarket(changes)];
    venue.state.books = [];
    expect(await venue.data.find(CONDITION)).toMatchObject({ status: 'closed' });
    expect(await venue.data.book(CONDITION, 'YES', 10)).toBeNull();
  });

  test('without an answer of the CLOB is no market with old prices', async () => {
    venue.state.broken.set('/book', 500);
    await expect(venue.data.find(CONDITION)).rejects.toBeInstanceOf(VenueUnavailable);
  });

  test.each<[string, Json, object]>([
    [
      'numbers as texts and texts as numbers',
      { id: 559651, volumeNum: '7', liquidityNum: null, orderMinSize: '5' },
      { id: '559651', volume: 7_000_000n, liquidity: 0n, minOrderSize: 5_000_000n },
    ],
    [
      'real lists instead of encoded ones',
      { outcomes: ['Yes', 'No'], clobTokenIds: [YES, NO] },
      { tokenIds: [YES, NO] },
    ],
    ['no events and no tags', { events: null, tags: undefined }, { eventId: '', category: 'Other' }],
    ['no fees', { feesEnabled: false }, { feeRate: 0n }],
    ['no fee schedule', { feeSchedule: null }, { feeRate: 0n, status: 'open' }],
    ['a rate of nothing', { feeSchedule: { rate: '0', exponent: 7.5 } }, { feeRate: 0n, status: 'open' }],
    ['another exponent', { feeSchedule: { rate: 0.25, exponent: 2 } }, { feeRate: 250_000n, feeExponent: 2 }],
    ['no exponent', { feeSchedule: { rate: 0.25 } }, { feeRate: 250_000n, feeExponent: 1, status: 'open' }],
    [
      'a date that is none',
      { endDate: 'soon', createdAt: null },
      { endDate: null, createdAt: Date.parse('2026-10-01T11:00:00Z') },
    ],
    [
      'a day as its end',
      { endDate: null, endDateIso: '2026-12-24' },
      { endDate: Date.parse('2026-12-24T23:59:59.999Z') },
    ],
    ['a day that is none', { endDate: null, endDateIso: '2026-13-24' }, { endDate: null }],
    [
      'a game, whose start cancels what rests, and a delay of takers',
      { secondsDelay: '3', clearBookOnStart: true, gameStartTime: '2026-05-28 05:29:05+00' },
      {
        takerDelaySeconds: 3,
        ordersCanceledAtStart: true,
        gameStartTime: Date.parse('2026-05-28T05:29:05Z'),
      },
    ],
    [
      'a start with another zone, and a window of time',
      { gameStartTime: '2026-05-28 05:29:05.5-0430', eventStartTime: '2026-05-28T05:30:00Z' },
      {
        gameStartTime: Date.parse('2026-05-28T09:59:05.500Z'),
        eventStartTime: Date.parse('2026-05-28T05:30:00Z'),
      },
    ],
    [
      'the rest of its event as its outcome, and a source',
      { negRiskOther: true, resolutionSource: 'https://example.com' },
      { isOtherOutcome: true, resolutionSource: 'https://example.com' },
    ],
    ['a day beside its end', { endDateIso: '2026-12-24' }, { endDate: Date.parse('2026-12-01T00:00:00Z') }],
    ['an assertion under way', { umaResolutionStatus: 'proposed' }, { status: 'closed' }],
    ['orders switched off', { acceptingOrders: false }, { status: 'closed' }],
    ['an inactive placeholder', { active: false }, { status: 'closed' }],
    ['its flags left out', { active: null, acceptingOrders: undefined }, { status: 'open' }],
    ['no word for its resolution', { resolutionStatus: '', umaResolutionStatus: null }, { status: 'open' }],
    ['its words in capitals', { resolutionStatus: 'ACTIVE', enableOrderBook: null }, { status: 'open' }],
    ['another word for its resolution', { resolutionStatus: 'posed' }, { status: 'closed' }],
  ])('may have %s', (_title, changes, expected) => {
    expect(translated(changes)).toMatchObject(expected);
  });

  test('says nothing of a game where the venue says nothing, or what is none', () => {
    const names = ['takerDelaySeconds', 'gameStartTime', 'eventStartTime', 'ordersCanceledAtStart'];
    names.push('isOtherOutcome', 'resolutionSource');
    const none = { secondsDelay: 0, clearBookOnStart: false, negRiskOther: false, resolutionSource: ' ' };
    const odd = {
      ...{ secondsDelay: 'soon', gameStartTime: [1], eventStartTime: 'then', clearBookOnStart: 'yes' },
      ...{ negRiskOther: 1, resolutionSource: {} },
    };
    for (const changes of [{}, none, odd, { secondsDelay: -1, gameStartTime: null }]) {
      const record = translated(changes);
      expect(record).toMatchObject({ status: 'open' });
      expect(names.filter((name) => name in record!)).toEqual([]);
    }
  });

  const V2_CONDITION = `0x01${'ab'.repeat(16)}${'00'.repeat(14)}`;
  const OF_V2: Json = {
    version: 'v2',
    conditionId: V2_CONDITION,
    clobTokenIds: null,
    positionIds: [BigInt(`${V2_CONDITION}00`).toString(), BigInt(`${V2_CONDITION}01`).toString()],
    resolutionStatus: 'active',
  };

  test('of Protocol V2 is traded by its position ids, under its condition of 32 bytes', () => {
    const record = translated(OF_V2);
    expect(record).toMatchObject({ status: 'open', version: 'v2', tokenIds: OF_V2.positionIds });
    expect(record).not.toHaveProperty('untradable');
    expect(record?.conditionId).toBe(`${V2_CONDITION}00`);
    expect(translated({ ...OF_V2, conditionId: `${V2_CONDITION}00` })).toEqual(record);
  });

  test.each<[string, Json]>([
    ['inactive', { resolutionStatus: 'inactive' }],
    ['resolved', { resolutionStatus: 'resolved' }],
  ])('of Protocol V2 takes no orders while its resolution is %s', (_title, changes) => {
    expect(translated({ ...OF_V2, ...changes })).toMatchObject({ status: 'closed', version: 'v2' });
  });

  test('of Protocol V2 is left out until it has its ids', () => {
    expect(translated({ ...OF_V2, positionIds: null })).toBeNull();
  });

  test.each<[string, Json]>([
    ['says a version that is not known', { version: 'v3' }],
    ['of v2 has positions of another condition', { ...OF_V2, positionIds: [YES, NO] }],
    ['of v1 has positions', { ...OF_V2, version: 'v1', clobTokenIds: JSON.stringify(OF_V2.positionIds) }],
  ])('that %s is listed and cannot be traded', (_title, changes) => {
    expect(translated(changes)).toMatchObject({ status: 'closed', untradable: 'contract_version' });
  });

  test.each<[string, unknown]>([
    ['half an exponent', { rate: 0.05, exponent: 0.5 }],
    ['an exponent beyond all', { rate: 0.05, exponent: 1e9 }],
    ['an exponent that is a word', { rate: 0.05, exponent: 'one' }],
    ['a fee of makers', { rate: 0.05, exponent: 1, takerOnly: false }],
    ['a word for who pays', { rate: 0.05, exponent: 1, takerOnly: 'mostly' }],
    ['no rate', { exponent: 1 }],
    ['a rate that is a word', { rate: 'high', exponent: 1 }],
    ['a rate below nothing', { rate: -0.01, exponent: 1 }],
    ['a rate above all', { rate: 1.01, exponent: 1 }],
    ['a rate finer than the desk counts', { rate: '0.0000001', exponent: 1 }],
    ['a schedule that is a word', 'crypto'],
    ['a schedule that is a list', [0.05]],
  ])('whose fee the desk cannot tell, with %s, is listed and cannot be traded', (_title, feeSchedule) => {
    expect(translated({ feeSchedule })).toMatchObject({ status: 'closed', untradable: 'fee_terms' });
    expect(translated({ feeSchedule, feesEnabled: false })).toMatchObject({ status: 'open', feeRate: 0n });
  });

  test.each<[string, Json]>([
    ['no tokens yet', { clobTokenIds: '["",""]' }],
    ['three outcomes', { outcomes: '["A","B","C"]' }],
    ['the same token twice', { clobTokenIds: JSON.stringify([YES, YES]) }],
    ['tokens that are no list', { clobTokenIds: '{"0":1}' }],
    ['a condition that is none', { conditionId: '0x12' }],
    ['a question that is no text', { question: 7 }],
  ])('with %s is left out', (_title, changes) => {
    expect(translated(changes)).toBeNull();
  });
});

describe('a list', () => {
  const other = (nth: number, changes: Json = {}): Json =>
    gammaMarket({
      id: String(nth),
      conditionId: `0x${String(nth).padStart(64, '0')}`,
      slug: `market-${nth}`,
      clobTokenIds: JSON.stringify([`${YES.slice(0, 60)}${nth}`, `${NO.slice(0, 60)}${nth}`]),
      createdAt: new Date(1_790_000_000_000 + nth).toISOString(),
      ...changes,
    });
  const bookOf = (nth: number, changes: Json = {}): Json =>
    wireBook({ asset_id: `${YES.slice(0, 60)}${nth}`, ...changes });

  test('survives a malformed market, which is counted', async () => {
    venue.state.markets = [{ broken: true }, other(1), 'text' as unknown as Json, other(2)];
    venue.state.books = [bookOf(1), bookOf(2)];
    const { markets, total } = await venue.data.search({ words: '*', status: 'active' });
    expect(markets.map(({ id }) => id)).toEqual(['1', '2']);
    expect(total).toBe(2);
    expect(venue.gamma.malformed()).toBe(2);
  });

  test('has prices of the CLOB only, in one question for a page', async () => {
    venue.state.markets = [other(1, { bestBid: 0.01, bestAsk: 0.99 }), other(2), other(3)];
    venue.state.books = [bookOf(1), bookOf(2, { bids: [], asks: [] })];
    const page = { offset: 0, limit: 2 };
    const { markets } = await venue.data.search({ words: '*', status: 'active', page });
    expect(markets[0]).toMatchObject({ id: '1', bestBid: 4_500, bestAsk: 5_000 });
    expect(markets[1]).not.toHaveProperty('bestBid');
    expect(venue.asked.filter((line) => line === 'POST /books')).toHaveLength(1);
  });

  test('is filtered by the price of the CLOB, not by the price of Gamma', async () => {
    venue.state.markets = [
      other(1, { outcomePrices: '["0.50","0.50"]' }),
      other(2, { outcomePrices: '["0.42","0.58"]' }),
    ];
    venue.state.books = [
      bookOf(1, { bids: [{ price: '0.90', size: '5' }], asks: [{ price: '0.92', size: '5' }] }),
      bookOf(2),
    ];
    const between = { minPrice: 0.45, maxPrice: 0.55 };
    const { markets, total } = await venue.data.search({ words: '*', status: 'active', ...between });
    expect(markets.map(({ id }) => id)).toEqual(['2']);
    expect(total).toBe(1);
  });

  test('of words comes from the venue’s own search, and a bad event hides no other', async () => {
    venue.state.events = [
      { title: 'without an id' },
      { id: 5, title: 'Weather', markets: [{ broken: 1 }, other(1)], tags: [{ label: 'Climate' }] },
    ];
    venue.state.books = [bookOf(1)];
    const { markets } = await venue.data.search({ words: ' rain & snow ' });
    expect(markets).toMatchObject([{ id: '1', eventId: '5', category: 'Weather', bestBid: 4_500 }]);
    expect(venue.asked.find((line) => line.includes('public-search'))).toContain('q=rain+%26+snow');
    await venue.data.search({ words: 'RAIN & SNOW' });
    expect(venue.asked.filter((line) => line.includes('public-search'))).toHaveLength(1);
  });

  test('of what was listed after a time has the newest first and names the latest', async () => {
    venue.state.markets = [other(1), other(3), other(2)];
    venue.state.books = [bookOf(1), bookOf(2), bookOf(3)];
    const { markets, latest } = await venue.data.listedAfter(1_790_000_000_001, 5);
    expect(markets.map(({ id }) => id)).toEqual(['3', '2']);
    expect(latest).toBe(1_790_000_000_003);
  });
});

describe('an outcome', () => {
  const ended = (changes: Json = {}) =>
    gammaMarket({ closed: true, umaResolutionStatus: 'resolved', outcomePrices: '["1","0"]', ...changes });
  const row = (payouts: unknown, status = 'resolved'): Json => ({ condition_id: CONDITION, status, payouts });
  const clobSays = (winner: string): void => {
    const tokens = [YES, NO].map((token_id) => ({ token_id, winner: token_id === winner }));
    venue.state.clobMarkets[CONDITION] = { condition_id: CONDITION, closed: true, tokens };
  };
  const found = async () => {
    const [market] = await venue.data.findAll([CONDITION]);
    return [market?.status, market?.payout];
  };

  const said = (outcomePrices: string): Json => ({ outcomePrices });
  const [yes, no, half] = [
    ['1000000', '0'],
    ['0', '1000000'],
    [500_000, 500_000],
  ];
  const unproved = ['closed', undefined];
  const turned = { outcomes: '["No","Yes"]' };

  test.each<[string, Json, Json | null, string | null, unknown]>([
    ['that two sources say is believed', {}, row(yes), null, ['resolved', 'YES']],
    [
      'in other letters is the same',
      { umaResolutionStatus: 'Resolved' },
      row(yes, 'RESOLVED'),
      null,
      ['resolved', 'YES'],
    ],
    ['of half is half', { outcomePrices: '["0.5","0.5"]' }, row(half), null, ['resolved', 'HALF']],
    ['of parts pays them', said('["0.25","0.75"]'), row(['250000', '750000']), null, ['resolved', '0.25']],
    ['of parts may be told by numerators', said('["0.25","0.75"]'), row([1, 3]), null, ['resolved', '0.25']],
    ['of thirds is rounded once', said('["0.3333","0.6667"]'), row([1, 2]), null, ['resolved', '0.333333']],
    ['of other parts is no proof', said('["0.25","0.75"]'), row(['240000', '760000']), null, unproved],
    ['of parts that one source alone says is none', said('["0.25","0.75"]'), null, null, unproved],
    [
      'beside a last price is asked of the CLOB',
      said('["0.9995","0.0005"]'),
      row(yes),
      YES,
      ['resolved', 'YES'],
    ],
    ['that cannot be read is none', said('["0.25","0.75"]'), row(['250000', 'much']), null, unproved],
    ['of nothing is none', said('["0","0"]'), row([0, 0]), null, unproved],
    ['of three parts is none', said('["0.25","0.75"]'), row([1, 2, 1]), null, unproved],
    ['of one source is asked of the CLOB', { outcomePrices: '["0","1"]' }, null, NO, ['resolved', 'NO']],
    ['that another source contradicts is no proof', {}, row(no), YES, unproved],
    ['of a market that lists No first is by its names', turned, row(yes), null, ['resolved', 'NO']],
    ['… one of which cannot be read', { outcomes: '[null,"Yes"]' }, row(yes), null, ['resolved', 'NO']],
    ['… in the words of the CLOB, too', { ...turned, ...said('["0","1"]') }, null, NO, ['resolved', 'YES']],
    ['… and in parts', { ...turned, ...said('["0.24","0.76"]') }, row([24, 76]), null, ['resolved', '0.76']],
    ['that is proposed is none', { umaResolutionStatus: 'proposed' }, row(yes, 'proposed'), YES, unproved],
    ['that is disputed is none', { umaResolutionStatus: 'disputed' }, row(yes, 'disputed'), YES, unproved],
  ])('%s', async (_, changes, resolution, winner, expected) => {
    venue.state.markets = [ended(changes)];
    if (resolution !== null) venue.state.resolutions = [resolution];
    if (winner !== null) clobSays(winner);
    expect(await found()).toEqual(expected);
  });

  test('that one source alone says is no proof', async () => {
    venue.state.markets = [ended()];
    venue.state.broken.set('/v2/resolutions', 503);
    expect(await found()).toEqual(unproved);
  });

  test('needs two voices and no contradiction', () => {
    expect(agreed([null, null])).toBeNull();
    expect(agreed(['YES', null])).toBeNull();
    expect(agreed(['YES', 'NO'])).toBeNull();
    expect(agreed(['YES', 'YES', 'NO'])).toBeNull();
    expect(agreed(['NO', null, 'NO'])).toBe('NO');
    expect(agreed(['0.25', '0.2501'])).toBe('0.25');
    expect(agreed(['0.25', '0.26'])).toBeNull();
    expect(agreed(['YES', '0.99999'])).toBeNull();
    expect(agreed(['HALF', '0.49999'])).toBeNull();
  });
});
