/** The buckets of the paper doors: one for an address, whichever replica it asks. */
import type { FastifyRequest } from 'fastify';
import { addressOf } from './addresses.ts';
import type { RateLimits } from './rate-limits.ts';

const RATE_CLASS = 'door';

export function createDoorGuard(rateLimits: RateLimits) {
  /** @returns seconds to wait; 0: go on */
  const draw = async (request: FastifyRequest, tokens: number): Promise<number> => {
    // More than a bucket holds would never be there.
    const wanted = Math.min(Math.ceil(tokens), rateLimits.policy(RATE_CLASS)?.burst ?? 0);
    if (wanted <= 0) return 0;
    const answer = await rateLimits.draw(RATE_CLASS, addressOf(request), wanted);
    return answer === null || answer.allowed ? 0 : answer.retryAfterS;
  };
  return {
    // The replica that took the request has drawn for it.
    admit: async (request: FastifyRequest) => (request.vouchedAddress === null ? draw(request, 1) : 0),
    charge: draw,
    sourceOf: addressOf,
  };
}
