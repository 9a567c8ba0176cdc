/** GET /markets with every parameter, and GET /markets/{id} by every name of a market. */
import type { Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  call,
  newAgent,
  type RawAnswer,
  sharedTestService,
  startTestService,
  type TestService,
} from '../harness.ts';

let service: TestService;
let key: string;
let all: Market[];

beforeAll(async () => {
  service = await sharedTestService();
  key = (await newAgent(service)).apiKey;
  all = (await search({ q: '*', limit: 500 })).body;
});

const search = (query: Record<string, string | number | boolean>): Promise<RawAnswer> =>
  call(service, 'GET', `/markets?${new URLSearchParams(query as never)}`, { key });
const found = async (q: string): Promise<Market[]> => (await search({ q, limit: 500 })).body;
const foundAt = async (venue: string, q: string): Promise<Market[]> =>
  (await search({ q, venue, limit: 500 })).body;
const ids = (markets: readonly Market[]) => markets.map(({ id }) => id);
const wordsOf = (text: string) => text.match(/[\p{L}\p{N}]+/gu) ?? [];

/** One typing error inside the word. */
const TYPOS: readonly (readonly [string, (word: string, at: number) => string])[] = [
  ['a letter left out', (word, at) => word.slice(0, at) + word.slice(at + 1)],
  ['a letter too many', (word, at) => `${word.slice(0, at)}x${word.slice(at)}`],
  ['a wrong letter', (word, at) => `${word.slice(0, at)}x${word.slice(at + 1)}`],
  ['two letters swapped', (word, at) => word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2)],
];

