/** On its embedded PostgreSQL the service works as an ordinary role, and on nothing that belongs to another. */
import { expect, test } from 'vitest';
import {
  ADMIN_ROLE,
  DESK_ROLE,
  startEmbeddedPostgres,
} from '../../packages/durable/src/embedded/embedded-postgres.ts';
import { openPool, socketUrl } from '../../packages/server/src/platform/database/connection.ts';
import { aMarket, newTrader, restingOrder } from '../harness.ts';
import { dataFolder, postmasterOf, startProcess, startRefused } from '../service-process.ts';

/** Runs as the superuser while the service is running. */
async function asAdmin<T>(
  dataDir: string,
  work: (sql: ReturnType<typeof openPool>) => Promise<T>,
): Promise<T> {
  const { socketDir } = postmasterOf(dataDir);
  const sql = openPool(socketUrl({ socketDir, port: 5432, user: ADMIN_ROLE }, 'bellwether'), { max: 1 });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

const whoWorks = (dataDir: string) =>
  asAdmin(dataDir, async (sql) => {
    const rows = await sql`
      select distinct r.rolname, r.rolsuper, r.rolcreatedb, r.rolcreaterole, r.rolbypassrls
      from pg_stat_activity a join pg_roles r on r.oid = a.usesysid where a.application_name like 'bellwether %'`;
    return rows.map((row) => ({ ...row }));
  });

const ordinary = [
  { rolname: DESK_ROLE, rolsuper: false, rolcreatedb: false, rolcreaterole: false, rolbypassrls: false },
];

/** All objects of the database that the ordinary role does not own. */
const foreign = (dataDir: string) =>
  asAdmin(dataDir, async (sql) => {
    const rows = await sql`
      select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and pg_get_userbyid(c.relowner) <> ${DESK_ROLE}
      union all select proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname = 'public' and pg_get_userbyid(proowner) <> ${DESK_ROLE}
      union all select typname from pg_type t join pg_namespace n on n.oid = t.typnamespace
      where n.nspname = 'public' and pg_get_userbyid(typowner) <> ${DESK_ROLE}
      union all select datname from pg_database
      where datname = current_database() and pg_get_userbyid(datdba) <> ${DESK_ROLE}`;
    return rows.map(({ name }) => name);
  });

test('a new folder: no connection of the service has a superuser role', async () => {
  const dataDir = dataFolder();
  const service = await startProcess({ dataDir, makesCluster: true });
  const trader = await newTrader(service);
  await trader.client.placeTrade(await restingOrder(trader, await aMarket(trader.client)));
  expect(await whoWorks(dataDir)).toEqual(ordinary);
  expect(await foreign(dataDir)).toEqual([]);
});

test('a folder whose database belongs to the superuser is refused with what to start on it first', async () => {
  const dataDir = dataFolder();
  const embedded = await startEmbeddedPostgres({ dataDir, database: 'bellwether' });
  await asAdmin(dataDir, (sql) => sql.unsafe(`alter database bellwether owner to ${ADMIN_ROLE}`));
  await embedded.stop();
  const { exit, output } = await startRefused({ dataDir });
  expect(exit.code).toBe(1);
  expect(output).toMatch(/belongs to the role bellwether, .* Start commit [0-9a-f]{8} on it once/);
});
