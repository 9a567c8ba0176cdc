/**
 * The door of venue A's catalogue: events, markets, tags and the search, derived from what the exchange lists. It reads
 * and has no keys. Wire reference 1.
 *
 * Register it with Fastify under a prefix of your choice.
 */
import type { FastifyError, FastifyPluginAsync } from 'fastify';
import { type Guarded, guardDoor, NulInUrl, sayWhen, TooManyRequests } from '../limits.ts';
import { type CatalogueReads, Directory } from './directory.ts';
import { GammaError } from './gamma-error.ts';
import { listRoutes } from './list-routes.ts';
import { recordRoutes } from './record-routes.ts';

export interface GammaDoorOptions {
  /** `undefined` while another process leads the exchange. */
  readonly exchange: () => CatalogueReads | undefined;
  readonly guard: Guarded;
}

/** How long the venue's own caches keep an answer. */
const CACHE_CONTROL = 'public, max-age=300';

export const gammaDoor: FastifyPluginAsync<GammaDoorOptions> = async (door, { exchange, guard }) => {
  let directory: Directory | undefined;
  const current = (): Directory => {
    const open = exchange();
    if (open === undefined) throw new GammaError(503, 'service unavailable', 'the exchange is not open here');
    if (directory?.covers(open) !== true) directory = new Directory(open, directory);
    return directory;
  };

  guardDoor(door, guard);
  door.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode === 200) reply.header('cache-control', CACHE_CONTROL);
  });
  door.setErrorHandler((error: FastifyError | GammaError | TooManyRequests | NulInUrl, request, reply) => {
    if (error instanceof GammaError)
      return reply.code(error.status).send({ type: error.type, error: error.message });
    if (error instanceof TooManyRequests)
      return sayWhen(reply, error).send({ type: 'rate limit error', error: error.message });
    const status = error instanceof NulInUrl ? 400 : (error.statusCode ?? 500);
    if (status < 500) return reply.code(status).send({ type: 'validation error', error: error.message });
    request.log.error({ err: error }, 'the catalogue’s door failed');
    return reply.code(500).send({ type: 'internal error', error: 'internal error' });
  });
  if (door.prefix !== '')
    door.setNotFoundHandler((_request, reply) =>
      reply.code(404).send({ type: 'not found error', error: 'not found' }),
    );
  listRoutes(door, { directory: current, guard });
  recordRoutes(door, { directory: current, guard });
};
