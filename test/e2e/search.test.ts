/** Searches find what a person means: words, ids, both venues; never everything by the words that all rules share. */
import type { Market } from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import { call, newAgent, sharedTestService, type TestService } from '../harness.ts';

let service: TestService;
let apiKey: string;

beforeAll(async () => {
  service = await sharedTestService();
  ({ apiKey } = await newAgent(service));
});

const search = async (q: string, rest = '') => {
  const answer = await call(service, 'GET', `/markets?q=${encodeURIComponent(q)}&limit=500${rest}`, {
    key: apiKey,
  });
  expect(answer.status).toBe(200);
  return { found: answer.body as Market[], total: Number(answer.headers.get('x-total-count')) };
};

test('a word that some title contains is no typing error of another', async () => {
  const { found } = await search('best film');
  expect(found.length).toBeGreaterThan(0);
  for (const { question } of found) expect(question.toLowerCase()).not.toContain('beat');
  expect(found.map(({ id }) => id)).toEqual((await search('film')).found.map(({ id }) => id));
});

test('words that all rules contain find nothing by themselves', async () => {
  const { total: all } = await search('*');
  for (const word of ['yes', 'resolve', 'resolves', 'paper market'])
    expect((await search(word)).total, word).toBeLessThan(all / 2);
});

test('an id finds its market, and the id of an event all of the event', async () => {
  const { found: markets } = await search('*');
  const [market] = markets;
  if (market === undefined) throw new Error('there is no market');
  for (const id of [market.id, market.conditionId, ...market.clobTokenIds])
    expect(
      (await search(id)).found.map(({ conditionId }) => conditionId),
      id,
    ).toEqual([market.conditionId]);
  const ofEvent = markets.filter(({ eventId }) => eventId === market.eventId).map(({ id }) => id);
  expect((await search(market.eventId)).found.map(({ id }) => id).sort()).toEqual(ofEvent.sort());
  const [ofB] = (await search('*', '&venue=kalshi')).found;
  if (ofB === undefined) throw new Error('venue B has no market');
  for (const id of [ofB.id, ...ofB.clobTokenIds])
    expect(
      (await search(id, '&venue=kalshi')).found.map((one) => one.id),
      id,
    ).toEqual([ofB.id]);
  expect((await search(ofB.eventId, '&venue=kalshi')).found.map(({ id }) => id)).toContain(ofB.id);
});

test('both venues at once, in one order and in pages', async () => {
  const [a, b, both] = await Promise.all([
    search('*'),
    search('*', '&venue=kalshi'),
    search('*', '&venue=all'),
  ]);
  expect(both.total).toBe(a.total + b.total);
  expect(new Set(both.found.map(({ venue }) => venue))).toEqual(new Set(['polymarket', 'kalshi']));
  const sorted = await search('*', '&venue=all&order=endDate&ascending=true');
  const ends = sorted.found.map(({ endDate }) => Date.parse(endDate));
  expect(ends).toEqual(ends.toSorted((x, y) => x - y));
  const pages = await Promise.all(
    [1, 2, 3].map(async (page) => {
      const { body } = await call(
        service,
        'GET',
        `/markets?q=*&venue=all&order=endDate&ascending=true&limit=7&page=${page}`,
        { key: apiKey },
      );
      return (body as Market[]).map(({ id }) => id);
    }),
  );
  expect(pages.flat()).toEqual(sorted.found.slice(0, 21).map(({ id }) => id));
});
