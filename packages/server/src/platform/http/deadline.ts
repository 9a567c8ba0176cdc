/**
 * How long somebody waits for an answer. Work that has no effect yet must not get one once the caller has gone; what
 * was handed to a venue can only be reported as it is.
 */
import type { ErrorCode } from '@bellwether/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Refusal, refusal } from '../refusal.ts';
import { problemOf } from './problem.ts';

/** Answer when the time is up after the hand-over. */
interface InDoubt {
  readonly code: Extract<ErrorCode, 'order_outcome_unknown' | 'fee_outcome_unknown'>;
  readonly orderId?: string;
}

export interface Deadline {
  /** 0 when it is over. */
  leftMs(): number;
  /** Just before the first effect that cannot be taken back. @returns false when it is over: then it must not happen */
  handOver(doubt: InDoubt): boolean;
}

/** For work without a waiting caller. */
export const ENDLESS: Deadline = { leftMs: () => Number.POSITIVE_INFINITY, handOver: () => true };

/** Of work that another process takes over then. @param until epoch milliseconds */
export const deadlineAt = (until: number, clock: { now(): number }): Deadline => ({
  leftMs: () => Math.max(0, until - clock.now()),
  handOver: () => clock.now() < until,
});

const RETRY_S = 1;

export const tooLate = (): Refusal =>
  refusal('service_unavailable', 'This could not be done in time, and had no effect.', {
    retryAfterS: RETRY_S,
  });

/** @throws Refusal when the caller has gone */
export function requireTime(deadline: Deadline): void {
  if (deadline.leftMs() <= 0) throw tooLate();
}

/** Ends a little before another one, so that there is time left to say what came of it. */
export function within(
  outer: Deadline,
  marginMs: number,
): Deadline & { readonly doubt: () => InDoubt | null } {
  let handed: InDoubt | null = null;
  const leftMs = () => Math.max(0, outer.leftMs() - marginMs);
  return {
    leftMs,
    handOver(doubt) {
      if (leftMs() <= 0 || !outer.handOver(doubt)) return false;
      handed = doubt;
      return true;
    },
    doubt: () => handed,
  };
}

// A deadline for every request. When it passes, the answer goes out while the handler still waits: 503 while
// nothing was handed to a venue, else that the outcome is unknown. What the handler does afterwards reaches no caller, so
// it looks at the same deadline before it lets anything happen.

declare module 'fastify' {
  interface FastifyRequest {
    deadline: RequestDeadline | null;
  }
}

/** A longer deadline is looked after so often: no request waits for a database that is away. */
const LOOK_AGAIN_MS = 1_000;
const UNKNOWN_RETRY_S = 2;

interface DeadlineOptions {
  readonly firstLooks: FirstLooks;
  /** Where a route needs more: it asks services elsewhere. */
  readonly ownMs: number | undefined;
  readonly isDatabaseAway: () => boolean;
}

/**
 * The first look at each request's deadline. All are due after the same time, so in the order in which the requests came:
 * one timer, for the oldest, serves them all.
 */
export class FirstLooks {
  /** Deadline of most routes. */
  readonly afterMs: number;
  readonly #waiting = new Map<RequestDeadline, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(afterMs: number) {
    this.afterMs = afterMs;
  }

  add(deadline: RequestDeadline, now: number): void {
    this.#waiting.set(deadline, now + this.afterMs);
    this.#timer ??= this.#wake(this.afterMs);
  }

  remove(deadline: RequestDeadline): void {
    this.#waiting.delete(deadline);
  }

  #wake(inMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = null;
      this.#lookAtOldest();
    }, inMs).unref();
  }

  #lookAtOldest(): void {
    const now = performance.now();
    for (const [deadline, at] of this.#waiting) {
      if (at > now) {
        this.#timer = this.#wake(at - now);
        return;
      }
      this.#waiting.delete(deadline);
      deadline.look();
    }
  }
}

export class RequestDeadline implements Deadline {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #spanMs: number;
  #end: number;
  readonly #options: DeadlineOptions;
  #doubt: InDoubt | null = null;
  #isOver = false;
  #timer: NodeJS.Timeout | null = null;
  /** The server's own time limit for what a client sends applies meanwhile. */
  #waitsForBody = false;
  #missedLook = false;

  constructor(request: FastifyRequest, reply: FastifyReply, options: DeadlineOptions) {
    const { firstLooks, ownMs = 0 } = options;
    const now = performance.now();
    this.#request = request;
    this.#reply = reply;
    this.#options = options;
    this.#spanMs = Math.max(firstLooks.afterMs, ownMs);
    this.#end = now + this.#spanMs;
    firstLooks.add(this, now);
  }

  /** The answer is gone, or the caller has gone. */
  end(): void {
    this.#options.firstLooks.remove(this);
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  leftMs(): number {
    return this.#isOver ? 0 : Math.max(0, this.#end - performance.now());
  }

  handOver(doubt: InDoubt): boolean {
    if (this.leftMs() <= 0) return false;
    this.#doubt = doubt;
    return true;
  }

  /** Whether the answer is gone already. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** A client that sends slowly takes no time from the work that follows, and is no fault of the service. */
  waitForBody(): void {
    this.#waitsForBody = true;
  }

  bodyArrived(): void {
    if (!this.#waitsForBody) return;
    this.#waitsForBody = false;
    this.#end = performance.now() + this.#spanMs;
    if (this.#missedLook) this.look();
  }

  /** Answers when the time is up. */
  look(): void {
    if (this.#waitsForBody) {
      this.#missedLook = true;
      return;
    }
    const left = this.#end - performance.now();
    if (left > 0 && !this.#options.isDatabaseAway()) {
      this.#timer = setTimeout(() => this.look(), Math.min(left, LOOK_AGAIN_MS));
      return;
    }
    this.#isOver = true;
    const reply = this.#reply;
    if (!reply.sent && !reply.raw.headersSent) answer(this.#request, reply, this.#doubt);
  }
}

export const deadlineOf = (request: FastifyRequest): Deadline => request.deadline ?? ENDLESS;

function answer(request: FastifyRequest, reply: FastifyReply, doubt: InDoubt | null): void {
  const isWhole = request.raw.complete;
  const problem =
    doubt === null
      ? problemOf(request, 'service_unavailable', { detail: 'This could not be done in time.' })
      : problemOf(request, doubt.code, {
          detail: 'There was no proof in time of what became of this; the desk goes on asking.',
          ...(doubt.orderId === undefined ? {} : { orderId: doubt.orderId }),
        });
  // Past every hook: one of them may be what hangs.
  reply.hijack();
  const body = JSON.stringify(problem);
  const headers: Record<string, number | string | string[] | undefined> = {
    ...reply.getHeaders(),
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    'retry-after': doubt === null ? RETRY_S : UNKNOWN_RETRY_S,
    ...(isWhole ? {} : { connection: 'close' }),
  };
  reply.raw.writeHead(problem.status, headers);
  reply.raw.end(body);
  ignoreLater(reply);
}

/**
 * A request has one answer. What the handler still sends reaches no caller, and is no fault: neither the framework nor the
 * connection may take it for a second answer, which they would write into the log or throw.
 */
function ignoreLater(reply: FastifyReply): void {
  const { raw } = reply;
  reply.send = () => reply;
  reply.log = reply.log.child({}, { level: 'silent' });
  raw.writeHead = () => raw;
  raw.write = () => true;
  raw.end = () => raw;
}
