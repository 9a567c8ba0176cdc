import type { Market } from '@bellwether/sdk';
import { z } from 'zod';
import { flagOf, idOf, numberOf, timeOf, wordOf } from '../facts.ts';
import type { StrangersTexts } from '../strangers-texts.ts';
import { READS, tool } from '../tool.ts';
import { limitOf, VENUE } from './terms.ts';

/** Prices are of YES. The title and the names of the outcomes go among the texts, at `place`. */
export function marketFacts(market: Market, texts: StrangersTexts, place: string) {
  texts.add(`${place}title`, market.question === '' ? market.title : market.question);
  texts.addNames(place, market.outcomes);
  return {
    market: idOf(market.id),
    venue: wordOf(market.venue),
    status: wordOf(market.status),
    yesPrice: numberOf(market.yesPrice),
    bestBid: numberOf(market.bestBid),
    bestAsk: numberOf(market.bestAsk),
    volume24hr: numberOf(market.volume24hr),
    endDate: timeOf(market.endDate),
    tickSize: numberOf(market.tickSize),
    minOrderSize: numberOf(market.minOrderSize),
    tradable: flagOf(market.active) && !flagOf(market.resolved) && market.untradable === undefined,
  };
}

export const searchMarkets = tool({
  name: 'search_markets',
  title: 'Search markets',
  description:
    'Finds prediction markets by words ("*" finds everything). Answers their names (market) and prices of YES; titles and names of outcomes are in untrusted.texts. Follow with look_at_market.',
  annotations: READS,
  input: z.strictObject({
    query: z.string().min(1).max(100).describe('words of the title, or *'),
    venue: VENUE.describe('such as polymarket or kalshi; default: the first'),
    order: z
      .enum(['volume24hr', 'liquidity', 'volume', 'endDate', 'createdAt'])
      .optional()
      .describe('relevance when left out'),
    endsBefore: z.iso.datetime({ offset: true }).optional(),
    minPrice: z.number().min(0).max(1).optional().describe('of YES'),
    maxPrice: z.number().min(0).max(1).optional().describe('of YES'),
    limit: limitOf(5, 50),
    page: z.int().min(1).max(1_000_000).default(1),
  }),
  async run({ query, venue, order, endsBefore, minPrice, maxPrice, limit, page }, { desk, texts, signal }) {
    const markets = await desk.client.listMarkets(
      {
        q: query,
        limit,
        page,
        ...(venue === undefined ? {} : { venue }),
        ...(order === undefined ? {} : { order }),
        ...(endsBefore === undefined ? {} : { endsBefore }),
        ...(minPrice === undefined ? {} : { minPrice }),
        ...(maxPrice === undefined ? {} : { maxPrice }),
      },
      { signal },
    );
    return {
      markets: markets.slice(0, limit).map((market, at) => marketFacts(market, texts, `markets.${at}.`)),
      page,
    };
  },
});
