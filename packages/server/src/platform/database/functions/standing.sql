-- What an agent's trades are judged by, and what its reads show: one description of each fact. Set-returning functions, so
-- that the planner sees into them; they return one row.

-- What is used of a UTC day's budget: what the agent's row says, without what came back and is not folded into it yet.
create or replace function usage_of_day(agent uuid, on_day date) returns table (trades integer, amount bigint)
language sql stable as $$
  select coalesce(max(s.used_trades) - coalesce(sum(b.trades), 0), 0)::integer,
    coalesce(max(s.used_amount) - coalesce(sum(b.amount), 0), 0)::bigint
  from safeguards s left join budget_returns b on b.agent_id = s.agent_id and b.day = on_day
  where s.agent_id = agent and s.usage_day = on_day
$$;

-- What an agent has won or lost on a UTC day, fees counted.
create or replace function result_of_day(agent uuid, on_day date) returns table (net bigint)
language sql stable as $$
  select coalesce(sum(d.realized - d.fees), 0)::bigint from daily_results d where d.agent_id = agent and d.day = on_day
$$;

-- What an open BUY can still cost: its amount's part for the shares that are not filled, rounded up.
create or replace function still_to_cost(o orders) returns numeric language sql immutable as $$
  select ceil(o.money::numeric * greatest(o.shares - o.filled, 0) / o.shares)
$$;

-- What an account's shares of a market count as: their cost. Where it has split, selling one half of a set leaves the other at
-- less than was paid: so there everything counts that went into the market and has not come back, if that is more.
create or replace function counted_cost(costs numeric, realized numeric, has_sets boolean) returns numeric
language sql immutable as $$ select case when has_sets then greatest(costs, costs - realized) else costs end $$;

-- What a position in a market has cost and can still cost: what the account holds, what the agent holds elsewhere, and the
-- agent's open BUYs. One snapshot: a fill moves cost from an open BUY to the position, and is seen in one of them.
create or replace function position_value(agent uuid, account text, tokens text[], market text)
returns table (value bigint) language sql stable as $$
  select ((select coalesce(counted_cost(sum(p.cost), sum(p.realized), bool_or(p.has_sets)), 0)
        from positions p where p.wallet = account and p.token_id = any(tokens))
    -- As a pair, which one index alone can find: without statistics, that of all positions of the agent looks as cheap.
    + (select coalesce(sum(h.counted), 0) from (
        select counted_cost(sum(p.cost), sum(p.realized), bool_or(p.has_sets)) as counted from positions p
        where (p.condition_id, p.agent_id) between (market, agent) and (market, agent) and p.wallet <> account
        group by p.wallet) h)
    + (select coalesce(sum(still_to_cost(o)), 0) from orders o
        where o.agent_id = agent and o.condition_id = market and o.side = 'BUY' and order_is_open(o.status)))::bigint
$$;

-- What comes to that for an agent whose locks bind a wallet that another owner has now: what is held by others on wallets
-- that the agent had, and the open BUYs that are reserved in its budget, too.
create or replace function bound_position_value(agent uuid, account text, tokens text[], market text)
returns table (value bigint) language sql stable as $$
  select ((select coalesce(sum(h.counted), 0) from (
      select counted_cost(sum(p.cost), sum(p.realized), bool_or(p.has_sets)) as counted from positions p
      where p.condition_id = market and p.wallet <> account and p.agent_id is distinct from agent and p.wallet in (
        select w.address from agent_wallets w where w.agent_id = agent and w.is_own and not w.lifted)
      group by p.wallet) h)
    + (select coalesce(sum(still_to_cost(o)), 0) from orders o
        where o.restricted_by is not null and o.restricted_by @> array[agent] and o.condition_id = market
          and o.side = 'BUY' and order_is_open(o.status)))::bigint
$$;

-- Orders that are open or in doubt; 0 where nothing asks for the count. A split or a merge never rests, so it is none of them.
create or replace function open_orders(agent uuid, is_counted boolean) returns table (count integer)
language sql stable as $$
  select count(*)::integer from orders o
  where o.agent_id = agent and order_is_open(o.status) and o.kind in ('signed', 'quoted') and is_counted
$$;

-- Open orders of others that are reserved in this agent's budget, too.
create or replace function bound_open_orders(agent uuid, is_counted boolean) returns table (count integer)
language sql stable as $$
  select count(*)::integer from orders o
  where o.restricted_by is not null and o.restricted_by @> array[agent] and order_is_open(o.status)
    and o.kind in ('signed', 'quoted') and is_counted
$$;

-- What an order gives back of its budget once it has ended: for a BUY the unspent collateral, for a SELL the part of its
-- amount that did not trade. One that was rejected, or canceled before its venue answered, gives back the trade itself, too.
-- A redemption is no trade. No row for an order that is not at its end: what a `matched` order spent is not final.
create or replace function budget_back(status text, is_unanswered boolean, is_redemption boolean, side text, reserved bigint,
  cost bigint, shares bigint, filled bigint) returns table (trades integer, amount bigint) language sql immutable as $$
  select (not is_redemption and (status = 'rejected' or (status = 'canceled' and is_unanswered)))::integer,
    case when side = 'BUY' then greatest(reserved - cost, 0)
      else floor(reserved::numeric * greatest(shares - filled, 0) / shares)::bigint end
  where not order_is_open(status) and status <> 'matched'
$$;
