/** The catalogue's door: shapes, lists, pages, searches and refusals, as the wire reference has them (section 1). */
import { type FastifyInstance, fastify } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { gammaDoor } from '../src/doors/gamma/index.ts';
import { addressBuckets } from '../src/doors/limits.ts';
import { catalogueMarket, DAY, type FakeCatalogue, fakeCatalogue, START } from './fake-catalogue.ts';

const CUP = { eventId: '9900', eventTitle: 'Aurora Cup', category: 'Sports', negRisk: true, tickSize: 10 };
const cupMarket = (nth: number, team: string) =>
  catalogueMarket(nth, {
    ...CUP,
    question: `Will ${team} win the Aurora Cup?`,
    description: `Resolves YES when ${team} wins.`,
    tags: ['team', 'league'],
    feeRate: 50_000n,
  });
const RESOLVED = catalogueMarket(60, {
  status: 'resolved',
  payout: 'NO',
  resolvedAt: START + 2 * DAY + 5_000,
  endDate: START + 2 * DAY,
});

const MARKETS = [
  ...Array.from({ length: 25 }, (_, nth) => catalogueMarket(nth + 1)),
  cupMarket(50, 'Calder United'),
  cupMarket(51, 'Lowen Lions'),
  RESOLVED,
];

let catalogue: FakeCatalogue;
let app: FastifyInstance;
let isOpen: boolean;
beforeEach(async () => {
  isOpen = true;
  catalogue = fakeCatalogue(MARKETS);
  app = fastify();
  await app.register(gammaDoor, {
    prefix: '/paper/gamma',
    exchange: () => (isOpen ? catalogue : undefined),
    guard: null,
  });
});
afterEach(() => app.close());

async function get(path: string) {
  const answer = await app.inject({ url: `/paper/gamma${path}` });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
}
// biome-ignore lint/suspicious/noExplicitAny: answers are read as a client in JavaScript reads them
const rowsOf = async (path: string): Promise<any> => (await get(path)).body;
const idsOf = (rows: readonly { readonly id: string }[]): number[] => rows.map(({ id }) => Number(id) - 1000);

describe('a market', () => {
  test('has encoded strings, numbers and numbers as text where the venue has them', async () => {
    const { status, headers, body } = await get('/markets/1001');
    expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=300']);
    expect(body).toMatchObject({
      id: '1001',
      outcomes: '["Yes","No"]',
      outcomePrices: '["0.48005","0.51995"]',
      volume: '1.5',
      volumeNum: 1.5,
      volume24hr: 1,
      volume1wk: 1.5,
      liquidity: '2345.678901',
      liquidityNum: 2345.678901,
      bestBid: 0.47,
      bestAsk: 0.4901,
      spread: 0.0201,
      lastTradePrice: 0.48,
      orderPriceMinTickSize: 0.01,
      orderMinSize: 5,
      umaResolutionStatuses: '[]',
      feeType: 'politics_fees',
      feeSchedule: { rate: 0.04, exponent: 1, takerOnly: true, rebateRate: 0.25 },
      version: 'v1',
      endDate: '2026-12-30T12:00:00.000Z',
      endDateIso: '2026-12-30',
      active: true,
      closed: false,
      acceptingOrders: true,
    });
    expect(JSON.parse(body.clobTokenIds)).toEqual(MARKETS[0]!.tokenIds);
    expect(body.events).toMatchObject([{ id: '9001', slug: 'thing-1-9001', title: 'Thing 1' }]);
    expect(body).not.toHaveProperty('tags');
    expect(body.events[0]).not.toHaveProperty('markets');
  });

  test('that is resolved says so, with its payout as prices and the other time format', async () => {
    expect(await rowsOf('/markets/1060?include_tag=true')).toMatchObject({
      closed: true,
      active: true,
      acceptingOrders: false,
      outcomePrices: '["0","1"]',
      closedTime: '2026-10-03 12:00:05+00',
      umaResolutionStatus: 'resolved',
      tags: [{ label: 'Politics', slug: 'politics', id: expect.stringMatching(/^\d+$/) }],
    });
  });

  test('that pays parts has them as prices', async () => {
    const { conditionId } = MARKETS[26]!;
    catalogue.change(conditionId, { status: 'resolved', payout: '0.24' });
    const { id } = MARKETS[26]!;
    expect(await rowsOf(`/markets/${id}`)).toMatchObject({ outcomePrices: '["0.24","0.76"]' });
  });

  test('whose book is empty on a side leaves the quote out', async () => {
    catalogue.change(MARKETS[0]!.conditionId, { bestAsk: undefined as never });
    const body = await rowsOf('/markets/1001');
    expect(body).toMatchObject({ bestBid: 0.47, outcomePrices: '["0.48","0.52"]' });
    expect(body).not.toHaveProperty('bestAsk');
    expect(body).not.toHaveProperty('spread');
  });

  test('is found by slug, has its tags and rules on their own, and a miss is 404', async () => {
    expect(await rowsOf('/markets/slug/will-thing-3-happen')).toMatchObject({ id: '1003' });
    expect(await rowsOf('/markets/1050/tags')).toMatchObject([
      { slug: 'sports' },
      { slug: 'team' },
      { slug: 'league' },
    ]);
    expect(await rowsOf('/markets/1003/description')).toEqual({
      id: '1003',
      description: 'Resolves YES when thing 3 happens.',
    });
    expect(await get('/markets/999999')).toMatchObject({
      status: 404,
      body: { type: 'not found error', error: 'id not found' },
    });
    expect((await get('/markets/slug/nothing')).body).toEqual({
      type: 'not found error',
      error: 'slug not found',
    });
    expect((await get('/markets/abc')).status).toBe(422);
  });
});

