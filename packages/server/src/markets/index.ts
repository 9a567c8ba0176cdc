/** Markets: search, one market, its book and figures, price history, guides to venues. */
export {
  findToken,
  type Located,
  levels,
  marketJobs,
  marketNamed,
  orderBook,
  outcomeFaults,
  requireMarket,
  requireSide,
} from './markets.ts';
export { marketExists, pricesHistory } from './price-history.ts';
export { bindMarkets, bindVenues } from './routes.ts';
export {
  type Books,
  createBriefingSender,
  createShownMarkets,
  round6,
  type ShownMarkets,
  slippageRecords,
  sweepsOf,
  TITLE_CHARS,
  untrustedTexts,
} from './shown-markets.ts';
export { createPriceRetention, openStoredNames, type StoredNames } from './store.ts';
