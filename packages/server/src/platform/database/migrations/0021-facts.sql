-- One append-only log of what happened. Webhooks and the briefing read it; neither is written to by evidence any more.

create table facts (
  seq bigint generated always as identity primary key,
  -- The transaction that wrote it. A reader's cursor is a snapshot: the set of transactions that it has seen.
  writer xid8 not null default pg_current_xact_id(),
  agent_id uuid not null,
  -- order, fill, fee, position, balance, risk, resolution, wallet
  kind text not null,
  -- What it is about: an order's, a token's or a market's id, a wallet, an alert, a charge's signature.
  subject text not null,
  at timestamptz not null,
  -- Money as text in micro-units, prices in pips.
  payload jsonb not null
);
create index facts_by_writer on facts (writer);
create index facts_of_orders on facts (agent_id, at desc, subject) where kind = 'order';

create table fact_log (
  one boolean primary key default true check (one),
  -- Every fact since then is in the log; older ones may have been deleted.
  kept_since timestamptz not null,
  -- What webhooks have seen.
  webhooks_seen pg_snapshot not null
);
insert into fact_log (kept_since, webhooks_seen)
select case when exists (select 1 from orders) then now() - interval '7 days' else '-infinity' end, pg_current_snapshot();

-- The orders' latest changes, so that a briefing's cursor from before this migration stays exact. Webhook events of these
-- changes are in webhook_deliveries already. A row names its last writer (xmin) by 32 bits; the rest follows from the
-- next transaction id that there is.
insert into facts (writer, agent_id, kind, subject, at, payload)
select (t.next_id - 1 - (t.next_id - 1 - o.xmin::text::bigint) % 4294967296)::text::xid8, o.agent_id, 'order', o.order_id,
  o.updated_at, jsonb_build_object('orderId', o.order_id, 'status', o.status, 'venue', o.venue, 'marketId', o.market_id,
    'marketConditionId', o.condition_id, 'tokenId', o.token_id, 'outcome', o.outcome, 'side', o.side,
    'orderType', o.time_in_force, 'price', o.price, 'orderSize', o.shares::text, 'filledSize', o.filled::text,
    'filledAmount', o.cost::text, 'feePaid', o.fees::text, 'errorCode', o.error_code, 'source', o.source,
    'skillSlug', o.skill_slug)
from orders o cross join (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next_id) t
where o.updated_at > (select kept_since from fact_log)
order by o.updated_at, o.order_id;

-- An endpoint hears of what is recorded after it was made or enabled.
alter table webhook_endpoints add column listens_since pg_snapshot not null default pg_current_snapshot();

-- A resolution looks for the open orders of its market. Those of an owner are found by its agents.
create index orders_open_of_market on orders (condition_id)
  where status in ('submitting', 'unknown', 'live', 'delayed', 'unmatched', 'partially_filled');
drop index orders_open_of_owner;
drop function tell_fills(jsonb);
