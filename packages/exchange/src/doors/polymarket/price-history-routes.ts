/** Price histories from the exchange's own records. Wire reference 2.9. */
import { PIPS, pipsToNumber } from '@bellwether/contract/decimals';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { charge } from '../limits.ts';
import type { DoorExchange, PolymarketDoorOptions } from './door-options.ts';
import { bodyText } from './l2-auth.ts';
import { openHere } from './open-here.ts';
import { TOKEN_ID } from './price-routes.ts';
import { jsonOf, parameter } from './request-parts.ts';
import { wireMidpoint } from './wire.ts';
import { invalidPayload, tooLarge, WireError } from './wire-error.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** How far back, and the least number of minutes between two points. `1m` is a month. */
const INTERVALS: Readonly<Record<string, { readonly ms: number | null; readonly least: number }>> = {
  max: { ms: null, least: 1 },
  all: { ms: null, least: 1 },
  '1m': { ms: 30 * DAY_MS, least: 10 },
  '1w': { ms: 7 * DAY_MS, least: 5 },
  '1d': { ms: DAY_MS, least: 1 },
  '6h': { ms: 6 * HOUR_MS, least: 1 },
  '1h': { ms: HOUR_MS, least: 1 },
};
/** The most points of one token; with more of them, the points lie further apart. */
const MOST_POINTS = 2_000;
const MAX_BATCH = 20;
const TOKENS_OF_A_HISTORY = 2;
const NUMBER = /^[0-9]{1,12}$/;

interface Span {
  /** Epoch milliseconds; `null`: from the first price on. */
  readonly from: number | null;
  readonly to: number;
  readonly fidelity: number;
}

interface Point {
  readonly t: number;
  readonly p: number;
}

type Options = Pick<PolymarketDoorOptions, 'exchange' | 'guard' | 'now'>;

export function priceHistoryRoutes(door: FastifyInstance, options: Options): void {
  door.get('/prices-history', async (request): Promise<{ history: readonly Point[] }> => {
    await charge(options.guard, request, TOKENS_OF_A_HISTORY - 1);
    const token = parameter(request, 'market');
    if (!TOKEN_ID.test(token)) throw new WireError(400, 'Invalid token id');
    const now = options.now();
    const text = (name: string) => parameter(request, name);
    const span = spanOf(
      { interval: text('interval'), start: text('startTs'), end: text('endTs'), fidelity: text('fidelity') },
      now,
    );
    return { history: await readHistory(openHere(options), token, span, now) };
  });

  door.post('/batch-prices-history', async (request) => {
    const { tokens, span } = batchOf(request, options.now());
    await charge(options.guard, request, tokens.length * TOKENS_OF_A_HISTORY - 1);
    const exchange = openHere(options);
    const history: [string, readonly Point[]][] = [];
    for (const token of tokens)
      history.push([token, await readHistory(exchange, token, span, options.now())]);
    return { history: Object.fromEntries(history) };
  });
}

/** @throws WireError */
function batchOf(
  request: FastifyRequest,
  now: number,
): { readonly tokens: readonly string[]; readonly span: Span } {
  const body = jsonOf(bodyText(request)) as Readonly<Record<string, unknown>> | null;
  const { markets, start_ts, end_ts, interval, fidelity } = body ?? {};
  if (!Array.isArray(markets)) throw invalidPayload();
  if (markets.length > MAX_BATCH) throw tooLarge();
  const tokens = [...new Set(markets)].map((token: unknown) => {
    if (typeof token !== 'string' || !TOKEN_ID.test(token)) throw invalidPayload();
    return token;
  });
  const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
  const terms = {
    interval: text(interval),
    start: text(start_ts),
    end: text(end_ts),
    fidelity: text(fidelity),
  };
  return { tokens, span: spanOf(terms, now) };
}

/** @throws WireError */
function spanOf(
  { interval, start, end, fidelity }: Readonly<Record<'interval' | 'start' | 'end' | 'fidelity', string>>,
  now: number,
): Span {
  const [from, to, minutes] = [start, end, fidelity].map((text) => {
    if (text !== '' && !NUMBER.test(text)) throw new WireError(400, 'invalid filters');
    return text === '' ? null : Number(text);
  });
  if (interval === '') {
    if (from === null || from === undefined)
      throw new WireError(400, "invalid filters: 'interval' or 'startTs' and 'endTs' are required");
    const until = to === null || to === undefined ? now : to * SECOND_MS + SECOND_MS - 1;
    if (from * SECOND_MS > until) throw new WireError(400, "invalid filters: 'startTs' is after 'endTs'");
    return { from: from * SECOND_MS, to: until, fidelity: Math.max(1, minutes ?? 1) };
  }
  const known = INTERVALS[interval];
  if (known === undefined) throw new WireError(400, `invalid filters: 'interval' ${interval.slice(0, 20)}`);
  if (minutes !== null && minutes !== undefined && minutes < known.least)
    throw new WireError(400, `invalid filters: minimum 'fidelity' for '${interval}' range is ${known.least}`);
  const begins = known.ms === null ? null : now - known.ms;
  return { from: begins, to: now, fidelity: minutes ?? known.least };
}

/** Empty for a token that never had a price. */
async function readHistory(
  exchange: Pick<DoorExchange, 'prices' | 'marketByToken' | 'book'>,
  token: string,
  { from, to, fidelity }: Span,
  now: number,
): Promise<Point[]> {
  const place = await exchange.prices.locate(token);
  if (place === null) return [];
  const begins = Math.max(from ?? 0, place.first);
  const spanMs = Math.max(0, Math.min(to, now) - begins);
  const bucketMs = Math.max(fidelity * MINUTE_MS, Math.ceil(spanMs / MOST_POINTS));
  const terms = { tokenId: place.yesTokenId, from: from ?? 0, to, bucketMs, limit: MOST_POINTS };
  const { points } = await exchange.prices.read(terms);
  const price = (pips: number): number => pipsToNumber(place.mirrored ? PIPS - pips : pips);
  const shown = points.map((point): Point => ({ t: seconds(point.at), p: price(point.price) }));
  const current = to < now ? null : midpointOf(exchange, token);
  return current === null ? shown : [...shown, { t: seconds(now), p: current }];
}

const seconds = (at: number): number => Math.floor(at / SECOND_MS);

/** The venue appends the price of now. */
function midpointOf(exchange: Pick<DoorExchange, 'marketByToken' | 'book'>, token: string): number | null {
  const found = exchange.marketByToken(token);
  if (found === undefined || found.market.status !== 'open') return null;
  const book = exchange.book(found.market.conditionId, found.outcome, 1);
  const middle = book === undefined ? null : wireMidpoint(book);
  return middle === null ? null : Number(middle.mid);
}
