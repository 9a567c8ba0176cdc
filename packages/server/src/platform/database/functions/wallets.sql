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

-- Notes that an agent registered, linked or traded with wallets of one key. When the key comes from a claimed owner, the
-- agents of that owner that had it are told.
create or replace function note_agent_wallets(agent uuid, addresses text[], key text, at timestamptz)
returns void language plpgsql as $$
declare
  former record;
begin
  select a.user_id, a.claimed_at into former from agent_wallets w join agents a using (agent_id)
    where w.signer = key and w.is_own order by w.turn desc limit 1;
  if found and former.claimed_at is not null
      and former.user_id <> (select user_id from agents where agent_id = agent) then
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
        turn = excluded.turn;
end
$$;
