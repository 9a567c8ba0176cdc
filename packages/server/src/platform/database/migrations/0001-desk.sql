-- The desk's tables. Times are timestamptz, money bigint micro-units, prices integer pips. Rows that grow carry the
-- agent (or the wallet) first in their keys. Runs on PostgreSQL 15 and later.

create table owners (
  user_id bigint generated always as identity primary key,
  created_at timestamptz not null
);

create table agents (
  agent_id uuid primary key,
  user_id bigint not null references owners,
  name text not null,
  description text not null,
  claim_code text not null unique,
  claimed_at timestamptz,
  -- The wallet whose credentials this agent registered last.
  wallet_address text,
  sol_address text,
  created_at timestamptz not null
);
create index agents_by_owner on agents (user_id);

create table api_keys (
  id bigint generated always as identity primary key,
  agent_id uuid not null references agents,
  -- Keyed hash of the key; the key itself is nowhere.
  key_hash bytea not null unique,
  key_prefix text not null,
  key_suffix text not null,
  name text not null,
  status smallint not null default 1,
  create_type smallint not null,
  created_at timestamptz not null,
  last_called_at timestamptz not null,
  revoked_at timestamptz
);
create index api_keys_by_agent on api_keys (agent_id, id);

-- One row per agent: its limits and what it has reserved of today's budget. Every trade locks it.
create table safeguards (
  agent_id uuid primary key,
  trading_paused boolean not null default false,
  trade_limit_enabled boolean not null default true,
  max_trades_per_day integer not null,
  max_trade_amount bigint not null,
  daily_trade_amount_limit bigint not null,
  max_position_value bigint,
  daily_loss_limit bigint,
  auto_redeem_enabled boolean not null default false,
  risk_control_enabled boolean not null default false,
  take_profit_percent double precision,
  stop_loss_percent double precision,
  updated_at timestamptz not null,
  usage_day date not null,
  used_trades integer not null default 0,
  used_amount bigint not null default 0
) with (fillfactor = 50);

-- Budget that came back: written with the evidence, without touching the locked row, and folded into it by the
-- agent's next trade.
create table budget_returns (
  agent_id uuid not null,
  order_id text not null,
  day date not null,
  trades integer not null,
  amount bigint not null,
  primary key (agent_id, order_id)
);

create table credentials (
  wallet_address text primary key,
  user_id bigint not null,
  eoa text not null,
  funder text not null,
  signature_type smallint not null,
  api_key_hash bytea not null,
  key_id integer not null,
  sealed bytea not null,
  registered_at timestamptz not null
);
create index credentials_by_owner on credentials (user_id);

create table simulation_credits (
  wallet text primary key,
  amount bigint not null,
  credited_at timestamptz not null
);

create table faucet_draws (
  address text not null,
  day date not null,
  amount bigint not null,
  primary key (address, day)
);

create table orders (
  agent_id uuid not null,
  -- The EIP-712 digest.
  order_id text not null unique,
  user_id bigint not null,
  venue text not null,
  market_id text not null,
  condition_id text not null,
  question text not null,
  token_id text not null,
  outcome text not null,
  side text not null,
  is_limit boolean not null,
  time_in_force text not null,
  post_only boolean not null,
  defer_exec boolean not null,
  price integer not null,
  limit_price integer not null,
  shares bigint not null,
  money bigint not null,
  funder text not null,
  wallet_address text not null,
  signature_type smallint not null,
  version smallint not null,
  expiration timestamptz,
  fee_amount bigint not null,
  reasoning text,
  source text,
  skill_slug text,
  request_id text not null,
  created_at timestamptz not null,
  status text not null,
  filled bigint not null default 0,
  cost bigint not null default 0,
  fees bigint not null default 0,
  error_code text,
  -- What the agent was told first; replays say it again.
  first_answer jsonb,
  journal jsonb not null,
  reserved_day date not null,
  reserved_amount bigint not null,
  updated_at timestamptz not null,
  primary key (agent_id, order_id)
) with (fillfactor = 80);
create index orders_history on orders (agent_id, created_at desc, order_id desc);
create index orders_open on orders (agent_id, condition_id)
  where status in ('submitting', 'unknown', 'live', 'delayed', 'unmatched', 'partially_filled');
create index orders_open_of_owner on orders (user_id)
  where status in ('submitting', 'unknown', 'live', 'delayed', 'unmatched', 'partially_filled');
