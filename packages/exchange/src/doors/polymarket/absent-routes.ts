/**
 * Routes that the paper venue does not have: liquidity rewards, requests for quotes, builder programmes, orders of before a
 * migration. Reads say in the client's own shape that there is nothing, and what would make something is refused: a 404 is
 * taken for success by some clients, and for a fault of the network by others.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { L2 } from './l2-auth.ts';
import { END_CURSOR } from './page-cursor.ts';
import { WireError } from './wire-error.ts';

const PAGE_ROWS = 100;
const NO_ROWS = { limit: PAGE_ROWS, count: 0, next_cursor: END_CURSOR, data: [] };
const NO_QUOTES = { ...NO_ROWS, total_count: 0 };

const refuse =
  (what: string, fields: Readonly<Record<string, unknown>> = {}) =>
  async (): Promise<never> => {
    throw new WireError(400, `${what} not supported by the paper venue`, fields);
  };

export function absentRoutes(door: FastifyInstance, l2: L2): void {
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
