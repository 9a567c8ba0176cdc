/**
 * Every operation of the document that the service serves has a runnable example: each is sent as it stands, with values for
 * its placeholders, and answered with the documented status and body. The recorded answers of the document have the shape of
 * what the service answers now; `EXAMPLES=record` records them again.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as contract from '@bellwether/contract';
import { ERRORS, type Operation } from '@bellwether/contract';
import {
  ANSWERS,
  EXAMPLES,
  fillIn,
  PLACEHOLDERS,
  type Placeholder,
  placeholdersOf,
} from '@bellwether/contract/examples';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { errorCodes } from '../../packages/server/src/platform/http/routes.ts';
import { startTestService, type TestService } from '../harness.ts';
import { movingClock } from '../world.ts';
import { cutLists, differences, optionalIn, undescribed, withoutSecrets } from './openapi-answers.ts';
import {
  ENVIRONMENT,
  newScene,
  OPERATOR_KEY,
  prepareWorld,
  restingIn,
  type Scene,
  type World,
} from './openapi-stage.ts';

const RECORDS = process.env.EXAMPLES === 'record';
const FILE = join(import.meta.dirname, '../../packages/contract/src/examples/answers.json');

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'rateClass' in value && 'path' in value;
const OPERATIONS = (Object.values(contract) as readonly unknown[]).filter(isOperation);

type ExampleId = keyof typeof EXAMPLES;
const IDS = Object.keys(EXAMPLES) as ExampleId[];

const operationOf = (id: string) => OPERATIONS.find((one) => one.id === id);

let service: TestService;
let world: World;
const clock = movingClock();
// biome-ignore lint/suspicious/noExplicitAny: the document is read by path
let document: any;
const answers: Record<string, { status: number; body: unknown }> = {};

interface Entry {
  readonly method: string;
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: the document is read by path
  readonly operation: any;
}

const entries = (): Entry[] =>
  Object.entries(document.paths as Record<string, Record<string, unknown>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
const entryOf = (id: string): Entry => {
  const found = entries().find(({ operation }) => operation.operationId === id);
  if (found === undefined) throw new Error(`the document has no operation ${id}`);
  return found;
};

beforeAll(async () => {
  service = await startTestService(ENVIRONMENT, { clock });
  world = await prepareWorld(service, clock);
  document = await (await fetch(`${service.url}/openapi.json`)).json();
});
afterAll(() => {
  if (RECORDS && Object.keys(answers).length === IDS.length)
    writeFileSync(FILE, `${JSON.stringify(answers, null, 2)}\n`);
});

/** Refusals stand once, among the components. */
const resolved = (response: { readonly $ref?: string }): object =>
  response.$ref === undefined
    ? response
    : document.components.responses[response.$ref.split('/').at(-1) ?? ''];

const templateOf = (example: { readonly value: unknown; readonly 'x-template'?: unknown }): unknown =>
  example['x-template'] ?? example.value;

/** The request as a reader of the document alone would make it. */
function requestOf({ path, method, operation }: Entry, values: Readonly<Record<string, unknown>>) {
  const url = new URL(service.url);
  const headers = new Headers();
  let target = path;
  for (const { name, in: place, examples } of operation.parameters ?? []) {
    if (examples === undefined) continue;
    const value = String(fillIn(templateOf(examples.runnable), values));
    if (place === 'path') target = target.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === 'query') url.searchParams.set(name, value);
    else headers.set(name, value);
  }
  url.pathname += target.slice(1);
  const example = operation.requestBody?.content['application/json']?.examples?.runnable;
  const body = example === undefined ? undefined : templateOf(example);
  if (body !== undefined) headers.set('content-type', 'application/json');
  return {
    url,
    headers,
    method: method.toUpperCase(),
    ...(body === undefined ? {} : { body: JSON.stringify(fillIn(body, values)) }),
  };
}

function authorize(headers: Headers, { operation }: Entry, { actor, visitor }: Scene): void {
  const [scheme] = (operation.security ?? []).flatMap(Object.keys) as string[];
  if (scheme === 'apiKey') headers.set('authorization', `Bearer ${actor.apiKey}`);
  if (scheme === 'operatorKey') headers.set('authorization', `Bearer ${OPERATOR_KEY}`);
  if (operation.tags?.includes('owners')) {
    headers.set('origin', visitor.origin);
    if (visitor.cookie !== null) headers.set('cookie', visitor.cookie);
  }
}

