-- What becomes of positions: markets that outlive their venue's memory, closed positions, redemption, results by agent
-- and strategy, refused attempts.

-- Every market that an account of the desk has traded. Written with the evidence of the first fill, because a venue
-- forgets its old markets and the desk's history must not.
create table traded_markets (
  condition_id text primary key,
  market_id text not null,
  slug text not null,
  question text not null,
  end_date timestamptz not null,
  -- YES, NO or HALF once resolved.
  payout text,
  resolved_at timestamptz,
  -- Null on a resolved market: the automatic redemption has still to go through it.
  swept_at timestamptz
);
create index traded_markets_to_sweep on traded_markets (resolved_at) where payout is not null and swept_at is null;
create index traded_markets_by_market_id on traded_markets (market_id);

insert into traded_markets (condition_id, market_id, slug, question, end_date)
select distinct on (condition_id) condition_id, market_id, market_id, question, updated_at
from orders where filled > 0 order by condition_id, updated_at desc;

alter table positions
  -- Everything ever bought of the token, fees apart: what the average price of a closed position is made of.
  add column bought_size bigint not null default 0,
  add column bought_cost bigint not null default 0,
  -- When the size last came to zero.
  add column closed_at timestamptz,
  -- realized - fees at that time, so that a position that is opened again is won or lost by its second life alone.
  add column settled bigint not null default 0,
  -- The agent that traded the token last, and under which labels.
  add column agent_id uuid,
  add column source text,
  add column skill_slug text;
create index positions_by_market on positions (condition_id);
create index positions_by_agent on positions (agent_id, condition_id);

update positions p set bought_size = b.size, bought_cost = b.cost
from (select wallet, token_id, sum(size)::bigint as size, sum(cost)::bigint as cost from fills where side = 'BUY'
      group by wallet, token_id) b
where b.wallet = p.wallet and b.token_id = p.token_id;
update positions p set agent_id = l.agent_id, source = l.source, skill_slug = l.skill_slug
from (select distinct on (f.wallet, f.token_id) f.wallet, f.token_id, f.agent_id, o.source, o.skill_slug
      from fills f join orders o on o.order_id = f.order_id
      order by f.wallet, f.token_id, f.filled_at desc) l
where l.wallet = p.wallet and l.token_id = p.token_id;
update positions set closed_at = updated_at, settled = realized - fees where size = 0;

create index fills_by_time on fills (wallet, filled_at desc);
create index credentials_by_funder on credentials (funder);

-- Who asked for a redemption: the venue's evidence names only the account. One row per wallet and market.
create table redemption_requests (
  wallet text not null,
  condition_id text not null,
  agent_id uuid not null,
  automatic boolean not null,
  requested_at timestamptz not null,
  primary key (wallet, condition_id)
);

-- What an agent has made of each of its strategies, added up with the evidence: the leaderboard and the report by
-- strategy read nothing else. '' stands for no label.
create table agent_results (
  agent_id uuid not null,
  source text not null,
  skill_slug text not null,
  -- Orders that the venue took.
  trades bigint not null default 0,
  -- Collateral that changed hands, both ways, fees apart.
  volume bigint not null default 0,
  fees bigint not null default 0,
  -- P&L of what was sold or redeemed, before fees.
  realized bigint not null default 0,
  -- Positions that came to zero with a gain or a loss, fees counted.
  wins bigint not null default 0,
  losses bigint not null default 0,
  last_trade_at timestamptz,
  primary key (agent_id, source, skill_slug)
) with (fillfactor = 50);

insert into agent_results (agent_id, source, skill_slug, trades, volume, fees, realized, last_trade_at)
select o.agent_id, coalesce(o.source, ''), coalesce(o.skill_slug, ''),
  count(*) filter (where (o.first_answer ->> 'success')::boolean), coalesce(sum(f.volume), 0)::bigint,
  coalesce(sum(f.fees), 0)::bigint, coalesce(sum(f.realized), 0)::bigint, max(o.created_at)
from orders o
left join (select order_id, sum(cost)::bigint as volume, sum(fee)::bigint as fees, sum(realized)::bigint as realized
           from fills group by order_id) f using (order_id)
group by 1, 2, 3;

