-- What fills make of positions, days, results and facts, by other means than the service, which folds them in TypeScript
-- (packages/contract/src/positions.ts): the model plays the same sequences to both.

-- When a fill counts among those of its position: as `moved` says, or as is recorded where that is null.
create or replace function place_of(one fills, moved jsonb) returns timestamptz language sql stable as $$
  select case when moved is null then coalesce(one.counts_at, one.filled_at) else coalesce((
    select t.at from jsonb_to_recordset(moved) as t(order_id text, trade_id bigint, at timestamptz)
    where t.order_id = one.order_id and t.trade_id = one.trade_id), one.filled_at) end
$$;

-- What a position is after each of its fills, computed anew from all of them but those in `without`, a list of
-- [order id, trade id], as if those in `at_last` had come after all others, in its order. The same arithmetic as apply_fills. More may be sold than is left when a purchase is without effect:
-- what is sold beyond the holding is no gain and no loss.
create or replace function replay_fills(account text, token text, without jsonb, at_last jsonb, moved jsonb)
returns table (order_id text, trade_id bigint, gain bigint, outcome_net bigint, size bigint, cost bigint, realized bigint,
  fees bigint, settled bigint, bought_size bigint, bought_cost bigint, closed_at timestamptz, known bigint)
language plpgsql stable as $$
declare
  f fills;
  gave bigint;
begin
  size := 0; cost := 0; realized := 0; fees := 0; settled := 0; bought_size := 0; bought_cost := 0;
  for f in select x.* from fills x where x.wallet = account and x.token_id = token
      and not without @> jsonb_build_array(jsonb_build_array(x.order_id, x.trade_id))
      -- Of fills of one moment the purchases come first: nothing is sold before it is there.
      order by (select e.nth from jsonb_array_elements(at_last) with ordinality e(fill, nth)
        where e.fill = jsonb_build_array(x.order_id, x.trade_id)) nulls first, place_of(x, moved), x.side, x.order_id, x.trade_id loop
    known := f.size; order_id := f.order_id; trade_id := f.trade_id; gain := 0; outcome_net := 0;
    if f.side = 'BUY' then
      size := size + f.size; cost := cost + f.cost; fees := fees + f.fee;
      bought_size := bought_size + f.size; bought_cost := bought_cost + f.cost; closed_at := null;
    else
      known := least(f.size, size);
      gave := case when f.size >= size then cost else floor(cost::numeric * f.size / size)::bigint end;
      gain := case when known = f.size then f.cost else floor(f.cost::numeric * known / f.size)::bigint end - gave;
      if f.size >= size then
        if size > 0 then
          outcome_net := realized + gain - fees - f.fee - settled;
        end if;
        settled := realized + gain - fees - f.fee;
        closed_at := f.filled_at;
      else
        closed_at := null;
      end if;
      size := size - known; cost := cost - gave; realized := realized + gain; fees := fees + f.fee;
    end if;
    return next;
  end loop;
end
$$;

-- The most by which clocks of replicas, and the whole seconds of a venue, differ.
create or replace function clocks_differ() returns interval language sql immutable as $$ select interval '10 seconds' $$;

-- Whether its time is of one of several clocks: a replica's, the venue's, a block's.
create or replace function has_own_clock(kind text) returns boolean language sql immutable as $$
  select kind in ('LIVE', 'SPLIT', 'MERGED', 'CONVERTED')
$$;
create or replace function is_on_chain(kind text) returns boolean language sql immutable as $$
  select kind in ('DFLOW', 'LIVE', 'REDEEM', 'SPLIT', 'MERGED', 'CONVERTED')
$$;

-- Which sales count when, where they sell what only later purchases brought: what the desk had sold of fills in `without` was
-- brought by later purchases, or the venue could not have taken those back; and clocks of replicas differ by seconds, so that a
-- purchase may seem to come a few seconds after the sale of its shares. Such a sale counts after those purchases.
create or replace function sales_to_move(account text, token text, without jsonb) returns jsonb language plpgsql stable as $$
declare
  moved jsonb := '[]';
  next jsonb;
