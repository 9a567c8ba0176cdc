/**
 * One group commit: `begin … commit` written to the journal's connection in one go, without waiting in between. It
 * either resolves, and then everything in it is durable, or throws, and then nobody can tell: the caller must give up
 * the lead and start again from what the journal holds.
 */
import type { Entry, Recorder } from '../index.ts';
import type { Lead } from './lead.ts';
import { gatherOrders, type OrderAddition } from './order-records.ts';

/** A price worth remembering. */
export interface PriceTick {
  readonly tokenId: string;
  readonly at: number;
  readonly pips: number;
  /** The market's other token, with the first price of a market that this process records. */
  readonly noTokenId?: string;
}

/** An applied command on its way to the journal. */
export interface JournalRow {
  readonly entry: Entry;
  /** Encoded. */
  readonly command: string;
  readonly prices: readonly PriceTick[];
}

/** A commit that takes longer is taken for lost: a half-open connection says nothing by itself. */
const COMMIT_TIMEOUT_MS = 15_000;
/**
 * Turns of the microtask queue after which the driver has encoded every statement it was given. One that cannot be
 * encoded fails there and then, unsent, while the commit behind it would succeed: so the commit waits for this.
 */
const ENCODING_TURNS = 4;

type Tx = Lead['tx'];

export async function commitRows(
  lead: Lead,
  rows: readonly JournalRow[],
  recorder: Recorder | undefined,
): Promise<void> {
  if (lead.isLost()) throw new Error('the journal’s connection is gone');
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, COMMIT_TIMEOUT_MS, new Error(`no commit within ${COMMIT_TIMEOUT_MS} ms`));
    timer.unref();
  });
  try {
    await Promise.race([pipeline(lead.tx, rows, recorder), lead.lost, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

async function pipeline(tx: Tx, rows: readonly JournalRow[], recorder: Recorder | undefined): Promise<void> {
  const entries = rows.map((row) => row.entry);
  const failures: unknown[] = [];
  const watch = (statement: PromiseLike<unknown>): Promise<void> =>
    Promise.resolve(
      statement.then(
        () => {},
        (error: unknown) => {
          failures.push(error);
        },
      ),
    );
  const statements = [watch(tx`begin`)];
  for (const statement of recorder?.(tx, entries) ?? []) statements.push(watch(statement));
  const own = ownStatements(tx, rows, entries);
  for (const statement of own) statements.push(watch(statement));

  for (let turn = 0; turn < ENCODING_TURNS; turn += 1) await undefined;
  // When the driver held something back (a statement's first use, a full socket), its fate is awaited instead.
  if (!wasSent(own.at(-1))) await Promise.all(statements);
  if (failures.length > 0) throw failures[0];
  const answer = await tx`commit`;
  await Promise.all(statements);
  if (failures.length > 0) throw failures[0];
  // PostgreSQL answers a commit of a failed transaction with ROLLBACK and no error.
  if (answer.command !== 'COMMIT')
    throw new Error(`the journal’s commit was answered with ${answer.command}`);
}

/** The driver notes the connection on a query when it writes it. Unknown to other versions: then false, the safe side. */
const wasSent = (query: unknown): boolean => {
  const state = (query as { readonly state?: unknown } | undefined)?.state;
  return state !== null && state !== undefined;
};

function ownStatements(
  tx: Tx,
  rows: readonly JournalRow[],
  entries: readonly Entry[],
): PromiseLike<unknown>[] {
  const statements: PromiseLike<unknown>[] = [];
  const prices = rows.flatMap((row) => row.prices);
  if (prices.length > 0) statements.push(insertPrices(tx, prices));
  const first = prices.filter(isFirst);
  if (first.length > 0) statements.push(insertTokens(tx, first));
  const orders = gatherOrders(entries);
  const fresh = orders.filter((order) => order.isNew);
  const grown = orders.filter((order) => !order.isNew);
  if (fresh.length > 0) statements.push(insertOrders(tx, fresh));
  if (grown.length > 0) statements.push(extendOrders(tx, grown));
  statements.push(tx`
    insert into exchange_journal (seq, at_ms, command)
    select * from unnest(
      ${entries.map((entry) => String(entry.seq))}::bigint[],
      ${entries.map((entry) => String(entry.at))}::bigint[],
      ${rows.map((row) => row.command)}::text[])`);
  return statements;
}

const insertPrices = (tx: Tx, prices: readonly PriceTick[]): PromiseLike<unknown> => tx`
  insert into exchange_prices (token_id, at_ms, pips)
  select * from unnest(
    ${prices.map((price) => price.tokenId)}::text[],
    ${prices.map((price) => String(price.at))}::bigint[],
    ${prices.map((price) => String(price.pips))}::integer[])
  on conflict do nothing`;

const isFirst = (price: PriceTick): price is PriceTick & { readonly noTokenId: string } =>
  price.noTokenId !== undefined;

const insertTokens = (
  tx: Tx,
  prices: readonly { readonly tokenId: string; readonly noTokenId: string }[],
): PromiseLike<unknown> => tx`
  insert into exchange_tokens (no_token_id, yes_token_id)
  select * from unnest(
    ${prices.map((price) => price.noTokenId)}::text[],
    ${prices.map((price) => price.tokenId)}::text[])
  on conflict do nothing`;

const insertOrders = (tx: Tx, orders: readonly OrderAddition[]): PromiseLike<unknown> => tx`
  insert into exchange_orders (order_id, account, seq, events)
  select * from unnest(
    ${orders.map((order) => order.orderId)}::text[],
    ${orders.map((order) => order.account)}::text[],
    ${orders.map((order) => String(order.seq))}::bigint[],
    ${orders.map((order) => order.lines.join('\n'))}::text[])`;

const extendOrders = (tx: Tx, orders: readonly OrderAddition[]): PromiseLike<unknown> => tx`
  update exchange_orders set events = exchange_orders.events || chr(10) || more.events
  from unnest(
    ${orders.map((order) => order.orderId)}::text[],
    ${orders.map((order) => order.lines.join('\n'))}::text[]) as more (order_id, events)
  where exchange_orders.order_id = more.order_id`;
