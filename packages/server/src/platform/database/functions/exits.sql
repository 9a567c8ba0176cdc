-- Guarded exits. Whoever changes the status of an exit locks the safeguards of its agent first: pauses, revocations and trades do.

-- Exits of a group share a place: one of them is sent.
create or replace function count_exits() returns trigger language plpgsql as $$
begin
  update safeguards set reserved_exits = c.places, open_exits = c.open
  from (
    select count(distinct coalesce('group ' || group_name, exit_id)) filter (where status in ('armed', 'firing')) as places,
      count(*) as open
    from exits where agent_id = new.agent_id and sealed is not null
  ) c
  where safeguards.agent_id = new.agent_id;
  return null;
end
$$;
create or replace trigger exits_count after insert or update of status on exits
  for each row execute function count_exits();

-- The watch reads what was written since it looked last. A number is drawn when the row is locked, so a later one is larger; a transaction may
-- have its own number, by which snapshots count, before one that writes the row earlier.
create or replace function note_exit_writer() returns trigger language plpgsql as $$
begin
  new.writer := pg_current_xact_id();
  new.change := nextval('exit_changes');
  return new;
end
$$;
-- A review alone writes nothing that is watched.
create or replace trigger exits_writer before update on exits for each row when (new.reviewed_at = old.reviewed_at)
  execute function note_exit_writer();

create or replace function touch_exits() returns trigger language plpgsql as $$
begin
  update exits set writer = pg_current_xact_id() where agent_id = new.agent_id and status = 'armed';
  return null;
end
$$;
create or replace trigger safeguards_touch_exits after update of exit_distance_percent on safeguards
  for each row when (new.exit_distance_percent <> old.exit_distance_percent) execute function touch_exits();

-- A pause stops what is armed; what is just being sent is suspended where that does not come to an order. What the owner has armed by
-- passkey for a pause is sent when the owner pauses, one of each group; a pause by the agent's key neither sends nor stops it: who has
-- stolen that key must not be able to sell.
create or replace function pause_exits() returns trigger language plpgsql as $$
begin
  update exits set status = case status when 'armed' then 'suspended' else status end, because = 'pause',
      updated_at = new.updated_at
    where agent_id = new.agent_id and status in ('armed', 'firing') and not fires_on_pause;
  if new.owner_paused and not old.owner_paused then
    update exits set status = 'firing', because = null, next_attempt_at = new.updated_at, attempts = 0,
        updated_at = new.updated_at, fired = jsonb_build_object('cause', 'pause', 'at', new.updated_at)
      where exit_id in (
        select distinct on (coalesce(group_name, exit_id)) exit_id from exits e
        where agent_id = new.agent_id and status = 'armed' and fires_on_pause and not group_is_sent(exit_id)
        order by coalesce(group_name, exit_id), created_at, exit_id);
  end if;
  return null;
end
$$;
create or replace trigger safeguards_pause_exits after update of trading_paused, owner_paused on safeguards
  for each row when ((new.trading_paused or new.owner_paused)
    and (new.trading_paused, new.owner_paused) is distinct from (old.trading_paused, old.owner_paused))
  execute function pause_exits();

-- On the day after a recovery it is not known whether the owner or a thief typed the code: the owner's pause sends nothing then, and suspends
-- what was armed for it, too. Before `safeguards_pause_exits`, which finds nothing armed then: triggers of one event go by their names.
create or replace function pause_all_exits() returns trigger language plpgsql as $$
begin
  if exists (select 1 from agents a join recoveries r using (user_id)
      where a.agent_id = new.agent_id and a.claimed_at is not null and r.ends_at > new.updated_at) then
    update exits set status = case status when 'armed' then 'suspended' else status end, because = 'pause',
        updated_at = new.updated_at
      where agent_id = new.agent_id and status in ('armed', 'firing') and fires_on_pause;
  end if;
  return null;
end
$$;
create or replace trigger safeguards_pause_all_exits after update of owner_paused on safeguards
  for each row when (new.owner_paused and not old.owner_paused) execute function pause_all_exits();

create or replace function suspend_exits_of_key() returns trigger language plpgsql as $$
begin
  perform 1 from safeguards where agent_id = old.agent_id for no key update;
  update exits set status = case status when 'armed' then 'suspended' else status end, because = 'key_revoked',
      updated_at = coalesce(new.revoked_at, now())
    where api_key_id = old.id and status in ('armed', 'firing');
  return null;
