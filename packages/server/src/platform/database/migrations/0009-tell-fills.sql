-- The same, by the index on endpoints' agents however many endpoints there are.

-- Tells of fills and their fees. Costs one look at an index while nobody wants to hear of them.
create or replace function tell_fills(batch jsonb) returns void language plpgsql as $$
begin
  if not exists (select 1 from webhook_endpoints where enabled and events && array['*', 'fill', 'fee']) then
    return;
  end if;
  insert into webhook_deliveries (endpoint_id, agent_id, event_id, type, data, created_at)
  select e.id, o.agent_id, event_id(k.kind || f.wallet || f.order_id || f.trade_id), k.kind,
    case k.kind
      when 'fill' then jsonb_build_object(
        'orderId', f.order_id, 'tradeId', f.trade_id::text, 'venue', o.venue, 'marketId', o.market_id,
        'marketConditionId', f.condition_id, 'tokenId', f.token_id, 'outcome', f.outcome, 'side', f.side,
        'price', trim_scale(f.price / 10000.0), 'size', micro_number(f.size), 'cost', micro_number(f.cost),
        'fee', micro_number(f.fee), 'liquidity', f.liquidity, 'walletAddress', f.wallet)
      else jsonb_build_object(
        'venue', o.venue, 'orderId', f.order_id, 'tradeId', f.trade_id::text, 'amount', micro_number(f.fee))
    end,
    f.at
  from rows from (jsonb_to_recordset(batch) as (
      wallet text, order_id text, trade_id bigint, condition_id text, token_id text, outcome text, side text,
      price integer, size bigint, cost bigint, fee bigint, liquidity text, at timestamptz))
    with ordinality as f(wallet, order_id, trade_id, condition_id, token_id, outcome, side, price, size, cost, fee,
      liquidity, at, nth)
  join orders o on o.order_id = f.order_id
  cross join (values ('fill'), ('fee')) as k(kind)
  -- The subquery keeps the planner to the index: it takes the batch to be large.
  cross join lateral (select e.id from webhook_endpoints e
    where e.agent_id = o.agent_id and e.enabled and e.events && array['*', k.kind] offset 0) e
  where k.kind = 'fill' or f.fee > 0
  order by f.nth, k.kind desc;
end
$$;
