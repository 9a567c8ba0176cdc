/** Orders at a live venue: what it said of them, and who follows them. */
import { DatabaseError, openTransaction, type Transaction } from '@bellwether/durable';
import type { Evidence } from '../domain/evidence.ts';
import { FIRST_STATUS } from '../domain/lifecycle.ts';
import type { VenueId } from '../domain/market.ts';
import type { NewSignedOrder } from '../domain/records.ts';
import { msOrNull, type Sql, type Tx } from '../platform/database/connection.ts';
import type {
  CredentialsRow,
  OrdersRow,
  VenueOrdersRow,
  VenueTradesRow,
} from '../platform/database/rows.generated.ts';
import type {
  FollowedWallet,
  KeptAside,
  KnownTrade,
  LiveChange,
  LiveOrder,
  LiveOrderLog,
  OrderEnd,
} from '../venues/live-orders.ts';
import { keepPlans } from './admission-reads.ts';
import { signedOrderRow } from './order-store.ts';
import { evidenceWrites } from './outcomes.ts';

const NOTHING: Pick<Evidence, 'resolutions' | 'deposits'> = { resolutions: [], deposits: [] };

export function createLiveOrderLog(sql: Sql, venue: VenueId): LiveOrderLog {
  const read = async (on: Sql | Tx, ids: readonly string[], locks: boolean) => {
    // Sent together; the later two see what the lock waited for.
    const orderIds = [...ids];
    const [orders, standings, trades] = await Promise.all([
      locks
        ? on<OrdersRow[]>`select * from orders where order_id = any(${orderIds}::text[]) and venue = ${venue}
            and kind = 'signed' order by order_id for no key update`
        : on<OrdersRow[]>`select * from orders where order_id = any(${orderIds}::text[]) and venue = ${venue}
            and kind = 'signed'`,
      on<VenueOrdersRow[]>`select * from venue_orders where order_id = any(${orderIds}::text[])`,
      on<VenueTradesRow[]>`select * from venue_trades where order_id = any(${orderIds}::text[])`,
    ]);
    return known(orders, standings, trades);
  };

  return {
    venue,

    async update(orderIds, decide, recorded = new Map()) {
      if (orderIds.every((id) => recorded.has(id))) {
        const unanswered = new Map([...recorded].map(([id, order]) => [id, asRecorded(order)]));
        const after = await updateUnanswered(sql, unanswered, decide);
        if (after !== null) return after;
      }
      return updateIn(openTransaction(sql), (tx) => read(tx, orderIds, true), decide);
    },

    find: (orderIds) => read(sql, orderIds, false),

    async unfinished(walletAddress) {
      const rows = await sql<Pick<VenueOrdersRow, 'order_id'>[]>`
        select order_id from venue_orders
        where venue = ${venue} and wallet_address = ${walletAddress} and not is_final`;
      return [
        ...(
          await read(
            sql,
            rows.map((row) => row.order_id),
            false,
          )
        ).values(),
      ];
    },

    async withHeldTrades({ limit, offset, after }) {
      const beyond =
        after === undefined
          ? sql``
          : sql`and (o.created_at, o.order_id) > (${new Date(after.at)}, ${after.id})`;
      const [rows, counted] = await Promise.all([
        sql<Pick<OrdersRow, 'order_id'>[]>`
          select o.order_id from orders o where o.venue = ${venue} ${beyond}
            and o.order_id in (select order_id from venue_trades where aside_state = 'held')
          order by o.created_at, o.order_id limit ${limit} offset ${offset}`,
        sql<{ readonly total: number }[]>`
          select count(*)::int as total from venue_trades t join orders o using (order_id)
          where o.venue = ${venue} and t.aside_state = 'held'`,
      ]);
      const ids = rows.map((row) => row.order_id);
      const found = await read(sql, ids, false);
      return { orders: ids.flatMap((id) => found.get(id) ?? []), total: counted[0]?.total ?? 0 };
    },

    async wallet(walletAddress) {
      const [row] = await sql<CredentialsRow[]>`
        select * from credentials where wallet_address = ${walletAddress}`;
      return row === undefined ? null : followed(row);
    },

    async account(address) {
      const [row] = await sql<CredentialsRow[]>`
        select * from credentials where wallet_address = ${address} or funder = ${address}
        order by wallet_address = ${address} desc, wallet_address limit 1`;
      return row === undefined ? null : followed(row);
    },

    async lease(holder, most, forMs) {
      // The database's clock alone decides, so clocks of replicas are never compared.
      const rows = await sql<{ readonly wallet_address: string }[]>`
        with wanted as materialized (
          select distinct wallet_address from venue_orders where venue = ${venue} and not is_final
        ), renewed as (
          update venue_followers f set leased_until = clock_timestamp() + ${forMs} * interval '1 millisecond'
          from wanted w where f.venue = ${venue} and f.wallet_address = w.wallet_address and f.holder = ${holder}
          returning f.wallet_address
        ), taken as (
          insert into venue_followers as f (venue, wallet_address, holder, leased_until)
          select ${venue}, w.wallet_address, ${holder}, clock_timestamp() + ${forMs} * interval '1 millisecond'
          from wanted w
          where not exists (select 1 from venue_followers x where x.venue = ${venue}
            and x.wallet_address = w.wallet_address and (x.holder = ${holder} or x.leased_until > clock_timestamp()))
          order by w.wallet_address limit greatest(${most} - (select count(*) from renewed), 0)
          on conflict (venue, wallet_address) do update set holder = excluded.holder, leased_until = excluded.leased_until
            where f.leased_until <= clock_timestamp()
          returning f.wallet_address
        ), gone as (
          delete from venue_followers f where f.venue = ${venue} and f.holder = ${holder}
            and not exists (select 1 from wanted w where w.wallet_address = f.wallet_address)
        )
        select wallet_address from renewed union all select wallet_address from taken`;
      return rows.map((row) => row.wallet_address);
    },

    async release(holder, walletAddresses) {
      await sql`delete from venue_followers where venue = ${venue} and holder = ${holder}
        and wallet_address = any(${[...walletAddresses]}::text[])`;
    },
  };
}

