/** Markets searched and read. */
import {
  ALL_VENUES,
  MARKET_SORT_FIELDS,
  type Market,
  type MarketsQuery,
  type OrderBook,
  outcomeMismatch,
  outcomeName,
  sideCalled,
} from '@bellwether/contract';
import { formatMicro, formatPips, microToNumber, pipsToNumber } from '@bellwether/contract/decimals';
import { conditionIdOfBothWidths } from '@bellwether/protocol';
import type { Denial } from '../domain/denial.ts';
import {
  endText,
  type Level,
  type MarketRecord,
  markPrice,
  tickSizeText,
  type VenueId,
} from '../domain/market.ts';
import {
  comparing,
  type MarketFilter,
  type MarketSearch,
  type MarketSortField,
} from '../domain/market-search.ts';
import { READ_PATIENCE_MS, within } from '../domain/unavailable.ts';
import { parseTime } from '../platform/clock.ts';
import { type Refusal, refusal } from '../platform/refusal.ts';
import type { Job } from '../platform/scheduler.ts';
import { type HasVenues, namedVenue, silentVenue } from '../venues/asking.ts';
import type { Venue, Venues } from '../venues/venue.ts';
import type { StoredNames } from './store.ts';

const MAX_PAGE = 500;
const DEFAULT_PAGE = 20;
const BOOK_DEPTH = 100;

const iso = (at: number): string => new Date(at).toISOString();

export function marketItem(venue: string, market: MarketRecord): Market {
  return {
    id: market.id,
    venue,
    title: market.question,
    question: market.question,
    slug: market.slug,
    conditionId: market.conditionId,
    eventId: market.eventId,
    category: market.category,
    description: market.description,
    endDate: endText(market.endDate),
    createdAt: iso(market.createdAt),
    lastUpdatedAt: iso(market.updatedAt),
    status: market.status === 'open' ? 'active' : market.status,
    active: market.status === 'open',
    resolved: market.status === 'resolved',
    outcomes: [...market.outcomes],
    clobTokenIds: [...market.tokenIds],
    bestBid: formatPips(market.bestBid ?? 0),
    bestAsk: formatPips(market.bestAsk ?? 0),
    yesPrice: pipsToNumber(markPrice(market, 'YES')),
    noPrice: pipsToNumber(markPrice(market, 'NO')),
    volume24hr: formatMicro(market.volume24h),
    volume: microToNumber(market.volume),
    liquidity: formatMicro(market.liquidity),
    tickSize: tickSizeText(market),
    minOrderSize: microToNumber(market.minOrderSize),
    negRisk: market.negRisk,
    ...(market.version === undefined ? {} : { version: market.version }),
    ...factsOf(market),
    ...(market.untradable === undefined ? {} : { untradable: market.untradable }),
    ...(market.unknownResult === undefined ? {} : { unknownResult: market.unknownResult }),
  };
}

/** Those that a venue names of few markets. */
function factsOf(market: MarketRecord): Partial<Market> {
  const { takerDelaySeconds, gameStartTime, eventStartTime, ordersCanceledAtStart } = market;
  const { isOtherOutcome, resolutionSource } = market;
  return {
    ...(takerDelaySeconds === undefined ? {} : { takerDelaySeconds }),
    ...(gameStartTime === undefined ? {} : { gameStartTime: iso(gameStartTime) }),
    ...(eventStartTime === undefined ? {} : { eventStartTime: iso(eventStartTime) }),
    ...(ordersCanceledAtStart === undefined ? {} : { ordersCanceledAtStart }),
    ...(isOtherOutcome === undefined ? {} : { isOtherOutcome }),
    ...(resolutionSource === undefined ? {} : { resolutionSource }),
  };
}

/** @throws Refusal contradictory_filter */
function statusOf({ closed, eventsStatus }: MarketsQuery): NonNullable<MarketFilter['status']> {
  if (closed === true && eventsStatus === 'active') {
    throw refusal('contradictory_filter', 'closed=true and eventsStatus=active exclude each other.', {
      path: 'closed',
    });
  }
  return eventsStatus ?? (closed === true ? 'closed' : 'active');
}

/** @throws Refusal contradictory_filter, invalid_request */
function limitsOf({ category, minPrice, maxPrice, endsBefore }: MarketsQuery): MarketFilter {
  if (minPrice !== undefined && maxPrice !== undefined && minPrice > maxPrice) {
    throw refusal('contradictory_filter', 'minPrice is above maxPrice, so no market can fit both.', {
      path: 'minPrice',
    });
  }
  const before = endsBefore === undefined ? undefined : parseTime(endsBefore);
  if (Number.isNaN(before)) {
    throw refusal(
      'invalid_request',
      'endsBefore is an ISO 8601 time with zone, or epoch seconds or milliseconds.',
      { path: 'endsBefore' },
    );
  }
  return {
    ...(category === undefined ? {} : { category }),
    ...(minPrice === undefined ? {} : { minPrice }),
    ...(maxPrice === undefined ? {} : { maxPrice }),
    ...(before === undefined ? {} : { endsBefore: before }),
  };
}

