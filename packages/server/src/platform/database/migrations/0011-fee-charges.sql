-- Fees charged by a wallet's delegation. A row is there before anybody signs, and the signed bytes before any node is
-- given them, so that a charge with a key happens once whatever fails in between.
create table fee_charges (
  id uuid primary key,
  agent_id uuid not null,
  -- Null: every such charge is one of its own.
  idempotency_key text,
  venue text not null,
  amount bigint not null check (amount > 0),
  from_address text not null,
  to_address text not null,
  request_id text not null,
  -- signing, unsigned, signed, unknown, broadcast, landed, refused, failed, dropped
  status text not null,
  -- Only the latest attempt may be recorded.
  attempt integer not null default 1,
  lease_until timestamptz not null,
  provider_id text,
  signature text unique,
  wire bytea,
  last_valid_block_height bigint,
  -- Signatures of attempts that had no effect and can have none.
  dead_signatures text[] not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index fee_charges_by_key on fee_charges (agent_id, idempotency_key) where idempotency_key is not null;
create index fee_charges_unsettled on fee_charges (created_at) where status in ('signed', 'unknown', 'broadcast');