type Decide = Parameters<LiveOrderLog['update']>[1];

async function updateIn(
  { tx, commit, rollback }: Transaction,
  find: (tx: Tx) => Promise<ReadonlyMap<string, LiveOrder>> | ReadonlyMap<string, LiveOrder>,
  decide: Decide,
): Promise<ReadonlyMap<string, LiveOrder>> {
  let after: Map<string, LiveOrder>;
  try {
    issue([keepPlans(tx)]);
    const found = await find(tx);
    after = new Map(found);
    const changes: (readonly [LiveOrder, LiveChange])[] = [];
    for (const [orderId, order] of found) {
      const change = decide(order);
      if (change === null) continue;
      changes.push([order, change]);
      after.set(orderId, changed(order, change));
    }
    if (changes.length === 0) {
      void rollback();
      return after;
    }
    await write(tx, changes);
  } catch (error) {
    await rollback();
    throw error;
  }
  // Behind the writes in the same trip.
  await commit();
  return after;
}

/** SQLSTATE of `require_unanswered`. */
const IS_ANSWERED = 'BW003';

/**
 * The same for orders of which nothing was heard when they were last seen, in the trip of the writes: the database refuses all of it where
 * anything was recorded of one of them meanwhile. @returns `null`: nothing was written, and what is recorded of them was not read
 */
async function updateUnanswered(
  sql: Sql,
  orders: ReadonlyMap<string, LiveOrder>,
  decide: Decide,
): Promise<ReadonlyMap<string, LiveOrder> | null> {
  const require = (tx: Tx) => {
    issue([tx`select require_unanswered(${[...orders.keys()]}::text[])`]);
    return orders;
  };
  try {
    const after = await updateIn(openTransaction(sql), require, decide);
    return [...after].some(([id, order]) => order !== orders.get(id)) ? after : null;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === IS_ANSWERED) return null;
    throw error;
  }
}

/** As the desk records an order before it is sent. */
const asRecorded = (order: NewSignedOrder): LiveOrder => ({
  order: {
    ...order,
    ...{ status: FIRST_STATUS, filled: 0n, cost: 0n, fees: 0n },
    ...{ errorCode: null, first: null, updatedAt: order.createdAt, sentAt: order.createdAt },
  },
  venue: null,
  trades: new Map(),
});

const followed = (row: CredentialsRow): FollowedWallet => ({
  walletAddress: row.wallet_address,
  eoa: row.eoa,
  funder: row.funder,
  signatureType: row.signature_type,
  userId: row.user_id,
  sealed: { keyId: row.key_id, bytes: row.sealed },
});

function known(
  orders: readonly OrdersRow[],
  standings: readonly VenueOrdersRow[],
  trades: readonly VenueTradesRow[],
): Map<string, LiveOrder> {
  const standingOf = new Map(standings.map((row) => [row.order_id, row]));
  const tradesOf = Map.groupBy(trades, (row) => row.order_id);
  return new Map(
    orders.map((row) => {
      const standing = standingOf.get(row.order_id);
      return [
        row.order_id,
        {
          order: signedOrderRow(row),
          venue:
            standing === undefined
              ? null
              : {
                  matched: standing.matched,
                  ended: standing.ended as OrderEnd | null,
                  isCounted: standing.is_counted,
                  missingSince: msOrNull(standing.missing_since),
                  isFinal: standing.is_final,
                },
          trades: new Map(
            (tradesOf.get(row.order_id) ?? []).map((trade) => [trade.trade_id, tradeOf(trade)]),
          ),
        },
      ];
    }),
  );
}

const tradeOf = (row: VenueTradesRow): KnownTrade => ({
  tradeId: row.trade_id,
  nth: row.nth,
  status: row.status as KnownTrade['status'],
  size: row.size,
  cost: row.cost,
  fee: row.fee,
  isCounted: row.is_counted,
  aside: row.aside_state === null ? null : asideOf(row),
});

