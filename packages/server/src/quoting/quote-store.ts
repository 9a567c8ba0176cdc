/**
 * The progress of quoted orders' transactions. Several replicas work on the same rows: each leases some of them, and
 * records a change under a lock on the row, together with the evidence for it.
 */

import type { Micro } from '@bellwether/contract/decimals';
import { transact } from '@bellwether/durable';
import type { SolanaAddress } from '@bellwether/protocol';
import type { Evidence, ResolutionEvidence } from '../domain/evidence.ts';
import type { VenueId } from '../domain/market.ts';
import { type ColumnValues, ms, msOrNull, type Sql, type Tx } from '../platform/database/connection.ts';
import { createBatches } from '../platform/database/grouped-reads.ts';
import type { ChainOrdersRow, QuotesRow, TradedMarketsRow } from '../platform/database/rows.generated.ts';
import { recordEvidence } from '../trading/index.ts';
import type { QuotedAmounts } from '../venues/quotes.ts';

/** A query of the signatures that the desk may still ask a chain for: of orders and charges that have not ended. */
export const AWAITED_SIGNATURES = `
  select signature from chain_orders where stage <> 'done'
  union all select unnest(dead_signatures || signature) from fee_charges where status <> 'landed'`;

/** Orders in one statement or transaction. */
const BATCH = 64;
/** A batch does not wait longer for a row that others lock: its orders then go on one by one. */
const LOCK_TIMEOUT = '250ms';
/** How long a submit waits for the end of a cancel. */
const PATIENCE = '1s';

export function createChainOrderStore(sql: Sql) {
  const begin = createBatches<Begin, boolean>({
    run: (begins) => beginAll(sql, begins),
    keyOf: ({ orderId }) => orderId,
    maxItems: BATCH,
  });
  const advance = createBatches<Move, boolean>({
    run: (moves) => transact(sql, (tx) => advanceAll(tx, moves)),
    keyOf: ({ seen }) => seen.orderId,
    maxItems: BATCH,
  });
  return {
    async byIds(orderIds: readonly string[]): Promise<readonly ChainOrderRow[]> {
      const rows = await sql<
        ChainOrdersRow[]
      >`select * from chain_orders where order_id = any(${[...orderIds]}::text[])`;
      return rows.map(chainOrderRow);
    },

    /** The agent's order with this transaction id. */
    async orderIdOf(agentId: string, signature: string): Promise<string | null> {
      const [row] = await sql<Pick<ChainOrdersRow, 'order_id'>[]>`
        select order_id from chain_orders where signature = ${signature} and agent_id = ${agentId}`;
      return row === undefined ? null : row.order_id;
    },

    /** Leases the due rows to the caller; no other caller gets them before the lease ends. */
    async claim({
      at,
      leaseMs,
      limit,
    }: {
      readonly at: number;
      readonly leaseMs: number;
      readonly limit: number;
    }): Promise<readonly ChainOrderRow[]> {
      // Usually nothing is due: then this is one read of an empty index.
      const rows = await sql<ChainOrdersRow[]>`
        update chain_orders c set due_at = ${new Date(at + leaseMs)}
        from (select order_id from chain_orders where stage <> 'done' and due_at <= ${new Date(at)}
              order by due_at limit ${limit} for update skip locked) due
        where c.order_id = due.order_id returning c.*`;
      return rows.map(chainOrderRow);
    },

    /**
     * Records that a send begins, before it does, and until when other processes leave the order alone.
     * @returns the orders that may be sent: not canceled, not seen on the chain
     */
    async beginSend(orderIds: readonly string[], at: number, dueAt: number): Promise<ReadonlySet<string>> {
      const begun = await Promise.all(orderIds.map((orderId) => begin({ orderId, at, dueAt })));
      return new Set(orderIds.filter((_, nth) => begun[nth]));
    },

    /** Waits, at most a second, until no other transaction changes the row. @throws where it lasts longer */
    async onceUnlocked(orderId: string): Promise<void> {
      await transact(sql, async (tx) => {
        tx.unsafe(`set local lock_timeout = '${PATIENCE}'`).execute();
        await tx`select 1 from chain_orders where order_id = ${orderId} for share`;
      });
    },

    /** Sets when each order is checked next. */
    async postpone(orders: readonly { readonly orderId: string; readonly dueAt: number }[]): Promise<void> {
      if (orders.length === 0) return;
      const batch = orders.map(({ orderId, dueAt }) => ({
        order_id: orderId,
        due_at: new Date(dueAt).toISOString(),
      }));
      await sql`
        update chain_orders c set due_at = t.due_at
        from jsonb_to_recordset(${sql.json(batch)}) as t(order_id text, due_at timestamptz)
        where c.order_id = t.order_id and c.stage <> 'done'`;
    },

    /**
     * Writes evidence and advances the row in one transaction, under a lock on the row, and only if the row is still in
     * the state that the caller read: so two replicas, or one that died half way, never record anything twice.
     * @returns false when the row has changed.
     */
    advance,

    /** Condition ids of the venue's markets that were traded here and whose outcome is not recorded yet. */
    async unresolved(venue: VenueId, limit: number): Promise<readonly string[]> {
      const rows = await sql<Pick<TradedMarketsRow, 'condition_id'>[]>`
        select condition_id from traded_markets where venue = ${venue} and payout is null
        order by end_date limit ${limit}`;
      return rows.map((row) => row.condition_id);
    },

    /** Records outcomes of markets; a recorded outcome never changes. */
    async resolve(resolutions: readonly ResolutionEvidence[]): Promise<void> {
      await transact(sql, async (tx) => {
        // Another replica may record the same outcome: the lock makes sure that agents get one event.
        const open = await tx<Pick<TradedMarketsRow, 'condition_id'>[]>`
          select condition_id from traded_markets
          where condition_id = any(${resolutions.map(({ conditionId }) => conditionId)}::text[]) and payout is null
          order by condition_id for update`;
        const unwritten = new Set(open.map((row) => row.condition_id));
        const fresh = resolutions.filter(({ conditionId }) => unwritten.has(conditionId));
        const evidence = { outcomes: [], fills: [], markets: [], deposits: [], resolutions: fresh };
        await recordEvidence(tx, evidence);
      });
    },
  };
}

