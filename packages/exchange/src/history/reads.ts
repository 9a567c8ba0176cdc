/** Reads of the history. Answers are bounded by the caller's limit; what a filter skips is bounded by the index it walks. */
import type { Fragment, Row, Sql } from '@bellwether/durable';
import type { AccountId, ConditionId, MarketFacts, OutcomeNames } from '../paper-exchange.ts';
import type {
  AccountMove,
  MovePlace,
  MoveQuery,
  MoveRecord,
  Trade,
  TradePlace,
  TradeQuery,
} from '../trade-history.ts';
import { LEG } from './schema.ts';
import { type Fate, fateOf } from './settlement.ts';
import { decodeTrade } from './trade.ts';

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
