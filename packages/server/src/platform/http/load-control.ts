/**
 * How much is taken in at once, and who is turned away first when more comes than can be done. A request that would
 * only wait is refused at the door, before its key is looked up and its body read: that costs a tenth of serving it,
 * and keeps what was accepted fast.
 *
 * - Exits (cancel, redeem, pause, revoke) never wait in line, and are refused only beyond twice the bound of all.
 * - Trades have slots, and stand in one line for them. A burst may be three times as many as there are slots. Where that is not
 *   enough, more comes in than can be done, and only as many as there are slots are let in until for a second none was turned away:
 *   a line that never empties would help none of them. Both fit any machine and any venue, since they are no times.
 * - Streams have bounds of their own, for each agent and for all; to open one is little work.
 * - Everything else goes first: it is refused as soon as half of the trades are there that may be, or the process itself is late.
 */
import type { Operation } from '@bellwether/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refusal } from '../refusal.ts';
import { FirstLooks, RequestDeadline } from './deadline.ts';
import { problemOf } from './problem.ts';

/** `vital`: probes, and the calls of other replicas, which were admitted there. */
type Kind = 'vital' | 'exit' | 'trade' | 'stream' | 'other';

interface GatekeeperOptions {
  readonly maxTrades: number;
  readonly maxRequests: number;
  /** Milliseconds that only grow. */
  readonly now: () => number;
}

/** Trades under way and in line, in multiples of the slots: in a burst, and soon after a trade was turned away. */
const BURST = 3;
const OVERLOAD = 1;
/** As long as those turned away are asked to stay away. */
const RETRY_S = 1;
const OVERLOAD_MS = 1_000 * RETRY_S;
/**
 * Trades that begin in one turn of the event loop: verifying an order is most of their work, and between two turns the process
 * reads what the database has answered. Few enough that the answer waits for two milliseconds, and many enough that a
 * group of trades has company: a small one costs nearly as much.
 */
const BEGIN_IN_A_TURN = 4;
/** A process so late, with as many requests since it was looked at last as a part of the trades that it may do at once, is late because of them. */
const LATE_MS = 100;
const MANY_SINCE = 1 / 4;
const FEWEST_SINCE = 32;
const LATE_LOOKS = 3;
const MORE_THAN_CAN_BE_PLACED = 'More orders come in than can be placed.';
const TOO_MANY = 'Too many requests are under way.';

interface Waiter {
  readonly who: string;
  readonly isGone: () => boolean;
  readonly begin: (leave: () => void) => void;
  readonly refuse: (reason: Error) => void;
}

const overloaded = (): Error => refusal('overloaded', MORE_THAN_CAN_BE_PLACED, { retryAfterS: RETRY_S });

export class Gatekeeper {
  readonly #options: GatekeeperOptions;
  #requests = 0;
  #trades = 0;
  readonly #tradesOf = new Map<string, number>();
  readonly #line: Waiter[] = [];
  #turnedAwayAt = Number.NEGATIVE_INFINITY;
  #isTurnDue = false;
  #since = 0;
  #lateLooks = 0;
  #shed = 0;

  constructor(options: GatekeeperOptions) {
    this.#options = options;
  }

  /** Requests under way and waiting, for people and metrics. */
  get state(): { readonly requests: number; readonly trades: number; readonly waiting: number } {
    return { requests: this.#requests, trades: this.#trades, waiting: this.#line.length };
  }

  /** Requests that were turned away since the start. */
  get shed(): number {
    return this.#shed;
  }

  /** At the door. @returns why the request is turned away, or `null` */
  refusalOf(kind: Kind): string | null {
    this.#since += 1;
    const reason = this.#reasonAgainst(kind);
    if (reason !== null) this.#shed += 1;
    return reason;
  }

  #reasonAgainst(kind: Kind): string | null {
    const { maxRequests } = this.#options;
    switch (kind) {
      case 'vital':
        return null;
      case 'exit':
        return this.#requests < 2 * maxRequests ? null : TOO_MANY;
      case 'trade':
        if (this.#requests >= maxRequests) return TOO_MANY;
        return this.#turnsAway() ? MORE_THAN_CAN_BE_PLACED : null;
      case 'stream':
        return this.#requests < maxRequests ? null : TOO_MANY;
      case 'other':
        if (this.#requests >= maxRequests / 2) return 'Too many requests are under way; orders go first.';
        return this.#line.length + this.#trades >= this.#most / 2 || this.#lateLooks >= LATE_LOOKS
          ? 'The desk is busy with orders, which go first.'
          : null;
    }
  }

  /** Trades that may be under way and in line. */
  get #most(): number {
    const isOverload = this.#options.now() - this.#turnedAwayAt < OVERLOAD_MS;
    return (isOverload ? OVERLOAD : BURST) * this.#options.maxTrades;
  }

  #turnsAway(): boolean {
    const isFull = this.#line.length + this.#trades >= this.#most;
    if (isFull) this.#turnedAwayAt = this.#options.now();
    return isFull;
  }

  /** A request whose body is there. @returns what ends it */
  enter(): () => void {
    this.#requests += 1;
    return () => {
      this.#requests -= 1;
    };
  }

  /**
   * Stands in line until there is a slot, and its turn to begin. @returns what gives the slot back
   * @param who of several in line, who has most slots already comes last
   * @param isGone whether the caller has gone
   * @throws Refusal overloaded
   */
  tradeSlot(who: string, isGone: () => boolean): Promise<() => void> {
    return new Promise((begin, refuse) => {
      if (this.#turnsAway()) {
        this.#shed += 1;
        refuse(overloaded());
        return;
      }
      this.#line.push({ who, isGone, begin, refuse });
      this.#takeTurn();
    });
  }

