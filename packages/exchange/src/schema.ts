/**
 * The exchange's tables. Idempotent: the migration may run it at every start.
 *
 * - exchange_journal: the commands since the oldest kept snapshot, in order, one writer; `command` is the JSON of
 *   journal/commands.ts.
 * - exchange_snapshots: the state after a command, deflated; the last two are kept.
 * - exchange_orders: the events of every order except the house's, one per line (journal/orders.ts). Its primary key
 *   keeps order ids unique permanently.
 * - exchange_posted: what the doors show of the orders that were posted there, and which ids they used (journal/orders.ts).
 * - exchange_prices: mid prices of YES tokens, in pips, for price histories.
 * - exchange_tokens: the YES token of each NO token, for the price histories of archived markets; the prices of before
 *   `thinned_ms` are thinned out.
 * - those of the history (history/store.ts).
 */
import { type Sql, TERM_SCHEMA } from '@bellwether/durable';
import { HISTORY_SCHEMA } from './history/store.ts';

export const EXCHANGE_SCHEMA = `${TERM_SCHEMA}
create table if not exists exchange_journal (
  seq bigint primary key,
  at_ms bigint not null,
  command text not null
);
create table if not exists exchange_snapshots (
  seq bigint primary key,
  at_ms bigint not null,
  state bytea not null,
  hash text not null
);
create table if not exists exchange_orders (
  order_id text primary key,
  account text not null,
  seq bigint not null,
  events text not null
) with (fillfactor = 70);
drop index if exists exchange_orders_seq;
create table if not exists exchange_posted (
  order_id text primary key,
  at_ms bigint not null,
  terms text not null
);
create table if not exists exchange_prices (
  token_id text not null,
  at_ms bigint not null,
  pips integer not null,
  primary key (token_id, at_ms)
);
create table if not exists exchange_tokens (
  no_token_id text primary key,
  yes_token_id text not null
);
-- No condition selects by them, and sorting samples of them is most of the work of gathering statistics.
alter table exchange_orders alter events set statistics 0;
alter table exchange_journal alter command set statistics 0;
alter table exchange_tokens add column if not exists thinned_ms bigint not null default 0;
${HISTORY_SCHEMA}`;

export async function migrateExchange(database: Sql): Promise<void> {
  await database.unsafe(EXCHANGE_SCHEMA);
}
