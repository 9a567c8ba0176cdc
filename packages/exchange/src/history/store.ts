/**
 * The tables of the history, what is written to them, and what is read. Only the projector writes them, behind the
 * journal.
 */
import { arrayOf, commitAll, type Fragment, type Row, type Sql, type Tx } from '@bellwether/durable';
import type { AccountId, ConditionId, MarketFacts, OutcomeNames } from '../paper-exchange.ts';
import type {
  AccountMove,
  MovePlace,
  MoveQuery,
  MoveRecord,
  Taker,
  Trade,
  TradePlace,
  TradeQuery,
} from '../trade-history.ts';
import { decodeTrade, encodeTrade, FATE_CODE, type Fate, fateOf } from './trades.ts';

/**
 * The tables of the history. Only its projector writes them, behind the journal.
 *
 * - exchange_history: one row: the journal position up to which the others are complete.
 * - exchange_trades: every trade, those of the house among itself included (`accounts` is then empty); `body` is the text
 *   of trades.ts. `fate`: 0 settles · 1 is going to fail · 2 failed and was reversed · 3 could not be reversed, so it settled.
 * - exchange_account_trades: which accounts took part in which trades, for reads by account. `legs`: bits of the account's
 *   own part, see `LEG`.
 * - exchange_account_moves: deposits, splits, merges and redemptions of an account.
 * - exchange_traded_markets: what is known of each market in these tables, also after the exchange has forgotten it.
 */
export const HISTORY_SCHEMA = `
create table if not exists exchange_history (
  one boolean primary key default true check (one),
  seq bigint not null
);
create table if not exists exchange_trades (
  number bigint primary key,
  at_ms bigint not null,
  market_id bigint not null,
  accounts text[] not null,
  body text not null,
  fate smallint not null default 0,
  fate_ms bigint
);
create index if not exists exchange_trades_market on exchange_trades (market_id, number);
create index if not exists exchange_trades_house on exchange_trades (number) where accounts = '{}';
create index if not exists exchange_trades_failing on exchange_trades (number) where fate = 1;
create table if not exists exchange_account_trades (
  account text not null,
  at_ms bigint not null,
  number bigint not null,
  market_id bigint not null,
  legs smallint not null,
  primary key (account, at_ms, number)
);
create table if not exists exchange_account_moves (
  account text not null,
  at_ms bigint not null,
  seq bigint not null,
  part integer not null,
  kind text not null,
  market_id bigint,
  yes bigint not null,
  no bigint not null,
  collateral numeric not null,
  primary key (account, at_ms, seq, part)
);
create index if not exists exchange_account_moves_age on exchange_account_moves (at_ms);
create table if not exists exchange_traded_markets (
  market_id bigint primary key,
  condition_id text not null unique,
  facts text not null
);
`;

/** Bits of `exchange_account_trades.legs`. */
const LEG = { yes: 1, no: 2, taker: 4, maker: 8, buy: 16, sell: 32 } as const;

// Writes and prunes the history's rows. Every write may be repeated: rows follow from the journal alone.

const HOUSE = 'house:';