describe('lists of markets', () => {
  test('the legacy list is a plain array, open markets only, and says that it is deprecated', async () => {
    const { body, headers } = await get('/markets?limit=500');
    expect(body).toHaveLength(27);
    expect(idsOf(await rowsOf('/markets?closed=true'))).toEqual([60]);
    expect(headers).toMatchObject({
      deprecation: 'true',
      sunset: 'Fri, 01 May 2026 00:00:00 GMT',
      warning: '299 - "use /markets/keyset"',
    });
    expect(await rowsOf('/markets')).toHaveLength(20);
    expect(idsOf(await rowsOf('/markets?offset=20&limit=3'))).toEqual([21, 22, 23]);
    expect((await get('/markets?offset=2001')).body).toEqual({
      type: 'validation error',
      error: 'offset too large, use /markets/keyset for deeper pagination',
    });
  });

  test('repeated keys are lists; bracket keys, unknown ones and commas are not', async () => {
    expect(idsOf(await rowsOf('/markets?id=1002&id=1004'))).toEqual([2, 4]);
    expect(await rowsOf('/markets?id[]=1002&limit=100')).toHaveLength(27);
    expect(await rowsOf('/markets?wibble=1&limit=100')).toHaveLength(27);
    const [yes, no] = [MARKETS[4]!.tokenIds[0], MARKETS[6]!.tokenIds[1]];
    expect(idsOf(await rowsOf(`/markets?clob_token_ids=${yes}&clob_token_ids=${no}`))).toEqual([5, 7]);
    const upper = MARKETS[9]!.conditionId.toUpperCase().replace('0X', '0x');
    expect(idsOf(await rowsOf(`/markets?condition_ids=${upper}`))).toEqual([10]);
    // A closed market is hidden by default, also from those who name it.
    expect(await rowsOf(`/markets?condition_ids=${RESOLVED.conditionId}`)).toEqual([]);
    expect((await get(`/markets?${'id=1&'.repeat(101)}`)).status).toBe(422);
  });

  test('filters by numbers, dates, ticks, tags and status', async () => {
    expect(idsOf(await rowsOf('/markets?volume_num_min=35&volume_num_max=37.5'))).toEqual([24, 25]);
    expect(idsOf(await rowsOf('/markets?decimalized=true'))).toEqual([50, 51]);
    const [tag] = await rowsOf('/markets/1050/tags');
    expect(idsOf(await rowsOf(`/markets?tag_id=${tag.id}`))).toEqual([50, 51]);
    expect(idsOf(await rowsOf('/markets?closed=true&end_date_max=2026-10-04T00:00:00Z'))).toEqual([60]);
    expect(idsOf(await rowsOf('/markets?closed=true&uma_resolution_status=resolved'))).toEqual([60]);
    expect(await rowsOf('/markets?game_id=7')).toEqual([]);
    for (const bad of ['volume_num_min=x', 'closed=maybe', 'limit=-1', 'end_date_min=soon'])
      expect((await get(`/markets?${bad}`)).status, bad).toBe(422);
  });

  test('orders by camelCase fields, text as text, and refuses other names', async () => {
    expect(idsOf(await rowsOf('/markets?order=volumeNum&ascending=false&limit=3'))).toEqual([51, 50, 25]);
    // "volume" is text: 9 comes after 75.
    const texts = (await rowsOf('/markets?order=volume&limit=100')).map(
      (row: { volume: string }) => row.volume,
    );
    expect(texts).toEqual([...texts].sort());
    expect(texts).not.toEqual([...texts].sort((a, b) => a - b));
    for (const bad of ['volume_num', 'volume24hr,end_date', 'constructor', 'description'])
      expect((await get(`/markets?order=${bad}`)).body, bad).toEqual({
        type: 'validation error',
        error: 'order fields are not valid',
      });
  });

  test('keyset pages show each market once, in any order, and end without a cursor', async () => {
    for (const order of ['', '&order=volumeNum,spread&ascending=false', '&order=bestBid']) {
      const seen: number[] = [];
      let cursor = '';
      for (let page = 0; page < 10; page += 1) {
        const { markets, next_cursor } = await rowsOf(`/markets/keyset?limit=10${order}${cursor}`);
        seen.push(...idsOf(markets));
        if (next_cursor === undefined) break;
        cursor = `&after_cursor=${encodeURIComponent(next_cursor)}`;
        // Listed behind, and removed in front, of the reader.
        if (page === 0 && order === '') {
          catalogue.archive(MARKETS[0]!.conditionId);
          catalogue.list(catalogueMarket(70));
        }
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen).toHaveLength(order === '' ? 28 : 27);
    }
  });

  test('keyset refuses offsets, foreign cursors and cursors of another order', async () => {
    expect((await get('/markets/keyset?offset=0')).body.error).toBe(
      'offset is not allowed on keyset endpoints',
    );
    const { next_cursor } = await rowsOf('/markets/keyset?limit=1');
    expect((await get(`/markets/keyset?order=volumeNum&after_cursor=${next_cursor}`)).status).toBe(422);
    for (const bad of ['MA==', 'x', Buffer.from('[1,{}]').toString('base64url')])
      expect((await get(`/markets/keyset?after_cursor=${bad}`)).status, bad).toBe(422);
    // The name of the parameter is after_cursor; another one repeats the first page silently, as at the venue.
    expect(idsOf((await rowsOf(`/markets/keyset?limit=1&cursor=${next_cursor}`)).markets)).toEqual([1]);
  });

  test('bulk routes take filters in the body', async () => {
    const post = (path: string, payload: object) =>
      app.inject({ method: 'POST', url: `/paper/gamma${path}`, payload });
    const full = await post('/markets/information', {
      conditionIds: [MARKETS[2]!.conditionId],
      includeTag: true,
    });
    expect(full.json()).toMatchObject([{ id: '1003', tags: [{ slug: 'politics' }] }]);
    const short = await post('/markets/abridged', { clobTokenIds: [MARKETS[3]!.tokenIds[1]] });
    expect(short.json()).toMatchObject([{ id: '1004', clobTokenIds: expect.any(String) }]);
    expect(short.json()[0]).not.toHaveProperty('description');
    expect((await post('/markets/information', [] as never)).statusCode).toBe(422);
  });
});

