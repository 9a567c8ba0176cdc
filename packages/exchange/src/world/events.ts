/**
 * The events of the world: how one is made for a slot (texts, ids, first probabilities, end date), and the hidden
 * probability that moves until its outcome is drawn. Ids come from the catalogue's own random stream, so that trades do
 * not change the next listings.
 */

import type { Pips } from '@bellwether/contract/decimals';
import type { ConditionId, TokenId } from '../engine/commands.ts';
import type { Category, OutcomeNames } from './markets.ts';
import type { Random } from './random.ts';
import {
  CERTAIN,
  MILLIONTHS_PER_PIP,
  type Millionths,
  type WorldEvent,
  type WorldMarket,
} from './records.ts';
import { HORIZON_MS, type Horizon, SLOTS, type Slot } from './slots.ts';
import {
  CONTESTS,
  type ContestTemplate,
  NAMED_TEMPLATES,
  NAMED_WORDS,
  type NamedKind,
  type NamedTemplate,
  TEMPLATES,
  type Template,
  USUAL_WORDS,
} from './texts.ts';

/** How long a market waits between two visits of the maker, in wall milliseconds. */
export const QUOTE_EVERY_MS = 10_000;

const SECOND_MS = 1_000;
const FIRST_MARKET_ID = 510_001;
const FIRST_EVENT_ID = 30_001;

const PACES: Readonly<Record<Horizon, Pace>> = {
  blitz: 'blitz',
  flash: 'fast',
  short: 'fast',
  days: 'slow',
  weeks: 'slow',
  months: 'slow',
};

/** Ids as the venue's contracts make them. */
export interface MarketIds {
  /** The [YES, NO] tokens of a condition. */
  tokensOf(conditionId: ConditionId, negRisk: boolean): readonly [TokenId, TokenId];
  /** The conditions of an event of Protocol V2, one for each of its markets. @param data hex: what the event is about */
  v2ConditionsOf(data: string, markets: number): readonly ConditionId[];
}

interface ListingRequest {
  readonly slot: number;
  readonly at: number;
  /** Speed in thousandths. */
  readonly speed: number;
  /** True at the founding of the world: lives are then partly over already, so that the ends are spread out. */
  readonly midway: boolean;
  /** Undefined in a world of an earlier release, which drew the ids of its tokens. */
  readonly ids: MarketIds | undefined;
  readonly isOfV2: boolean;
}

export class Listing {
  readonly #random: Random;
  #listedMarkets: number;
  #listedEvents: number;

  constructor(random: Random, listedMarkets: number, listedEvents: number) {
    this.#random = random;
    this.#listedMarkets = listedMarkets;
    this.#listedEvents = listedEvents;
  }

