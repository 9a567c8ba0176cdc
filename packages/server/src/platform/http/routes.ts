/**
 * Binds handlers to operations. The order of refusal is the order of the hooks: wrong method, key, rate limit, then
 * the body's size, type and syntax, then every invalid field at once, then the idempotency key, then the handler.
 */

import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, createGzip, type Gzip, gzip } from 'node:zlib';
import * as contract from '@bellwether/contract';
import { canonicalJson, ERRORS, type ErrorCode, type Operation } from '@bellwether/contract';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchemaCompiler,
  onSendHookHandler,
} from 'fastify';
import type { Static, TArray, TSchema } from 'typebox';
import type { Denial } from '../../domain/denial.ts';
import type { SignedInOwner } from '../../domain/records.ts';
import type { Run } from '../database/idempotency-store.ts';
import { Refusal, refusal } from '../refusal.ts';
import { addressOf, isLocal } from './addresses.ts';
import type { Idempotency } from './idempotency.ts';
import {
  type Authenticator,
  type Identities,
  identify,
  isOfOurPages,
  refusedInRecovery,
  type Unidentified,
} from './identify.ts';
import { asHook, type Gatekeeper, inTurn, kindOf, type Step } from './load-control.ts';
import { type Page, type PageQuery, sendPage, TOTAL_HEADER } from './page.ts';
import { sendProblem } from './problem.ts';
import type { Draw, RateLimits } from './rate-limits.ts';
import { compileFor, UNKNOWN_FIELDS_TEXT, withoutItems, withUnknownFields } from './validation.ts';

/** The caller as the door knows it. */
type Caller = NonNullable<Awaited<ReturnType<Authenticator['authenticate']>>>;

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
    keyed: Run | null;
    /**
     * Set by a handler whose answer tells of no effect, or that looks the key up by itself: the answer is not kept for
     * replays, with any status.
     */
    hadNoEffect: boolean;
  }
  interface FastifyContextConfig {
    /** Absent from routes that are no operations. */
    operation?: Operation;
  }
}

type RequestPart<S> = S extends TSchema ? Static<S> : undefined;

