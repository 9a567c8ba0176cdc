/**
 * The door of venue A's catalogue: events, markets, tags and the search, derived from what the exchange lists. It reads
 * and has no keys. Wire reference 1.
 *
 * Register it with Fastify under a prefix of your choice.
 */
import type {
  FastifyError,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
} from 'fastify';
import {
  charge,
  ENTRIES_PER_TOKEN,
  type Guarded,
  guardDoor,
  NulInUrl,
  sayWhen,
  TooManyRequests,
} from '../limits.ts';
import {
  type CatalogueReads,
  Directory,
  eventText,
  type GammaEvent,
  type GammaMarket,
  marketText,
} from './directory.ts';
import {
  Arranged,
  eventFilter,
  GammaError,
  invalid,
  marketFilter,
  notFound,
  orderingOf,
  Query,
  searchFilter,
} from './query.ts';
import { outcomePrices, type TagRecord } from './records.ts';

export interface GammaDoorOptions {
  /** `undefined` while another process leads the exchange. */
  readonly exchange: () => CatalogueReads | undefined;
  readonly guard: Guarded;
}

/** How long the venue's own caches keep an answer. */
const CACHE_CONTROL = 'public, max-age=300';

export const gammaDoor: FastifyPluginAsync<GammaDoorOptions> = async (door, { exchange, guard }) => {
  let directory: Directory | undefined;
  const current = (): Directory => {
    const open = exchange();
    if (open === undefined) throw new GammaError(503, 'service unavailable', 'the exchange is not open here');
    if (directory?.covers(open) !== true) directory = new Directory(open, directory);
    return directory;
  };

  guardDoor(door, guard);
  door.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode === 200) reply.header('cache-control', CACHE_CONTROL);
  });
  door.setErrorHandler((error: FastifyError | GammaError | TooManyRequests | NulInUrl, request, reply) => {
    if (error instanceof GammaError)
      return reply.code(error.status).send({ type: error.type, error: error.message });
    if (error instanceof TooManyRequests)
      return sayWhen(reply, error).send({ type: 'rate limit error', error: error.message });
    const status = error instanceof NulInUrl ? 400 : (error.statusCode ?? 500);
    if (status < 500) return reply.code(status).send({ type: 'validation error', error: error.message });
    request.log.error({ err: error }, 'the catalogue’s door failed');
    return reply.code(500).send({ type: 'internal error', error: 'internal error' });
  });
  if (door.prefix !== '')
    door.setNotFoundHandler((_request, reply) =>
      reply.code(404).send({ type: 'not found error', error: 'not found' }),
    );
  listRoutes(door, { directory: current, guard });
  recordRoutes(door, { directory: current, guard });
};

// The lists of markets and events: the keyset pages, and the legacy ones that the venue still serves.

const DEFAULT_LIMIT = 20;
const MOST_LIMIT = 100;
const MOST_OFFSET = 2000;
/** As long as the longest answer of the other doors. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;

const MARKET_ORDER = new Set([
  ...[
    'id',
    'slug',
    'question',
    'category',
    'volume',
    'volumeNum',
    'volumeClob',
    'volume24hr',
    'volume24hrClob',
  ],
  ...['volume1wk', 'volume1mo', 'volume1yr', 'liquidity', 'liquidityNum', 'liquidityClob', 'competitive'],
  ...['spread', 'bestBid', 'bestAsk', 'lastTradePrice', 'orderPriceMinTickSize', 'orderMinSize'],
  ...['startDate', 'endDate', 'createdAt', 'updatedAt', 'closedTime', 'startDateIso', 'endDateIso'],
  ...['acceptingOrdersTimestamp', 'conditionId', 'questionID', 'rewardsMinSize', 'rewardsMaxSpread'],
  ...['active', 'closed', 'featured', 'new', 'negRisk', 'acceptingOrders', 'groupItemThreshold'],
]);
const EVENT_ORDER = new Set([
  ...['id', 'slug', 'ticker', 'title', 'category', 'volume', 'volume24hr', 'liquidity', 'liquidityClob'],
  ...['startDate', 'endDate', 'creationDate', 'createdAt', 'updatedAt', 'closedTime', 'commentCount'],
  ...['active', 'closed', 'featured', 'new', 'negRisk'],
]);

interface ListKind<T> {
  readonly name: 'markets' | 'events';
  arrange(directory: Directory, query: Query): Arranged<T>;
  text(directory: Directory, query: Query): (row: T) => string;
}

const MARKETS: ListKind<GammaMarket> = {
  name: 'markets',
  arrange: (directory, query) => {
    const ordering = orderingOf(query, MARKET_ORDER);
    const rows = [...directory.markets()].filter(marketFilter(query));
    return new Arranged(rows, ordering, ({ record }) => record);
  },
  text: (directory, query) => {
    const withTags = query.flag('include_tag') === true;
    return (market) => marketText(directory, market, { withTags });
  },
};

const EVENTS: ListKind<GammaEvent> = {
  name: 'events',
  arrange: (directory, query) => {
    const ordering = orderingOf(query, EVENT_ORDER);
    const rows = [...directory.events()].filter(eventFilter(query));
    return new Arranged(rows, ordering, ({ record }) => record);
  },
  text: (directory, query) => {
    const withMarkets = query.flag('include_markets') !== false;
    return (event) => eventText(directory, event, { withMarkets, withClosed: true });
  },
};

interface RouteOptions {
  /** @throws GammaError while another process leads the exchange */
  readonly directory: () => Directory;
  readonly guard: Guarded;
}

