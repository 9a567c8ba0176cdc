/** Prices over time, and whether a market exists. */
import { type HistoryInterval, MAX_HISTORY_POINTS, type PricesHistory } from '@bellwether/contract';
import { PIPS, pipsToNumber } from '@bellwether/contract/decimals';
import { knownPrice, type MarketRecord } from '../domain/market.ts';
import type { Clock } from '../platform/clock.ts';
import { refusal } from '../platform/refusal.ts';
import { type HasVenues, namedVenue, venuesWith } from '../venues/asking.ts';
import type { PriceHistory, Venue, Venues } from '../venues/venue.ts';
import { findMarket, findToken } from './markets.ts';

export interface PriceHistoryNeeds {
  readonly clock: Clock;
  readonly venues: Venues;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How far back from now, and the minutes between points when none are asked for; `null`: everything. */
const INTERVALS: Readonly<
  Record<HistoryInterval, { readonly ms: number; readonly fidelity: number } | null>
> = {
  max: null,
  all: null,
  '1m': { ms: 30 * DAY_MS, fidelity: 180 },
  '1w': { ms: 7 * DAY_MS, fidelity: 30 },
  '1d': { ms: DAY_MS, fidelity: 5 },
  '6h': { ms: 6 * HOUR_MS, fidelity: 1 },
  '1h': { ms: HOUR_MS, fidelity: 1 },
};

/** Minutes between points to choose from, for a span of any length, and how many points are plenty. */
const FIDELITIES = [1, 5, 15, 30, 60, 180, 360, 720, 1_440, 10_080, 43_200] as const;
const PLENTY_OF_POINTS = 500;

interface HistoryQuery {
  readonly market: string;
  readonly interval?: HistoryInterval;
  readonly startTs?: number;
  readonly endTs?: number;
  readonly fidelity?: number;
  readonly venue?: string;
}

interface Span {
  /** Epoch milliseconds; `null`: from the first price on. */
  readonly from: number | null;
  readonly to: number;
  readonly fidelity: number | null;
}

export async function marketExists(
  needs: HasVenues,
  id: string,
  venue: string | undefined,
): Promise<boolean> {
  return (await findMarket(needs, id, venue)) !== null;
}

/** @throws Refusal unknown_venue, invalid_request, contradictory_filter, market_not_found, history_too_fine */
export async function pricesHistory(needs: PriceHistoryNeeds, query: HistoryQuery): Promise<PricesHistory> {
  const asked = namedVenue(needs, query.venue);
  if (asked !== null && asked.history === undefined) throw noHistory(asked.id);
  const now = needs.clock.now();
  const span = spanOf(query, now);
  const source = await locate(needs, query.market, asked);
  const from = span.from ?? 0;
  const spanMs = async () =>
    Math.min(span.to, now) - (span.from ?? (await source.history.locate(source.yesTokenId))?.first ?? now);
  const fidelity = query.fidelity ?? span.fidelity ?? fittingFidelity(await spanMs());
  const bucketMs = fidelity * MINUTE_MS;
  const { before, points } = await source.history.read({
    tokenId: source.yesTokenId,
    from,
    to: span.to,
    bucketMs,
    limit: MAX_HISTORY_POINTS,
  });
  if (points.length > MAX_HISTORY_POINTS) throw tooFine(fidelity, await spanMs());
  const bucketOf = (at: number) => Math.floor(at / bucketMs);
  const found = [...points];
  // The range begins with the price that held then, unless it moved within the first bucket.
  const [first] = found;
  const opens = before !== null && (first === undefined || bucketOf(first.at) > bucketOf(from));
  if (opens && from <= now) found.unshift({ at: from, price: before.price });
  if (source.market?.status === 'open' && from <= now && now <= span.to) {
    // The bucket that is not over yet ends, for now, with the current price.
    const last = found.at(-1);
    if (last !== undefined && last.at >= from && bucketOf(last.at) === bucketOf(now)) found.pop();
    const price = knownPrice(source.market, 'YES');
    if (price !== null) found.push({ at: now, price });
  }
  return {
    history: found.map(({ at, price }) => ({
      t: Math.floor(at / SECOND_MS),
      p: pipsToNumber(source.mirrored ? PIPS - price : price),
    })),
  };
}

function spanOf({ interval, startTs, endTs }: HistoryQuery, now: number): Span {
  const hasRange = startTs !== undefined || endTs !== undefined;
  if (interval !== undefined && hasRange) {
    throw refusal('contradictory_filter', 'interval and startTs or endTs exclude each other.', {
      path: 'interval',
    });
  }
  if (interval !== undefined) {
    const known = INTERVALS[interval];
    if (known === null) return { from: null, to: now, fidelity: null };
    return { from: now - known.ms, to: now, fidelity: known.fidelity };
  }
  if (!hasRange)
    throw refusal('invalid_request', 'Send interval, or startTs and endTs.', { path: 'interval' });
  const to = endTs === undefined ? now : endTs * SECOND_MS + SECOND_MS - 1;
  if (startTs !== undefined && startTs * SECOND_MS > to) {
    throw refusal('contradictory_filter', 'startTs is after endTs.', {
      path: 'startTs',
      fix: 'Send a startTs that is not after endTs, both in epoch seconds; without endTs the range ends now.',
    });
  }
  return { from: startTs === undefined ? null : startTs * SECOND_MS, to, fidelity: null };
}

const noHistory = (venue: string) =>
  refusal('invalid_request', `There are no past prices of ${venue} here.`, {
    path: 'market',
    fix: 'Read the prices of now: GET /markets/{ticker} and GET /markets/orderbook/{mint}.',
  });

interface Source {
  readonly history: PriceHistory;
  readonly yesTokenId: string;
  /** The token asked for is the NO token. */
  readonly mirrored: boolean;
  /** `null` once archived. */
  readonly market: MarketRecord | null;
}

async function locate(needs: HasVenues, tokenId: string, asked: Venue | null): Promise<Source> {
  const venues = venuesWith(needs, 'history').filter((venue) => asked === null || venue === asked);
  for (const { markets, history } of venues) {
    const listed = await markets.byToken(tokenId);
    if (listed !== null) {
      const { market, outcome } = listed;
      return { history, yesTokenId: market.tokenIds[0], mirrored: outcome === 'NO', market };
    }
    const archived = await history.locate(tokenId);
    if (archived !== null) return { ...archived, history, market: null };
  }
  const elsewhere = await findToken(needs, tokenId, undefined);
  if (elsewhere !== null && elsewhere.venue.history === undefined) throw noHistory(elsewhere.venue.id);
  const known = await Promise.all(venues.map(({ markets }) => markets.find(tokenId)));
  const market = known.find((found) => found !== null);
  throw refusal(
    'market_not_found',
    market === undefined
      ? 'No market has this token.'
      : `market takes a token id; those of this market are ${market.tokenIds.join(' (YES) and ')} (NO).`,
    { path: 'market' },
  );
}

const fittingFidelity = (spanMs: number): number =>
  FIDELITIES.find((minutes) => spanMs <= minutes * MINUTE_MS * PLENTY_OF_POINTS) ??
  Math.ceil(spanMs / MINUTE_MS / MAX_HISTORY_POINTS);

function tooFine(fidelity: number, spanMs: number) {
  const fitting = Math.max(fidelity + 1, Math.ceil(spanMs / MINUTE_MS / MAX_HISTORY_POINTS));
  return refusal(
    'history_too_fine',
    `Points every ${fidelity} minutes would be more than ${MAX_HISTORY_POINTS}; a fidelity of ${fitting} fits.`,
    { path: 'fidelity' },
  );
}