  get counters(): { readonly markets: number; readonly events: number } {
    return { markets: this.#listedMarkets, events: this.#listedEvents };
  }

  make(request: ListingRequest, taken: (question: string) => boolean): WorldEvent {
    const random = this.#random;
    const { at, speed } = request;
    const slot = SLOTS[request.slot]!;
    const text =
      slot.markets === 1
        ? plainEvent(slot, PACES[slot.horizon], random, taken, this.#listedMarkets + 1)
        : contestEvent(contestFor(slot.category), slot.markets, random);
    const probabilities =
      slot.markets === 1
        ? [slot.finerTick === undefined ? firstProbability(slot.tickSize, random) : firstNearLimit(random)]
        : firstContestProbabilities(slot.markets, slot.tickSize, random);
    const [shortest, longest] = HORIZON_MS[slot.horizon];
    const life = scaled(random.between(shortest / SECOND_MS, longest / SECOND_MS) * SECOND_MS, speed);
    const left = request.midway ? Math.floor((life * random.between(10, 100)) / 100) : life;
    const moves = Math.floor(life / QUOTE_EVERY_MS);
    this.#listedEvents += 1;
    // Spread over the interval, so that a step visits only a part of the markets. Drawn before the markets, as in every release.
    const nextQuoteAt = at + random.between(1, QUOTE_EVERY_MS);
    const markets = text.markets.map((market, index) =>
      this.#market({
        ...market,
        slot: request.slot,
        at,
        probability: probabilities[index]!,
        moves,
        ids: request.ids,
      }),
    );
    const { ids } = request;
    const isOfV2 = request.isOfV2 && ids !== undefined;
    return {
      id: String(FIRST_EVENT_ID + this.#listedEvents - 1),
      title: text.title,
      slot: request.slot,
      endDate: at + left,
      dueAt: 0,
      nextQuoteAt,
      ...(isOfV2 ? { version: 'v2', markets: ofV2(markets, ids) } : { markets }),
    };
  }

  #market(facts: {
    readonly question: string;
    readonly description: string;
    readonly outcomes?: OutcomeNames;
    readonly slot: number;
    readonly at: number;
    readonly probability: Millionths;
    readonly moves: number;
    readonly ids: MarketIds | undefined;
  }): WorldMarket {
    const { question, description, outcomes, at, probability } = facts;
    const id = String(FIRST_MARKET_ID + this.#listedMarkets);
    this.#listedMarkets += 1;
    const conditionId = this.#conditionId();
    // Drawn in any case, so that what a world lists does not depend on how its tokens are named.
    const drawn = [this.#tokenId(), this.#tokenId()] as const;
    const negRisk = SLOTS[facts.slot]!.markets > 1;
    return {
      id,
      conditionId,
      tokenIds: facts.ids?.tokensOf(conditionId, negRisk) ?? drawn,
      slug: slugOf(question, id),
      question,
      description,
      ...(outcomes === undefined ? {} : { outcomes }),
      tickSize: SLOTS[facts.slot]!.tickSize,
      createdAt: at,
      updatedAt: at,
      status: 'open',
      payout: undefined,
      resolvedAt: undefined,
      probability,
      moveSize: moveSizeFor(facts.moves),
      pressure: { bid: 0, ask: 0 },
      quotes: [],
      quoted: { bid: 0n, ask: 0n },
      hourlyVolumes: [],
    };
  }

  #words(count: number): number[] {
    return Array.from({ length: count }, () => this.#random.next());
  }

  #conditionId(): ConditionId {
    return `0x${this.#words(8)
      .map((word) => word.toString(16).padStart(8, '0'))
      .join('')}`;
  }

  /** A 256-bit number as decimal text. Top bytes 1 to 3 mark another generation of tokens at the venue. */
  #tokenId(): TokenId {
    const words = this.#words(8);
    if (words[0]! >>> 24 < 4) words[0]! += 0x1000_0000;
    return words.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n).toString();
  }
}

/** The same markets as conditions of one event of Protocol V2. What was drawn first names the event. */
function ofV2(markets: readonly WorldMarket[], ids: MarketIds): WorldMarket[] {
  const conditions = ids.v2ConditionsOf(markets[0]!.conditionId, markets.length);
  return markets.map((market, index) => {
    const conditionId = conditions[index]!;
    return { ...market, conditionId, tokenIds: ids.tokensOf(conditionId, markets.length > 1) };
  });
}

/** A duration of the world in wall time. `speed` in thousandths. */
export const scaled = (duration: number, speed: number): number =>
  Math.max(1, Math.floor((duration * 1_000) / speed));

// The texts of a market: question, title, rules. From templates and a generator; they do not use prices.

interface MarketText {
  readonly question: string;
  readonly description: string;
  /** Absent: Yes and No. */
  readonly outcomes?: OutcomeNames;
}

interface EventText {
  readonly title: string;
  /** One for a plain question, one per contestant for a contest. */
  readonly markets: readonly MarketText[];
}

const WORD_LISTS: Readonly<Record<string, readonly string[]>> = { ...USUAL_WORDS, ...NAMED_WORDS };

const PLACEHOLDER = /\{([a-z]+)(2?)\}|\{(\d+)-(\d+)\}/g;
/** Draws of one template before a repeated question is accepted with a number. */
const ATTEMPTS = 6;

/** Fills placeholders; a placeholder has the same word in all texts, so question and rules agree. */
function filler(random: Random): (text: string) => string {
  const words = new Map<string, string>();
  return (text) =>
    text.replace(
      PLACEHOLDER,
      (whole, list: string | undefined, second: string, low: string, high: string) => {
        const known = words.get(whole);
        if (known !== undefined) return known;
        let word: string;
        if (list === undefined) {
          word = String(random.between(Number(low), Number(high)));
        } else {
          const names = WORD_LISTS[list]!;
          const other = second === '' ? undefined : words.get(`{${list}}`);
          word = random.pick(other === undefined ? names : names.filter((name) => name !== other));
        }
        words.set(whole, word);
        return word;
      },
    );
}