/** JSON has no 64-bit integers. */
interface AsideJson {
  readonly why: string;
  readonly since: number;
  readonly said: Readonly<Record<'size' | 'cost' | 'fee', string>> &
    Pick<KeptAside['said'], 'price' | 'liquidity' | 'matchedAt'>;
}

function asideOf({ aside, aside_state }: VenueTradesRow): KeptAside {
  const { why, since, said } = aside as AsideJson;
  const amounts = { size: BigInt(said.size), cost: BigInt(said.cost), fee: BigInt(said.fee) };
  return { state: aside_state as KeptAside['state'], why, since, said: { ...said, ...amounts } };
}

function asideJson(aside: KeptAside | null): AsideJson | null {
  if (aside === null) return null;
  const { why, since, said } = aside;
  const amounts = {
    size: said.size.toString(),
    cost: said.cost.toString(),
    fee: said.fee.toString(),
  };
  return { why, since, said: { ...said, ...amounts } };
}

/** The order as it is once the change is written. */
function changed({ order, trades }: LiveOrder, change: LiveChange): LiveOrder {
  let after = order;
  for (const one of change.evidence.outcomes)
    after = {
      ...after,
      status: one.status,
      filled: after.filled + one.filled,
      cost: after.cost + one.cost,
      fees: after.fees + one.fees,
      errorCode: after.errorCode ?? one.errorCode,
      first: after.first ?? one.first,
      updatedAt: one.at,
    };
  return {
    order: after,
    venue: change.venue,
    trades: new Map([...trades, ...change.trades.map((trade) => [trade.tradeId, trade] as const)]),
  };
}

const iso = (at: number): string => new Date(at).toISOString();

/** Resolves when all statements are sent: it waits only to read the positions of fills. */
async function write(tx: Tx, changes: readonly (readonly [LiveOrder, LiveChange])[]): Promise<void> {
  const standings = changes.map(([{ order }, { venue: said }]) => ({
    order_id: order.orderId,
    venue: order.venue,
    wallet_address: order.walletAddress,
    matched: said.matched.toString(),
    ended: said.ended,
    is_counted: said.isCounted,
    missing_since: said.missingSince === null ? null : iso(said.missingSince),
    is_final: said.isFinal,
  }));
  const trades = changes.flatMap(([{ order }, change]) =>
    change.trades.map((trade) => ({
      order_id: order.orderId,
      trade_id: trade.tradeId,
      nth: trade.nth.toString(),
      status: trade.status,
      size: trade.size.toString(),
      cost: trade.cost.toString(),
      fee: trade.fee.toString(),
      is_counted: trade.isCounted,
      aside_state: trade.aside?.state ?? null,
      aside: asideJson(trade.aside),
    })),
  );
  const reversals = changes.flatMap(([{ order }, change]) =>
    change.reversals.map((reversal) => ({ ...reversal, tokenId: order.tokenId })),
  );
  const evidence = changes.map(([, change]) => change.evidence);
  const statements = [
    tx`insert into venue_orders as v (order_id, venue, wallet_address, matched, ended, is_counted, missing_since, is_final)
      select * from jsonb_to_recordset(${tx.json(standings)}) as t(order_id text, venue text, wallet_address text,
        matched bigint, ended text, is_counted boolean, missing_since timestamptz, is_final boolean)
      on conflict (order_id) do update set matched = excluded.matched, ended = excluded.ended,
        is_counted = excluded.is_counted, missing_since = excluded.missing_since, is_final = excluded.is_final`,
    ...(trades.length === 0 ? [] : [writeTrades(tx, trades)]),
  ];
  issue(statements);
  const all = {
    ...NOTHING,
    outcomes: evidence.flatMap(({ outcomes }) => outcomes),
    fills: evidence.flatMap(({ fills }) => fills),
    markets: evidence.flatMap(({ markets }) => markets),
  };
  issue(await evidenceWrites(tx, all, reversals));
}

/** Sends them without waiting: the commit reports their failure. */
const issue = (statements: readonly PromiseLike<unknown>[]): void => {
  for (const statement of statements) statement.then(undefined, () => {});
};

const writeTrades = (tx: Tx, trades: readonly object[]): PromiseLike<unknown> =>
  tx`insert into venue_trades as v (order_id, trade_id, nth, status, size, cost, fee, is_counted, aside_state, aside)
    select * from jsonb_to_recordset(${tx.json(trades)}) as t(order_id text, trade_id text, nth bigint, status text,
      size bigint, cost bigint, fee bigint, is_counted boolean, aside_state text, aside jsonb)
    on conflict (order_id, trade_id) do update set nth = excluded.nth, status = excluded.status, size = excluded.size,
      cost = excluded.cost, fee = excluded.fee, is_counted = excluded.is_counted, aside_state = excluded.aside_state,
      aside = excluded.aside`;
