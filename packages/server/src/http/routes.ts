/**
 * Binds handlers to operations. The order of refusal is the order of the hooks: wrong method, key, rate limit, then
 * the body's size, type and syntax, then every invalid field at once, then the idempotency key, then the handler.
 */
import { createHash } from 'node:crypto';
import { ERRORS, type ErrorCode, type Operation } from '@bellwether/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Authenticator } from '../app/authenticate.ts';
import type { Idempotency, KeyedRequest } from '../app/idempotency.ts';
import type { Owner } from '../app/owners.ts';
import type { RateLimits } from '../app/rate-limits.ts';
import { refusal } from '../app/refusal.ts';
import { type Admission, kindOf } from './admission.ts';
import { type Identities, identify, isLocal, isSameOrigin } from './identify.ts';
import { sendProblem } from './problem.ts';
import { STATUS } from './status.ts';
import { inTurn } from './take-in.ts';

/** The caller as the door knows it. */
type Caller = NonNullable<Awaited<ReturnType<Authenticator['authenticate']>>>;

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
    /** The body as it came, kept only for requests with an Idempotency-Key. */
    rawBody: string | null;
    keyed: KeyedRequest | null;
    /**
     * Set by a handler whose answer tells of no effect, or that looks the key up by itself: the answer is not kept for
     * replays, whatever its status.
     */
    hadNoEffect: boolean;
  }
}

type Part<S> = S extends TSchema ? Static<S> : undefined;

export interface Input<O extends Operation> {
  readonly params: Part<O['params']>;
  readonly query: Part<O['query']>;
  readonly body: Part<O['body']>;
  /** Present on every route that needs a key. */
  readonly caller: O['permission'] extends 'agent' ? Caller : null;
  /** Present on every route that needs an owner's session. */
  readonly owner: O['permission'] extends 'owner' ? Owner : null;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export interface Gate extends Identities {
  readonly rateLimits: RateLimits;
  readonly idempotency: Idempotency;
  readonly admission: Admission;
  /** Registration from this machine is not limited while every venue is paper. */
  readonly paperOnly: boolean;
}

export type Bind = <const O extends Operation>(
  operation: O,
  handler: (input: Input<O>) => Promise<Static<O['response']> | FastifyReply>,
) => void;

const IDEMPOTENCY_KEY = /^[\x21-\x7e][\x20-\x7e]{0,254}$/;

/** `/markets/{id}` as the framework spells it. */
const frameworkPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** Other paths of an operation: the same in everything, and not in the documents. */
export type Aliases = (path: string) => readonly string[];

export type Route = Pick<Operation, 'method' | 'path'>;

export function createBinder(
  app: FastifyInstance,
  gate: Gate,
  aliases: Aliases = () => [],
): { bind: Bind; operations: readonly Operation[]; routes: readonly Route[] } {
  const operations: Operation[] = [];
  const routes: Route[] = [];
  const bind: Bind = (operation, handler) => {
    operations.push(operation);
    for (const path of [operation.path, ...aliases(operation.path)]) {
      routes.push({ method: operation.method, path });
      bindRoute(app, gate, { operation, path }, handler);
    }
  };
  return { bind, operations, routes };
}

type Handler = Parameters<Bind>[1];

function bindRoute(
  app: FastifyInstance,
  gate: Gate,
  { operation, path }: { readonly operation: Operation; readonly path: string },
  handler: Handler,
): void {
  const isAlias = path !== operation.path;
  app.route({
    method: operation.method,
    url: frameworkPath(path),
    config: { kind: kindOf(operation.rateClass), deadlineMs: operation.deadlineMs },
    schema: isAlias ? { ...routeSchema(operation), hide: true } : routeSchema(operation),
    ...(operation.bodyBytes === undefined ? {} : { bodyLimit: operation.bodyBytes }),
    onRequest: admit(gate, operation),
    ...(operation.body === undefined ? {} : { preValidation: requireBody }),
    ...(operation.idempotent === true
      ? { preHandler: replay(gate, operation, path), onSend: remember(gate, operation) }
      : {}),
    handler: inTurn(
      gate.admission,
      operation,
      async (request, reply) => {
        const answer = await handler({
          params: request.params,
          query: request.query,
          body: request.body,
          caller: request.caller,
          owner: request.owner,
          request,
          reply,
        } as never);
        if (!reply.sent && answer !== reply) reply.code(operation.status);
        return answer;
      },
      rememberLate(gate, operation),
    ),
  });
}

/** Key, then rate limit. */
function admit(gate: Gate, operation: Operation) {
  const { rateLimits, paperOnly } = gate;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const unidentified = await identify(gate, operation, request);
    if (unidentified !== null) {
      const { code, detail, failures } = unidentified;
      const failed = failures === null ? null : await rateLimits.draw(failures, request.ip);
      if (failed !== null && !failed.allowed) {
        return sendProblem(request, reply, 'rate_limited', { retryAfterS: failed.retryAfterS });
      }
      return sendProblem(request, reply, code, detail === undefined ? {} : { detail });
    }
    if (operation.sameOrigin === true && !isSameOrigin(request, gate.origin())) {
      return sendProblem(request, reply, 'origin_not_allowed', {
        detail: `This route serves the pages under ${gate.origin()} only.`,
      });
    }
    if (operation.rateClass === 'register' && paperOnly && isLocal(request)) return undefined;
    const who = request.caller === null ? request.ip : request.caller.keyId.toString();
    const draw = await rateLimits.draw(operation.rateClass, who);
    const policy = rateLimits.policy(operation.rateClass);
    if (draw === null || policy === null) return undefined;
    const windowS = Math.max(1, Math.round(policy.burst / policy.perSecond));
    reply.header('ratelimit-policy', `"${operation.rateClass}";q=${policy.burst};w=${windowS}`);
    reply.header('ratelimit', `"${operation.rateClass}";r=${draw.remaining};t=${draw.resetS}`);
    if (draw.allowed) return undefined;
    return sendProblem(request, reply, 'rate_limited', {
      detail: `Too many requests of class "${operation.rateClass}": wait ${draw.retryAfterS} s.`,
      retryAfterS: draw.retryAfterS,
    });
  };
}

