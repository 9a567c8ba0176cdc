/** The venue's public market data. Wire reference 2.9. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { BookView, MarketView, Outcome } from '../../paper-exchange.ts';
import { charge, ENTRIES_PER_TOKEN } from '../limits.ts';
import type { PolymarketDoorOptions } from './door-options.ts';
import { bodyText } from './l2-auth.ts';
import { openHere } from './open-here.ts';
import { jsonOf, parameter } from './request-parts.ts';
import { StaleBooks } from './stale-books.ts';
import {
  wireBook,
  wireCompactMarket,
  wireFeeRate,
  wireLastTrade,
  wireMarket,
  wireMarketOfToken,
  wireMidpoint,
  wireNegRisk,
  wirePrice,
  wireSpread,
  wireTickSize,
} from './wire.ts';
import { invalidPayload, noOrderbook, tooLarge, WireError } from './wire-error.ts';

const MAX_BOOKS = 500;
/** Most books of one answer; a request for more gets the venue's own refusal. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
const TOKEN_ID = /^[0-9]{1,78}$/;

interface ListedPage {
  readonly market: MarketView;
  readonly outcome: Outcome;
}

export function marketRoutes(
  door: FastifyInstance,
  options: Pick<PolymarketDoorOptions, 'exchange' | 'guard' | 'faults'>,
): void {
  const { guard } = options;
  const stale = new StaleBooks(options.faults);
  const tokenParameter = (request: FastifyRequest): string => {
    const { tokenId = parameter(request, 'token_id') } = request.params as { readonly tokenId?: string };
    if (!TOKEN_ID.test(tokenId)) throw new WireError(400, 'Invalid token id');
    return tokenId;
  };

  const listed = (request: FastifyRequest, unknown = 'market not found'): ListedPage => {
    const found = openHere(options).marketByToken(tokenParameter(request));
    if (found === undefined) throw new WireError(404, unknown);
    return found;
  };

  /** A closed market has no book on the wire. */
  const bookOf = (tokenId: string): (ListedPage & { readonly book: BookView }) | undefined => {
    const exchange = openHere(options);
    const found = exchange.marketByToken(tokenId);
    if (found === undefined || found.market.status !== 'open') return undefined;
    const { market, outcome } = found;
    const book = exchange.book(market.conditionId, outcome);
    return book === undefined
      ? undefined
      : { market, outcome, book: stale.show(market.conditionId, outcome, book) };
  };

  const requireBook = (request: FastifyRequest): ListedPage & { readonly book: BookView } => {
    const found = bookOf(tokenParameter(request));
    if (found === undefined) throw noOrderbook();
    return found;
  };

  /** One-sided books have no midpoint, spread or price; the venue does not document its answer for them. */
  const orNoOrderbook = <T>(answer: T | null): T => {
    if (answer === null) throw noOrderbook();
    return answer;
  };

  // Some clients name the token in the path.
  for (const token of ['', '/:tokenId']) {
    door.get(`/tick-size${token}`, (request, reply) => reply.send(wireTickSize(listed(request).market)));
    door.get(`/neg-risk${token}`, (request, reply) => reply.send(wireNegRisk(listed(request).market)));
    door.get(`/fee-rate${token}`, (request, reply) =>
      reply.send(wireFeeRate(listed(request, 'fee rate not found for market').market)),
    );
  }

  door.get('/book', (request, reply) => {
    const { market, outcome, book } = requireBook(request);
    return reply.send(wireBook(market, outcome, book));
  });

  door.post('/books', async (request, reply) => {
    const tokens = requestedTokens(bodyText(request));
    await charge(guard, request, tokens.length / ENTRIES_PER_TOKEN);
    const books: string[] = [];
    let bytes = 0;
    // Each book is returned once.
    for (const tokenId of new Set(tokens)) {
      const found = bookOf(tokenId);
      // Unknown tokens are dropped silently, as at the venue.
      if (found === undefined) continue;
      const text = JSON.stringify(wireBook(found.market, found.outcome, found.book));
      bytes += text.length;
      if (bytes > MAX_ANSWER_BYTES) throw tooLarge();
      books.push(text);
    }
    return reply.type('application/json').send(`[${books.join(',')}]`);
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

  const marketOf = (conditionId: string): MarketView => {
    const market = openHere(options).market(conditionId.toLowerCase());
    if (market === undefined) throw new WireError(404, 'market not found');
    return market;
  };
  type OfMarket = { Params: { conditionId: string } };
  door.get<OfMarket>('/markets/:conditionId', (request, reply) =>
    reply.send(wireMarket(marketOf(request.params.conditionId))),
  );
  door.get<OfMarket>('/clob-markets/:conditionId', (request, reply) =>
    reply.send(wireCompactMarket(marketOf(request.params.conditionId))),
  );
  door.get<{ Params: { tokenId: string } }>('/markets-by-token/:tokenId', (request, reply) => {
    const { tokenId } = request.params;
    if (!TOKEN_ID.test(tokenId)) throw new WireError(400, 'Invalid token id');
    const found = openHere(options).marketByToken(tokenId);
    if (found === undefined) throw new WireError(404, 'market not found');
    return reply.send(wireMarketOfToken(found.market));
  });
}

function requestedTokens(body: string): readonly string[] {
  const payload = jsonOf(body);
  if (!Array.isArray(payload)) throw invalidPayload();
  if (payload.length > MAX_BOOKS) throw tooLarge();
  return payload.map((entry: unknown) => {
    const tokenId = (entry as { token_id?: unknown } | null)?.token_id;
    if (typeof tokenId !== 'string' || !TOKEN_ID.test(tokenId)) throw invalidPayload();
    return tokenId;
  });
}
