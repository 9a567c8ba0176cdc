/** The venue's WebSockets: `/market` and `/user`, below a prefix of the embedder's choice. Wire reference 4. */
import type { FastifyPluginAsync } from 'fastify';
import { type Guarded, guardDoor, NulInUrl, sayWhen, TooManyRequests } from '../limits.ts';
import { type Relay, type SocketBounds, Sockets, socketRoute } from '../web-sockets.ts';
import { MarketFeed } from './market-feed.ts';
import { UserFeed, type UserFeedOptions } from './user-feed.ts';

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
