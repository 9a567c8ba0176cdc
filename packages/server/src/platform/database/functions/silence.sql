-- Hands the open orders of silent agents to the desk's late cancels, once for each silence, by whichever replica comes first.
-- Calls are written some seconds after they were made: `slack` waits for those of a replica that has died since. A pause of the watch that is
-- longer than `gap` was a pause of the desk, and agents have all of their time again after it.
create or replace function cancel_silent(at timestamptz, gap interval, slack interval) returns integer language plpgsql as $$
declare
  fired_agents integer;
begin
  with silent as materialized (
    select s.agent_id, k.called_at from safeguards s
    cross join lateral (select max(last_called_at) as called_at from api_keys where agent_id = s.agent_id) k
    cross join desk_watch d
    where s.silence_seconds is not null and d.seen_at + gap >= at
      and greatest(k.called_at, d.since) + make_interval(secs => s.silence_seconds) + slack <= at
      and not exists (select 1 from silences x where x.agent_id = s.agent_id and x.called_at = k.called_at)
  ), late as (
    update orders o set cancel_at = at, cancel_cause = 'silence' from silent s
    where o.agent_id = s.agent_id and order_is_open(o.status) and o.kind in ('signed', 'quoted')
      and (o.cancel_at is null or o.cancel_at > at)
      -- What protects a position stays.
      and not exists (select 1 from exits e where e.order_id = o.order_id and e.agent_id = o.agent_id)
    returning o.order_id, o.agent_id
  ), handed as (
    insert into late_orders (order_id, due_at) select order_id, at from late
    on conflict (order_id) do update set due_at = excluded.due_at
  ), fired as (
    insert into silences as x (agent_id, called_at, fired_at, orders)
    select s.agent_id, s.called_at, at, (select count(*) from late l where l.agent_id = s.agent_id) from silent s
    on conflict (agent_id) do update
      set called_at = excluded.called_at, fired_at = excluded.fired_at, orders = excluded.orders
    returning 1
  ) select count(*) into fired_agents from fired;
  return fired_agents;
end
$$;
