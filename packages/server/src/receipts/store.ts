/**
 * Chains of receipts, one per agent: read, extended from the log of facts, corrected, and read for an audit.
 *
 * The log is taken piece by piece, in the order of streams (event-log.ts). The place in it is a row. One statement moves it from where
 * this piece began and adds the entries, so the second of two writers adds nothing. Reading takes no transaction: a transaction would
 * delay streams. Times are epoch milliseconds.
 */
import { formatPips } from '@bellwether/contract/decimals';
import { arrayOf, openTransaction } from '@bellwether/durable';
import type { FillRow, OrderRow } from '../domain/records.ts';
import { type Fragment, ms, only, type Sql, type Tx } from '../platform/database/connection.ts';
import type {
  ChainOrdersRow,
  ExitsRow,
  FactsRow,
  FillsRow,
  OrdersRow,
  ReceiptHeadsRow,
  ReceiptLogRow,
  ReceiptsRow,
} from '../platform/database/rows.generated.ts';
import { orderRow } from '../trading/index.ts';

export interface ReceiptRow {
  readonly agentId: string;
  readonly sequence: number;
  readonly kind: string;
  readonly orderId: string | null;
  readonly recordedAt: number;
  /** The canonical JSON of the entry's body. */
  readonly body: string;
  /** 64 hex digits. */
  readonly hash: string;
}

/** Sequence 0 before the first entry. */
export interface ReceiptPlace {
  readonly sequence: number;
  readonly hash: string;
}

/** With the hash of the entry before it. */
export type LinkedReceipt = ReceiptRow & { readonly previousHash: string };

/** With what it has realized. */
export type ReceiptFill = FillRow & { readonly wallet: string; readonly realized: bigint };

/** An order's journal as it is stored. Either part only grows. */
export interface StoredJournal {
  /** As releases before the lines wrote it. */
  readonly earlier: readonly unknown[];
  /** One line for each entry. */
  readonly lines: string;
}

/** A fact of the log about an order, oldest first. Money as text in micro-units. */
export type OrderFact =
  | { readonly kind: 'order'; readonly at: number; readonly payload: OrderChange }
  /** A fill, or what it has realized, counted anew. `null`: it was taken back since. */
  | { readonly kind: 'fill' | 'recount'; readonly at: number; readonly fill: ReceiptFill | null }
  | { readonly kind: 'reversal'; readonly at: number; readonly payload: Readonly<Record<string, string>> };

export interface OrderChange {
  readonly status: string;
  readonly filledSize?: string;
  readonly filledAmount?: string;
  readonly feePaid?: string;
  readonly errorCode?: string;
}

/** One order in a piece of the log, and what its receipt needs. */
export interface ReceiptMatter {
  readonly order: OrderRow;
  /** The id of a quoted order's transaction. */
  readonly transactionId: string | null;
  /** The order has no receipt yet. */
  readonly isFirst: boolean;
  /** The guarded exit whose order it is; `null`: it is none. */
  readonly exit: ReceiptExit | null;
  readonly journal: StoredJournal;
  readonly facts: readonly [OrderFact, ...OrderFact[]];
}

/** A guarded exit, as it stood when its order was sent. */
interface ReceiptExit {
  readonly exitId: string;
  /** Its trigger, and what sent it: prices and book. */
  readonly trigger: Readonly<Record<string, unknown>>;
  readonly fired: Readonly<Record<string, unknown>>;
}

export interface ReceiptPiece {
  /** In the order of their first facts. */
  readonly matters: readonly ReceiptMatter[];
  /** Heads of the agents that they are about; missing: the chain begins. */
  readonly heads: ReadonlyMap<string, ReceiptPlace>;
}

/** An order with its receipts, all made before the log had the order of causes. */
export interface DoubtfulReceipts {
  readonly order: OrderRow;
  /** Oldest first. */
  readonly receipts: readonly Pick<ReceiptRow, 'sequence' | 'body'>[];
  /** The log has the change that led to the order's present state. */
  readonly isLogged: boolean;
}

