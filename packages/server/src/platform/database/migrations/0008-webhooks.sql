-- Webhooks: endpoints, the outbox of what they are still to be told and were told, and callbacks that came in.

create table webhook_endpoints (
  id uuid primary key,
  agent_id uuid not null,
  url text not null,
  events text[] not null,
  description text not null,
  key_id integer not null,
  sealed_secret bytea not null,
  created_at timestamptz not null,
  -- Switched off after repeated failure.
  enabled boolean not null default true,
  disabled_at timestamptz,
  -- Attempts that failed since the last that succeeded.
  failures integer not null default 0,
  failing_since timestamptz,
  last_success_at timestamptz,
  -- Nothing is sent before: an event that failed holds back those behind it.
  hold_until timestamptz not null default '-infinity',
  -- The replica that sends to it does so until then; one at a time, so that the order is kept.
  lease_until timestamptz not null default '-infinity'
) with (fillfactor = 70);
create index webhook_endpoints_by_agent on webhook_endpoints (agent_id);
create index webhook_endpoints_by_event on webhook_endpoints using gin (events) where enabled;

-- One row per event and endpoint, written in the transaction of what it tells of. Nothing here may make that
-- transaction fail or wait: no foreign keys, no locks. Rows of deleted endpoints are swept.
create table webhook_deliveries (
  id bigint generated always as identity primary key,
  endpoint_id uuid not null,
  agent_id uuid not null,
  event_id uuid not null,
  type text not null,
  data jsonb not null,
  -- Of the event.
  created_at timestamptz not null,
  -- pending, delivered, or failed: given up.
  status text not null default 'pending',
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default '-infinity',
  last_attempt_at timestamptz,
  finished_at timestamptz,
  response_status integer,
  error text
) with (fillfactor = 70);
create index webhook_deliveries_pending on webhook_deliveries (endpoint_id, id) where status = 'pending';
create index webhook_deliveries_log on webhook_deliveries (endpoint_id, id desc);
create index webhook_deliveries_finished on webhook_deliveries (finished_at) where status <> 'pending';

-- Risk alerts that stand, so that each is told once when it is raised.
create table raised_alerts (
  agent_id uuid not null,
  alert text not null,
  raised_at timestamptz not null,
  primary key (agent_id, alert)
);

create table inbound_webhooks (
  id bigint generated always as identity primary key,
  source text not null,
  signature bytea not null,
  body_hash bytea not null,
  body bytea not null,
  received_at timestamptz not null,
  unique (source, signature, body_hash)
);
create index inbound_webhooks_by_time on inbound_webhooks (received_at);

-- Micro-units as a JSON number.
create function micro_number(amount bigint) returns numeric language sql immutable parallel safe as $$
  select trim_scale(amount / 1000000.0)
$$;

-- An id that says the same about the same fact, however often its evidence is written.
create function event_id(fact text) returns uuid language sql immutable parallel safe as $$
  select md5(fact)::uuid
$$;

-- Tells of fills and their fees. Costs one look at an index while nobody wants to hear of them.
create function tell_fills(batch jsonb) returns void language plpgsql as $$
begin
  if not exists (select 1 from webhook_endpoints where enabled and events && array['*', 'fill', 'fee']) then
    return;
  end if;
  insert into webhook_deliveries (endpoint_id, agent_id, event_id, type, data, created_at)
  select e.id, o.agent_id, event_id(k.kind || f.wallet || f.order_id || f.trade_id), k.kind,
    case k.kind
      when 'fill' then jsonb_build_object(
        'orderId', f.order_id, 'tradeId', f.trade_id::text, 'venue', o.venue, 'marketId', o.market_id,
        'marketConditionId', f.condition_id, 'tokenId', f.token_id, 'outcome', f.outcome, 'side', f.side,
        'price', trim_scale(f.price / 10000.0), 'size', micro_number(f.size), 'cost', micro_number(f.cost),
        'fee', micro_number(f.fee), 'liquidity', f.liquidity, 'walletAddress', f.wallet)
      else jsonb_build_object(
        'venue', o.venue, 'orderId', f.order_id, 'tradeId', f.trade_id::text, 'amount', micro_number(f.fee))
    end,
    f.at
  from rows from (jsonb_to_recordset(batch) as (
      wallet text, order_id text, trade_id bigint, condition_id text, token_id text, outcome text, side text,
      price integer, size bigint, cost bigint, fee bigint, liquidity text, at timestamptz))
    with ordinality as f(wallet, order_id, trade_id, condition_id, token_id, outcome, side, price, size, cost, fee,
      liquidity, at, nth)
  join orders o on o.order_id = f.order_id
  cross join (values ('fill'), ('fee')) as k(kind)
  join webhook_endpoints e on e.agent_id = o.agent_id and e.enabled and e.events && array['*', k.kind]
  where k.kind = 'fill' or f.fee > 0
  order by f.nth, k.kind desc;
end
$$;
