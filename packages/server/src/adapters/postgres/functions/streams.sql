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

-- What a stream tells of a fact, in this order: nth is part of an event's cursor, so the place of a type never changes.
-- What webhooks tell comes first, with the same ids.
create or replace function stream_events(fact facts)
returns table (nth integer, type text, event_id uuid, data jsonb) language plpgsql stable as $$
#variable_conflict use_column
begin
  return query with moved as (
    select f.wallet, f.order_id, f.trade_id::text as trade_id, f.condition_id, f.token_id, f.outcome, f.size, f.cost,
      case f.side when 'BUY' then -f.cost else f.cost end - f.fee as change,
      case when f.match_kind in ('REDEEMED', 'REDEEM') then 'redemption' when f.match_kind = 'LOST' then 'resolution'
        when f.match_kind = 'SPLIT' then 'split' when f.match_kind = 'MERGED' then 'merge' else 'trade' end as reason
    from fills f
    where fact.kind in ('fill', 'holding') and f.wallet = fact.payload ->> 'walletAddress'
      and f.order_id = fact.subject and f.trade_id = (fact.payload ->> 'tradeId')::bigint
    union all
    select p ->> 'walletAddress', fact.subject, p ->> 'tradeId', p ->> 'marketConditionId', p ->> 'tokenId',
      p ->> 'outcome', (p ->> 'size')::bigint, (p ->> 'cost')::bigint,
      case p ->> 'side' when 'BUY' then (p ->> 'cost')::bigint else -(p ->> 'cost')::bigint end + (p ->> 'fee')::bigint,
      'reversal'
    from (select fact.payload as p) t where fact.kind = 'reversal'
  ), placed as (
    select m.*, coalesce(o.venue, t.venue) as venue, coalesce(o.market_id, t.market_id) as market_id
    from moved m left join orders o on o.order_id = m.order_id left join traded_markets t on t.condition_id = m.condition_id
  )
  select nth, type, event_id, data from webhook_events(fact)
  union all
  select 3, 'position', event_id('position ' || fact.seq), jsonb_build_object('walletAddress', m.wallet, 'venue', m.venue,
    'marketId', m.market_id, 'marketConditionId', m.condition_id, 'tokenId', m.token_id, 'outcome', m.outcome,
    'reason', m.reason, 'size', micro_number(coalesce(p.size, 0)), 'cost', micro_number(coalesce(p.cost, 0)),
    'avgPrice', coalesce(trim_scale(round(p.cost::numeric / nullif(p.size, 0), 6)), 0),
    'realizedPnl', micro_number(coalesce(p.realized, 0)))
  from placed m left join positions p on p.wallet = m.wallet and p.token_id = m.token_id
  union all
  select 4, 'balance', event_id('balance ' || fact.seq), jsonb_build_object('walletAddress', m.wallet,
    'change', micro_number(m.change), 'reason', m.reason, 'orderId', m.order_id, 'tradeId', m.trade_id)
  from moved m where m.change <> 0
  union all
  select 5, 'redemption', event_id('redemption ' || fact.seq), jsonb_build_object('walletAddress', m.wallet,
    'venue', m.venue, 'marketId', m.market_id, 'marketConditionId', m.condition_id, 'tokenId', m.token_id,
    'outcome', m.outcome, 'size', micro_number(m.size), 'payout', micro_number(m.cost))
  from placed m where m.reason = 'redemption'
  union all
  select 1, 'balance', event_id('balance ' || fact.seq), jsonb_build_object(
    'walletAddress', fact.payload -> 'walletAddress', 'change', micro_number((fact.payload ->> 'change')::bigint),
    'reason', fact.payload -> 'reason', 'orderId', null, 'tradeId', null)
  where fact.kind = 'balance'
  union all
  select 1, 'safeguards', event_id('safeguards ' || fact.seq), jsonb_build_object(
    'tradingPaused', fact.payload -> 'tradingPaused',
    'settings', coalesce(jsonb_object_agg(setting_name(c.key), c.value) filter (where c.key !~ '^locked_'), '{}'),
    'locks', coalesce(jsonb_object_agg(setting_name(c.key), c.value) filter (where c.key ~ '^locked_'), '{}'))
  from (
    -- Of these columns the wide integers are money.
    select s.key, case when s.value <> 'null' and exists (select 1 from pg_attribute a
        where a.attrelid = 'safeguards'::regclass and a.attname = s.key and a.atttypid = 'bigint'::regtype)
      then to_jsonb(micro_number((s.value #>> '{}')::bigint)) else s.value end as value
    from jsonb_each(case when fact.kind = 'safeguards' then fact.payload -> 'changed' else '{}' end) s) c
  having fact.kind = 'safeguards';
end
$$;
