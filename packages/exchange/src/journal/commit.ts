/**
 * One group commit: `begin … commit` in one write to the journal's connection, without waiting in between. (That of a turn reads
 * first: turns.ts.) When it resolves, all of it is durable. When it throws after it has taken rows, the state in memory is ahead of
 * the journal, so the caller must release the lead and recover from the journal.
 */
import { arrayOf, commitAll, type Lead, type Take, type Tx } from '@bellwether/durable';
import type { Entry, Recorder } from '../paper-exchange.ts';
import { gatherOrders, type OrderAddition } from './order-records.ts';
import { insertPosted } from './posted-orders.ts';

/** A price to record. */
export interface PriceTick {
  readonly tokenId: string;
  readonly at: number;
  readonly pips: number;
  /** The market's other token, with the first price of a market that this process records. */
  readonly noTokenId?: string;
}

/** An applied command that is not yet journalled. */
export interface JournalRow {
  readonly entry: Entry;
  /** Encoded. */
  readonly command: string;
  readonly prices: readonly PriceTick[];
}

/** Most rows of one commit: bounds its size, and how long the next commit waits. */
const MAX_BATCH_ROWS = 500;

export type Leading = Pick<Lead, 'session' | 'term'>;

/** @throws CommitInDoubt when the connection was lost during the commit; other errors prove that nothing was written */
export async function commitRows(
  { session, term }: Leading,
  take: Take<JournalRow>,
  recorder: Recorder | undefined,
): Promise<void> {
  const rows = take(MAX_BATCH_ROWS);
  const entries = rows.map(({ entry }) => entry);
  const recorded = await recorder?.(entries, { sql: session, term: term.number });
  await commitAll(session, (tx) => [term.assert(tx), ...(recorded?.(tx) ?? []), ...journalRows(tx, rows)]);
}

/** Issues the statements that journal the rows. */
export function journalRows(tx: Tx, rows: readonly JournalRow[]): PromiseLike<unknown>[] {
  if (rows.length === 0) return [];
  const entries = rows.map(({ entry }) => entry);
  const statements: PromiseLike<unknown>[] = [];
  const prices = rows.flatMap((row) => row.prices);
  if (prices.length > 0) statements.push(insertPrices(tx, prices));
  const first = prices.filter(isFirst);
  if (first.length > 0) statements.push(insertTokens(tx, first));
  const orders = gatherOrders(entries);
  const grown = orders.filter((order) => !order.isNew);
  if (grown.length > 0) statements.push(extendOrders(tx, grown));
  const posted = insertPosted(tx, entries);
  if (posted !== undefined) statements.push(posted);
  statements.push(
    insertJournal(
      tx,
      rows,
      orders.filter((order) => order.isNew),
    ),
  );
  return statements;
}

/** The commands and the orders that begin with them: two statements would cost more to start than to run. */
const insertJournal = (
  tx: Tx,
  rows: readonly JournalRow[],
  orders: readonly OrderAddition[],
): PromiseLike<unknown> => tx`
  with begun as (
    insert into exchange_orders (order_id, account, seq, events)
    select * from unnest(
      ${arrayOf('text', orders, (order) => order.orderId)},
      ${arrayOf('text', orders, (order) => order.account)},
      ${arrayOf('int8', orders, (order) => order.seq)},
      ${arrayOf('text', orders, (order) => order.lines.join('\n'))})
  )
  insert into exchange_journal (seq, at_ms, command)
  select * from unnest(
    ${arrayOf('int8', rows, ({ entry }) => entry.seq)},
    ${arrayOf('int8', rows, ({ entry }) => entry.at)},
    ${arrayOf('text', rows, (row) => row.command)})`;

const insertPrices = (tx: Tx, prices: readonly PriceTick[]): PromiseLike<unknown> => tx`
  insert into exchange_prices (token_id, at_ms, pips)
  select * from unnest(
    ${arrayOf('text', prices, (price) => price.tokenId)},
    ${arrayOf('int8', prices, (price) => price.at)},
    ${arrayOf('int4', prices, (price) => price.pips)})
  on conflict do nothing`;

const isFirst = (price: PriceTick): price is PriceTick & { readonly noTokenId: string } =>
  price.noTokenId !== undefined;

const insertTokens = (
  tx: Tx,
  prices: readonly { readonly tokenId: string; readonly noTokenId: string }[],
): PromiseLike<unknown> => tx`
  insert into exchange_tokens (no_token_id, yes_token_id)
  select * from unnest(
    ${arrayOf('text', prices, (price) => price.noTokenId)},
    ${arrayOf('text', prices, (price) => price.tokenId)})
  on conflict do nothing`;

const extendOrders = (tx: Tx, orders: readonly OrderAddition[]): PromiseLike<unknown> => tx`
  update exchange_orders set events = exchange_orders.events || chr(10) || more.events
  from unnest(
    ${arrayOf('text', orders, (order) => order.orderId)},
    ${arrayOf('text', orders, (order) => order.lines.join('\n'))}) as more (order_id, events)
  where exchange_orders.order_id = more.order_id`;
