/**
 * The OpenAPI document, made once in a process: whole, and for each resource a part that stands by itself, for a reader that
 * must not take in all of it.
 */
import { createHash } from 'node:crypto';
import type { Operation } from '@bellwether/contract';
import {
  ANSWERS,
  EXAMPLES,
  type Example,
  fillIn,
  PLACEHOLDERS,
  placeholdersOf,
  SAMPLES,
} from '@bellwether/contract/examples';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ANSWER_HEADERS, headersOf } from '../http/answer-headers.ts';
import { sendProblem } from '../http/problem.ts';
import { errorCodes, type Route } from '../http/routes.ts';

interface Response {
  readonly description: string;
  headers?: Readonly<Record<string, object>>;
}
interface DocumentedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  responses: Readonly<Record<string, Response | Reference>>;
}
interface Reference {
  readonly $ref: string;
}
type Paths = Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
interface Document {
  readonly info: { readonly title: string; readonly description: string };
  readonly paths: Paths;
  readonly webhooks: Paths;
  components: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly 'x-placeholders': Readonly<Record<string, string>>;
}

const FOLDER = '/openapi';
const COMPONENT = '#/components/';

const operationsIn = ({ paths }: Pick<Document, 'paths'>): DocumentedOperation[] =>
  Object.values(paths).flatMap((methods) => Object.values(methods));

/** Adds examples and headers to what the framework made, and writes refusals down once: most routes share theirs. */
export function finishDocument(made: object, operations: readonly Operation[]): object {
  const document = withExamples(made) as Document;
  const known = new Map(operations.map((operation) => [operation.id, operation]));
  const shared = new Map<string, { readonly name: string; readonly response: Response }>();
  const counts = new Map<string, number>();
  const shareOf = (status: string, response: Response): Reference => {
    const text = JSON.stringify([status, response]);
    let row = shared.get(text);
    if (row === undefined) {
      const nth = (counts.get(status) ?? 0) + 1;
      counts.set(status, nth);
      row = { name: `refusal-${status}-${nth}`, response };
      shared.set(text, row);
    }
    return { $ref: `${COMPONENT}responses/${row.name}` };
  };
  for (const documented of operationsIn(document)) {
    const operation = known.get(documented.operationId);
    const responses = Object.entries(documented.responses as Readonly<Record<string, Response>>).map(
      ([status, { description, ...rest }]) => {
        const names =
          operation === undefined
            ? (['X-Request-Id'] as const)
            : headersOf(operation, Number(status), errorCodes(operation));
        const headers = Object.fromEntries(
          names.map((name) => [name, { $ref: `${COMPONENT}headers/${name}` }]),
        );
        const response = { description, headers, ...rest };
        return [status, Number(status) < 400 ? response : shareOf(status, response)] as const;
      },
    );
    documented.responses = Object.fromEntries(responses);
  }
  document.components = {
    ...document.components,
    headers: ANSWER_HEADERS,
    responses: Object.fromEntries([...shared.values()].map(({ name, response }) => [name, response])),
  };
  return document;
}

const referencesIn = (value: unknown): string[] =>
  [...JSON.stringify(value).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, name]) => name ?? '');

/** The components that a part refers to, with those that they refer to. */
function componentsFor(part: object, all: Document['components']): Document['components'] {
  const needed = new Set<string>();
  const follow = (value: unknown): void => {
    for (const name of referencesIn(value)) {
      if (needed.has(name)) continue;
      needed.add(name);
      const [kind = '', component = ''] = name.split('/');
      follow(all[kind]?.[component]);
    }
  };
  follow(part);
  const kept = Object.entries(all).map(([kind, components]) => [
    kind,
    Object.fromEntries(Object.entries(components).filter(([name]) => needed.has(`${kind}/${name}`))),
  ]);
  return Object.fromEntries(kept.filter(([, components]) => Object.keys(components ?? {}).length > 0));
}

