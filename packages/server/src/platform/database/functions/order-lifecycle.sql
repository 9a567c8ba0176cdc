-- Made from packages/server/src/domain/lifecycle.ts. Change that, then run scripts/generate-rows.ts.

-- Whether evidence may move an order from one status to another. One piece of evidence may carry several events.
create or replace function order_may_become(kind text, from_status text, to_status text) returns boolean
language sql immutable parallel safe as $$
  select case kind || ' ' || from_status
    when 'signed submitting' then to_status in ('unknown', 'live', 'delayed', 'partially_filled', 'matched', 'partially_filled_closed', 'filled', 'canceled', 'expired', 'rejected', 'market_resolved', 'settlement_failed')
    when 'signed unknown' then to_status in ('live', 'delayed', 'partially_filled', 'matched', 'partially_filled_closed', 'filled', 'canceled', 'expired', 'rejected', 'market_resolved', 'settlement_failed')
    when 'signed live' then to_status in ('live', 'partially_filled', 'matched', 'partially_filled_closed', 'filled', 'canceled', 'expired', 'market_resolved', 'settlement_failed')
    when 'signed delayed' then to_status in ('live', 'partially_filled', 'matched', 'partially_filled_closed', 'filled', 'canceled', 'expired', 'rejected', 'market_resolved', 'settlement_failed')
    when 'signed unmatched' then to_status in ('live', 'partially_filled', 'matched', 'partially_filled_closed', 'filled', 'canceled', 'expired', 'market_resolved', 'settlement_failed')
    when 'signed partially_filled' then to_status in ('live', 'partially_filled', 'matched', 'partially_filled_closed', 'filled', 'canceled', 'expired', 'market_resolved', 'settlement_failed')
    when 'signed matched' then to_status in ('matched', 'partially_filled_closed', 'filled', 'canceled', 'expired', 'market_resolved', 'settlement_failed')
    when 'quoted submitting' then to_status in ('delayed', 'partially_filled', 'partially_filled_closed', 'filled', 'canceled', 'rejected')
    when 'quoted delayed' then to_status in ('partially_filled', 'partially_filled_closed', 'filled', 'rejected')
    when 'quoted partially_filled' then to_status in ('partially_filled', 'partially_filled_closed', 'filled')
    when 'split submitting' then to_status in ('unknown', 'live', 'filled', 'expired', 'rejected')
    when 'split unknown' then to_status in ('filled', 'rejected')
    when 'split live' then to_status in ('filled', 'expired', 'rejected')
    when 'merge submitting' then to_status in ('unknown', 'live', 'filled', 'expired', 'rejected')
    when 'merge unknown' then to_status in ('filled', 'rejected')
    when 'merge live' then to_status in ('filled', 'expired', 'rejected')
    when 'convert submitting' then to_status in ('unknown', 'live', 'filled', 'expired', 'rejected')
    when 'convert unknown' then to_status in ('filled', 'rejected')
    when 'convert live' then to_status in ('filled', 'expired', 'rejected')
    else false
  end
$$;

-- Whether an order can still be filled, as far as is known. The planner writes the list into the statement, so indexes on open orders fit.
create or replace function order_is_open(status text) returns boolean language sql immutable parallel safe as $$
  select status in ('submitting', 'unknown', 'live', 'delayed', 'unmatched', 'partially_filled')
$$;

-- An order's status in the words of webhooks.
create or replace function order_event_word(status text) returns text language sql immutable parallel safe as $$
  select case status
    when 'partially_filled_closed' then 'matched'
    else status
  end
$$;

-- Refuses what the lifecycle does not know, whichever statement tries it.
create or replace function refuse_status() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    raise exception 'order % cannot begin as %', new.order_id, new.status using errcode = 'check_violation';
  end if;
  -- A refused attempt of an exit was never taken: its order is sent anew.
  if old.kind = 'signed' and new.kind = old.kind and old.status = 'rejected' and old.first_answer is null
    and new.status = 'submitting' then
    return new;
  end if;
  if new.kind <> old.kind or not order_may_become(old.kind, old.status, new.status) then
    raise exception '% order % cannot become % when it is %', old.kind, old.order_id, new.status, old.status
      using errcode = 'check_violation';
  end if;
  return new;
end
$$;
-- An order that its venue answered in the commit of its record begins with what the venue proved. The words stand here
-- because PostgreSQL reads a trigger's condition anew for every statement, and with it the text of every function in it.
create or replace trigger orders_first_status before insert on orders
  for each row when (new.status <> 'submitting'
    and (new.first_answer is null or new.kind || ' ' || new.status not in ('signed unknown', 'signed live', 'signed delayed', 'signed partially_filled', 'signed matched', 'signed partially_filled_closed', 'signed filled', 'signed canceled', 'signed expired', 'signed rejected', 'signed market_resolved', 'signed settlement_failed', 'split unknown', 'split live', 'split filled', 'split expired', 'split rejected', 'merge unknown', 'merge live', 'merge filled', 'merge expired', 'merge rejected', 'convert unknown', 'convert live', 'convert filled', 'convert expired', 'convert rejected')))
  execute function refuse_status();
create or replace trigger orders_next_status before update on orders
  for each row when (new.status <> old.status or new.kind <> old.kind) execute function refuse_status();
