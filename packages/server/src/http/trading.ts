import {
  cancelAll,
  cancelMarket,
  cancelOrder,
  getOrder,
  listOpenOrders,
  listOrders,
  placeTrade,
} from '@bellwether/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../app/deps.ts';
import * as orders from '../app/orders/read-orders.ts';
import * as trade from '../app/orders/signed/place-trade.ts';
import { paginate } from './pagination.ts';
import { deadlineOf } from './request-deadline.ts';
import type { Bind } from './routes.ts';

const DEFAULT_PAGE = 50;

interface OrdersQuery {
  readonly venue?: string;
  readonly marketConditionId?: string;
  readonly orderStatus?: number;
  readonly limit?: number;
  readonly offset?: number;
  readonly cursor?: string;
}

const filterOf = ({
  venue,
  marketConditionId,
  orderStatus,
  limit,
  offset,
  cursor,
}: OrdersQuery): orders.OrderQuery => ({
  limit: limit ?? DEFAULT_PAGE,
  offset: offset ?? 0,
  ...(venue === undefined ? {} : { venue }),
  ...(marketConditionId === undefined ? {} : { conditionId: marketConditionId }),
  ...(orderStatus === undefined ? {} : { orderStatus }),
  ...(cursor === undefined ? {} : { cursor }),
});

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  page: orders.OrderPage,
  query: OrdersQuery,
): orders.OrderPage['orders'] {
  const { limit = DEFAULT_PAGE, offset = 0 } = query;
  paginate(request, reply, page.total, {
    name: 'offset',
    previous: query.cursor === undefined && offset > 0 ? Math.max(0, offset - limit) : null,
    // By cursor, because orders that come in meanwhile would shift an offset.
    next: null,
    cursor: page.cursor,
  });
  return page.orders;
}

export function bindTrading(bind: Bind, deps: Deps): void {
  bind(placeTrade, ({ caller, body, request }) =>
    trade.placeTrade(deps, { caller, request: body, requestId: request.id, deadline: deadlineOf(request) }),
  );
  bind(listOpenOrders, async ({ caller, query, request, reply }) =>
    send(request, reply, await orders.listOpenOrders(deps, caller, filterOf(query)), query),
  );
  bind(listOrders, async ({ caller, query, request, reply }) =>
    send(request, reply, await orders.listOrders(deps, caller, filterOf(query)), query),
  );
  bind(getOrder, ({ caller, params }) => orders.getOrder(deps, caller, params.orderId));
  bind(cancelOrder, ({ caller, body }) => orders.cancelOrder(deps, caller, body.orderId));
  bind(cancelMarket, ({ caller, body }) => orders.cancelMarket(deps, caller, body));
  bind(cancelAll, ({ caller }) => orders.cancelAll(deps, caller));
}
