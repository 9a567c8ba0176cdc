/**
 * The OpenAPI documents, whole and by resource: valid by the specification's own schemas, each standing by itself, and served
 * once made. What the examples in them are answered is tried in openapi-examples.test.ts.
 */

import type { Operation } from '@bellwether/contract';
import * as contract from '@bellwether/contract';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { beforeAll, describe, expect, test } from 'vitest';
import { ANSWER_HEADERS } from '../../packages/server/src/platform/http/answer-headers.ts';
import { aMarket, call, newTrader, restingOrder, startTestService, type TestService } from '../harness.ts';

// biome-ignore lint/suspicious/noExplicitAny: documents are read by path
type Json = any;

const RESOURCES = [
  ...new Set(
    (Object.values(contract) as readonly unknown[])
      .filter(
        (value): value is Operation =>
          typeof value === 'object' && value !== null && 'rateClass' in value && 'path' in value,
      )
      .map(({ tag }) => tag as string),
  ),
  'service',
];
const PATHS = ['/openapi.json', ...RESOURCES.map((name) => `/openapi/${name}.json`)];

let service: TestService;
const documents = new Map<string, Json>();

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off', BASE_PATH: '/desk', RATE_LIMITS: 'on' });
  for (const path of PATHS) documents.set(path, (await call(service, 'GET', path)).body);
});

/** Every object in a document, with the address of where it is. Values of examples are no part of the document's language. */
function* objectsIn(value: Json, at = ''): Generator<readonly [at: string, found: Json]> {
  if (typeof value !== 'object' || value === null) return;
  yield [at, value];
  for (const [name, each] of Object.entries(value))
    if (name !== 'value' && name !== 'x-template' && name !== 'x-placeholders')
      yield* objectsIn(each, `${at}/${name}`);
}

/** Where a schema stands that is used by itself. */
const schemasIn = (document: Json): (readonly [string, Json])[] => [
  ...[...objectsIn(document)].flatMap(([at, { schema }]) =>
    typeof schema === 'object' && !at.includes('/schema/') && !at.includes('/properties/')
      ? [[`${at}/schema`, schema] as const]
      : [],
  ),
  ...Object.entries<Json>(document.components.schemas ?? {}).map(
    ([name, schema]) => [`/components/schemas/${name}`, schema] as const,
  ),
];

/** Strict: a keyword that JSON Schema does not know is an error, unless it is an extension. */
function compiler(document: Json) {
  const ajv = formats.default(new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true }));
  const extensions = [...objectsIn(document)].flatMap(([, found]) =>
    Object.keys(found).filter((name) => name.startsWith('x-')),
  );
  ajv.addVocabulary(['components', ...new Set(extensions)]);
  ajv.addSchema({ components: document.components }, 'document');
  return (schema: object) =>
    ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')));
}

