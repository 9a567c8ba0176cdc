/** Orders read and canceled. No safeguard stands in the way of a cancel. */
import {
  type AgentFill,
  type CancelAllResponse,
  type CancelMarketResponse,
  type CancelResponse,
  type Fill,
  type FillsQuery,
  type OpenOrdersQuery,
  type Order,
  type OrderDetail,
  type OrdersQuery,
  VENUE_REFUSALS,
  type VenueRefusal,
} from '@bellwether/contract';
import { microToNumber, pipsToNumber } from '@bellwether/contract/decimals';
import { parseWallet, type WalletAddress } from '../../domain/addresses.ts';
import { isInDoubt, isOpen, isTerminal } from '../../domain/orders/lifecycle.ts';
import { statusNumber, statusWord } from '../../domain/orders/status-words.ts';
import type { AgentFillRow, Caller, FillPlace, FillRow, OrderFilter, OrderRow } from '../../ports/stores.ts';
import type { Venue } from '../../ports/venue.ts';
import type { Deps } from '../deps.ts';
import { type Page, pageOf } from '../page.ts';
import { refusal } from '../refusal.ts';
import { namedVenue, venueOf } from '../venues.ts';
import { cursorOf, placeOf } from './order-cursor.ts';
import { cancelOnChain, fillsOnChain, journalOf } from './quoted/records.ts';

const DEFAULT_PAGE = 50;
const MICRO_PER_UNIT = 1_000_000n;

export function orderRecord(row: OrderRow): Order {
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
    side: row.side,
    orderType: row.timeInForce,
    isLimitOrder: row.isLimitOrder,
    postOnly: row.postOnly,
    price: pipsToNumber(row.price),
    orderSize: microToNumber(row.shares),
    filledSize: microToNumber(row.filled),
    remainingSize: isTerminal(row.status)
      ? 0
      : microToNumber(row.shares > row.filled ? row.shares - row.filled : 0n),
    avgPrice: row.filled === 0n ? null : microToNumber((row.cost * MICRO_PER_UNIT) / row.filled),
    filledAmount: microToNumber(row.cost),
    feePaid: microToNumber(row.fees),
    feeAmount: microToNumber(row.feeAmount),
    walletAddress: row.walletAddress,
    signatureType: row.kind === 'signed' ? row.signatureType : null,
    orderVersion: row.kind === 'signed' ? row.version : null,
    expiration: row.expiration === null ? null : new Date(row.expiration).toISOString(),
    reasoning: row.reasoning,
    source: row.source,
    skillSlug: row.skillSlug,
    errorCode: row.errorCode,
    errorMessage: row.errorCode === null ? null : VENUE_REFUSALS[row.errorCode as VenueRefusal].message,
    fix: row.errorCode === null ? null : VENUE_REFUSALS[row.errorCode as VenueRefusal].fix,
    createdAt: new Date(row.createdAt).toISOString(),
    updatedAt: new Date(row.updatedAt).toISOString(),
  };
}

