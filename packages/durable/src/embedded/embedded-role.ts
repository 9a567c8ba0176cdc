/**
 * The service's role on its embedded PostgreSQL: an ordinary role that owns the service's database and has no other
 * rights.
 */
import { openPool } from '../pool.ts';

/** Created with the cluster. PostgreSQL never takes its superuser rights away, so the service needs another role. */
export const ADMIN_ROLE = 'bellwether';
export const DESK_ROLE = 'bellwether_desk';
export const DESK_DATABASE = 'bellwether';

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * Creates the role and the database if they are missing.
 * @param urlOf gives the superuser's URL of a database
 * @throws Error with a sentence when the database is another role's
 */
export async function prepareDatabase(urlOf: (database: string) => string, name: string): Promise<void> {
  const sql = openPool(urlOf('postgres'), { max: 1 });
  try {
    const [role] = await sql`select 1 from pg_roles where rolname = ${DESK_ROLE}`;
    if (role === undefined)
      await sql.unsafe(
        `create role ${DESK_ROLE} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls`,
      );
    const [found] =
      await sql`select pg_get_userbyid(datdba) as owner from pg_database where datname = ${name}`;
    if (found === undefined) await sql.unsafe(`create database ${quoted(name)} owner ${DESK_ROLE}`);
    else if (found.owner !== DESK_ROLE)
      throw new Error(
        `The database ${name} of this folder belongs to the role ${found.owner}, not to ${DESK_ROLE}, as a version from before release 0.2.0 left it. Start commit 4c9c1f9d on it once, then this version. Nothing was changed.`,
      );
  } finally {
    await sql.end({ timeout: 2 });
  }
}
