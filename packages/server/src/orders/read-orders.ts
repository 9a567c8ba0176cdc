/** Orders as the agent reads them. */

import {
  type AgentFill,
  type Fill,
  type FillsQuery,
  type OpenOrdersQuery,
  type Order,
  type OrderDetail,
  type OrdersQuery,
  VENUE_REFUSALS,
  type VenueRefusal,
} from '@bellwether/contract';
import { type Micro, microToNumber, pipsToNumber } from '@bellwether/contract/decimals';
import { conditionIdOfBothWidths } from '@bellwether/protocol';
import { saysExchange } from '../domain/draft.ts';
import { mayFill, statusNumber, statusWord } from '../domain/lifecycle.ts';
import type {
  ActingAgent,
  AgentFillRow,
  FillPlace,
  FillRow,
  ListedOrder,
  OrderRow,
} from '../domain/records.ts';
import type { DeskWatch } from '../platform/database/desk-watch.ts';
import { cursorOf, type Page, PLACES, pageOf, placeOf, windowBy, windowOf } from '../platform/http/page.ts';
import { refusal } from '../platform/refusal.ts';
import { cursorOfOrder, fillsOnChain, journalOf, type OutcomeNeeds } from '../quoting/index.ts';
import type { OrderFilter, OrderStore, RefusalLog } from '../trading/index.ts';
import { namedVenue } from '../venues/asking.ts';
import type { WalletStore } from '../wallets/index.ts';
import type { ResultStore } from './result-store.ts';

export interface OrderNeeds extends OutcomeNeeds {
  readonly wallets: WalletStore;
  readonly deskWatch: Pick<DeskWatch, 'turn'>;
  readonly refusals: RefusalLog;
  readonly results: ResultStore;
  /** Of a paper wallet. */
  readonly simulationBalance: Micro;
}

const MICRO_PER_UNIT = 1_000_000n;

export function orderRecord(row: ListedOrder): Order {
  return {
    orderId: row.orderId,
    venue: row.venue,
    status: statusWord(row),
    orderStatus: statusNumber(row),
    marketId: row.marketId,
    marketConditionId: row.conditionId,
    marketQuestion: row.question,
    tokenId: row.tokenId,
    outcome: row.outcome,
    outcomeName: row.outcomeName,
    side: row.side,
    orderType: row.timeInForce,
    isLimitOrder: row.isLimitOrder,
    postOnly: row.postOnly,
    price: pipsToNumber(row.price),
    orderSize: microToNumber(row.shares),
    filledSize: microToNumber(row.filled),
    remainingSize: mayFill(row.status)
      ? microToNumber(row.shares > row.filled ? row.shares - row.filled : 0n)
      : 0,
    avgPrice: row.filled === 0n ? null : microToNumber((row.cost * MICRO_PER_UNIT) / row.filled),
    filledAmount: microToNumber(row.cost),
    feePaid: microToNumber(row.fees),
    feeAmount: microToNumber(row.feeAmount),
    walletAddress: row.walletAddress,
    signatureType: row.kind === 'signed' ? row.signatureType : null,
    orderVersion: row.kind === 'signed' ? row.version : null,
    ...(row.kind === 'signed' ? saysExchange(row.tokenId) : {}),
    expiration: row.expiration === null ? null : new Date(row.expiration).toISOString(),
    reasoning: row.reasoning,
    source: row.source,
    skillSlug: row.skillSlug,
    clientOrderId: row.clientOrderId,
    cancelAt: row.cancelAt === null ? null : new Date(row.cancelAt).toISOString(),
    errorCode: row.errorCode,
    errorMessage: row.errorCode === null ? null : VENUE_REFUSALS[row.errorCode as VenueRefusal].message,
    fix: row.errorCode === null ? null : VENUE_REFUSALS[row.errorCode as VenueRefusal].fix,
    createdAt: new Date(row.createdAt).toISOString(),
    updatedAt: new Date(row.updatedAt).toISOString(),
  };
}

const fillRecord = (fill: FillRow): Fill => ({
  tradeId: String(fill.tradeId),
  price: pipsToNumber(fill.price),
  size: microToNumber(fill.size),
  cost: microToNumber(fill.cost),
  fee: microToNumber(fill.fee),
  liquidity: fill.liquidity,
  matchKind: fill.matchKind,
  filledAt: new Date(fill.filledAt).toISOString(),
});

