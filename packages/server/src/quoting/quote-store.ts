/** Quotes: what was offered to which agent, and the exact bytes to sign. */

import type { Micro } from '@bellwether/contract/decimals';
import { transact } from '@bellwether/durable';
import type { SolanaAddress } from '@bellwether/protocol';
import type { Sql } from '../platform/database/connection.ts';
import type { ChainOrdersRow, QuotesRow } from '../platform/database/rows.generated.ts';
import { type ColumnValues, ms, msOrNull } from '../platform/database/rows.ts';
import type { QuotedAmounts } from '../venues/quotes.ts';
import type { ChainOrderRow } from './chain-order-store.ts';
import { chainOrderRow } from './chain-order-store.ts';

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
export interface SubmittedQuote {
  readonly quote: QuoteRow;
  /** The transaction that was submitted for this quote before. */
  readonly submitted: ChainOrderRow | null;
  /** The agent's order with the signature asked for. */
  readonly twin: string | null;
}

export type QuoteStore = ReturnType<typeof createQuoteStore>;