/** Rows that a batch adds. */
interface HistoryBatch {
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

interface KeptFrom {
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

// Reads of the history. Answers are bounded by the caller's limit; what a filter skips is bounded by the index it walks.

/** Most rows of one answer. */
const MOST_ROWS = 1_000;

export interface TradeRow {
  readonly trade: Trade;
  readonly market: MarketFacts;
  readonly fate: Fate;
}

const clamped = (limit: number): number => Math.max(0, Math.min(MOST_ROWS, Math.floor(limit)));
const big = (value: number): string => String(Math.floor(value));

const marketOf = (sql: Sql, conditionId: ConditionId): Fragment =>
  sql`(select market_id from exchange_traded_markets where condition_id = ${conditionId})`;

const allOf = (sql: Sql, conditions: readonly Fragment[]): Fragment =>
  conditions.reduce((all, condition) => sql`${all} and ${condition}`, sql`true`);

export async function readTrades(sql: Sql, query: TradeQuery): Promise<TradeRow[]> {
  const rows = await (query.account === undefined
    ? readTape(sql, query)
    : readAccountTrades(sql, query, query.account));
  return rows.map(tradeRow);
}

function readTape(sql: Sql, query: TradeQuery): PromiseLike<readonly Row[]> {
  const { conditionId, since, until, after, oldestFirst = false } = query;
  const where = allOf(sql, [
    ...(conditionId === undefined ? [] : [sql`t.market_id = ${marketOf(sql, conditionId)}`]),
    ...(since === undefined ? [] : [sql`t.at_ms >= ${big(since)}::bigint`]),
    ...(until === undefined ? [] : [sql`t.at_ms < ${big(until)}::bigint`]),
    ...(after === undefined
      ? []
      : [
          oldestFirst
            ? sql`t.number > ${big(after.number)}::bigint`
            : sql`t.number < ${big(after.number)}::bigint`,
        ]),
  ]);
  return sql`
    select t.number, t.at_ms, t.body, t.fate, t.fate_ms, t.market_id, m.condition_id, m.facts
    from exchange_trades t join exchange_traded_markets m on m.market_id = t.market_id
    where ${where}
    order by ${oldestFirst ? sql`t.number` : sql`t.number desc`} limit ${clamped(query.limit)}::int`;
}

const bitsOf = ({ outcome, side, role }: TradeQuery): readonly number[] => [
  ...(outcome === undefined ? [] : [outcome === 'YES' ? LEG.yes : LEG.no]),
  ...(side === undefined ? [] : [side === 'BUY' ? LEG.buy : LEG.sell]),
  ...(role === undefined ? [] : [LEG[role]]),
];

function readAccountTrades(sql: Sql, query: TradeQuery, account: AccountId): PromiseLike<readonly Row[]> {
  const { conditionId, since, until, after, oldestFirst = false } = query;
  const bits = bitsOf(query).reduce((all, bit) => all | bit, 0);
  const where = allOf(sql, [
    sql`a.account = ${account}`,
    ...(conditionId === undefined ? [] : [sql`a.market_id = ${marketOf(sql, conditionId)}`]),
    ...(bits === 0 ? [] : [sql`a.legs & ${bits}::int = ${bits}::int`]),
    ...(since === undefined ? [] : [sql`a.at_ms >= ${big(since)}::bigint`]),
    ...(until === undefined ? [] : [sql`a.at_ms < ${big(until)}::bigint`]),
    ...(after === undefined ? [] : [beyond(sql, after, oldestFirst)]),
  ]);
  return sql`
    select t.number, t.at_ms, t.body, t.fate, t.fate_ms, t.market_id, m.condition_id, m.facts
    from exchange_account_trades a
    join exchange_trades t on t.number = a.number
    join exchange_traded_markets m on m.market_id = t.market_id
    where ${where}
    order by ${oldestFirst ? sql`a.at_ms, a.number` : sql`a.at_ms desc, a.number desc`}
    limit ${clamped(query.limit)}::int`;
}

const beyond = (sql: Sql, { at, number }: TradePlace, oldestFirst: boolean): Fragment =>
  oldestFirst
    ? sql`(a.at_ms, a.number) > (${big(at)}::bigint, ${big(number)}::bigint)`
    : sql`(a.at_ms, a.number) < (${big(at)}::bigint, ${big(number)}::bigint)`;

/** The trades that contain these matches, in any order. */
export async function readTradesOfMatches(sql: Sql, matchIds: readonly number[]): Promise<TradeRow[]> {
  const rows = await sql`
    select distinct on (t.number) t.number, t.at_ms, t.body, t.fate, t.fate_ms, t.market_id, m.condition_id, m.facts
    from unnest(${matchIds.slice(0, MOST_ROWS).map(big)}::bigint[]) as match (number)
    cross join lateral (
      select * from exchange_trades where number <= match.number order by number desc limit 1) t
    join exchange_traded_markets m on m.market_id = t.market_id`;
  return rows.map(tradeRow);
}

/** Those that are still going to fail. */
export async function readFailing(sql: Sql): Promise<TradeRow[]> {
  const rows = await sql`
    select t.number, t.at_ms, t.body, t.fate, t.fate_ms, t.market_id, m.condition_id, m.facts
    from exchange_trades t join exchange_traded_markets m on m.market_id = t.market_id
    where t.fate = 1 order by t.number`;
  return rows.map(tradeRow);
}

export async function readMoves(sql: Sql, query: MoveQuery): Promise<MoveRecord[]> {
  const { account, conditionId, kinds, since, until, after, oldestFirst = false } = query;
  const where = allOf(sql, [
    sql`v.account = ${account}`,
    ...(conditionId === undefined ? [] : [sql`v.market_id = ${marketOf(sql, conditionId)}`]),
    ...(kinds === undefined ? [] : [sql`v.kind = any(${[...kinds]}::text[])`]),
    ...(since === undefined ? [] : [sql`v.at_ms >= ${big(since)}::bigint`]),
    ...(until === undefined ? [] : [sql`v.at_ms < ${big(until)}::bigint`]),
    ...(after === undefined ? [] : [behindMove(sql, after, oldestFirst)]),
  ]);
  const rows = await sql`
    select v.*, m.condition_id, m.facts
    from exchange_account_moves v left join exchange_traded_markets m on m.market_id = v.market_id
    where ${where}
    order by ${oldestFirst ? sql`v.at_ms, v.seq, v.part` : sql`v.at_ms desc, v.seq desc, v.part desc`}
    limit ${clamped(query.limit)}::int`;
  return rows.map(moveRow);
}

function behindMove(sql: Sql, { at, seq, part }: MovePlace, oldestFirst: boolean): Fragment {
  const place = sql`(${big(at)}::bigint, ${big(seq)}::bigint, ${big(part)}::int)`;
  return oldestFirst ? sql`(v.at_ms, v.seq, v.part) > ${place}` : sql`(v.at_ms, v.seq, v.part) < ${place}`;
}

type StoredFacts = Omit<MarketFacts, 'id' | 'conditionId' | 'outcomes'> & { outcomes?: OutcomeNames };

const factsOf = (row: Row): MarketFacts => ({
  id: String(row.market_id),
  conditionId: row.condition_id as string,
  // Rows of earlier releases name no outcomes.
  outcomes: ['Yes', 'No'],
  ...(JSON.parse(row.facts as string) as StoredFacts),
});

function tradeRow(row: Row): TradeRow {
  const market = factsOf(row);
  return {
    trade: {
      number: Number(row.number),
      at: Number(row.at_ms),
      conditionId: market.conditionId,
      ...decodeTrade(row.body as string),
    },
    market,
    fate: fateOf(Number(row.fate), row.fate_ms === null ? null : Number(row.fate_ms)),
  };
}

const moveRow = (row: Row): MoveRecord => ({
  ...{ account: row.account as string, kind: row.kind as AccountMove['kind'] },
  ...{ at: Number(row.at_ms), seq: Number(row.seq), part: Number(row.part) },
  ...{ yes: BigInt(row.yes), no: BigInt(row.no), collateral: BigInt(row.collateral) },
  ...(row.market_id === null ? {} : { conditionId: row.condition_id as string, market: factsOf(row) }),
});

export async function readMarket(sql: Sql, conditionId: ConditionId): Promise<MarketFacts | undefined> {
  const [row] = await sql`
    select market_id, condition_id, facts from exchange_traded_markets where condition_id = ${conditionId}`;
  return row === undefined ? undefined : factsOf(row);
}