export interface DoubtfulPiece {
  readonly doubtful: readonly DoubtfulReceipts[];
  readonly heads: ReadonlyMap<string, ReceiptPlace>;
}

/** Stored state of an order that has, or should have, a receipt. */
export interface AuditedOrder {
  readonly orderId: string;
  /** `null`: the row cannot be read, which the desk never writes. */
  readonly order: OrderRow | null;
  readonly journal: StoredJournal;
  readonly transactionId: string | null;
  readonly fills: readonly ReceiptFill[];
  /** It is one of the orders from before there were receipts. */
  readonly isListed: boolean;
}

/** Receipts of all agents. */
export const createReceiptStore = (sql: Sql) => ({
  ...createChains(sql),
  ...createLog(sql),
  ...createCorrections(sql),
});

export type ReceiptStore = ReturnType<typeof createReceiptStore>;

/** Before the first entry of a chain. */
const NO_HASH = '0'.repeat(64);

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const placeOf = (row: ReceiptHeadsRow): ReceiptPlace => ({
  sequence: Number(row.sequence),
  hash: hexOf(row.hash),
});

type Linked = ReceiptsRow & { readonly previous: Uint8Array | null };

/** With the hash of the entry before each. */
const receiptRows = (sql: Sql | Tx, where: Fragment) => sql<Linked[]>`
  select r.*, p.hash as previous from receipts r
  left join receipts p on p.agent_id = r.agent_id and p.sequence = r.sequence - 1 where ${where}`;

function createChains(sql: Sql) {
  const read = async (where: Fragment): Promise<LinkedReceipt[]> =>
    (await receiptRows(sql, where)).map(linkedReceipt);

  return {
    async head(agentId: string): Promise<ReceiptPlace> {
      const [row] = await sql<ReceiptHeadsRow[]>`select * from receipt_heads where agent_id = ${agentId}`;
      return row === undefined ? { sequence: 0, hash: NO_HASH } : placeOf(row);
    },

    /** The entries after a sequence, in their order. */
    page: (agentId: string, after: number, limit: number) =>
      read(sql`r.agent_id = ${agentId} and r.sequence > ${after}::bigint order by r.sequence limit ${limit}`),

    /** Oldest first. */
    ofOrder: (agentId: string, orderId: string) =>
      read(sql`r.order_id = ${orderId} and r.agent_id = ${agentId} order by r.sequence`),
  };
}

const linkedReceipt = (row: Linked): LinkedReceipt => ({
  agentId: row.agent_id,
  sequence: Number(row.sequence),
  kind: row.kind,
  orderId: row.order_id,
  recordedAt: ms(row.recorded_at),
  body: row.body,
  hash: hexOf(row.hash),
  previousHash: row.previous === null ? NO_HASH : hexOf(row.previous),
});

type Fact = Pick<FactsRow, 'seq' | 'agent_id' | 'kind' | 'subject' | 'at'> & {
  readonly writer: string;
  readonly payload: Readonly<Record<string, unknown>>;
};
interface ChainPlace {
  readonly at_writer: string;
  readonly at_seq: bigint;
  readonly horizon: string;
}
type NoFact = { readonly [Name in keyof Fact]: null };

