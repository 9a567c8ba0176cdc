-- A resolution closes what lost; results on wallets that others' locks bind; webhooks take turns.

-- Closes the positions that a resolution leaves worthless: each is sold for nothing at the moment of the resolution, so
-- that its loss is that day's. What they held of the venue's tokens pays nothing and is no position any more.
create function close_lost(batch jsonb) returns void language plpgsql as $$
declare
  lost jsonb;
begin
  select jsonb_agg(jsonb_build_object('wallet', p.wallet, 'order_id', 'lost:' || p.condition_id,
      'trade_id', (select count(*) from fills f where f.wallet = p.wallet and f.order_id = 'lost:' || p.condition_id)
        * 2 + case p.outcome when 'YES' then 0 else 1 end, 'condition_id', p.condition_id,
      'token_id', p.token_id, 'outcome', p.outcome, 'side', 'SELL', 'price', 0, 'size', p.size, 'cost', 0, 'fee', 0,
      'liquidity', 'taker', 'match_kind', 'LOST', 'at', r.at) order by p.wallet, p.token_id) into lost
  from jsonb_to_recordset(batch) as r(condition_id text, payout text, at timestamptz)
  join positions p on p.condition_id = r.condition_id and p.size > 0
  where r.payout in ('YES', 'NO') and p.outcome <> r.payout;
  if lost is not null then
    perform apply_fills(lost);
  end if;
end
$$;

-- Takes fills (and what else changes a position) in their order: writes each, moves the position's cost basis, and adds
-- up the agents' days and results, once for the whole batch. A position's cost is cut by the sold share of it, rounded
-- down, so the last share takes the rest. A redemption belongs to the agent that asked for it, else to the one that
-- traded the token last, as does a loss by resolution; other fills to the agent of their order, if it is one of the
-- desk's. A wallet of venue B also holds what came to it past the desk: selling that is no gain and no loss, for what it
-- cost is not known. Of venue B a fill may be told after the resolution: what it bought in vain is closed at once.
create or replace function apply_fills(batch jsonb) returns void language plpgsql as $$
declare
  f record;
  placed record;
  held positions%rowtype;
  gave bigint;
  gain bigint;
  outcome_net bigint;
  who uuid;
  bound uuid[];
  label_source text;
  label_skill text;
  is_trade boolean;
  is_on_chain boolean;
  known bigint;
  agents uuid[] := '{}';
  sources text[] := '{}';
  skills text[] := '{}';
  volumes bigint[] := '{}';
  gains bigint[] := '{}';
  fees_paid bigint[] := '{}';
  nets bigint[] := '{}';
  days date[] := '{}';
  bound_agents uuid[] := '{}';
  bound_days date[] := '{}';
  bound_gains bigint[] := '{}';
  bound_fees bigint[] := '{}';
  late text[] := '{}';
begin
  for f in
    select * from jsonb_to_recordset(batch) as t(
      wallet text, order_id text, trade_id bigint, condition_id text, token_id text, outcome text, side text,
      price integer, size bigint, cost bigint, fee bigint, liquidity text, match_kind text, at timestamptz)
  loop
    gain := 0;
    outcome_net := 0;
    is_trade := f.match_kind not in ('SPLIT', 'MERGED', 'REDEEMED', 'REDEEM', 'LOST');
    is_on_chain := f.match_kind in ('DFLOW', 'REDEEM');
    select agent_id, source, skill_slug, restricted_by into placed from orders where order_id = f.order_id;
    who := placed.agent_id;
    label_source := placed.source;
    label_skill := placed.skill_slug;
    bound := placed.restricted_by;
    if is_on_chain and is_trade and not f.condition_id = any(late) then
      late := late || f.condition_id;
    end if;
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
      if is_on_chain then
        insert into positions (wallet, token_id, condition_id, outcome, size, cost, realized, fees, updated_at, closed_at)
        values (f.wallet, f.token_id, f.condition_id, f.outcome, 0, 0, 0, 0, f.at, f.at)
        on conflict (wallet, token_id) do nothing;
      end if;
      select * into held from positions where wallet = f.wallet and token_id = f.token_id for update;
      if not found then
        raise exception 'a fill sells % of token %, of which wallet % has no position', f.size, f.token_id, f.wallet;
      end if;
      -- The resolution closed it at a loss; the venue burns the tokens when something else of the market is redeemed.
      continue when f.match_kind = 'REDEEMED' and held.size = 0;
      if f.match_kind in ('REDEEMED', 'LOST') then
        if f.match_kind = 'REDEEMED' then
          select agent_id into who from redemption_requests
            where wallet = f.wallet and condition_id = f.condition_id;
        end if;
        who := coalesce(who, held.agent_id);
        bound := array(select r from agent_wallets w cross join lateral restricting_agents(w.signer, who) r
          where w.address = f.wallet and w.agent_id = who);
        if who = held.agent_id then
          label_source := held.source;
          label_skill := held.skill_slug;
        end if;
      end if;
      gave := case when f.size >= held.size then held.cost
                   else floor(held.cost::numeric * f.size / held.size)::bigint end;
      known := case when is_on_chain then least(f.size, held.size) else f.size end;
      gain := case when known = f.size then f.cost else floor(f.cost::numeric * known / f.size)::bigint end - gave;
      -- What was closed before cannot be won or lost again.
      if f.size >= held.size and (held.size > 0 or not is_on_chain) then
        outcome_net := held.realized + gain - held.fees - f.fee - held.settled;
      end if;
      update positions
        set size = held.size - known, cost = held.cost - gave, realized = held.realized + gain,
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
      volumes := volumes || case when is_trade then f.cost else 0 end;
      gains := gains || gain;
      fees_paid := fees_paid || f.fee;
      nets := nets || outcome_net;
      days := days || (f.at at time zone 'UTC')::date;
      -- A result on a wallet that others' locks bind counts on their day, too.
      for other in 1 .. coalesce(cardinality(bound), 0) loop
        bound_agents := bound_agents || bound[other];
        bound_days := bound_days || (f.at at time zone 'UTC')::date;
        bound_gains := bound_gains || gain;
        bound_fees := bound_fees || f.fee;
      end loop;
    end if;
  end loop;
  if cardinality(late) > 0 then
    perform close_lost(t.batch) from (
      select jsonb_agg(jsonb_build_object('condition_id', condition_id, 'payout', payout, 'at', resolved_at)) as batch
      from traded_markets where condition_id = any(late) and payout is not null) t
    where t.batch is not null;
  end if;
  if cardinality(agents) = 0 then
    return;
  end if;
  insert into daily_results as d (agent_id, day, realized, fees)
  select t.agent, t.day, sum(t.gain), sum(t.fee)
  from unnest(agents || bound_agents, days || bound_days, gains || bound_gains, fees_paid || bound_fees)
    as t(agent, day, gain, fee)
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

-- Positions that were lost before.
select close_lost(batch) from (
  select jsonb_agg(jsonb_build_object('condition_id', condition_id, 'payout', payout, 'at', resolved_at)) as batch
  from traded_markets where payout is not null) t where batch is not null;

-- Whose turn it is: the endpoint that was served longest ago.
alter table webhook_endpoints add column served_at timestamptz not null default '-infinity';