interface Begin {
  readonly orderId: string;
  readonly at: number;
  readonly dueAt: number;
}

/** @returns for each whether it may be sent. A row that is being changed may not: its next turn comes when it is due. */
async function beginAll(sql: Sql, begins: readonly Begin[]): Promise<boolean[]> {
  const batch = begins.map(({ orderId, at, dueAt }) => ({
    order_id: orderId,
    at: new Date(at).toISOString(),
    due_at: new Date(dueAt).toISOString(),
  }));
  const rows = await sql<Pick<ChainOrdersRow, 'order_id'>[]>`
    update chain_orders c set attempts = c.attempts + 1, sent_at = t.at, due_at = t.due_at
    from (
      select o.order_id, t.at, t.due_at
      from jsonb_to_recordset(${sql.json(batch)}) as t(order_id text, at timestamptz, due_at timestamptz)
      cross join lateral (select order_id from chain_orders
        where order_id = t.order_id and stage = 'sending' for update skip locked) o
    ) t
    where c.order_id = t.order_id returning c.order_id`;
  const begun = new Set(rows.map((row) => row.order_id));
  return begins.map(({ orderId }) => begun.has(orderId));
}

interface Move {
  readonly seen: ChainOrderRow;
  readonly evidence: Evidence;
  readonly to: Pick<ChainOrderRow, 'stage' | 'fills' | 'reverts'>;
  readonly dueAt: number;
  readonly at: number;
}

/** @returns for each whether its row was still as the caller had read it */
async function advanceAll(tx: Tx, moves: readonly Move[]): Promise<boolean[]> {
  if (moves.length > 1) tx.unsafe(`set local lock_timeout = '${LOCK_TIMEOUT}'`).execute();
  const rows = await tx<Pick<ChainOrdersRow, 'order_id' | 'stage' | 'attempts' | 'fills'>[]>`
    select order_id, stage, attempts, fills from chain_orders
    where order_id = any(${moves.map(({ seen }) => seen.orderId)}::text[]) order by order_id for update`;
  const rowOf = new Map(rows.map((row) => [row.order_id, row]));
  const isUnmoved = ({ seen }: Move): boolean => {
    const row = rowOf.get(seen.orderId);
    return (
      row !== undefined &&
      row.stage === seen.stage &&
      row.fills.length === seen.fills.length &&
      // A transaction that was unsent when the caller read the row may have been sent since.
      (seen.attempts > 0 || row.attempts === 0)
    );
  };
  const done = moves.map(isUnmoved);
  const moved = moves.filter((_, nth) => done[nth]);
  if (moved.length > 0) await Promise.all([recordEvidence(tx, togetherOf(moved)), writeMoves(tx, moved)]);
  return done;
}

/** Evidence of several orders, in their order. */
function togetherOf(moves: readonly Move[]): Evidence {
  const all = moves.map(({ evidence }) => evidence);
  return {
    outcomes: all.flatMap(({ outcomes }) => outcomes),
    fills: all.flatMap(({ fills }) => fills),
    markets: all.flatMap(({ markets }) => markets),
    resolutions: all.flatMap(({ resolutions }) => resolutions),
    deposits: all.flatMap(({ deposits }) => deposits),
  };
}

