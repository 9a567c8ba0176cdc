/**
 * The venue's orders in PostgreSQL: issued with a quote, opened by their transaction, closed by the settlement. A step
 * that depends on a transaction is a statement in that transaction's commit.
 */
import type { Sql } from '@bellwether/durable';
import type { ConditionId, Outcome } from '@bellwether/exchange';
import type { Statement } from '../solana/index.ts';

export type OrderKind = 'BUY' | 'SELL' | 'REDEEM';

/** The terms that a quote promised and its landed transaction requests. Amounts in atoms. */
export interface Terms {
  /** SHA-256 of the message, hex. */
  readonly messageHash: string;
  readonly kind: OrderKind;
  readonly ticker: string;
  readonly conditionId: ConditionId;
  readonly outcome: Outcome;
  readonly wallet: string;
  /** The wallets that receive the output, and the rest of the input. */
  readonly recipient: string;
  readonly refund: string;
  readonly inAmount: bigint;
  readonly minOut: bigint;
  readonly lastValidBlockHeight: number;
}

/** The end of an order, by one transaction. */
export interface Closing {
  readonly filledIn: bigint;
  readonly filledOut: bigint;
  readonly fee: bigint;
  /** Atoms of the input mint that were returned unfilled; excludes the change of a complete fill. */
  readonly reverted: bigint;
}

export interface OrderRow extends Terms, Closing {
  readonly status: 'issued' | 'open' | 'closed' | 'failed';
  readonly signature: string | null;
  readonly closingSignature: string | null;
  /** Epoch milliseconds. */
  readonly closedAt: number | null;
}

type Row = Readonly<Record<string, unknown>>;

const text = (amount: bigint | number): string => String(amount);
const amount = (value: unknown): bigint => BigInt(value as string | bigint);

const rowOf = (row: Row): OrderRow => ({
  messageHash: row.message_hash as string,
  status: row.status as OrderRow['status'],
  kind: row.kind as OrderKind,
  ticker: row.ticker as string,
  conditionId: row.condition_id as ConditionId,
  outcome: row.outcome as Outcome,
  wallet: row.wallet as string,
  recipient: row.recipient as string,
  refund: row.refund as string,
  inAmount: amount(row.in_amount),
  minOut: amount(row.min_out),
  lastValidBlockHeight: Number(row.last_valid_block_height),
  signature: row.signature as string | null,
  closingSignature: row.closing_signature as string | null,
  closedAt: row.closed_ms === null ? null : Number(row.closed_ms),
  filledIn: amount(row.filled_in),
  filledOut: amount(row.filled_out),
  fee: amount(row.fee),
  reverted: amount(row.reverted),
});

/**
 * Opens the orders whose transactions landed, in the same commit; a transaction that landed without effect fails its
 * order. Messages without a quote, or that landed before, change nothing. The value is a list of `LandedRow`s.
 */
export const LANDING = `
  update sandbox_orders set
    status = case when landed.succeeded then 'open' else 'failed' end,
    signature = landed.signature, due_ms = landed.at_ms
  from json_to_recordset($1::text::json) as landed (message_hash text, signature text, succeeded boolean, at_ms bigint)
  where sandbox_orders.message_hash = landed.message_hash and sandbox_orders.status = 'issued'`;

