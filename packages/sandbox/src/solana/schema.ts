/**
 * The sandbox chain's tables. Idempotent: the migration may run it at every start.
 *
 * - sandbox_chain: one row. `genesis_ms` is slot 0; `seed_hash` keeps a database from being opened with the keys of
 *   another sandbox; `slot_ms` is how long a slot lasts since `genesis_ms`; `forgotten` counts deleted transactions.
 * - sandbox_accounts: every account except the virtual machine's own, as of the last commit.
 * - sandbox_transactions: the transactions that landed in the last two days (`history.ts`), with the data of getTransaction. `err` and `meta` are JSON as
 *   text, because they contain integers that a double cannot represent.
 * - sandbox_airdrops: the faucet's total per address and UTC day; `source …` (a hash) is the total of all addresses
 *   of one caller. The first gift of a day deletes earlier days.
 */
import { TERM_SCHEMA } from '@bellwether/durable';

export const SANDBOX_CHAIN_SCHEMA = `${TERM_SCHEMA}
create table if not exists sandbox_chain (
  id smallint primary key check (id = 1),
  genesis_ms bigint not null,
  seed_hash text not null
);
alter table sandbox_chain add column if not exists slot_ms integer not null default 400;
alter table sandbox_chain add column if not exists forgotten bigint not null default 0;
alter table sandbox_chain drop column if exists holder;
create table if not exists sandbox_accounts (
  address text primary key,
  lamports numeric(20) not null,
  owner text not null,
  executable boolean not null,
  data bytea not null
) with (fillfactor = 80);
create table if not exists sandbox_transactions (
  signature text primary key,
  slot bigint not null,
  at_ms bigint not null,
  err text,
  meta text not null,
  wire bytea not null
);
create index if not exists sandbox_transactions_slot on sandbox_transactions (slot);
create table if not exists sandbox_airdrops (
  address text not null,
  day text not null,
  lamports bigint not null,
  primary key (address, day)
);
`;
