/**
 * The sandbox venue's tables. Idempotent: the migration may run it at every start.
 *
 * - sandbox_orders: every transaction that was issued with a quote, by the SHA-256 of its message, and its state:
 *   issued → open (it landed) → closed (filled, reverted or both), or failed (it landed without effect). Issued
 *   orders are deleted once their blockhash is dead. An open order is filled `fillDelayMs` after `due_ms`: the time at
 *   which it landed or to which it was postponed.
 * - sandbox_markets: the markets whose mints exist; needed after the exchange has dropped them.
 *   `released`: the vault no longer backs the losing outcome.
 * - sandbox_credits: wallets that received their simulation balance.
 */
export const DFLOW_SANDBOX_SCHEMA = `
create table if not exists sandbox_orders (
  message_hash text primary key,
  status text not null,
  kind text not null,
  ticker text not null,
  condition_id text not null,
  outcome text not null,
  wallet text not null,
  recipient text not null,
  refund text not null,
  in_amount bigint not null,
  min_out bigint not null,
  last_valid_block_height bigint not null,
  signature text unique,
  due_ms bigint,
  closed_ms bigint,
  closing_signature text,
  filled_in bigint not null default 0,
  filled_out bigint not null default 0,
  fee bigint not null default 0,
  reverted bigint not null default 0
);
create index if not exists sandbox_orders_due on sandbox_orders (due_ms) where status = 'open';
create index if not exists sandbox_orders_issued on sandbox_orders (last_valid_block_height) where status = 'issued';
create index if not exists sandbox_orders_closed on sandbox_orders (closed_ms) where filled_out > 0;
create table if not exists sandbox_markets (
  condition_id text primary key,
  ticker text not null unique,
  yes_mint text not null unique,
  no_mint text not null unique,
  facts text not null,
  payout text,
  resolved_ms bigint,
  released boolean not null default false
);
create table if not exists sandbox_credits (
  wallet text primary key
);
`;
