-- Receipts: one chain per agent, made behind the trades from the log of facts.
create table receipts (
  agent_id uuid not null,
  sequence bigint not null,
  kind text not null,
  -- Of an order's entries; null for a refused attempt.
  order_id text,
  recorded_at timestamptz not null,
  -- The canonical text that the hash covers, as it was hashed.
  body text not null,
  hash bytea not null,
  primary key (agent_id, sequence)
);
create index receipts_of_order on receipts (order_id) where order_id is not null;

-- The last entry of each chain.
create table receipt_heads (
  agent_id uuid primary key,
  sequence bigint not null,
  hash bytea not null
);

-- What the chains have seen of the log of facts. Facts from before have no receipts.
create table receipt_log (
  one boolean primary key default true check (one),
  seen pg_snapshot not null
);
insert into receipt_log (seen) values (pg_current_snapshot());