type Read = (
  agentId: string,
  filter: OrderFilter,
) => Promise<{ readonly orders: readonly ListedOrder[]; readonly total: number }>;

export const listOpenOrders = (needs: OrderNeeds, caller: ActingAgent, query: OpenOrdersQuery) =>
  listBy(needs, caller, query, needs.orders.open);

export const listOrders = (needs: OrderNeeds, caller: ActingAgent, query: OrdersQuery) =>
  listBy(needs, caller, query, needs.orders.history);

const agentFill = (row: AgentFillRow): AgentFill => ({
  ...fillRecord(row),
  orderId: row.orderId,
  venue: row.venue,
  marketId: row.marketId,
  marketConditionId: row.conditionId,
  tokenId: row.tokenId,
  outcome: row.outcome,
  outcomeName: row.outcomeName,
  side: row.side,
  walletAddress: row.wallet,
  txSignature: row.transaction,
});

const cursorOfFill = ({ filledAt, orderId, tradeId }: FillPlace): string =>
  `${cursorOf({ at: filledAt, id: orderId })}_${tradeId}`;

/** @throws Refusal invalid_request */
function fillPlaceOf(cursor: string): FillPlace {
  const [, order = '', tradeId = '0'] = /^(.+)_(\d{1,18})$/.exec(cursor) ?? [];
  const { at, id } = placeOf(PLACES.byOrderId, order);
  return { filledAt: at, orderId: id, tradeId: Number(tradeId) };
}

/** @throws Refusal unknown_venue, invalid_request for a cursor that is none, contradictory_filter */
export async function listFills(
  needs: OrderNeeds,
  caller: ActingAgent,
  query: FillsQuery,
): Promise<Page<AgentFill>> {
  const { venue, marketConditionId } = query;
  namedVenue(needs, venue);
  const { fills, total } = await needs.orders.fillsOfAgent(caller.agentId, {
    ...windowBy(query, fillPlaceOf),
    ...(venue === undefined ? {} : { venue }),
    ...(marketConditionId === undefined ? {} : { conditionId: conditionIdOfBothWidths(marketConditionId) }),
  });
  return { ...pageOf(fills, query, agentFill, cursorOfFill), total };
}

/** @throws Refusal unknown_venue, invalid_request for a cursor that is none, contradictory_filter */
async function listBy(
  needs: OrderNeeds,
  caller: ActingAgent,
  query: OrdersQuery,
  read: Read,
): Promise<Page<Order>> {
  const { venue, marketConditionId, orderStatus, clientOrderId } = query;
  // An unknown name is a mistake, not a filter that nothing fits.
  namedVenue(needs, venue);
  const { orders, total } = await read(caller.agentId, {
    ...windowOf(query, PLACES.byOrderId),
    ...(venue === undefined ? {} : { venue }),
    ...(marketConditionId === undefined ? {} : { conditionId: conditionIdOfBothWidths(marketConditionId) }),
    ...(orderStatus === undefined ? {} : { orderStatus }),
    ...(clientOrderId === undefined ? {} : { clientOrderId }),
  });
  return { ...pageOf(orders, query, orderRecord, cursorOfOrder), total };
}

export async function ownOrder(
  needs: { readonly orders: Pick<OrderStore, 'byId'> },
  caller: ActingAgent,
  orderId: string,
): Promise<OrderRow> {
  const row = await needs.orders.byId(caller.agentId, orderId.toLowerCase());
  if (row === null) throw refusal('order_not_found');
  return row;
}

export async function getOrder(
  needs: OrderNeeds,
  caller: ActingAgent,
  orderId: string,
): Promise<OrderDetail> {
  const row = await ownOrder(needs, caller, orderId);
  const fills =
    row.kind === 'quoted'
      ? await fillsOnChain(needs, row)
      : await needs.orders.fills(row.funder, row.orderId);
  return {
    ...orderRecord(row),
    counted: microToNumber(row.counted),
    fills: fills.map(fillRecord),
    journal: journalOf(row),
  };
}