end
$$;
create or replace trigger api_keys_suspend_exits after update of status on api_keys
  for each row when (new.status = 2 and old.status <> 2) execute function suspend_exits_of_key();

-- Whether the day's trades and the places that armed exits keep are more than the agent may place.
create or replace function is_over_the_day(agent uuid, at timestamptz) returns boolean language sql stable as $$
  select s.trade_limit_enabled and s.reserved_exits + u.trades > s.max_trades_per_day
  from safeguards s cross join usage_of_day(s.agent_id, (at at time zone 'UTC')::date) u where s.agent_id = agent
$$;

-- Arms a suspended exit again, if its agent may trade and the day has a place for it: its trigger must let go first. With `for_pause` it is
-- sent by the owner's pause, also one that is armed already.
create or replace function resume_exit(wanted text, is_owner boolean, for_pause boolean, at timestamptz) returns text
language plpgsql as $$
declare
  limits safeguards;
  present text;
begin
  -- A claim takes the same lock.
  select s.* into limits from safeguards s where s.agent_id = (select agent_id from exits where exit_id = wanted) for no key update;
  if not is_owner and exists (select from agents a where a.agent_id = limits.agent_id and a.claimed_at is not null) then
    return 'owned';
  end if;
  select status into present from exits where exit_id = wanted for update;
  if present = 'armed' then
    update exits set fires_on_pause = true, updated_at = at where exit_id = wanted and for_pause and not fires_on_pause;
    return 'armed_already';
  end if;
  if present is distinct from 'suspended' then
    return 'not_open';
  end if;
  if limits.trading_paused or limits.owner_paused then
    return 'paused';
  end if;
  update exits set status = 'armed', because = null, trouble = null, trouble_detail = null, attempts = 0, next_attempt_at = at,
      must_let_go = true, fires_on_pause = fires_on_pause or for_pause, updated_at = at
    where exit_id = wanted;
  if is_over_the_day(limits.agent_id, at) then
    raise exception using errcode = 'BW001', message = 'no place';
  end if;
  return 'resumed';
exception when sqlstate 'BW001' then
  return 'no_place';
end
$$;

-- Ends an exit; its seal goes with it. Who chose it before it had the agent's lock says among which it must be still.
drop function if exists end_exit(text, text, text, timestamptz);
create or replace function end_exit(ended text, with_status text, why text, at timestamptz, among text[] default null)
returns void language sql as $$
  update exits set status = with_status, because = why, sealed = null, key_id = null, trouble = null, trouble_detail = null,
    updated_at = at where exit_id = ended and sealed is not null and (among is null or status = any(among))
$$;

-- Whether the order of an exit is recorded, and was not refused: then it may sell, and nothing that is decided without it holds.
create or replace function exit_is_placed(e exits) returns boolean language sql stable as $$
  select exists (
    select from orders o where o.order_id = e.order_id and o.agent_id = e.agent_id and o.status <> 'rejected')
$$;

-- What became of an exit, by its row of now and by what was told before. Null: nothing yet. To be sent and to be put back is not told:
-- it happens with each attempt.
create or replace function exit_became(e exits, before text) returns text language sql immutable as $$
  select case e.status
    when 'firing' then before
    when 'armed' then case before when 'suspended' then 'resumed' else before end
    when 'fired' then case when e.settled_at is null then 'sent' when e.because = 'filled_in_part' then e.because else 'filled' end
    else e.status end
$$;

create or replace function exit_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    new.after_fill := coalesce((select max(f.recorded) from fills f where f.wallet = new.funder and f.token_id = new.token_id
      and f.filled_at >= new.created_at - interval '10 seconds'), 0);
  end if;
  new.became := exit_became(new, case tg_op when 'UPDATE' then old.became end);
  return new;
end
$$;
create or replace trigger exits_become before insert or update on exits
  for each row execute function exit_changes();

-- One plain sentence. Nothing of it is written by strangers.
create or replace function exit_sentence(e exits, what text, why text, sold bigint) returns text language sql immutable as $$
  select format('Guarded exit %s, to sell %s %s: ', e.exit_id, micro_number(e.shares), e.outcome) || case what
    when 'sent' then 'its order was placed.'
    when 'filled' then format('its order has sold %s.', micro_number(sold))
    when 'filled_in_part' then format('its order has sold %s, and nothing of it waits any more. Sign a new exit for the rest, unless another one guards it.', micro_number(sold))
    when 'suspended' then format('it is suspended (%s) and sells nothing until it is resumed.', why)
    when 'resumed' then 'it is armed again.'
    when 'failed' then format('it has failed (%s) and sold nothing. Sign a new exit, unless another one guards the position.', why)
    when 'expired' then format('it has expired%s and sold nothing.', coalesce(' (' || why || ')', ''))
    when 'canceled' then format('it was canceled (%s).', why)
    when 'in_trouble' then format('it could not be sent as it stands for ten seconds (%s). The desk goes on trying.', why)
  end
