/**
 * Steps of a request as the framework's hooks. Nearly every step is done when it returns; a hook that is an async
 * function would cost each request a promise and a turn of the microtask queue all the same.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The reply when the step has answered, else nothing: the request goes on. */
type StepOutcome = FastifyReply | undefined;
export type Step = (request: FastifyRequest, reply: FastifyReply) => StepOutcome | Promise<StepOutcome>;

/** Any hook that has no payload. */
export type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

export const asHook =
  (step: Step): Hook =>
  (request, reply, done) => {
    const outcome = step(request, reply);
    // The framework waits for a promise that a hook returns, and for `done` where it returns none.
    if (outcome instanceof Promise) return outcome;
    if (outcome === undefined) done();
    return undefined;
  };
