-- Notes the wallet of a quoted order. For signed orders the trigger is not even called.
create or replace function note_order_wallet() returns trigger language plpgsql as $$
begin
  insert into order_wallets (agent_id, address, user_id) values (new.agent_id, new.wallet_address, new.user_id)
  on conflict do nothing;
  return null;
end
$$;
create or replace trigger orders_note_wallet after insert on orders
  for each row when (new.kind = 'quoted') execute function note_order_wallet();

-- The same as `restricting_agents`, an agent once for each of its wallets. To ask whether there is any, without sorting.
create or replace function restrictions_by(key text, trader uuid) returns setof uuid language sql stable as $$
  select w.agent_id from agent_wallets w join agents a using (agent_id)
  where w.signer = key and w.agent_id <> trader and w.is_own and not w.lifted and a.claimed_at is not null
    and a.user_id <> (select user_id from agents where agent_id = trader)
$$;

-- Agents of other owners whose locks bind what `trader` trades with this key.
create or replace function restricting_agents(key text, trader uuid) returns setof uuid language sql stable as $$
  select distinct r from restrictions_by(key, trader) r
$$;

-- What an owner has set on an agent, and goes along with a key that leaves.
create or replace function owners_settings(s safeguards) returns jsonb language sql immutable as $$
  select jsonb_object_agg(t.key, t.value) from jsonb_each(to_jsonb(s)) t
  where t.key = 'owner_paused' or t.key ~ '^locked_'
$$;

-- The settings of an agent as they bind a key of it that another owner has.
create or replace function binding_settings(key text, former uuid) returns setof safeguards language sql stable as $$
  select r.* from safeguards s
  cross join lateral (select x.taken_along from agent_wallets x where x.signer = key and x.agent_id = former and x.is_own
    and not x.lifted limit 1) w
  cross join lateral jsonb_populate_record(s, coalesce(w.taken_along, '{}')) r
  where s.agent_id = former
$$;

-- What an owner loosens is loose for the keys that have left, too, and stays so there; what it tightens does not reach them.
create or replace function loosen_taken_along() returns trigger language plpgsql as $$
begin
  update agent_wallets w set taken_along = (
    select jsonb_object_agg(t.key, case when 'null'::jsonb in (t.value, n.value) then 'null'::jsonb
      when jsonb_typeof(t.value) = 'boolean' then least(t.value, n.value) else greatest(t.value, n.value) end)
    from jsonb_each(w.taken_along) t join jsonb_each(to_jsonb(new)) n using (key))
  where w.agent_id = new.agent_id and w.taken_along is not null;
  return null;
end
$$;
create or replace trigger safeguards_loosen_taken_along after update of updated_at on safeguards
  for each row execute function loosen_taken_along();

-- Notes that an agent registered, linked or traded with wallets of one key. When the key comes from another owner, what binds
-- it there is kept as it is now, and where that owner is a claimed one, its agents that had the key are told.
create or replace function note_agent_wallets(agent uuid, addresses text[], key text, at timestamptz)
returns void language plpgsql as $$
declare
  former record;
  owner bigint := (select user_id from agents where agent_id = agent);
begin
  select a.user_id, a.claimed_at into former from agent_wallets w join agents a using (agent_id)
    where w.signer = key and w.is_own order by w.turn desc limit 1;
  -- A pause that is being set or lifted comes before the move or after it. A trade has these locks already.
  perform 1 from safeguards where agent_id = any(array(select r from restricting_agents(key, agent) r))
    order by agent_id for share;
  update agent_wallets w set taken_along = owners_settings(s) from safeguards s join agents a using (agent_id)
    where w.signer = key and w.is_own and s.agent_id = w.agent_id and a.user_id <> owner
      and (w.taken_along is null or a.user_id = former.user_id);
  update agent_wallets w set taken_along = null from agents a
    where w.signer = key and a.agent_id = w.agent_id and a.user_id = owner and w.taken_along is not null;
  if former.claimed_at is not null and former.user_id <> owner then
    insert into facts (agent_id, kind, subject, at, payload)
    select w.agent_id, 'wallet', key, at, jsonb_build_object('walletAddress', addresses[1], 'keyAddress', key,
      'paused', s.owner_paused, 'restrictionsMoved', not w.lifted)
    from (select distinct on (x.agent_id) x.agent_id, x.lifted from agent_wallets x join agents a using (agent_id)
          where x.signer = key and x.is_own and a.user_id = former.user_id) w
    join safeguards s using (agent_id);
  end if;
  insert into agent_wallets (agent_id, address, signer, is_own, since)
  select distinct agent, x.address, key, true, at from unnest(addresses) as x(address) order by 2
  on conflict (agent_id, address) do update
    set signer = excluded.signer, is_own = true, lifted = false, since = excluded.since,
        turn = excluded.turn, taken_along = null;
end
$$;