begin
  loop
    select jsonb_build_object('order_id', s.order_id, 'trade_id', s.trade_id, 'at', later.at) into next
    from replay_fills(account, token, without, '[]', moved) a
    join replay_fills(account, token, '[]', '[]', null) b on b.order_id = a.order_id and b.trade_id = a.trade_id
    join fills s on s.wallet = account and s.order_id = a.order_id and s.trade_id = a.trade_id
    cross join lateral (
      select min(place_of(x, moved)) as at from fills x where x.wallet = account and x.token_id = token and x.side = 'BUY'
        and not without @> jsonb_build_array(jsonb_build_array(x.order_id, x.trade_id))
        and place_of(x, moved) > place_of(s, moved)) later
    where later.at is not null and (a.known < b.known
      or (has_own_clock(s.match_kind) and a.known < s.size and later.at <= s.filled_at + clocks_differ()))
    order by place_of(s, moved), s.order_id, s.trade_id limit 1;
    exit when next is null;
    select jsonb_agg(m) || jsonb_build_array(next) into moved from jsonb_array_elements(moved) m
      where m ->> 'order_id' <> next ->> 'order_id' or m ->> 'trade_id' <> next ->> 'trade_id';
    moved := coalesce(moved, jsonb_build_array(next));
  end loop;
  return moved;
end
$$;

-- Computes positions anew, with what else follows from their fills. Of each position the list says which fills were counted
-- after all others and belong before, and which are gone, and are deleted.
create or replace function recount_fills(list jsonb) returns void language plpgsql as $$
declare
  p record;
  moved jsonb;
begin
  for p in
    select * from jsonb_to_recordset(coalesce(list, '[]')) as t(wallet text, token_id text, late jsonb,
      gone jsonb, at timestamptz) order by wallet, token_id
  loop
    perform from positions where wallet = p.wallet and token_id = p.token_id for update;
    moved := sales_to_move(p.wallet, p.token_id, p.gone);
    with before as materialized (
      select * from replay_fills(p.wallet, p.token_id, '[]', p.late, null)
    ), after as materialized (
      select * from replay_fills(p.wallet, p.token_id, p.gone, '[]', moved)
    ), changed as materialized (
      select f.order_id, f.trade_id, f.agent_id, a.order_id is null as is_gone, o.restricted_by,
        coalesce(a.gain, 0) as new_gain, coalesce(a.gain, 0) - f.realized as gain,
        case when a.order_id is null then -f.fee else 0 end as fee,
        case when a.order_id is null then -f.cost else 0 end as volume,
        (coalesce(a.outcome_net, 0) > 0)::int - (b.outcome_net > 0)::int as wins,
        (coalesce(a.outcome_net, 0) < 0)::int - (b.outcome_net < 0)::int as losses,
        (f.filled_at at time zone 'UTC')::date as day,
        coalesce(case when o.order_id is null then h.source else o.source end, '') as source,
        coalesce(case when o.order_id is null then h.skill_slug else o.skill_slug end, '') as skill_slug
      from fills f
      join before b on b.order_id = f.order_id and b.trade_id = f.trade_id
      left join after a on a.order_id = f.order_id and a.trade_id = f.trade_id
      left join orders o on o.order_id = f.order_id
      left join positions h on h.wallet = f.wallet and h.token_id = f.token_id
      where f.wallet = p.wallet and f.token_id = p.token_id and (a.order_id is null or a.gain <> f.realized
        or a.outcome_net <> b.outcome_net)
    ), logged as (
      insert into facts (agent_id, kind, subject, at, payload)
      select f.agent_id, 'reversal', f.order_id, p.at, jsonb_build_object('orderId', f.order_id, 'tradeId', f.trade_id::text,
        'walletAddress', f.wallet, 'venue', o.venue, 'marketId', o.market_id, 'marketConditionId', f.condition_id,
        'tokenId', f.token_id, 'outcome', f.outcome, 'outcomeName', o.outcome_name, 'side', f.side, 'size', f.size::text, 'cost', f.cost::text,
        'fee', f.fee::text)
      from fills f join changed c using (order_id, trade_id) join orders o using (order_id)
      where f.wallet = p.wallet and c.is_gone and f.agent_id is not null order by f.order_id, f.trade_id
    ), kept as (
      -- Who reads the log from here on is told of the fill as it was, before it is told that it never happened. A fill that
      -- is taken back is young: its fact is among its agent's last ones.
      update facts l set payload = whole_payload(g.fact)
      from changed c cross join lateral (
        select x as fact, x.seq from facts x where x.agent_id = c.agent_id and x.kind = 'fill' and x.subject = c.order_id
          and x.payload ->> 'walletAddress' = p.wallet and x.payload ->> 'tradeId' = c.trade_id::text
        order by x.writer desc limit 1) g
      where c.is_gone and l.seq = g.seq
    ), recounted as (
      -- For receipts alone, which say what each fill has realized.
      insert into facts (agent_id, kind, subject, at, payload)
      select f.agent_id, 'recount', f.order_id, p.at,
        jsonb_build_object('walletAddress', f.wallet, 'tradeId', f.trade_id::text)
      from fills f join changed c using (order_id, trade_id) join orders o using (order_id)
      where f.wallet = p.wallet and not c.is_gone and c.gain <> 0 and f.agent_id is not null order by f.order_id, f.trade_id
    ), days as (
      insert into daily_results as d (agent_id, day, realized, fees)
      select reached, day, sum(gain), sum(fee)
      from changed cross join lateral unnest(array_append(restricted_by, agent_id)) as t(reached)
      where agent_id is not null group by 1, 2 having sum(gain) <> 0 or sum(fee) <> 0 order by 1, 2
      on conflict (agent_id, day) do update
        set realized = d.realized + excluded.realized, fees = d.fees + excluded.fees
    ), results as (
      insert into agent_results as r (agent_id, source, skill_slug, volume, fees, realized, wins, losses)
      select agent_id, source, skill_slug, sum(volume), sum(fee), sum(gain), sum(wins), sum(losses)
      from changed where agent_id is not null group by 1, 2, 3 order by 1, 2, 3
      on conflict (agent_id, source, skill_slug) do update
        set volume = r.volume + excluded.volume, fees = r.fees + excluded.fees, realized = r.realized + excluded.realized,
            wins = r.wins + excluded.wins, losses = r.losses + excluded.losses
    ), last as (
      select s.* from (select 1) one left join lateral (
        select size, cost, realized, fees, settled, bought_size, bought_cost, closed_at
        from (select *, row_number() over () as nth from after) n order by nth desc limit 1) s on true
    ), moved as (
      update positions h set size = last.size, cost = last.cost, realized = last.realized, fees = last.fees,
        settled = last.settled, bought_size = last.bought_size, bought_cost = last.bought_cost,
        closed_at = last.closed_at, updated_at = p.at
      from last where h.wallet = p.wallet and h.token_id = p.token_id and last.size is not null
    ), emptied as (
      delete from positions h using last where h.wallet = p.wallet and h.token_id = p.token_id and last.size is null
    ), deleted as (
      delete from fills f using changed c
      where f.wallet = p.wallet and f.order_id = c.order_id and f.trade_id = c.trade_id and c.is_gone
    )
    update fills f set realized = c.new_gain from changed c
    where f.wallet = p.wallet and f.order_id = c.order_id and f.trade_id = c.trade_id and not c.is_gone;
    update fills f set counts_at = nullif(place_of(f, moved), f.filled_at)
    where f.wallet = p.wallet and f.token_id = p.token_id
      and f.counts_at is distinct from nullif(place_of(f, moved), f.filled_at);
  end loop;
