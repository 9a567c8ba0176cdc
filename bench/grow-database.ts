/**
 * Makes a large database of a small one: the rows that the service wrote for its agents are copied, agent by agent, with
 * other keys and earlier times. Then it is proved that the copies have the shape of what they were copied from: for every
 * column the share of nulls and the stored lengths are compared.
 *
 * The server copies within itself, which writes what COPY would. Triggers are off meanwhile: they would do again what the
 * service's own rows already contain.
 */

import { startEmbeddedPostgres } from '../packages/durable/src/embedded/embedded-postgres.ts';
import { openPool, type Sql, socketUrl } from '../packages/server/src/platform/database/connection.ts';

/** Columns that name an agent, its owner, its keys, its wallets and its orders: tables with one of them are copied. */
const IDENTITIES = new Set([
  'agent_id',
  'user_id',
  'order_id',
  'wallet',
  'wallet_address',
  'account',
  'eoa',
  'funder',
  'signer',
  'maker',
  'key_hash',
  'api_key_hash',
  'claim_code',
]);
/** Columns of unique indexes that name what many agents share: a market, a day, a kind. */
const SHARED = /token|condition|market|venue|day|kind|name|outcome|version|status|wanted|slug/;
/** Kept for days only, or for a process: the service that made them would have deleted them since. */
const SHORT_LIVED =
  /^(facts?|fact_log|idempotency_keys|quotes|rate_buckets|pulse|exchange_journal|sql_functions|migrations)/;
/** Beyond every number that a sequence has reached. */
const SPAN = 1_000_000_000;
const MINUTES_APART = 10;
/** Tolerated difference of a row's length: a compressed or variable-length value differs a little. */
const TOLERANCE = 0.02;

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly isUnique: boolean;
}

interface Shape {
  readonly nulls: number;
  readonly mean: number;
  readonly shortest: number;
  readonly longest: number;
}

export interface Growth {
  readonly orders: number;
  readonly agents: number;
  /** The tables that keep something of each order: their size with indexes, divided by the orders. */
  readonly tables: readonly { readonly name: string; readonly bytesPerOrder: number }[];
}

/**
 * @param dataDir of a service that is not running
 * @param copies of every agent
 * @throws Error when a copy has another shape than its original
 */
export async function growDatabase(dataDir: string, copies: number): Promise<Growth> {
  const server = await startEmbeddedPostgres({ dataDir });
  // A million rows in one statement take longer than a request's statement may.
  const sql = openPool(socketUrl({ ...server, user: server.admin }, server.database), {
    max: 1,
    statementTimeoutMs: 0,
  });
  try {
    const columns = await columnsOf(sql);
    const tables = [...new Set(columns.map(({ table }) => table))];
    const before = await shapesOf(sql, columns);
    await sql.unsafe('set session_replication_role = replica');
    for (const table of tables) await copy(sql, table, columns, copies);
    for (const table of tables) await sql.unsafe(`vacuum analyze ${table}`);
    const after = await shapesOf(sql, columns);
    const faults = columns.map((column, at) => faultOf(column, before[at] as Shape, after[at] as Shape));
    const found = faults.filter((fault) => fault !== null);
    if (found.length > 0) throw new Error(`The copies differ from the service's rows:\n${found.join('\n')}`);
    const ofOrders = columns.filter(({ name }) => name === 'order_id').map(({ table }) => table);
    return await sizeOf(sql, ofOrders);
  } finally {
    await sql.end();
    await server.stop();
  }
}

/** Reads the columns of the tables with rows that belong to agents. */
async function columnsOf(sql: Sql): Promise<Column[]> {
  const rows = await sql<Column[]>`
    select c.relname as "table", a.attname as "name", format_type(a.atttypid, null) as "type",
      exists (select 1 from pg_index i where i.indrelid = c.oid and i.indisunique and a.attnum = any(i.indkey))
        as "isUnique"
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped
      and a.attgenerated = ''
    order by c.relname, a.attnum`;
  const owned: Column[] = [];
  for (const table of new Set(rows.map((row) => row.table))) {
    const own = rows.filter((row) => row.table === table);
    if (SHORT_LIVED.test(table) || !own.some(({ name }) => IDENTITIES.has(name))) continue;
    const [first] = await sql.unsafe(`select 1 from ${table} limit 1`);
    if (first !== undefined) owned.push(...own);
  }
  return owned;
}

