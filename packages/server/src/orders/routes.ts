/** Reads and cancels of orders that were placed, on every venue. */

import type { Bind } from '../platform/http/routes.ts';
import { bindUseCases } from '../platform/http/use-cases.ts';
import { type CancelAllNeeds, cancelAll, cancelMarket, cancelOrder } from './cancel-orders.ts';
import {
  type GetOrderNeeds,
  getOrder,
  type ListOrdersNeeds,
  listFills,
  listOpenOrders,
  listOrders,
} from './read-orders.ts';

export function bindOrders(bind: Bind, needs: ListOrdersNeeds & GetOrderNeeds & CancelAllNeeds): void {
  bindUseCases(bind, {
    listOpenOrders: ({ caller, query }) => listOpenOrders(needs, caller, query),
    listOrders: ({ caller, query }) => listOrders(needs, caller, query),
    listFills: ({ caller, query }) => listFills(needs, caller, query),
    getOrder: ({ caller, params }) => getOrder(needs, caller, params.orderId),
    cancelOrder: ({ caller, body }) => cancelOrder(needs, caller, body.orderId),
    cancelMarket: ({ caller, body }) => cancelMarket(needs, caller, body),
    cancelAll: ({ caller }) => cancelAll(needs, caller),
  });
}
