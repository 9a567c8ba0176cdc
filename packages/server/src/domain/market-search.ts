/** Which markets a search wants, and in which order. The same for every venue. */
import type { MARKET_SORT_FIELDS } from '@bellwether/contract';
import { pipsToNumber } from '@bellwether/contract/decimals';
import { type MarketRecord, markPrice } from './market.ts';

export type MarketSortField = (typeof MARKET_SORT_FIELDS)[number];

/** Conditions on markets, beside the words. */
export interface MarketFilter {
  /** Closed = no longer trading (resolved ones too); resolved = outcome final. Omitted: any. */
  readonly status?: 'active' | 'closed' | 'resolved';
  /** In any case. */
  readonly category?: string;
  /** Price of YES, between 0 and 1, both included. */
  readonly minPrice?: number;
  readonly maxPrice?: number;
  readonly endsBefore?: number;
}

interface MarketOrder {
  /** Omitted: by relevance. */
  readonly sort?: MarketSortField;
  /** The opposite direction: least first, or least relevant first. */
  readonly ascending?: boolean;
}

export interface MarketSearch extends MarketFilter, MarketOrder {
  /** `*`: all markets. */
  readonly words: string;
  /** Omitted: all that were found. */
  readonly page?: { readonly offset: number; readonly limit: number };
}

export interface FoundMarkets {
  readonly markets: readonly MarketRecord[];
  /** Number on all pages. */
  readonly total: number;
}

/** The word for all markets, as in the venue's own search box. */
const EVERYTHING = '*';
export const isEverything = (words: string): boolean => words.trim() === EVERYTHING;

const STATUS: Record<
  NonNullable<MarketFilter['status']>,
  (market: Pick<MarketRecord, 'status'>) => boolean
> = {
  active: (market) => market.status === 'open',
  closed: (market) => market.status !== 'open',
  resolved: (market) => market.status === 'resolved',
};

/** One without an end comes after all that have one. */
const endOrLast = ({ endDate }: Pick<MarketRecord, 'endDate'>): number => endDate || Number.MAX_VALUE;

/** Whether a market's life fits: a price that moves changes nothing about it. */
export function fitsLife(
  market: Pick<MarketRecord, 'status' | 'category' | 'endDate'>,
  { status, category, endsBefore }: Pick<MarketFilter, 'status' | 'category' | 'endsBefore'>,
): boolean {
  return (
    (status === undefined || STATUS[status](market)) &&
    (category === undefined || market.category.toLowerCase() === category.toLowerCase()) &&
    (endsBefore === undefined || endOrLast(market) < endsBefore)
  );
}

export function fitsPrice(
  market: MarketRecord,
  { minPrice, maxPrice }: Pick<MarketFilter, 'minPrice' | 'maxPrice'>,
): boolean {
  if (minPrice === undefined && maxPrice === undefined) return true;
  const price = pipsToNumber(markPrice(market, 'YES'));
  return (minPrice === undefined || price >= minPrice) && (maxPrice === undefined || price <= maxPrice);
}

const compareMicro = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

const COMPARE: Record<MarketSortField, (a: MarketRecord, b: MarketRecord) => number> = {
  volume24hr: (a, b) => compareMicro(a.volume24h, b.volume24h),
  liquidity: (a, b) => compareMicro(a.liquidity, b.liquidity),
  volume: (a, b) => compareMicro(a.volume, b.volume),
  endDate: (a, b) => endOrLast(a) - endOrLast(b),
  createdAt: (a, b) => a.createdAt - b.createdAt,
};

const compareIds = (a: MarketRecord, b: MarketRecord): number =>
  a.id.length - b.id.length || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Equal ones have one order, so that no page repeats or skips any. */
export function comparing(
  sort: MarketSortField,
  ascending: boolean | undefined,
): (a: MarketRecord, b: MarketRecord) => number {
  const direction = ascending === true ? 1 : -1;
  const compare = COMPARE[sort];
  return (a, b) => direction * compare(a, b) || compareIds(a, b);
}

/** Puts markets that come by relevance into the order that is wanted, in place. */
export function arrange<M extends MarketRecord>(markets: M[], { sort, ascending }: MarketOrder): M[] {
  if (sort === undefined) return ascending === true ? markets.reverse() : markets;
  return markets.sort(comparing(sort, ascending));
}

/** @param page all of them without one */
export const sliceOf = <T>(
  found: readonly T[],
  page: { readonly offset: number; readonly limit?: number | undefined } | undefined,
): readonly T[] =>
  page === undefined
    ? found
    : found.slice(page.offset, page.limit === undefined ? undefined : page.offset + page.limit);

/** For venues that have their markets at hand, in order of relevance. */
export function selectMarkets(matching: readonly MarketRecord[], search: MarketSearch): FoundMarkets {
  const found = matching.filter((market) => fitsLife(market, search) && fitsPrice(market, search));
  return { markets: sliceOf(arrange(found, search), search.page), total: found.length };
}
