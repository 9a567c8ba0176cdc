/** Which markets and events a list shows. Wire reference 1.2 and 1.3. */
import { conditionIdOfBothWidths } from '@bellwether/protocol';
import type { GammaEvent, GammaMarket } from './directory.ts';
import type { Query } from './query.ts';
import { slugOf, type TagRecord } from './tags.ts';

type Test<T> = (row: T) => boolean;

/** Filters on what the paper world does not have: a list that asks for it is empty. */
const ABSENT_OF_MARKETS = ['game_id', 'sports_market_types', 'market_maker_address'];
const ABSENT_OF_EVENTS = [
  'game_id',
  'series_id',
  'recurrence',
  'event_date',
  'event_week',
  'parent_event_id',
];

const isAskedFor = (query: Query, names: readonly string[]): boolean =>
  names.some((name) => query.all(name).length > 0);

function oneOf<T>(values: readonly string[], pick: (row: T) => readonly string[]): Test<T>[] {
  if (values.length === 0) return [];
  const wanted = new Set(values.map((value) => value.toLowerCase()));
  return [(row) => pick(row).some((value) => wanted.has(value.toLowerCase()))];
}

function flag<T>(query: Query, name: string, pick: (row: T) => boolean, fallback?: boolean): Test<T>[] {
  const wanted = query.flag(name) ?? fallback;
  return wanted === undefined ? [] : [(row) => pick(row) === wanted];
}

/** `<name>_min` and `<name>_max`, both inclusive. */
function range<T>(
  read: (name: string) => number | undefined,
  name: string,
  pick: (row: T) => number,
): Test<T>[] {
  const [least, most] = [read(`${name}_min`), read(`${name}_max`)];
  if (least === undefined && most === undefined) return [];
  return [(row) => pick(row) >= (least ?? -Infinity) && pick(row) <= (most ?? Infinity)];
}

const all =
  <T>(tests: readonly Test<T>[]): Test<T> =>
  (row) =>
    tests.every((test) => test(row));

const tagIds = (tags: readonly TagRecord[]): readonly string[] => tags.map(({ id }) => id);

function dates<T>(query: Query, startOf: (row: T) => number, endOf: (row: T) => number): Test<T>[] {
  const time = (name: string) => query.time(name);
  return [...range(time, 'start_date', startOf), ...range(time, 'end_date', endOf)];
}

function tags<T>(query: Query, tagsOf: (row: T) => readonly TagRecord[]): Test<T>[] {
  const excluded = new Set(query.all('exclude_tag_id'));
  return [
    ...oneOf<T>(query.all('tag_id'), (row) => tagIds(tagsOf(row))),
    ...oneOf<T>(query.all('tag_slug'), (row) => tagsOf(row).map(({ slug }) => slug)),
    ...(excluded.size === 0 ? [] : [(row: T) => !tagsOf(row).some(({ id }) => excluded.has(id))]),
  ];
}

/** Markets of Protocol V2 have none. */
const umaStatusOf = (record: object): unknown =>
  (record as { readonly umaResolutionStatus?: unknown }).umaResolutionStatus;

