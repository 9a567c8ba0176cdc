/** The client's streams against a service that breaks, refuses and falls silent. */
import type { ServerResponse } from 'node:http';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type Asked, sendJson, standIn } from '../../../test/stand-in.ts';
import { BellwetherApiError, BellwetherClient } from '../src/index.ts';

type Answer = (response: ServerResponse) => void;

let baseUrl: string;
let answers: Answer[] = [];
const asked: Asked[] = [];
const waits: number[] = [];

beforeAll(async () => {
  baseUrl = await standIn((one, response) => {
    asked.push(one);
    const answer = answers.shift();
    if (answer === undefined) sendJson(response, {}, 500);
    else answer(response);
  });
});
beforeEach(() => {
  answers = [];
  asked.length = 0;
  waits.length = 0;
});

const client = () =>
  new BellwetherClient({
    baseUrl,
    apiKey: 'bw_secret',
    wait: async (ms) => void waits.push(ms),
  });

const stream =
  (text: string, end: 'end' | 'break' | 'stay' = 'end'): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => {
      if (end === 'end') response.end();
      if (end === 'break') response.destroy();
    });
  };
const problem =
  (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, headers).end(JSON.stringify({ code, detail: code }));
  };
const fill = (id: string) =>
  `id: ${id}\nevent: fill\ndata: {"id":"u-${id}","type":"fill","data":{"size":1}}\n\n`;

async function read(count: number, after?: string) {
  const ending = new AbortController();
  const events: unknown[] = [];
  for await (const event of client().events({
    signal: ending.signal,
    ...(after === undefined ? {} : { after }),
  })) {
    events.push([event.type, event.cursor]);
    if (events.length === count) ending.abort();
  }
  return events;
}

test('a connection that breaks within an event is resumed after the last whole one', async () => {
  answers = [
    stream(`${fill('c1')}${fill('c2')}id: c3\nevent: fill\ndata: {"id":`, 'break'),
    stream(`id: c2\nevent: ready\ndata: {"resumed":true}\n\n${fill('c3')}`, 'stay'),
  ];
  expect(await read(4)).toEqual([
    ['fill', 'c1'],
    ['fill', 'c2'],
    ['ready', 'c2'],
    ['fill', 'c3'],
  ]);
  expect(asked.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'c2']);
  for (const { headers, url } of asked) {
    expect(headers.authorization).toBe('Bearer bw_secret');
    expect(url).not.toContain('bw_');
  }
});

test('a cursor of the service counts although no event comes with it', async () => {
  answers = [stream('id: c9\nevent: cursor\ndata: {}\n\n'), stream(fill('c10'), 'stay')];
  expect(await read(1, 'c1')).toEqual([['fill', 'c10']]);
  expect(asked.map(({ headers }) => headers['last-event-id'])).toEqual(['c1', 'c9']);
});

test('it waits as long as the service asks, before a stop and when it is overloaded', async () => {
  answers = [
    stream('retry: 1700\nevent: closing\ndata: {"reason":"service_stopping","message":""}\n\n'),
    problem(503, 'overloaded', { 'retry-after': '3' }),
    stream(fill('c1'), 'stay'),
  ];
  await read(1);
  expect(waits).toHaveLength(2);
  expect(waits[0]).toBeGreaterThanOrEqual(1700);
  expect(waits[1]).toBeGreaterThanOrEqual(3000);
});

test('pauses grow while nothing comes', async () => {
  answers = [...Array.from({ length: 8 }, () => problem(502, 'bad_gateway')), stream(fill('c1'), 'stay')];
  await read(1);
  expect(waits).toHaveLength(8);
  expect(waits[5]).toBeGreaterThan((waits[0] ?? 0) * 8);
  expect(Math.max(...waits)).toBeLessThanOrEqual(10_200);
});

test('a stream whose broken connection is still counted is opened again once it is not', async () => {
  answers = [
    stream(fill('c1'), 'break'),
    problem(409, 'stream_limit_reached'),
    problem(409, 'stream_limit_reached'),
    stream(fill('c2'), 'stay'),
  ];
  expect(await read(2)).toEqual([
    ['fill', 'c1'],
    ['fill', 'c2'],
  ]);
});

test.each([
  ['more streams than the service keeps open', problem(409, 'stream_limit_reached'), 'stream_limit_reached'],
  ['a key that does not hold', problem(401, 'unauthorized'), 'unauthorized'],
  [
    'a key that is revoked meanwhile',
    stream('event: closing\ndata: {"reason":"key_revoked"}\n\n'),
    'unauthorized',
  ],
  ['a cursor that is too old', problem(410, 'event_cursor_gone'), 'event_cursor_gone'],
  ['a broken cursor', problem(400, 'event_cursor_invalid'), 'event_cursor_invalid'],
])('%s is thrown and not tried again', async (_, answer, code) => {
  answers = [answer];
  const error = await read(1).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(BellwetherApiError);
  expect(error).toMatchObject({ code });
  expect(asked).toHaveLength(1);
});

test('leaving the loop closes the connection', async () => {
  let isClosed = false;
  answers = [
    (response) => {
      response.on('close', () => {
        isClosed = true;
      });
      stream(fill('c1'), 'stay')(response);
    },
  ];
  for await (const _ of client().events()) break;
  await expect.poll(() => isClosed).toBe(true);
});

test('a market stream says that it was interrupted, and goes on with whole books', async () => {
  const book = (sequence: number) => `event: book\ndata: {"tokenId":"t1","sequence":${sequence}}\n\n`;
  answers = [stream(book(1)), stream(book(7), 'stay')];
  const ending = new AbortController();
  const types: string[] = [];
  for await (const event of client().watchMarket('t1', { signal: ending.signal })) {
    types.push(event.type === 'gap' ? event.data.reason : event.type);
    if (types.length === 3) ending.abort();
  }
  expect(types).toEqual(['book', 'reconnecting', 'book']);
  expect(asked.map(({ url }) => url)).toEqual(['/markets/stream?tokens=t1', '/markets/stream?tokens=t1']);
});