$$;

-- The payload of a fact about an exit.
create or replace function exit_told(e exits, what text, trouble text, trouble_detail text) returns jsonb language sql stable as $$
  select jsonb_build_object('became', what, 'exitId', e.exit_id, 'status', e.status, 'because', e.because,
    'trouble', case when trouble is not null then jsonb_build_object('code', trouble, 'message', coalesce(trouble_detail, '')) end,
    'venue', e.venue, 'marketId', e.market_id, 'marketConditionId', e.condition_id, 'tokenId', e.token_id, 'outcome', e.outcome,
    'outcomeName', e.outcome_name, 'walletAddress', e.wallet_address, 'orderId', e.order_id, 'orderType', e.time_in_force,
    'size', e.shares::text, 'filledSize', s.sold::text,
    'message', exit_sentence(e, what, case when what = 'in_trouble' then trouble else e.because end, s.sold))
  from (
    -- An order that was not placed for the exit is not its sale.
    select case when e.status in ('fired', 'failed') then coalesce((
      select o.filled from orders o where o.order_id = e.order_id and o.agent_id = e.agent_id), 0) else 0 end as sold) s
$$;

-- Logs what became of exits in the commit that changes them, whatever changes them.
create or replace function log_changed_exits() returns trigger language plpgsql as $$
begin
  if not exists (select from changed) then
    return null;
  end if;
  if tg_op = 'INSERT' then
    -- It was left in the moment of a pause.
    insert into facts (agent_id, kind, subject, at, payload)
    select e.agent_id, 'exit', e.exit_id, e.updated_at, exit_told(e, e.became, e.trouble, e.trouble_detail)
    from changed c join exits e using (exit_id) where c.became is not null;
    return null;
  end if;
  insert into facts (agent_id, kind, subject, at, payload)
  select e.agent_id, 'exit', e.exit_id, e.updated_at, exit_told(e, e.became, e.trouble, e.trouble_detail)
  from changed c join formerly f using (exit_id) join exits e using (exit_id)
  where c.became is distinct from f.became
  order by e.agent_id, e.created_at, e.exit_id;
  return null;
end
$$;
create or replace trigger exits_log_left after insert on exits
  referencing new table as changed for each statement execute function log_changed_exits();
create or replace trigger exits_log_changed after update on exits
  referencing old table as formerly new table as changed for each statement execute function log_changed_exits();

-- Looks at what stands in the way of exits, and tells what has lasted ten seconds: each code once until it is over. Books and venues
-- change from moment to moment: an exit is in trouble without a gap as long as none of its gaps is five seconds long, whatever the codes
-- are; and a code is over half a minute after it was there last, as attempts lie up to 23 seconds apart.
create or replace function tell_exit_troubles(at timestamptz) returns void language plpgsql as $$
begin
  -- One replica looks at a time.
  if not pg_try_advisory_xact_lock(hashtextextended('troubles of exits', 0)) then
    return;
  end if;
  delete from exit_troubles t using exits e
    where e.exit_id = t.exit_id and (e.status not in ('armed', 'firing') or t.gone_at <= at - interval '30 seconds');
  update exit_troubles t set gone_at = at from exits e
    where e.exit_id = t.exit_id and t.gone_at is null and e.trouble is distinct from t.code;
  insert into exit_troubles as t (exit_id, code, detail, since)
    select e.exit_id, e.trouble, e.trouble_detail, coalesce(min(o.since), at)
    from exits e left join exit_troubles o
      on o.exit_id = e.exit_id and (o.gone_at is null or o.gone_at > at - interval '5 seconds')
    where e.status in ('armed', 'firing') and e.trouble is not null
      and not exists (select from exit_troubles k where k.exit_id = e.exit_id and k.code = e.trouble and k.gone_at is null)
    group by e.exit_id
  on conflict (exit_id, code) do update set detail = excluded.detail, since = excluded.since, gone_at = null;
  with lasted as (
    update exit_troubles t set told_at = at
    where t.told_at is null and t.gone_at is null and t.since <= at - interval '10 seconds' returning t.*
  )
  insert into facts (agent_id, kind, subject, at, payload)
  select e.agent_id, 'exit', e.exit_id, tell_exit_troubles.at, exit_told(e, 'in_trouble', t.code, t.detail)
  from lasted t join exits e using (exit_id) order by e.agent_id, e.created_at, e.exit_id;