export class Orders {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async issue(terms: Terms): Promise<void> {
    await this.#sql`
      insert into sandbox_orders (message_hash, status, kind, ticker, condition_id, outcome, wallet, recipient, refund,
        in_amount, min_out, last_valid_block_height)
      values (${terms.messageHash}, 'issued', ${terms.kind}, ${terms.ticker}, ${terms.conditionId}, ${terms.outcome},
        ${terms.wallet}, ${terms.recipient}, ${terms.refund}, ${text(terms.inAmount)}::bigint,
        ${text(terms.minOut)}::bigint, ${text(terms.lastValidBlockHeight)}::bigint)`;
  }

  /** Deletes issued orders that can no longer land. */
  async prune(blockHeight: number): Promise<void> {
    await this.#sql`
      delete from sandbox_orders
      where status = 'issued' and last_valid_block_height < ${text(blockHeight)}::bigint`;
  }

  /** @param upTo selects orders that landed, or were postponed, until then @param without leaves these out */
  async due(upTo: number, limit: number, without: readonly string[]): Promise<OrderRow[]> {
    const rows = await this.#sql`
      select * from sandbox_orders where status = 'open' and due_ms <= ${text(upTo)}::bigint
        and message_hash <> all(${[...without]}::text[])
      order by due_ms, message_hash limit ${limit}`;
    return rows.map(rowOf);
  }

  /** Epoch milliseconds, to be read as `upTo`; `null` when nothing is open. */
  async nextDue(without: readonly string[]): Promise<number | null> {
    const [row] = await this.#sql`select min(due_ms) as due from sandbox_orders
      where status = 'open' and message_hash <> all(${[...without]}::text[])`;
    return row?.due === null || row?.due === undefined ? null : Number(row.due);
  }

  async postpone(hash: string, until: number): Promise<void> {
    await this.#sql`
      update sandbox_orders set due_ms = ${text(until)}::bigint where message_hash = ${hash} and status = 'open'`;
  }

  /** Fails its commit when the order is not open: an ended order must not be paid twice. */
  close(hash: string, closing: Closing & { signature: string; at: number }): Statement {
    const { signature, at, filledIn, filledOut, fee, reverted } = closing;
    return {
      text: `
        with moved as (
          update sandbox_orders set
            status = 'closed', closing_signature = $2, closed_ms = $3::text::bigint,
            filled_in = $4::text::bigint, filled_out = $5::text::bigint,
            fee = $6::text::bigint, reverted = $7::text::bigint
          where message_hash = $1 and status = 'open' returning 1)
        select 1 / count(*) from moved`,
      values: [hash, signature, ...[at, filledIn, filledOut, fee, reverted].map(text)],
    };
  }

  async bySignature(signature: string): Promise<OrderRow | null> {
    const [row] = await this.#sql`select * from sandbox_orders where signature = ${signature}`;
    return row === undefined ? null : rowOf(row);
  }

  /** Whether this market has an open trade; redemptions do not count. */
  async isTrading(conditionId: ConditionId): Promise<boolean> {
    const rows = await this.#sql`
      select 1 from sandbox_orders
      where condition_id = ${conditionId} and status = 'open' and kind <> 'REDEEM' limit 1`;
    return rows.length > 0;
  }

  /** Orders that filled, fully or partially. */
  async fills(query: {
    readonly wallet: string | null;
    readonly ticker: string | null;
    readonly eventTicker: string | null;
    readonly limit: number;
    readonly offset: number;
    readonly ascending: boolean;
  }): Promise<OrderRow[]> {
    const sql = this.#sql;
    const { wallet, ticker, eventTicker } = query;
    const rows = await sql`
      select * from sandbox_orders
      where filled_out > 0
        ${wallet === null ? sql`` : sql`and wallet = ${wallet}`}
        ${ticker === null ? sql`` : sql`and ticker = ${ticker}`}
        ${eventTicker === null ? sql`` : sql`and starts_with(ticker, ${`${eventTicker}-`})`}
      order by closed_ms ${query.ascending ? sql`asc` : sql`desc`}, message_hash
      limit ${query.limit} offset ${query.offset}`;
    return rows.map(rowOf);
  }
}

/**
 * The sandbox venue's tables. Idempotent: the migration may run it at every start.
 *
 * - sandbox_orders: every transaction that was issued with a quote, by the SHA-256 of its message, and its state:
 *   issued → open (it landed) → closed (filled, reverted or both), or failed (it landed without effect). Issued
 *   orders are deleted once their blockhash is dead. An open order is filled `fillDelayMs` after `due_ms`: the time at
 *   which it landed or to which it was postponed.
 * - sandbox_markets: the markets whose mints exist; needed after the exchange has dropped them.
 *   `released`: the vault no longer backs the losing outcome.
 * - sandbox_credits: wallets that received their simulation balance.
 */
export const DFLOW_SANDBOX_SCHEMA = `
create table if not exists sandbox_orders (
  message_hash text primary key,
  status text not null,
  kind text not null,
  ticker text not null,
  condition_id text not null,
  outcome text not null,
  wallet text not null,
  recipient text not null,
  refund text not null,
  in_amount bigint not null,
  min_out bigint not null,
  last_valid_block_height bigint not null,
  signature text unique,
  due_ms bigint,
  closed_ms bigint,
  closing_signature text,
  filled_in bigint not null default 0,
  filled_out bigint not null default 0,
  fee bigint not null default 0,
  reverted bigint not null default 0
);
create index if not exists sandbox_orders_due on sandbox_orders (due_ms) where status = 'open';
create index if not exists sandbox_orders_issued on sandbox_orders (last_valid_block_height) where status = 'issued';
create index if not exists sandbox_orders_closed on sandbox_orders (closed_ms) where filled_out > 0;
create table if not exists sandbox_markets (
  condition_id text primary key,
  ticker text not null unique,
  yes_mint text not null unique,
  no_mint text not null unique,
  facts text not null,
  payout text,
  resolved_ms bigint,
  released boolean not null default false
);
create table if not exists sandbox_credits (
  wallet text primary key
);
`;