/** @throws GammaError for an answer beyond the bound. */
function joined(texts: Iterable<string>): string {
  const parts: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    bytes += text.length;
    if (bytes > MAX_ANSWER_BYTES) throw invalid('the answer would be too large: use a smaller limit');
    parts.push(text);
  }
  return parts.join(',');
}

const sendText = (reply: FastifyReply, text: string): FastifyReply =>
  reply.type('application/json; charset=utf-8').send(text);

function listRoutes(door: FastifyInstance, options: RouteOptions): void {
  bindLists(door, MARKETS, options);
  bindLists(door, EVENTS, options);
  bindCounted(door, options);
  bindBulk(door, options);
}

function bindLists<T>(door: FastifyInstance, kind: ListKind<T>, { directory, guard }: RouteOptions): void {
  const { name } = kind;
  const texts = function* (query: Query, rows: readonly T[]): Generator<string> {
    const text = kind.text(directory(), query);
    for (const row of rows) yield text(row);
  };

  door.get(`/${name}/keyset`, async (request, reply) => {
    const query = Query.of(request);
    if (query.text('offset') !== undefined) throw invalid('offset is not allowed on keyset endpoints');
    const limit = Math.max(1, query.whole('limit', DEFAULT_LIMIT, MOST_LIMIT));
    await charge(guard, request, limit / ENTRIES_PER_TOKEN);
    const { rows, next } = kind.arrange(directory(), query).after(query.text('after_cursor'), limit);
    const cursor = next === undefined ? '' : `,"next_cursor":${JSON.stringify(next)}`;
    return sendText(reply, `{"${name}":[${joined(texts(query, rows))}]${cursor}}`);
  });

  door.get(`/${name}`, async (request, reply) => {
    const query = Query.of(request);
    const { limit, offset } = legacyPage(query, name);
    await charge(guard, request, limit / ENTRIES_PER_TOKEN);
    const rows = kind.arrange(directory(), query).slice(offset, limit);
    const text = `[${joined(texts(query, rows))}]`;
    reply
      .header('deprecation', 'true')
      .header('sunset', 'Fri, 01 May 2026 00:00:00 GMT')
      .header('warning', `299 - "use /${name}/keyset"`);
    return sendText(reply, text);
  });
}

function legacyPage(query: Query, name: string): { readonly limit: number; readonly offset: number } {
  const offset = query.whole('offset', 0);
  if (offset > MOST_OFFSET) throw invalid(`offset too large, use /${name}/keyset for deeper pagination`);
  return { offset, limit: query.whole('limit', DEFAULT_LIMIT, MOST_LIMIT) };
}

/** Events with their number. */
function bindCounted(door: FastifyInstance, { directory, guard }: RouteOptions): void {
  door.get('/events/pagination', async (request, reply) => {
    const query = Query.of(request);
    const { limit, offset } = legacyPage(query, 'events');
    await charge(guard, request, limit / ENTRIES_PER_TOKEN);
    const found = EVENTS.arrange(directory(), query);
    const rows = found.slice(offset, limit);
    const data = joined(rows.map(EVENTS.text(directory(), query)));
    const pagination = JSON.stringify({
      hasMore: offset + rows.length < found.total,
      totalResults: found.total,
    });
    return sendText(reply, `{"data":[${data}],"pagination":${pagination}}`);
  });
}

/** Names of body filters that differ from those of the query. */
const BODY_NAMES: Readonly<Record<string, string>> = {
  clobTokenIds: 'clob_token_ids',
  conditionIds: 'condition_ids',
  questionIds: 'question_ids',
  marketMakerAddress: 'market_maker_address',
  includeTag: 'include_tag',
  tagId: 'tag_id',
};