function writeMoves(tx: Tx, moves: readonly Move[]): PromiseLike<unknown> {
  const batch = moves.map(({ seen, to, dueAt, at }) => ({
    order_id: seen.orderId,
    stage: to.stage,
    fills: to.fills,
    reverts: to.reverts,
    due_at: new Date(dueAt).toISOString(),
    at: new Date(at).toISOString(),
  }));
  return tx`update chain_orders c set stage = t.stage, fills = t.fills, reverts = t.reverts, due_at = t.due_at,
      landed_at = case when t.stage = 'landed' then coalesce(c.landed_at, t.at) else c.landed_at end
    from jsonb_to_recordset(${tx.json(batch)})
      as t(order_id text, stage text, fills text[], reverts jsonb, due_at timestamptz, at timestamptz)
    where c.order_id = t.order_id`;
}

const chainOrderRow = (row: ChainOrdersRow): ChainOrderRow => ({
  orderId: row.order_id,
  agentId: row.agent_id,
  signature: row.signature,
  wire: row.wire,
  stage: row.stage,
  attempts: row.attempts,
  sentAt: msOrNull(row.sent_at),
  landedAt: msOrNull(row.landed_at),
  fills: row.fills,
  reverts: row.reverts,
});

interface Revert {
  readonly signature: string;
  readonly mint: string;
  /** Micro-units as text. */
  readonly amount: string;
}

/** `sending`: until it is seen on the chain or dead. `landed`: until the venue has filled or reverted all of it. */
type ChainStage = 'sending' | 'landed' | 'done';

export interface ChainOrderRow {
  readonly orderId: string;
  readonly agentId: string;
  readonly signature: string;
  readonly wire: Uint8Array;
  readonly stage: ChainStage;
  /** Number of sends begun. While it is 0, no node can have the transaction. */
  readonly attempts: number;
  readonly sentAt: number | null;
  readonly landedAt: number | null;
  /** Signatures of the recorded fills; the n-th is trade n. */
  readonly fills: readonly string[];
  readonly reverts: readonly Revert[];
}

export type ChainOrderStore = ReturnType<typeof createChainOrderStore>;

// Quotes: what was offered to which agent, and the exact bytes to sign.

/** The columns of a left join without a row. */
type NoChainOrder = { readonly [Name in Exclude<keyof ChainOrdersRow, 'agent_id'>]: null };

export function createQuoteStore(sql: Sql) {
  return {
    async add(quote: Omit<QuoteRow, 'withdrawn'>): Promise<void> {
      await sql`insert into quotes ${sql(quoteColumns(quote))}`;
    },

    async byId(agentId: string, quoteId: string): Promise<QuoteRow | null> {
      const [row] = await sql<
        QuotesRow[]
      >`select * from quotes where quote_id = ${quoteId} and agent_id = ${agentId}`;
      return row === undefined ? null : quoteRow(row);
    },

    /** @param signature of the transaction handed in; `null` when it has none */
    async toSubmit(
      agentId: string,
      quoteId: string,
      signature: string | null,
    ): Promise<SubmittedQuote | null> {
      const [row] = await sql<
        (QuotesRow & (ChainOrdersRow | NoChainOrder) & { readonly twin: string | null })[]
      >`
        select c.*, q.*,
          (select order_id from chain_orders t where t.signature = ${signature}::text and t.agent_id = ${agentId}) as twin
        from quotes q left join chain_orders c on c.order_id = q.quote_id
        where q.quote_id = ${quoteId} and q.agent_id = ${agentId}`;
      if (row === undefined) return null;
      return {
        quote: quoteRow(row),
        submitted: row.order_id === null ? null : chainOrderRow(row),
        twin: row.twin,
      };
    },

    /** The quotes of any agent's orders. */
    async byIds(quoteIds: readonly string[]): Promise<readonly QuoteRow[]> {
      return (
        await sql<QuotesRow[]>`select * from quotes where quote_id = any(${[...quoteIds]}::text[])`
      ).map(quoteRow);
    },

    /** Takes the agent's lock, so a submit comes either before it or sees it. `used`: the quote has become an order. */
    withdraw: (agentId: string, quoteId: string, at: number): Promise<'withdrawn' | 'already' | 'used'> =>
      transact(sql, async (tx) => {
        await tx`select 1 from safeguards where agent_id = ${agentId} for no key update`;
        const [quote] = await tx<(Pick<QuotesRow, 'withdrawn_at'> & { readonly used: boolean })[]>`
          select withdrawn_at, exists (select 1 from orders where order_id = quote_id) as used
          from quotes where quote_id = ${quoteId} and agent_id = ${agentId}`;
        if (quote === undefined) throw new Error('there is no such quote');
        if (quote.used) return 'used';
        if (quote.withdrawn_at !== null) return 'already';
        await tx`update quotes set withdrawn_at = ${new Date(at)} where quote_id = ${quoteId}`;
        return 'withdrawn';
      }) as Promise<'withdrawn' | 'already' | 'used'>,

    /** Deletes unused quotes that expired before this time. */
    async sweep(expiredBefore: number): Promise<void> {
      await sql`delete from quotes q where expires_at < ${new Date(expiredBefore)}
        and not exists (select 1 from orders o where o.order_id = q.quote_id)`;
    },
  };
}

