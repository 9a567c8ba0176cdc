-- Where a fact that is written now belongs in the log: behind every transaction that has ended, and so behind what it follows
-- from. A transaction has its number before it waits for locks, so its own number is too low where it waited. The
-- function takes a snapshot of its own, behind the locks that the statement has waited for.
create or replace function place_in_log() returns xid8 language plpgsql as $$
begin
  return greatest(pg_current_xact_id(), (pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1)::text::xid8);
end
$$;

-- What a fact about an order holds: what changes in the life of an order, without what is 0 or absent. The rest is in the
-- order's row, which is never deleted. The statement that records orders logs them itself. Declared stable, as what it calls
-- is: then the planner writes it into the statement instead of calling it for each row.
create or replace function order_change(status text, filled bigint, cost bigint, fees bigint, error_code text)
returns jsonb language sql stable as $$
  -- Most orders rest first, and an object without parts to leave out is made several times as fast.
  select case when filled = 0 and cost = 0 and fees = 0 and error_code is null then jsonb_build_object('status', status)
    else jsonb_strip_nulls(jsonb_build_object('status', status, 'filledSize', nullif(filled, 0)::text,
      'filledAmount', nullif(cost, 0)::text, 'feePaid', nullif(fees, 0)::text, 'errorCode', error_code)) end
$$;
drop function if exists order_payload(orders);

-- What a fact about an order says of it, without what tells this fact from another one that says the same.
create or replace function change_of_order(payload jsonb) returns jsonb language sql immutable as $$
  select payload - array['reversals', 'repeats', 'isRefusedAgain']
$$;

-- Logs every order that evidence moves. A change of owner is no change of the order.
create or replace function log_changed_orders() returns trigger language plpgsql as $$
begin
  insert into facts (agent_id, kind, subject, at, payload)
  select o.agent_id, 'order', o.order_id, o.updated_at,
    -- Where fills were taken back, or the order was sent again, it may be again where it was: how often says that this is another fact.
    case when strpos(o.journal_lines, 'fills_reversed"') = 0 and strpos(o.journal_lines, 'sent_again"') = 0
      then order_change(o.status, o.filled, o.cost, o.fees, o.error_code)
      else order_change(o.status, o.filled, o.cost, o.fees, o.error_code) || jsonb_strip_nulls(jsonb_build_object(
        'reversals', nullif(regexp_count(o.journal_lines, 'fills_reversed"'), 0),
        'repeats', nullif(regexp_count(o.journal_lines, 'sent_again"'), 0),
        -- What was told of it last still holds.
        'isRefusedAgain', case when o.status = 'rejected' and f.status = 'submitting' then true end)) end
  from changed o join formerly f using (order_id)
  where (o.status, o.filled, o.error_code, o.updated_at) is distinct from (f.status, f.filled, f.error_code, f.updated_at);
  return null;
end
$$;
create or replace trigger orders_log_changed after update on orders
  referencing old table as formerly new table as changed for each statement execute function log_changed_orders();

-- Logs resolutions for every agent that has an open order in the market, or reaches a wallet that holds some of it. To be
-- called before the outcomes of the same evidence, which close those orders.
create or replace function log_resolutions(batch jsonb) returns void language plpgsql as $$
begin
  insert into facts (agent_id, kind, subject, at, payload)
  select c.agent_id, 'resolution', r.condition_id, r.at, jsonb_build_object('marketId', m.market_id,
    'marketConditionId', r.condition_id, 'marketQuestion', m.question, 'payout', r.payout, 'outcomes', m.outcomes)
  from jsonb_to_recordset(batch) as r(condition_id text, payout text, at timestamptz)
  cross join lateral (
    -- The length, which is always greater, makes the index on open orders by market fit, and only here.
    select agent_id from orders where condition_id = r.condition_id
      and order_is_open(status) and length(condition_id) > 0
    union
    select w.agent_id from (
      -- The market's positions first, whatever is known of how many others there are: as a range, which the index on
      -- markets alone can find.
      select wallet from positions where condition_id between r.condition_id and r.condition_id and size > 0 offset 0) p
    cross join lateral (
      select agent_id from agent_wallets where address = p.wallet and (is_own or granted) offset 0) w
    join agents a on a.agent_id = w.agent_id
    where exists (
      select 1 from credentials k where k.user_id = a.user_id and (k.wallet_address = p.wallet or k.funder = p.wallet)
      union all
      select 1 from order_wallets k where k.user_id = a.user_id and k.address = p.wallet)
    offset 0) c
  left join lateral (
    select market_id, question, outcomes from traded_markets where condition_id = r.condition_id
    union all
    select market_id, question, null from orders where agent_id = c.agent_id and condition_id = r.condition_id
      and order_is_open(status)
    limit 1) m on true
  order by r.condition_id, c.agent_id;
