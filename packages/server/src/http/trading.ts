import { cancelAll, cancelMarket, cancelOrder, getOrder, placeTrade } from '@bellwether/contract';
import type { Deps } from '../app/deps.ts';
import * as orders from '../app/orders/read-orders.ts';
import * as trade from '../app/orders/signed/place-trade.ts';
import { bindLists } from './lists.ts';
import { deadlineOf } from './request-deadline.ts';
import type { Bind } from './routes.ts';

export function bindTrading(bind: Bind, deps: Deps): void {
  bind(placeTrade, ({ caller, body, request }) =>
    trade.placeTrade(deps, { caller, request: body, requestId: request.id, deadline: deadlineOf(request) }),
  );
  bindLists(bind, orders.orderLists(deps));
  bind(getOrder, ({ caller, params }) => orders.getOrder(deps, caller, params.orderId));
  bind(cancelOrder, ({ caller, body }) => orders.cancelOrder(deps, caller, body.orderId));
  bind(cancelMarket, ({ caller, body }) => orders.cancelMarket(deps, caller, body));
  bind(cancelAll, ({ caller }) => orders.cancelAll(deps, caller));
}