export interface Input<O extends Operation> {
  readonly params: RequestPart<O['params']>;
  readonly query: RequestPart<O['query']>;
  readonly body: RequestPart<O['body']>;
  /** Present on every route that needs a key. */
  readonly caller: O['permission'] extends 'agent' ? Caller : null;
  /** Present on every route that needs an owner's session. */
  readonly owner: O['permission'] extends 'owner' ? SignedInOwner : null;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export interface Gate extends Identities {
  readonly rateLimits: RateLimits;
  readonly idempotency: Idempotency;
  readonly gatekeeper: Gatekeeper;
  /** Registration from this machine is not limited while every venue is paper. */
  readonly paperOnly: boolean;
}

type Judge = (body: unknown) => readonly Denial[] | Promise<readonly Denial[]>;

export type Bind = <const O extends Operation>(
  operation: O,
  handler: (input: Input<O>) => Promise<Static<O['response']> | FastifyReply>,
  /** Looks at a body that its schema refuses, too, so that every invalid field is reported at once. */
  judge?: Judge,
) => void;

const IDEMPOTENCY_KEY = /^[\x21-\x7e][\x20-\x7e]{0,254}$/;

/** `/markets/{id}` as the framework spells it. */
const frameworkPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** Other paths of an operation: the same in everything, and not in the documents. */
export type Aliases = (path: string) => readonly string[];

type Encoding = 'br' | 'gzip';

const NAMES: Readonly<Record<Encoding, RegExp>> = { br: /\bbr\b/, gzip: /\bgzip\b/ };

const accepts = ({ headers }: FastifyRequest, encoding: Encoding): boolean =>
  NAMES[encoding].test(String(headers['accept-encoding'] ?? ''));

/** The smallest form that the client takes; `null`: as it is. */
export function acceptedEncoding(request: FastifyRequest): Encoding | null {
  if (accepts(request, 'br')) return 'br';
  return accepts(request, 'gzip') ? 'gzip' : null;
}

/**
 * For a stream of events to a person's page, which are alike: each is sent at once. Takes about 100 KB. @returns `null`: the client takes
 * them as they are
 */
export const eventGzip = (request: FastifyRequest): Gzip | null =>
  accepts(request, 'gzip')
    ? createGzip({ flush: constants.Z_SYNC_FLUSH, windowBits: 14, memLevel: 6, chunkSize: 4 * 1024 })
    : null;

/** Shorter ones fit into a packet as they are. */
const COMPRESSED_FROM = 1_024;
/** A page of decisions, 79 KB, becomes 10 KB in a millisecond; up to 9 the next ones take longer for the same size. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const compress = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/**
 * Answers that a person's page reads, again and again and over slow lines. Agents' answers stay as they are: they are short, and to
 * compress them takes longer than to send them. No secret is in an owner's answer to a GET, so its size gives none away.
 */
const compressed: onSendHookHandler = (request, reply, payload, done) => {
  const encoding = acceptedEncoding(request);
  if (encoding === null || typeof payload !== 'string' || payload.length < COMPRESSED_FROM)
    return done(null, payload);
  reply.header('content-encoding', encoding);
  const body = Buffer.from(payload);
  return encoding === 'br' ? compress.br(body, BROTLI) : compress.gzip(body);
};

const REPEATED_HEADER = 'idempotency-replayed';

/** Says that the answer repeats an earlier one. */
export const markRepeated = (reply: FastifyReply): void => void reply.header(REPEATED_HEADER, 'true');

/** @returns the answer, which is marked where it repeats an earlier one */
export function markedAnswer<T>(
  reply: FastifyReply,
  { answer, isRepeated }: { readonly answer: T; readonly isRepeated: boolean },
): T {
  if (isRepeated) markRepeated(reply);
  return answer;
}

export type Route = Pick<Operation, 'method' | 'path'>;

export function createBinder(
  app: FastifyInstance,
  gate: Gate,
  aliases: Aliases = () => [],
): { bind: Bind; operations: readonly Operation[]; routes: readonly Route[] } {
  const operations: Operation[] = [];
  const routes: Route[] = [];
  const bind: Bind = (operation, handler, judge) => {
    operations.push(operation);
    for (const path of [operation.path, ...aliases(operation.path)]) {
      routes.push({ method: operation.method, path });
      bindRoute(app, gate, { operation, path, judge }, handler);
    }
  };
  return { bind, operations, routes };
}

type Handler = Parameters<Bind>[1];

function bindRoute(
  app: FastifyInstance,
  gate: Gate,
  {
    operation,
    path,
    judge,
  }: { readonly operation: Operation; readonly path: string; readonly judge: Judge | undefined },
  handler: Handler,
): void {
  const isAlias = path !== operation.path;
  app.route({
    method: operation.method,
    url: frameworkPath(path),
    config: { operation, kind: kindOf(operation), deadlineMs: operation.deadlineMs },
    schema: isAlias ? { ...routeSchema(operation), hide: true } : routeSchema(operation),
    ...(operation.bodyBytes === undefined ? {} : { bodyLimit: operation.bodyBytes }),
    onRequest: asHook(admit(gate, operation)),
    ...(judge === undefined ? {} : { attachValidation: true }),
    ...(operation.body === undefined ? {} : { preValidation: asHook(requireBody(operation)) }),
    ...(operation.checkedSeparately === undefined
      ? {}
      : { validatorCompiler: judgeAlone(operation.checkedSeparately) }),
    preHandler: [
      ...(takesNoBody(operation) ? [asHook(refuseBody(operation))] : []),
      ...(judge === undefined ? [] : [asHook(refuseTogether(judge))]),
      ...(operation.duringRecovery === undefined ? [] : [asHook(refuseInRecovery(operation))]),
      ...(operation.tokensPerItemOf === undefined ? [] : [asHook(drawPerItem(gate, operation))]),
      ...(operation.idempotent === true ? [asHook(replay(gate, operation, path))] : []),
    ],
    ...(operation.idempotent === true ? { onSend: remember(gate) } : {}),
    ...(operation.permission === 'owner' && operation.method === 'GET' ? { onSend: compressed } : {}),
    handler: inTurn(
      gate.gatekeeper,
      operation,
      async (request, reply) => {
        const handle = () =>
          handler({
            params: request.params,
            query: request.query,
            body: request.body,
            caller: request.caller,
            owner: request.owner,
            request,
            reply,
          } as never);
        const { keyed } = request;
        const answer = await (keyed === null ? handle() : gate.idempotency.running(keyed, handle));
        if (!reply.sent && answer !== reply) reply.code(operation.status);
        // A list without pages; those with pages count all of them.
        if (Array.isArray(answer) && !reply.hasHeader(TOTAL_HEADER))
          reply.header(TOTAL_HEADER, answer.length);
        return answer;
      },
      rememberLate(gate, operation),
    ),
  });
}

/** Key, then rate limit. */
function admit(gate: Gate, operation: Operation): Step {
  const { paperOnly } = gate;
  const draw = limited(gate, operation);
  const enter = (request: FastifyRequest, reply: FastifyReply, unidentified: Unidentified | null) => {
    if (unidentified !== null) return turnAwayUnidentified(gate, request, reply, unidentified);
    if (!isOfOurPages(operation, request, gate.publicUrl())) {
      const { origin } = new URL(gate.publicUrl());
      const detail = `This route serves the pages under ${origin} only.`;
      return sendProblem(request, reply, 'origin_not_allowed', { detail });
    }
    // An answer to a session must not stay behind in a browser that others use, too.
    if (operation.permission === 'owner') reply.header('cache-control', 'no-store');
    const closed = refusedInRecovery(operation, request.owner, undefined);
    if (closed !== null) throw closed;
    if (operation.rateClass === 'register' && paperOnly && isLocal(request, gate.publicUrl()))
      return undefined;
    return draw(request, reply, 1);
  };
  return (request, reply) => {
    const unidentified = identify(gate, operation, request);
    return unidentified instanceof Promise
      ? unidentified.then((known) => enter(request, reply, known))
      : enter(request, reply, unidentified);
  };
}

async function turnAwayUnidentified(
  { rateLimits }: Gate,
  request: FastifyRequest,
  reply: FastifyReply,
  { code, failures, ...words }: Unidentified,
): Promise<FastifyReply> {
  const failed = failures === null ? null : await rateLimits.draw(failures, addressOf(request));
  if (failures !== null && failed !== null && !failed.allowed) {
    stateLimit(reply, failures, rateLimits.policy(failures), failed);
    return sendProblem(request, reply, 'rate_limited', { retryAfterS: failed.retryAfterS });
  }
  return sendProblem(request, reply, code, words);
}

/** The further tokens of a call that is many in one: all or none, so that it is never carried out by halves. */
function drawPerItem(gate: Gate, operation: Operation): Step {
  const draw = limited(gate, operation);
  return (request, reply) => {
    const items = (request.body as Readonly<Record<string, unknown>>)[operation.tokensPerItemOf ?? ''];
    const count = Array.isArray(items) ? items.length - 1 : 0;
    return count < 1 ? undefined : draw(request, reply, count);
  };
}

/** Writes the state of the bucket into the RateLimit headers. */
function stateLimit(
  reply: FastifyReply,
  name: string,
  policy: ReturnType<RateLimits['policy']>,
  draw: Draw,
): void {
  if (policy === null) return;
  const windowS = Math.max(1, Math.round(policy.burst / policy.perSecond));
  reply.header('ratelimit-policy', `"${name}";q=${policy.burst};w=${windowS}`);
  reply.header('ratelimit', `"${name}";r=${draw.remaining};t=${draw.resetS}`);
}

/** Draws from the agent's bucket, whichever of its keys calls; without an agent from the address's. */
function limited({ rateLimits }: Gate, { rateClass }: Operation) {
  const policy = rateLimits.policy(rateClass);
  const answer = (request: FastifyRequest, reply: FastifyReply, count: number, draw: Draw | null) => {
    if (draw === null) return undefined;
    stateLimit(reply, rateClass, policy, draw);
    if (draw.allowed) return undefined;
    const tokens = count === 1 ? '' : ` This one needs ${count} more tokens.`;
    return sendProblem(request, reply, 'rate_limited', {
      detail: `Too many requests of class "${rateClass}": wait ${draw.retryAfterS} s.${tokens}`,
      retryAfterS: draw.retryAfterS,
    });
  };
  return (request: FastifyRequest, reply: FastifyReply, count: number): ReturnType<Step> => {
    if (policy === null) return undefined;
    const draw = rateLimits.draw(rateClass, request.caller?.agentId ?? addressOf(request), count);
    return draw instanceof Promise
      ? draw.then((known) => answer(request, reply, count, known))
      : answer(request, reply, count, draw);
  };
}

function requireBody({ bodyOptional, bodyFix: fix }: Operation): Step {
  return (request, reply) => {
    if (request.body !== undefined && request.body !== null) return undefined;
    if (bodyOptional !== true)
      return sendProblem(request, reply, 'body_required', fix === undefined ? {} : { fix });
    request.body = {};
    return undefined;
  };
}

const takesNoBody = ({ method, body, unknownFields }: Operation): boolean =>
  method !== 'GET' && body === undefined && unknownFields === 'refuse';

/** A field that nothing reads would be taken for one that narrows what the call does. */
const refuseBody =
  ({ bodyFix }: Operation): Step =>
  ({ body }) => {
    if (body === undefined || body === null) return undefined;
    const fields = typeof body === 'object' && !Array.isArray(body) ? Object.keys(body) : [''];
    const [first, ...rest] = fields.map((path) => ({
      code: 'invalid_request' as const,
      ...(path === '' ? {} : { path }),
      detail: path === '' ? 'This call takes no body.' : `This call takes no body: nothing reads ${path}.`,
      ...(bodyFix === undefined ? {} : { fix: bodyFix }),
    }));
    if (first !== undefined) throw new Refusal([first, ...rest]);
    return undefined;
  };

/** Of an operation that is open for some bodies. */
const refuseInRecovery =
  (operation: Operation): Step =>
  ({ owner, body }) => {
    const closed = refusedInRecovery(operation, owner, body ?? null);
    if (closed !== null) throw closed;
    return undefined;
  };

const refuseTogether =
  (judge: Judge): Step =>
  ({ validationError, body }) => {
    if (validationError === undefined) return undefined;
    return Promise.resolve(judge(body)).then((further) => {
      throw Object.assign(validationError, { further });
    });
  };

/** Leaves the items of an array to the handler; the document shows them all the same. */
const judgeAlone =
  (array: string): FastifySchemaCompiler<unknown> =>
  ({ schema, httpPart }) =>
    compileFor(httpPart === 'body' ? withoutItems(schema as TSchema, array) : (schema as object), httpPart);

/** A body in one form; `null` when it is nested too deeply to have one. */
function canonicalBody(body: unknown): string | null {
  if (body === undefined || body === null) return '';
  return Buffer.isBuffer(body) ? body.toString('latin1') : canonicalJson(body);
}

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer');

const isValidation = ({ validatesOnly }: Operation, { body }: FastifyRequest): boolean =>
  validatesOnly !== undefined &&
  (body as Readonly<Record<string, unknown>> | null)?.[validatesOnly.when] === true;

/** @throws Refusal idempotency_key_invalid */
function requireKey(key: string | string[]): asserts key is string {
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)) throw refusal('idempotency_key_invalid');
}