describe.each(PATHS)('%s', (path) => {
  const document = () => documents.get(path);

  test('is valid by the schemas of OpenAPI', async () => {
    expect(document().openapi).toBe('3.1.0');
    expect(await new Validator().validate(document())).toEqual({ valid: true });
    for (const [route, methods] of Object.entries<Json>(document().paths))
      for (const { parameters = [] } of Object.values<Json>(methods)) {
        const inPath = parameters.filter((each: Json) => each.in === 'path');
        expect([route, ...inPath.map(({ name }: Json) => name).sort()]).toEqual([
          route,
          ...(route.match(/(?<=\{)\w+(?=\})/g) ?? []).sort(),
        ]);
      }
    const ids = [...objectsIn(document().paths)].flatMap(([, { operationId }]) =>
      typeof operationId === 'string' ? [operationId] : [],
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('has schemas that compile strictly, and examples that fit them', () => {
    const compile = compiler(document());
    const schemas = schemasIn(document());
    expect(schemas.length).toBeGreaterThan(1);
    for (const [at, schema] of schemas) expect(() => compile(schema), at).not.toThrow();
    // Of a parameter, a header or a medium, or of a schema itself.
    const shown = [...objectsIn(document())].flatMap(([at, found]) => {
      const { schema = Array.isArray(found.examples) ? found : undefined, example } = found;
      if (schema === undefined) return [];
      const examples = Array.isArray(found.examples)
        ? found.examples
        : Object.values<Json>(found.examples ?? {}).map(({ value }) => value);
      return [...examples, ...(example === undefined ? [] : [example])].map(
        (value) => [at, schema, value] as const,
      );
    });
    expect(shown.length).toBeGreaterThan(0);
    for (const [at, schema, value] of shown) {
      const fits = compile(schema);
      expect({ at, fits: fits(value), errors: fits.errors }).toEqual({ at, fits: true, errors: null });
    }
  });

  test('stands by itself: has the components that it refers to, and no others', () => {
    const { components, ...rest } = document();
    const referred = new Set<string>();
    const pending: Json[] = [rest];
    for (const part of pending)
      for (const [, { $ref }] of objectsIn(part))
        if (typeof $ref === 'string' && !referred.has($ref)) {
          referred.add($ref);
          expect($ref).toMatch(/^#\/components\/\w+\/[\w.-]+$/);
          const [, , kind = '', name = ''] = $ref.split('/');
          expect(components[kind]?.[name], $ref).toBeDefined();
          pending.push(components[kind][name]);
        }
    const schemes = [...objectsIn(rest)].flatMap(([, { security = [] }]) => security.flatMap(Object.keys));
    const needed = [...referred, ...schemes.map((name: string) => `#/components/securitySchemes/${name}`)];
    const there = Object.entries<Json>(components).flatMap(([kind, all]) =>
      Object.keys(all).map((name) => `#/components/${kind}/${name}`),
    );
    expect(there.sort()).toEqual([...new Set(needed)].sort());
    const placeholders = JSON.stringify(rest.paths).match(/(?<=\{\{)\w+(?=\}\})/g) ?? [];
    expect(Object.keys(rest['x-placeholders']).sort()).toEqual([...new Set(placeholders)].sort());
  });

  test('is made once, and is not sent again to a reader who has it', async () => {
    const first = await call(service, 'GET', path);
    const etag = first.headers.get('etag') ?? '';
    expect(first.status).toBe(200);
    expect(etag).toMatch(/^"[\w-]+"$/);
    expect(first.headers.get('content-type')).toContain('application/json');
    expect((await call(service, 'GET', path)).headers.get('etag')).toBe(etag);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, body, headers } = await call(service, 'GET', path, {
        headers: { 'if-none-match': known },
      });
      expect({ known, status, body, etag: headers.get('etag') }).toEqual({
        known,
        status: 304,
        body: '',
        etag,
      });
    }
    expect((await call(service, 'GET', path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });
});

describe('the documents of the resources', () => {
  test('have every operation once, as the whole has it', () => {
    const whole = documents.get('/openapi.json');
    const found: Record<string, Record<string, unknown>> = {};
    for (const name of RESOURCES) {
      const part = documents.get(`/openapi/${name}.json`);
      expect(part.info).toMatchObject({ version: '1.0.0', title: `Bellwether: ${name}` });
      expect(part.servers).toEqual(whole.servers);
      for (const [path, methods] of Object.entries<Json>(part.paths))
        for (const [method, operation] of Object.entries<Json>(methods)) {
          expect(operation.tags).toEqual([name]);
          expect(found[path]?.[method]).toBeUndefined();
          found[path] = { ...found[path], [method]: operation };
        }
    }
    expect(found).toEqual(whole.paths);
    expect(documents.get('/openapi/webhooks.json').webhooks).toEqual(whole.webhooks);
    expect(documents.get('/openapi/markets.json').webhooks).toBeUndefined();
  });

  test.each([
    'nothing',
    'Markets',
    'market',
    'markets.json',
    '__proto__',
    'constructor',
    'a'.repeat(200),
    '%2e%2e%2fmarkets',
  ])('an unknown one, %s, is 404 and names those that there are', async (name) => {
    const { status, body } = await call(service, 'GET', `/openapi/${name}.json`);
    expect({ status, code: body.code }).toEqual({ status: 404, code: 'route_not_found' });
    for (const known of RESOURCES) expect(body.fix).toContain(`/desk/openapi/${known}.json`);
  });

  test('are read without a key, and only read', async () => {
    const posted = await call(service, 'POST', '/openapi/markets.json', { body: {} });
    expect({ status: posted.status, allow: posted.headers.get('allow') }).toEqual({
      status: 405,
      allow: 'GET, HEAD',
    });
    expect((await call(service, 'HEAD', '/openapi/markets.json')).status).toBe(200);
    expect((await call(service, 'GET', '/openapi/markets')).status).toBe(404);
  });
});

test('llms.txt links each of them with its size, and every address in it is served', async () => {
  const { body } = await call(service, 'GET', '/llms.txt');
  const links = [...body.matchAll(/\[[^\]]+\]\((http[^)]+)\)/g)].map(([, link]: string[]) => link ?? '');
  for (const page of [
    'errors',
    'exits',
    'limits',
    'cli',
    'mcp',
    'sdk',
    'signing',
    'streams',
    'webhooks',
    'receipts',
    'doors',
    'routes',
  ])
    expect(links).toContain(`${service.url.replace('127.0.0.1', 'localhost')}/docs/${page}`);
  for (const path of PATHS) {
    const { length } = await (await fetch(service.url + path)).text();
    const size = new RegExp(`${path}\\) \\((\\d+) kB\\)`).exec(body)?.[1];
    expect({ path, size: Number(size) * 1000 - ((Number(size) * 1000) % 1000) }).toEqual({
      path,
      size: Math.ceil(Buffer.byteLength(await (await fetch(service.url + path)).text()) / 1000) * 1000,
    });
    expect(length).toBeGreaterThan(0);
  }
  const named = [...body.matchAll(/http:\/\/localhost[^\s)]*/g)].map(([link]: string[]) => link ?? '');
  expect(named.length).toBeGreaterThan(links.length - 1);
  for (const link of new Set(named)) {
    const { pathname } = new URL(link);
    const { status } = await fetch(service.address + pathname, { headers: { accept: '*/*' } });
    expect({ link, status }).toEqual({ link, status: 200 });
  }
});

describe('headers of answers', () => {
  test('are described once, and all of them are used', () => {
    const { components, paths } = documents.get('/openapi.json');
    expect(components.headers).toEqual(ANSWER_HEADERS);
    const used = JSON.stringify([paths, components.responses]).match(/(?<="#\/components\/headers\/)[^"]+/g);
    expect(new Set(used)).toEqual(new Set(Object.keys(ANSWER_HEADERS)));
  });

  test('a page of another origin may read them', async () => {
    const allowed = await startTestService({
      PAPER_WORLD: 'off',
      ALLOWED_ORIGINS: 'https://console.example.com',
    });
    const { headers } = await call(allowed, 'GET', '/agents/health', {
      headers: { origin: 'https://console.example.com' },
    });
    const exposed = headers.get('access-control-expose-headers')?.split(', ') ?? [];
    expect(exposed.sort()).toEqual(
      Object.keys(ANSWER_HEADERS)
        .map((name) => name.toLowerCase())
        .filter((name) => name !== 'set-cookie')
        .sort(),
    );
  });

  test('lists that have further pages link them, and only those', async () => {
    const trader = await newTrader(service);
    const market = await aMarket(trader.client);
    for (const size of [5, 6]) await trader.client.placeTrade(await restingOrder(trader, market, size));
    for (const path of ['/markets?q=*', '/markets/orders?', '/markets/orders/open?', '/agents/trades?']) {
      const { paths } = documents.get('/openapi.json');
      expect(paths[path.split('?')[0] ?? ''].get.responses['200'].headers).toMatchObject({
        Link: {},
        'X-Total-Count': {},
      });
      const { headers } = await trader.get(`${path}&limit=1`);
      expect({ path, link: headers.get('link') }).toEqual({
        path,
        link: expect.stringContaining('rel="next"'),
      });
      expect(Number(headers.get('x-total-count'))).toBeGreaterThan(1);
    }
  });
});
