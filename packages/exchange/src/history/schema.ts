/**
 * The tables of the history. Only its projector writes them, behind the journal.
 *
 * - exchange_history: one row: the journal position up to which the others are complete.
 * - exchange_trades: every trade, those of the house among itself included (`accounts` is then empty); `body` is the text
 *   of trade.ts. `fate`: 0 settles · 1 is going to fail · 2 failed and was reversed · 3 could not be reversed, so it settled.
 * - exchange_account_trades: which accounts took part in which trades, for reads by account. `legs`: bits of the account's
 *   own part, see `LEG`.
 * - exchange_account_moves: deposits, splits, merges and redemptions of an account.
 * - exchange_traded_markets: what is known of each market in these tables, also after the exchange has forgotten it.
 */
export const HISTORY_SCHEMA = `
create table if not exists exchange_history (
  one boolean primary key default true check (one),
  seq bigint not null
);
create table if not exists exchange_trades (
  number bigint primary key,
  at_ms bigint not null,
  market_id bigint not null,
  accounts text[] not null,
  body text not null,
  fate smallint not null default 0,
  fate_ms bigint
);
create index if not exists exchange_trades_market on exchange_trades (market_id, number);
create index if not exists exchange_trades_house on exchange_trades (number) where accounts = '{}';
create index if not exists exchange_trades_failing on exchange_trades (number) where fate = 1;
create table if not exists exchange_account_trades (
  account text not null,
  at_ms bigint not null,
  number bigint not null,
  market_id bigint not null,
  legs smallint not null,
  primary key (account, at_ms, number)
);
create table if not exists exchange_account_moves (
  account text not null,
  at_ms bigint not null,
  seq bigint not null,
  part integer not null,
  kind text not null,
  market_id bigint,
  yes bigint not null,
  no bigint not null,
  collateral numeric not null,
  primary key (account, at_ms, seq, part)
);
create index if not exists exchange_account_moves_age on exchange_account_moves (at_ms);
create table if not exists exchange_traded_markets (
  market_id bigint primary key,
  condition_id text not null unique,
  facts text not null
);
`;

/** Bits of `exchange_account_trades.legs`. */
export const LEG = { yes: 1, no: 2, taker: 4, maker: 8, buy: 16, sell: 32 } as const;