export function marketFilter(query: Query): Test<GammaMarket> {
  if (isAskedFor(query, ABSENT_OF_MARKETS)) return () => false;
  const number = (name: string) => query.number(name);
  const decimalized = query.flag('decimalized');
  const status = query.text('uma_resolution_status');
  const leastReward = query.number('rewards_min_size') ?? 0;
  return all<GammaMarket>([
    ...flag<GammaMarket>(query, 'closed', ({ record }) => record.closed, false),
    ...flag<GammaMarket>(query, 'active', ({ record }) => record.active),
    ...flag<GammaMarket>(query, 'archived', ({ record }) => record.archived),
    ...flag<GammaMarket>(query, 'cyom', ({ record }) => record.cyom),
    ...flag<GammaMarket>(query, 'rfq_enabled', ({ record }) => record.rfqEnabled),
    ...oneOf<GammaMarket>(query.all('id'), ({ view }) => [view.id]),
    ...oneOf<GammaMarket>(query.all('slug'), ({ view }) => [view.slug]),
    ...oneOf<GammaMarket>(query.all('condition_ids').map(conditionIdOfBothWidths), ({ view }) => [
      view.conditionId,
    ]),
    ...oneOf<GammaMarket>(query.all('question_ids').map(conditionIdOfBothWidths), ({ view }) => [
      view.conditionId,
    ]),
    ...oneOf<GammaMarket>(query.all('clob_token_ids'), ({ view }) => view.tokenIds),
    ...tags<GammaMarket>(query, ({ event }) => event.tags),
    ...range<GammaMarket>(number, 'liquidity_num', ({ record }) => record.liquidityNum),
    ...range<GammaMarket>(number, 'volume_num', ({ record }) => record.volumeNum),
    ...dates<GammaMarket>(
      query,
      ({ view }) => view.createdAt,
      ({ view }) => view.endDate,
    ),
    // As seen at the venue: `true` means ticks of 0.001, `false` ticks of 0.01.
    ...(decimalized === undefined
      ? []
      : [({ view }: GammaMarket) => view.tickSize === (decimalized ? 10 : 100)]),
    ...(status === undefined ? [] : [({ record }: GammaMarket) => umaStatusOf(record) === status]),
    ...(leastReward > 0 ? [({ record }: GammaMarket) => record.rewardsMinSize >= leastReward] : []),
  ]);
}

export function eventFilter(query: Query): Test<GammaEvent> {
  if (isAskedFor(query, ABSENT_OF_EVENTS)) return () => false;
  const number = (name: string) => query.number(name);
  const title = query.text('title_search')?.toLowerCase();
  return all<GammaEvent>([
    ...flag<GammaEvent>(query, 'closed', ({ record }) => record.closed, false),
    ...flag<GammaEvent>(query, 'active', ({ record }) => record.active),
    ...flag<GammaEvent>(query, 'archived', ({ record }) => record.archived),
    ...flag<GammaEvent>(query, 'featured', ({ record }) => record.featured),
    ...flag<GammaEvent>(query, 'live', ({ record }) => record.live),
    ...flag<GammaEvent>(query, 'cyom', ({ record }) => record.cyom),
    ...oneOf<GammaEvent>(query.all('id'), ({ listed }) => [listed.id]),
    ...oneOf<GammaEvent>(query.all('slug'), ({ listed }) => [listed.slug]),
    ...tags<GammaEvent>(query, ({ listed }) => listed.tags),
    ...range<GammaEvent>(number, 'liquidity', ({ record }) => record.liquidity),
    ...range<GammaEvent>(number, 'volume', ({ record }) => record.volume),
    ...dates<GammaEvent>(
      query,
      ({ record }) => Date.parse(record.startDate),
      ({ record }) => Date.parse(record.endDate),
    ),
    ...(title === undefined ? [] : [({ listed }: GammaEvent) => listed.title.toLowerCase().includes(title)]),
  ]);
}

/** Filters of a search. `events_tag` takes slugs, labels or ids. */
export function searchFilter(query: Query): Test<GammaEvent> {
  const status = query.text('events_status') ?? 'all';
  const wanted = query.all('events_tag').map(slugOf);
  const excluded = new Set(query.all('exclude_tag_id'));
  const isOfAbsentKind = isAskedFor(query, ['recurrence']);
  return ({ listed, record }) => {
    if (isOfAbsentKind) return false;
    if (status === 'active' && record.closed) return false;
    if (status === 'closed' && !record.closed) return false;
    if (
      wanted.length > 0 &&
      !listed.tags.some(({ id, slug }) => wanted.includes(slug) || wanted.includes(id))
    )
      return false;
    return !listed.tags.some(({ id }) => excluded.has(id));
  };
}