/** The first event of a stream that tells something, as the document describes it; else the JSON. */
async function bodyOf(response: Response): Promise<unknown> {
  if (!response.headers.get('content-type')?.includes('event-stream')) return response.json();
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const frame = text.split('\n\n').find((each) => /^data: /m.test(each) && !/^event: fresh$/m.test(each));
    if (frame === undefined || !text.includes(`${frame}\n\n`)) continue;
    const fields = new Map(frame.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
    const id = fields.get('id');
    return {
      ...(id === undefined ? {} : { id }),
      event: fields.get('event'),
      data: JSON.parse(fields.get('data') ?? ''),
    };
  }
  throw new Error('the stream ended without an event');
}

const ajv = formats.default(new Ajv2020({ strict: false, allErrors: true }));
const judged = new Map<string, ReturnType<typeof ajv.compile>>();
function faults(id: string, schema: object, body: unknown): unknown {
  const validate = judged.get(id) ?? ajv.compile({ ...schema, components: document.components });
  judged.set(id, validate);
  return validate(body) ? [] : validate.errors;
}

describe('the document', () => {
  test('has an example of every operation, and no example without one', () => {
    const served = entries().map(({ operation }) => operation.operationId);
    expect([...IDS].sort()).toEqual([...served].sort());
  });

  test('shows requests that have the form that their schemas ask for', () => {
    const misfits = entries().flatMap(({ operation }) => {
      const { operationId: id = '', parameters = [], requestBody } = operation;
      const media = requestBody?.content['application/json'];
      const shown = [
        ...parameters.map((one: (typeof parameters)[number]) => [
          one.name,
          one.schema,
          one.examples?.runnable.value,
        ]),
        ['the body', media?.schema, media?.examples?.runnable.value],
      ];
      return shown.flatMap(([what, schema, value]) =>
        value === undefined || schema === undefined
          ? []
          : (faults(`${id} ${what}`, schema, value) as object[]).map((fault) => ({ id, what, fault })),
      );
    });
    expect(misfits).toEqual([]);
  });

  test('explains every placeholder, and has none that no example uses', () => {
    expect(document['x-placeholders']).toEqual(PLACEHOLDERS);
    const used = new Set(placeholdersOf(EXAMPLES));
    expect(Object.keys(PLACEHOLDERS).filter((name) => !used.has(name as Placeholder))).toEqual([]);
  });

  test.each(OPERATIONS.map((operation) => [operation.id, operation] as const))(
    '%s lists, for each status, exactly the codes that it can answer',
    (id, operation) => {
      const { responses } = entryOf(id).operation;
      for (const [status, response] of Object.entries(responses as Record<string, never>)) {
        const { content } = resolved(response) as { content?: Record<string, { schema: never }> };
        const problem = content?.['application/problem+json']?.schema as
          | { allOf: [unknown, { properties: { code: { enum: string[] } } }] }
          | undefined;
        const codes = errorCodes(operation).filter((code) => ERRORS[code].status === Number(status));
        expect(problem?.allOf[1].properties.code.enum ?? []).toEqual(codes);
      }
    },
  );
});

/** They depend on more than the operation. */
const NOT_ALWAYS = new Set([
  'link',
  'retry-after',
  'idempotency-replayed',
  'x-venues-silent',
  'content-disposition',
]);

function expectHeaders(
  sent: Headers,
  response: { readonly headers: object },
  { isLimited = true } = {},
): void {
  const described = Object.keys(response.headers).map((name) => name.toLowerCase());
  expect(undescribed(sent, described)).toEqual([]);
  const always = described.filter(
    (name) => !NOT_ALWAYS.has(name) && (isLimited || !name.startsWith('ratelimit')),
  );
  expect(always.filter((name) => !sent.has(name))).toEqual([]);
}

/** A runnable example, ready to be sent as often as a test likes. */
async function ready(id: ExampleId, key: string) {
  const entry = entryOf(id);
  const isOwners = entry.operation.tags?.includes('owners') && entry.operation.security?.length > 0;
  const scene = await newScene(world, { id, isRead: entry.method === 'get', isOwners });
  const values: Record<string, unknown> = {};
  for (const name of placeholdersOf(EXAMPLES[id])) values[name] = await scene.value(name);
  const { url, ...request } = requestOf(entry, values);
  authorize(request.headers, entry, scene);
  if (operationOf(id)?.idempotent === true) request.headers.set('idempotency-key', key);
  return { scene, send: (init: RequestInit = {}) => fetch(url, { ...request, ...init }) };
}