describe('search', () => {
  test('the world has enough markets for these tests', () => {
    expect(all.length).toBeGreaterThan(100);
  });

  test('a question finds its own market first', async () => {
    let first = 0;
    for (const market of all.slice(0, 60)) {
      const hits = await found(market.question.slice(0, 100));
      expect(ids(hits).slice(0, 3)).toContain(market.id);
      if (hits[0]?.question === market.question) first += 1;
    }
    expect(first).toBeGreaterThanOrEqual(58);
  });

  test('a category finds all its markets, before those that only mention it', async () => {
    for (const category of new Set(all.map((market) => market.category))) {
      const size = all.filter((market) => market.category === category).length;
      const hits = await found(category);
      expect(hits.filter((market) => market.category === category).length).toBe(size);
      expect(
        hits.slice(0, Math.min(size, 5)).every((market) => market.category === category),
        category,
      ).toBe(true);
    }
  });

  test('a title and a tag rank above the rules; a word that some title contains is no typing error of another', async () => {
    const films = await found('film');
    expect(films.length).toBeGreaterThan(0);
    expect(films.length).toBeLessThan(all.length / 4);
    expect(films.every(({ category, question }) => category === 'Culture' && question.includes('“'))).toBe(
      true,
    );
    expect(ids(await found('best film'))).toEqual(ids(films));
    for (const { question } of films) expect(question.toLowerCase()).not.toContain('beat');
  });

  test('words that all rules contain find nothing by themselves', async () => {
    for (const word of ['yes', 'resolve', 'resolves', 'paper market'])
      expect((await found(word)).length, word).toBeLessThan(all.length / 2);
  });

  test('an id finds its market, and the id of an event all of the event', async () => {
    const [market, [ofB]] = [all[0] as Market, await foundAt('kalshi', '*')];
    if (ofB === undefined) throw new Error('venue B has no market');
    for (const id of [market.id, market.conditionId, ...market.clobTokenIds])
      expect(ids(await found(id)), id).toEqual([market.id]);
    for (const id of [ofB.id, ...ofB.clobTokenIds])
      expect(ids(await foundAt('kalshi', id)), id).toEqual([ofB.id]);
    const ofEvent = all.filter(({ eventId }) => eventId === market.eventId);
    expect(ids(await found(market.eventId)).sort()).toEqual(ids(ofEvent).sort());
    expect(ids(await foundAt('kalshi', ofB.eventId))).toContain(ofB.id);
  });

  test('the rules are searched and rank lowest', async () => {
    // A word of a few descriptions and of no question.
    const hits = await found('parliament');
    expect(hits.length).toBeGreaterThan(0);
    expect(hits.length).toBeLessThan(all.length / 2);
    for (const { description } of hits) expect(description.toLowerCase()).toContain('parliament');
    // One of every description says nothing about a market.
    expect(await found('fictional')).toEqual([]);
  });

  test.each(TYPOS)('finds the market despite %s', async (_kind, typo) => {
    let tried = 0;
    let right = 0;
    for (const market of all.slice(0, 40)) {
      const word = wordsOf(market.question).toSorted((a, b) => b.length - a.length)[0] as string;
      if (word.length < 6) continue;
      const exact = await found(word);
      const hits = await found(typo(word.toLowerCase(), Math.floor(word.length / 2)));
      tried += 1;
      if (ids(hits.slice(0, exact.length + 3)).includes(market.id)) right += 1;
    }
    expect(tried).toBeGreaterThan(25);
    expect(right / tried).toBeGreaterThanOrEqual(0.95);
  });

  test('prefixes of words match; case, accents and punctuation do not matter', async () => {
    const word = wordsOf(all[0]?.question ?? '').toSorted((a, b) => b.length - a.length)[0] as string;
    const exact = ids(await found(word));
    expect(ids(await found(word.toUpperCase()))).toEqual(exact);
    expect(ids(await found(`  ${word}?! `))).toEqual(exact);
    expect(ids(await found(word.replace(/[aeiou]/, (vowel) => `${vowel}\u0301`)))).toEqual(exact);
    expect(ids(await found(word.slice(0, -2)))).toEqual(expect.arrayContaining(exact));
  });

  test('more words give fewer results; nonsense finds nothing, quickly', async () => {
    const [market] = all;
    const [one, two] = wordsOf(market?.question ?? '').toSorted((a, b) => b.length - a.length);
    const both = await found(`${one} ${two}`);
    expect(both.length).toBeLessThanOrEqual((await found(one as string)).length);
    expect(ids(both)).toContain(market?.id);
    for (const q of ['qqqqzzzzxxxx', '???', '%%%', "' or 1=1 --", '\u{1f642}']) {
      const { status, headers } = await search({ q });
      expect(status, q).toBe(200);
      expect(Number(headers.get('x-total-count')), q).toBeLessThan(all.length);
    }
  });

  test.each(['', ' ', '  ', 'x'.repeat(101), 'a\u0007b'])('q %j is refused', async (q) => {
    const { status, body } = await search({ q });
    expect({ status, code: body.code, path: body.errors[0].path }).toEqual({
      status: 400,
      code: 'invalid_request',
      path: 'q',
    });
    if (q.trim() === '') expect(body.detail).toContain('* for every market');
  });

  test('q is required', async () => {
    expect((await call(service, 'GET', '/markets', { key })).body).toMatchObject({ code: 'invalid_request' });
  });
});

describe('order', () => {
  const VALUES: Record<string, (market: Market) => number> = {
    volume24hr: (market) => Number(market.volume24hr),
    liquidity: (market) => Number(market.liquidity),
    volume: (market) => market.volume,
    endDate: (market) => Date.parse(market.endDate),
    createdAt: (market) => Date.parse(market.createdAt),
  };

  test.each(Object.keys(VALUES))('by %s, in both directions', async (order) => {
    const value = VALUES[order] as (market: Market) => number;
    for (const ascending of [false, true]) {
      const { body } = await search({ q: '*', limit: 500, order, ascending });
      const values = body.map(value);
      expect(values).toEqual(values.toSorted((a: number, b: number) => (ascending ? a - b : b - a)));
      expect(ids(body).toSorted()).toEqual(ids(all).toSorted());
    }
  });

  test('relevance is the default, and can be reversed', async () => {
    const best = await found('poll');
    expect(best.length).toBeGreaterThan(1);
    const worst: Market[] = (await search({ q: 'poll', limit: 500, ascending: true })).body;
    expect(ids(worst)).toEqual(ids(best).toReversed());
  });

  test('an unknown field lists the fields', async () => {
    const { status, body } = await search({ q: '*', order: 'colour' });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'unknown_sort_field' });
    for (const field of Object.keys(VALUES)) expect(body.detail).toContain(field);
  });
});

