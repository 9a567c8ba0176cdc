/**
 * One embedded PostgreSQL for a test file, and as many empty databases on it as the file wants. Each is dropped
 * with the server: its folder lies under the system's temporary folder.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { openPool, type Sql, socketUrl } from '../packages/server/src/adapters/postgres/connection.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../packages/server/src/adapters/postgres/embedded-postgres.ts';

let running: Promise<{ folder: string; started: EmbeddedPostgres }> | undefined;

async function server(): Promise<EmbeddedPostgres> {
  running ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bw-test-'));
    return { folder, started: await startEmbeddedPostgres({ dataDir: folder, database: 'bellwether' }) };
  })();
  return (await running).started;
}

const pools: Sql[] = [];

afterAll(async () => {
  await Promise.all(pools.map((sql) => sql.end({ timeout: 1 })));
  if (running === undefined) return;
  const { folder, started } = await running;
  await started.stop();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * An empty database of its own, as a URL in PostgreSQL's spelling for sockets: good for DATABASE_URL and for
 * `openPool`, not for `postgres(url)`.
 */
export async function createTestDatabase(): Promise<string> {
  const where = await server();
  const name = `test_${randomBytes(6).toString('hex')}`;
  const sql = openPool(socketUrl({ ...where, user: where.admin }, 'postgres'), { max: 1 });
  // Owned by an ordinary role: what needs more than that must fail here, too.
  await sql.unsafe(`create database ${name} owner ${where.user}`);
  await sql.end();
  return socketUrl(where, name);
}

/** A pool on an empty database of its own; closed with the file. */
export async function openTestDatabase(max = 10): Promise<Sql> {
  const sql = openPool(await createTestDatabase(), { max });
  pools.push(sql);
  return sql;
}