function bulkQuery(request: FastifyRequest): Query {
  const { body } = request;
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new GammaError(422, 'validation error', 'the body must be a JSON object');
  const entries = Object.entries(body).map(([name, value]) => [BODY_NAMES[name] ?? name, value] as const);
  return new Query(Object.fromEntries(entries));
}

function bindBulk(door: FastifyInstance, { directory, guard }: RouteOptions): void {
  const find = async (request: FastifyRequest, query: Query): Promise<readonly GammaMarket[]> => {
    const limit = query.whole('limit', MOST_LIMIT, MOST_LIMIT);
    await charge(guard, request, limit / ENTRIES_PER_TOKEN);
    return MARKETS.arrange(directory(), query).slice(query.whole('offset', 0), limit);
  };
  door.post('/markets/information', async (request, reply) => {
    const query = bulkQuery(request);
    const rows = await find(request, query);
    return sendText(reply, `[${joined(rows.map(MARKETS.text(directory(), query)))}]`);
  });
  door.post('/markets/abridged', async (request, reply) => {
    const rows = await find(request, bulkQuery(request));
    return reply.send(rows.map(({ record }) => abridged(record)));
  });
}

const abridged = (record: GammaMarket['record']) => ({
  id: record.id,
  question: record.question,
  conditionId: record.conditionId,
  slug: record.slug,
  endDate: record.endDate,
  outcomes: record.outcomes,
  outcomePrices: record.outcomePrices,
  clobTokenIds: record.clobTokenIds,
  volume: record.volume,
  liquidity: record.liquidity,
  active: record.active,
  closed: record.closed,
});

// One market, event or tag; tags and what is related to them; the search; and what the paper world does not have.

type ById = { Params: { id: string } };
type BySlug = { Params: { slug: string } };

const NUMBER = /^\d{1,15}$/;

function found<T>(what: 'id' | 'slug', row: T | undefined): T {
  if (row === undefined) throw notFound(what);
  return row;
}

/** @throws GammaError 422 for text that is no number */
function idOf(text: string): string {
  if (!NUMBER.test(text)) throw invalid('id is invalid');
  return text;
}

function recordRoutes(door: FastifyInstance, options: RouteOptions): void {
  const { directory } = options;
  bindMarkets(door, directory);
  bindEvents(door, directory);
  bindTags(door, options);
  bindAbsent(door);

  door.get('/public-search', async (request, reply) => {
    const query = Query.of(request);
    const events = findEvents(directory(), query);
    await charge(options.guard, request, events.page.length / ENTRIES_PER_TOKEN);
    return sendText(reply, joined([searchText(directory(), query, events)]));
  });
  for (const path of ['/', '/status'])
    door.get(path, (_request, reply) => reply.type('text/plain').send('OK'));
}

function bindMarkets(door: FastifyInstance, directory: () => Directory): void {
  const byId = (id: string): GammaMarket => found('id', directory().marketById(idOf(id)));
  const text = (market: GammaMarket, query: Query): string =>
    marketText(directory(), market, { withTags: query.flag('include_tag') === true });
  door.get<ById>('/markets/:id', (request, reply) =>
    sendText(reply, text(byId(request.params.id), Query.of(request))),
  );
  door.get<BySlug>('/markets/slug/:slug', (request, reply) =>
    sendText(reply, text(found('slug', directory().marketBySlug(request.params.slug)), Query.of(request))),
  );
  door.get<ById>('/markets/:id/tags', (request, reply) => reply.send(byId(request.params.id).event.tags));
  door.get<ById>('/markets/:id/description', (request, reply) => {
    const { id, description } = byId(request.params.id).record;
    return reply.send({ id, description });
  });
}

function bindEvents(door: FastifyInstance, directory: () => Directory): void {
  const byId = (id: string): GammaEvent => found('id', directory().eventById(idOf(id)));
  const text = (event: GammaEvent, query: Query): string =>
    eventText(directory(), event, {
      withMarkets: query.flag('include_markets') !== false,
      withClosed: true,
    });
  door.get<ById>('/events/:id', (request, reply) =>
    sendText(reply, text(byId(request.params.id), Query.of(request))),
  );
  door.get<BySlug>('/events/slug/:slug', (request, reply) =>
    sendText(reply, text(found('slug', directory().eventBySlug(request.params.slug)), Query.of(request))),
  );
  door.get<ById>('/events/:id/tags', (request, reply) => reply.send(byId(request.params.id).listed.tags));
}