-- Attempts that the desk refused, newest kept: each agent has a ring of rows.
create table refusals (
  agent_id uuid not null,
  slot integer not null,
  refused_at timestamptz not null,
  code text not null,
  detail text not null,
  venue text not null,
  condition_id text not null,
  question text not null,
  outcome text not null,
  side text not null,
  shares bigint not null,
  money bigint not null,
  wallet_address text not null,
  reasoning text,
  source text,
  skill_slug text,
  request_id text not null,
  primary key (agent_id, slot)
);
create table refusal_counts (
  agent_id uuid primary key,
  total bigint not null
) with (fillfactor = 50);

-- Writes a batch of refusals, oldest first, into the rings of their agents.
create function record_refusals(batch jsonb, ring integer) returns void language sql as $$
  with incoming as (
    select *, row_number() over (partition by agent_id order by ordinality) as nth
    from rows from (jsonb_to_recordset(batch) as (
      agent_id uuid, refused_at timestamptz, code text, detail text, venue text, condition_id text, question text,
      outcome text, side text, shares bigint, money bigint, wallet_address text, reasoning text, source text,
      skill_slug text, request_id text)) with ordinality
  ), counted as (
    insert into refusal_counts as c (agent_id, total)
    select agent_id, count(*) from incoming group by agent_id order by agent_id
    on conflict (agent_id) do update set total = c.total + excluded.total
    returning agent_id, total
  ), placed as (
    -- Of a batch larger than the ring only the newest have a place.
    select ((c.total - s.size + i.nth) % ring)::integer as slot, i.*
    from incoming i join counted c using (agent_id)
    join (select agent_id, count(*) as size from incoming group by agent_id) s using (agent_id)
    where i.nth > s.size - ring
  )
  insert into refusals as r (agent_id, slot, refused_at, code, detail, venue, condition_id, question, outcome, side,
    shares, money, wallet_address, reasoning, source, skill_slug, request_id)
  select agent_id, slot, refused_at, code, detail, venue, condition_id, question, outcome, side, shares, money,
    wallet_address, reasoning, source, skill_slug, request_id
  from placed
  on conflict (agent_id, slot) do update set refused_at = excluded.refused_at, code = excluded.code,
    detail = excluded.detail, venue = excluded.venue, condition_id = excluded.condition_id,
    question = excluded.question, outcome = excluded.outcome, side = excluded.side, shares = excluded.shares,
    money = excluded.money, wallet_address = excluded.wallet_address, reasoning = excluded.reasoning,
    source = excluded.source, skill_slug = excluded.skill_slug, request_id = excluded.request_id
$$;

-- Takes fills (and what else changes a position) in their order: writes each, moves the position's cost basis, and adds
-- up the agents' days and results, once for the whole batch. A position's cost is cut by the sold share of it, rounded
-- down, so the last share takes the rest. A redemption belongs to the agent that asked for it, else to the one that
-- traded the token last; other fills to the agent of their order, if it is one of the desk's.
create or replace function apply_fills(batch jsonb) returns void language plpgsql as $$
declare
  f record;
  placed record;
  held positions%rowtype;
  gave bigint;
  gain bigint;
  outcome_net bigint;
  who uuid;
  label_source text;
  label_skill text;
  is_trade boolean;
  agents uuid[] := '{}';
  sources text[] := '{}';
  skills text[] := '{}';
  days date[] := '{}';
  volumes bigint[] := '{}';
  gains bigint[] := '{}';
  fees_paid bigint[] := '{}';
  nets bigint[] := '{}';
