/**
 * What evidence tells to webhooks, written with it: parts of its statements, so that no round trip is added and an
 * event is in the outbox exactly when what it tells of is recorded. It costs one look at an index for each order, of an
 * empty table while nobody subscribes: 0.1 ms a batch at most. The subqueries keep the planner to the index; it takes
 * every batch to be large and would read all endpoints. An order's events come before those of its fills of the same
 * moment.
 */
import type { ResolutionEvidence } from '../../ports/evidence.ts';
import type { Fragment, Sql, Tx } from './connection.ts';
import { openStatuses } from './open-statuses.ts';

/**
 * Two common table expressions that tell of the orders in `moved` (agent_id, order_id, status, filled, cost, fees,
 * error_code, updated_at). What never changes about an order is read from its row as it was before the statement.
 */
export const tellOrders = (tx: Tx | Sql): Fragment =>
  tx`
  news as materialized (
    select m.* from moved m where (
      select true from webhook_endpoints e where e.agent_id = m.agent_id and e.enabled
        and e.events && array['*', 'order.*', 'order.' || order_event_word(m.status)] limit 1)
  ), told as (
    insert into webhook_deliveries (endpoint_id, agent_id, event_id, type, data, created_at)
    select e.id, n.agent_id, event_id('order' || n.order_id || n.status || n.filled), 'order.' || order_event_word(n.status),
      jsonb_build_object(
        'orderId', n.order_id, 'status', order_event_word(n.status), 'venue', o.venue, 'marketId', o.market_id,
        'marketConditionId', o.condition_id, 'tokenId', o.token_id, 'outcome', o.outcome, 'side', o.side,
        'orderType', o.time_in_force, 'price', trim_scale(o.price / 10000.0), 'orderSize', micro_number(o.shares),
        'filledSize', micro_number(n.filled), 'filledAmount', micro_number(n.cost), 'feePaid', micro_number(n.fees),
        'errorCode', n.error_code, 'source', o.source, 'skillSlug', o.skill_slug),
      n.updated_at
    from news n join orders o on o.order_id = n.order_id
    cross join lateral (select e.id from webhook_endpoints e where e.agent_id = n.agent_id and e.enabled
      and e.events && array['*', 'order.*', 'order.' || order_event_word(n.status)] offset 0) e
  )` as unknown as Fragment;

/**
 * Tells every agent that has an open order in the market, or reaches a wallet that holds some of it. To be issued before the outcomes of
 * the same evidence, which close those orders.
 */
export function tellResolutions(
  tx: Tx | Sql,
  resolutions: readonly ResolutionEvidence[],
): PromiseLike<unknown> {
  const batch = resolutions.map(({ conditionId, payout, at }) => ({
    condition_id: conditionId,
    payout,
    at: new Date(at).toISOString(),
  }));
  return tx`
    insert into webhook_deliveries (endpoint_id, agent_id, event_id, type, data, created_at)
    select e.id, e.agent_id, event_id('resolved' || e.agent_id || r.condition_id), 'market.resolved',
      jsonb_build_object('marketId', coalesce(m.market_id, o.market_id), 'marketConditionId', r.condition_id,
        'marketQuestion', coalesce(m.question, o.question), 'payout', r.payout), r.at
    from webhook_endpoints e join agents a using (agent_id)
    cross join jsonb_to_recordset(${tx.json(batch)}) as r(condition_id text, payout text, at timestamptz)
    left join traded_markets m on m.condition_id = r.condition_id
    left join lateral (select market_id, question from orders where agent_id = a.agent_id
      and condition_id = r.condition_id
      and status in ${openStatuses(tx)} limit 1) o on true
    where e.enabled and e.events && array['*', 'market.resolved'] and (o.market_id is not null or exists (
      select 1 from positions p where p.condition_id = r.condition_id and p.size > 0
      and exists (select 1 from agent_wallets w where w.agent_id = e.agent_id and w.address = p.wallet
        and (w.is_own or w.granted))
      and exists (
        select 1 from credentials c
        where c.user_id = a.user_id and (c.wallet_address = p.wallet or c.funder = p.wallet)
        union all
        select 1 from order_wallets o where o.user_id = a.user_id and o.address = p.wallet)))`;
}
