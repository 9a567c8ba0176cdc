-- Exit orders that an agent signed ahead and left with the desk, each with the trigger that sends it. The order is sealed for its exit, and
-- the seal is deleted when the exit ends.
create table exits (
  exit_id text primary key,
  agent_id uuid not null references agents,
  user_id bigint not null references owners,
  -- The API key that it was left with.
  api_key_id bigint not null,
  order_id text not null,
  venue text not null,
  market_id text not null,
  condition_id text not null,
  token_id text not null,
  outcome text not null check (outcome in ('YES', 'NO')),
  funder text not null,
  wallet_address text not null,
  time_in_force text not null,
  limit_price integer not null,
  shares bigint not null check (shares > 0),
  order_ends_at timestamptz,
  -- The master key of the seal; both are null once the exit has ended.
  key_id integer,
  sealed bytea,
  trigger_kind text not null check (trigger_kind in ('price_at_or_below', 'price_at_or_above', 'time', 'before_end', 'silence')),
  trigger_price integer check (trigger_price between 1 and 9999),
  trigger_at timestamptz,
  trigger_minutes integer,
  group_name text,
  expires_at timestamptz,
  -- Armed by the owner's passkey: a pause by the owner sends it.
  fires_on_pause boolean not null default false,
  -- It was resumed: a trigger that held meanwhile must let go before it counts.
  must_let_go boolean not null default false,
  status text not null check (status in ('armed', 'suspended', 'firing', 'fired', 'canceled', 'expired', 'failed')),
  because text,
  -- Why it could not be sent at the last attempt, or could not be now.
  trouble text,
  trouble_detail text,
  -- What sent it, with prices and book.
  fired jsonb,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null,
  reviewed_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((trigger_kind like 'price%') = (trigger_price is not null)),
  check ((trigger_kind = 'time') = (trigger_at is not null)),
  check ((trigger_kind = 'before_end') = (trigger_minutes is not null)),
  check ((sealed is null) = (key_id is null)),
  check ((sealed is null) = (status in ('fired', 'canceled', 'expired', 'failed')))
);
create unique index exits_open_order on exits (agent_id, order_id) where sealed is not null;
create index exits_watched on exits (next_attempt_at) where status in ('armed', 'firing');
create index exits_sealed on exits (key_id) where sealed is not null;
create index exits_of_agent on exits (agent_id, created_at desc);
create index exits_of_order on exits (order_id);
create index exits_of_owner on exits (user_id);

-- Places of the day's trades that armed exits hold, and the exits that have not ended.
alter table safeguards
  add column reserved_exits integer not null default 0,
  add column open_exits integer not null default 0;

-- The database that the desk saw last: another one was restored from a backup.
alter table desk_watch add column database_name text;