end
$$;

-- Takes fills back whose settlement failed: they never happened. Positions, results and days are computed as if without
-- them, each on the day of the fill that changes, and the facts say what was taken back. Fills that are not there are ignored.
create or replace function reverse_fills(batch jsonb) returns void language sql as $$
  select recount_fills((select jsonb_agg(to_jsonb(g)) from (
    select f.wallet, f.token_id, '[]'::jsonb as late, jsonb_agg(jsonb_build_array(f.order_id, f.trade_id)) as gone,
      max(t.at) as at
    from jsonb_to_recordset(batch) as t(wallet text, order_id text, trade_id bigint, at timestamptz)
    join fills f using (wallet, order_id, trade_id)
    group by f.wallet, f.token_id) g))
$$;

-- Whether sales sold shares of which the desk does not know, the last of them shortly before the given moment.
create or replace function lacks_shares(account text, token text, told_at timestamptz) returns boolean language sql stable as $$
  select exists (select from fills f where f.wallet = account and f.token_id = token and f.side = 'SELL' and has_own_clock(f.match_kind)
      and f.filled_at between told_at - clocks_differ() and told_at)
    and p.size > (select coalesce(sum(case f.side when 'BUY' then f.size else -f.size end), 0) from fills f
      where f.wallet = account and f.token_id = token)
  from positions p where p.wallet = account and p.token_id = token
$$;

