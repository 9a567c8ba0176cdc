/**
 * Past prices, as the CLOB recorded them. An answer is kept for a minute, within bounds; questions of the same minute are one
 * question. The CLOB takes a start and an end for some days only: longer spans are asked for as one of its intervals, whose
 * points lie further apart.
 */
import { BoundedCache } from '../../domain/bounded-cache.ts';
import type { PriceHistory, PricePoint, PriceRange } from '../venue.ts';
import type { VenueHttp } from './http.ts';
import { isTokenId, pipsOf, READ } from './translate-market.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const LIFE_MS = 60_000;
const ANSWERS_KEPT = 500;
const POINTS_KEPT = 500_000;
const MAX_SPAN_MS = 15 * DAY_MS;
/** How far before a range its opening price is looked for, if the span allows. */
const LOOK_BACK_MS = DAY_MS;
const MONTH_MS = 30 * DAY_MS;
/** The least minutes between two points that the venue takes for a month. */
const MONTH_FIDELITY = 10;
/** Enough to see when a token had its first price. */
const DAILY = 1_440;

type Query = Readonly<Record<string, string | number>>;

interface LivePriceHistoryOptions {
  readonly clob: Pick<VenueHttp, 'read'>;
  readonly clock: { now(): number };
}

export function createLivePriceHistory({ clob, clock }: LivePriceHistoryOptions): PriceHistory {
  const kept = new BoundedCache<{ readonly at: number; readonly points: readonly PricePoint[] }>({
    entries: ANSWERS_KEPT,
    weight: POINTS_KEPT,
    weightOf: ({ points }) => points.length + 1,
  });
  const asking = new Map<string, Promise<readonly PricePoint[]>>();

  const load = async (query: Query): Promise<readonly PricePoint[]> => {
    const answer = await clob.read({ path: '/prices-history', query }, READ.priceHistory);
    const points = (answer?.history ?? []).flatMap(({ t, p }): PricePoint[] => {
      const price = pipsOf(p, 'floor');
      return price === null ? [] : [{ at: t * SECOND_MS, price }];
    });
    return points.sort((a, b) => a.at - b.at);
  };
  /** Oldest first. @throws VenueUnavailable */
  const ask = (query: Query): Promise<readonly PricePoint[]> => {
    const name = JSON.stringify(query);
    const known = kept.get(name);
    if (known !== undefined && performance.now() - known.at < LIFE_MS) return Promise.resolve(known.points);
    const already = asking.get(name);
    if (already !== undefined) return already;
    const answer = load(query)
      .then((points) => {
        kept.set(name, { at: performance.now(), points });
        return points;
      })
      .finally(() => asking.delete(name));
    asking.set(name, answer);
    return answer;
  };

  return {
    async locate(tokenId) {
      if (!isTokenId(tokenId)) return null;
      const [first] = await ask({ market: tokenId, interval: 'max', fidelity: DAILY });
      return first === undefined ? null : { yesTokenId: tokenId, mirrored: false, first: first.at };
    },

    async read(range) {
      const { from, to, bucketMs, limit } = range;
      const found = await ask(questionOf(range, clock.now()));
      const points: PricePoint[] = [];
      let before: PricePoint | null = null;
      for (const point of found) {
        if (point.at > to) break;
        if (point.at < from) before = point;
        else {
          const last = points.at(-1);
          if (last !== undefined && Math.floor(last.at / bucketMs) === Math.floor(point.at / bucketMs))
            points.pop();
          points.push(point);
        }
      }
      return { before, points: points.slice(0, limit + 1) };
    },
  };
}

/** In whole minutes, so that readers of one minute ask the same. */
function questionOf({ tokenId, from, to, bucketMs }: PriceRange, now: number): Query {
  const market = tokenId;
  const fidelity = Math.max(1, Math.floor(bucketMs / MINUTE_MS));
  const end = Math.ceil(Math.min(to, now) / MINUTE_MS) * MINUTE_MS;
  const start = Math.floor(from / MINUTE_MS) * MINUTE_MS;
  if (end - start <= MAX_SPAN_MS) {
    const begin = Math.max(0, start - LOOK_BACK_MS, end - MAX_SPAN_MS);
    return { market, startTs: begin / SECOND_MS, endTs: Math.max(begin, end) / SECOND_MS, fidelity };
  }
  return start >= now - MONTH_MS
    ? { market, interval: '1m', fidelity: Math.max(MONTH_FIDELITY, fidelity) }
    : { market, interval: 'max', fidelity };
}
