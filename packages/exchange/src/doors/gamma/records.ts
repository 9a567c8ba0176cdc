/**
 * Markets, events and tags as the venue's catalogue shows them. Pure; wire reference 1.3 and 1.4. Some fields are JSON
 * inside a string, and some numbers are strings: its clients rely on which. A figure that the paper exchange does not
 * know is left out, as the venue does.
 */

import { createHash } from 'node:crypto';
import {
  formatDecimal,
  formatMicro,
  formatPips,
  type Micro,
  microToNumber,
  pipsToNumber,
} from '@bellwether/contract/decimals';
import { paysOf } from '@bellwether/contract/positions';
import { parsePositionId, shortConditionId } from '@bellwether/protocol';
import type { ConditionId, MarketView } from '../../paper-exchange.ts';

const DAY_MS = 86_400_000;
/** The legacy base fee of markets with fees: a flag, not the fee. */
const FEE_FLAG_BPS = 1000;

const isOpen = ({ status }: MarketView): boolean => status === 'open';

const isoOf = (at: number): string => new Date(at).toISOString();
const dayOf = (at: number): string => isoOf(at).slice(0, 10);
/** The format of `closedTime`, which differs from that of all other times. */
const closedTimeOf = (at: number): string => `${isoOf(at).slice(0, 19).replace('T', ' ')}+00`;

const endedAt = ({ resolvedAt, endDate }: MarketView): number => resolvedAt ?? endDate;

/** Prices of [YES, NO]: the payout, else the midpoint, the last trade, or one half. */
export function outcomePrices(market: MarketView): readonly [string, string] {
  const { payout, bestBid, bestAsk, lastTrade } = market;
  if (payout !== undefined) return [formatMicro(paysOf(payout, 'YES')), formatMicro(paysOf(payout, 'NO'))];
  const doubled =
    bestBid !== undefined && bestAsk !== undefined ? bestBid + bestAsk : 2 * (lastTrade ?? 5_000);
  return [formatDecimal(BigInt(doubled) * 5n, 5), formatDecimal(BigInt(20_000 - doubled) * 5n, 5)];
}

interface FeeWords {
  readonly type: string;
  readonly rebate: number;
}
const FEE_WORDS: Readonly<Record<string, FeeWords>> = {
  Crypto: { type: 'crypto_fees_v2', rebate: 0.2 },
  Sports: { type: 'sports_fees_v3', rebate: 0.15 },
};

function feesOf({ feeRate, feeExponent, category }: MarketView) {
  if (feeRate === 0n) return { feesEnabled: false, feeType: 'zero_fees', feeSchedule: null };
  const { type, rebate } = FEE_WORDS[category] ?? { type: `${category.toLowerCase()}_fees`, rebate: 0.25 };
  return {
    feesEnabled: true,
    feeType: type,
    feeSchedule: {
      rate: microToNumber(feeRate),
      exponent: feeExponent,
      takerOnly: true,
      rebateRate: rebate,
    },
  };
}

/** Volumes of spans that are longer than the market's life are its whole volume; the others are not known. */
function volumesOf({ volume, volume24h, createdAt, updatedAt }: MarketView) {
  const age = updatedAt - createdAt;
  const all = microToNumber(volume);
  const within = (days: number, name: string) =>
    age <= days * DAY_MS ? { [name]: all, [`${name}Clob`]: all } : {};
  return {
    volumeNum: all,
    volumeClob: all,
    volume24hr: microToNumber(volume24h),
    volume24hrClob: microToNumber(volume24h),
    ...within(7, 'volume1wk'),
    ...within(30, 'volume1mo'),
    ...within(365, 'volume1yr'),
  };
}

/** `bestBid` and `bestAsk` are those of the first outcome, and left out where that side is empty. */
function quotesOf(market: MarketView) {
  const { bestBid, bestAsk, lastTrade } = market;
  if (!isOpen(market)) return { ...(lastTrade === undefined ? {} : { lastTradePrice: lastTrade / 10_000 }) };
  return {
    ...(bestBid === undefined ? {} : { bestBid: pipsToNumber(bestBid) }),
    ...(bestAsk === undefined ? {} : { bestAsk: pipsToNumber(bestAsk) }),
    ...(bestBid === undefined || bestAsk === undefined ? {} : { spread: pipsToNumber(bestAsk - bestBid) }),
    ...(lastTrade === undefined ? {} : { lastTradePrice: pipsToNumber(lastTrade) }),
  };
}

/** Highest where the outcome is least certain. */
function competitiveOf(market: MarketView): number {
  const distance = Number(outcomePrices(market)[0]) - 0.5;
  return Math.round(1e6 / (1 + distance * distance)) / 1e6;
}

