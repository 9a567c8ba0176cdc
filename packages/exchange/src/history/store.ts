/** Writes and prunes the history's rows. Every write may be repeated: rows follow from the journal alone. */
import { arrayOf, commitAll, type Sql, type Tx } from '@bellwether/durable';
import type { MarketFacts } from '../paper-exchange.ts';
import type { AccountMove, Taker, Trade } from '../trade-history.ts';
import { LEG } from './schema.ts';
import { FATE_CODE } from './settlement.ts';
import { encodeTrade } from './trade.ts';

const HOUSE = 'house:';

/** Rows that a batch adds. */
export interface HistoryBatch {
  /** The journal position that the batch reaches. */
  readonly seq: number;
  readonly trades: readonly Trade[];
  /** Numbers of those that are going to fail. */
  readonly failing: ReadonlySet<number>;
  /** Trades that were going to fail, and what became of them. */
  readonly fates: readonly EndedFate[];
  readonly moves: readonly AccountMove[];
  /** Every market in the batch that may not have its row yet, or has been resolved. */
  readonly markets: readonly MarketFacts[];
  /** Short number of each market of the batch. */
  readonly marketIds: ReadonlyMap<string, string>;
}

export interface EndedFate {
  readonly number: number;
  readonly kind: 'failed' | 'settled_late';
  readonly at: number;
}

interface HistoryPart {
  readonly account: string;
  readonly trade: Trade;
  legs: number;
}

/** The part of every account in a trade, the house's excepted. */
function partsOf(trade: Trade): HistoryPart[] {
  const parts = new Map<string, HistoryPart>();
  const add = (leg: Taker, role: number): void => {
    if (leg.account.startsWith(HOUSE)) return;
    const part = parts.get(leg.account) ?? { account: leg.account, trade, legs: 0 };
    part.legs |=
      role | (leg.outcome === 'YES' ? LEG.yes : LEG.no) | (leg.side === 'BUY' ? LEG.buy : LEG.sell);
    parts.set(leg.account, part);
  };
  add(trade.taker, LEG.taker);
  for (const match of trade.matches) add(match, LEG.maker);
  return [...parts.values()];
}

export async function writeHistory(sql: Sql, batch: HistoryBatch): Promise<void> {
  const { trades, moves, markets } = batch;
  await commitAll(sql, (tx) => [
    ...(markets.length > 0 ? [insertMarkets(tx, markets)] : []),
    ...(trades.length > 0 ? insertTrades(tx, batch) : []),
    ...(moves.length > 0 ? [insertMoves(tx, batch)] : []),
    ...(batch.fates.length > 0 ? [updateFates(tx, batch.fates)] : []),
    tx`
      insert into exchange_history (seq) values (${String(batch.seq)}::bigint)
      on conflict (one) do update set seq = greatest(exchange_history.seq, excluded.seq)`,
  ]);
}

/** @returns undefined where no history was ever written */
export async function readPosition(sql: Sql): Promise<number | undefined> {
  const [row] = await sql`select seq from exchange_history`;
  return row === undefined ? undefined : Number(row.seq);
}

const encodeFacts = ({ id, conditionId, ...facts }: MarketFacts): string => JSON.stringify(facts);

const insertMarkets = (tx: Tx, markets: readonly MarketFacts[]): PromiseLike<unknown> => tx`
  insert into exchange_traded_markets (market_id, condition_id, facts)
  select * from unnest(
    ${markets.map(({ id }) => id)}::bigint[],
    ${markets.map(({ conditionId }) => conditionId)}::text[],
    ${markets.map(encodeFacts)}::text[])
  on conflict (market_id) do update set facts = excluded.facts`;

function insertTrades(tx: Tx, { trades, failing, marketIds }: HistoryBatch): PromiseLike<unknown>[] {
  const parts = trades.flatMap((trade) => partsOf(trade));
  const accounts = new Map<Trade, string[]>();
  for (const { trade, account } of parts) accounts.set(trade, [...(accounts.get(trade) ?? []), account]);
  const marketIdOf = ({ conditionId }: Trade): bigint => BigInt(marketIds.get(conditionId)!);
  const insert = tx`
    insert into exchange_trades (number, at_ms, market_id, accounts, body, fate)
    select number, at_ms, market_id, string_to_array(accounts, ','), body, fate from unnest(
      ${arrayOf('int8', trades, ({ number }) => number)},
      ${arrayOf('int8', trades, ({ at }) => at)},
      ${arrayOf('int8', trades, marketIdOf)},
      ${arrayOf('text', trades, (trade) => (accounts.get(trade) ?? []).join(','))},
      ${arrayOf('text', trades, encodeTrade)},
      ${arrayOf('int2', trades, ({ number }) => (failing.has(number) ? FATE_CODE.fails : FATE_CODE.settles))})
      as made (number, at_ms, market_id, accounts, body, fate)
    on conflict do nothing`;
  if (parts.length === 0) return [insert];
  const insertParts = tx`
    insert into exchange_account_trades (account, at_ms, number, market_id, legs)
    select * from unnest(
      ${arrayOf('text', parts, ({ account }) => account)},
      ${arrayOf('int8', parts, ({ trade }) => trade.at)},
      ${arrayOf('int8', parts, ({ trade }) => trade.number)},
      ${arrayOf('int8', parts, ({ trade }) => marketIdOf(trade))},
      ${arrayOf('int2', parts, ({ legs }) => legs)})
    on conflict do nothing`;
  return [insert, insertParts];
}

