/** The contract's sentinel: silent about the doors, and about a venue that differs it says each difference. */
import { beforeAll, describe, expect, test } from 'vitest';
import { createPooledSend } from '../../packages/server/src/platform/outbound/http.ts';
import { createVenueHttp } from '../../packages/server/src/venues/polymarket/http.ts';
import { lookForDifferences } from '../../scripts/sentinel/differences.ts';
import type { TestService } from '../harness.ts';
import { startVenue } from '../live-desk.ts';
import { afterFile } from '../setup/clean-up.ts';
import { standIn } from '../stand-in.ts';

type Json = Record<string, unknown>;
/** Changes an answer by a planted difference. */
type Plant = (path: string, body: unknown, status: number) => { body: unknown; status?: number } | null;

let venue: TestService;
let plant: Plant = () => null;
let base: string;
const pool = createPooledSend();

beforeAll(async () => {
  venue = await startVenue();
  base = await standIn(async ({ method, url, headers, body: sent }, response) => {
    const answer = await fetch(venue.url + url, {
      method,
      headers: { 'content-type': headers['content-type'] ?? 'application/json' },
      ...(sent === '' ? {} : { body: sent }),
    });
    const text = await answer.text();
    let value: unknown = text;
    try {
      value = JSON.parse(text);
    } catch {}
    const changed = plant(new URL(url, base).pathname, value, answer.status);
    response.writeHead(changed?.status ?? answer.status, { 'content-type': 'application/json' });
    response.end(changed === null ? text : JSON.stringify(changed.body));
  });
  afterFile('processes', pool.close);
});

const look = async (
  planted: Plant = () => null,
  socketUrl = `${venue.url.replace(/^http/, 'ws')}/paper/ws/market`,
) => {
  plant = planted;
  const service = (path: string) =>
    createVenueHttp({
      service: path,
      baseUrl: base + path,
      send: pool.send,
      clock: { now: Date.now },
      log: { warn: () => {}, info: () => {} },
    });
  const differences = await lookForDifferences({
    clob: service('/paper/clob'),
    gamma: service('/paper/gamma'),
    data: service('/paper/data'),
    site: null,
    relayer: service('/paper/relayer'),
    socketUrl,
  });
  return differences
    .filter(({ kind }) => kind !== 'new')
    .map(({ kind, where, field }) => `${kind} ${where} ${field}`.trim());
};
const at =
  (path: string | RegExp, change: (body: Json) => unknown): Plant =>
  (asked, body, status) =>
    status < 300 && (typeof path === 'string' ? asked.endsWith(path) : path.test(asked))
      ? { body: change(body as Json) }
      : null;

test('the doors promise what they keep', async () => {
  expect(await look()).toEqual([]);
});

describe('a planted difference is found:', () => {
  const first = (list: unknown, change: (row: Json) => Json): unknown[] =>
    (list as Json[]).map((row, nth) => (nth === 0 ? change(row) : row));
  test.each<[string, Plant, string]>([
    ['a version that is new', at('/version', () => ({ version: 3 })), 'value clob GET /version version'],
    ['a time in milliseconds as text', at('/clob/time', () => '1790000000000'), 'type clob GET /time'],
    [
      'lists that are no longer encoded',
      at('/markets/keyset', (body) => ({
        ...body,
        markets: first(body.markets, (row) => ({ ...row, clobTokenIds: [1, 2] })),
      })),
      'type gamma GET /markets/keyset clobTokenIds',
    ],
    [
      'a nonce of the relayer that is gone',
      at('/relayer/nonce', ({ nonce: _, ...body }) => body),
      'unreadable relayer GET /nonce of SAFE',
    ],
    [
      'a field that is gone',
      at('/markets/keyset', (body) => ({
        ...body,
        markets: first(body.markets, ({ conditionId: _, ...row }) => row),
      })),
      'missing gamma GET /markets/keyset conditionId',
    ],
    [
      'positions of another condition, of Protocol V2',
      at('/markets/keyset', (body) => ({
        ...body,
        markets: (body.markets as Json[]).map((row) =>
          row.version === 'v2' ? { ...row, positionIds: ['11', '22'] } : row,
        ),
      })),
      'value gamma GET /markets/keyset of v2 positionIds',
    ],
    [
      'a short record of another version, of Protocol V2',
      at(/clob-markets/, (body) => (body.v === 'v2' ? { ...body, v: 'v3' } : body)),
      'value clob GET /clob-markets of v2 v',
    ],
    [
      'a book with its best level first',
      at('/clob/book', (body) => ({ ...body, bids: [...(body.bids as Json[])].reverse() })),
      'value clob GET /book bids order',
    ],
    [
      'sizes as numbers',
      at('/clob/book', (body) => ({
        ...body,
        asks: first(body.asks, (row) => ({ ...row, size: Number(row.size) })),
      })),
      'type clob GET /book asks size',
    ],
    [
      'a tick size as text',
      at('/tick-size', ({ minimum_tick_size }) => ({ minimum_tick_size: String(minimum_tick_size) })),
      'value clob GET /tick-size minimum_tick_size',
    ],
    [
      'the midpoint under another name',
      at('/midpoint', ({ mid }) => ({ mid_price: mid })),
      'value clob GET /midpoint mid',
    ],
    [
      'sides of prices the other way round',
      at('/clob/price', () => ({ price: '0.9999' })),
      'value clob GET /price BUY price',
    ],
    [
      'a winner that is not said',
      at(/\/markets\/0x/, (body) => ({
        ...body,
        tokens: first(body.tokens, ({ winner: _, ...row }) => row),
      })),
      'missing clob GET /markets/{condition} winner',
    ],
    [
      'tokens in another order',
      at(/\/clob-markets\//, (body) => ({ ...body, t: [...(body.t as Json[])].reverse() })),
      'value clob GET /clob-markets/{condition} t',
    ],
    [
      'another envelope of the Data API',
      at('/v2/resolutions', ({ data }) => data),
      'type data GET /v2/resolutions',
    ],
    [
      'a refusal in other words',
      (path, _body, status) =>
        status === 404 && path.endsWith('/book') ? { body: { error: 'nope' }, status } : null,
      'value clob GET /book error',
    ],
    [
      'a search without pages',
      at('/public-search', ({ pagination: _, ...body }) => body),
      'missing gamma GET /public-search pagination.hasMore',
    ],
  ])('%s', async (_title, planted, difference) => {
    expect(await look(planted)).toContain(difference);
  });

  test('a service that does not answer, and a socket that is not there', async () => {
    const silent = await look(
      (path) => (path.includes('/paper/data/') ? { body: {}, status: 500 } : null),
      'ws://127.0.0.1:1/market',
    );
    expect(silent).toContain('silent data GET /v2/positions');
    expect(silent).toContain('silent socket market');
  });
});