/** Takes the log of facts piece by piece, and adds what is made of it to the chains. */
const createLog = (sql: Sql) => ({
  /**
   * Takes the next piece of the log and adds what `link` makes of it: each fact is in the chains once, through all failures and
   * whichever replica does it.
   * @returns how many facts were read, when the newest of them was, and false when another process has added this piece
   */
  async extend(
    most: number,
    link: (piece: ReceiptPiece) => readonly ReceiptRow[],
  ): Promise<{ readonly facts: number; readonly newestAt: number | null; readonly isMine: boolean }> {
    const read = await sql<(ChainPlace & (Fact | NoFact))[]>`
      select l.writer::text as at_writer, l.seq as at_seq, h.horizon::text as horizon, f.seq, f.writer::text as writer,
        f.agent_id, f.kind, f.subject, f.at, f.payload
      from receipt_log l cross join (select pg_snapshot_xmin(pg_current_snapshot()) as horizon) h
      left join lateral (
        select * from facts where writer >= l.writer and (writer, seq) > (l.writer, l.seq) and writer < h.horizon
        order by writer, seq limit ${most}) f on true
      order by f.writer, f.seq`;
    const [place] = read;
    if (place === undefined) throw new Error('receipt_log has no row');
    const facts = read.filter((row): row is ChainPlace & Fact => row.seq !== null);
    const last = facts.at(-1);
    // After a dump was restored, whose transactions are counted anew, the chains go on with what comes next.
    const isRewound = BigInt(place.at_writer) > BigInt(place.horizon);
    if (last === undefined && !isRewound) return { facts: 0, newestAt: null, isMine: true };
    const matters = await mattersOf(sql, facts);
    const heads = await headsOf(sql, [...new Set(matters.map(({ order }) => order.agentId))]);
    const rows = link({ matters, heads });
    const upTo =
      last !== undefined && facts.length >= most
        ? { writer: last.writer, seq: last.seq }
        : { writer: place.horizon, seq: 0n };
    const isMine = await writePiece(sql, { place, upTo, rows });
    return {
      facts: facts.length,
      newestAt: last === undefined ? null : ms(last.at),
      isMine,
    };
  },
});

const KINDS: ReadonlySet<string> = new Set(['order', 'fill', 'reversal', 'recount']);

async function mattersOf(sql: Sql, facts: readonly Fact[]): Promise<ReceiptMatter[]> {
  const reported = facts.filter(({ kind }) => KINDS.has(kind));
  const ids = [...new Set(reported.map(({ subject }) => subject))];
  if (ids.length === 0) return [];
  const filled = reported.filter(({ kind }) => kind === 'fill' || kind === 'recount');
  const [orders, fills, known, chains, exits] = await Promise.all([
    sql<OrdersRow[]>`/* receipts */ select * from orders where order_id = any(${arrayOf('text', ids)})`,
    sql<
      FillsRow[]
    >`/* receipts */ select f.* from unnest(${arrayOf('text', filled, ({ payload }) => String(payload.walletAddress))},
        ${arrayOf('text', filled, ({ subject }) => subject)}, ${arrayOf('text', filled, ({ payload }) => String(payload.tradeId))})
        as t(wallet, order_id, trade_id)
      join fills f on f.wallet = t.wallet and f.order_id = t.order_id and f.trade_id = t.trade_id::bigint`,
    sql<
      Pick<ReceiptsRow, 'order_id'>[]
    >`select distinct order_id from receipts where order_id = any(${arrayOf('text', ids)})`,
    sql<
      Pick<ChainOrdersRow, 'order_id' | 'signature'>[]
    >`/* receipts */ select order_id, signature from chain_orders
      where order_id = any(${arrayOf('text', ids)})`,
    sql<
      SentExit[]
    >`/* receipts */ select agent_id, order_id, exit_id, trigger_kind, trigger_price, trigger_at,
        trigger_minutes, fired
      from exits where order_id = any(${arrayOf('text', ids)}) and fired is not null`,
  ]);
  const exitOf = new Map(exits.map((row) => [`${row.agent_id} ${row.order_id}`, receiptExit(row)]));
  const orderOf = new Map(orders.map((row) => [row.order_id, row]));
  const isKnown = new Set(known.map((row) => row.order_id));
  const signatureOf = new Map(chains.map((row) => [row.order_id, row.signature]));
  const fillOf = new Map(
    fills.map((row) => [keyOfFill(row.wallet, row.order_id, String(row.trade_id)), row]),
  );
  const factsOf = new Map<string, [OrderFact, ...OrderFact[]]>();
  for (const fact of reported) {
    // Fills without an order of the desk, such as redemptions, are in no order's receipt.
    if (orderOf.get(fact.subject)?.agent_id !== fact.agent_id) continue;
    const before = factsOf.get(fact.subject);
    if (before === undefined) factsOf.set(fact.subject, [orderFact(fact, fillOf)]);
    else before.push(orderFact(fact, fillOf));
  }
  return [...factsOf].map(([id, list]) => ({
    order: orderRow(orderOf.get(id) as OrdersRow),
    journal: storedJournal(orderOf.get(id) as OrdersRow),
    transactionId: signatureOf.get(id) ?? null,
    isFirst: !isKnown.has(id),
    exit: exitOf.get(`${orderOf.get(id)?.agent_id} ${id}`) ?? null,
    facts: list,
  }));
}