/** Resources in the order in which the document has them. */
const resourcesOf = (document: Document): readonly string[] => [
  ...new Set(operationsIn(document).flatMap(({ tags }) => tags)),
];

function partOf(document: Document, resource: string): object {
  const only = (paths: Paths): Paths =>
    Object.fromEntries(
      Object.entries(paths).flatMap(([path, methods]) => {
        const mine = Object.entries(methods).filter(([, { tags }]) => tags.includes(resource));
        return mine.length === 0 ? [] : [[path, Object.fromEntries(mine)] as const];
      }),
    );
  const [paths, webhooks] = [only(document.paths), only(document.webhooks)];
  const text = JSON.stringify([paths, webhooks]);
  const schemes = operationsIn({ paths }).flatMap(({ security = [] }) => security.flatMap(Object.keys));
  const { securitySchemes = {}, ...components } = document.components;
  const placeholders = Object.entries(document['x-placeholders']).filter(([name]) =>
    text.includes(`{{${name}}}`),
  );
  return {
    ...document,
    info: {
      ...document.info,
      title: `${document.info.title}: ${resource}`,
      description: `The operations of one resource. The other resources have documents beside this one; all of them together are \`/openapi.json\`, the first steps \`/llms.txt\`. ${HOW_TO_RUN}`,
    },
    paths,
    // Left out where there are none: the text has no field without a value.
    webhooks: Object.keys(webhooks).length === 0 ? undefined : webhooks,
    components: {
      securitySchemes: Object.fromEntries(
        Object.entries(securitySchemes).filter(([name]) => schemes.includes(name)),
      ),
      ...componentsFor({ paths, webhooks }, components),
    },
    'x-placeholders': Object.fromEntries(placeholders),
  };
}

interface Served {
  readonly body: string;
  readonly bytes: number;
  readonly etag: string;
}

const served = (document: object): Served => {
  const body = JSON.stringify(document);
  return {
    body,
    bytes: Buffer.byteLength(body),
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
  };
};

/** A reader who has it already learns that, and no more. */
function send({ body, etag }: Served, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('etag', etag).header('cache-control', 'no-cache');
  const known = (request.headers['if-none-match'] ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(etag) || known.includes('*')) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(body);
}

export interface Documents {
  readonly routes: readonly Route[];
  /** Bytes of each resource's document, and of all. */
  readonly sizes: () => { readonly all: number; readonly parts: ReadonlyMap<string, number> };
}

/** `GET /openapi.json` and `GET /openapi/{resource}.json`. */
export function serveDocuments(app: FastifyInstance, basePath: string): Documents {
  const made = new Map<string, Served>();
  // The framework keeps the whole; each text is made when it is first asked for, since orders wait meanwhile.
  const whole = (): Document => app.swagger() as unknown as Document;
  /** @param make of the whole document, or of a part under its resource's name */
  const textOf = (name: string, make: (document: Document) => object): Served => {
    const text = made.get(name) ?? served(make(whole()));
    made.set(name, text);
    return text;
  };
  const all = (): Served => textOf('', (document) => document);
  const part = (resource: string): Served => textOf(resource, (document) => partOf(document, resource));
  const options = { schema: { hide: true } };
  app.get(`${basePath}/openapi.json`, options, (request, reply) => send(all(), request, reply));
  app.get<{ Params: { file: string } }>(`${basePath}${FOLDER}/:file`, options, (request, reply) => {
    const files = resourcesOf(whole()).map((name) => `${name}.json`);
    const { file } = request.params;
    if (files.includes(file)) return send(part(file.slice(0, -'.json'.length)), request, reply);
    return sendProblem(request, reply, 'route_not_found', {
      detail: 'There is no resource of this name.',
      fix: `Ask for one of ${files.map((name) => `${basePath}${FOLDER}/${name}`).join(', ')}.`,
    });
  });
  return {
    routes: ['/openapi.json', `${FOLDER}/{file}`].map((path) => ({ path, method: 'GET' })),
    sizes: () => ({
      all: all().bytes,
      parts: new Map(resourcesOf(whole()).map((name) => [name, part(name).bytes])),
    }),
  };
}

