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
        where agent_id = new.agent_id and status = 'armed' and fires_on_pause and not exists (
          select 1 from exits g where g.agent_id = e.agent_id and g.group_name = e.group_name and g.status = 'firing')
        order by coalesce(group_name, exit_id), created_at, exit_id);
  end if;
  return null;
end
$$;
create or replace trigger safeguards_pause_exits after update of trading_paused, owner_paused on safeguards
  for each row when ((new.trading_paused or new.owner_paused)
    and (new.trading_paused, new.owner_paused) is distinct from (old.trading_paused, old.owner_paused))
  execute function pause_exits();

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

-- Ends an exit; its seal goes with it.
create or replace function end_exit(ended text, with_status text, why text, at timestamptz) returns void language sql as $$
  update exits set status = with_status, because = why, sealed = null, key_id = null, trouble = null, trouble_detail = null,
    updated_at = at where exit_id = ended and sealed is not null
$$;

-- Begins to send an armed exit, unless another one of its group is being sent. One of several that find its trigger holding.
create or replace function fire_exit(wanted text, evidence jsonb, at timestamptz, again_at timestamptz) returns setof exits
language plpgsql as $$
declare
  agent uuid := (select agent_id from exits where exit_id = wanted);
begin
  perform 1 from safeguards where agent_id = agent for no key update;
  return query
    update exits e set status = 'firing', because = null, fired = evidence, next_attempt_at = again_at, updated_at = at
    where e.exit_id = wanted and e.status = 'armed' and not exists (
      select 1 from exits g where g.agent_id = e.agent_id and g.group_name = e.group_name and g.status = 'firing')
    returning e.*;
end
$$;

-- Records that an exit's order was placed. The others of its group end with it.
create or replace function exit_placed(placed text, at timestamptz) returns void language plpgsql as $$
declare
  sent exits%rowtype;
begin
  select * into sent from exits where exit_id = placed;
  perform 1 from safeguards where agent_id = sent.agent_id for no key update;
  perform end_exit(placed, 'fired', null, at);
  perform end_exit(e.exit_id, 'canceled', 'group', at) from exits e
    where e.agent_id = sent.agent_id and e.group_name = sent.group_name and e.sealed is not null;
end
$$;

-- Puts an exit that was refused back, because nothing was recorded of its order: suspended where a pause or a revocation came meanwhile.
create or replace function exit_not_sent(refused text, next_status text, why text, code text, detail text, at timestamptz,
  again_at timestamptz) returns void language plpgsql as $$
begin
  perform 1 from safeguards where agent_id = (select agent_id from exits where exit_id = refused) for no key update;
  update exits set status = case when because is null then next_status else 'suspended' end, because = coalesce(because, why),
    fired = case when because is null and next_status = 'firing' then fired end,
    trouble = code, trouble_detail = detail, attempts = attempts + 1, next_attempt_at = again_at, updated_at = at
    where exit_id = refused and status = 'firing';
end
$$;

-- Suspends the exits of a database that was restored: some of them may have been canceled or sent since the backup was made. A database
-- is another one after a restore, and after a takeover by a standby; only after a restore the desk's own last sign of life is old.
create or replace function suspend_restored_exits(at timestamptz, is_restored boolean, gap interval) returns integer
language plpgsql as $$
declare
  present text := (select system_identifier::text from pg_control_system()) || ' ' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
  known record;
  suspended integer := 0;
begin
  select seen_at, database_name into known from desk_watch;
  if is_restored or (known.database_name <> present and at - known.seen_at > gap) then
    perform 1 from safeguards where open_exits > 0 order by agent_id for no key update;
    update exits set status = 'suspended', because = 'restored', updated_at = at where status in ('armed', 'firing');
    get diagnostics suspended = row_count;
  end if;
  insert into desk_watch (seen_at, since, database_name) values (at, at, present)
    on conflict (one) do update set database_name = excluded.database_name;
  return suspended;
end
$$;
