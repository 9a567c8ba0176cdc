/**
 * The paper exchange's public interface. The rest of the package is private.
 */

export { ExchangeLedElsewhere, ExchangeUnavailable, OtherMarkets } from './journal/commits.ts';
export { createPriceHistory } from './journal/prices.ts';
export {
  type Clock,
  type ExchangeOptions,
  type JournalledExchange,
  openExchange,
  systemClock,
} from './open-exchange.ts';
export type * from './paper-exchange.ts';
export { EXCHANGE_SCHEMA, migrateExchange } from './schema.ts';
export type * from './trade-history.ts';
export type { MirrorChange, MirroredLevel, MirroredMarket, MirroredTerms } from './world/mirror.ts';
