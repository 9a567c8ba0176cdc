/** Quoted orders, read and canceled. No safeguard stands in the way of a cancel. */
import {
  type QuotedCancelRequest,
  type QuotedCancelResponse,
  type QuotedOrder,
  type QuotedOrderDetail,
  VENUE_REFUSALS,
  type VenueRefusal,
} from '@bellwether/contract';
import { MICRO, microToNumber, pipsToNumber } from '@bellwether/contract/decimals';
import { isTerminal, statusNumber, statusWord } from '../domain/lifecycle.ts';
import type { Caller, FillRow, OrderRow, QuotedOrderRow } from '../domain/records.ts';
import { cursorOf, type Page, type PageQuery, PLACES, pageOf, windowOf } from '../platform/http/page.ts';
import { refusal } from '../platform/refusal.ts';
import type { OrderFilter } from '../trading/index.ts';
import { checkedRecord } from '../trading/index.ts';
import { quotingVenue } from '../venues/asking.ts';
import { cancelUnsent, type ExecutableQuote, holderOf, isExecutable, type OutcomeNeeds } from './outcomes.ts';
import type { ChainOrderRow, QuoteRow } from './quote-store.ts';

/** An order with the transaction that it is, and the quote that was signed. */
interface OrderWithTransaction {
  readonly row: QuotedOrderRow;
  readonly chain: ChainOrderRow;
  readonly quote: ExecutableQuote;
}

async function withTransactions(
  needs: Pick<OutcomeNeeds, 'chainOrders' | 'quotes'>,
  all: readonly OrderRow[],
): Promise<OrderWithTransaction[]> {
  const rows = all.filter((row) => row.kind === 'quoted');
  const ids = rows.map((row) => row.orderId);
  const [chains, quotes] = await Promise.all([needs.chainOrders.byIds(ids), needs.quotes.byIds(ids)]);
  const chainOf = new Map(chains.map((chain) => [chain.orderId, chain]));
  const quoteOf = new Map(quotes.map((quote) => [quote.quoteId, quote]));
  return rows.map((row) => withTransaction(row, chainOf.get(row.orderId), quoteOf.get(row.orderId)));
}

function withTransaction(
  row: QuotedOrderRow,
  chain: ChainOrderRow | undefined,
  quote: QuoteRow | undefined,
): OrderWithTransaction {
  if (chain === undefined || quote === undefined || !isExecutable(quote))
    throw new Error('a quoted order has no transaction');
  return { row, chain, quote };
}