/** A market with the name of its venue. */
export interface FoundMarket {
  readonly venue: VenueId;
  readonly market: MarketRecord;
}

interface MarketPage {
  readonly found: readonly FoundMarket[];
  readonly total: number;
  /** Those of several that did not answer. */
  readonly silent: readonly VenueId[];
  readonly limit: number;
  readonly page: number;
}

/** @throws Refusal unknown_venue, unknown_sort_field, contradictory_filter, invalid_request */
export async function searchMarkets(needs: HasVenues, query: MarketsQuery): Promise<MarketPage> {
  const { q, ascending, page = 1 } = query;
  const limit = Math.min(query.limit ?? DEFAULT_PAGE, MAX_PAGE);
  const sort = sortField(query.order);
  const status = statusOf(query);
  const search: MarketSearch = {
    words: conditionIdOfBothWidths(q),
    status,
    ...limitsOf(query),
    ...(sort === null ? {} : { sort }),
    ...(ascending === undefined ? {} : { ascending }),
    page: { offset: (page - 1) * limit, limit },
  };
  if (query.venue === ALL_VENUES) return { ...(await searchAll(needs, search)), limit, page };
  const { id, markets } = namedVenue(needs, query.venue) ?? needs.venues.default;
  const { markets: found, total } = await markets.search(search);
  return { found: found.map((market) => ({ venue: id, market })), total, silent: [], limit, page };
}

/** @throws Refusal service_unavailable when no venue answers */
async function searchAll(
  { venues }: HasVenues,
  search: MarketSearch,
): Promise<Pick<MarketPage, 'found' | 'total' | 'silent'>> {
  const { offset, limit } = search.page ?? { offset: 0, limit: 0 };
  // The page may be filled by any one of them.
  const page = { offset: 0, limit: offset + limit };
  const answers = await Promise.all(
    [...venues.values()].map(async (venue) => ({
      venue,
      answer: await within(READ_PATIENCE_MS, venue.markets.search({ ...search, page })),
    })),
  );
  const silent = answers.filter(({ answer }) => answer === null);
  if (silent.length === answers.length) throw silentVenue(venues.default);
  const lists = answers.map(({ venue, answer }) =>
    (answer?.markets ?? []).map((market) => ({ venue: venue.id, market })),
  );
  const { sort, ascending } = search;
  const compare = sort === undefined ? null : comparing(sort, ascending);
  const merged = compare === null ? inTurns(lists) : lists.flat().sort((a, b) => compare(a.market, b.market));
  return {
    found: merged.slice(offset, offset + limit),
    total: answers.reduce((sum, { answer }) => sum + (answer?.total ?? 0), 0),
    silent: silent.map(({ venue }) => venue.id),
  };
}

/** Relevance has no figure that venues share: their best first, then their second ones. */
function inTurns<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, nth) =>
    lists.flatMap((list) => list.slice(nth, nth + 1)),
  ).flat();
}

function sortField(order: string | undefined): MarketSortField | null {
  if (order === undefined || order === '') return null;
  const field = MARKET_SORT_FIELDS.find((name) => name === order);
  if (field === undefined) {
    throw refusal(
      'unknown_sort_field',
      `There is no sort field "${order}". Use one of ${MARKET_SORT_FIELDS.join(', ')}.`,
      { path: 'order' },
    );
  }
  return field;
}

export interface Located {
  readonly venue: Venue;
  readonly market: MarketRecord;
}

/** Asks the venue that is named, else each in turn whose ids have this form, until one knows it. */
async function ask<T>(
  needs: HasVenues,
  id: string,
  name: string | undefined,
  question: (venue: Venue) => Promise<T | null>,
): Promise<T | null> {
  const asked = namedVenue(needs, name);
  if (asked !== null) return question(asked);
  for (const venue of needs.venues.values()) {
    const answer = venue.markets.canBeId(id) ? await question(venue) : null;
    if (answer !== null) return answer;
  }
  return null;
}

/** @throws Refusal unknown_venue */
export const findMarket = (
  needs: HasVenues,
  id: string,
  venue: string | undefined,
): Promise<Located | null> => {
  const whole = conditionIdOfBothWidths(id);
  return ask(needs, whole, venue, async (one) => {
    const market = await one.markets.find(whole);
    return market === null ? null : { venue: one, market };
  });
};

/** Under the one of its two names that the validator leaves. */
export const marketNamed = ({ marketConditionId = '' }: { readonly marketConditionId?: string }): string =>
  marketConditionId;

/** @throws Refusal unknown_venue, market_not_found */
export async function requireMarket(
  needs: HasVenues,
  id: string,
  venue: string | undefined,
): Promise<Located> {
  const located = await findMarket(needs, id, venue);
  if (located === null) throw await notFound(needs, id, venue);
  return located;
}