async function requireBody(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  return request.body === undefined || request.body === null
    ? sendProblem(request, reply, 'body_required')
    : undefined;
}

/** Keys are scoped to the agent and route; on public routes to the address. */
function replay({ idempotency }: Gate, operation: Operation, path: string) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const key = request.headers['idempotency-key'];
    if (key === undefined) return undefined;
    if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)) throw refusal('idempotency_key_invalid');
    const keyed: KeyedRequest = {
      scope: scopeOf(request, operation),
      route: operation.id,
      key,
      // Two calls that differ in path or query differ, too; an alias is no other path.
      bodyHash: createHash('sha256')
        .update(`${request.url.replace(path, operation.path)}\n${request.rawBody ?? ''}`)
        .digest(),
    };
    const first = await idempotency.begin(keyed);
    if (first === null) {
      // Too late to begin: the key is free for whoever asks again.
      if (request.deadline?.isOver === true) await idempotency.finish(keyed, { status: 0, body: '' }, false);
      else request.keyed = keyed;
      return undefined;
    }
    return reply
      .code(first.status)
      .header('idempotency-replayed', 'true')
      .type('application/json; charset=utf-8')
      .serializer((body: string) => body)
      .send(first.body);
  };
}

function scopeOf({ caller, owner, ip }: FastifyRequest, { permission }: Operation): string {
  if (caller !== null) return caller.agentId;
  if (owner !== null) return `owner ${owner.userId}`;
  return permission === 'operator' ? 'operator' : `address ${ip}`;
}

/** Keeps the answer before it leaves: whoever saw it can rely on its replay. */
function remember({ idempotency }: Gate, operation: Operation) {
  return async (request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> => {
    const { keyed } = request;
    if (keyed === null) return payload;
    request.keyed = null;
    const body = typeof payload === 'string' ? payload : '';
    await idempotency.finish(
      keyed,
      { status: request.hadNoEffect ? 0 : reply.statusCode, body },
      operation.secretAnswer === true,
    );
    return payload;
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
      operation.secretAnswer === true,
    );
  };
}

/** What any route of its kind can answer, beyond the codes that the operation names. */
export function errorCodes(operation: Operation): readonly ErrorCode[] {
  const codes: ErrorCode[] = [...operation.errors, 'internal_error'];
  if (operation.permission === 'agent' || operation.permission === 'operator') codes.push('unauthorized');
  if (operation.permission === 'operator') codes.push('operator_disabled');
  if (operation.permission === 'owner') codes.push('owner_session_required');
  if (operation.sameOrigin === true) codes.push('origin_not_allowed');
  if (operation.rateClass !== 'none') codes.push('rate_limited', 'service_unavailable', 'overloaded');
  if (operation.params ?? operation.query ?? operation.body) codes.push('invalid_request');
  if (operation.body !== undefined)
    codes.push('body_required', 'invalid_json', 'body_too_large', 'unsupported_media_type');
  if (operation.idempotent === true)
    codes.push('idempotency_key_invalid', 'idempotency_key_reused', 'idempotency_in_flight');
  if (operation.secretAnswer === true) codes.push('secret_already_shown');
  return [...new Set(codes)];
}

function routeSchema(operation: Operation) {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodes(operation))
    byStatus.set(STATUS[code], [...(byStatus.get(STATUS[code]) ?? []), code]);
  const problems = Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('\n\n'),
        content: { 'application/problem+json': { schema: { $ref: 'Problem#' } } },
      },
    ]),
  );
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    tags: [operation.tag],
    security: SECURITY[operation.permission],
    ...(operation.params === undefined ? {} : { params: operation.params }),
    ...(operation.query === undefined ? {} : { querystring: operation.query }),
    ...(operation.body === undefined ? {} : { body: operation.body }),
    headers: {
      type: 'object',
      properties: { ...REQUEST_ID, ...(operation.idempotent === true ? IDEMPOTENCY_KEY_HEADER : {}) },
    },
    response: { [operation.status]: operation.response, ...problems },
  };
}

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