  #takeTurn(): void {
    if (this.#isTurnDue || this.#line.length === 0 || this.#trades >= this.#options.maxTrades) return;
    this.#isTurnDue = true;
    setImmediate(() => {
      this.#isTurnDue = false;
      for (let begun = 0; begun < BEGIN_IN_A_TURN && this.#trades < this.#options.maxTrades; ) {
        const waiter = this.#next();
        if (waiter === undefined) break;
        if (waiter.isGone()) waiter.refuse(overloaded());
        else {
          waiter.begin(this.#take(waiter.who));
          begun += 1;
        }
      }
      this.#takeTurn();
    });
  }

  /** The first in line whose agent has less than half of the slots, else the first. */
  #next(): Waiter | undefined {
    const share = this.#options.maxTrades / 2;
    const modest = this.#line.findIndex(({ who }) => (this.#tradesOf.get(who) ?? 0) < share);
    return this.#line.splice(Math.max(0, modest), 1)[0];
  }

  #take(who: string): () => void {
    this.#trades += 1;
    this.#tradesOf.set(who, (this.#tradesOf.get(who) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#trades -= 1;
      const left = (this.#tradesOf.get(who) ?? 1) - 1;
      if (left > 0) this.#tradesOf.set(who, left);
      else this.#tradesOf.delete(who);
      this.#takeTurn();
    };
  }

  /** At short, regular intervals. @param lateMs how much later than it should have been */
  look(lateMs: number): void {
    const many = Math.max(FEWEST_SINCE, MANY_SINCE * this.#options.maxTrades);
    this.#lateLooks = lateMs > LATE_MS && this.#since > many ? this.#lateLooks + 1 : 0;
    this.#since = 0;
  }
}

export function kindOf({ rateClass, produces }: Pick<Operation, 'rateClass' | 'produces'>): Kind {
  if (produces === 'text/event-stream') return 'stream';
  if (rateClass === 'exit' || rateClass === 'trade') return rateClass;
  if (rateClass === 'relay') return 'trade';
  return rateClass === 'none' ? 'vital' : 'other';
}

// Where requests meet their bounds: the gatekeeper at the door, a deadline for each, and a slot for every trade.

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

interface RequestAdmissionOptions {
  readonly gatekeeper: Gatekeeper;
  readonly deadlineMs: number;
  /** No request waits for a database that is known to be away. */
  readonly isDatabaseAway: () => boolean;
  readonly log: { warn(context: object, message: string): void };
}

const LOOK_EVERY_MS = 50;
const LIFE_MS = 10;
const TELL_EVERY_MS = 1_000;
/** Answered from memory, or for somebody who must see how the service fares. */
const VITAL =
  /\/(healthz|readyz|metrics|openapi\.json|docs|llms\.txt|internal\/(exchange|timeline))$|\/(docs|openapi)\/|^\/?$/;

function kindOfRequest({ routeOptions, method }: FastifyRequest): Kind {
  const { kind } = routeOptions.config;
  if (kind !== undefined) return kind;
  if (routeOptions.url === undefined || VITAL.test(routeOptions.url)) return 'vital';
  // The paper venues' own doors.
  if (method === 'DELETE') return 'exit';
  return 'other';
}

/** Must come before every other hook that waits for something. */
export function admitRequests(app: FastifyInstance, options: RequestAdmissionOptions): void {
  const { gatekeeper, deadlineMs, isDatabaseAway, log } = options;
  const firstLooks = new FirstLooks(deadlineMs);
  const seemsAway = rememberLife(isDatabaseAway);
  app.decorateRequest('deadline', null);
  app.decorateRequest('leave', null);

  let turnedAway = 0;
  let toldAt = performance.now();
  let due = performance.now() + LOOK_EVERY_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    gatekeeper.look(now - due);
    due = now + LOOK_EVERY_MS;
    if (turnedAway === 0 || now - toldAt < TELL_EVERY_MS) return;
    log.warn({ turnedAway, ...gatekeeper.state }, 'requests are turned away');
    turnedAway = 0;
    toldAt = now;
  }, LOOK_EVERY_MS);
  timer.unref();
  app.addHook('onClose', async () => clearInterval(timer));

  const count = (request: FastifyRequest): void => {
    request.leave ??= gatekeeper.enter();
  };
  const refusalOf = (request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined => {
    const kind = kindOfRequest(request);
    if (kind === 'vital') return undefined;
    const isAway = seemsAway();
    const detail = isAway ? 'The database does not answer.' : gatekeeper.refusalOf(kind);
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
  gatekeeper: Gatekeeper,
  { rateClass, deadlineMs }: Operation,
  handler: Handler,
  onLate: OnLate,
): Handler {
  const takesSlot = rateClass === 'trade' && deadlineMs === undefined;
  const withSlot = async (request: FastifyRequest, reply: FastifyReply, isLate: () => boolean) => {
    const who = request.headers.authorization ?? request.ip;
    const leave = await gatekeeper.tradeSlot(who, isLate);
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

// Steps of a request as the framework's hooks. Nearly every step is done when it returns; a hook that is an async
// function would cost each request a promise and a turn of the microtask queue all the same.

/** The reply when the step has answered, else nothing: the request goes on. */
type StepOutcome = FastifyReply | undefined;
export type Step = (request: FastifyRequest, reply: FastifyReply) => StepOutcome | Promise<StepOutcome>;

/** Any hook that has no payload. */
type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

export const asHook =
  (step: Step): Hook =>
  (request, reply, done) => {
    const outcome = step(request, reply);
    // The framework waits for a promise that a hook returns, and for `done` where it returns none.
    if (outcome instanceof Promise) return outcome;
    if (outcome === undefined) done();
    return undefined;
  };