/** Keys are scoped to the agent and route; on public routes, where strangers share addresses, to address and body. */
function replay({ idempotency }: Gate, operation: Operation, path: string): Step {
  const begin = async (request: FastifyRequest, reply: FastifyReply, key: string | string[]) => {
    requireKey(key);
    if (isValidation(operation, request)) return undefined;
    const body = canonicalBody(request.body);
    if (body === null) throw refusal('invalid_request', 'The body is nested more than 100 levels deep.');
    // Two calls that differ in path or query differ, too; an alias is no other path.
    const bodyHash = digestOf(`${request.url.replace(path, operation.path)}\n${body}`);
    const first = await idempotency.begin({
      scope: scopeOf(request, operation, bodyHash),
      isCapped: request.caller !== null,
      isSecret: operation.secretAnswer === true,
      route: operation.id,
      key,
      bodyHash,
    });
    if ('lease' in first) {
      // Too late to begin: the key is free for the next request.
      if (request.deadline?.isOver === true) await idempotency.finish(first, { status: 0, body: '' });
      else request.keyed = first;
      return undefined;
    }
    if ((operation.response as { type?: string }).type === 'array')
      reply.header(TOTAL_HEADER, (JSON.parse(first.body) as readonly unknown[]).length);
    return reply
      .code(first.status)
      .header(REPEATED_HEADER, 'true')
      .type('application/json; charset=utf-8')
      .serializer((body: string) => body)
      .send(first.body);
  };
  return (request, reply) => {
    const key = request.headers['idempotency-key'];
    return key === undefined ? undefined : begin(request, reply, key);
  };
}

