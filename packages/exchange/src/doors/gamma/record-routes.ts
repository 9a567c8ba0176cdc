/** One market, event or tag; tags and what is related to them; the search; and what the paper world does not have. */
import type { FastifyInstance } from 'fastify';
import { charge, ENTRIES_PER_TOKEN } from '../limits.ts';
import type { Directory, GammaEvent, GammaMarket } from './directory.ts';
import { invalid, notFound } from './gamma-error.ts';
import { joined, type RouteOptions, sendText } from './list-routes.ts';
import { Arranged, orderingOf } from './ordering.ts';
import { Query } from './query.ts';
import { findEvents, searchText } from './search.ts';
import type { TagRecord } from './tags.ts';
import { eventText, marketText } from './texts.ts';

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

export function recordRoutes(door: FastifyInstance, options: RouteOptions): void {
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
