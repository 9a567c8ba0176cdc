/**
 * The exchange's door for the venue's own clients: the CLOB's REST interface in the venue's wire protocol. It does not use
 * the desk's agents; clients authenticate as at the venue.
 *
 * Register it with Fastify under a prefix of your choice. Everything it sets (parser, error shape) stays inside.
 */
import type { FastifyError, FastifyInstance, FastifyPluginAsync } from 'fastify';
import { guardDoor, NulInUrl, sayWhen, TooManyRequests } from '../limits.ts';
import { absentRoutes } from './absent-routes.ts';
import { accountRoutes } from './account-routes.ts';
import { authRoutes } from './auth-routes.ts';
import { balanceRoutes } from './balance-routes.ts';
import { cancelRoutes } from './cancel-routes.ts';
import { DelayedOrders } from './delayed-orders.ts';
import type { PolymarketDoorOptions } from './door-options.ts';
import { injectFaults } from './fault-hooks.ts';
import { l2Of } from './l2-auth.ts';
import { liveActivityRoutes } from './live-activity.ts';
import { marketPageRoutes } from './market-pages.ts';
import { marketRoutes } from './market-routes.ts';
import { orderRoutes } from './order-routes.ts';
import { ownOrderRoutes } from './own-orders.ts';
import { ownTradeRoutes } from './own-trades.ts';
import { priceHistoryRoutes } from './price-history-routes.ts';
import { priceRoutes } from './price-routes.ts';
import { SignerLimits, TooManyOrders } from './signer-limits.ts';
import { EngineRestarts, WireError } from './wire-error.ts';

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
  const l2 = l2Of(mount, options);
  const limits = new SignerLimits(options.limitsSigners ? options.now : null);
  authRoutes(door, l2, options);
  marketRoutes(door, options);
  const delayed = new DelayedOrders(options.faults);
  door.addHook('onClose', async () => delayed.close());
  orderRoutes(door, l2, { options, limits, delayed });
  cancelRoutes(door, l2, { options, limits });
  ownOrderRoutes(door, l2, { ...options, delayed });
  ownTradeRoutes(door, l2, options);
  balanceRoutes(door, l2, options);
  accountRoutes(door, l2, { options, limits });
  marketPageRoutes(door, options);
  priceRoutes(door, options);
  priceHistoryRoutes(door, options);
  liveActivityRoutes(door, options);
  absentRoutes(door, l2);
};

/** HMACs cover the exact text, and the venue's client sends a JSON content type with empty bodies. */
function acceptAnyBodyAsText(door: FastifyInstance): void {
  door.removeAllContentTypeParsers();
  door.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_LIMIT_BYTES }, (_request, body, done) =>
    done(null, body),
  );
}

function answerErrorsAsTheVenue(door: FastifyInstance): void {
  type Fault = FastifyError | WireError | EngineRestarts | TooManyRequests | NulInUrl;
  door.setErrorHandler((error: Fault, request, reply) => {
    if (error instanceof EngineRestarts)
      return reply.code(425).header('retry-after', String(error.retryAfterS)).send();
    if (error instanceof TooManyOrders) reply.header('retry-after', String(error.retryAfterS));
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