-- Puts the fills of a batch where they belong that were told after later fills of the other side: what such a sale had sold
-- was not known of, so it counted as sold past the desk.
create or replace function reorder_fills(batch jsonb) returns void language sql as $$
  with told as materialized (
    select t.* from rows from (jsonb_to_recordset(batch) as (wallet text, order_id text, trade_id bigint, token_id text,
      side text, match_kind text, at timestamptz)) with ordinality as t(wallet, order_id, trade_id, token_id, side, match_kind,
      at, nth)
    where is_on_chain(t.match_kind)
  )
  select recount_fills((select jsonb_agg(to_jsonb(g)) from (
    select t.wallet, t.token_id, jsonb_agg(jsonb_build_array(t.order_id, t.trade_id) order by t.nth) as late,
      '[]'::jsonb as gone, max(t.at) as at
    from told t
    group by t.wallet, t.token_id
    having bool_or(exists (select from fills f where f.wallet = t.wallet and f.token_id = t.token_id and f.filled_at > t.at
      and (is_on_chain(f.match_kind) and (t.side = 'SELL' or f.side = 'SELL')
        or t.side = 'SELL' and f.match_kind in ('LOST', 'REDEEMED'))))
      or bool_or(t.side = 'BUY' and has_own_clock(t.match_kind) and lacks_shares(t.wallet, t.token_id, t.at))) g))
$$;

-- Closes the positions that a resolution leaves worthless: each is sold for nothing at the moment of the resolution, so
-- that its loss is that day's. What they held of the venue's tokens pays nothing and is no position any more.
create or replace function close_lost(batch jsonb) returns void language plpgsql as $$
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

-- Takes fills (and what else changes a position): writes each, moves the position's cost basis, and adds up the agents' days
-- and results. Each round takes the next fill of every position, so the fills of one position are taken in their order and
-- all others as a set. A position's cost is cut by the sold share of it, rounded down, so the last share takes the rest. A
-- redemption belongs to the agent that asked for it, else to the one that traded the token last, as does a loss by
-- resolution; other fills to the agent of their order, if it is one of the desk's. A wallet on a chain also holds what came
-- to it past the desk: selling that is no gain and no loss, for what it cost is not known. There the desk may hear late of a fill:
-- after fills that came later, which are then taken anew, or after the resolution: what it bought in vain is closed at once.
create or replace function apply_fills(batch jsonb) returns void language plpgsql as $$
declare
  this_round bigint := 0;
  rounds bigint;
  told_late boolean;
  sold_without text;
