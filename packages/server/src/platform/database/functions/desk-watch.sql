-- The database as the desk knows it: its system, and its timeline, which a promotion begins.
create or replace function present_database() returns text language sql stable as $$
  select (select system_identifier from pg_control_system()) || ' ' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
$$;

-- How far the guarded exits of this database have come: the desk whose they are, named by when its tables were made, which a copy has in common;
-- how often it was restored; the number of their last change; the timeline, and the desk's last sign of life on it. Each only grows, by what is
-- committed: an exit is left before others are deleted.
create or replace function exits_generation() returns text language sql stable as $$
  select concat_ws(' ', (select floor(extract(epoch from min(applied_at)) * 1000) from migrations), d.restores,
    coalesce((select max(change) from exits), 0), split_part(present_database(), ' ', 2), floor(extract(epoch from d.seen_at) * 1000))
  from desk_watch d
$$;

-- Whether there is proof that the database was restored. It belongs to another system; it lacks a change of an exit, or on the same timeline a
-- sign of life, that a living replica or the record beside the database has seen; or it has a new timeline, the desk's last sign of life is
-- old, and nothing shows that it lacks none. A new timeline alone is a promotion.
drop function if exists suspend_restored_exits(timestamptz, boolean, interval);
create or replace function database_is_restored(at timestamptz, known text) returns boolean language sql stable as $$
  select coalesce(bool_or(split_part(d.database_name, ' ', 1) <> split_part(p.name, ' ', 1)
    or g.restores < k.restores or g.restores = k.restores and (
      g.change < k.change or g.timeline = k.timeline and g.seen < k.seen)
    or d.database_name <> p.name and at - d.seen_at > interval '10 minutes' and (k.seen is null or g.seen < k.seen)), false)
  from desk_watch d, present_database() p(name), string_to_array(exits_generation(), ' ') x(now)
  cross join lateral (select x.now[1] as desk, x.now[2]::integer as restores, x.now[3]::bigint as change, x.now[4] as timeline,
    x.now[5]::bigint as seen) g
  left join lateral (select y.seen[2]::integer as restores, y.seen[3]::bigint as change, y.seen[4] as timeline, y.seen[5]::bigint as seen
    from string_to_array(known, ' ') y(seen) where y.seen[1] = g.desk) k on true
$$;

-- One plain sentence.
create or replace function away_sentence(away_from timestamptz, away_until timestamptz) returns text language sql stable as $$
  select format('The desk was away from %s until %s UTC (%s seconds) and looked at no guarded exit; those that are armed still are as they were left. See whether they are what you want.',
    to_char(away_from at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'), to_char(away_until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'),
    ceil(extract(epoch from away_until - away_from)))
$$;

-- A turn of the desk's watch, by any replica: a sign of life. A restored database suspends all exits, because some of them were canceled or
-- sent since. A desk that was away for longer than `gap` disarms nothing: the agents whose exits were armed all that time are told.
create or replace function keep_watch(at timestamptz, gap interval, known text)
returns table (generation text, restored boolean, suspended integer, away_from timestamptz) language plpgsql as $$
declare
  before desk_watch;
  -- Who leaves a first exit meanwhile leaves it in this database.
  holders uuid[];
begin
  insert into desk_watch (seen_at, since, database_name) values (at, at, present_database()) on conflict do nothing;
  select * into before from desk_watch for no key update;
  restored := database_is_restored(at, known);
  if restored then
    select array_agg(s.agent_id) into holders from (
      select agent_id from safeguards where open_exits > 0 order by agent_id for no key update) s;
    update exits set status = 'suspended', because = 'restored', updated_at = at
      where status in ('armed', 'firing') and agent_id = any(holders);
    get diagnostics suspended = row_count;
  elsif at - before.seen_at > gap then
    with told as (
      select distinct e.agent_id from exits e where e.status in ('armed', 'firing') and e.created_at <= before.seen_at
    ), standing as (
      -- The watch of risks would raise it once more.
      insert into raised_alerts (agent_id, alert, raised_at) select t.agent_id, 'desk_was_away ', at from told t on conflict do nothing
    ), logged as (
      insert into facts (agent_id, kind, subject, at, payload)
      select t.agent_id, 'risk', 'desk_was_away ', keep_watch.at, jsonb_build_object('code', 'desk_was_away', 'severity', 'warning',
        'message', away_sentence(before.seen_at, keep_watch.at)) from told t order by t.agent_id returning 1
    ) select before.seen_at into away_from from logged limit 1;
  end if;
  update desk_watch d set database_name = present_database(), seen_at = greatest(d.seen_at, at),
    since = case when at - d.seen_at > gap then at else d.since end,
    restores = case when restored then greatest(d.restores, split_part(known, ' ', 2)::integer) + 1 else d.restores end;
  generation := exits_generation();
  return next;
end
$$;