const describe = (rules: string, [yes, no]: OutcomeNames = ['YES', 'NO']): string =>
  `This market resolves ${yes} if ${rules}, and ${no} otherwise. Trading ends at the end date; the outcome is final ` +
  `shortly after. A paper market: all names are fictional and the outcome is drawn by the paper exchange.`;

/** What a slot says of its texts. */
interface TextSlot {
  readonly category: Category;
  readonly named?: NamedKind;
}

type Pace = NonNullable<Template['pace']>;

const suits = (template: Template, pace: Pace): boolean =>
  template.pace === pace || (template.pace === undefined && pace !== 'blitz');

function plainOnce({ category, named }: TextSlot, pace: Pace, random: Random): EventText {
  const templates: readonly (Template | NamedTemplate)[] =
    named === undefined ? TEMPLATES[category] : NAMED_TEMPLATES[named];
  const template = random.pick(templates.filter((one) => suits(one, pace)));
  const fill = filler(random);
  const question = fill(template.question);
  const title = fill(template.title);
  const rules = fill(template.rules);
  if (!('names' in template)) return { title, markets: [{ question, description: describe(rules) }] };
  const [yes, no] = template.names;
  const outcomes: OutcomeNames = [fill(yes), fill(no)];
  const [quotedYes, quotedNo] = [`to “${outcomes[0]}”`, `to “${outcomes[1]}”`];
  const description = describe(rules, [quotedYes, quotedNo]);
  return { title, markets: [{ question, description, outcomes }] };
}

/** A question that no open market has (`taken`). The pace follows from how soon the market ends. */
function plainEvent(
  slot: TextSlot,
  pace: Pace,
  random: Random,
  taken: (question: string) => boolean,
  number: number,
): EventText {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const text = plainOnce(slot, pace, random);
    if (!taken(text.markets[0]!.question)) return text;
  }
  const text = plainOnce(slot, pace, random);
  const [market] = text.markets;
  return { ...text, markets: [{ ...market!, question: `${market!.question} (No. ${number})` }] };
}

/** A contest of `size` contestants, of which exactly one wins; the last may stand for all that are not named. */
function contestEvent(contest: ContestTemplate, size: number, random: Random): EventText {
  const fill = filler(random);
  const title = fill(contest.title);
  const left = [...WORD_LISTS[contest.options]!];
  const markets: MarketText[] = [];
  for (let i = 0; i < size; i += 1) {
    if (contest.other !== undefined && i === size - 1) {
      markets.push({
        question: fill(contest.other.question),
        description: describe(fill(contest.other.rules)),
      });
      break;
    }
    const [option] = left.splice(random.below(left.length), 1);
    const named = (text: string) => fill(text.replaceAll('{option}', option!));
    markets.push({ question: named(contest.question), description: describe(named(contest.rules)) });
  }
  return { title, markets };
}

/** A market's tags: the kinds of names in its texts, such as `film` or `league`. */
export const tagsOf = (...texts: readonly string[]): string[] =>
  Object.entries(WORD_LISTS)
    .filter(([, names]) => names.some((name) => texts.some((text) => text.includes(name))))
    .map(([kind]) => kind);

const contestFor = (category: Category): ContestTemplate =>
  CONTESTS.find((contest) => contest.category === category)!;