end
$$;

-- Whether a wallet that an agent registered, linked or traded with, or was granted, is its owner's.
create or replace function agent_reaches(agent uuid, wallet text) returns boolean language plpgsql stable as $$
declare
  owner bigint;
begin
  select a.user_id into owner from agents a where a.agent_id = agent;
  return exists (select 1 from credentials c where c.user_id = owner and (c.wallet_address = wallet or c.funder = wallet))
    or exists (select 1 from linked_wallets l where l.address = wallet and l.user_id = owner)
    or exists (select 1 from order_wallets o where o.address = wallet and o.user_id = owner
      and not exists (select 1 from linked_wallets l where l.address = wallet and l.user_id <> owner));
end
$$;

-- Agents within whose reach a wallet is.
create or replace function agents_reaching(wallet text) returns table (agent_id uuid) language sql stable as $$
  select w.agent_id from agent_wallets w
  where w.address = wallet and (w.is_own or w.granted) and agent_reaches(w.agent_id, wallet)
$$;

-- Records paper money that came to wallets, and logs it for the agents that have them.
create or replace function record_deposits(batch jsonb) returns void language sql as $$
  with given as (
    select * from jsonb_to_recordset(batch) as t(wallet text, amount bigint, reason text, at timestamptz)
  ), credited as (
    insert into simulation_credits (wallet, amount, credited_at)
    select wallet, amount, at from given where reason = 'simulation' on conflict (wallet) do nothing
  ), kept as (
    insert into wallet_deposits (wallet, at, amount, reason) select wallet, at, amount, reason from given
  )
  insert into facts (agent_id, kind, subject, at, payload)
  select w.agent_id, 'balance', g.wallet, g.at,
    jsonb_build_object('walletAddress', g.wallet, 'change', g.amount::text, 'reason', g.reason)
  from given g cross join lateral (select agent_id from agents_reaching(g.wallet) offset 0) w
$$;

-- Deletes at most `most` of the oldest facts, those before `horizon`, and says how many. Facts are appended in the order of
-- time, so the oldest are looked at and no others.
create or replace function forget_facts(horizon timestamptz, most integer) returns integer language sql as $$
  with deleted as (
    delete from facts f where seq = any(array(select seq from facts order by seq limit most)) and at < horizon
      -- Receipts are made of them first.
      and (f.kind not in ('order', 'fill', 'reversal', 'recount')
        or (f.writer, f.seq) <= (select r.writer, r.seq from receipt_log r))
    returning writer, seq
  ), moved as (
    -- The last of them in the order of streams. A cursor before it may have missed something.
    update fact_log l set kept_since = greatest(l.kept_since, horizon),
      forgotten_writer = case when (l.forgotten_writer, l.forgotten_seq) < (d.writer, d.seq) then d.writer
        else l.forgotten_writer end,
      forgotten_seq = case when (l.forgotten_writer, l.forgotten_seq) < (d.writer, d.seq) then d.seq
        else l.forgotten_seq end
    from (select 1) one left join lateral (
      select writer, seq from deleted order by writer desc, seq desc limit 1) d on true
    where l.kept_since < horizon or (l.forgotten_writer, l.forgotten_seq) < (d.writer, d.seq)
  )
  select count(*)::integer from deleted
$$;
