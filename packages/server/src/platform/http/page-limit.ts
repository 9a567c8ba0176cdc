/** Pages need no key, so their readers are limited by address. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addressOf } from './addresses.ts';
import { sendProblem } from './problem.ts';
import type { Gate } from './routes.ts';

export const limitPages =
  ({ rateLimits }: Pick<Gate, 'rateLimits'>) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const draw = await rateLimits.draw('read', addressOf(request));
    if (draw === null || draw.allowed) return undefined;
    return sendProblem(request, reply, 'rate_limited', { retryAfterS: draw.retryAfterS });
  };
