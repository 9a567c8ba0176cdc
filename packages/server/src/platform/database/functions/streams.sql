-- A column of safeguards as the wire names its setting.
create or replace function setting_name(column_name text) returns text language sql immutable parallel safe as $$
  select lower(left(t.words, 1)) || substr(t.words, 2)
  from (select replace(initcap(replace(regexp_replace(column_name, '^locked_', ''), '_', ' ')), ' ', '') as words) t
$$;

-- Logs what changed in an agent's settings, and in what its owner locks. Trades change other columns and pass by.
create or replace function log_changed_settings() returns trigger language plpgsql as $$
declare
  changed jsonb;
begin
  select jsonb_object_agg(n.key, n.value) into changed
  from jsonb_each(to_jsonb(new) - array['agent_id', 'updated_at', 'usage_day', 'used_trades', 'used_amount']) n
  where n.value is distinct from to_jsonb(old) -> n.key;
  if changed is not null then
    insert into facts (agent_id, kind, subject, at, payload)
    values (new.agent_id, 'safeguards', 'settings', new.updated_at,
      jsonb_build_object('tradingPaused', new.trading_paused or new.owner_paused, 'changed', changed));
  end if;
  return null;
end
$$;
create or replace trigger safeguards_log_changed after update of updated_at on safeguards
  for each row execute function log_changed_settings();

-- What streams tell of some facts, in the order nth for each: nth is part of an event's cursor, so the place of a type never
-- changes. What webhooks tell comes first, with the same ids. One statement for all facts: to start it costs more than to
-- tell one of them.
drop function if exists stream_events(facts);
create or replace function stream_events(about bigint[])
returns table (seq bigint, nth integer, type text, event_id uuid, data jsonb) language plpgsql stable
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query with given as materialized (
    select f as fact, f.seq, f.kind, f.subject, f.payload as p from facts f where f.seq = any(about)
  ), moved as materialized (
    select g.seq, f.wallet, f.order_id, f.trade_id::text as trade_id, f.condition_id, f.token_id, f.outcome, f.size, f.cost,
      -- A conversion moves no collateral.
      case when f.match_kind = 'CONVERTED' then 0 when f.side = 'BUY' then -f.cost else f.cost end - f.fee as change,
      case when f.match_kind in ('REDEEMED', 'REDEEM') then 'redemption' when f.match_kind = 'LOST' then 'resolution'
        when f.match_kind = 'SPLIT' then 'split' when f.match_kind = 'MERGED' then 'merge'
        when f.match_kind = 'CONVERTED' then 'conversion' else 'trade' end as reason
    from given g cross join lateral (
      select * from fills x where x.wallet = g.p ->> 'walletAddress' and x.order_id = g.subject
        and x.trade_id = (g.p ->> 'tradeId')::bigint offset 0) f
    where g.kind in ('fill', 'holding')
    union all
    -- A fill that was taken back has no row any more: its fact says all of it.
    select g.seq, p ->> 'walletAddress', g.subject, p ->> 'tradeId', p ->> 'marketConditionId', p ->> 'tokenId',
      p ->> 'outcome', (p ->> 'size')::bigint, (p ->> 'cost')::bigint,
      case p ->> 'side' when 'BUY' then -(p ->> 'cost')::bigint else (p ->> 'cost')::bigint end - (p ->> 'fee')::bigint,
      'trade'
    from given g where g.kind = 'fill' and p ? 'size' and not exists (
      select from fills x where x.wallet = g.p ->> 'walletAddress' and x.order_id = g.subject
        and x.trade_id = (g.p ->> 'tradeId')::bigint)
    union all
    select g.seq, p ->> 'walletAddress', g.subject, p ->> 'tradeId', p ->> 'marketConditionId', p ->> 'tokenId',
      p ->> 'outcome', (p ->> 'size')::bigint, (p ->> 'cost')::bigint,
      case p ->> 'side' when 'BUY' then (p ->> 'cost')::bigint else -(p ->> 'cost')::bigint end + (p ->> 'fee')::bigint,
      'reversal'
    from given g where g.kind = 'reversal'
  ), placed as materialized (
    -- A conversion has fills in other markets than its order's own.
    select m.*, coalesce(o.venue, t.venue) as venue, case m.outcome when 'YES' then t.outcomes[1] else t.outcomes[2] end as outcome_name,
      coalesce(case when o.condition_id = m.condition_id then o.market_id end, t.market_id) as market_id
    from moved m left join lateral (select * from orders x where x.order_id = m.order_id offset 0) o on true
    left join lateral (select * from traded_markets x where x.condition_id = m.condition_id offset 0) t on true
  )
  select g.seq, w.nth, w.type, w.event_id, w.data from given g cross join lateral webhook_events(g.fact) w
  union all
  select m.seq, 3, 'position', event_id('position ' || m.seq), jsonb_build_object('walletAddress', m.wallet,
    'venue', m.venue, 'marketId', m.market_id, 'marketConditionId', m.condition_id, 'tokenId', m.token_id,
    'outcome', m.outcome, 'outcomeName', m.outcome_name, 'reason', m.reason, 'size', micro_number(coalesce(h.size, 0)),
    'cost', micro_number(coalesce(h.cost, 0)),
    'avgPrice', coalesce(trim_scale(round(h.cost::numeric / nullif(h.size, 0), 6)), 0),
    'realizedPnl', micro_number(coalesce(h.realized, 0)))
  from placed m left join lateral (
    select * from positions x where x.wallet = m.wallet and x.token_id = m.token_id offset 0) h on true
  union all
  select m.seq, 4, 'balance', event_id('balance ' || m.seq), jsonb_build_object('walletAddress', m.wallet,
    'change', micro_number(m.change), 'reason', m.reason, 'orderId', m.order_id, 'tradeId', m.trade_id)
  from moved m where m.change <> 0
  union all
  select m.seq, 5, 'redemption', event_id('redemption ' || m.seq), jsonb_build_object('walletAddress', m.wallet,
    'venue', m.venue, 'marketId', m.market_id, 'marketConditionId', m.condition_id, 'tokenId', m.token_id,
    'outcome', m.outcome, 'outcomeName', m.outcome_name, 'size', micro_number(m.size), 'payout', micro_number(m.cost))
  from placed m where m.reason = 'redemption'
  union all
  select g.seq, 1, 'balance', event_id('balance ' || g.seq), jsonb_build_object('walletAddress', p -> 'walletAddress',
    'change', micro_number((p ->> 'change')::bigint), 'reason', p -> 'reason', 'orderId', null, 'tradeId', null)
  from given g where g.kind = 'balance'
  union all
  select g.seq, 1, 'safeguards', event_id('safeguards ' || g.seq), jsonb_build_object('tradingPaused', p -> 'tradingPaused',
    'settings', coalesce(c.settings, '{}'), 'locks', coalesce(c.locks, '{}'))
  from given g cross join lateral (
    select jsonb_object_agg(setting_name(v.key), v.value) filter (where v.key !~ '^locked_') as settings,
      jsonb_object_agg(setting_name(v.key), v.value) filter (where v.key ~ '^locked_') as locks
    from (
      -- Of these columns the wide integers are money.
      select s.key, case when s.value <> 'null' and exists (select 1 from pg_attribute a
          where a.attrelid = 'safeguards'::regclass and a.attname = s.key and a.atttypid = 'bigint'::regtype)
        then to_jsonb(micro_number((s.value #>> '{}')::bigint)) else s.value end as value
      from jsonb_each(g.p -> 'changed') s) v) c
  where g.kind = 'safeguards';
end
$$;
