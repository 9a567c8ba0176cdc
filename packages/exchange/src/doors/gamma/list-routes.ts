/** The lists of markets and events: the keyset pages, and the legacy ones that the venue still serves. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { charge, ENTRIES_PER_TOKEN, type Guarded } from '../limits.ts';
import type { Directory, GammaEvent, GammaMarket } from './directory.ts';
import { eventFilter, marketFilter } from './filters.ts';
import { GammaError, invalid } from './gamma-error.ts';
import { Arranged, orderingOf } from './ordering.ts';
import { Query } from './query.ts';
import { eventText, marketText } from './texts.ts';

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

interface Kind<T> {
  readonly name: 'markets' | 'events';
  arrange(directory: Directory, query: Query): Arranged<T>;
  text(directory: Directory, query: Query): (row: T) => string;
}

const MARKETS: Kind<GammaMarket> = {
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

const EVENTS: Kind<GammaEvent> = {
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

export interface RouteOptions {
  /** @throws GammaError while another process leads the exchange */
  readonly directory: () => Directory;
  readonly guard: Guarded;
}

/** @throws GammaError for an answer beyond the bound. */
export function joined(texts: Iterable<string>): string {
  const parts: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    bytes += text.length;
    if (bytes > MAX_ANSWER_BYTES) throw invalid('the answer would be too large: use a smaller limit');
    parts.push(text);
  }
  return parts.join(',');
}

export const sendText = (reply: FastifyReply, text: string): FastifyReply =>
  reply.type('application/json; charset=utf-8').send(text);

export function listRoutes(door: FastifyInstance, options: RouteOptions): void {
  bindLists(door, MARKETS, options);
  bindLists(door, EVENTS, options);
  bindCounted(door, options);
  bindBulk(door, options);
}

function bindLists<T>(door: FastifyInstance, kind: Kind<T>, { directory, guard }: RouteOptions): void {
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
