/**
 * The door of venue A's data API: positions, trades, activity, holders. It reads and has no keys; whose data it shows is
 * public at the venue, too. Positions change with the exchange, trades appear once they have a transaction. Wire reference 3.
 *
 * Register it with Fastify under a prefix of your choice.
 */
import { randomUUID } from 'node:crypto';
import type { FastifyError, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { guardDoor, NulInUrl, sayWhen, TooManyRequests } from '../limits.ts';
import { type DataDoorOptions, Reads } from './reads.ts';
import { DataError } from './requests.ts';
import { v1Routes } from './v1-routes.ts';
import { v2Routes } from './v2-routes.ts';

interface DoorRefusal {
  readonly status: number;
  readonly code: string;
  readonly text: string;
  readonly parameter?: string | undefined;
}

/** By its name: a door imports no code of the exchange. */
const isUnavailable = (error: Error): boolean => error.name === 'ExchangeUnavailable';

function refusalOf(error: FastifyError | Error): DoorRefusal {
  if (error instanceof DataError)
    return { status: error.status, code: error.code, text: error.message, parameter: error.parameter };
  if (error instanceof TooManyRequests) return { status: 429, code: 'rate_limited', text: error.message };
  if (isUnavailable(error))
    return { status: 503, code: 'dependency_unavailable', text: 'the exchange is not open' };
  const status = error instanceof NulInUrl ? 400 : ((error as FastifyError).statusCode ?? 500);
  if (status < 500) return { status, code: 'invalid_request', text: error.message };
  return { status: 500, code: 'internal', text: 'internal error' };
}

const RETRY_AFTER_S = 1;

export const dataDoor: FastifyPluginAsync<DataDoorOptions> = async (door, options) => {
  const isV2 = ({ url }: FastifyRequest): boolean => url.slice(door.prefix.length).startsWith('/v2');
  const answer = (request: FastifyRequest, reply: FastifyReply, refusal: DoorRefusal): FastifyReply => {
    const { status, code, text, parameter } = refusal;
    if (!isV2(request)) return reply.code(status).send({ error: text });
    return reply.code(status).send({
      ...{ error: text, code, retryable: status === 429 || status === 503, trace_id: randomUUID() },
      ...(parameter === undefined ? {} : { parameter }),
    });
  };

  guardDoor(door, options.guard);
  door.setErrorHandler((error: FastifyError | Error, request, reply) => {
    const refusal = refusalOf(error);
    if (error instanceof TooManyRequests) sayWhen(reply, error);
    if (refusal.status === 503) reply.header('retry-after', String(RETRY_AFTER_S));
    if (refusal.status === 500) request.log.error({ err: error }, 'the data door failed');
    return answer(request, reply, refusal);
  });
  if (door.prefix !== '')
    door.setNotFoundHandler((request, reply) =>
      answer(request, reply, { status: 404, code: 'not_found', text: 'not found' }),
    );
  const reads = new Reads(options);
  v2Routes(door, reads);
  v1Routes(door, reads);
};
