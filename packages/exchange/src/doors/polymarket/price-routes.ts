/** Prices of many tokens at once. Wire reference 2.9. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { BookView } from '../../paper-exchange.ts';
import { charge, ENTRIES_PER_TOKEN } from '../limits.ts';
import type { PolymarketDoorOptions } from './door-options.ts';
import { bodyText } from './l2-auth.ts';
import { openHere } from './open-here.ts';
import { jsonOf } from './request-parts.ts';
import { wireLastTrade, wireMidpoint, wirePrice, wireSpread } from './wire.ts';
import { invalidPayload, tooLarge, WireError } from './wire-error.ts';

const MAX_TOKENS = 500;
const MAX_GET_BODY_BYTES = 64 * 1024;
export const TOKEN_ID = /^[0-9]{1,78}$/;

type Side = 'BUY' | 'SELL';
interface PriceQuestion {
  readonly token: string;
  readonly side: Side | null;
}

type Options = Pick<PolymarketDoorOptions, 'exchange' | 'guard'>;

export function priceRoutes(door: FastifyInstance, options: Options): void {
  /** Top of the book of a market that takes orders; unknown tokens are dropped silently, as at the venue. */
  const topOf = (token: string): BookView | undefined => {
    const exchange = openHere(options);
    const found = exchange.marketByToken(token);
    if (found === undefined || found.market.status !== 'open') return undefined;
    return exchange.book(found.market.conditionId, found.outcome, 1);
  };

  const asked = async (request: FastifyRequest, body: string): Promise<readonly PriceQuestion[]> => {
    const list = askedTokens(body);
    await charge(options.guard, request, list.length / ENTRIES_PER_TOKEN);
    return list;
  };

  /** One entry for each token whose book has what is asked for. */
  const mapOf =
    (textOf: (book: BookView) => string | undefined) =>
    async (request: FastifyRequest): Promise<Record<string, string>> => {
      const list = await asked(request, bodyText(request));
      return Object.fromEntries(
        [...new Set(list.map(({ token }) => token))].flatMap((token): [string, string][] => {
          const book = topOf(token);
          const text = book === undefined ? undefined : textOf(book);
          return text === undefined ? [] : [[token, text]];
        }),
      );
    };
  door.post(
    '/midpoints',
    mapOf((book) => wireMidpoint(book)?.mid),
  );
  door.post(
    '/spreads',
    mapOf((book) => wireSpread(book)?.spread),
  );

  door.post('/prices', async (request) => {
    const prices = new Map<string, Partial<Record<Side, string>>>();
    for (const { token, side } of await asked(request, bodyText(request))) {
      const book = topOf(token);
      // As on the wire: without a side, the SELL price alone.
      const price = book === undefined ? null : wirePrice(book, side ?? 'SELL');
      if (price !== null) prices.set(token, { ...prices.get(token), [side ?? 'SELL']: price.price });
    }
    return Object.fromEntries(prices);
  });

  const lastTrades = (list: readonly PriceQuestion[]) =>
    [...new Set(list.map(({ token }) => token))].flatMap((token) => {
      const book = topOf(token);
      return book === undefined ? [] : [{ token_id: token, ...wireLastTrade(book) }];
    });
  door.post('/last-trades-prices', async (request) => lastTrades(await asked(request, bodyText(request))));
  // The Rust client sends a GET with a JSON body, which Fastify leaves unread.
  door.get('/last-trades-prices', async (request) => {
    const body = await readBody(request);
    return lastTrades(await asked(request, body));
  });

  door.get('/prices', (_request, reply) => reply.send(allPrices(options)));
  // The venue answers so, although its specification lists them.
  const refused = (_request: FastifyRequest, reply: FastifyReply) =>
    reply.code(400).send({ error: 'Invalid payload' });
  for (const path of ['/books', '/midpoints', '/spreads']) door.get(path, refused);
}

/** Both prices of every token that can be traded. */
function allPrices(options: Options): Record<string, Partial<Record<Side, string>>> {
  const exchange = openHere(options);
  const prices: [string, Partial<Record<Side, string>>][] = [];
  for (const market of exchange.markets()) {
    if (market.status !== 'open') continue;
    for (const [index, outcome] of (['YES', 'NO'] as const).entries()) {
      const book = exchange.book(market.conditionId, outcome, 1);
      if (book === undefined) continue;
      const [buy, sell] = [wirePrice(book, 'BUY'), wirePrice(book, 'SELL')];
      prices.push([
        market.tokenIds[index]!,
        { ...(buy === null ? {} : { BUY: buy.price }), ...(sell === null ? {} : { SELL: sell.price }) },
      ]);
    }
  }
  return Object.fromEntries(prices);
}

async function readBody(request: FastifyRequest): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.raw) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_GET_BODY_BYTES) throw new WireError(413, 'Payload exceeds the limit');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @throws WireError */
function askedTokens(body: string): readonly PriceQuestion[] {
  const payload = jsonOf(body);
  if (!Array.isArray(payload)) throw invalidPayload();
  if (payload.length > MAX_TOKENS) throw tooLarge();
  return payload.map((entry: unknown) => {
    const { token_id: token, side } = (entry ?? {}) as { token_id?: unknown; side?: unknown };
    if (typeof token !== 'string' || !TOKEN_ID.test(token)) throw invalidPayload();
    if (side === undefined || side === null || side === '') return { token, side: null };
    const given = typeof side === 'string' ? side.toUpperCase() : side;
    if (given !== 'BUY' && given !== 'SELL') throw new WireError(400, 'Invalid side');
    return { token, side: given };
  });
}
