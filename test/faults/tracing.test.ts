/** Traces over OTLP/HTTP: one for each request, down to the commit; nothing of it where no receiver is configured. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../packages/server/src/config.ts';
import {
  aMarket,
  call,
  newTrader,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { createDeskDatabase } from '../postgres.ts';
import { afterFile } from '../setup/clean-up.ts';
import { type Asked, sendJson, standIn } from '../stand-in.ts';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Pair[];
}

interface Pair {
  readonly key: string;
  readonly value: Record<string, unknown>;
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Pair[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

const SERVER_KIND = 2;
const PARTS = ['check the trade', 'wait for a group', 'judge the group', 'commit the group'];

/** Requests that came in, and whether they are answered. */
const received: Asked[] = [];
let isFrozen = false;
let unanswered = 0;

const exports = (): Export[] => received.map(({ body }) => JSON.parse(body));
const spans = (): Span[] =>
  exports().flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
  );
const valuesOf = (pairs: readonly Pair[]) =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));

/** The spans of a trace once the request's own is among them: that one, then its parts in the order in which they began. */
const traceOf = (traceId: string): Promise<Span[]> =>
  vi.waitFor(
    () => {
      const found = spans().filter((span) => span.traceId === traceId);
      expect(found.some(({ kind }) => kind === SERVER_KIND)).toBe(true);
      const isPart = ({ kind }: Span) => Number(kind !== SERVER_KIND);
      // The first part can begin in the same moment as the request.
      return found.sort(
        (a, b) => isPart(a) - isPart(b) || Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)),
      );
    },
    { timeout: 60_000, interval: 100 },
  );

let service: TestService;
let trader: Trader;
let endpoint: string;

beforeAll(async () => {
  endpoint = await standIn((asked, response) => {
    received.push(asked);
    if (isFrozen) unanswered += 1;
    else sendJson(response, {});
  });
  service = await startTestService({
    PAPER_WORLD: 'off',
    OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-receiver-key=one%20two',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test, service.name=other',
    OTEL_SERVICE_NAME: 'desk',
  });
  trader = await newTrader(service);
});