function orderRecord({ row, chain, quote }: OrderWithTransaction): QuotedOrder {
  const { amounts, transaction } = quote;
  return {
    orderId: row.orderId,
    venueOrderId: chain.signature,
    quoteId: row.orderId,
    venue: row.venue,
    status: statusWord(row),
    orderStatus: statusNumber(row),
    marketTicker: row.conditionId,
    title: row.question,
    side: row.outcome,
    outcomeName: row.outcomeName,
    action: row.side,
    isRedemption: row.isRedemption,
    inputMint: amounts.inputMint,
    outputMint: amounts.outputMint,
    inAmount: amounts.inAmount.toString(),
    outAmount: amounts.outAmount.toString(),
    minOutAmount: amounts.minOutAmount.toString(),
    filledSize: microToNumber(row.filled),
    filledAmount: microToNumber(row.cost),
    avgPrice: row.filled === 0n ? null : microToNumber((row.cost * MICRO) / row.filled),
    feePaid: microToNumber(row.fees),
    walletAddress: row.walletAddress,
    txSignature: chain.signature,
    txHash: chain.signature,
    lastValidBlockHeight: transaction.lastValidBlockHeight,
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

/** The journal in the words that the order's own status uses. */
export const journalOf = (row: OrderRow): QuotedOrderDetail['journal'] =>
  row.journal.map(({ checked, ...entry }) => ({
    ...entry,
    status: statusWord({ ...row, status: entry.status }),
    ...(isLateCancel(row, entry) ? { detail: WHY_LATE[row.cancelCause ?? 'asked'] } : {}),
    ...(checked === undefined ? {} : { checked: checkedRecord(checked) }),
  }));

const WHY_LATE = {
  asked: 'not filled by cancelAt',
  silence: 'canceled by the desk: the agent had made no request for silenceSeconds',
} as const;

/** The order was canceled because its time was over: by the desk, or by its agent at the same moment. */
const isLateCancel = (
  { cancelAt }: OrderRow,
  { at, status }: Pick<OrderRow['journal'][number], 'at' | 'status'>,
) => cancelAt !== null && status === 'canceled' && Date.parse(at) >= cancelAt;

const fillRecord = (chain: ChainOrderRow, fill: FillRow): QuotedOrderDetail['fills'][number] => ({
  txSignature: chain.fills[fill.tradeId] ?? '',
  price: pipsToNumber(fill.price),
  size: microToNumber(fill.size),
  cost: microToNumber(fill.cost),
  fee: microToNumber(fill.fee),
  filledAt: new Date(fill.filledAt).toISOString(),
});

type QuotedOrderQuery = Pick<OrderFilter, 'conditionId' | 'orderStatus' | 'clientOrderId'> & PageQuery;

export const cursorOfOrder = ({ createdAt, orderId }: Pick<OrderRow, 'createdAt' | 'orderId'>): string =>
  cursorOf({ at: createdAt, id: orderId });

/** @throws Refusal contradictory_filter, invalid_request for a cursor that is none */
export async function listQuotedOrders(
  needs: OutcomeNeeds,
  caller: Caller,
  query: QuotedOrderQuery,
): Promise<Page<QuotedOrder>> {
  const { limit: _, offset: __, cursor: ___, ...filter } = query;
  const { orders, total } = await needs.orders.history(caller.agentId, {
    ...filter,
    ...windowOf(query, PLACES.byOrderId),
    venue: quotingVenue(needs).id,
  });
  const page = pageOf(orders, query, (row) => row, cursorOfOrder);
  return { ...page, items: (await withTransactions(needs, page.items)).map(orderRecord), total };
}

/** By our id, which is the quote's, or by the signature of the transaction: the latter's case matters. */
async function idOf(needs: OutcomeNeeds, caller: Caller, text: string): Promise<string> {
  return UUID.test(text)
    ? text.toLowerCase()
    : ((await needs.chainOrders.orderIdOf(caller.agentId, text)) ?? text);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export async function getQuotedOrder(
  needs: OutcomeNeeds,
  caller: Caller,
  orderId: string,
): Promise<QuotedOrderDetail> {
  const row = await needs.orders.byId(caller.agentId, await idOf(needs, caller, orderId));
  if (row === null || row.kind !== 'quoted') throw refusal('order_not_found');
  const [order] = (await withTransactions(needs, [row])) as [OrderWithTransaction];
  const fills = await fillsOf(needs, order);
  return {
    ...orderRecord(order),
    fills: fills.map((fill) => fillRecord(order.chain, fill)),
    reverts: order.chain.reverts.map(({ signature, mint, amount }) => ({
      txSignature: signature,
      mint,
      amount,
    })),
    journal: journalOf(row),
  };
}

const fillsOf = (needs: OutcomeNeeds, { row, quote }: OrderWithTransaction): Promise<readonly FillRow[]> =>
  needs.orders.fills(holderOf(quote), row.orderId);

/** The fills of a quoted order; they are recorded with the account that received the tokens. */
export async function fillsOnChain(needs: OutcomeNeeds, row: QuotedOrderRow): Promise<readonly FillRow[]> {
  const [order] = (await withTransactions(needs, [row])) as [OrderWithTransaction];
  return fillsOf(needs, order);
}

/** @throws Refusal order_id_required, order_not_found */
export async function cancelQuotedOrder(
  needs: OutcomeNeeds,
  caller: Caller,
  request: QuotedCancelRequest,
): Promise<QuotedCancelResponse> {
  const given = request.orderId ?? request.venueOrderId;
  if (given === undefined) throw refusal('order_id_required');
  const orderId = await idOf(needs, caller, given);
  if (request.orderId !== undefined && request.venueOrderId !== undefined) {
    const other = await idOf(needs, caller, request.venueOrderId);
    if (other !== orderId)
      throw refusal('order_not_found', 'orderId and venueOrderId are not of one order.', {
        path: 'venueOrderId',
      });
  }
  const quote = await needs.quotes.byId(caller.agentId, orderId);
  if (quote === null)
    throw refusal('order_not_found', undefined, {
      path: request.orderId === undefined ? 'venueOrderId' : 'orderId',
    });
  const done = await needs.quotes.withdraw(caller.agentId, orderId, needs.clock.now());
  if (done === 'withdrawn') return { canceled: [orderId], notCanceled: {}, syncedToMkOrder: true };
  if (done === 'already')
    return { canceled: [], notCanceled: { [orderId]: 'already canceled' }, syncedToMkOrder: true };
  const row = await needs.orders.byId(caller.agentId, orderId);
  const outcome = await cancelOnChain(needs, row === null ? [] : [row]);
  return { ...outcome, syncedToMkOrder: true };
}

/** Takes back what no node has been given; the answer for all others says when they are over at the latest. */
export async function cancelOnChain(
  needs: OutcomeNeeds,
  rows: readonly OrderRow[],
): Promise<{ canceled: string[]; notCanceled: Record<string, string> }> {
  const canceled: string[] = [];
  const notCanceled: Record<string, string> = {};
  if (rows.length === 0) return { canceled, notCanceled };
  await Promise.all(
    (await withTransactions(needs, rows)).map(async (order) => {
      const { row, chain } = order;
      const isUnsent = !isTerminal(row.status) && chain.stage === 'sending' && chain.attempts === 0;
      if (isUnsent && (await cancelUnsent(needs, chain))) canceled.push(row.orderId);
      else notCanceled[row.orderId] = reasonNotCanceled(order);
    }),
  );
  return { canceled, notCanceled };
}

function reasonNotCanceled({ row, chain, quote }: OrderWithTransaction): string {
  if (isTerminal(row.status)) return `already ${statusWord(row).replaceAll('_', ' ')}`;
  if (chain.stage !== 'sending')
    return 'the transaction is on the chain; the venue fills it or sends everything back';
  const { deadAt, lastValidBlockHeight } = quote.transaction;
  return (
    'the transaction may have been broadcast and cannot be called back; if it has not landed by block ' +
    `${lastValidBlockHeight}, about ${new Date(deadAt).toISOString()}, it never will`
  );
}