/** Lower-case words joined by hyphens, with the market's number at the end, which makes it unique. */
function slugOf(question: string, id: string): string {
  const words = question
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[’“”'\p{M}]/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 90)
    .replace(/-+$/, '');
  return `${words}-${id}`;
}

// The hidden probability of each market: a martingale in small fixed steps. Moves up and down are equally likely and
// equally large, so the current probability is the best forecast of later ones and of the outcome, which is drawn from
// it. Near its bounds a move becomes smaller instead of reflecting: reflection would favour one direction.

/** With the finest ticks a price could fall so low that 50 collateral buys half a million shares. */
const LEAST_PROBABILITY: Millionths = 1_500;

/**
 * The probability stays strictly between one tick and its mirror, so that a price exists on either side of it: the
 * maker could not quote honestly below the lowest price.
 */
export function bounds(tickSize: Pips): readonly [low: Millionths, high: Millionths] {
  const low = Math.max(tickSize * MILLIONTHS_PER_PIP + 1, LEAST_PROBABILITY);
  return [low, CERTAIN - low];
}

/** How far `market` can move either way and stay inside its bounds; half the room, so it never touches them. */
function roomFor(market: WorldMarket): Millionths {
  const [low, high] = bounds(market.tickSize);
  return Math.min(market.moveSize, (market.probability - low) >> 1, (high - market.probability) >> 1);
}

/** Moves one plain market. Always draws the same number of random values. */
export function moveMarket(market: WorldMarket, random: Random): void {
  const sign = random.sign();
  market.probability += sign * Math.max(0, roomFor(market));
}

/** Moves probability between two markets of a negative-risk event; the sum stays exactly one. */
export function moveContest(markets: readonly WorldMarket[], random: Random): void {
  const first = random.below(markets.length);
  const second = (first + 1 + random.below(markets.length - 1)) % markets.length;
  const sign = random.sign();
  const distance = Math.max(0, Math.min(roomFor(markets[first]!), roomFor(markets[second]!)));
  markets[first]!.probability += sign * distance;
  markets[second]!.probability -= sign * distance;
}

/** One draw for the whole event: the index of the market that resolves YES, or −1 when a plain market fails. */
export function drawWinner(markets: readonly WorldMarket[], random: Random): number {
  let draw = random.below(CERTAIN);
  for (const [index, market] of markets.entries()) {
    draw -= market.probability;
    if (draw < 0) return index;
  }
  return -1;
}

/** About one plain market of ten starts near an end. */
function firstProbability(tickSize: Pips, random: Random): Millionths {
  const [low, high] = bounds(tickSize);
  const extreme = random.below(10) === 0;
  const drawn = extreme
    ? random.between(low, Math.max(low, 50_000))
    : random.between(Math.max(low, 50_000), CERTAIN / 2);
  const mirrored = random.sign() > 0 ? drawn : CERTAIN - drawn;
  return Math.min(high, Math.max(low, mirrored));
}

/** Within a few moves of the limit at which ticks become finer. */
function firstNearLimit(random: Random): Millionths {
  const drawn = random.between(35_000, 60_000);
  return random.sign() > 0 ? drawn : CERTAIN - drawn;
}

/** The venue's limit. It names none for the way back: a price at the limit shall not change the tick all the time. */
const FINER_BELOW: Millionths = 40_000;
const COARSER_FROM: Millionths = 50_000;

/**
 * The tick of a market of this slot. By the hidden probability, so that no trade changes what comes later; it reveals no more
 * than the side of the maker's book that was not taken.
 */
export function tickAt(
  { tickSize, finerTick = tickSize }: Slot,
  { tickSize: present, probability }: Pick<WorldMarket, 'tickSize' | 'probability'>,
): Pips {
  const toEnd = Math.min(probability, CERTAIN - probability);
  if (toEnd < FINER_BELOW) return finerTick;
  return toEnd >= COARSER_FROM ? tickSize : present;
}

/** Probabilities of a contest's markets: uneven, each inside its bounds, together exactly one. */
function firstContestProbabilities(size: number, tickSize: Pips, random: Random): Millionths[] {
  const [low] = bounds(tickSize);
  const free = CERTAIN - size * low;
  const weights = Array.from({ length: size }, () => {
    const base = random.between(1, 1000);
    return base * base;
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const shares = weights.map((weight) => low + Math.floor((free * weight) / total));
  const missing = CERTAIN - shares.reduce((sum, share) => sum + share, 0);
  const favourite = shares.indexOf(Math.max(...shares));
  shares[favourite]! += missing;
  return shares;
}

/** Whole square root, rounded down. */
function squareRoot(value: number): number {
  let root = 0;
  for (let bit = 1 << 15; bit > 0; bit >>= 1) {
    if ((root + bit) * (root + bit) <= value) root += bit;
  }
  return root;
}

/** Spread of the probability over a market's whole life, in millionths, if nothing stopped it. */
const LIFETIME_SPREAD: Millionths = 300_000;
const LEAST_MOVE: Millionths = 100;
const GREATEST_MOVE: Millionths = 20_000;

/** The move size at which the `moves` of a life add up to about the same uncertainty for every market. */
function moveSizeFor(moves: number): Millionths {
  const size = Math.floor(LIFETIME_SPREAD / Math.max(1, squareRoot(Math.max(1, moves))));
  return Math.min(GREATEST_MOVE, Math.max(LEAST_MOVE, size));
}
