/**
 * The paper exchange as its embedder sees it. Everything else in this package is private to it.
 */
export { EXCHANGE_SCHEMA, migrateExchange } from './journal/schema.ts';
export { ExchangeLedElsewhere, ExchangeUnavailable } from './journal/unavailable.ts';
export {
  type Clock,
  type ExchangeOptions,
  type JournalledExchange,
  openExchange,
  systemClock,
} from './open-exchange.ts';
export type * from './paper-exchange.ts';
