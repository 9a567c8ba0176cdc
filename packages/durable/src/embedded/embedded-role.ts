/**
 * The service's role on its embedded PostgreSQL: an ordinary role that owns the service's database and has no other
 * rights. If the superuser owns the database (older versions), the start transfers everything in one transaction.
 */

import { openPool, type Sql } from '../pool.ts';
import { transact } from '../transaction.ts';

/** Created with the cluster. PostgreSQL never takes its superuser rights away, so the service needs another role. */
export const ADMIN_ROLE = 'bellwether';
export const DESK_ROLE = 'bellwether_desk';
export const DESK_DATABASE = 'bellwether';

/** `reassign owned` refuses for the role that created the cluster, so each object is transferred by name. */
const HAND_OVER = `
do $$
declare
  statement text;
begin
  for statement in
    select format('alter %s %I.%I owner to ${DESK_ROLE}',
      case c.relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view' else 'table' end,
      n.nspname, c.relname)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
      -- A column's own sequence follows its table, and refuses to go alone.
      and not exists (select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid
        and c.relkind = 'S' and d.deptype in ('a', 'i'))
    union all
    select format('alter routine %s owner to ${DESK_ROLE}', p.oid::regprocedure)
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'public'
    union all
    select format('alter type %I.%I owner to ${DESK_ROLE}', n.nspname, t.typname)
    from pg_type t join pg_namespace n on n.oid = t.typnamespace
    where n.nspname = 'public' and (t.typtype in ('e', 'd', 'r')
      or t.typtype = 'c' and exists (select 1 from pg_class c where c.oid = t.typrelid and c.relkind = 'c'))
  loop
    execute statement;
  end loop;
end $$`;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

async function asAdmin<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = openPool(url, { max: 1 });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 2 });
  }
}

/**
 * Creates the role and the database if they are missing, and makes the role the database's owner.
 * @param urlOf gives the superuser's URL of a database
 */
export async function prepareDatabase(urlOf: (database: string) => string, name: string): Promise<void> {
  const isOwned = await asAdmin(urlOf('postgres'), async (sql) => {
    const [role] = await sql`select 1 from pg_roles where rolname = ${DESK_ROLE}`;
    if (role === undefined)
      await sql.unsafe(
        `create role ${DESK_ROLE} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls`,
      );
    const [found] = await sql`
      select pg_get_userbyid(datdba) = ${DESK_ROLE} as owned from pg_database where datname = ${name}`;
    if (found === undefined) await sql.unsafe(`create database ${quoted(name)} owner ${DESK_ROLE}`);
    return found === undefined || found.owned === true;
  });
  if (isOwned) return;
  await asAdmin(urlOf(name), (sql) =>
    transact(sql, async (tx) => {
      await tx.unsafe(HAND_OVER);
      // The last step: it marks the transfer as complete.
      await tx.unsafe(`alter database ${quoted(name)} owner to ${DESK_ROLE}`);
    }),
  );
}
