/** `GET /public-search`: events whose title, topics or rules contain every word. Wire reference 1.1. */
import type { Directory, GammaEvent } from './directory.ts';
import { searchFilter } from './filters.ts';
import { invalid } from './gamma-error.ts';
import { outcomePrices } from './market-record.ts';
import type { Query } from './query.ts';
import { eventText } from './texts.ts';

const DEFAULT_PER_TYPE = 10;
const MOST_PER_TYPE = 50;
const MOST_WORDS = 16;

/** Weight of a word by the place where it is found. */
const WORTH = { title: 4, topics: 2, rules: 1 } as const;

const SORTS: Readonly<Record<string, (event: GammaEvent) => number>> = {
  volume: ({ record }) => record.volume,
  volume_24hr: ({ record }) => record.volume24hr,
  volume24hr: ({ record }) => record.volume24hr,
  liquidity: ({ record }) => record.liquidity,
  endDate: ({ record }) => Date.parse(record.endDate),
  startDate: ({ record }) => Date.parse(record.startDate),
  competitive: ({ markets }) =>
    -Math.min(...markets.map((market) => Math.abs(Number(outcomePrices(market)[0]) - 0.5))),
};

/** 0: not every word is in it. */
function worthOf({ listed: { words } }: GammaEvent, wanted: readonly string[]): number {
  let worth = 0;
  for (const word of wanted) {
    const places = (['title', 'topics', 'rules'] as const).filter((place) => words[place].includes(word));
    if (places.length === 0) return 0;
    worth += places.reduce((sum, place) => sum + WORTH[place], 0);
  }
  return worth;
}

export interface Found {
  readonly page: readonly GammaEvent[];
  readonly total: number;
  readonly hasMore: boolean;
}

export function findEvents(directory: Directory, query: Query): Found {
  const words = wordsOf(query);
  const fits = searchFilter(query);
  const sort = SORTS[query.text('sort') ?? ''];
  const direction = query.flag('ascending') === true ? 1 : -1;
  const found = [...directory.events()]
    .map((event) => ({ event, worth: worthOf(event, words) }))
    .filter(({ event, worth }) => worth > 0 && fits(event));
  const ranked =
    sort === undefined
      ? found.sort((a, b) => b.worth - a.worth || b.event.record.volume - a.event.record.volume)
      : found.sort((a, b) => direction * (sort(a.event) - sort(b.event)));
  const limit = query.whole('limit_per_type', DEFAULT_PER_TYPE, MOST_PER_TYPE);
  const first = (Math.max(1, query.whole('page', 1, 1_000_000)) - 1) * limit;
  const page = ranked.slice(first, first + limit).map(({ event }) => event);
  return { page, total: found.length, hasMore: first + page.length < found.length };
}

function wordsOf(query: Query): readonly string[] {
  const words = (query.text('q') ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) throw invalid('q is required');
  return words.slice(0, MOST_WORDS);
}

function tagsFound(directory: Directory, query: Query) {
  if (query.flag('search_tags') !== true) return [];
  const words = wordsOf(query);
  const counts = new Map<string, number>();
  for (const { tags } of directory.listed())
    for (const { id } of tags) counts.set(id, (counts.get(id) ?? 0) + 1);
  return directory.tags
    .filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
    .slice(0, query.whole('limit_per_type', DEFAULT_PER_TYPE, MOST_PER_TYPE))
    .map(({ id, label, slug }) => ({ id, label, slug, event_count: counts.get(id) ?? 0 }));
}

export function searchText(directory: Directory, query: Query, found: Found): string {
  const withClosed = query.text('keep_closed_markets') !== '0';
  const tags = JSON.stringify(tagsFound(directory, query));
  if (query.flag('optimized') === true) {
    const events = found.page.map((event) => slimEvent(directory, event, withClosed));
    return `{"events":${JSON.stringify(events)},"tags":${tags},"profiles":[],"hasMore":${found.hasMore}}`;
  }
  const events = found.page.map((event) => eventText(directory, event, { withMarkets: true, withClosed }));
  const pagination = JSON.stringify({ hasMore: found.hasMore, totalResults: found.total });
  return `{"events":[${events.join(',')}],"tags":${tags},"profiles":[],"pagination":${pagination}}`;
}

/** Answers for the venue's own pages: outcomes and prices are real lists here, and there are no token ids. */
function slimEvent(directory: Directory, event: GammaEvent, withClosed: boolean) {
  const { id, slug, title, image, icon, startDate, endDate, active, closed, archived, volume } = event.record;
  const markets = directory
    .marketsOf(event)
    .filter(({ record }) => withClosed || !record.closed)
    .map(({ record }) => ({
      question: record.question,
      slug: record.slug,
      outcomes: JSON.parse(record.outcomes) as string[],
      outcomePrices: JSON.parse(record.outcomePrices) as string[],
      groupItemTitle: record.groupItemTitle,
      closed: record.closed,
      archived: record.archived,
      ...('bestBid' in record ? { bestBid: record.bestBid } : {}),
      ...('bestAsk' in record ? { bestAsk: record.bestAsk } : {}),
      ...('lastTradePrice' in record ? { lastTradePrice: record.lastTradePrice } : {}),
    }));
  return { id, slug, title, image, icon, startDate, endDate, active, closed, archived, volume, markets };
}