create index orders_in_doubt on orders (created_at) where status in ('submitting', 'unknown');

create table fills (
  wallet text not null,
  order_id text not null,
  trade_id bigint not null,
  agent_id uuid,
  condition_id text not null,
  token_id text not null,
  outcome text not null,
  side text not null,
  price integer not null,
  size bigint not null,
  cost bigint not null,
  fee bigint not null,
  liquidity text not null,
  match_kind text not null,
  -- P&L of what this fill sold, before fees; 0 for a BUY.
  realized bigint not null,
  filled_at timestamptz not null,
  primary key (wallet, order_id, trade_id)
);

create table positions (
  wallet text not null,
  token_id text not null,
  condition_id text not null,
  outcome text not null,
  size bigint not null,
  -- Cost of what is held, before fees.
  cost bigint not null,
  realized bigint not null,
  fees bigint not null,
  updated_at timestamptz not null,
  primary key (wallet, token_id)
) with (fillfactor = 70);

-- What an agent realised on a UTC day: P&L before fees, and the fees.
create table daily_results (
  agent_id uuid not null,
  day date not null,
  realized bigint not null,
  fees bigint not null,
  primary key (agent_id, day)
) with (fillfactor = 70);

create table idempotency_keys (
  scope text not null,
  route text not null,
  key text not null,
  body_hash bytea not null,
  -- While in flight; a crash holds the key no longer than this.
  lease_until timestamptz,
  status smallint,
  -- Null with a status: the answer carried a secret.
  body text,
  expires_at timestamptz not null,
  primary key (scope, route, key)
);
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);

-- A known text sealed by the master key: a wrong key is noticed at the start.
create table master_key_check (
  key_id integer primary key,
  sealed bytea not null
);

-- Takes fills (and what else changes a position) in their order: writes each, moves the position's cost basis, and adds
-- up the agent's day. A position's cost is cut by the sold share of it, rounded down, so the last share takes the rest.
create function apply_fills(batch jsonb) returns void language plpgsql as $$
declare
  f record;
  held record;
  gave bigint;
  gain bigint;
  owner_agent uuid;
begin
  for f in
    select * from jsonb_to_recordset(batch) as t(
      wallet text, order_id text, trade_id bigint, condition_id text, token_id text, outcome text, side text,
      price integer, size bigint, cost bigint, fee bigint, liquidity text, match_kind text, at timestamptz)
  loop
    gain := 0;
    if f.side = 'BUY' then
      insert into positions as p (wallet, token_id, condition_id, outcome, size, cost, realized, fees, updated_at)
      values (f.wallet, f.token_id, f.condition_id, f.outcome, f.size, f.cost, 0, f.fee, f.at)
      on conflict (wallet, token_id) do update
        set size = p.size + excluded.size, cost = p.cost + excluded.cost, fees = p.fees + excluded.fees,
            updated_at = excluded.updated_at;
    else
      select size, cost into held from positions where wallet = f.wallet and token_id = f.token_id for update;
      if not found then
        raise exception 'a fill sells % of token %, of which wallet % has no position', f.size, f.token_id, f.wallet;
      end if;
      gave := case when f.size >= held.size then held.cost
                   else floor(held.cost::numeric * f.size / held.size)::bigint end;
      gain := f.cost - gave;
      update positions
        set size = size - f.size, cost = cost - gave, realized = realized + gain, fees = fees + f.fee,
            updated_at = f.at
        where wallet = f.wallet and token_id = f.token_id;
    end if;
    select agent_id into owner_agent from orders where order_id = f.order_id;
    insert into fills (wallet, order_id, trade_id, agent_id, condition_id, token_id, outcome, side, price, size, cost,
                       fee, liquidity, match_kind, realized, filled_at)
    values (f.wallet, f.order_id, f.trade_id, owner_agent, f.condition_id, f.token_id, f.outcome, f.side, f.price,
            f.size, f.cost, f.fee, f.liquidity, f.match_kind, gain, f.at);
    if owner_agent is not null and (gain <> 0 or f.fee <> 0) then
      insert into daily_results as d (agent_id, day, realized, fees)
      values (owner_agent, (f.at at time zone 'UTC')::date, gain, f.fee)
      on conflict (agent_id, day) do update
        set realized = d.realized + excluded.realized, fees = d.fees + excluded.fees;
    end if;
  end loop;
end
$$;