type SentExit = Pick<
  ExitsRow,
  | 'agent_id'
  | 'order_id'
  | 'exit_id'
  | 'trigger_kind'
  | 'trigger_price'
  | 'trigger_at'
  | 'trigger_minutes'
  | 'fired'
>;

const receiptExit = (row: SentExit): ReceiptExit => ({
  exitId: row.exit_id,
  trigger: {
    kind: row.trigger_kind,
    ...(row.trigger_price === null ? {} : { price: formatPips(row.trigger_price) }),
    ...(row.trigger_at === null ? {} : { at: row.trigger_at.toISOString() }),
    ...(row.trigger_minutes === null ? {} : { minutes: row.trigger_minutes }),
  },
  fired: row.fired as ReceiptExit['fired'],
});

const keyOfFill = (wallet: string, orderId: string, tradeId: string): string =>
  `${wallet} ${orderId} ${tradeId}`;

function orderFact({ kind, subject, at, payload }: Fact, fills: ReadonlyMap<string, FillsRow>): OrderFact {
  if (kind === 'order') return { kind, at: ms(at), payload: payload as never };
  if (kind === 'reversal') return { kind, at: ms(at), payload: payload as never };
  const row = fills.get(keyOfFill(String(payload.walletAddress), subject, String(payload.tradeId)));
  return {
    kind: kind === 'recount' ? kind : 'fill',
    at: ms(at),
    fill: row === undefined ? null : receiptFill(row),
  };
}

const storedJournal = (row: OrdersRow): StoredJournal => ({
  earlier: row.journal,
  lines: row.journal_lines,
});

const receiptFill = (row: FillsRow) => ({
  wallet: row.wallet,
  tradeId: Number(row.trade_id),
  price: row.price,
  size: row.size,
  cost: row.cost,
  fee: row.fee,
  realized: row.realized,
  liquidity: row.liquidity,
  matchKind: row.match_kind,
  filledAt: ms(row.filled_at),
});

async function headsOf(sql: Sql, agentIds: readonly string[]): Promise<ReadonlyMap<string, ReceiptPlace>> {
  if (agentIds.length === 0) return new Map();
  const rows = await sql<
    ReceiptHeadsRow[]
  >`select * from receipt_heads where agent_id = any(${[...agentIds]}::uuid[])`;
  return new Map(rows.map((row) => [row.agent_id, placeOf(row)]));
}

interface Written {
  readonly place: ChainPlace;
  readonly upTo: { readonly writer: string; readonly seq: bigint };
  readonly rows: readonly ReceiptRow[];
}

/** @returns false where the place has moved meanwhile */
const writePiece = async (sql: Sql, { place, upTo, rows }: Written): Promise<boolean> =>
  only(
    await sql<
      { readonly added: boolean }[]
    >`select add_receipts(${place.at_writer}::text::xid8, ${place.at_seq},
      ${upTo.writer}::text::xid8, ${upTo.seq}, ${columnsOf(sql, rows)}) as added`,
  ).added;

