/**
 * The exchange's doors for the venue's own clients: the CLOB's REST interface and WebSockets in the venue's wire
 * protocol. They do not use the desk's agents; clients authenticate as at the venue. Register them with Fastify under a
 * prefix of your choice. Everything they set (parser, error shape) stays inside.
 */
import type {
  FastifyError,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
} from 'fastify';
import { type Guarded, guardDoor, NulInUrl, sayWhen, TooManyRequests } from '../limits.ts';
import { type Relay, type SocketBounds, Sockets, socketRoute } from '../web-sockets.ts';
import { accountRoutes } from './account-routes.ts';
import { authRoutes, type L2, l2Of } from './authentication.ts';
import { balanceRoutes } from './balances.ts';
import { injectFaults } from './faults.ts';
import { MarketFeed } from './market-feed.ts';
import {
  liveActivityRoutes,
  marketPageRoutes,
  marketRoutes,
  priceHistoryRoutes,
  priceRoutes,
} from './market-routes.ts';
import { cancelRoutes, DelayedOrders, orderRoutes } from './order-routes.ts';
import { ownOrderRoutes, ownTradeRoutes } from './own-orders.ts';
import { END_CURSOR, EngineRestarts, type PolymarketDoorOptions, WireError } from './requests.ts';
import { SignerLimits, TooManyOrders } from './signer-limits.ts';
import { UserFeed, type UserFeedOptions } from './user-feed.ts';

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

// The venue's WebSockets: `/market` and `/user`, below a prefix of the embedder's choice. Wire reference 4.

export interface SocketDoorOptions extends UserFeedOptions {
  readonly guard: Guarded;
  readonly bounds?: SocketBounds;
  readonly relay?: Relay;
}

export const polymarketSocketDoor: FastifyPluginAsync<SocketDoorOptions> = async (door, options) => {
  const { guard, bounds, relay } = options;
  guardDoor(door, guard);
  door.setErrorHandler((error: Error & { readonly statusCode?: number }, _request, reply) => {
    if (error instanceof TooManyRequests) return sayWhen(reply, error).send({ error: error.message });
    const status = error instanceof NulInUrl ? 400 : (error.statusCode ?? 500);
    return reply.code(status).send({ error: status < 500 ? error.message : 'internal error' });
  });
  const sockets = new Sockets(bounds);
  const markets = new MarketFeed(options);
  const users = new UserFeed(options);
  const route = { guard, sockets, relay };
  socketRoute(door, '/market', { ...route, open: (peer, charge) => markets.open(peer, charge) });
  socketRoute(door, '/user', { ...route, open: (peer, charge) => users.open(peer, charge) });
};

// Routes that the paper venue does not have: liquidity rewards, requests for quotes, builder programmes, orders of before a
// migration. Reads say in the client's own shape that there is nothing, and what would make something is refused: a 404 is
// taken for success by some clients, and for a fault of the network by others.

const PAGE_ROWS = 100;
const NO_ROWS = { limit: PAGE_ROWS, count: 0, next_cursor: END_CURSOR, data: [] };
const NO_QUOTES = { ...NO_ROWS, total_count: 0 };

const refuse =
  (what: string, fields: Readonly<Record<string, unknown>> = {}) =>
  async (): Promise<never> => {
    throw new WireError(400, `${what} not supported by the paper venue`, fields);
  };

function absentRoutes(door: FastifyInstance, l2: L2): void {
  const publicRead = (path: string, nothing: unknown): void => {
    door.get(path, (_request, reply) => reply.send(nothing));
  };
  const ownRead = (path: string, nothing: unknown): void => {
    door.get(path, async (request, reply) => {
      await l2.reader(request);
      return reply.send(nothing);
    });
  };

  for (const path of ['/rewards/markets/current', '/rewards/markets/multi', '/rewards/markets/:conditionId'])
    publicRead(path, NO_ROWS);
  publicRead('/rebates/current', []);
  ownRead('/rewards/user', NO_ROWS);
  ownRead('/rewards/user/markets', NO_ROWS);
  ownRead('/rewards/user/total', []);
  ownRead('/rewards/user/percentages', {});
  ownRead('/data/pre-migration-orders', NO_ROWS);
  builderRoutes(door, l2);
  quoteRoutes(door, l2);
}

function builderRoutes(door: FastifyInstance, l2: L2): void {
  // Client 1 authenticates it as a builder, client 2 not at all: there is nothing to protect.
  door.get('/builder/trades', (_request, reply) => reply.send(NO_ROWS));
  door.get('/auth/builder-api-key', async (request, reply) => {
    await l2.reader(request);
    return reply.send([]);
  });
  for (const method of ['POST', 'DELETE'] as const)
    door.route({
      method,
      url: '/auth/builder-api-key',
      preHandler: async (request) => void (await l2.key(request)),
      handler: refuse('builder keys are'),
    });
  // The venue answers 404 for an unknown code, and its client 2 then computes with what is no number: no builder takes fees here.
  door.get('/fees/builder-fees/:code', (_request, reply) =>
    reply.send({ builder_maker_fee_rate_bps: 0, builder_taker_fee_rate_bps: 0 }),
  );
}

function quoteRoutes(door: FastifyInstance, l2: L2): void {
  const read = (path: string, nothing: unknown): void => {
    door.get(path, async (request: FastifyRequest, reply: FastifyReply) => {
      await l2.reader(request);
      return reply.send(nothing);
    });
  };
  for (const path of ['/rfq/data/requests', '/rfq/data/requester/quotes', '/rfq/data/quoter/quotes'])
    read(path, NO_QUOTES);
  read('/rfq/data/best-quote', null);
  read('/rfq/config', { enabled: false });
  const writes = [
    ['POST', '/rfq/request'],
    ['DELETE', '/rfq/request'],
    ['POST', '/rfq/quote'],
    ['DELETE', '/rfq/quote'],
    ['POST', '/rfq/request/accept'],
    ['POST', '/rfq/quote/approve'],
  ] as const;
  for (const [method, url] of writes)
    door.route({
      method,
      url,
      preHandler: async (request) => void (await l2.key(request)),
      handler: refuse('requests for quotes are', { requestId: '', quoteId: '' }),
    });
}
