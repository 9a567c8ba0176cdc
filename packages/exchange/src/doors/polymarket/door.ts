/**
 * The exchange's door for the venue's own clients: keys and market reads in the venue's wire protocol. It does not use
 * the desk's agents; clients authenticate as at the venue.
 *
 * Register it with Fastify under a prefix of your choice. Everything it sets (parser, error shape) stays inside.
 */
import type { FastifyError, FastifyInstance, FastifyPluginAsync } from 'fastify';
import { guardDoor, NulInUrl, sayWhen, TooManyRequests } from '../limits.ts';
import { authRoutes } from './auth-routes.ts';
import type { PolymarketDoorOptions } from './door-options.ts';
import { injectFaults } from './fault-hooks.ts';
import { marketRoutes } from './market-routes.ts';
import { WireError } from './wire-error.ts';

const BODY_LIMIT_BYTES = 64 * 1024;

export const polymarketDoor: FastifyPluginAsync<PolymarketDoorOptions> = async (door, options) => {
  const mount = door.prefix;
  acceptAnyBodyAsText(door);
  answerErrorsAsTheVenue(door);
  guardDoor(door, options.guard);
  if (options.faults !== undefined) injectFaults(door, mount, options.faults);

  const { orderVersion } = options;
  const ok = '"OK"';
  // The official client's getOk() requests the root.
  for (const path of ['/', '/ok'])
    door.get(path, (_request, reply) => reply.type('application/json').send(ok));
  door.get('/time', (_request, reply) =>
    reply.type('application/json').send(String(Math.floor(options.now() / 1000))),
  );
  door.get('/version', (_request, reply) => reply.send({ version: orderVersion }));

  // Without a prefix the embedder's own not-found answer applies.
  if (mount !== '')
    door.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not found' }));
  authRoutes(door, mount, options);
  marketRoutes(door, options);
};

/** HMACs cover the exact text, and the venue's client sends a JSON content type with empty bodies. */
function acceptAnyBodyAsText(door: FastifyInstance): void {
  door.removeAllContentTypeParsers();
  door.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_LIMIT_BYTES }, (_request, body, done) =>
    done(null, body),
  );
}

function answerErrorsAsTheVenue(door: FastifyInstance): void {
  door.setErrorHandler((error: FastifyError | WireError | TooManyRequests | NulInUrl, request, reply) => {
    if (error instanceof WireError)
      return reply.code(error.status).send({ error: error.message, ...error.details });
    if (error instanceof TooManyRequests) return sayWhen(reply, error).send({ error: error.message });
    if (error instanceof NulInUrl) return reply.code(400).send({ error: error.message });
    const status = error.statusCode ?? 500;
    if (status === 413) return reply.code(413).send({ error: 'Payload exceeds the limit' });
    if (status < 500) return reply.code(status).send({ error: 'Invalid payload' });
    request.log.error({ err: error }, 'the venue door failed');
    return reply.code(500).send({ error: 'internal error' });
  });
}