end
$$;

-- Exits of an agent that ended without selling all they were left for, which the reader has not seen, where shares of that holding are still held which no other exit
-- would sell: with what they left unsold, and how many such shares there are. Of a group one is sent. The last twenty of each token: where
-- the holding of one is gone, so are those of the ones before it.
create or replace function unguarded_exits(agent uuid, is_owner boolean)
returns table (exit_id text, market_id text, outcome text, because text, unsold bigint, bare bigint)
language sql stable as $$
  with ended as materialized (
    select *, row_number() over (partition by x.funder, x.token_id order by x.created_at desc, x.exit_id) as nth from exits x
    where x.agent_id = agent and x.became in ('failed', 'expired', 'filled_in_part')
      and (x.seen_at is null or x.owner_seen_at is null) and case when is_owner then x.owner_seen_at else x.seen_at end is null
      and x.because is distinct from 'market_ended'
  ), places as materialized (
    select t.funder, t.token_id, p.size - coalesce((
      select sum(g.shares) from (
        select max(x.shares - coalesce(s.filled, 0)) as shares from exits x
          left join orders s on s.order_id = x.order_id and s.agent_id = x.agent_id and x.status = 'fired'
        where x.agent_id = agent and x.funder = t.funder and x.token_id = t.token_id
          and (x.status in ('armed', 'firing') or x.status = 'fired' and x.settled_at is null)
        group by coalesce('group ' || x.group_name, x.exit_id)) g), 0)::bigint as bare
    from (select distinct funder, token_id, condition_id from ended) t
    cross join lateral (
      select size from positions p where p.wallet = t.funder and p.token_id = t.token_id and p.size >= 10000 offset 0) p
    where not exists (select from traded_markets m where m.condition_id = t.condition_id and m.payout is not null)
  ), unsold as materialized (
    select e.*, b.bare from ended e join places b using (funder, token_id) where b.bare >= 10000 and e.nth <= 20
  )
  select u.exit_id, u.market_id, u.outcome, coalesce(u.because, u.status), u.shares - coalesce(o.filled, 0), u.bare
  from unsold u left join orders o on o.order_id = u.order_id and o.agent_id = u.agent_id and u.became = 'filled_in_part'
  where exit_holding(u.exit_id) <> 'closed'
$$;

-- Whether another exit of its group is being sent, or its order may still sell.
create or replace function group_is_sent(wanted text) returns boolean language sql stable as $$
  select exists (
    select from exits e join exits g on g.agent_id = e.agent_id and g.group_name = e.group_name and g.exit_id <> e.exit_id
    where e.exit_id = wanted and (g.status = 'firing' or (g.status = 'fired' and g.settled_at is null)))
$$;

-- Begins to send an armed exit, or a suspended one by the owner's word, unless another one of its group is. One of several that find its
-- trigger holding; each of them may have looked at an older row. What was refused long ago is not held against it.
drop function if exists fire_exit(text, jsonb, timestamptz, timestamptz);
create or replace function fire_exit(wanted text, evidence jsonb, at timestamptz, again_at timestamptz, known text) returns setof exits
language plpgsql as $$
declare
  agent uuid := (select agent_id from exits where exit_id = wanted);
begin
  perform 1 from safeguards where agent_id = agent for no key update;
  return query
    update exits e set status = 'firing', because = null, fired = evidence, next_attempt_at = again_at, updated_at = at,
      attempts = case when e.next_attempt_at < at - interval '1 minute' then 0 else e.attempts end
    where e.exit_id = wanted and not group_is_sent(wanted) and case evidence ->> 'cause'
      when 'owner' then e.status in ('armed', 'suspended')
      else e.status = 'armed' and not e.must_let_go and e.next_attempt_at <= at and not database_is_restored(at, known)
        and coalesce(least(e.expires_at, e.order_ends_at) > at, true) end
    returning e.*;
end
$$;

