/** What can be asked of orders that were placed, by the ids of the operations. */
import type { FillsQuery, OpenOrdersQuery, OrdersQuery } from '@bellwether/contract';
import type { Caller } from '../../ports/stores.ts';
import {
  type CancelAllNeeds,
  type CancelScope,
  cancelAll,
  cancelMarket,
  cancelOrder,
} from './cancel-orders.ts';
import {
  type GetOrderNeeds,
  getOrder,
  type ListOrdersNeeds,
  listFills,
  listOpenOrders,
  listOrders,
} from './read-orders.ts';

interface From {
  readonly caller: Caller;
}

interface OneOrder {
  readonly orderId: string;
}

export type OrderNeeds = ListOrdersNeeds & GetOrderNeeds & CancelAllNeeds;

export const orderUseCases = (needs: OrderNeeds) => ({
  listOpenOrders: ({ caller, query }: From & { query: OpenOrdersQuery }) =>
    listOpenOrders(needs, caller, query),
  listOrders: ({ caller, query }: From & { query: OrdersQuery }) => listOrders(needs, caller, query),
  listFills: ({ caller, query }: From & { query: FillsQuery }) => listFills(needs, caller, query),
  getOrder: ({ caller, params }: From & { params: OneOrder }) => getOrder(needs, caller, params.orderId),
  cancelOrder: ({ caller, body }: From & { body: OneOrder }) => cancelOrder(needs, caller, body.orderId),
  cancelMarket: ({ caller, body }: From & { body: CancelScope }) => cancelMarket(needs, caller, body),
  cancelAll: ({ caller }: From) => cancelAll(needs, caller),
});