/** Fields in which the two versions of the protocol differ. */
function ofProtocol({ version, tokenIds, status }: MarketView) {
  if (version === 'v2')
    return {
      version,
      clobTokenIds: null,
      positionIds: [...tokenIds],
      resolutionStatus: status === 'resolved' ? 'resolved' : 'active',
    };
  return {
    version,
    clobTokenIds: JSON.stringify(tokenIds),
    positionIds: [],
    umaResolutionStatus: { open: '', closed: 'proposed', resolved: 'resolved' }[status],
    umaResolutionStatuses: JSON.stringify(
      { open: [], closed: ['proposed'], resolved: ['proposed', 'resolved'] }[status],
    ),
  };
}

/** The synthetic market of an exclusive event: for everything that has no market of its own. */
function isOther({ version, tokenIds: [yes] }: MarketView): boolean {
  const position = version === 'v2' ? parsePositionId(BigInt(yes)) : null;
  return position?.module === 2 && position.index === position.arity;
}

interface MarketContext {
  /** Position among the markets of its event. */
  readonly index: number;
  /** Name that distinguishes it from its siblings; '' for an event of one market. */
  readonly groupTitle: string;
}

export type MarketRecord = ReturnType<typeof marketRecord>;

/** Without `events` and `tags`, which depend on the route. */
export function marketRecord(market: MarketView, { index, groupTitle }: MarketContext) {
  const open = isOpen(market);
  return {
    id: market.id,
    question: market.question,
    conditionId: shortConditionId(market.conditionId),
    slug: market.slug,
    resolutionSource: '',
    endDate: isoOf(market.endDate),
    startDate: isoOf(market.createdAt),
    category: market.category,
    image: '',
    icon: '',
    description: market.description,
    outcomes: JSON.stringify(market.outcomes),
    outcomePrices: JSON.stringify(outcomePrices(market)),
    shortOutcomes: JSON.stringify(market.outcomes),
    volume: formatMicro(market.volume),
    liquidity: formatMicro(market.liquidity),
    liquidityNum: microToNumber(market.liquidity),
    liquidityClob: microToNumber(market.liquidity),
    ...volumesOf(market),
    ...quotesOf(market),
    competitive: competitiveOf(market),
    marketMakerAddress: '',
    createdAt: isoOf(market.createdAt),
    updatedAt: isoOf(market.updatedAt),
    acceptingOrdersTimestamp: isoOf(market.createdAt),
    endDateIso: dayOf(market.endDate),
    startDateIso: dayOf(market.createdAt),
    ...(open ? {} : { closedTime: closedTimeOf(endedAt(market)) }),
    // The venue leaves `active` true on closed markets.
    active: true,
    closed: !open,
    archived: false,
    new: false,
    featured: false,
    restricted: false,
    ready: false,
    funded: true,
    approved: true,
    acceptingOrders: open,
    enableOrderBook: open,
    orderPriceMinTickSize: Number(formatPips(market.tickSize)),
    orderMinSize: microToNumber(market.minOrderSize),
    secondsDelay: 0,
    // The paper world has no oracle; a market's question is its condition.
    questionID: shortConditionId(market.conditionId),
    negRisk: market.negRisk,
    negRiskMarketID: market.negRisk ? market.eventId : '',
    negRiskRequestID: '',
    negRiskOther: isOther(market),
    groupItemTitle: groupTitle,
    groupItemThreshold: String(index),
    fee: '',
    umaBond: '',
    umaReward: '',
    ...ofProtocol(market),
    automaticallyActive: true,
    ...(market.status === 'resolved' ? { automaticallyResolved: true } : {}),
    clearBookOnStart: false,
    manualActivation: false,
    cyom: false,
    pagerDutyNotificationEnabled: false,
    rfqEnabled: false,
    holdingRewardsEnabled: false,
    rewardsMinSize: 0,
    rewardsMaxSpread: 0,
    clobRewards: [],
    comboStatus: 'disabled',
    ...(market.feeRate > 0n ? { makerBaseFee: FEE_FLAG_BPS, takerBaseFee: FEE_FLAG_BPS } : {}),
    ...feesOf(market),
  };
}

// An event, which groups markets.

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

// Tags: a market's category and its topics. The paper world names topics but does not number them, so a tag's id is made
// from its slug: the same after a restart and on every replica.

export interface TagRecord {
  readonly id: string;
  readonly label: string;
  readonly slug: string;
  readonly forceShow: boolean;
  readonly forceHide: boolean;
  readonly isCarousel: boolean;
}

/** Lower-case words joined by hyphens. */
export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[’“”]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');

function tagNamed(name: string): TagRecord {
  const slug = slugOf(name);
  const id = String(createHash('sha1').update(slug).digest().readUInt32BE() >>> 1);
  const label = name.charAt(0).toUpperCase() + name.slice(1);
  return { id, label, slug, forceShow: false, forceHide: false, isCarousel: false };
}

function tagsOf(markets: readonly Pick<MarketView, 'category' | 'tags'>[]): readonly TagRecord[] {
  const names = new Set(markets.flatMap(({ category, tags }) => [category, ...tags]));
  return [...names].map(tagNamed);
}
