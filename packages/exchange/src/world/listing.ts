/**
 * Makes the event for a slot: texts, ids, first probabilities, end date. Ids come from the catalogue's own random
 * stream, so that trades do not change the next listings.
 */
import type { ConditionId, TokenId } from '../engine/types.ts';
import { contestEvent, contestFor, type Pace, plainEvent, slugOf } from './catalogue.ts';
import { firstContestProbabilities, firstNearLimit, firstProbability, moveSizeFor } from './latent.ts';
import type { Random } from './random.ts';
import type { Millionths, WorldEvent, WorldMarket } from './records.ts';
import { HORIZON_MS, type Horizon, SLOTS } from './slots.ts';
import type { OutcomeNames } from './types.ts';

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

export interface ListingRequest {
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
