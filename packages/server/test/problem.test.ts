/** Refusals as the service sends them, through the real framework, and what `/readyz` says while the database takes nothing. */
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ChainUnavailable, VenueUnavailable } from '../src/domain/unavailable.ts';
import { handleError } from '../src/platform/http/problem.ts';
import { Refusal } from '../src/platform/refusal.ts';
import { createReadiness, describeOutage, type ReadinessParts } from '../src/wiring/http.ts';

let app: FastifyInstance;
const log: string[] = [];

const SQL = 'select secret from vault where key = $1';
const FAULTS: Readonly<Record<string, () => unknown>> = {
  unknown: () => Object.assign(new Error(`syntax error at "${SQL}"`), { query: SQL, code: '42601' }),
  text: () => 'thrown text: hunter2',
  type: () => new TypeError("Cannot read properties of undefined (reading 'hunter2')"),
  database: () => Object.assign(new Error('write CONNECTION_CLOSED /run/pg'), { code: 'CONNECTION_CLOSED' }),
  pipe: () => Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }),
  venue: () => new VenueUnavailable('hunter2'),
  chain: () => new ChainUnavailable('hunter2'),
  namesake: () => Object.assign(new Error('x'), { name: 'VenueUnavailable' }),
  refused: () =>
    new Refusal([
      { code: 'price_mismatch', path: 'price', detail: 'one.', context: { limit: 1 } },
      { code: 'neg_risk_mismatch', path: 'negRisk', detail: 'two.' },
    ]),
};

beforeAll(async () => {
  app = Fastify({ logger: { level: 'error', stream: { write: (line: string) => log.push(line) } } });
  app.decorate('publicUrl', () => 'https://desk.example');
  app.decorate('describeOutage', describeOutage);
  app.setErrorHandler(handleError);
  for (const [name, fault] of Object.entries(FAULTS))
    app.get(`/${name}`, async () => {
      throw fault();
    });
  await app.ready();
});
afterAll(() => app.close());

const get = async (name: string) => {
  const answer = await app.inject({ url: `/${name}?secret=1` });
  return { status: answer.statusCode, headers: answer.headers, text: answer.body, body: answer.json() };
};

test.for(['unknown', 'text', 'type', 'namesake'])(
  '%s: 500 internal_error, without stack, SQL or message',
  async (name) => {
    const { status, headers, text, body } = await get(name);
    expect(status).toBe(500);
    expect(headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(body).toMatchObject({
      type: 'https://desk.example/docs/errors/internal_error',
      status: 500,
      code: 'internal_error',
      instance: `/${name}`,
      requestId: expect.any(String),
    });
    expect(text).not.toMatch(/hunter2|select|vault|syntax|at .*:\d+|node_modules|\.ts/);
  },
);

test('the cause is in the log instead', async () => {
  log.length = 0;
  const { body } = await get('unknown');
  expect(log.join('')).toContain('syntax error');
  expect(log.join('')).toContain(body.requestId);
});

test.for(['database', 'pipe', 'venue', 'chain'])('%s gone: 503 with Retry-After', async (name) => {
  expect(await get(name)).toMatchObject({
    status: 503,
    headers: { 'retry-after': '1' },
    body: { code: 'service_unavailable' },
  });
});

test('a refusal is its first denial, with every field named', async () => {
  expect(await get('refused')).toMatchObject({
    status: 400,
    body: {
      code: 'price_mismatch',
      detail: 'one.',
      message: 'one.',
      context: { limit: 1 },
      errors: [
        { path: 'price', code: 'price_mismatch', message: 'one.' },
        { path: 'negRisk', code: 'neg_risk_mismatch', message: 'two.' },
      ],
    },
  });
});

test('no venue is ready while the disk of the database is full', async () => {
  const venue = (id: string, status: string) =>
    [id, { id, name: id, status: () => status, backend: 'paper' }] as const;
  const venues = new Map([
    venue('one', 'ready'),
    venue('two', 'in maintenance'),
  ]) as unknown as ReadinessParts['venues'];

  const asked = async (database: string) => {
    const parts = { paper: { probe: async () => 'ready' }, venues, version: '1', isDraining: () => false };
    const { ready, body } = await createReadiness({ ...parts, database: async () => database })();
    return {
      ready,
      statuses: (body.venues as readonly { readonly status: string }[]).map(({ status }) => status),
    };
  };
  expect(await asked('ready')).toEqual({ ready: true, statuses: ['ready', 'in maintenance'] });
  expect(await asked('its disk is full')).toEqual({
    ready: false,
    statuses: ['waits for the database: its disk is full', 'in maintenance'],
  });
});