begin
  loop
    this_round := this_round + 1;
    with given as materialized (
      select t.*, row_number() over (partition by t.wallet, t.token_id order by t.nth) as round,
        t.side = 'BUY' as is_buy, t.match_kind not in ('SPLIT', 'MERGED', 'CONVERTED', 'REDEEMED', 'REDEEM', 'LOST') as is_trade,
        is_on_chain(t.match_kind) as is_on_chain, t.match_kind in ('REDEEMED', 'LOST') as is_end
      from rows from (jsonb_to_recordset(batch) as (wallet text, order_id text, trade_id bigint, condition_id text,
          token_id text, outcome text, side text, price integer, size bigint, cost bigint, fee bigint, liquidity text,
          match_kind text, at timestamptz))
        with ordinality as t(wallet, order_id, trade_id, condition_id, token_id, outcome, side, price, size, cost, fee,
          liquidity, match_kind, at, nth)
    ), f as materialized (
      select g.*, o.agent_id as order_agent, o.source as order_source, o.skill_slug as order_skill,
        o.restricted_by as order_bound
      from given g left join lateral (
        -- An order that was refused because it had been posted past the desk is not the desk's.
        select agent_id, source, skill_slug, restricted_by from orders
        where order_id = g.order_id and error_code is distinct from 'duplicate_order' offset 0
      ) o on true
      where g.round = this_round
    ), held as materialized (
      select p.* from (select wallet, token_id from f where not is_buy order by 1, 2) s
      cross join lateral (
        select * from positions where wallet = s.wallet and token_id = s.token_id offset 0 for update) p
    ), owned as (
      select f.*, h.wallet is not null as is_found, coalesce(h.size, 0) as held_size, coalesce(h.cost, 0) as held_cost,
        coalesce(h.realized, 0) as held_realized, coalesce(h.fees, 0) as held_fees, coalesce(h.settled, 0) as held_settled,
        h.agent_id as held_agent, h.source as held_source, h.skill_slug as held_skill,
        case f.match_kind
          when 'REDEEMED' then coalesce(redeemer(f.wallet, f.condition_id), h.agent_id)
          when 'LOST' then coalesce(f.order_agent, h.agent_id)
          else f.order_agent end as who
      from f left join held h on h.wallet = f.wallet and h.token_id = f.token_id
    ), priced as (
      select o.*,
        case when is_end and who = held_agent then held_source else order_source end as label_source,
        case when is_end and who = held_agent then held_skill else order_skill end as label_skill,
        case when is_end then bound_by_wallet(wallet, who) else order_bound end as bound,
        case when is_on_chain then least(size, held_size) else size end as known,
        case when is_buy then 0 when size >= held_size then held_cost
          else floor(held_cost::numeric * size / held_size)::bigint end as gave
      from owned o
      -- The resolution closed it at a loss; the venue burns the tokens when something else of the market is redeemed.
      where not (match_kind = 'REDEEMED' and held_size = 0)
    ), gained as (
      select p.*, case when is_buy then 0
          when known = size then cost - gave
          else floor(cost::numeric * known / size)::bigint - gave end as gain
      from priced p
    ), taken as materialized (
      -- What was closed before cannot be won or lost again.
      select g.*, case when not is_buy and size >= held_size and (held_size > 0 or not is_on_chain)
        then held_realized + gain - held_fees - fee - held_settled else 0 end as outcome_net
      from gained g
    ), moved as (
      -- What is added to the position: a purchase may meet one that another transaction has just begun. A sale's figures are
      -- of the row that is locked above.
      insert into positions as p (wallet, token_id, condition_id, outcome, size, cost, realized, fees, updated_at, closed_at,
        settled, bought_size, bought_cost, agent_id, source, skill_slug)
      select wallet, token_id, condition_id, outcome, case when is_buy then size else -known end,
        case when is_buy then cost else -gave end, gain, fee, at, case when not is_buy and size >= held_size then at end,
        case when is_buy then 0 when size >= held_size then held_realized + gain - held_fees - fee else held_settled end,
        case when is_buy then size else 0 end, case when is_buy then cost else 0 end,
        case when is_buy or is_trade then who end, case when is_buy or is_trade then label_source end,
        case when is_buy or is_trade then label_skill end
      from taken where is_buy or is_found or is_on_chain order by wallet, token_id
      on conflict (wallet, token_id) do update
        set size = p.size + excluded.size, cost = p.cost + excluded.cost, realized = p.realized + excluded.realized,
            fees = p.fees + excluded.fees, updated_at = excluded.updated_at, closed_at = excluded.closed_at,
            settled = case when excluded.bought_size > 0 then p.settled else excluded.settled end,
            bought_size = p.bought_size + excluded.bought_size, bought_cost = p.bought_cost + excluded.bought_cost,
            agent_id = coalesce(excluded.agent_id, p.agent_id),
            source = case when excluded.agent_id is null then p.source else excluded.source end,
            skill_slug = case when excluded.agent_id is null then p.skill_slug else excluded.skill_slug end
    ), written as (
      insert into fills (wallet, order_id, trade_id, agent_id, condition_id, token_id, outcome, side, price, size, cost, fee,
        liquidity, match_kind, realized, filled_at)
      select wallet, order_id, trade_id, who, condition_id, token_id, outcome, side, price, size, cost, fee, liquidity,
        match_kind, gain, at
      from taken order by nth
    ), logged as (
      insert into facts (agent_id, kind, subject, at, payload)
      -- Other agents that reach the wallet learn of its holdings, not of the order.
      select e.agent_id, e.kind, order_id, at, jsonb_build_object('walletAddress', wallet, 'tradeId', trade_id::text)
      from taken cross join lateral (
        select who as agent_id, 'fill' as kind where who is not null
        union all
        select w.agent_id, 'holding' from agent_wallets w where w.address = wallet and (w.is_own or w.granted)
          and w.agent_id is distinct from who and agent_reaches(w.agent_id, wallet)) e
      order by nth, kind, e.agent_id
    ), days as (
      -- A result on a wallet that others' locks bind counts on their day, too.
      insert into daily_results as d (agent_id, day, realized, fees)
      select reached, (at at time zone 'UTC')::date, sum(gain), sum(fee)
      from taken cross join lateral unnest(array_append(bound, who)) as t(reached)
      where who is not null group by 1, 2 having sum(gain) <> 0 or sum(fee) <> 0 order by 1, 2
      on conflict (agent_id, day) do update
        set realized = d.realized + excluded.realized, fees = d.fees + excluded.fees
    ), results as (
      insert into agent_results as r (agent_id, source, skill_slug, volume, fees, realized, wins, losses)
      select who, coalesce(label_source, ''), coalesce(label_skill, ''), sum(case when is_trade then cost else 0 end), sum(fee),
        sum(gain), count(*) filter (where outcome_net > 0), count(*) filter (where outcome_net < 0)
      from taken where who is not null group by 1, 2, 3 order by 1, 2, 3
      on conflict (agent_id, source, skill_slug) do update
        set volume = r.volume + excluded.volume, fees = r.fees + excluded.fees, realized = r.realized + excluded.realized,
            wins = r.wins + excluded.wins, losses = r.losses + excluded.losses
    )
    select a.rounds, a.told_late, t.sold_without into rounds, told_late, sold_without
    from (select max(round) as rounds, bool_or(is_on_chain) as told_late from given) a
    cross join (
      select min(size || ' of token ' || token_id || ', of which wallet ' || wallet)
        filter (where not is_buy and not is_found and not is_on_chain) as sold_without from taken) t;
    if sold_without is not null then
      raise exception 'a fill sells % has no position', sold_without;
    end if;
    -- Without a fill there is no round.
    exit when rounds is null or this_round >= rounds;
  end loop;
  if told_late is not true then
    return;
  end if;
  perform reorder_fills(batch);
  perform close_lost(t.batch) from (
    select jsonb_agg(jsonb_build_object('condition_id', m.condition_id, 'payout', m.payout, 'at', m.resolved_at)) as batch
    from (select distinct condition_id from jsonb_to_recordset(batch) as t(condition_id text, match_kind text)
      where is_on_chain(match_kind)) late
    join traded_markets m using (condition_id) where m.payout is not null) t
  where t.batch is not null;
