/** Where requests meet their bounds: admission at the door, a deadline for each, and a slot for every trade. */
import type { Operation } from '@bellwether/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Admission, Kind } from './load-control.ts';
import { problemOf } from './problem.ts';
import { FirstLooks, RequestDeadline } from './request-deadline.ts';
import { asHook } from './step.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Kind by which a request is refused under load; for routes that are no operations: by method. */
    kind?: Kind;
    deadlineMs?: number | undefined;
  }
  interface FastifyRequest {
    /** Ends its count among the requests in flight; `null` while it is not counted. */
    leave: (() => void) | null;
  }
}

export interface RequestAdmissionOptions {
  readonly admission: Admission;
  readonly deadlineMs: number;
  /** No request waits for a database that is known to be away. */
  readonly isDatabaseAway: () => boolean;
  readonly log: { warn(context: object, message: string): void };
}

const LOOK_EVERY_MS = 50;
const LIFE_MS = 10;
const TELL_EVERY_MS = 1_000;
const RETRY_S = 1;
/** Answered from memory, or for somebody who must see how the service fares. */
const VITAL =
  /\/(healthz|readyz|metrics|openapi\.json|docs|llms\.txt|internal\/(exchange|timeline))$|\/(docs|openapi)\/|^\/?$/;

function kindOf({ routeOptions, method }: FastifyRequest): Kind {
  const { kind } = routeOptions.config;
  if (kind !== undefined) return kind;
  if (routeOptions.url === undefined || VITAL.test(routeOptions.url)) return 'vital';
  // The paper venues' own doors.
  if (method === 'DELETE') return 'exit';
  return 'other';
}

/** Must come before every other hook that waits for something. */
export function admitRequests(app: FastifyInstance, options: RequestAdmissionOptions): void {
  const { admission, deadlineMs, isDatabaseAway, log } = options;
  const firstLooks = new FirstLooks(deadlineMs);
  const seemsAway = rememberLife(isDatabaseAway);
  app.decorateRequest('deadline', null);
  app.decorateRequest('leave', null);

  let turnedAway = 0;
  let toldAt = performance.now();
  let due = performance.now() + LOOK_EVERY_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    admission.look(now - due);
    due = now + LOOK_EVERY_MS;
    if (turnedAway === 0 || now - toldAt < TELL_EVERY_MS) return;
    log.warn({ turnedAway, ...admission.state }, 'requests are turned away');
    turnedAway = 0;
    toldAt = now;
  }, LOOK_EVERY_MS);
  timer.unref();
  app.addHook('onClose', async () => clearInterval(timer));

  const count = (request: FastifyRequest): void => {
    request.leave ??= admission.enter();
  };
  const refusalOf = (request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined => {
    const kind = kindOf(request);
    if (kind === 'vital') return undefined;
    const isAway = seemsAway();
    const detail = isAway ? 'The database does not answer.' : admission.refusalOf(kind);
    if (detail !== null) {
      turnedAway += 1;
      return turnAway(request, reply, isAway ? 'service_unavailable' : 'overloaded', detail);
    }
    const ownMs = request.routeOptions.config.deadlineMs;
    const deadline = new RequestDeadline(request, reply, { firstLooks, ownMs, isDatabaseAway });
    request.deadline = deadline;
    // A body that is still on its way, perhaps for ever, takes no place from others.
    if (request.method === 'GET' || request.method === 'HEAD') count(request);
    reply.raw.on('close', () => {
      deadline.end();
      request.leave?.();
    });
    return undefined;
  };

  app.addHook('onRequest', asHook(refusalOf));
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    request.deadline?.waitForBody();
    done();
  });
  app.addHook('preValidation', (request, reply, done) => {
    request.deadline?.bodyArrived();
    // Nothing would end the count for a caller who has gone meanwhile.
    if (request.deadline !== null && !reply.raw.destroyed) count(request);
    done();
  });
}

/** Looking may be a system call: a database that was there a moment ago is taken to be there. */
function rememberLife(isAway: () => boolean): () => boolean {
  let seenAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - seenAt < LIFE_MS) return false;
    if (isAway()) return true;
    seenAt = now;
    return false;
  };
}

/** Past the hooks and the serializer, since there may be very many of these, and nothing else to do for them. */
function turnAway(
  request: FastifyRequest,
  reply: FastifyReply,
  code: 'overloaded' | 'service_unavailable',
  detail: string,
): FastifyReply {
  const problem = problemOf(request, code, { detail });
  const body = JSON.stringify(problem);
  reply.hijack();
  const headers: Record<string, number | string | string[] | undefined> = {
    // Headers with which a page of another origin sees that it was turned away, and for how long.
    ...reply.getHeaders(),
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    'retry-after': RETRY_S,
  };
  reply.raw.writeHead(problem.status, headers);
  reply.raw.end(body);
  return reply;
}

/** Takes the result of a request after its deadline: the handler's answer, or `null` when it failed. */
type OnLate = (request: FastifyRequest, answer: unknown) => Promise<void>;
type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/**
 * A trade waits for its slot and keeps it until it is done, although its answer may be gone by then. What waits for
 * services elsewhere has none: their slowness must not take the slots of what is done here.
 */
export function inTurn(
  admission: Admission,
  { rateClass, deadlineMs }: Operation,
  handler: Handler,
  onLate: OnLate,
): Handler {
  const takesSlot = rateClass === 'trade' && deadlineMs === undefined;
  const withSlot = async (request: FastifyRequest, reply: FastifyReply, isLate: () => boolean) => {
    const who = request.headers.authorization ?? request.ip;
    const leave = await admission.tradeSlot(who, isLate);
    try {
      return await handler(request, reply);
    } finally {
      leave();
    }
  };
  return async (request, reply) => {
    const isLate = () => request.deadline?.isOver === true;
    try {
      const answer = await (takesSlot ? withSlot(request, reply, isLate) : handler(request, reply));
      if (isLate()) await onLate(request, answer);
      return answer;
    } catch (error) {
      if (!isLate()) throw error;
      // It has been answered; what went wrong since concerns no caller.
      await onLate(request, null).catch(() => {});
      return reply;
    }
  };
}