/** With the venue that does know the market, where another one was asked. */
async function notFound(needs: HasVenues, id: string, asked: string | undefined): Promise<Refusal> {
  if (asked === undefined) return refusal('market_not_found');
  const whole = conditionIdOfBothWidths(id);
  const knows = async (venue: Venue) =>
    venue.id !== asked && (await venue.markets.find(whole)) !== null ? venue.id : null;
  const elsewhere = await within(READ_PATIENCE_MS, ask(needs, whole, undefined, knows));
  if (elsewhere === null) return refusal('market_not_found');
  const of = JSON.stringify(elsewhere);
  return refusal(
    'market_not_found',
    `It is a market of venue ${of}, and venue ${JSON.stringify(asked)} was asked.`,
    {
      fix: `Send "venue": ${of}. A call that takes no such venue says which routes do.`,
    },
  );
}

export async function getMarket(needs: HasVenues, id: string, venue: string | undefined): Promise<Market> {
  const { venue: of, market } = await requireMarket(needs, id, venue);
  return marketItem(of.id, market);
}

const FREE_WORD: Denial = {
  code: 'outcome_name_mismatch',
  path: 'outcome',
  detail: "outcome must be YES or NO, or a name of its market's outcomes",
};

/** The outcome that a request's word means. @throws Refusal outcome_name_mismatch, with both names */
export function requireSide({ outcomes }: MarketRecord, word: string): 'YES' | 'NO' {
  const side = sideCalled(word, outcomes);
  if (side !== null) return side;
  throw refusal('outcome_name_mismatch', outcomeMismatch(word, outcomes), { path: 'outcome' });
}

/** What is wrong with the word for an outcome in a body that its schema refuses for other fields. */
export const outcomeFaults =
  (needs: HasVenues) =>
  async (body: unknown): Promise<readonly Denial[]> => {
    const fields = (body ?? {}) as Readonly<Record<string, unknown>>;
    const { outcome, marketConditionId, marketId = marketConditionId, venue } = fields;
    if (typeof outcome !== 'string' || sideCalled(outcome, []) !== null) return [];
    const name = typeof venue === 'string' ? venue : undefined;
    const found =
      typeof marketId === 'string' ? await within(READ_PATIENCE_MS, findMarket(needs, marketId, name)) : null;
    if (found === null) return [FREE_WORD];
    const { outcomes } = found.market;
    return sideCalled(outcome, outcomes) === null
      ? [{ ...FREE_WORD, detail: outcomeMismatch(outcome, outcomes) }]
      : [];
  };

/** The market and outcome that a token id (of a chain, a mint) means. @throws Refusal unknown_venue */
export const findToken = (
  needs: HasVenues,
  tokenId: string,
  venue: string | undefined,
): Promise<(Located & { readonly outcome: 'YES' | 'NO' }) | null> =>
  ask(needs, tokenId, venue, async (one) => {
    const found = await one.markets.byToken(tokenId);
    return found === null ? null : { venue: one, ...found };
  });

export const levels = (side: readonly Level[]): { price: string; size: string }[] =>
  side.map(([price, size]) => ({ price: formatPips(price), size: formatMicro(size) }));

/** @throws Refusal unknown_venue, market_not_found */
export async function getOrderBook(
  needs: HasVenues,
  tokenId: string,
  venue: string | undefined,
): Promise<OrderBook> {
  const found = await findToken(needs, tokenId, venue);
  const book = found === null ? null : await orderBook(found, found.outcome, tokenId);
  if (book === null) throw refusal('market_not_found', 'No market has this token.');
  return book;
}

/** @returns `null` for a market that has ended */
export async function orderBook(
  { venue, market }: Located,
  outcome: 'YES' | 'NO',
  tokenId: string,
): Promise<OrderBook | null> {
  const book = await venue.markets.book(market.conditionId, outcome, BOOK_DEPTH);
  if (book === null) return null;
  return {
    tokenId,
    marketConditionId: book.conditionId,
    conditionId: book.conditionId,
    outcome: book.outcome,
    outcomeName: outcomeName(market.outcomes, book.outcome),
    bids: levels(book.bids),
    asks: levels(book.asks),
    tickSize: tickSizeText(market),
    minOrderSize: formatMicro(market.minOrderSize),
    negRisk: market.negRisk,
    lastTrade: book.lastTrade === undefined ? null : formatPips(book.lastTrade),
    timestamp: iso(book.changedAt),
    sequence: book.sequence,
  };
}

export const marketJobs = ({
  clock,
  venues,
  storedNames,
  priceRetention,
  detailMs,
}: {
  readonly clock: { now(): number };
  readonly venues: Venues;
  readonly storedNames: Pick<StoredNames, 'name'>;
  readonly priceRetention: { thin(before: number): Promise<void> };
  /** Younger prices stay as they were recorded. */
  readonly detailMs: number;
}): readonly Job[] => [
  { name: 'name outcomes', everyMs: 15_000, run: () => storedNames.name(venues) },
  { name: 'thin prices', everyMs: 3_600_000, run: () => priceRetention.thin(clock.now() - detailMs) },
];
