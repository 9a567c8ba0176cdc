/** The PostgreSQL of a run, in a process that ends with this one, in any kind of end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openPool, type Sql, socketUrl } from '@bellwether/durable';
import { afterFile } from '../setup/clean-up.ts';
import type { SharedPostgres } from '../setup/postgres-server.ts';

export interface Database {
  /** URL for the ordinary role. */
  readonly deskUrl: string;
  /** Empty, for an exchange of its own. */
  readonly exchangeUrl: string;
  /** As the superuser, on the desk's database. */
  readonly admin: Sql;
}

export async function startDatabase(): Promise<Database> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', 'setup', 'postgres-server.ts')], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  afterFile('databases', async () => {
    child.stdin.end();
    await exited;
  });
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text)),
    exited.then(() => null),
  ]);
  if (line === null) throw new Error('PostgreSQL did not start; its process has said why');
  const where = JSON.parse(line) as SharedPostgres;
  const adminUrl = (database: string): string => socketUrl({ ...where, user: where.admin }, database);
  const main = openPool(adminUrl('postgres'), { max: 1 });
  await main.unsafe(`create database desk owner ${where.user} template ${where.template}`);
  await main.unsafe(`create database venue owner ${where.user}`);
  await main.end();
  const admin = openPool(adminUrl('desk'), { max: 4 });
  afterFile('pools', () => admin.end({ timeout: 1 }));
  return { deskUrl: socketUrl(where, 'desk'), exchangeUrl: socketUrl(where, 'venue'), admin };
}
