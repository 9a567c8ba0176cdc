/** An event, which groups markets, as the venue's catalogue shows it. Pure; wire reference 1.3 and 1.4. */
import { type Micro, microToNumber } from '@bellwether/contract/decimals';
import type { ConditionId, MarketView } from '../../paper-exchange.ts';
import { closedTimeOf, endedAt, isOpen, isoOf, type MarketContext } from './market-record.ts';
import { slugOf, type TagRecord, tagsOf } from './tags.ts';

/** Facts of an event that do not change after its listing. */
export interface ListedEvent {
  readonly id: string;
  readonly title: string;
  readonly slug: string;
  readonly tags: readonly TagRecord[];
  /** Its markets in the order of listing. */
  readonly markets: ReadonlyMap<ConditionId, MarketContext>;
  /** Lower-case words of titles, topics and rules, for searches. */
  readonly words: { readonly title: string; readonly topics: string; readonly rules: string };
}

/** Unique, since titles may repeat. */
export const eventSlugOf = (title: string, id: string): string => `${slugOf(title)}-${id}`;

export type Markets = readonly [MarketView, ...MarketView[]];

export function listedEvent(markets: Markets): ListedEvent {
  const [{ eventId: id, eventTitle: title }] = markets;
  const titles = groupTitles(markets.map(({ question }) => question));
  const tags = tagsOf(markets);
  const contexts = markets.map(({ conditionId }, index) => {
    return [conditionId, { index, groupTitle: titles[index] ?? '' }] as const;
  });
  return {
    id,
    title,
    slug: eventSlugOf(title, id),
    tags,
    markets: new Map(contexts),
    words: {
      title: [title, ...markets.map(({ question }) => question)].join('\n').toLowerCase(),
      topics: tags.map(({ label }) => label.toLowerCase()).join('\n'),
      rules: markets.map(({ description }) => description.toLowerCase()).join('\n'),
    },
  };
}

/** The rest of each question without the words that all of them begin and end with: the contestants' names. */
function groupTitles(questions: readonly string[]): readonly string[] {
  if (questions.length < 2) return [''];
  const split = questions.map((question) => question.split(' '));
  const fewest = Math.min(...split.map((words) => words.length));
  const shared = (wordAt: (words: readonly string[], nth: number) => string | undefined): number => {
    let nth = 0;
    while (nth < fewest - 1 && new Set(split.map((words) => wordAt(words, nth))).size === 1) nth += 1;
    return nth;
  };
  const before = shared((words, nth) => words[nth]);
  const after = shared((words, nth) => words[words.length - 1 - nth]);
  return split.map((words) => words.slice(before, Math.max(before + 1, words.length - after)).join(' '));
}

const sumOf = (markets: Markets, pick: (market: MarketView) => Micro): number =>
  microToNumber(markets.reduce((sum, market) => sum + pick(market), 0n));

export type EventRecord = ReturnType<typeof eventRecord>;

/** Without `markets` and `tags`, which depend on the route. */
export function eventRecord({ id, title, slug }: ListedEvent, markets: Markets) {
  const [first] = markets;
  const open = markets.some(isOpen);
  const createdAt = isoOf(Math.min(...markets.map((market) => market.createdAt)));
  const liquidity = sumOf(markets, (market) => market.liquidity);
  return {
    id,
    ticker: slug,
    slug,
    title,
    description: first.description,
    resolutionSource: '',
    startDate: createdAt,
    creationDate: createdAt,
    endDate: isoOf(Math.max(...markets.map(({ endDate }) => endDate))),
    category: first.category,
    image: '',
    icon: '',
    active: true,
    closed: !open,
    archived: false,
    new: false,
    featured: false,
    restricted: false,
    live: false,
    liquidity,
    liquidityClob: liquidity,
    volume: sumOf(markets, (market) => market.volume),
    volume24hr: sumOf(markets, (market) => market.volume24h),
    createdAt,
    updatedAt: isoOf(Math.max(...markets.map(({ updatedAt }) => updatedAt))),
    ...(open ? {} : { closedTime: closedTimeOf(Math.max(...markets.map(endedAt))) }),
    enableOrderBook: open,
    negRisk: first.negRisk,
    enableNegRisk: first.negRisk,
    negRiskAugmented: false,
    ...(first.negRisk ? { negRiskMarketID: first.eventId } : {}),
    commentCount: 0,
    cyom: false,
    showAllOutcomes: true,
    showMarketImages: false,
    automaticallyActive: true,
    series: [] as readonly never[],
  };
}