const fillRecord = (fill: FillRow): Fill => ({
  tradeId: fill.tradeId,
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
) => Promise<{ readonly orders: readonly OrderRow[]; readonly total: number }>;

interface From {
  readonly caller: Caller;
}

/** By the ids of their operations. */
export const orderUseCases = (deps: Deps) => ({
  listOpenOrders: ({ caller, query }: From & { query: OpenOrdersQuery }) =>
    listBy(deps, caller, query, deps.orders.open),
  listOrders: ({ caller, query }: From & { query: OrdersQuery }) =>
    listBy(deps, caller, query, deps.orders.history),
  listFills: ({ caller, query }: From & { query: FillsQuery }) => listFills(deps, caller, query),
  getOrder: ({ caller, params }: From & { params: OneOrder }) => getOrder(deps, caller, params.orderId),
  cancelOrder: ({ caller, body }: From & { body: OneOrder }) => cancelOrder(deps, caller, body.orderId),
  cancelMarket: ({ caller, body }: From & { body: CancelScope }) => cancelMarket(deps, caller, body),
  cancelAll: ({ caller }: From) => cancelAll(deps, caller),
});

interface OneOrder {
  readonly orderId: string;
}

const agentFill = (row: AgentFillRow): AgentFill => ({
  ...fillRecord(row),
  orderId: row.orderId,
  venue: row.venue,
  marketId: row.marketId,
  marketConditionId: row.conditionId,
  tokenId: row.tokenId,
  outcome: row.outcome,
  side: row.side,
  walletAddress: row.wallet,
  txSignature: row.transaction,
});

const cursorOfFill = ({ filledAt, orderId, tradeId }: FillPlace): string =>
  `${cursorOf({ createdAt: filledAt, orderId })}_${tradeId}`;

/** @throws Refusal invalid_request */
function fillPlaceOf(cursor: string): FillPlace {
  const [, order = '', tradeId = '0'] = /^(.+)_(\d{1,18})$/.exec(cursor) ?? [];
  const { createdAt, orderId } = placeOf(order);
  return { filledAt: createdAt, orderId, tradeId };
}

/** @throws Refusal unknown_venue, invalid_request for a cursor that is none */
async function listFills(deps: Deps, caller: Caller, query: FillsQuery): Promise<Page<AgentFill>> {
  const { cursor, limit = DEFAULT_PAGE, venue, marketConditionId } = query;
  namedVenue(deps, venue);
  const found = await deps.orders.fillsOfAgent(caller.agentId, {
    limit: limit + 1,
    ...(venue === undefined ? {} : { venue }),
    ...(marketConditionId === undefined ? {} : { conditionId: marketConditionId }),
    ...(cursor === undefined ? {} : { after: fillPlaceOf(cursor) }),
  });
  return { ...pageOf(found, limit, agentFill, cursorOfFill), total: null };
}

/** @throws Refusal unknown_venue, invalid_request for a cursor that is none, contradictory_filter */
async function listBy(deps: Deps, caller: Caller, query: OrdersQuery, read: Read): Promise<Page<Order>> {
  const { cursor, limit = DEFAULT_PAGE, offset = 0, venue, marketConditionId, orderStatus } = query;
  // An unknown name is a mistake, not a filter that nothing fits.
  namedVenue(deps, venue);
  if (cursor !== undefined && offset > 0)
    throw refusal('contradictory_filter', 'cursor and offset both say where the page begins.', {
      path: 'offset',
    });
  const { orders, total } = await read(caller.agentId, {
    offset,
    limit: limit + 1,
    ...(venue === undefined ? {} : { venue }),
    ...(marketConditionId === undefined ? {} : { conditionId: marketConditionId }),
    ...(orderStatus === undefined ? {} : { orderStatus }),
    ...(cursor === undefined ? {} : { after: placeOf(cursor) }),
  });
  return { ...pageOf(orders, limit, orderRecord, cursorOf), total };
}

async function ownOrder(deps: Deps, caller: Caller, orderId: string): Promise<OrderRow> {
  const row = await deps.orders.byId(caller.agentId, orderId.toLowerCase());
  if (row === null) throw refusal('order_not_found');
  return row;
}

async function getOrder(deps: Deps, caller: Caller, orderId: string): Promise<OrderDetail> {
  const row = await ownOrder(deps, caller, orderId);
  const fills =
    row.kind === 'quoted' ? await fillsOnChain(deps, row) : await deps.orders.fills(row.funder, row.orderId);
  return { ...orderRecord(row), fills: fills.map(fillRecord), journal: journalOf(row) };
}

interface Outcome {
  canceled: string[];
  notCanceled: Record<string, string>;
  known: boolean;
}

/** Cancels orders wallet by wallet, at each one's venue; each order ends up in one of the two lists. */
async function cancelRows(deps: Deps, rows: readonly OrderRow[]): Promise<Map<WalletAddress, Outcome>> {
  const groups = Map.groupBy(rows, ({ venue, funder }) => `${venue} ${funder}`);
  const outcomes = await Promise.all([...groups.values()].map((orders) => cancelGroup(deps, orders)));
  const byWallet = Map.groupBy(outcomes, ({ wallet }) => wallet);
  return new Map([...byWallet].map(([wallet, some]) => [wallet, merge(some)]));
}

/** @param orders of one wallet on one venue; at least one */
async function cancelGroup(
  deps: Deps,
  orders: readonly OrderRow[],
): Promise<Outcome & { readonly wallet: WalletAddress }> {
  const [{ venue, funder, kind }] = orders as readonly [OrderRow, ...OrderRow[]];
  if (kind === 'quoted') return { wallet: funder, ...(await cancelOnChain(deps, orders)), known: true };
  return { wallet: funder, ...(await cancelAtVenue(venueOf(deps, venue, funder), funder, orders)) };
}

async function cancelAtVenue(
  { cancel }: Venue,
  funder: WalletAddress,
  orders: readonly OrderRow[],
): Promise<Outcome> {
  const notCanceled: Record<string, string> = {};
  for (const order of orders) if (!isOpen(order.status)) notCanceled[order.orderId] = reasonNotOpen(order);
  const open = orders.filter((order) => isOpen(order.status)).map((order) => order.orderId);
  if (open.length === 0) return { canceled: [], notCanceled, known: true };
  if (cancel === undefined) {
    for (const orderId of open) notCanceled[orderId] = 'the venue cannot call an order back';
    return { canceled: [], notCanceled, known: true };
  }
  const answer = await cancel.orders(funder, open);
  if (answer.kind === 'unknown') {
    for (const orderId of open) notCanceled[orderId] = 'the venue gave no answer; ask again';
    return { canceled: [], notCanceled, known: false };
  }
  return {
    canceled: [...answer.canceled],
    notCanceled: { ...notCanceled, ...answer.notCanceled },
    known: true,
  };
}

function reasonNotOpen(order: OrderRow): string {
  if (isInDoubt(order.status)) return 'the order is in doubt; ask again in a moment';
  return `already ${statusWord(order).replaceAll('_', ' ')}`;
}

const merge = (outcomes: Iterable<Outcome>): Outcome => {
  const all: Outcome = { canceled: [], notCanceled: {}, known: true };
  for (const { canceled, notCanceled, known } of outcomes) {
    all.canceled.push(...canceled);
    Object.assign(all.notCanceled, notCanceled);
    all.known &&= known;
  }
  return all;
};

async function cancelOrder(deps: Deps, caller: Caller, orderId: string): Promise<CancelResponse> {
  const row = await ownOrder(deps, caller, orderId);
  const { canceled, notCanceled, known } = merge((await cancelRows(deps, [row])).values());
  return { success: canceled.length > 0, canceled, notCanceled, syncedToMkOrder: known };
}

interface CancelScope {
  readonly venue?: string;
  readonly marketConditionId?: string;
  readonly tokenId?: string;
  readonly walletAddress?: string;
}

async function cancelMarket(deps: Deps, caller: Caller, scope: CancelScope): Promise<CancelMarketResponse> {
  const named = scope.walletAddress;
  const wallet = named === undefined ? undefined : (parseWallet(named) ?? named);
  // A name that is none must not cancel what was meant to stay, nor pass for having canceled anything.
  namedVenue(deps, scope.venue);
  const rows = (await deps.orders.openOfOwner(caller.userId)).filter(
    (row) =>
      row.agentId === caller.agentId &&
      (scope.venue === undefined || row.venue === scope.venue) &&
      (scope.marketConditionId === undefined || row.conditionId === scope.marketConditionId) &&
      (scope.tokenId === undefined || row.tokenId === scope.tokenId) &&
      (wallet === undefined || row.walletAddress === wallet || row.funder === wallet),
  );
  const { canceled, notCanceled, known } = merge((await cancelRows(deps, rows)).values());
  return { canceled, notCanceled, totalCanceled: canceled.length, syncedToMkOrder: known };
}

/** Everything of the owner's on the wallets that the agent reaches, and all of its own. */
async function cancelAll(deps: Deps, caller: Caller): Promise<CancelAllResponse> {
  const open = await deps.orders.openOfOwner(caller.userId);
  const wallets = open.flatMap(({ funder, walletAddress }) => [funder, walletAddress]);
  const reached = await deps.wallets.reachable(caller, [...new Set(wallets)]);
  const outcomes = await cancelRows(
    deps,
    open.filter(
      ({ agentId, funder, walletAddress }) =>
        agentId === caller.agentId || reached.has(funder) || reached.has(walletAddress),
    ),
  );
  const results = [...outcomes].map(([walletAddress, { canceled, notCanceled }]) => ({
    walletAddress,
    canceled,
    notCanceled,
  }));
  const total = results.reduce((sum, { canceled }) => sum + canceled.length, 0);
  return { results, totalCanceled: total, syncedCount: total };
}