describe('events', () => {
  test('nest all their markets, with what distinguishes them', async () => {
    catalogue.change(MARKETS[25]!.conditionId, { status: 'resolved', payout: 'NO' });
    const event = await rowsOf('/events/9900');
    expect(event).toMatchObject({
      id: '9900',
      slug: 'aurora-cup-9900',
      title: 'Aurora Cup',
      closed: false,
      negRisk: true,
      volume: 151.5,
      markets: [
        { id: '1050', closed: true, groupItemTitle: 'Calder United', groupItemThreshold: '0' },
        { id: '1051', closed: false, groupItemTitle: 'Lowen Lions', groupItemThreshold: '1' },
      ],
      tags: [{ slug: 'sports' }, { slug: 'team' }, { slug: 'league' }],
    });
    expect(event.markets[0]).not.toHaveProperty('events');
    expect(await rowsOf('/events/slug/aurora-cup-9900')).toEqual(event);
    expect(await rowsOf('/events/9900?include_markets=false')).not.toHaveProperty('markets');
  });

  test('are listed, filtered, ordered and paged like markets', async () => {
    expect(await rowsOf('/events?limit=100')).toHaveLength(26);
    expect(await rowsOf('/events?closed=true')).toMatchObject([{ id: '9060', closed: true }]);
    expect(await rowsOf('/events?slug=thing-4-9004&id=9004')).toMatchObject([{ id: '9004' }]);
    expect(await rowsOf('/events?order=volume&ascending=false&limit=1')).toMatchObject([{ id: '9900' }]);
    expect(await rowsOf('/events?tag_slug=sports')).toMatchObject([{ id: '9900' }]);
    expect(await rowsOf('/events?title_search=aurora')).toMatchObject([{ id: '9900' }]);
    expect(await rowsOf('/events?series_id=1')).toEqual([]);
    expect((await rowsOf('/events/pagination?limit=5')).pagination).toEqual({
      hasMore: true,
      totalResults: 26,
    });
    const first = await rowsOf('/events/keyset?limit=25');
    const second = await rowsOf(`/events/keyset?limit=25&after_cursor=${first.next_cursor}`);
    expect(second.events).toMatchObject([{ id: '9900' }]);
    expect(second).not.toHaveProperty('next_cursor');
    expect((await get('/events')).headers.warning).toBe('299 - "use /events/keyset"');
    expect((await get('/events?offset=2001')).body.error).toContain('/events/keyset');
  });
});