-- Whether the shares of an exit are those that it was left for. A holding that fell from above dust to dust since then is closed: what was
-- bought afterwards is another one. Dust is less than a SELL can name. A sale that is not confirmed may fail. The holding is what the venue
-- had at first, or the desk, where that is more: shares may have been bought past it, and what was matched before need not be settled.
-- Since then came what was recorded later, at a time that is no earlier by more than clocks differ. Of a venue that tells of its matches
-- in any order, a purchase counts from its own time on; and of one moment purchases count first, which keeps a stop: the exit's own sale
-- ends it otherwise.
create or replace function exit_holding(wanted text) returns text language sql stable as $$
  with e as (select * from exits where exit_id = wanted),
  moves as (
    select f.order_id, f.trade_id, case when e.in_order then f.recorded end as nth, coalesce(f.counts_at, f.filled_at) as at,
      case f.side when 'BUY' then f.size else -f.size end as moved,
      f.side = 'SELL' and t.status is not null and t.status <> 'confirmed' as is_open
    from e join fills f on f.wallet = e.funder and f.token_id = e.token_id and f.filled_at >= e.created_at - interval '10 seconds'
        and coalesce(f.recorded, 0) > coalesce(e.after_fill, -1)
        and (f.side = 'SELL' or e.in_order or f.filled_at > e.created_at)
      left join venue_trades t on t.order_id = f.order_id and t.nth = f.trade_id
  ), began as (
    select greatest(e.held, coalesce(p.size, 0) - (select coalesce(sum(moved), 0) from moves)) as held
    from e left join positions p on p.wallet = e.funder and p.token_id = e.token_id where e.held is not null
  ), walked as (
    select m.order_id, m.moved, b.held + sum(m.moved) over before as left_then, bool_or(m.is_open) over before as is_open
    from moves m cross join began b
    window before as (order by m.nth, m.at, m.moved desc, m.order_id, m.trade_id)
  )
  select case when bool_or(not w.is_open) then 'closed' when bool_or(w.is_open) then 'closing' else 'held' end
  from walked w join e on w.order_id <> e.order_id where w.left_then < 10000 and w.left_then - w.moved >= 10000
$$;

-- Records that an exit's order was placed. The others of its group wait for what it sells.
create or replace function exit_placed(placed text, at timestamptz) returns void language plpgsql as $$
begin
  perform 1 from safeguards where agent_id = (select agent_id from exits where exit_id = placed) for no key update;
  perform end_exit(placed, 'fired', null, at);
  perform settle_exit(placed, at);
end
$$;

-- Once nothing of its order rests or settles: what it sold ends the others of its group; where it sold nothing, it has failed, and they go on.
create or replace function settle_exit(wanted text, at timestamptz) returns void language plpgsql as $$
declare
  sent record;
begin
  perform 1 from safeguards where agent_id = (select agent_id from exits where exit_id = wanted) for no key update;
  select e.agent_id, e.group_name, e.shares, o.filled, o.status into sent
    from exits e join orders o on o.order_id = e.order_id and o.agent_id = e.agent_id
    where e.exit_id = wanted and e.status = 'fired' and e.settled_at is null and not order_is_open(o.status) and o.status <> 'matched';
  if not found then
    return;
  end if;
  update exits set settled_at = at, updated_at = at, status = case when sent.filled > 0 then 'fired' else 'failed' end,
      because = case when sent.filled = 0 then case sent.status when 'settlement_failed' then sent.status else 'not_filled' end
        when sent.shares - sent.filled >= 10000 then 'filled_in_part' end
    where exit_id = wanted;
  if sent.filled > 0 then
    perform end_exit(e.exit_id, 'canceled', 'group', at) from exits e
      where e.agent_id = sent.agent_id and e.group_name = sent.group_name and e.sealed is not null;
  end if;
end
$$;

-- Puts an exit that was refused back, because nothing was recorded of its order: suspended where a pause or a revocation came meanwhile. Where
-- its order is there after all, it goes on being sent.
create or replace function exit_not_sent(refused text, next_status text, why text, code text, detail text, at timestamptz,
  again_at timestamptz) returns void language plpgsql as $$
begin
  perform 1 from safeguards where agent_id = (select agent_id from exits where exit_id = refused) for no key update;
  update exits e set status = case when exit_is_placed(e) then 'firing' when because is null then next_status else 'suspended' end,
    because = case when exit_is_placed(e) then because else coalesce(because, why) end,
    fired = case when exit_is_placed(e) or because is null and next_status = 'firing' then fired end,
    trouble = code, trouble_detail = detail, attempts = attempts + 1, next_attempt_at = again_at, updated_at = at
    where exit_id = refused and status = 'firing';
end
$$;
