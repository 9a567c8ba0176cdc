/**
 * Restores a backup into an empty data folder. Everything happens in a folder beside it, up to a start of PostgreSQL that
 * recovers to the backup's point; only then does that folder take the name. So a restore that is refused, interrupted
 * or repeated leaves nothing that a service could start on.
 */
import {
  closeSync,
  createReadStream,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { createZstdDecompress } from 'node:zlib';
import { openPool, type Sql } from '../pool.ts';
import {
  BACKUP_FORMAT,
  BackupRefused,
  CHECKSUM,
  CLUSTER,
  MANIFEST,
  type Manifest,
  machineKind,
  POINT,
  type Point,
} from './backup.ts';
import { adminUrl, startEmbeddedPostgres } from './embedded-postgres.ts';
import { DESK_DATABASE } from './embedded-role.ts';
import { findPostgres, type PostgresBinaries } from './postgres-binaries.ts';
import { endPostmaster, exists, readPostmaster, serves } from './postmaster.ts';
import { BrokenArchive, type OpenEntry, readArchive } from './tar.ts';

const MANIFEST_BYTES = 1_048_576;
/** The log of a backup may have gigabytes. */
const RECOVER_WITHIN_MS = 3_600_000;
const STOP_WITHIN_MS = 60_000;
/** Names of a backup's files, and no others: an archive that was altered must not write to other places. */
const SAFE_NAME = /^postgres(\/[A-Za-z0-9_][A-Za-z0-9._-]*)*$/;
const UNFINISHED = '.restoring-';

export interface RestoreReport {
  readonly point: Point;
  readonly files: number;
  /** Before compression. */
  readonly bytes: number;
}

export interface RestoreOptions {
  readonly file: string;
  /** Must be missing or empty. */
  readonly dataDir: string;
  /** @throws BackupRefused before anything is written, when this release cannot use the backup */
  readonly accept: (service: Manifest['service']) => void;
  /** Looks at the restored database before it gets its name. @throws BackupRefused */
  readonly inspect: (sql: Sql) => Promise<void>;
  /** Adds what belongs beside the database. */
  readonly complete: (dataDir: string) => void;
}

function expectEmpty(dataDir: string, { home }: PostgresBinaries): void {
  const cluster = join(home, CLUSTER);
  const running = existsSync(cluster) ? readPostmaster(cluster) : null;
  if (running !== null && exists(running.pid) && serves(running.pid, cluster))
    throw new BackupRefused(`A service is running on ${dataDir}. Restore into another, empty folder.`);
  if ((existsSync(dataDir) && readdirSync(dataDir).length > 0) || existsSync(cluster))
    throw new BackupRefused(
      `${dataDir} is not empty, and a restore never replaces anything. Name another folder, or move this one away.`,
    );
}

/** Removes the folders of restores that were interrupted. */
async function clearRemains(dataDir: string): Promise<void> {
  const start = basename(dataDir) + UNFINISHED;
  for (const name of readdirSync(dirname(dataDir))) {
    const pid = name.startsWith(start) ? Number(name.slice(start.length)) : Number.NaN;
    if (!Number.isInteger(pid) || exists(pid)) continue;
    const remains = join(dirname(dataDir), name);
    const { home } = await findPostgres(remains);
    const cluster = join(home, CLUSTER);
    const server = readPostmaster(cluster);
    // It recovers without clients.
    if (server !== null && serves(server.pid, cluster))
      await endPostmaster(server.pid, realpathSync(cluster));
    for (const folder of [remains, home]) rmSync(folder, { recursive: true, force: true });
  }
}

function acceptManifest(text: string, file: string, { major }: PostgresBinaries): Manifest {
  let manifest: Partial<Manifest>;
  try {
    manifest = JSON.parse(text) as Partial<Manifest>;
  } catch {
    throw new BrokenArchive('its manifest cannot be read');
  }
  if (manifest.format !== BACKUP_FORMAT)
    throw new BackupRefused(
      `${file} has format ${String(manifest.format)}, this release reads ${BACKUP_FORMAT}. Restore it with the release that wrote it.`,
    );
  if (manifest.postgres !== major || manifest.machine !== machineKind())
    throw new BackupRefused(
      `${file} is of PostgreSQL ${manifest.postgres} on ${manifest.machine}; this is PostgreSQL ${major} on ${machineKind()}. Restore it where those fit.`,
    );
  return manifest as Manifest;
}

async function textOf(entry: OpenEntry): Promise<string> {
  if (entry.size > MANIFEST_BYTES) throw new BrokenArchive(`${entry.name} is too large`);
  const pieces: Buffer[] = [];
  for await (const piece of entry.content()) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

async function unpack(entry: OpenEntry, into: string, own: (path: string) => void): Promise<void> {
  if (!SAFE_NAME.test(entry.name)) throw new BrokenArchive(`it contains ${JSON.stringify(entry.name)}`);
  const path = join(into, entry.name);
  if (entry.kind === 'folder') {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return own(path);
  }
  const handle = openSync(path, 'wx', 0o600);
  try {
    for await (const piece of entry.content()) writeFileSync(handle, piece);
  } finally {
    closeSync(handle);
  }
  own(path);
}

type Unpacking = Pick<RestoreOptions, 'file' | 'accept'> & { readonly binaries: PostgresBinaries };

/** @throws BrokenArchive unless the archive is whole and as it was written */
async function unpackAll({ file, accept, binaries }: Unpacking): Promise<RestoreReport> {
  const source = createReadStream(file);
  const plain = createZstdDecompress();
  source.on('error', (error) => plain.destroy(error));
  let isAccepted = false;
  let isWhole = false;
  let point: Point | undefined;
  let files = 0;
  let bytes = 0;
  try {
    for await (const entry of readArchive(source.pipe(plain))) {
      if (!isAccepted) {
        if (entry.name !== MANIFEST) throw new BrokenArchive('it does not begin with a manifest');
        accept(acceptManifest(await textOf(entry), file, binaries).service);
        isAccepted = true;
      } else if (entry.name === POINT) point = JSON.parse(await textOf(entry)) as Point;
      else if (entry.name === CHECKSUM) isWhole = (await textOf(entry)).trim() === entry.digestBefore();
      else {
        await unpack(entry, binaries.home, binaries.own);
        files += entry.kind === 'file' ? 1 : 0;
        bytes += entry.size;
      }
    }
  } finally {
    source.destroy();
    plain.destroy();
  }
  if (point === undefined || !isWhole) throw new BrokenArchive('its checksum does not fit');
  return { point, files, bytes };
}

/** Lets PostgreSQL recover to the backup's point: it refuses to start where log is missing. */
async function recover(dataDir: string, inspect: RestoreOptions['inspect']): Promise<void> {
  const server = await startEmbeddedPostgres({
    dataDir,
    database: DESK_DATABASE,
    startWithinMs: RECOVER_WITHIN_MS,
  });
  const sql = openPool(adminUrl(server.socketDir, DESK_DATABASE), { max: 1, applicationName: 'restore' });
  try {
    await inspect(sql);
  } finally {
    await sql.end({ timeout: 1 });
    await server.stop(STOP_WITHIN_MS);
  }
}

/** @throws BackupRefused with a sentence; then nothing was changed */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { file, accept, inspect, complete } = options;
  const dataDir = resolve(options.dataDir);
  if (!existsSync(file)) throw new BackupRefused(`There is no file ${file}.`);
  mkdirSync(dirname(dataDir), { recursive: true });
  const target = await findPostgres(dataDir);
  expectEmpty(dataDir, target);
  await clearRemains(dataDir);
  const unfinished = `${dataDir}${UNFINISHED}${process.pid}`;
  mkdirSync(unfinished, { mode: 0o700 });
  const beside = await findPostgres(unfinished);
  try {
    const report = await unpackAll({ file, accept, binaries: beside });
    await recover(unfinished, inspect);
    complete(unfinished);
    // Where another user runs PostgreSQL, its files are elsewhere.
    if (beside.home !== unfinished) renameSync(join(beside.home, CLUSTER), join(target.home, CLUSTER));
    // Takes the place of an empty folder, and fails when it is no longer empty.
    renameSync(unfinished, dataDir);
    return report;
  } catch (error) {
    throw asRefusal(error, file, dataDir);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
    if (beside.home !== unfinished) rmSync(beside.home, { recursive: true, force: true });
  }
}

function asRefusal(error: unknown, file: string, dataDir: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof BrokenArchive || String(code).startsWith('ZSTD') || code === 'Z_BUF_ERROR')
    return new BackupRefused(
      `${file} is damaged or incomplete: ${message}. Nothing was restored. Use another copy of it, or an earlier backup.`,
    );
  if (code === 'ENOSPC' || code === 'EFBIG' || code === 'EDQUOT')
    return new BackupRefused(
      `There is no room for ${dataDir} (${code}). Nothing was kept. Make room, and run it again.`,
    );
  if (code === 'ENOTEMPTY' || code === 'EEXIST')
    return new BackupRefused(
      `${dataDir} is no longer empty. Nothing in it was touched. Name another folder.`,
    );
  return error;
}
