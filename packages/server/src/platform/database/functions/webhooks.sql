-- Micro-units as a JSON number.
create or replace function micro_number(amount bigint) returns numeric language sql immutable parallel safe as $$
  select trim_scale(amount / 1000000.0)
$$;

-- An id that says the same about the same fact, however often its evidence is written.
create or replace function event_id(fact text) returns uuid language sql immutable parallel safe as $$
  select md5(fact)::uuid
$$;

-- Pips as a JSON number.
create or replace function pips_number(price integer) returns numeric language sql immutable parallel safe as $$
  select trim_scale(price / 10000.0)
$$;

-- A fact's payload with what does not change, or is 0 or absent, and is not repeated in it. Facts of earlier releases have all of it.
create or replace function whole_payload(fact facts) returns jsonb language sql stable as $$
  select case fact.kind
    when 'order' then coalesce((
      select jsonb_build_object('orderId', o.order_id, 'venue', o.venue, 'marketId', o.market_id,
        'marketConditionId', o.condition_id, 'tokenId', o.token_id, 'outcome', o.outcome, 'outcomeName', o.outcome_name, 'side', o.side,
        'orderType', o.time_in_force, 'price', o.price, 'orderSize', o.shares::text, 'filledSize', '0',
        'filledAmount', '0', 'feePaid', '0', 'errorCode', null, 'source', o.source, 'skillSlug', o.skill_slug)
      from orders o where o.order_id = fact.subject), '{}')
    when 'fill' then coalesce((
      -- A conversion has fills in other markets than its order's own.
      select jsonb_build_object('orderId', f.order_id, 'venue', o.venue, 'marketId',
        case when o.condition_id <> f.condition_id then (
          select t.market_id from traded_markets t where t.condition_id = f.condition_id) else o.market_id end,
        'marketConditionId', f.condition_id, 'tokenId', f.token_id, 'outcome', f.outcome,
        'outcomeName', outcome_name(f.condition_id, f.outcome), 'side', f.side, 'price', f.price,
        'size', f.size::text, 'cost', f.cost::text, 'fee', f.fee::text, 'liquidity', f.liquidity,
        'matchKind', f.match_kind, 'realized', f.realized::text)
      from fills f left join orders o on o.order_id = f.order_id
      where f.wallet = fact.payload ->> 'walletAddress' and f.order_id = fact.subject
        and f.trade_id = (fact.payload ->> 'tradeId')::bigint), '{"outcomeName": null}')
    -- Those of earlier releases name no outcome.
    when 'reversal' then '{"outcomeName": null}' when 'approval' then '{"outcomeName": null}'
    when 'resolution' then '{"outcomes": null}' else '{}' end || fact.payload
$$;