/** The value in copy `n`: another one of the same type and length where it names something of the agent. */
function expressionOf({ name, type, isUnique }: Column): string {
  const value = `t.${name}`;
  const hex = `md5(${value}::text || ':' || n)`;
  const long = `${hex} || md5(${hex}) || md5(${hex} || 'b') || md5(${hex} || 'c')`;
  if (/^timestamp/.test(type)) return `${value} - n * interval '${MINUTES_APART} minutes'`;
  const isOwn = IDENTITIES.has(name) || (isUnique && !SHARED.test(name));
  if (!isOwn) return value;
  switch (type) {
    case 'uuid':
      return `${hex}::uuid`;
    case 'bigint':
      return `${value} + n * ${SPAN}::bigint`;
    // It counts inside its key, whose other columns differ.
    case 'smallint':
    case 'integer':
      return value;
    case 'bytea':
      return `substr(sha256(${value} || int4send(n)) || sha256(int4send(n) || ${value}), 1, octet_length(${value}))`;
    case 'text':
      return `case when ${value} like '0x%' then '0x' || left(${long}, length(${value}) - 2)
        else left(${long}, length(${value})) end`;
    default:
      throw new Error(`${name} is part of a key, and has the type ${type}, which the benchmark cannot vary`);
  }
}

async function copy(sql: Sql, table: string, columns: readonly Column[], copies: number): Promise<void> {
  const own = columns.filter((column) => column.table === table);
  const names = own.map(({ name }) => name).join(', ');
  await sql.unsafe(
    `insert into ${table} (${names}) overriding system value
     select ${own.map(expressionOf).join(', ')} from (select * from ${table}) t
     cross join generate_series(1, ${copies}) as n`,
  );
}

async function shapesOf(sql: Sql, columns: readonly Column[]): Promise<Shape[]> {
  const shapes: Shape[] = [];
  for (const table of new Set(columns.map((column) => column.table))) {
    const own = columns.filter((column) => column.table === table);
    const [row] = await sql.unsafe<Record<string, number | null>[]>(
      `select ${own
        .flatMap(({ name }, at) => [
          `avg((${name} is null)::int)::float8 as nulls${at}`,
          `avg(pg_column_size(${name}))::float8 as mean${at}`,
          `min(pg_column_size(${name})) as shortest${at}`,
          `max(pg_column_size(${name})) as longest${at}`,
        ])
        .join(', ')} from ${table}`,
    );
    const figure = (name: string): number => Number(row?.[name] ?? 0);
    for (const [at] of own.entries())
      shapes.push({
        nulls: figure(`nulls${at}`),
        mean: figure(`mean${at}`),
        shortest: figure(`shortest${at}`),
        longest: figure(`longest${at}`),
      });
  }
  return shapes;
}

function faultOf({ table, name }: Column, before: Shape, after: Shape): string | null {
  const isEqual =
    Math.abs(before.nulls - after.nulls) < 1e-6 &&
    Math.abs(before.mean - after.mean) <= TOLERANCE * before.mean &&
    before.shortest === after.shortest &&
    before.longest === after.longest;
  return isEqual ? null : `${table}.${name}: ${JSON.stringify(before)} became ${JSON.stringify(after)}`;
}

async function sizeOf(sql: Sql, tables: readonly string[]): Promise<Growth> {
  const [row] = await sql<{ orders: number; agents: number }[]>`
    select (select count(*)::int from orders) as orders, (select count(*)::int from agents) as agents`;
  if (row === undefined) throw new Error('the database gave no size');
  const sizes = await sql<{ name: string; bytesPerOrder: number }[]>`
    select name, pg_total_relation_size(name::regclass)::float8 / ${row.orders}::int as "bytesPerOrder"
    from unnest(${tables}::text[]) as name order by 2 desc`;
  return { ...row, tables: sizes };
}