// Runnable examples in the OpenAPI document: of every operation the request, with placeholders that the document explains,
// and the answer that a service gave to it. `test/e2e/openapi-examples.test.ts` runs each and compares the answers.

const NAME = 'runnable';
const TEMPLATE = 'x-template';

interface Media {
  /** Of the schema alone; excludes the others. */
  example?: unknown;
  examples?: Record<string, object>;
}
interface Parameter extends Media {
  readonly name: string;
  readonly in: string;
}
interface OperationToShow {
  readonly operationId?: string;
  parameters?: Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}
interface DocumentToShow {
  readonly info: { description?: string };
  readonly paths?: Readonly<Record<string, Readonly<Record<string, OperationToShow>>>>;
}

/** Meaning of each placeholder of an example, for a reader of this place alone. */
const explained = (value: unknown): { readonly description?: string } => {
  const names = placeholdersOf(value);
  if (names.length === 0) return {};
  return { description: names.map((name) => `\`{{${name}}}\`: ${PLACEHOLDERS[name]}`).join('\n\n') };
};

/** The value has the form that the schema asks for; the template says what to put where. */
const runnable = (template: unknown): Record<string, object> => ({
  [NAME]: {
    value: fillIn(template, SAMPLES),
    ...(placeholdersOf(template).length === 0 ? {} : { [TEMPLATE]: template }),
    ...explained(template),
  },
});

function show(place: Media, examples: Record<string, object>): void {
  delete place.example;
  place.examples = examples;
}

const firstOf = (content: Readonly<Record<string, Media>> | undefined): Media | undefined =>
  Object.values(content ?? {})[0];

function addRequest(operation: OperationToShow, example: Example): void {
  const given: readonly (readonly [place: string, values: Readonly<Record<string, unknown>>])[] = [
    ['path', example.path ?? {}],
    ['query', example.query ?? {}],
    ['header', example.headers ?? {}],
  ];
  for (const [place, values] of given)
    for (const [name, value] of Object.entries(values)) {
      const known = operation.parameters?.find((one) => one.in === place && one.name === name);
      const examples = runnable(value);
      if (known !== undefined) show(known, examples);
      else
        operation.parameters = [
          ...(operation.parameters ?? []),
          { name, in: place, examples, ...{ required: true, schema: { type: 'string' } } },
        ];
    }
  const media = firstOf(operation.requestBody?.content);
  if (media !== undefined && example.body !== undefined) show(media, runnable(example.body));
}

function addAnswer({ responses }: OperationToShow, answer: { status: number; body: unknown }): void {
  const media = firstOf(responses[answer.status]?.content);
  if (media !== undefined) show(media, { [NAME]: { value: answer.body } });
}

const HOW_TO_RUN =
  'Every operation has an example named `runnable`, with values that have the right form and stand for nothing: `x-template` beside it shows the same with `{{placeholders}}`, which the document explains under `x-placeholders`. With your values for them it is answered as shown. Keys go where `security` says.';

/** Adds them to the finished document. */
function withExamples<T extends object>(document: T): T {
  const { paths, info } = document as DocumentToShow;
  for (const operation of Object.values(paths ?? {}).flatMap((path) => Object.values(path))) {
    const id = operation.operationId as keyof typeof EXAMPLES;
    if (!Object.hasOwn(EXAMPLES, id)) continue;
    addRequest(operation, EXAMPLES[id]);
    const answer = ANSWERS[id];
    if (answer !== undefined) addAnswer(operation, answer);
  }
  info.description = `${info.description} ${HOW_TO_RUN}`;
  return { ...document, 'x-placeholders': PLACEHOLDERS };
}