/** As the functions that add receipts take them. */
const columnsOf = (sql: Sql, rows: readonly ReceiptRow[]) => sql`
  ${arrayOf('uuid', rows, (row) => row.agentId)}, ${arrayOf('int8', rows, (row) => BigInt(row.sequence))},
  ${arrayOf('text', rows, (row) => row.kind)}, ${arrayOf('text', rows, (row) => row.orderId)},
  ${arrayOf('timestamptz', rows, (row) => new Date(row.recordedAt))}, ${arrayOf('text', rows, (row) => row.body)},
  ${arrayOf('text', rows, (row) => row.hash)}`;

interface CorrectedPlace {
  readonly writer: string;
  readonly seq: bigint;
  readonly uncorrected_after: string | null;
}
type Doubtful = OrdersRow & { readonly is_logged: boolean; readonly is_pending: boolean };

/** Reads the receipts that may have to be corrected, order by order, and adds what corrects them. */
const createCorrections = (sql: Sql) => ({
  /**
   * Takes the next orders whose receipts were made before the log had the order of causes, and adds what `link` makes of them.
   * Orders of which the log has something that is in no receipt yet are left out.
   * @returns false once all were looked at
   */
  async correct(most: number, link: (piece: DoubtfulPiece) => readonly ReceiptRow[]): Promise<boolean> {
    const place = only(
      await sql<CorrectedPlace[]>`select writer::text as writer, seq, uncorrected_after from receipt_log`,
    );
    const { uncorrected_after: after } = place;
    if (after === null) return false;
    const orders = await sql<Doubtful[]>`
      select o.*, p.is_pending, exists (
        select 1 from facts f where f.agent_id = o.agent_id and f.kind = 'order' and f.at = o.updated_at
          and f.subject = o.order_id
          and change_of_order(f.payload) = order_change(o.status, o.filled, o.cost, o.fees, o.error_code)) as is_logged
      from (select * from orders where order_id > ${after} order by order_id limit ${most}) o
      cross join lateral (select exists (
        select 1 from facts f where f.agent_id = o.agent_id and f.subject = o.order_id
          and f.writer >= ${place.writer}::text::xid8
          and (f.writer, f.seq) > (${place.writer}::text::xid8, ${place.seq}::bigint)) as is_pending) p
      order by o.order_id`;
    const ids = orders.filter((row) => !row.is_pending).map((row) => row.order_id);
    const reported = await sql<Pick<ReceiptsRow, 'order_id' | 'sequence' | 'body'>[]>`
      select order_id, sequence, body from receipts where order_id = any(${ids}::text[]) order by sequence`;
    const receiptsOf = Map.groupBy(reported, (row) => row.order_id);
    const doubtful = orders.flatMap((row): DoubtfulReceipts[] => {
      const receipts = receiptsOf.get(row.order_id)?.map(({ sequence, body }) => ({
        sequence: Number(sequence),
        body,
      }));
      return receipts === undefined ? [] : [{ order: orderRow(row), receipts, isLogged: row.is_logged }];
    });
    const heads = await headsOf(sql, [...new Set(doubtful.map(({ order }) => order.agentId))]);
    const next = orders.length < most ? null : (orders.at(-1)?.order_id ?? null);
    await writeCorrections(sql, { place, next, rows: link({ doubtful, heads }) });
    return true;
  },
});

interface Corrected {
  readonly place: CorrectedPlace;
  readonly next: string | null;
  readonly rows: readonly ReceiptRow[];
}

/** Where another process was faster, nothing is added: the next turn looks again. */
const writeCorrections = (sql: Sql, { place, next, rows }: Corrected): PromiseLike<unknown> =>
  sql`select correct_receipts(${place.writer}::text::xid8, ${place.seq}::bigint, ${place.uncorrected_after}, ${next}::text,
    ${columnsOf(sql, rows)})`;