describe('the search', () => {
  test('finds events by every word, the best first, with a count', async () => {
    const { events, tags, profiles, pagination } = await rowsOf('/public-search?q=AURORA%20lowen');
    expect(events).toMatchObject([{ id: '9900', markets: [{ id: '1050' }, { id: '1051' }] }]);
    expect({ tags, profiles, pagination }).toEqual({
      tags: [],
      profiles: [],
      pagination: { hasMore: false, totalResults: 1 },
    });
    const page = await rowsOf('/public-search?q=thing&limit_per_type=10&page=3&events_status=active');
    expect(page.events).toHaveLength(5);
    expect(page.pagination).toEqual({ hasMore: false, totalResults: 25 });
    expect((await rowsOf('/public-search?q=thing&sort=volume&limit_per_type=1')).events).toMatchObject([
      { id: '9060' },
    ]);
    expect((await rowsOf('/public-search?q=aurora%20nowhere')).events).toEqual([]);
    expect((await rowsOf('/public-search?q=sports&search_tags=true')).tags).toMatchObject([
      { slug: 'sports', event_count: 1 },
    ]);
    expect((await get('/public-search')).status).toBe(422);
  });

  test('has the slim shape when asked to be optimized', async () => {
    const body = await rowsOf('/public-search?q=thing&optimized=true&limit_per_type=1&events_status=closed');
    expect(body).toMatchObject({ hasMore: false, events: [{ id: '9060' }] });
    expect(body).not.toHaveProperty('pagination');
    expect(body.events[0].markets[0]).toMatchObject({ outcomes: ['Yes', 'No'], outcomePrices: ['0', '1'] });
    expect(body.events[0].markets[0]).not.toHaveProperty('clobTokenIds');
  });
});

test('tags have ids of their own and relations', async () => {
  const tags: { id: string; slug: string }[] = await rowsOf('/tags');
  expect(tags.map(({ slug }) => slug).sort()).toEqual(['league', 'politics', 'sports', 'team']);
  const sports = tags.find(({ slug }) => slug === 'sports')!;
  expect(await rowsOf(`/tags/${sports.id}`)).toEqual(sports);
  expect(await rowsOf('/tags/slug/sports')).toEqual(sports);
  const related = await rowsOf('/tags/slug/sports/related-tags/tags');
  expect(related.map(({ slug }: { slug: string }) => slug).sort()).toEqual(['league', 'team']);
  expect(await rowsOf(`/tags/${sports.id}/related-tags`)).toMatchObject([
    { tagID: Number(sports.id), rank: 1 },
    { tagID: Number(sports.id), rank: 2 },
  ]);
  expect((await get('/tags/5')).status).toBe(404);
});

test('what the paper world lacks is empty in the client’s shape, and never a broken answer', async () => {
  for (const path of [
    '/series',
    '/sports',
    '/teams',
    '/comments?parent_entity_type=Event&parent_entity_id=1',
  ])
    expect(await rowsOf(path), path).toEqual([]);
  expect((await get('/comments')).status).toBe(422);
  expect((await get('/series/1')).status).toBe(404);
  expect((await app.inject('/paper/gamma/status')).body).toBe('OK');
  expect((await get('/wibble')).body).toEqual({ type: 'not found error', error: 'not found' });
});

test('a record follows its market, and an archived market is gone', async () => {
  const { conditionId } = MARKETS[0]!;
  expect(await rowsOf('/markets/1001')).toMatchObject({ bestBid: 0.47 });
  catalogue.change(conditionId, { bestBid: 4_600 });
  expect(await rowsOf('/markets/1001')).toMatchObject({ bestBid: 0.46, events: [{ id: '9001' }] });
  expect((await rowsOf('/events/9001')).markets).toMatchObject([{ bestBid: 0.46 }]);
  catalogue.archive(conditionId);
  expect((await get('/markets/1001')).status).toBe(404);
  expect((await get('/events/9001')).status).toBe(404);
});

test('while another process leads the exchange the door says 503', async () => {
  isOpen = false;
  expect((await get('/markets')).status).toBe(503);
});

test('a list costs its address tokens by its length', async () => {
  const guarded = fastify();
  await guarded.register(gammaDoor, {
    prefix: '/g',
    exchange: () => catalogue,
    guard: addressBuckets({ perSecond: 1, burst: 12, now: () => 0 }),
  });
  expect((await guarded.inject('/g/markets?limit=100')).statusCode).toBe(200);
  const refused = await guarded.inject('/g/markets?limit=100');
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '10']);
  expect(refused.json()).toMatchObject({ error: expect.stringContaining('wait') });
  await guarded.close();
});
