-- Splits and merges whose transactions the owner of a wallet has to sign and send: the desk looks for them on the chain.
create table handed_out_sets (
  order_id text primary key,
  -- After this time the order has expired, if nothing was seen.
  ends_at timestamptz not null,
  due_at timestamptz not null
);

create index handed_out_sets_due on handed_out_sets (due_at);

-- Which transaction was proof of which order, so that each is proof of one.
create table set_transactions (
  wallet text not null,
  transaction_hash text not null,
  condition_id text not null,
  kind text not null,
  order_id text not null unique,
  primary key (wallet, transaction_hash, condition_id, kind)
);