function newParent(flags = '01') {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

async function trade(parent: { readonly traceparent: string }, change: Record<string, string> = {}) {
  const request = await restingOrder(trader, await aMarket(trader.client));
  const headers = { traceparent: parent.traceparent, 'x-request-id': 'request-of-the-test' };
  const answer = await call(service, 'POST', '/markets/trade', {
    ...{ key: trader.apiKey, headers },
    body: { ...request, order: { ...request.order, ...change } },
  });
  return { request, answer };
}

describe('on', () => {
  test('a trade is one trace from request to commit, below the span of its caller', async () => {
    const parent = newParent();
    await call(service, 'GET', '/markets?q=in-a-query', { key: trader.apiKey });
    const { request, answer } = await trade(parent);
    expect(answer.status).toBe(201);
    const [server, ...parts] = await traceOf(parent.traceId);
    expect(server).toMatchObject({
      name: 'POST /markets/trade',
      kind: SERVER_KIND,
      parentSpanId: parent.spanId,
    });
    expect(valuesOf(server?.attributes ?? [])).toEqual({
      'http.request.method': 'POST',
      'http.route': '/markets/trade',
      'http.response.status_code': 201,
      'bellwether.request_id': 'request-of-the-test',
    });
    expect(parts.map(({ name }) => name)).toEqual(PARTS);
    for (const part of parts) expect(part.parentSpanId, part.name).toBe(server?.spanId);
    expect(valuesOf(parts.at(-1)?.attributes ?? [])).toEqual({ 'bellwether.group_size': 1 });

    const texts = received.map(({ body }) => body).join();
    for (const secret of [trader.apiKey, request.order.signature, 'in-a-query', trader.funder])
      expect(texts.includes(secret)).toBe(false);
  });

  test('a refusal tells its code, and the parts end where it was refused', async () => {
    const parent = newParent();
    const { answer } = await trade(parent, { signature: `0x${'11'.repeat(65)}` });
    expect(answer.status).toBe(400);
    const [server, ...parts] = await traceOf(parent.traceId);
    expect(valuesOf(server?.attributes ?? [])).toMatchObject({
      'http.response.status_code': 400,
      'bellwether.problem_code': answer.body.code,
    });
    expect(parts.map(({ name }) => name)).toEqual(PARTS.slice(0, 1));
  });

  test('every order of a batch has its parts', async () => {
    const parent = newParent();
    const market = await aMarket(trader.client);
    const orders = await Promise.all([restingOrder(trader, market), restingOrder(trader, market)]);
    await call(service, 'POST', '/markets/batch-trade', {
      ...{ key: trader.apiKey, headers: parent },
      body: { orders },
    });
    const [, ...parts] = await traceOf(parent.traceId);
    expect(parts.map(({ name }) => name)).toEqual([...PARTS, ...PARTS]);
  });

  test.each([
    'not a header',
    `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01`,
    `ff-${'1'.repeat(32)}-${'1'.repeat(16)}-01`,
    `00-${'2'.repeat(32)}-${'2'.repeat(16)}-01-more`,
  ])('what is no valid traceparent begins a trace of its own: %s', async (traceparent) => {
    const requestId = randomBytes(8).toString('hex');
    await call(service, 'GET', '/healthz', { headers: { traceparent, 'x-request-id': requestId } });
    const own = await vi.waitFor(
      () => {
        const isOurs = ({ attributes }: Span) => valuesOf(attributes)['bellwether.request_id'] === requestId;
        const found = spans().find(isOurs);
        expect(found).toBeDefined();
        return found;
      },
      { timeout: 60_000, interval: 100 },
    );
    expect(own?.parentSpanId ?? '').toBe('');
    expect(traceparent).not.toContain(own?.traceId);
  });

  test('a caller who does not trace is not traced', async () => {
    const [untraced, traced] = [newParent('00'), newParent()];
    expect((await trade(untraced)).answer.status).toBe(201);
    await trade(traced);
    await traceOf(traced.traceId);
    expect(spans().filter(({ traceId }) => traceId === untraced.traceId)).toEqual([]);
  });

  test('the receiver learns who exports, with the configured headers', () => {
    expect(received[0]).toMatchObject({ url: '/v1/traces', headers: { 'x-receiver-key': 'one two' } });
    const [first] = exports()[0]?.resourceSpans ?? [];
    expect(valuesOf(first?.resource.attributes ?? [])).toMatchObject({
      'service.name': 'desk',
      'service.version': expect.any(String),
      'deployment.environment.name': 'test',
    });
  });

  test('a frozen receiver delays neither trades nor the stop', async () => {
    isFrozen = true;
    await trade(newParent());
    await vi.waitFor(() => expect(unanswered).toBeGreaterThan(0), { timeout: 60_000, interval: 100 });
    for (let count = 0; count < 5; count += 1) expect((await trade(newParent())).answer.status).toBe(201);
    expect(await service.stop()).toBe(true);
  });
});

describe('off', () => {
  const modules = (name: string) =>
    JSON.stringify(join(import.meta.dirname, '../../packages/server/src', name));
  /** Starts two services after each other. @returns how many modules of exporter and SDK were loaded after each start */
  const LOADED = `
    import { registerHooks } from 'node:module';
    let loaded = 0;
    registerHooks({ load: (url, context, next) => {
      // The library of the metrics loads the API, for exemplars.
      if (/@opentelemetry\\/(?!api\\/)|platform\\/tracing\\//.test(url)) loaded += 1;
      return next(url, context);
    } });
    const { readConfig } = await import(${modules('config.ts')});
    const { startService } = await import(${modules('service.ts')});
    const counts = [];
    for (const more of [{}, { OTEL_EXPORTER_OTLP_ENDPOINT: process.argv[2] }]) {
      const service = await startService(readConfig({ ...process.env, ...more }));
      await fetch(service.address + '/healthz');
      counts.push(loaded);
      await service.stop();
    }
    console.log(JSON.stringify(counts));
    process.exit(0);`;

  test('neither exporter nor SDK is loaded', async () => {
    // A file: threads of the service inherit the options of an `--eval`, and cannot start with them.
    const folder = mkdtempSync(join(tmpdir(), 'bellwether-tracing-'));
    afterFile('processes', () => rmSync(folder, { recursive: true }));
    const script = join(folder, 'start.mjs');
    writeFileSync(script, LOADED);
    const { stdout } = await promisify(execFile)(process.execPath, [script, endpoint], {
      env: {
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        PORT: '0',
        LOG_LEVEL: 'silent',
        PAPER_WORLD: 'off',
        DATABASE_URL: await createDeskDatabase(),
        MASTER_KEY: randomBytes(32).toString('hex'),
      },
    });
    const [off, on] = JSON.parse(stdout);
    expect(off).toBe(0);
    expect(on).toBeGreaterThan(0);
  });

  test('the settings decide', () => {
    const tracingWith = (more: Record<string, string>) =>
      readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', ...more }).tracing;
    expect(readConfig({}).tracing).toBeNull();
    expect(tracingWith({ OTEL_SDK_DISABLED: 'TRUE' })).toBeNull();
    expect(tracingWith({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://x/own' })?.url).toBe('http://x/own');
    expect(
      tracingWith({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' }),
    ).toMatchObject({
      ...{ url: 'http://127.0.0.1:4318/v1/traces', sampler: 'traceidratio', ratio: 0.1 },
    });
    const secret = 'key=s3cret%';
    expect(() => tracingWith({ OTEL_EXPORTER_OTLP_HEADERS: secret })).toThrow(
      /^(?!.*s3cret).*write a literal %/,
    );
    expect(() => tracingWith({ OTEL_EXPORTER_OTLP_HEADERS: 's3cret' })).toThrow(/^(?!.*s3cret)OTEL_EXPORTER/);
    expect(() => tracingWith({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toThrow(/must be one of http/);
  });
});
