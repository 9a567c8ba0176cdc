/** `GET /v2/prices-history`: prices of a token, the newest page first; each page is in the order of time. */
import { PIPS, pipsToNumber } from '@bellwether/contract/decimals';
import type { FastifyInstance } from 'fastify';
import { invalid } from './data-error.ts';
import { pageOf } from './page.ts';
import { Params } from './params.ts';
import type { Reads } from './reads.ts';

const SECOND_MS = 1_000;
const MINUTE_S = 60;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MOST_SPAN_MS = 15 * DAY_MS;
const DEFAULT_LIMIT = 1_000;
const MOST_LIMIT = 10_000;
const MOST_BUCKET_S = 30 * 86_400;
const TOKEN_ID = /^[0-9]{1,78}$/;
/** `1m` is a month. */
const INTERVALS: Readonly<Record<string, number>> = {
  max: Number.POSITIVE_INFINITY,
  all: Number.POSITIVE_INFINITY,
  '1m': 30 * DAY_MS,
  '1w': 7 * DAY_MS,
  '1d': DAY_MS,
  '6h': 6 * HOUR_MS,
  '1h': HOUR_MS,
};

interface Span {
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  /** One price: the last one at that time. */
  readonly isMoment: boolean;
}

/** @throws DataError unless exactly one of the three ways is used */
function spanOf(params: Params, now: number): Span {
  const [interval, start, asOf] = [params.text('interval'), params.time('start'), params.time('as_of')];
  const ways = [interval, start, asOf].filter((way) => way !== undefined);
  if (ways.length !== 1) throw invalid('exactly one of start, interval and as_of is required', 'interval');
  if (asOf !== undefined) return { from: asOf, to: asOf + SECOND_MS - 1, isMoment: true };
  if (start !== undefined) {
    const to = (params.time('end') ?? Math.min(now, start + MOST_SPAN_MS)) + SECOND_MS - 1;
    if (to < start) throw invalid('end must not be before start', 'end');
    if (to - start > MOST_SPAN_MS + SECOND_MS) throw invalid('start and end may lie 15 days apart', 'end');
    return { from: start, to, isMoment: false };
  }
  const length = Object.hasOwn(INTERVALS, interval ?? '') ? INTERVALS[interval ?? ''] : undefined;
  if (length === undefined)
    throw invalid(`interval must be one of ${Object.keys(INTERVALS).join(', ')}`, 'interval');
  return { from: Math.max(0, now - length), to: now, isMoment: false };
}

export function priceRoute(door: FastifyInstance, reads: Reads): void {
  door.get('/v2/prices-history', async (request) => {
    const params = new Params(request);
    params.refuse(['offset'], 'use cursor');
    const token = params.text('token_id');
    if (token === undefined || !TOKEN_ID.test(token)) throw invalid('token_id is required', 'token_id');
    const limit = Math.max(1, params.whole('limit', DEFAULT_LIMIT, MOST_LIMIT));
    const bucketS = Math.max(1, params.whole('bucket_seconds', MINUTE_S, MOST_BUCKET_S));
    const cursor = params.text('cursor');
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) throw invalid('cursor is not valid', 'cursor');
    const { from, to, isMoment } = spanOf(params, reads.now);
    await reads.chargeRows(request, limit);
    const { prices } = reads.exchange;
    const place = await prices.locate(token);
    if (place === null) return pageOf([], limit, undefined);
    // A cursor is the time of the oldest point that was shown.
    const until = cursor === undefined ? to : Math.min(to, Number(cursor) - 1);
    const asked = { tokenId: place.yesTokenId, from, to: until, bucketMs: bucketS * SECOND_MS };
    const { before, points } = await prices.read({ ...asked, limit: isMoment ? 1 : limit });
    const found = isMoment ? [points.at(-1) ?? before].filter((one) => one !== null) : points.slice(-limit);
    const shown = found.map(({ at, price }) => ({
      t: Math.floor((isMoment ? from : at) / SECOND_MS),
      p: pipsToNumber(place.mirrored ? PIPS - price : price),
    }));
    const isMore = !isMoment && points.length > limit;
    return pageOf(shown, limit, isMore ? String(found[0]?.at) : undefined);
  });
}