function scopeOf(request: FastifyRequest, { permission }: Operation, bodyHash: Buffer): string {
  const { caller, owner } = request;
  if (caller !== null) return caller.agentId;
  if (owner !== null) return `owner ${owner.userId}`;
  if (permission === 'operator') return 'operator';
  return `address ${addressOf(request)} ${bodyHash.toString('base64url')}`;
}

/** Keeps the answer before it leaves: a caller that saw it can rely on its replay. */
function remember({ idempotency }: Gate): onSendHookHandler {
  return (request, reply, payload, done) => {
    const { keyed } = request;
    if (keyed === null) return done(null, payload);
    request.keyed = null;
    const body = typeof payload === 'string' ? payload : '';
    const answer = { status: request.hadNoEffect ? 0 : reply.statusCode, body };
    return idempotency.finish(keyed, answer).then(() => payload);
  };
}

/** An effect that came after the deadline is an effect: the key then has its answer, or is free again. */
function rememberLate({ idempotency }: Gate, operation: Operation) {
  return async (request: FastifyRequest, answer: unknown): Promise<void> => {
    const { keyed } = request;
    if (keyed === null) return;
    request.keyed = null;
    const isKept = answer !== null && typeof answer === 'object' && !request.hadNoEffect;
    await idempotency.finish(
      keyed,
      isKept ? { status: operation.status, body: JSON.stringify(answer) } : { status: 0, body: '' },
    );
  };
}
/** Refused before the operation is looked at, or independently of it. */
const ANY_ROUTE: readonly ErrorCode[] = [
  'invalid_request',
  'invalid_target',
  'host_not_allowed',
  'origin_not_allowed',
  'request_timeout',
  'headers_too_large',
  'internal_error',
];