describe('each example', () => {
  test.each(IDS)('%s is answered as documented', async (id) => {
    const entry = entryOf(id);
    const operation = operationOf(id);
    const { send } = await ready(id, `the example ${id}`);
    const abort = new AbortController();
    const response = await send({ signal: abort.signal });
    const body = cutLists(await bodyOf(response));
    abort.abort();
    const success = operation?.status ?? 200;
    expect({ status: response.status, ...(response.status === success ? {} : { body }) }).toEqual({
      status: success,
    });
    expectHeaders(response.headers, entry.operation.responses[success], {
      // From this machine it is not limited.
      isLimited: operation?.rateClass !== 'register',
    });
    if (operation?.idempotent === true) {
      const again = await send();
      expect({ status: again.status, replayed: again.headers.get('idempotency-replayed') }).toEqual(
        operation.secretAnswer === true
          ? { status: 409, replayed: null }
          : { status: success, replayed: 'true' },
      );
      expectHeaders(again.headers, resolved(entry.operation.responses[again.status]) as typeof response, {
        isLimited: operation.rateClass !== 'register',
      });
    }
    const [media] = Object.values(entry.operation.responses[success].content) as { schema: object }[];
    expect(faults(id, media?.schema ?? {}, body)).toEqual([]);
    answers[id] = { status: success, body: withoutSecrets(body, service.address) };
    if (RECORDS) return;
    const recorded = ANSWERS[id];
    expect(recorded?.status).toBe(success);
    expect(faults(id, media?.schema ?? {}, recorded?.body)).toEqual([]);
    expect(differences(recorded?.body, body, optionalIn(media?.schema))).toEqual([]);
  });
});

/** What a repeat changes all the same. */
const AGAIN: Readonly<Record<string, readonly string[]>> = {
  // An offer that arrives is worth more than one that expires unseen; none has an effect of its own.
  quoteVenueB: ['quotes'],
  // Its row is the key's: the repeat finds on the chain what became of the charge.
  chargeFee: ['fee_charges', 'facts'],
  chargeFeeByAgent: ['fee_charges', 'facts'],
};

/** Stored by the clock, or by the sandbox venue, which executes in its own time; what the exchange does for a wallet is in the desk's facts. */
const BESIDE =
  /^(idempotency_keys|rate_.*|pulse|desk_watch|durable_terms|callers_version|exchange_.*|sandbox_.*)$/;

describe('each example that changes something, when its answer is lost', () => {
  const changing = IDS.filter((id) => operationOf(id)?.idempotent === true);
  let sql: Sql;
  let tables: readonly string[];
  beforeAll(async () => {
    sql = openPool(service.databaseUrl, { max: 1 });
    tables = (await sql`select tablename from pg_tables where schemaname = 'public'`)
      .map(({ tablename }) => tablename as string)
      .filter((name) => !BESIDE.test(name));
    await sql.unsafe(`create function lose_answer() returns trigger language plpgsql as
      $$ begin raise exception 'the answer is lost'; end $$`);
  });
  afterAll(() => sql.end());

  const stored = async (): Promise<ReadonlyMap<string, string>> => {
    const each = tables.map(
      (name) =>
        `select '${name}' as name, string_agg(md5(t::text), ' ' order by md5(t::text)) as rows from ${name} t`,
    );
    return new Map((await sql.unsafe(each.join(' union all '))).map(({ name, rows }) => [name, rows]));
  };

  test.each(changing)('%s has its effect once', async (id) => {
    const { send, scene } = await ready(id, `lost ${id}`);
    await sql.unsafe(`create trigger lose_answer before update on idempotency_keys for each row
      when (new.status is not null) execute function lose_answer()`);
    // A charge keeps no answer.
    expect((await send()).status).toBe(AGAIN[id]?.includes('fee_charges') === true ? 200 : 500);
    await sql.unsafe('drop trigger lose_answer on idempotency_keys');
    // What it cancels is what was open when it came.
    if (id.startsWith('cancel'))
      await scene.actor.client.placeTrade(await restingIn(scene.actor, world.market));
    const before = await stored();
    clock.advance(61_000);
    const again = await send();
    const answer = (await again.json()) as { readonly code?: string };
    expect([again.status, answer.code]).toEqual(
      operationOf(id)?.secretAnswer === true
        ? [409, 'secret_already_shown']
        : [operationOf(id)?.status, undefined],
    );
    const after = await stored();
    expect(tables.filter((name) => before.get(name) !== after.get(name))).toEqual(AGAIN[id] ?? []);
    expect(await (await send()).json()).toMatchObject(again.ok ? answer : { code: 'secret_already_shown' });
  });
});
