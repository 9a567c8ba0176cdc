/** Backups of a service with an embedded database: what they say about it, and when this release can restore them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sql } from '@bellwether/durable';
import {
  BackupRefused,
  type BackupReport,
  backUp,
  type RestoreReport,
  restoreBackup,
} from '@bellwether/durable/embedded';
import release from '../../../../package.json' with { type: 'json' };
import { opensCheck } from '../platform/database/belonging.ts';
import { newestMigration } from '../platform/database/migrate.ts';
import { createSecrets } from '../platform/system/secrets.ts';

/** Facts about the copied database. A stand-alone exchange has no migrations and no check of its key. */
interface Facts {
  readonly release: string;
  readonly migration: number | null;
  /** Opens with the newest master key only. */
  readonly keyCheck: { readonly keyId: number; readonly sealed: string } | null;
}

async function factsOf(sql: Sql): Promise<Facts> {
  const [found] = await sql`
    select to_regclass('migrations') is not null as migrations, to_regclass('master_key_check') is not null as keys`;
  const [last] = found?.migrations === true ? await sql`select max(number) as migration from migrations` : [];
  const [check] =
    found?.keys === true
      ? await sql`select key_id, sealed from master_key_check order by key_id desc limit 1`
      : [];
  return {
    release: release.version,
    migration: last === undefined ? null : Number(last.migration),
    keyCheck:
      check === undefined
        ? null
        : { keyId: Number(check.key_id), sealed: (check.sealed as Buffer).toString('base64') },
  };
}

export const backUpService = (options: {
  readonly dataDir: string;
  readonly file: string;
}): Promise<BackupReport> => backUp({ ...options, describe: async (sql) => ({ ...(await factsOf(sql)) }) });

interface ServiceRestore {
  readonly file: string;
  readonly dataDir: string;
  /** The saved `master.key`; becomes the one of the new folder. */
  readonly keyFile: string | null;
  /** The key of the environment, from which the service will take it, too. */
  readonly key: string | null;
}

const NEEDS_KEY =
  'A backup does not contain the master key, and without it no API key works and no sealed credential can be opened.';
const HOW = 'Give the saved master.key with --key-file FILE, or set MASTER_KEY as for the service.';

function keyOf({ keyFile, key }: ServiceRestore): Buffer {
  if (keyFile === null && key === null) throw new BackupRefused(`${NEEDS_KEY} ${HOW}`);
  if (keyFile !== null && !existsSync(keyFile))
    throw new BackupRefused(`There is no file ${keyFile}. ${HOW}`);
  const text = keyFile === null ? (key ?? '') : readFileSync(keyFile, 'utf8').trim();
  if (!/^[0-9a-f]{64}$/i.test(text))
    throw new BackupRefused(`${keyFile ?? 'MASTER_KEY'} does not hold 64 hex digits. ${HOW}`);
  return Buffer.from(text, 'hex');
}

function expectKnown(facts: Partial<Facts>, masterKey: Buffer, file: string): void {
  const newest = newestMigration();
  if (typeof facts.migration === 'number' && facts.migration > newest)
    throw new BackupRefused(
      `${file} was made by release ${facts.release}, whose database is at migration ${facts.migration}; this release knows ${newest}. Restore it with that release or a later one.`,
    );
  const { keyCheck } = facts;
  if (keyCheck === null || keyCheck === undefined) return;
  const sealed = { keyId: keyCheck.keyId, bytes: Buffer.from(keyCheck.sealed, 'base64') };
  if (!opensCheck(createSecrets(masterKey, Date.now), { sealed }))
    throw new BackupRefused(
      `The given master key is not the one of ${file}. Give the key that the service had when the backup was made.`,
    );
}

/**
 * Has the service suspend all guarded exits, at its next start or, where it runs, at once: some of them may have been canceled, or sent, since the
 * copy was made. A database of any release takes the mark; that of a stand-alone exchange has no exits.
 * @returns how many are armed; `null`: these are no tables of a desk
 */
export async function markRestored(sql: Sql): Promise<number | null> {
  const [{ isDesk }] = await sql<[{ readonly isDesk: boolean }]>`
    select to_regclass('desk_watch') is not null as "isDesk"`;
  if (!isDesk) return null;
  await sql`insert into desk_watch (seen_at, since, database_name) values (now(), now(), 'restored')
    on conflict (one) do update set database_name = excluded.database_name`;
  const [{ armed }] = await sql<[{ readonly armed: number }]>`
    select count(*)::int as armed from exits where status in ('armed', 'firing')`;
  return armed;
}

/** @throws BackupRefused with a sentence; then nothing was changed */
export async function restoreService(options: ServiceRestore): Promise<RestoreReport> {
  const { file, dataDir, keyFile } = options;
  const masterKey = keyOf(options);
  return restoreBackup({
    file,
    dataDir,
    accept: (service) => expectKnown(service as Partial<Facts>, masterKey, file),
    async inspect(sql) {
      expectKnown(await factsOf(sql), masterKey, file);
      await markRestored(sql);
    },
    complete(folder) {
      if (keyFile === null) return;
      writeFileSync(join(folder, 'master.key'), `${masterKey.toString('hex')}\n`, {
        mode: 0o600,
        flag: 'wx',
      });
    },
  });
}