/** Codes that any route of its kind can answer, beyond those that the operation names. */
export function errorCodes(operation: Operation): readonly ErrorCode[] {
  const codes: ErrorCode[] = [...operation.errors, ...ANY_ROUTE];
  if (operation.permission === 'agent' || operation.permission === 'operator') codes.push('unauthorized');
  if (operation.permission === 'operator') codes.push('operator_disabled');
  if (operation.permission === 'owner') codes.push('owner_session_required');
  if (operation.permission === 'owner' && operation.method !== 'GET' && operation.duringRecovery !== true)
    codes.push('during_recovery_not_allowed');
  if (operation.rateClass !== 'none') codes.push('rate_limited', 'service_unavailable', 'overloaded');
  if (operation.params ?? operation.query ?? operation.body) codes.push('invalid_request');
  // A body that no one asked for is read all the same, and judged.
  if (operation.method !== 'GET') codes.push('invalid_json', 'body_too_large', 'unsupported_media_type');
  if (operation.body !== undefined && operation.bodyOptional !== true) codes.push('body_required');
  if (operation.idempotent === true)
    codes.push('idempotency_key_invalid', 'idempotency_key_reused', 'idempotency_in_flight');
  if (operation.idempotent === true && operation.permission === 'agent')
    codes.push('idempotency_limit_reached');
  if (operation.secretAnswer === true) codes.push('secret_already_shown');
  return [...new Set(codes)];
}

function routeSchema(operation: Operation) {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodes(operation))
    byStatus.set(ERRORS[code].status, [...(byStatus.get(ERRORS[code].status) ?? []), code]);
  const problems = Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('\n\n'),
        content: { 'application/problem+json': { schema: problemWith(codes) } },
      },
    ]),
  );
  const { unknownFields = 'near', body } = operation;
  // Where unknown fields are refused, so is a parameter of an operation that has none: ?dryRun=true must not trade.
  const query = operation.query ?? (unknownFields === 'refuse' ? NO_PARAMETERS : undefined);
  const description = [
    ...(operation.description === undefined ? [] : [operation.description]),
    ...(operation.query === undefined && body === undefined ? [] : [UNKNOWN_FIELDS_TEXT[unknownFields]]),
  ].join(' ');
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...(description === '' ? {} : { description }),
    tags: [operation.tag],
    security: SECURITY[operation.permission],
    ...(operation.params === undefined ? {} : { params: operation.params }),
    ...(query === undefined ? {} : { querystring: withUnknownFields(query, unknownFields) }),
    ...(operation.body === undefined ? {} : { body: withUnknownFields(operation.body, unknownFields) }),
    headers: {
      type: 'object',
      properties: { ...REQUEST_ID, ...(operation.idempotent === true ? IDEMPOTENCY_KEY_HEADER : {}) },
    },
    response: {
      [operation.status]: answerSchema(operation),
      ...(operation.validatesOnly === undefined
        ? {}
        : { [operation.validatesOnly.status]: operation.response }),
      ...problems,
    },
  };
}

