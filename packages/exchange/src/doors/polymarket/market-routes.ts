/** The venue's public market data. Wire reference 2.9. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { BookView, MarketView, Outcome } from '../../index.ts';
import { bodyText } from './auth-routes.ts';
import type { MarketReads } from './door.ts';
import {
  wireBook,
  wireFeeRate,
  wireLastTrade,
  wireMarket,
  wireMidpoint,
  wireNegRisk,
  wirePrice,
  wireSpread,
  wireTickSize,
} from './wire.ts';
import { noOrderbook, WireError } from './wire-error.ts';

const MAX_BOOKS = 500;
const TOKEN_ID = /^[0-9]{1,78}$/;

interface Listed {
  readonly market: MarketView;
  readonly outcome: Outcome;
}

function parameter(request: FastifyRequest, name: string): string {
  const value = (request.query as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : '';
}

export function marketRoutes(door: FastifyInstance, exchange: MarketReads): void {
  const tokenParameter = (request: FastifyRequest): string => {
    const tokenId = parameter(request, 'token_id');
    if (!TOKEN_ID.test(tokenId)) throw new WireError(400, 'Invalid token id');
    return tokenId;
  };

  const listed = (request: FastifyRequest, unknown = 'market not found'): Listed => {
    const found = exchange.marketByToken(tokenParameter(request));
    if (found === undefined) throw new WireError(404, unknown);
    return found;
  };

  /** A closed market has no book on the wire. */
  const bookOf = (tokenId: string): (Listed & { readonly book: BookView }) | undefined => {
    const found = exchange.marketByToken(tokenId);
    if (found === undefined || found.market.status !== 'open') return undefined;
    const book = exchange.book(found.market.conditionId, found.outcome);
    return book === undefined ? undefined : { ...found, book };
  };

  const requireBook = (request: FastifyRequest): Listed & { readonly book: BookView } => {
    const found = bookOf(tokenParameter(request));
    if (found === undefined) throw noOrderbook();
    return found;
  };

  /** One-sided books have no midpoint, spread or price; the venue does not say what it answers then. */
  const orNoOrderbook = <T>(answer: T | null): T => {
    if (answer === null) throw noOrderbook();
    return answer;
  };

  door.get('/tick-size', (request, reply) => reply.send(wireTickSize(listed(request).market)));
  door.get('/neg-risk', (request, reply) => reply.send(wireNegRisk(listed(request).market)));
  door.get('/fee-rate', (request, reply) =>
    reply.send(wireFeeRate(listed(request, 'fee rate not found for market').market)),
  );

  door.get('/book', (request, reply) => {
    const { market, outcome, book } = requireBook(request);
    return reply.send(wireBook(market, outcome, book));
  });

  door.post('/books', (request, reply) => {
    const answer = [];
    for (const tokenId of requestedTokens(bodyText(request))) {
      const found = bookOf(tokenId);
      // Unknown tokens are dropped without a word, as the venue does.
      if (found !== undefined) answer.push(wireBook(found.market, found.outcome, found.book));
    }
    return reply.send(answer);
  });

  door.get('/midpoint', (request, reply) =>
    reply.send(orNoOrderbook(wireMidpoint(requireBook(request).book))),
  );
  door.get('/spread', (request, reply) => reply.send(orNoOrderbook(wireSpread(requireBook(request).book))));
  door.get('/last-trade-price', (request, reply) => reply.send(wireLastTrade(requireBook(request).book)));

  door.get('/price', (request, reply) => {
    const side = parameter(request, 'side').toUpperCase();
    if (side !== 'BUY' && side !== 'SELL') throw new WireError(400, 'Invalid side');
    return reply.send(orNoOrderbook(wirePrice(requireBook(request).book, side)));
  });

  door.get<{ Params: { conditionId: string } }>('/markets/:conditionId', (request, reply) => {
    const market = exchange.market(request.params.conditionId);
    if (market === undefined) throw new WireError(404, 'market not found');
    return reply.send(wireMarket(market));
  });
}

function requestedTokens(body: string): readonly string[] {
  let payload: unknown;
  try {
    payload = JSON.parse(body);
  } catch {
    throw new WireError(400, 'Invalid payload');
  }
  if (!Array.isArray(payload)) throw new WireError(400, 'Invalid payload');
  if (payload.length > MAX_BOOKS) throw new WireError(400, 'Payload exceeds the limit');
  return payload.map((entry: unknown) => {
    const tokenId = (entry as { token_id?: unknown } | null)?.token_id;
    if (typeof tokenId !== 'string' || !TOKEN_ID.test(tokenId)) throw new WireError(400, 'Invalid payload');
    return tokenId;
  });
}
