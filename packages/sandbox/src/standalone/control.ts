/**
 * `/paper/faults` of the standalone exchange: reads and sets the venue's faults while it runs. It exists only with PAPER_CONTROL_KEY,
 * and asks for that key, because the holder of that key decides what every other client meets.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import {
  type DoorGuard,
  guardDoor,
  NulInUrl,
  sayWhen,
  TooManyRequests,
} from '@bellwether/exchange/doors/limits';
import { type Faults, readFaultPlan } from '@bellwether/exchange/doors/polymarket';
import type { FastifyError, FastifyInstance } from 'fastify';

export const CONTROL_PATH = '/paper/faults';

export interface ControlOptions {
  readonly faults: Faults;
  readonly key: string;
  readonly guard: DoorGuard;
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

export async function controlDoor(
  door: FastifyInstance,
  { faults, key, guard }: ControlOptions,
): Promise<void> {
  guardDoor(door, guard);
  door.setErrorHandler((error: FastifyError | TooManyRequests | NulInUrl, _request, reply) => {
    if (error instanceof TooManyRequests) return sayWhen(reply, error).send({ error: error.message });
    const status = error instanceof NulInUrl ? 400 : (error.statusCode ?? 500);
    return reply.code(status).send({ error: status < 500 ? error.message : 'internal error' });
  });
  const wanted = hashOf(`Bearer ${key}`);
  door.addHook('onRequest', async (request, reply) => {
    const isKey = timingSafeEqual(hashOf(request.headers.authorization ?? ''), wanted);
    return isKey
      ? undefined
      : reply.code(401).send({ error: 'Authorization: Bearer with PAPER_CONTROL_KEY' });
  });
  const state = () => ({ plan: faults.plan, now: faults.mode() });
  door.get(CONTROL_PATH, state);
  door.put(CONTROL_PATH, (request, reply) => {
    try {
      faults.set(readFaultPlan(request.body));
    } catch (error) {
      return reply.code(422).send({ error: `${(error as Error).message}.` });
    }
    return reply.send(state());
  });
}
