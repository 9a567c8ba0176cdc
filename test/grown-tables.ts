/**
 * Lets every table of a service grow by copies of its own rows with other keys: what many other agents did before, and
 * what the same agents did before. Written past triggers and constraints, as a restored dump would be.
 */
import type { Sql } from '../packages/server/src/platform/database/connection.ts';

/** Tables that the service keeps in memory as a whole, or has only one row of. */
const KEPT_SMALL = /^(sandbox_|exchange_(snapshots|leader|terms?)|sql_functions|migrations|skills|owners$)/;
/** The newest: the first ones of a test are alike. Enough that a fill's order is among them. */
const SOURCE_ROWS = 100;

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isKey: boolean;
  readonly isGenerated: boolean;
}

const COLUMNS = `
  select a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
    a.attidentity <> '' or a.attgenerated <> '' as "isGenerated",
    exists (select 1 from pg_index i where i.indrelid = a.attrelid and i.indisunique and a.attnum = any(i.indkey)) as "isKey"
  from pg_attribute a where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum`;

/** Another value of the same form. */
function other({ name, type }: Column): string {
  switch (type) {
    case 'text':
      return `case when ${name} ~ '^0x[0-9a-f]{40,64}$'
        then '0x' || left(encode(sha256((${name} || n)::bytea), 'hex'), length(${name}) - 2) else ${name} || '~' || n end`;
    case 'bytea':
      return `sha256(${name} || n::text::bytea)`;
    case 'uuid':
      return `md5(${name}::text || n)::uuid`;
    case 'bigint':
    case 'integer':
      return `(${name} + 1) * 10000 + n`;
    case 'xid8':
      // Long ago: the services have seen what those transactions wrote.
      return `greatest(3, ${name}::text::bigint / (n + 1))::text::xid8`;
    case 'date':
      return `${name} - n`;
    case 'timestamp with time zone':
      return `case when isfinite(${name}) and ${name} < now() then ${name} - n * interval '1 minute' else ${name} end`;
    default:
      return name;
  }
}

/** Who a row belongs to: a copy with other values is another agent's. */
const OWNERS = new Set(
  'agent_id user_id wallet wallet_address address signer funder eoa account sol_address subject'.split(' '),
);
/** The form of the same agent's earlier rows: they are over. */
const PAST: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  orders: { status: `'filled'` },
  positions: {
    size: '0',
    cost: '0',
    closed_at: `updated_at - n * interval '1 minute'`,
  },
};
/** Tables in which an agent has few rows at any time. */
const BOUNDED = new Set(['budget_returns', 'api_keys', 'exchange_api_keys', 'webhook_endpoints']);

/** @returns the tables that have at least `least` rows now */
export async function growTables(admin: Sql, least: number): Promise<ReadonlySet<string>> {
  const tables = await admin<{ name: string }[]>`
    select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`;
  const grown = new Set<string>();
  await admin`set session_replication_role = replica`;
  for (const { name } of tables) {
    if (KEPT_SMALL.test(name)) continue;
    const columns = await admin.unsafe<Column[]>(COLUMNS, [name]);
    const keys = columns.filter(({ isKey }) => isKey);
    if (keys.length === 1 && keys[0]?.type === 'boolean') continue;
    const [kept] = await admin.unsafe(
      `select count(*)::int as count from (select 1 from ${name} limit ${SOURCE_ROWS}) t`,
    );
    if (kept?.count === 0) continue;
    // A row and the rows that belong to it, such as an order's fills, get the same number of copies.
    const copies = Math.max(least / 20, Math.ceil(least / kept?.count));
    const growth = { admin, table: name, columns };
    await admin.unsafe(
      `create temp table source as select * from ${name} order by ctid desc limit ${SOURCE_ROWS}`,
    );
    await copy(growth, copies, (column) =>
      column.isKey || OWNERS.has(column.name) || isPast(column) ? other(column) : column.name,
    );
    const own = keys.filter((column) => !OWNERS.has(column.name));
    if (own.length > 0 && columns.some((column) => OWNERS.has(column.name)) && !BOUNDED.has(name))
      await copy(
        growth,
        copies,
        (column) =>
          PAST[name]?.[column.name] ??
          (own.includes(column) || isPast(column) || isOfToken(name, column) ? other(column) : column.name),
      );
    await admin`drop table source`;
    const [row] = await admin.unsafe(`select count(*)::int as count from ${name}`);
    if (row?.count >= least) grown.add(name);
  }
  return grown;
}

/** A wallet's other positions are in other markets. */
const isOfToken = (table: string, { name }: Column): boolean =>
  table === 'positions' && name === 'condition_id';
const isPast = ({ type }: Column): boolean => type === 'timestamp with time zone' || type === 'xid8';

interface Growth {
  readonly admin: Sql;
  readonly table: string;
  readonly columns: readonly Column[];
}

async function copy(
  { admin, table, columns }: Growth,
  copies: number,
  copyOf: (column: Column) => string,
): Promise<void> {
  const written = columns.filter(({ isGenerated }) => !isGenerated);
  await admin.unsafe(`insert into ${table} (${written.map(({ name }) => name).join(', ')})
    select ${written.map(copyOf).join(', ')} from source cross join generate_series(1, ${copies}) n
    on conflict do nothing`);
}