end
$$;

-- Closes positions as far as their tokens were redeemed past the desk. The batch says how much of each token an account has
-- redeemed in total, so that whoever records it again adds nothing; what was redeemed beyond the position is counted against
-- fills that are told later. A redemption pays what the resolution says.
create or replace function close_redeemed(batch jsonb) returns bigint language plpgsql as $$
declare
  redeemed jsonb;
begin
  -- The next statement sees what another replica has recorded while this one waited.
  perform from jsonb_to_recordset(batch) as t(wallet text, token_id text)
    join positions p using (wallet, token_id) where p.is_held order by p.wallet, p.token_id for update of p;
  select jsonb_agg(jsonb_build_object('wallet', r.wallet, 'order_id', r.order_id,
      'trade_id', r.nth * 2 + case r.outcome when 'YES' then 0 else 1 end, 'condition_id', r.condition_id,
      'token_id', r.token_id, 'outcome', r.outcome, 'side', 'SELL', 'price', floor(r.pays * 10000)::integer,
      'size', r.amount, 'cost', floor(r.amount * r.pays)::bigint, 'fee', 0,
      'liquidity', 'taker', 'match_kind', 'REDEEMED', 'at', r.at) order by r.wallet, r.token_id) into redeemed
  from (
    select p.wallet, p.condition_id, p.token_id, p.outcome, parts.pays, done.nth, done.order_id,
      least(p.size, t.size - done.size) as amount, greatest(t.at, p.updated_at) as at
    from jsonb_to_recordset(batch) as t(wallet text, token_id text, size bigint, at timestamptz)
    join positions p using (wallet, token_id)
    join traded_markets m using (condition_id)
    cross join lateral (
      select 'redeemed:' || p.condition_id as order_id, count(*) as nth, coalesce(sum(f.size), 0)::bigint as size
      from fills f where f.wallet = p.wallet and f.order_id = 'redeemed:' || p.condition_id and f.token_id = p.token_id) done
    cross join lateral (select case when m.payout = p.outcome then 1 when m.payout in ('YES', 'NO') then 0
      when m.payout = 'HALF' then 0.5 when p.outcome = 'YES' then m.payout::numeric else 1 - m.payout::numeric end as pays) parts
    where p.is_held and parts.pays > 0
  ) r where r.amount > 0;
  if redeemed is null then
    return 0;
  end if;
  perform apply_fills(redeemed);
  return jsonb_array_length(redeemed);
end
$$;
