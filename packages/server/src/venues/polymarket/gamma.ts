/** The venue's catalogue: its answers, item by item. It is for finding markets; prices and terms come from the CLOB. */

import { positionIds, shortConditionId } from '@bellwether/protocol';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { VenueCall, VenueHttp } from './http.ts';
import { nextOf } from './paging.ts';
import { type KeepsOrder, type ListedMarket, toListedMarket } from './translate-market.ts';
import { READ, type WireEvent } from './wire.ts';

const MAX_IDS_PER_QUESTION = 50;
const ROWS_PER_PAGE = 100;
const EVENTS_PER_PAGE = 50;
const MAX_SEARCH_PAGES = 4;
const MOST_FOUND = 100_000;
const KEYSET = '/markets/keyset';

export interface Gamma {
  /** By Gamma's number. @throws VenueUnavailable */
  byId(id: string): Promise<ListedMarket | null>;
  /** @throws VenueUnavailable */
  bySlug(slug: string): Promise<ListedMarket | null>;
  /** Open and closed markets. @throws VenueUnavailable */
  byConditions(conditionIds: readonly string[]): Promise<readonly ListedMarket[]>;
  /** Open and closed markets. @throws VenueUnavailable */
  byTokens(tokenIds: readonly string[]): Promise<readonly ListedMarket[]>;
  /** The first of the open markets, in an order. @throws VenueUnavailable */
  open(order: 'volume24hr' | 'startDate', most: number): Promise<readonly ListedMarket[]>;
  /** The closed markets that ended last. @throws VenueUnavailable */
  closed(most: number): Promise<readonly ListedMarket[]>;
  /** By words, in the venue's order of relevance. @throws VenueUnavailable */
  search(words: string): Promise<readonly ListedMarket[]>;
  /** How many items were left out so far because they could not be read. */
  malformed(): number;
}

export interface GammaOptions {
  readonly http: VenueHttp;
  readonly clock: { now(): number };
  readonly keepsOrder?: KeepsOrder | undefined;
  readonly log: OutboundLog;
}

export function createGamma({ http, clock, log, keepsOrder = () => false }: GammaOptions): Gamma {
  let malformed = 0;

  const leftOut = (): null => {
    malformed += 1;
    // Said once: a venue that changes its format says it in every answer.
    if (malformed === 1) log.warn({}, 'the venue lists a market that cannot be read; it is left out');
    return null;
  };
  const marketOf = (item: unknown, event?: WireEvent): ListedMarket | null => {
    const wire = READ.gammaMarket(item);
    if (wire === null) return leftOut();
    // A placeholder has no tokens yet: that is no fault.
    return toListedMarket(wire, { now: clock.now(), keepsOrder, ...(event === undefined ? {} : { event }) });
  };
  const marketsOf = (items: readonly unknown[], event?: WireEvent): ListedMarket[] =>
    items.map((item) => marketOf(item, event)).filter((market) => market !== null);

  const one = async (path: string): Promise<ListedMarket | null> => {
    const found = await http.read({ path, query: { include_tag: true } }, (item) => ({ item }));
    return found === null ? null : marketOf(found.item);
  };
  const page = (query: NonNullable<VenueCall['query']>) =>
    http.read(
      { path: KEYSET, query: { ...query, include_tag: true, limit: ROWS_PER_PAGE } },
      READ.gammaMarkets,
    );
  /** Closed markets are listed only where they are asked for. */
  const byIds = async (name: string, ids: readonly string[]): Promise<readonly ListedMarket[]> => {
    const parts: Promise<readonly ListedMarket[]>[] = [];
    for (let start = 0; start < ids.length; start += MAX_IDS_PER_QUESTION)
      for (const closed of [false, true])
        parts.push(
          page({ [name]: ids.slice(start, start + MAX_IDS_PER_QUESTION), closed }).then((found) =>
            marketsOf(found?.markets ?? []),
          ),
        );
    return once((await Promise.all(parts)).flat());
  };
  /** Pages shift while they are read, so that a market may come twice. */
  const idOf = ({ record }: ListedMarket): string => record.conditionId;
  const list = (query: NonNullable<VenueCall['query']>, most: number): Promise<readonly ListedMarket[]> =>
    http.lists.first<ListedMarket>(
      {
        ...{ name: KEYSET, whose: '', mostPages: Math.ceil(most / ROWS_PER_PAGE), idOf },
        async ask(after_cursor) {
          const { markets, next_cursor } = (await page({ ...query, after_cursor })) ?? { markets: [] };
          return { rows: marketsOf(markets), next: nextOf(next_cursor) };
        },
      },
      most,
    );

  return {
    malformed: () => malformed,
    byId: (id) => one(`/markets/${encodeURIComponent(id)}`),
    bySlug: (slug) => one(`/markets/slug/${encodeURIComponent(slug)}`),
    // The catalogue shows 31 bytes of Protocol V2; which width its filter takes is not known.
    byConditions: (ids) =>
      byIds(
        'condition_ids',
        ids.flatMap((id) => (positionIds(id) === null ? [id] : [id, shortConditionId(id)])),
      ),
    byTokens: (ids) => byIds('clob_token_ids', ids),
    open: (order, most) => list({ closed: false, order, ascending: false }, most),
    closed: (most) => list({ closed: true, order: 'endDate', ascending: false }, most),
    search: (words) =>
      http.lists.first<ListedMarket>(
        {
          ...{ name: '/public-search', whose: '', mostPages: MAX_SEARCH_PAGES, idOf },
          async ask(cursor = '1') {
            const query = {
              q: words,
              page: cursor,
              limit_per_type: EVENTS_PER_PAGE,
              keep_closed_markets: 1,
              events_status: 'all',
            };
            const reply = await http.read({ path: '/public-search', query }, READ.searchPage);
            const rows = (reply?.events ?? []).flatMap((item) => {
              const event = READ.gammaEvent(item);
              if (event === null) leftOut();
              return event === null ? [] : marketsOf(event.markets ?? [], event);
            });
            const hasMore = reply?.pagination?.hasMore === true;
            return { rows, next: hasMore ? String(Number(cursor) + 1) : null };
          },
        },
        MOST_FOUND,
      ),
  };
}

/** An open and a closed list may both have a market that ends meanwhile. */
const once = (markets: readonly ListedMarket[]): readonly ListedMarket[] => [
  ...new Map(markets.map((market) => [market.record.conditionId, market])).values(),
];
