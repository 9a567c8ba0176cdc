-- Which wallets an agent may reach, and whose locks bind a wallet.

-- A wallet belongs to an owner (credentials, linked_wallets, order_wallets). Of its owner's wallets an agent reaches those
-- that it registered, linked or traded with, and those that the owner granted it. Rows outlive the ownership: a wallet
-- that went to another owner is bound there by the locks of the agents that had it.
create sequence agent_wallet_turns;
create table agent_wallets (
  agent_id uuid not null,
  address text not null,
  -- The key that signs for the wallet: the EOA that it is derived from, or the Solana address itself.
  signer text not null,
  -- Registered, linked or traded with by this agent; false: only granted.
  is_own boolean not null,
  granted boolean not null default false,
  -- The owner, or the operator, has freed the key from this agent's locks; until the agent has it again.
  lifted boolean not null default false,
  since timestamptz not null,
  -- Who had the key last: times can be equal.
  turn bigint not null default nextval('agent_wallet_turns'),
  primary key (agent_id, address)
);
create index agent_wallets_by_signer on agent_wallets (signer);
create index agent_wallets_by_address on agent_wallets (address);

-- Agents of other owners whose locks bind what `trader` trades with this key.
create function restricting_agents(key text, trader uuid) returns setof uuid language sql stable as $$
  select distinct w.agent_id from agent_wallets w join agents a using (agent_id)
  where w.signer = key and w.is_own and not w.lifted and a.claimed_at is not null
    and a.user_id <> (select user_id from agents where agent_id = trader)
$$;

alter table orders
  -- Agents of other owners in whose budgets the order was reserved, too: its wallet had been theirs.
  add column restricted_by uuid[];
create index orders_open_restricted on orders (condition_id)
  where restricted_by is not null
    and status in ('submitting', 'unknown', 'live', 'delayed', 'unmatched', 'partially_filled');

-- Notes that an agent registered, linked or traded with wallets of one key. When the key comes from a claimed owner, the
-- agents of that owner that had it are told.
create function note_agent_wallets(agent uuid, addresses text[], key text, at timestamptz)
returns void language plpgsql as $$
declare
  former record;
begin
  select a.user_id, a.claimed_at into former from agent_wallets w join agents a using (agent_id)
    where w.signer = key and w.is_own order by w.turn desc limit 1;
  if found and former.claimed_at is not null
      and former.user_id <> (select user_id from agents where agent_id = agent) then
    insert into webhook_deliveries (endpoint_id, agent_id, event_id, type, data, created_at)
    select e.id, e.agent_id, event_id('wallet.left' || e.agent_id || key || nextval('agent_wallet_turns')), 'wallet.left',
      jsonb_build_object('walletAddress', addresses[1], 'keyAddress', key,
        'paused', s.owner_paused, 'restrictionsMoved', not w.lifted), at
    from (select distinct on (x.agent_id) x.agent_id, x.lifted from agent_wallets x join agents a using (agent_id)
          where x.signer = key and x.is_own and a.user_id = former.user_id) w
    join safeguards s using (agent_id)
    join webhook_endpoints e on e.agent_id = w.agent_id and e.enabled and e.events && array['*', 'wallet.left'];
  end if;
  insert into agent_wallets (agent_id, address, signer, is_own, since)
  select distinct agent, x.address, key, true, at from unnest(addresses) as x(address) order by 2
  on conflict (agent_id, address) do update
    set signer = excluded.signer, is_own = true, lifted = false, since = excluded.since,
        turn = excluded.turn;
end
$$;

-- What was known before: the wallet that an agent registered last, what it traded with, and, where an owner has one agent,
-- everything that the owner has. Of a contract wallet whose credential is gone the key is not known; it stands for itself.
insert into agent_wallets (agent_id, address, signer, is_own, since)
select distinct on (agent_id, address) agent_id, address, signer, true, at from (
  select a.agent_id, x.address, c.eoa as signer, c.registered_at as at
  from credentials c join agents a using (user_id)
  cross join lateral (values (c.wallet_address), (c.funder)) as x(address)
  where a.wallet_address = c.wallet_address
    or not exists (select 1 from agents b where b.user_id = a.user_id and b.agent_id <> a.agent_id)
  union all
  select a.agent_id, l.address, l.signer, l.linked_at
  from linked_wallets l join agents a using (user_id)
  where l.address in (a.wallet_address, a.sol_address)
    or not exists (select 1 from agents b where b.user_id = a.user_id and b.agent_id <> a.agent_id)
  union all
  select o.agent_id, o.address, coalesce(c.eoa, o.address), o.at
  from (
    select t.agent_id, x.address, min(t.created_at) as at from orders t
    cross join lateral (values (t.wallet_address), (t.funder)) as x(address) group by 1, 2
  ) o
  left join lateral (select eoa from credentials where wallet_address = o.address or funder = o.address limit 1) c on true
) known order by agent_id, address, at desc;
update agent_wallets w set turn = t.turn
from (select agent_id, address, row_number() over (order by since) as turn from agent_wallets) t
where t.agent_id = w.agent_id and t.address = w.address;
