/** Orders from their rows. */

import type {
  ListedOrder,
  OrderRow,
  QuotedOrderRow,
  SetOrderRow,
  SignedOrderRow,
} from '../domain/records.ts';
import type { OrdersRow } from '../platform/database/rows.generated.ts';
import type { AsJson } from '../platform/database/rows.ts';
import { ms, msOrNull } from '../platform/database/rows.ts';
import { journalEntries } from './order-journal.ts';

/** A table constraint makes sure that each kind has its columns. */
export function orderRow(row: OrdersRow): OrderRow {
  if (row.kind === 'signed') return signedOrderRow(row);
  return row.kind === 'quoted'
    ? { ...orderColumns(row), ...quotedColumns(row) }
    : { ...orderColumns(row), ...setColumns(row, row.kind) };
}

export const signedOrderRow = (row: OrdersRow): SignedOrderRow => ({
  ...orderColumns(row),
  ...signedColumns(row),
});

const signedColumns = (row: ListedOrdersRow) => ({
  kind: 'signed' as const,
  outcome: row.outcome as SignedOrderRow['outcome'],
  timeInForce: row.time_in_force as SignedOrderRow['timeInForce'],
  funder: row.funder as SignedOrderRow['funder'],
  walletAddress: row.wallet_address as SignedOrderRow['walletAddress'],
  signatureType: row.signature_type as SignedOrderRow['signatureType'],
  version: row.version as SignedOrderRow['version'],
});

const quotedColumns = (row: ListedOrdersRow) => ({
  kind: 'quoted' as const,
  outcome: row.outcome as QuotedOrderRow['outcome'],
  timeInForce: row.time_in_force as QuotedOrderRow['timeInForce'],
  funder: row.funder as QuotedOrderRow['funder'],
  walletAddress: row.wallet_address as QuotedOrderRow['walletAddress'],
  isRedemption: row.is_redemption,
});

const setColumns = (row: ListedOrdersRow, kind: SetOrderRow['kind']) => ({
  kind,
  outcome: row.outcome as SetOrderRow['outcome'],
  timeInForce: row.time_in_force as SetOrderRow['timeInForce'],
  funder: row.funder as SetOrderRow['funder'],
  walletAddress: row.wallet_address as SetOrderRow['walletAddress'],
});

const orderColumns = (row: OrdersRow) => ({
  ...listedColumns(row),
  requestId: row.request_id,
  counted: row.reserved_amount,
  first:
    row.first_answer === null
      ? null
      : {
          ...row.first_answer,
          filled: BigInt(row.first_answer.filled),
          cost: BigInt(row.first_answer.cost),
          fees: BigInt(row.first_answer.fees),
        },
  journal: journalEntries(row.journal, row.journal_lines),
  sentAt: ms(row.sent_at ?? row.created_at),
});

/** Lists leave out what only one order's own record shows: its journal and its first answer are long. */
const UNLISTED = [
  'journal',
  'journal_lines',
  'first_answer',
  'request_id',
  'reserved_day',
  'reserved_amount',
  'restricted_by',
  'sent_at',
] as const satisfies readonly (keyof OrdersRow)[];

export type ListedOrdersRow = Omit<OrdersRow, (typeof UNLISTED)[number]>;

/** Every column of `orders` that a list reads. The type makes a missing or unknown one an error. */
const LISTED: Readonly<Record<keyof ListedOrdersRow, 'money' | 'plain'>> = {
  agent_id: 'plain',
  order_id: 'plain',
  user_id: 'money',
  venue: 'plain',
  market_id: 'plain',
  condition_id: 'plain',
  question: 'plain',
  token_id: 'plain',
  outcome: 'plain',
  outcome_name: 'plain',
  side: 'plain',
  is_limit: 'plain',
  time_in_force: 'plain',
  post_only: 'plain',
  defer_exec: 'plain',
  price: 'plain',
  limit_price: 'plain',
  shares: 'money',
  money: 'money',
  funder: 'plain',
  wallet_address: 'plain',
  signature_type: 'plain',
  version: 'plain',
  expiration: 'plain',
  fee_amount: 'money',
  reasoning: 'plain',
  source: 'plain',
  skill_slug: 'plain',
  client_order_id: 'plain',
  cancel_at: 'plain',
  cancel_cause: 'plain',
  created_at: 'plain',
  status: 'plain',
  filled: 'money',
  cost: 'money',
  fees: 'money',
  error_code: 'plain',
  updated_at: 'plain',
  is_redemption: 'plain',
  kind: 'plain',
};

/** The columns of a table with the alias `o`, as text of a statement. */
export const LISTED_COLUMNS = Object.keys(LISTED)
  .map((name) => `o.${name}`)
  .join(', ');

/** The same for lists in JSON, whose numbers cannot hold 64 bits. Names would be half of such a list. */
export const LISTED_JSON_COLUMNS = Object.entries(LISTED)
  .map(([name, kind]) => (kind === 'money' ? `o.${name}::text` : `o.${name}`))
  .join(', ');

export type ListedJson = readonly unknown[];

const LISTED_NAMES = Object.keys(LISTED);

const listedColumns = (row: ListedOrdersRow) => ({
  orderId: row.order_id,
  agentId: row.agent_id,
  userId: row.user_id,
  venue: row.venue,
  marketId: row.market_id,
  conditionId: row.condition_id,
  question: row.question,
  tokenId: row.token_id,
  outcomeName: row.outcome_name,
  side: row.side,
  isLimitOrder: row.is_limit,
  postOnly: row.post_only,
  deferExec: row.defer_exec,
  price: row.price,
  limit: row.limit_price,
  shares: row.shares,
  money: row.money,
  expiration: msOrNull(row.expiration),
  feeAmount: row.fee_amount,
  reasoning: row.reasoning,
  source: row.source,
  skillSlug: row.skill_slug,
  clientOrderId: row.client_order_id,
  cancelAt: msOrNull(row.cancel_at),
  cancelCause: row.cancel_cause as ListedOrder['cancelCause'],
  createdAt: ms(row.created_at),
  status: row.status,
  filled: row.filled,
  cost: row.cost,
  fees: row.fees,
  errorCode: row.error_code,
  updatedAt: ms(row.updated_at),
});

/** A table constraint makes sure that each kind has its columns. */
export function listedOrder(row: ListedOrdersRow): ListedOrder {
  if (row.kind === 'signed') return { ...listedColumns(row), ...signedColumns(row) };
  return row.kind === 'quoted'
    ? { ...listedColumns(row), ...quotedColumns(row) }
    : { ...listedColumns(row), ...setColumns(row, row.kind) };
}

const named = (values: ListedJson): AsJson<ListedOrdersRow> =>
  Object.fromEntries(LISTED_NAMES.map((name, at) => [name, values[at]])) as AsJson<ListedOrdersRow>;

/** From a list of {@link LISTED_JSON_COLUMNS}. */
export function listedOrderFromJson(values: ListedJson): ListedOrder {
  const row = named(values);
  return listedOrder({
    ...row,
    user_id: BigInt(row.user_id),
    shares: BigInt(row.shares),
    money: BigInt(row.money),
    filled: BigInt(row.filled),
    cost: BigInt(row.cost),
    fees: BigInt(row.fees),
    fee_amount: BigInt(row.fee_amount),
    expiration: row.expiration === null ? null : new Date(row.expiration),
    cancel_at: row.cancel_at === null ? null : new Date(row.cancel_at),
    created_at: new Date(row.created_at),
    updated_at: new Date(row.updated_at),
  });
}