const TAG_ORDER: ReadonlySet<string> = new Set(['id', 'label', 'slug', 'forceShow', 'isCarousel']);
const MOST_TAGS = 100;

function bindTags(door: FastifyInstance, { directory, guard }: RouteOptions): void {
  const byId = (id: string): TagRecord => found('id', directory().tag(idOf(id)));
  const bySlug = (slug: string): TagRecord => found('slug', directory().tagBySlug(slug));
  const relations = (tag: TagRecord) =>
    relatedTo(directory(), tag).map((related, nth) => ({
      id: `${tag.id}-${related.id}`,
      tagID: Number(tag.id),
      relatedTagID: Number(related.id),
      rank: nth + 1,
    }));

  door.get('/tags', async (request, reply) => {
    const query = Query.of(request);
    const limit = query.whole('limit', MOST_TAGS, MOST_TAGS);
    await charge(guard, request, limit / ENTRIES_PER_TOKEN);
    const arranged = new Arranged(directory().tags, orderingOf(query, TAG_ORDER), (tag) => ({ ...tag }));
    return reply.send(arranged.slice(query.whole('offset', 0), limit));
  });
  door.get<ById>('/tags/:id', (request, reply) => reply.send(byId(request.params.id)));
  door.get<BySlug>('/tags/slug/:slug', (request, reply) => reply.send(bySlug(request.params.slug)));
  door.get<ById>('/tags/:id/related-tags', (request, reply) =>
    reply.send(relations(byId(request.params.id))),
  );
  door.get<BySlug>('/tags/slug/:slug/related-tags', (request, reply) =>
    reply.send(relations(bySlug(request.params.slug))),
  );
  door.get<ById>('/tags/:id/related-tags/tags', (request, reply) =>
    reply.send(relatedTo(directory(), byId(request.params.id))),
  );
  door.get<BySlug>('/tags/slug/:slug/related-tags/tags', (request, reply) =>
    reply.send(relatedTo(directory(), bySlug(request.params.slug))),
  );
}

/** The tags of the same events, those of most events first. */
function relatedTo(directory: Directory, { id }: TagRecord): readonly TagRecord[] {
  const shared = new Map<string, number>();
  for (const { tags } of directory.listed()) {
    if (!tags.some((tag) => tag.id === id)) continue;
    for (const tag of tags) if (tag.id !== id) shared.set(tag.id, (shared.get(tag.id) ?? 0) + 1);
  }
  return [...shared]
    .sort(([a, left], [b, right]) => right - left || Number(a) - Number(b))
    .map(([other]) => directory.tag(other))
    .filter((tag) => tag !== undefined);
}

/** The paper world has no series, sports data, comments or profiles: the answers say so in the venue's shapes. */
function bindAbsent(door: FastifyInstance): void {
  for (const path of ['/series', '/sports', '/teams', '/market-clarifications'])
    door.get(path, (_request, reply) => reply.send([]));
  door.get('/sports/market-types', (_request, reply) => reply.send({ marketTypes: [] }));
  door.get('/series/:id', () => {
    throw notFound('id');
  });
  door.get('/comments', (request, reply) => {
    const query = Query.of(request);
    const type = query.text('parent_entity_type');
    if (type !== 'Event' && type !== 'Series' && type !== 'PerpsAsset')
      throw invalid('parent_entity_type is not valid');
    if (query.text('parent_entity_id') === undefined) throw invalid('parent_entity_id is required');
    return reply.send([]);
  });
  for (const path of ['/comments/:id', '/comments/user_address/:address'])
    door.get(path, (_request, reply) => reply.send([]));
  door.get('/public-profile', (request) => {
    if (!/^0x[0-9a-f]{40}$/i.test(Query.of(request).text('address') ?? '')) throw invalid('invalid address');
    throw notFound('id');
  });
}

// `GET /public-search`: events whose title, topics or rules contain every word. Wire reference 1.1.

const DEFAULT_PER_TYPE = 10;
const MOST_PER_TYPE = 50;
const MOST_WORDS = 16;

/** Weight of a word by the place where it is found. */
const WORTH = { title: 4, topics: 2, rules: 1 } as const;

const SEARCH_SORTS: Readonly<Record<string, (event: GammaEvent) => number>> = {
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

interface Found {
  readonly page: readonly GammaEvent[];
  readonly total: number;
  readonly hasMore: boolean;
}

function findEvents(directory: Directory, query: Query): Found {
  const words = wordsOf(query);
  const fits = searchFilter(query);
  const sort = SEARCH_SORTS[query.text('sort') ?? ''];
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

function searchText(directory: Directory, query: Query, found: Found): string {
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
