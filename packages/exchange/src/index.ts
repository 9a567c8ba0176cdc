/**
 * The paper exchange's public interface. The rest of the package is private.
 */
export { createPriceHistory } from './journal/price-history.ts';
export { EXCHANGE_SCHEMA, migrateExchange } from './journal/schema.ts';
export { ExchangeLedElsewhere, ExchangeUnavailable, OtherMarkets } from './journal/unavailable.ts';
export {
  type Clock,
  type ExchangeOptions,
  type JournalledExchange,
  openExchange,
  systemClock,
} from './open-exchange.ts';
export type * from './paper-exchange.ts';
export type * from './trade-history.ts';
export type * from './world/mirror-changes.ts';
