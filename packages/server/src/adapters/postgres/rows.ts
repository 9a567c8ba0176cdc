/** Rows of the tables as the stores' records. */
import type { CredentialRow, KeyRow, OrderRow, QuotedOrderRow, SignedOrderRow } from '../../ports/stores.ts';

/** A row as the driver gives it: columns of known types, read once and typed here. */
// biome-ignore lint/suspicious/noExplicitAny: the driver's rows have no types; this file is where they get them
export type Row = Record<string, any>;

const ms = (value: Date): number => value.getTime();

export const keyRow = (row: Row): KeyRow => ({
  id: row.id,
  name: row.name,
  prefix: row.key_prefix,
  suffix: row.key_suffix,
  status: row.status,
  createType: row.create_type,
  createdAt: ms(row.created_at),
  lastCalledAt: ms(row.last_called_at),
});

export const credentialRow = (row: Row): CredentialRow => ({
  walletAddress: row.wallet_address,
  userId: row.user_id,
  eoa: row.eoa,
  funder: row.funder,
  signatureType: row.signature_type,
  apiKeyHash: row.api_key_hash,
  sealed: { keyId: row.key_id, bytes: row.sealed },
  registeredAt: ms(row.registered_at),
});

export const orderRow = (row: Row): OrderRow =>
  row.kind === 'signed' ? signedOrderRow(row) : quotedOrderRow(row);

export const signedOrderRow = (row: Row): SignedOrderRow => ({
  ...orderColumns(row),
  kind: 'signed',
  funder: row.funder,
  walletAddress: row.wallet_address,
  signatureType: row.signature_type,
  version: row.version,
});

const quotedOrderRow = (row: Row): QuotedOrderRow => ({
  ...orderColumns(row),
  kind: 'quoted',
  funder: row.funder,
  walletAddress: row.wallet_address,
  isRedemption: row.is_redemption,
});

const orderColumns = (row: Row) => ({
  orderId: row.order_id,
  agentId: row.agent_id,
  userId: row.user_id,
  venue: row.venue,
  marketId: row.market_id,
  conditionId: row.condition_id,
  question: row.question,
  tokenId: row.token_id,
  outcome: row.outcome,
  side: row.side,
  isLimitOrder: row.is_limit,
  timeInForce: row.time_in_force,
  postOnly: row.post_only,
  deferExec: row.defer_exec,
  price: row.price,
  limit: row.limit_price,
  shares: row.shares,
  money: row.money,
  expiration: row.expiration === null ? null : ms(row.expiration),
  feeAmount: row.fee_amount,
  reasoning: row.reasoning,
  source: row.source,
  skillSlug: row.skill_slug,
  requestId: row.request_id,
  createdAt: ms(row.created_at),
  status: row.status,
  filled: row.filled,
  cost: row.cost,
  fees: row.fees,
  errorCode: row.error_code,
  first:
    row.first_answer === null
      ? null
      : {
          success: row.first_answer.success,
          status: row.first_answer.status,
          filled: BigInt(row.first_answer.filled),
          cost: BigInt(row.first_answer.cost),
          fees: BigInt(row.first_answer.fees),
          errorCode: row.first_answer.errorCode,
        },
  journal: row.journal,
  updatedAt: ms(row.updated_at),
});