describe('pages', () => {
  test.each([
    [{ q: '*' }, 7],
    [{ q: '*', order: 'volume24hr' }, 13],
    [{ q: 'will', order: 'createdAt', ascending: true }, 10],
    [{ q: 'the market' }, 9],
  ])('%j by %i: no overlap and no gap, by following the links', async (query, limit) => {
    const whole: Market[] = (await search({ ...query, limit: 500 })).body;
    const seen: string[] = [];
    let path: string | undefined = `/markets?${new URLSearchParams({ ...query, limit } as never)}`;
    for (let page = 1; path !== undefined; page += 1) {
      const { body, headers }: RawAnswer = await call(service, 'GET', path, { key });
      expect(headers.get('x-total-count')).toBe(String(whole.length));
      expect(body.length).toBe(Math.min(limit, whole.length - seen.length));
      seen.push(...ids(body));
      const link = headers.get('link') ?? '';
      expect(link.includes('rel="prev"')).toBe(page > 1);
      path = /<([^>]+)>; rel="next"/.exec(link)?.[1];
    }
    expect(seen).toEqual(ids(whole));
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('the default size is 20, the maximum 500, and 0 only counts', async () => {
    expect((await search({ q: '*' })).body.length).toBe(20);
    const large = await search({ q: '*', limit: 100_000 });
    expect(large.status).toBe(200);
    expect(ids(large.body)).toEqual(ids(all));
    const none = await search({ q: '*', limit: 0 });
    expect(none.body).toEqual([]);
    expect(none.headers.get('x-total-count')).toBe(String(all.length));
    expect(none.headers.get('link')).toBeNull();
  });

  test('a page beyond the end is empty and links to the last page', async () => {
    const { status, body, headers } = await search({ q: '*', limit: 50, page: 999 });
    expect({ status, body }).toEqual({ status: 200, body: [] });
    expect(headers.get('x-total-count')).toBe(String(all.length));
    const last = Math.ceil(all.length / 50);
    expect(headers.get('link')).toMatch(new RegExp(`page=${last}>; rel="prev"$`));
  });

  test.each([{ limit: -1 }, { limit: 1.5 }, { limit: 'many' }, { page: 0 }, { page: 'last' }])(
    '%j is refused',
    async (query) => {
      const { status, body } = await search({ q: '*', ...query } as never);
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' });
    },
  );
});

describe('venue and status', () => {
  test('both venues at once, in one order and in pages', async () => {
    const ofB = await foundAt('kalshi', '*');
    const both = await search({ q: '*', venue: 'all', limit: 500 });
    expect(both.headers.get('x-total-count')).toBe(String(all.length + ofB.length));
    expect(new Set(both.body.map(({ venue }: Market) => venue))).toEqual(new Set(['polymarket', 'kalshi']));
    const inOrder = { q: '*', venue: 'all', order: 'endDate', ascending: true };
    const sorted: Market[] = (await search({ ...inOrder, limit: 500 })).body;
    const ends = sorted.map(({ endDate }) => Date.parse(endDate));
    expect(ends).toEqual(ends.toSorted((x, y) => x - y));
    const pages = await Promise.all([1, 2, 3].map((page) => search({ ...inOrder, limit: 7, page })));
    expect(pages.flatMap(({ body }) => ids(body))).toEqual(ids(sorted).slice(0, 21));
  });

  test('category, price and end filter the results', async () => {
    const narrowed = async (query: object) =>
      ids((await search({ q: '*', limit: 500, ...query })).body).sort();
    const those = (isOne: (one: Market) => boolean) => ids(all.filter(isOne)).sort();
    const { category } = all[0] as Market;
    expect(await narrowed({ category: category.toUpperCase() })).toEqual(
      those((one) => one.category === category),
    );
    expect(await narrowed({ minPrice: 0.4, maxPrice: 0.6 })).toEqual(
      those(({ yesPrice }) => yesPrice >= 0.4 && yesPrice <= 0.6),
    );
    const middle = all.map(({ endDate }) => endDate).sort()[Math.floor(all.length / 2)] as string;
    for (const endsBefore of [middle, Date.parse(middle)])
      expect(await narrowed({ endsBefore })).toEqual(those(({ endDate }) => endDate < middle));
    expect((await search({ q: '*', minPrice: 0.6, maxPrice: 0.4 })).body.code).toBe('contradictory_filter');
    expect((await search({ q: '*', endsBefore: 'tomorrow' })).body.errors[0].path).toBe('endsBefore');
  });

  test('a venue is selected by name; an unknown one is refused with the enabled ones', async () => {
    expect((await search({ q: '*', venue: 'polymarket', limit: 500 })).body.length).toBe(all.length);
    const unknown = await search({ q: '*', venue: 'nasdaq' });
    expect(unknown).toMatchObject({ status: 400, body: { code: 'unknown_venue' } });
    for (const name of ['polymarket', 'kalshi']) expect(unknown.body.detail).toContain(name);
  });

  test('contradicting filters of closed and active are refused, consistent ones accepted', async () => {
    const answer = await search({ q: '*', closed: true, eventsStatus: 'active' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'contradictory_filter' } });
    for (const eventsStatus of ['closed', 'resolved'])
      for (const closed of [true, false])
        expect((await search({ q: '*', closed, eventsStatus })).status).toBe(200);
    expect((await search({ q: '*', closed: false, limit: 500 })).body.length).toBe(all.length);
    expect((await search({ q: '*', eventsStatus: 'sleeping' })).body.code).toBe('invalid_request');
  });

  test('active, closed and resolved while the world moves', async () => {
    // A world in which the minute from end to outcome does not pass at once.
    const moving = await startTestService({ PAPER_WORLD: 'off', PAPER_SPEED: '20000' });
    const agent = await newAgent(moving);
    const list = async (query: string): Promise<Market[]> =>
      (await call(moving, 'GET', `/markets?q=*&limit=500&${query}`, { key: agent.apiKey })).body;
    let resolved: Market[] = [];
    for (let i = 0; i < 3_000 && resolved.length < 3; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      await moving.exchange.step();
      resolved = await list('eventsStatus=resolved');
    }
    expect(resolved.length).toBeGreaterThan(2);
    for (const market of resolved) {
      expect(market).toMatchObject({ active: false, resolved: true, status: 'resolved' });
      expect([0, 1]).toContain(market.yesPrice);
      expect(market.yesPrice + market.noPrice).toBe(1);
    }
    const closed = await list('closed=true');
    expect(ids(await list('eventsStatus=closed'))).toEqual(ids(closed));
    expect(ids(closed)).toEqual(expect.arrayContaining(ids(resolved)));
    for (const market of closed) expect(market.active).toBe(false);
    const active = await list('eventsStatus=active');
    expect(active.every((market) => market.active && !market.resolved)).toBe(true);
    expect(ids(active).filter((id) => ids(closed).includes(id))).toEqual([]);
    // Search finds newly listed markets, and resolved markets are still found by every identifier.
    const newest = active.toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt))[0] as Market;
    const hits = await call(
      moving,
      'GET',
      `/markets?${new URLSearchParams({ q: newest.question.slice(0, 100) })}`,
      {
        key: agent.apiKey,
      },
    );
    expect(hits.body.map(({ question }: Market) => question)).toContain(newest.question);
    const [over] = resolved as [Market];
    for (const name of [over.id, over.conditionId, over.slug, ...over.clobTokenIds])
      expect((await agent.client.getMarket(name)).id).toBe(over.id);
  });
});

describe('one market', () => {
  test('by id, condition id, slug and token id, with every field of the list', async () => {
    const [market] = all as [Market];
    for (const name of [market.id, market.conditionId, market.slug, ...market.clobTokenIds]) {
      const { status, body } = await call(service, 'GET', `/markets/${encodeURIComponent(name)}`, { key });
      expect(status).toBe(200);
      expect(body).toEqual(market);
    }
  });

  test.each(['0', 'nope', '../agents/me', '%00', 'x'.repeat(200)])('%s is not found', async (name) => {
    const { status, body } = await call(service, 'GET', `/markets/${encodeURIComponent(name)}`, { key });
    expect({ status, code: body.code }).toEqual({ status: 404, code: 'market_not_found' });
  });
});