function quoteColumns(quote: Parameters<QuoteStore['add']>[0]): ColumnValues {
  const { amounts, transaction } = quote;
  return {
    quote_id: quote.quoteId,
    agent_id: quote.agentId,
    ticker: quote.ticker,
    title: quote.title,
    end_date: quote.endDate === null ? null : new Date(quote.endDate),
    outcome: quote.outcome,
    side: quote.side,
    asked: quote.asked,
    wallet: quote.wallet,
    destination: quote.destination,
    mints: quote.mints === null ? null : [...quote.mints],
    outcomes: quote.outcomes === null ? null : [...quote.outcomes],
    input_mint: amounts?.inputMint ?? null,
    output_mint: amounts?.outputMint ?? null,
    in_amount: amounts?.inAmount ?? null,
    out_amount: amounts?.outAmount ?? null,
    min_out_amount: amounts?.minOutAmount ?? null,
    is_redemption: amounts?.isRedemption ?? false,
    message: transaction === null ? null : Buffer.from(transaction.message),
    last_valid_block_height: transaction?.lastValidBlockHeight ?? null,
    withheld: transaction?.withheld == null ? null : Buffer.from(transaction.withheld),
    dead_at: transaction === null ? null : new Date(transaction.deadAt),
    error_code: quote.errorCode,
    created_at: new Date(quote.createdAt),
    expires_at: new Date(quote.expiresAt),
  };
}

const quoteRow = (row: QuotesRow): QuoteRow => ({
  quoteId: row.quote_id,
  agentId: row.agent_id,
  ticker: row.ticker,
  title: row.title,
  endDate: msOrNull(row.end_date),
  outcome: row.outcome,
  side: row.side,
  asked: row.asked,
  wallet: row.wallet,
  destination: row.destination,
  mints: row.mints,
  outcomes: row.outcomes,
  amounts:
    row.input_mint === null ||
    row.output_mint === null ||
    row.in_amount === null ||
    row.out_amount === null ||
    row.min_out_amount === null
      ? null
      : {
          inputMint: row.input_mint,
          outputMint: row.output_mint,
          inAmount: row.in_amount,
          outAmount: row.out_amount,
          minOutAmount: row.min_out_amount,
          isRedemption: row.is_redemption,
        },
  transaction:
    row.message === null || row.dead_at === null
      ? null
      : {
          message: row.message,
          lastValidBlockHeight: Number(row.last_valid_block_height),
          deadAt: ms(row.dead_at),
          withheld: row.withheld,
        },
  errorCode: row.error_code,
  createdAt: ms(row.created_at),
  expiresAt: ms(row.expires_at),
  withdrawn: row.withdrawn_at !== null,
});

export interface QuoteRow {
  /** The desk's id; an order made from the quote has the same id. */
  readonly quoteId: string;
  readonly agentId: string;
  readonly ticker: string;
  readonly title: string;
  /** When its market ends; `null` when the market is not known. */
  readonly endDate: number | null;
  readonly outcome: 'YES' | 'NO';
  readonly side: 'BUY' | 'SELL';
  /** The requested amount: collateral for a BUY, contracts for a SELL. */
  readonly asked: Micro;
  readonly wallet: SolanaAddress | null;
  /** The recipient, when it is not the wallet. */
  readonly destination: SolanaAddress | null;
  /** [YES, NO]; `null` when the market is not known. */
  readonly mints: readonly [string, string] | null;
  /** The venue's names of these; `null`: not known. */
  readonly outcomes: readonly string[] | null;
  /** `null` on a degraded quote. */
  readonly amounts: QuotedAmounts | null;
  /** The transaction to sign; `null` on previews and degraded quotes. */
  readonly transaction: {
    readonly message: Uint8Array;
    readonly lastValidBlockHeight: number;
    /** When the blockhash is expected to be too old. */
    readonly deadAt: number;
    /** The whole transaction, where its agent may not have it before the owner approves; `null`: its agent has it. */
    readonly withheld: Uint8Array | null;
  } | null;
  readonly errorCode: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly withdrawn: boolean;
}

/** Facts that a submit needs before it takes the agent's lock. */
interface SubmittedQuote {
  readonly quote: QuoteRow;
  /** The transaction that was submitted for this quote before. */
  readonly submitted: ChainOrderRow | null;
  /** The agent's order with the signature asked for. */
  readonly twin: string | null;
}

export type QuoteStore = ReturnType<typeof createQuoteStore>;
