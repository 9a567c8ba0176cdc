/** The buckets of the paper doors: one for an address, whichever replica it asks. */
import type { FastifyRequest } from 'fastify';
import type { RateLimits } from '../app/rate-limits.ts';
import { type ReplicaDoor, sentByReplica } from './replicas.ts';

const RATE_CLASS = 'door';

interface Parts {
  readonly replicas: ReplicaDoor;
  readonly rateLimits: RateLimits;
  /** What one caller holds of the address that it asks from. */
  readonly networkOf: (ip: string) => string;
}

export function createDoorGuard({ replicas, rateLimits, networkOf }: Parts) {
  const sourceOf = (request: FastifyRequest): string =>
    networkOf(sentByReplica(request, replicas) ?? request.ip);
  /** @returns seconds to wait; 0: go on */
  const draw = async (source: string, tokens: number): Promise<number> => {
    // More than a bucket holds would never be there.
    const wanted = Math.min(Math.ceil(tokens), rateLimits.policy(RATE_CLASS)?.burst ?? 0);
    for (let drawn = 0; drawn < wanted; drawn += 1) {
      const answer = await rateLimits.draw(RATE_CLASS, source);
      if (answer !== null && !answer.allowed) return answer.retryAfterS;
    }
    return 0;
  };
  return {
    // The replica that took the request has drawn for it.
    admit: (request: FastifyRequest) =>
      sentByReplica(request, replicas) === null ? draw(sourceOf(request), 1) : 0,
    charge: (request: FastifyRequest, tokens: number) => draw(sourceOf(request), tokens),
    sourceOf,
  };
}