-- What webhooks tell of a fact, in this order. Nothing of an order that no venue has answered yet, nor of fills without an
-- order and of balances.
create or replace function webhook_events(fact facts)
returns table (nth integer, type text, event_id uuid, data jsonb) language sql stable as $$
  with f as (select fact.agent_id, fact.kind, fact.subject, whole_payload(fact) as p)
  select 1, 'order.' || order_event_word(p ->> 'status'),
    event_id('order' || subject || (p ->> 'status') || (p ->> 'filledSize') || coalesce(' ' || (p ->> 'reversals'), '')
      || coalesce(' again ' || (p ->> 'repeats'), '')),
    change_of_order(p) || jsonb_build_object('status', order_event_word(p ->> 'status'), 'price', pips_number((p ->> 'price')::integer),
      'orderSize', micro_number((p ->> 'orderSize')::bigint), 'filledSize', micro_number((p ->> 'filledSize')::bigint),
      'filledAmount', micro_number((p ->> 'filledAmount')::bigint), 'feePaid', micro_number((p ->> 'feePaid')::bigint))
  -- A refusal of an exit's order is told once: it is sent again until it has an effect.
  from f where kind = 'order' and p ->> 'status' <> 'submitting' and not p ? 'isRefusedAgain'
  union all
  select 1, 'fill', event_id('fill' || (p ->> 'walletAddress') || subject || (p ->> 'tradeId')),
    p - array['realized', 'matchKind'] || jsonb_build_object('price', pips_number((p ->> 'price')::integer),
      'size', micro_number((p ->> 'size')::bigint), 'cost', micro_number((p ->> 'cost')::bigint),
      'fee', micro_number((p ->> 'fee')::bigint))
  from f where kind = 'fill' and p ->> 'venue' is not null
  union all
  select 2, 'fee', event_id('fee' || (p ->> 'walletAddress') || subject || (p ->> 'tradeId')),
    jsonb_build_object('venue', p -> 'venue', 'orderId', subject, 'tradeId', p -> 'tradeId',
      'amount', micro_number((p ->> 'fee')::bigint))
  from f where kind = 'fill' and p ->> 'venue' is not null and (p ->> 'fee')::bigint > 0
  union all
  select 1, 'fill.reversed', event_id('reversal' || (p ->> 'walletAddress') || subject || (p ->> 'tradeId')),
    p || jsonb_build_object('size', micro_number((p ->> 'size')::bigint), 'cost', micro_number((p ->> 'cost')::bigint),
      'fee', micro_number((p ->> 'fee')::bigint))
  from f where kind = 'reversal'
  union all
  select 1, 'fee', event_id('fee' || subject), jsonb_build_object('venue', p -> 'venue', 'orderId', null,
    'tradeId', null, 'amount', micro_number((p ->> 'amount')::bigint))
  from f where kind = 'fee'
  union all
  select 1, 'market.resolved', event_id('resolved' || agent_id || subject), p from f where kind = 'resolution'
  union all
  select 1, 'risk', event_id('risk' || agent_id || subject || (extract(epoch from fact.at) * 1000)::bigint), p
  from f where kind = 'risk'
  union all
  select 1, 'wallet.left', event_id('wallet.left' || agent_id || subject || fact.seq), p from f where kind = 'wallet'
  union all
  select 1, case p ->> 'status' when 'waiting' then 'approval.asked' else 'approval.decided' end,
    event_id('approval' || subject || (p ->> 'status')), p
  from f where kind = 'approval'
  union all
  select 1, 'exit.' || (p ->> 'became'), event_id('exit' || subject || fact.seq), p - 'became'
    || jsonb_build_object('size', micro_number((p ->> 'size')::bigint), 'filledSize', micro_number((p ->> 'filledSize')::bigint))
  from f where kind = 'exit'
  union all
  select 1, 'receipts.head', event_id('receipts' || agent_id || subject), p from f where kind = 'receipts'
$$;

-- Queues the events of what was logged since the last time for the endpoints that want them: every fact once, whenever its
-- transaction was committed, and in the order of the log. One caller does it at a time; others wait only if they say so.
-- Not to be called by a transaction that has written facts.
create or replace function queue_webhook_events(waits boolean default false) returns void language plpgsql as $$
declare
  seen pg_snapshot;
begin
  if waits then
    select webhooks_seen into seen from fact_log for update;
  else
    select webhooks_seen into seen from fact_log for update skip locked;
  end if;
  if seen is null then
    return;
  end if;
  -- A dump that was restored brings facts and cursors of another counter of transactions: they are left behind.
  if pg_snapshot_xmax(seen) > pg_snapshot_xmax(pg_current_snapshot()) then
    delete from facts where writer >= pg_snapshot_xmax(pg_current_snapshot());
    update webhook_endpoints set listens_since = pg_current_snapshot()
      where pg_snapshot_xmax(listens_since) > pg_snapshot_xmax(pg_current_snapshot());
    update fact_log set webhooks_seen = pg_current_snapshot(), kept_since = greatest(kept_since, now());
    return;
  end if;
  -- One statement, so one snapshot: what is queued is what the new cursor has seen and the old one had not.
  with queued as (
    insert into webhook_deliveries (endpoint_id, agent_id, event_id, type, data, created_at)
    select e.id, f.agent_id, v.event_id, v.type, v.data, f.at
    from facts f
    cross join lateral (select x.id, x.events from webhook_endpoints x
      where x.agent_id = f.agent_id and x.enabled and not pg_visible_in_snapshot(coalesce(f.recorded_by, f.writer), x.listens_since) offset 0) e
    cross join lateral webhook_events(f) v
    -- Once for the statement: without a listener no fact is read.
    where (select true from webhook_endpoints where enabled limit 1)
      and f.writer >= pg_snapshot_xmin(seen) and not pg_visible_in_snapshot(coalesce(f.recorded_by, f.writer), seen)
      -- Who wants fills wants to know that one did not happen.
      and e.events && array['*', split_part(v.type, '.', 1) || '.*', split_part(v.type, '.', 1), v.type]
    order by f.seq, v.nth
  )
  update fact_log set webhooks_seen = pg_current_snapshot() where exists (
    select 1 from facts f where f.writer >= pg_snapshot_xmin(seen) and not pg_visible_in_snapshot(coalesce(f.recorded_by, f.writer), seen));
end
$$;