type Audited = OrdersRow & { readonly signature: string | null; readonly is_listed: boolean };

/** Gives `work` what is stored as of one moment, in one transaction that changes nothing. */
export async function readForAudit<T>(sql: Sql, work: (reads: AuditReads) => Promise<T>): Promise<T> {
  const { tx, rollback } = openTransaction(sql);
  try {
    await tx`set transaction isolation level repeatable read read only`;
    await tx`set local statement_timeout = 0`;
    const log = only(await tx<ReceiptLogRow[]>`select * from receipt_log`);
    return await work(readsOf(tx, ms(log.began_at)));
  } finally {
    await rollback();
  }
}

/** A row that somebody wrote past the desk may hold anything. */
function readable(row: OrdersRow): OrderRow | null {
  try {
    return orderRow(row);
  } catch {
    return null;
  }
}

export type AuditReads = ReturnType<typeof readsOf>;

const readsOf = (tx: Tx, beganAt: number) => ({
  /** Orders recorded before then have no receipts, or incomplete ones. */
  beganAt,

  async agents(): Promise<readonly string[]> {
    const rows = await tx<{ readonly agent_id: string }[]>`
      select agent_id from receipt_heads union select agent_id from receipts
      union select agent_id from orders order by agent_id`;
    return rows.map((row) => row.agent_id);
  },

  /** As it is recorded beside the chain; `null`: not recorded. */
  async head(agentId: string): Promise<ReceiptPlace | null> {
    const [row] = await tx<ReceiptHeadsRow[]>`select * from receipt_heads where agent_id = ${agentId}`;
    return row === undefined ? null : placeOf(row);
  },

  async page(agentId: string, after: number, limit: number): Promise<LinkedReceipt[]> {
    const rows = await receiptRows(
      tx,
      tx`r.agent_id = ${agentId} and r.sequence > ${after}::bigint order by r.sequence limit ${limit}`,
    );
    return rows.map(linkedReceipt);
  },

  /** Orders of which the log says something that is in no receipt yet. */
  async pending(agentId: string): Promise<ReadonlySet<string>> {
    const rows = await tx<{ readonly subject: string }[]>`
      select distinct f.subject from receipt_log l cross join lateral (
        select subject from facts where agent_id = ${agentId} and writer >= l.writer and (writer, seq) > (l.writer, l.seq)
          and kind in ('order', 'fill', 'reversal', 'recount') offset 0) f`;
    return new Set(rows.map(({ subject }) => subject));
  },

  /** Sorted. */
  async orderIds(agentId: string): Promise<readonly string[]> {
    // By the index on an agent's orders, and sorted then: each page by its ids, independently of other agents.
    const rows = await tx<{ readonly order_id: string }[]>`
      select o.order_id from (select order_id from orders where agent_id = ${agentId} offset 0) o order by 1`;
    return rows.map((row) => row.order_id);
  },

  async orders(agentId: string, ids: readonly string[]): Promise<AuditedOrder[]> {
    const rows = await tx<Audited[]>`
      select o.*, c.signature, b.order_id is not null as is_listed
      from unnest(${[...ids]}::text[]) as t(order_id) join orders o using (order_id)
      left join chain_orders c using (order_id)
      left join orders_before_receipts b using (order_id)
      where o.agent_id = ${agentId} order by o.order_id`;
    const fills = await tx<FillsRow[]>`select * from fills
      where order_id = any(${[...ids]}::text[]) and agent_id = ${agentId}`;
    const fillsOf = Map.groupBy(fills, (fill) => fill.order_id);
    return rows.map((row) => ({
      orderId: row.order_id,
      order: readable(row),
      journal: storedJournal(row),
      transactionId: row.signature,
      fills: (fillsOf.get(row.order_id) ?? []).map(receiptFill),
      isListed: row.is_listed,
    }));
  },
});
