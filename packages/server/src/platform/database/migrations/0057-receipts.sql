-- Receipts: one chain per agent, made behind the trades from the log of facts.
create table receipts (
  agent_id uuid not null,
  sequence bigint not null,
  kind text not null,
  -- Of an order's entries; null where an entry is about no order.
  order_id text,
  recorded_at timestamptz not null,
  -- Canonical JSON; the hash covers it with the columns before it and the hash of the entry before.
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

-- The place in the log of facts up to which receipts are made. Orders from before have none.
create table receipt_log (
  one boolean primary key default true check (one),
  writer xid8 not null,
  seq bigint not null,
  began_at timestamptz not null
);
insert into receipt_log (writer, seq, began_at) values (pg_snapshot_xmin(pg_current_snapshot()), 0, now());
