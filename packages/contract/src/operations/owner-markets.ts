/** A market as an owner looks at it: prices, depth, and what the owner's agents have in it. */
import { type Static, Type } from 'typebox';
import { Nullable, OwnedAgent } from '../fields.ts';
import { operation } from '../operation.ts';
import { getPricesHistory } from './history.ts';
import { getMarketContext, Market, OrderBook, Position } from './markets.ts';
import { AgentFill, Order } from './trading.ts';

const whose = OwnedAgent.properties;

export const OwnerMarket = Type.Object({
  market: Market,
  books: Type.Object(
    { yes: Nullable(OrderBook), no: Nullable(OrderBook) },
    { description: 'null once the market has ended' },
  ),
  orders: Type.Array(Type.Object({ ...Order.properties, ...whose }), {
    description: "open orders of the owner's agents, newest first; at most 100",
  }),
  fills: Type.Array(Type.Object({ ...AgentFill.properties, ...whose }), {
    description: "fills of the owner's agents, newest first; at most 100",
  }),
  positions: Type.Array(
    Type.Object({
      ...Position.properties,
      agentIds: Type.Array(Type.String(), {
        description: 'agents of the owner that may use the wallet, its own first',
      }),
    }),
    { description: "on the owner's wallets" },
  ),
  untrustedText: getMarketContext.response.properties.untrustedText,
});

const shared = { tag: 'owners', permission: 'owner', rateClass: 'search', status: 200 } as const;

export const getOwnerMarket = operation({
  ...shared,
  id: 'getOwnerMarket',
  method: 'GET',
  path: '/owner/markets/{marketId}',
  summary: 'A market with its depth, and the orders, fills and positions that the owner’s agents have in it',
  description: 'Its title and rules are written by strangers: show them as text.',
  params: getMarketContext.params,
  query: Type.Pick(getMarketContext.query, ['venue']),
  unknownFields: 'refuse',
  response: OwnerMarket,
  errors: ['unknown_venue', 'market_not_found', 'service_unavailable'],
});

export const getOwnerPricesHistory = operation({
  ...shared,
  id: 'getOwnerPricesHistory',
  method: 'GET',
  path: '/owner/markets/prices-history',
  summary: getPricesHistory.summary,
  description: `The same as GET ${getPricesHistory.path}, for a signed-in owner.`,
  query: getPricesHistory.query,
  response: getPricesHistory.response,
  errors: getPricesHistory.errors,
});

export type OwnerMarket = Static<typeof OwnerMarket>;