begin
  for f in
    select * from jsonb_to_recordset(batch) as t(
      wallet text, order_id text, trade_id bigint, condition_id text, token_id text, outcome text, side text,
      price integer, size bigint, cost bigint, fee bigint, liquidity text, match_kind text, at timestamptz)
  loop
    gain := 0;
    outcome_net := 0;
    is_trade := f.match_kind not in ('SPLIT', 'MERGED', 'REDEEMED');
    select agent_id, source, skill_slug into placed from orders where order_id = f.order_id;
    who := placed.agent_id;
    label_source := placed.source;
    label_skill := placed.skill_slug;
    if f.side = 'BUY' then
      insert into positions as p (wallet, token_id, condition_id, outcome, size, cost, realized, fees, updated_at,
                                  bought_size, bought_cost, agent_id, source, skill_slug)
      values (f.wallet, f.token_id, f.condition_id, f.outcome, f.size, f.cost, 0, f.fee, f.at,
              f.size, f.cost, who, label_source, label_skill)
      on conflict (wallet, token_id) do update
        set size = p.size + excluded.size, cost = p.cost + excluded.cost, fees = p.fees + excluded.fees,
            updated_at = excluded.updated_at, bought_size = p.bought_size + excluded.bought_size,
            bought_cost = p.bought_cost + excluded.bought_cost, closed_at = null,
            agent_id = coalesce(excluded.agent_id, p.agent_id),
            source = case when excluded.agent_id is null then p.source else excluded.source end,
            skill_slug = case when excluded.agent_id is null then p.skill_slug else excluded.skill_slug end;
    else
      select * into held from positions where wallet = f.wallet and token_id = f.token_id for update;
      if not found then
        raise exception 'a fill sells % of token %, of which wallet % has no position', f.size, f.token_id, f.wallet;
      end if;
      if f.match_kind = 'REDEEMED' then
        select agent_id into who from redemption_requests
          where wallet = f.wallet and condition_id = f.condition_id;
        who := coalesce(who, held.agent_id);
        if who = held.agent_id then
          label_source := held.source;
          label_skill := held.skill_slug;
        end if;
      end if;
      gave := case when f.size >= held.size then held.cost
                   else floor(held.cost::numeric * f.size / held.size)::bigint end;
      gain := f.cost - gave;
      if f.size >= held.size then
        outcome_net := held.realized + gain - held.fees - f.fee - held.settled;
      end if;
      update positions
        set size = held.size - f.size, cost = held.cost - gave, realized = held.realized + gain,
            fees = held.fees + f.fee, updated_at = f.at,
            closed_at = case when f.size >= held.size then f.at end,
            settled = case when f.size >= held.size then held.realized + gain - held.fees - f.fee
                           else held.settled end,
            agent_id = case when is_trade then coalesce(who, held.agent_id) else held.agent_id end,
            source = case when is_trade and who is not null then label_source else held.source end,
            skill_slug = case when is_trade and who is not null then label_skill else held.skill_slug end
        where wallet = f.wallet and token_id = f.token_id;
    end if;
    insert into fills (wallet, order_id, trade_id, agent_id, condition_id, token_id, outcome, side, price, size, cost,
                       fee, liquidity, match_kind, realized, filled_at)
    values (f.wallet, f.order_id, f.trade_id, who, f.condition_id, f.token_id, f.outcome, f.side, f.price,
            f.size, f.cost, f.fee, f.liquidity, f.match_kind, gain, f.at);
    if who is not null then
      agents := agents || who;
      sources := sources || coalesce(label_source, '');
      skills := skills || coalesce(label_skill, '');
      days := days || (f.at at time zone 'UTC')::date;
      volumes := volumes || case when is_trade then f.cost else 0 end;
      gains := gains || gain;
      fees_paid := fees_paid || f.fee;
      nets := nets || outcome_net;
    end if;
  end loop;
  if cardinality(agents) = 0 then
    return;
  end if;
  insert into daily_results as d (agent_id, day, realized, fees)
  select t.agent, t.day, sum(t.gain), sum(t.fee)
  from unnest(agents, days, gains, fees_paid) as t(agent, day, gain, fee)
  group by 1, 2 having sum(t.gain) <> 0 or sum(t.fee) <> 0
  on conflict (agent_id, day) do update
    set realized = d.realized + excluded.realized, fees = d.fees + excluded.fees;
  insert into agent_results as r (agent_id, source, skill_slug, volume, fees, realized, wins, losses)
  select t.agent, t.source, t.skill, sum(t.volume), sum(t.fee), sum(t.gain),
    count(*) filter (where t.net > 0), count(*) filter (where t.net < 0)
  from unnest(agents, sources, skills, volumes, fees_paid, gains, nets)
    as t(agent, source, skill, volume, fee, gain, net)
  group by 1, 2, 3
  on conflict (agent_id, source, skill_slug) do update
    set volume = r.volume + excluded.volume, fees = r.fees + excluded.fees, realized = r.realized + excluded.realized,
        wins = r.wins + excluded.wins, losses = r.losses + excluded.losses;
end
$$;
