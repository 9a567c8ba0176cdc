-- For replicas of the release before, which run beside this one while they are replaced, and the oracle that the fold of positions is
-- compared with (test/ledger-model). This release folds them itself: packages/contract/src/positions.ts.

-- When a fill counts among those of its position: as `moved` says, or as is recorded where that is null.
create or replace function place_of(one fills, moved jsonb) returns timestamptz language sql stable as $$
  select case when moved is null then coalesce(one.counts_at, one.filled_at) else coalesce((
    select t.at from jsonb_to_recordset(moved) as t(order_id text, trade_id bigint, at timestamptz)
    where t.order_id = one.order_id and t.trade_id = one.trade_id), one.filled_at) end
$$;

-- What a position is after each of its fills, computed anew from all of them but those in `without`, a list of
-- [order id, trade id], as if those in `at_last` had come after all others, in its order. The same arithmetic as apply_fills. More may be sold than is left when a purchase is without effect:
-- what is sold beyond the holding is no gain and no loss.
drop function if exists replay_fills(text, text, jsonb);
drop function if exists replay_fills(text, text, jsonb, jsonb);
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
      or (s.match_kind = 'LIVE' and a.known < s.size and later.at <= s.filled_at + clocks_differ()))
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
        'tokenId', f.token_id, 'outcome', f.outcome, 'side', f.side, 'size', f.size::text, 'cost', f.cost::text,
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
  select exists (select from fills f where f.wallet = account and f.token_id = token and f.side = 'SELL' and f.match_kind = 'LIVE'
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
    where t.match_kind in ('DFLOW', 'LIVE')
  )
  select recount_fills((select jsonb_agg(to_jsonb(g)) from (
    select t.wallet, t.token_id, jsonb_agg(jsonb_build_array(t.order_id, t.trade_id) order by t.nth) as late,
      '[]'::jsonb as gone, max(t.at) as at
    from told t
    group by t.wallet, t.token_id
    having bool_or(exists (select from fills f where f.wallet = t.wallet and f.token_id = t.token_id and f.filled_at > t.at
      and f.side <> t.side and f.match_kind in ('DFLOW', 'LIVE')))
      or bool_or(t.side = 'BUY' and t.match_kind = 'LIVE' and lacks_shares(t.wallet, t.token_id, t.at))) g))
$$;
