/**
 * Takes the log of facts piece by piece, in the order of streams (event-log.ts), and writes the receipts that are made of it.
 * The place in the log is a row. One statement moves it from where this piece began and adds the entries, so whoever comes
 * second adds nothing; reading takes no transaction, which would keep streams waiting.
 */
import type {
  OrderFact,
  ReceiptLog,
  ReceiptMatter,
  ReceiptPlace,
  ReceiptRow,
  StoredJournal,
} from '../../ports/receipts.ts';
import type { Sql } from './connection.ts';
import { hexOf } from './receipt-store.ts';
import type {
  ChainOrdersRow,
  FactsRow,
  FillsRow,
  OrdersRow,
  ReceiptHeadsRow,
  ReceiptsRow,
} from './rows.generated.ts';
import { ms, only, orderRow } from './rows.ts';

type Fact = Pick<FactsRow, 'seq' | 'agent_id' | 'kind' | 'subject' | 'at'> & {
  readonly writer: string;
  readonly payload: Readonly<Record<string, unknown>>;
};
interface Place {
  readonly at_writer: string;
  readonly at_seq: bigint;
  readonly horizon: string;
}
type NoFact = { readonly [Name in keyof Fact]: null };

export const createReceiptLog = (sql: Sql): ReceiptLog => ({
  async extend(most, link) {
    const read = await sql<(Place & (Fact | NoFact))[]>`
      select l.writer::text as at_writer, l.seq as at_seq, h.horizon::text as horizon, f.seq, f.writer::text as writer,
        f.agent_id, f.kind, f.subject, f.at, f.payload
      from receipt_log l cross join (select pg_snapshot_xmin(pg_current_snapshot()) as horizon) h
      left join lateral (
        select * from facts where writer >= l.writer and (writer, seq) > (l.writer, l.seq) and writer < h.horizon
        order by writer, seq limit ${most}) f on true
      order by f.writer, f.seq`;
    const [place] = read;
    if (place === undefined) throw new Error('receipt_log has no row');
    const facts = read.filter((row): row is Place & Fact => row.seq !== null);
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
  const told = facts.filter(({ kind }) => KINDS.has(kind));
  const ids = [...new Set(told.map(({ subject }) => subject))];
  if (ids.length === 0) return [];
  const filled = told.filter(({ kind }) => kind === 'fill' || kind === 'recount');
  const [orders, fills, known, chains] = await Promise.all([
    sql<OrdersRow[]>`/* receipts */ select * from orders where order_id = any(${ids}::text[])`,
    sql<
      FillsRow[]
    >`/* receipts */ select f.* from unnest(${filled.map(({ payload }) => String(payload.walletAddress))}::text[],
        ${filled.map(({ subject }) => subject)}::text[], ${filled.map(({ payload }) => String(payload.tradeId))}::text[])
        as t(wallet, order_id, trade_id)
      join fills f on f.wallet = t.wallet and f.order_id = t.order_id and f.trade_id = t.trade_id::bigint`,
    sql<
      Pick<ReceiptsRow, 'order_id'>[]
    >`select distinct order_id from receipts where order_id = any(${ids}::text[])`,
    sql<
      Pick<ChainOrdersRow, 'order_id' | 'signature'>[]
    >`/* receipts */ select order_id, signature from chain_orders
      where order_id = any(${ids}::text[])`,
  ]);
  const orderOf = new Map(orders.map((row) => [row.order_id, row]));
  const isKnown = new Set(known.map((row) => row.order_id));
  const signatureOf = new Map(chains.map((row) => [row.order_id, row.signature]));
  const fillOf = new Map(
    fills.map((row) => [keyOfFill(row.wallet, row.order_id, String(row.trade_id)), row]),
  );
  const factsOf = new Map<string, [OrderFact, ...OrderFact[]]>();
  for (const fact of told) {
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
    facts: list,
  }));
}

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

export const storedJournal = (row: OrdersRow): StoredJournal => ({
  earlier: row.journal,
  lines: row.journal_lines,
});

export const receiptFill = (row: FillsRow) => ({
  wallet: row.wallet,
  tradeId: String(row.trade_id),
  price: row.price,
  size: row.size,
  cost: row.cost,
  fee: row.fee,
  realized: row.realized,
  liquidity: row.liquidity,
  matchKind: row.match_kind,
  filledAt: ms(row.filled_at),
});

export async function headsOf(
  sql: Sql,
  agentIds: readonly string[],
): Promise<ReadonlyMap<string, ReceiptPlace>> {
  if (agentIds.length === 0) return new Map();
  const rows = await sql<
    ReceiptHeadsRow[]
  >`select * from receipt_heads where agent_id = any(${[...agentIds]}::uuid[])`;
  return new Map(
    rows.map((row) => [row.agent_id, { sequence: Number(row.sequence), hash: hexOf(row.hash) }]),
  );
}

interface Written {
  readonly place: Place;
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
export const columnsOf = (sql: Sql, rows: readonly ReceiptRow[]) => sql`
  ${rows.map((row) => row.agentId)}::uuid[], ${rows.map((row) => row.sequence)}::bigint[],
  ${rows.map((row) => row.kind)}::text[], ${rows.map((row) => row.orderId)}::text[],
  ${rows.map((row) => new Date(row.recordedAt))}::timestamptz[], ${rows.map((row) => row.body)}::text[],
  ${rows.map((row) => row.hash)}::text[]`;