const updateFates = (tx: Tx, fates: readonly EndedFate[]): PromiseLike<unknown> => tx`
  update exchange_trades t set fate = f.fate, fate_ms = f.at_ms
  from unnest(
    ${fates.map(({ number }) => String(number))}::bigint[],
    ${fates.map(({ kind }) => String(FATE_CODE[kind]))}::smallint[],
    ${fates.map(({ at }) => String(at))}::bigint[]) as f (number, fate, at_ms)
  where t.number = f.number`;

const insertMoves = (tx: Tx, { moves, marketIds }: HistoryBatch): PromiseLike<unknown> => tx`
  insert into exchange_account_moves (account, at_ms, seq, part, kind, market_id, yes, no, collateral)
  select * from unnest(
    ${moves.map(({ account }) => account)}::text[],
    ${moves.map(({ at }) => String(at))}::bigint[],
    ${moves.map(({ seq }) => String(seq))}::bigint[],
    ${moves.map(({ part }) => String(part))}::integer[],
    ${moves.map(({ kind }) => kind)}::text[],
    ${moves.map(({ conditionId }) => (conditionId === undefined ? null : marketIds.get(conditionId)!))}::bigint[],
    ${moves.map(({ yes }) => String(yes))}::bigint[],
    ${moves.map(({ no }) => String(no))}::bigint[],
    ${moves.map(({ collateral }) => String(collateral))}::numeric[])
  on conflict do nothing`;

/** Rows of one delete: what a delete locks and how long it runs are bounded. */
const ROWS_PER_DELETE = 2_000;

export interface KeptFrom {
  /** Trades and moves of accounts from this time on are kept. */
  readonly accountsMs: number;
  /** Trades of the house among itself from this time on are kept. */
  readonly houseMs: number;
}

/** Deletes what is too old, one slice of each kind. @returns true while more may be left */
export async function pruneHistory(sql: Sql, { accountsMs, houseMs }: KeptFrom): Promise<boolean> {
  const house = await sql`
    delete from exchange_trades where number = any(array(
      select number from exchange_trades where accounts = '{}' and number < coalesce((
        select number from exchange_trades where accounts = '{}' and at_ms >= ${String(houseMs)}::bigint
        order by number limit 1), 9223372036854775807)
      order by number limit ${ROWS_PER_DELETE}::int))`;
  const [trades] = await sql`
    with gone as (
      delete from exchange_trades where number = any(array(
        select number from exchange_trades where number < coalesce((
          select number from exchange_trades where at_ms >= ${String(accountsMs)}::bigint
          order by number limit 1), 9223372036854775807)
        order by number limit ${ROWS_PER_DELETE}::int))
      returning number, at_ms, accounts
    ), parts as (
      delete from exchange_account_trades using gone, unnest(gone.accounts) as one (account)
      where exchange_account_trades.account = one.account
        and exchange_account_trades.at_ms = gone.at_ms and exchange_account_trades.number = gone.number
    )
    select count(*)::int as count from gone`;
  const moves = await sql`
    delete from exchange_account_moves where ctid = any(array(
      select ctid from exchange_account_moves where at_ms < ${String(accountsMs)}::bigint
      limit ${ROWS_PER_DELETE}::int))`;
  return [house.count, Number(trades?.count), moves.count].some((count) => count >= ROWS_PER_DELETE);
}

/** Deletes what is known of markets that no row names. While it runs, no row may be written. */
export async function pruneMarkets(sql: Sql): Promise<void> {
  await sql`
    delete from exchange_traded_markets m where not exists (
      select 1 from exchange_trades t where t.market_id = m.market_id)
    and not exists (select 1 from exchange_account_moves v where v.market_id = m.market_id)`;
}