const problemWith = (codes: readonly ErrorCode[]) => ({
  allOf: [{ $ref: 'Problem#' }, { type: 'object', properties: { code: { type: 'string', enum: codes } } }],
});

function answerSchema({ produces, alsoProduces, response }: Operation) {
  if (produces !== undefined)
    return { description: 'Open until either side ends it.', content: { [produces]: { schema: response } } };
  if (alsoProduces === undefined) return response;
  return {
    description: 'Default Response',
    content: { 'application/json': { schema: response }, [alsoProduces]: { schema: { type: 'string' } } },
  };
}

const NO_PARAMETERS = { type: 'object', properties: {} } as unknown as TSchema;

const SECURITY = {
  public: [],
  agent: [{ apiKey: [] }],
  owner: [{ ownerSession: [] }],
  operator: [{ operatorKey: [] }],
};

const REQUEST_ID = {
  'x-request-id': {
    type: 'string',
    description: 'at most 128 printable characters; made when missing, and echoed',
  },
};

const IDEMPOTENCY_KEY_HEADER = {
  'idempotency-key': {
    type: 'string',
    description: 'at most 255 printable characters, kept 24 h: the same key and body give the first answer',
  },
};

// Binds the use cases of a resource, each by the id of its operation. What needs nothing of the request but who calls and what
// was sent is served by being in that table; the compiler holds its input and its answer to the operation. An operation whose
// answer is a list may answer one page of it.

type Contract = typeof contract;
type AgentOperation = Operation & { readonly permission: 'agent' };
type Id = { [K in keyof Contract]: Contract[K] extends AgentOperation ? K : never }[keyof Contract];
type InputOf<O extends Operation> = Pick<Input<O>, 'caller' | 'params' | 'query' | 'body'>;
type AnswerOf<O extends Operation> =
  O['response'] extends TArray<infer T extends TSchema>
    ? readonly Static<T>[] | Page<Static<T>>
    : Static<O['response']>;

type UseCases = {
  readonly [K in Id]?: Contract[K] extends AgentOperation
    ? (input: InputOf<Contract[K]>) => Promise<AnswerOf<Contract[K]>>
    : never;
};

const operations = contract as unknown as Readonly<Record<Id, AgentOperation>>;
type AnyUseCase = (input: InputOf<AgentOperation>) => Promise<object>;

const isPage = (operation: Operation, answer: object): answer is Page<unknown> =>
  (operation.response as { type?: string }).type === 'array' && !Array.isArray(answer);

export function bindUseCases(bind: Bind, useCases: UseCases): void {
  for (const [id, useCase] of Object.entries(useCases) as [Id, AnyUseCase][]) {
    const operation = operations[id];
    bind(operation, async ({ caller, params, query, body, request, reply }) => {
      const answer = await useCase({ caller, params, query, body });
      if (!isPage(operation, answer)) return answer;
      return sendPage(request, reply, query as PageQuery, answer);
    });
  }
}

// Routes that the service answers without a key: a start that others can reach says so.

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'permission' in value && 'path' in value;

const PAGES = [
  '/',
  '/docs',
  '/openapi.json',
  '/openapi/*.json',
  '/llms.txt',
  '/healthz',
  '/readyz',
  '/console',
];

/** @param doors paths of the paper venues' doors */
export function openRoutes(doors: readonly string[]): readonly string[] {
  const operations = (Object.values(contract) as readonly unknown[])
    .filter(isOperation)
    .filter(({ permission }) => permission === 'public')
    .map(({ method, path }) => `${method} ${path}`);
  return [
    ...operations.sort(),
    ...PAGES.map((path) => `GET ${path}`),
    ...doors.map((path) => `${path}/* (the venue’s own authentication)`),
  ];
}
