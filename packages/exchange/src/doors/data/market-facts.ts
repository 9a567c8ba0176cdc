/** Facts that rows say about a market: of one that is listed everything, of one that the exchange has forgotten what its history kept. */
import { divide, MICRO, type Micro } from '@bellwether/contract/decimals';
import { paysOf } from '@bellwether/contract/positions';
import type { MarketFacts, MarketView, Outcome, PaperExchange } from '../../paper-exchange.ts';
import { eventSlugOf } from '../gamma/index.ts';

/** A price in twenty-thousandths, which a midpoint between two ten-thousandths needs. */
export const PRICE_UNIT = 20_000;

export interface MarketWords {
  readonly condition_id: string;
  readonly token_id: string;
  readonly opposite_token_id: string;
  readonly outcome: string;
  readonly opposite_outcome: string;
  readonly outcome_index: 0 | 1;
  readonly title: string;
  readonly slug: string;
  readonly icon: string;
  /** '' where the market is no longer listed. */
  readonly event_id: string;
  readonly event_slug: string;
}

export function wordsOf(facts: MarketFacts, outcome: Outcome, view: MarketView | undefined): MarketWords {
  const [own, other] = outcome === 'YES' ? ([0, 1] as const) : ([1, 0] as const);
  return {
    condition_id: facts.conditionId,
    token_id: facts.tokenIds[own],
    opposite_token_id: facts.tokenIds[other],
    outcome: facts.outcomes[own],
    opposite_outcome: facts.outcomes[other],
    outcome_index: own,
    title: facts.question,
    slug: facts.slug,
    icon: '',
    event_id: view?.eventId ?? '',
    event_slug: view === undefined ? '' : eventSlugOf(view.eventTitle, view.eventId),
  };
}

/** The payout, else the midpoint, the last trade, or one half. In `PRICE_UNIT`s. */
export function priceOf(facts: MarketFacts, outcome: Outcome, view: MarketView | undefined): number {
  const payout = view?.payout ?? facts.payout;
  if (payout !== undefined) return Number((paysOf(payout, outcome) * BigInt(PRICE_UNIT)) / MICRO);
  const { bestBid, bestAsk, lastTrade } = view ?? {};
  const yes = bestBid !== undefined && bestAsk !== undefined ? bestBid + bestAsk : 2 * (lastTrade ?? 5_000);
  return outcome === 'YES' ? yes : PRICE_UNIT - yes;
}

export const worthOf = (size: Micro, price: number): Micro =>
  divide(size * BigInt(price), BigInt(PRICE_UNIT), 'floor');

/** A ratio of amounts as a JSON number with six decimals; 0 for nothing. */
export const ratio = (amount: Micro, size: Micro, factor = 1n): number =>
  size === 0n ? 0 : Number((amount * factor * 1_000_000n) / size) / 1e6;

/** Facts of a listed market. */
export const factsOf = (view: MarketView): MarketFacts => ({
  id: view.id,
  conditionId: view.conditionId,
  tokenIds: view.tokenIds,
  slug: view.slug,
  question: view.question,
  outcomes: view.outcomes,
  endDate: view.endDate,
  ...(view.payout === undefined ? {} : { payout: view.payout }),
});

/** The markets of an event that are listed. */
export function marketsOfEvent(
  exchange: Pick<PaperExchange, 'markets'>,
  eventId: string,
): readonly MarketView[] {
  const found: MarketView[] = [];
  for (const market of exchange.markets()) if (market.eventId === eventId) found.push(market);
  return found;
}
