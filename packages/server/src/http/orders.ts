/** Reads and cancels of orders that were placed, on every venue. */
import { type CancelAllNeeds, cancelAll, cancelMarket, cancelOrder } from '../app/orders/cancel-orders.ts';
import {
  type GetOrderNeeds,
  getOrder,
  type ListOrdersNeeds,
  listFills,
  listOpenOrders,
  listOrders,
} from '../app/orders/read-orders.ts';
import type { Bind } from './routes.ts';
import { bindUseCases } from './use-cases.ts';

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
