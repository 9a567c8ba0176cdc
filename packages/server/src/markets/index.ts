/** Markets: search, one market, its book and figures, price history, guides to venues. */
export { marketJobs } from './jobs.ts';
export { createBriefingSender } from './market-bytes.ts';
export { type Books, round6, slippageRecords } from './market-figures.ts';
export {
  findToken,
  type Located,
  levels,
  marketNamed,
  orderBook,
  outcomeFaults,
  requireMarket,
  requireSide,
} from './markets.ts';
export { marketExists, type PriceHistoryNeeds, pricesHistory } from './price-history.ts';
export { createPriceRetention } from './price-retention.ts';
export { bindMarkets } from './routes.ts';
export { createShownMarkets, type ShownMarkets, sweepsOf } from './shown-markets.ts';
export { openStoredNames, type StoredNames } from './stored-names.ts';
export { TITLE_CHARS, untrustedTexts } from './untrusted-market.ts';
export { bindVenues } from './venue-routes.ts';
