/**
 * A backup of the embedded database while the service runs: a copy of its files and of the log that was written
 * meanwhile, in one archive (docs/decisions/what-is-kept.md). Its manifest comes first, so that a restore can refuse before it writes; its
 * checksum comes last, so that an archive without its end is never taken for a whole one.
 *
 * The archive gets its name only once it is whole and on the disk.
 */
import { createHash, type Hash } from 'node:crypto';
import {
  closeSync,
  createWriteStream,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress } from 'node:zlib';
import { DatabaseError } from '../errors.ts';
import { openPool, type Session, type Sql } from '../pool.ts';
import { DESK_DATABASE } from './embedded-role.ts';
import { exists } from './postmaster.ts';
import { type ReachedServer, reachServer } from './reach.ts';
import { END_OF_ARCHIVE, headerOf, paddingOf } from './tar.ts';

export const BACKUP_FORMAT = 1;
export const MANIFEST = 'manifest.json';
export const POINT = 'point.json';
export const CHECKSUM = 'SHA256';
/** The files of the database lie under it. */
export const CLUSTER = 'postgres';

export interface Manifest {
  readonly format: number;
  /** PostgreSQL's files fit servers of this major version, on machines of this kind. */
  readonly postgres: number;
  readonly machine: string;
  /** Content that the service adds: facts that its restore needs before it begins. */
  readonly service: Readonly<Record<string, unknown>>;
}

/** Everything that was acknowledged before it is in the backup. */
export interface Point {
  readonly at: string;
  readonly position: string;
}

export interface BackupReport {
  readonly point: Point;
  readonly files: number;
  /** Before compression. */
  readonly bytes: number;
}

export const machineKind = (): string => `${process.platform}-${process.arch}`;

/** A backup or a restore that cannot be done, as a sentence that says what to do. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
}

const UNFINISHED = '.unfinished-';
const SLOT = 'bellwether_backup';
const PIECE_BYTES = 512 * 1024;
const PING_EVERY_MS = 5_000;
/** The server ends the session of a backup that is frozen, and lets go of the log that it held back. */
const SILENT_AFTER_MS = 60_000;
/** PostgreSQL makes these anew at its start. What is in `pg_wal` comes at the end. */
const CONTENT_LEFT_OUT = new Set([
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
]);
const LEFT_OUT = /^(postmaster\.(pid|opts)|pgsql_tmp.*|pg_internal\.init.*|backup_label.*|tablespace_map.*)$/;
/** The last, as for PostgreSQL's own backups: where recovery begins says the label. */
const CONTROL_FILE = join('global', 'pg_control');
const SLOT_TAKEN = '42710';

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** The pieces of an archive, and what they add up to. */
class Archive {
  readonly #hash: Hash = createHash('sha256');
  files = 0;
  bytes = 0;

  #count(piece: Buffer): Buffer {
    this.#hash.update(piece);
    this.bytes += piece.length;
    return piece;
  }

  folder(name: string): Buffer {
    return this.#count(headerOf({ name, kind: 'folder', size: 0 }));
  }

  *whole(name: string, content: Buffer): Generator<Buffer> {
    this.files += 1;
    yield this.#count(
      Buffer.concat([
        headerOf({ name, kind: 'file', size: content.length }),
        content,
        paddingOf(content.length),
      ]),
    );
  }

  /** A file that others write to: as long as it is now. What recovery writes again may be missing or half new. */
  *file(name: string, path: string): Generator<Buffer> {
    let handle: number;
    try {
      handle = openSync(path, 'r');
    } catch (error) {
      // A table that was dropped, or a sort that ended, since the folder was read.
      if (isMissing(error)) return;
      throw error;
    }
    try {
      const { size } = fstatSync(handle);
      this.files += 1;
      yield this.#count(headerOf({ name, kind: 'file', size }));
      for (let at = 0; at < size; ) {
        const piece = Buffer.alloc(Math.min(PIECE_BYTES, size - at));
        const read = readSync(handle, piece, 0, piece.length, at);
        // The table was made shorter meanwhile: the rest stays zeros.
        at += read === 0 ? piece.length : read;
        yield this.#count(read === 0 ? piece : piece.subarray(0, read));
      }
      yield this.#count(paddingOf(size));
    } finally {
      closeSync(handle);
    }
  }

  *end(): Generator<Buffer> {
    const digest = Buffer.from(`${this.#hash.copy().digest('hex')}\n`);
    yield* this.whole(CHECKSUM, digest);
    yield END_OF_ARCHIVE;
  }
}

/** Few large pieces: each costs the compression a trip to another thread. */
async function* gathered(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    waiting.push(piece);
    bytes += piece.length;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

function* filesOf(archive: Archive, cluster: string): Generator<Buffer> {
  const folders = [cluster];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const path = relative(cluster, folder);
    yield archive.folder(join(CLUSTER, path));
    if (CONTENT_LEFT_OUT.has(path)) continue;
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const inside = join(path, entry.name);
      if (LEFT_OUT.test(entry.name) || inside === CONTROL_FILE) continue;
      if (entry.isDirectory()) folders.push(join(folder, entry.name));
      else if (entry.isFile()) yield* archive.file(join(CLUSTER, inside), join(folder, entry.name));
    }
  }
}

/** Read twice alike: the server writes the file in one piece, but not every system lets it be read in one. */
function* controlFile(archive: Archive, cluster: string): Generator<Buffer> {
  const path = join(cluster, CONTROL_FILE);
  let last = readFileSync(path);
  for (let again = readFileSync(path); !again.equals(last); again = readFileSync(path)) last = again;
  yield* archive.whole(join(CLUSTER, CONTROL_FILE), last);
}

function* logFiles(archive: Archive, cluster: string, names: readonly string[]): Generator<Buffer> {
  for (const name of names) {
    const path = join(cluster, 'pg_wal', name);
    if (!existsSync(path))
      throw new BackupRefused(
        'The database wrote more than 4 GB while the backup ran, and had to let go of its log. Run the backup again, to a faster disk or at a quieter time.',
      );
    yield* archive.file(join(CLUSTER, 'pg_wal', name), path);
  }
}

async function begin(session: Session): Promise<string> {
  try {
    await session`select pg_create_physical_replication_slot(${SLOT}, true, true)`;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === SLOT_TAKEN)
      throw new BackupRefused('Another backup of this folder is running. Wait until it has ended.');
    throw error;
  }
  // At once, instead of spread over minutes: the database writes what it holds back, for a moment.
  const [row] = await session`select pg_walfile_name(pg_backup_start(${SLOT}, true)) as first`;
  return String(row?.first);
}

async function end(session: Session) {
  const [now] =
    await session`select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`;
  const [row] = await session`
    select lsn::text as position, pg_walfile_name(lsn) as last, labelfile as label from pg_backup_stop(false)`;
  const point: Point = { at: String(now?.at), position: String(row?.position) };
  return { point, last: String(row?.last), label: String(row?.label) };
}

interface Source {
  readonly server: ReachedServer;
  readonly session: Session;
  readonly manifest: Manifest;
  readonly archive: Archive;
  readonly onPoint: (point: Point) => void;
}

async function* contentOf({ server, session, manifest, archive, onPoint }: Source): AsyncGenerator<Buffer> {
  const { cluster } = server;
  const first = await begin(session);
  yield* archive.whole(MANIFEST, Buffer.from(`${JSON.stringify(manifest)}\n`));
  yield* filesOf(archive, cluster);
  yield* controlFile(archive, cluster);
  const { point, last, label } = await end(session);
  yield* archive.whole(join(CLUSTER, 'backup_label'), Buffer.from(label));
  const names = await session`
    select name from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$' and name between ${first} and ${last} order by name`;
  const listed = names.map(({ name }) => String(name));
  // The first may be gone already; then the list does not begin with it.
  yield* logFiles(archive, cluster, [...new Set([first, ...listed, last])]);
  onPoint(point);
  yield* archive.whole(POINT, Buffer.from(`${JSON.stringify(point)}\n`));
  yield* archive.end();
}

export interface BackupOptions {
  readonly dataDir: string;
  /** Must not exist. */
  readonly file: string;
  /** Reads what a restore must know, from the database that is about to be copied. */
  readonly describe: (sql: Sql) => Promise<Manifest['service']>;
}

/** Removes the files of backups that were killed. */
function clearRemains(file: string): void {
  const start = basename(file) + UNFINISHED;
  for (const name of readdirSync(dirname(file))) {
    const pid = name.startsWith(start) ? Number(name.slice(start.length)) : Number.NaN;
    if (Number.isInteger(pid) && !exists(pid)) rmSync(join(dirname(file), name), { force: true });
  }
}

/** @throws BackupRefused with a sentence; then there is no file */
export async function backUp({ dataDir, file, describe }: BackupOptions): Promise<BackupReport> {
  const taken = `${file} exists already. Name another file: a backup never replaces one.`;
  if (existsSync(file)) throw new BackupRefused(taken);
  if (!existsSync(dirname(file)))
    throw new BackupRefused(`The folder ${dirname(file)} does not exist. Create it, or name another file.`);
  const server = await reachServer(dataDir, DESK_DATABASE);
  const sql = openPool(server.url, {
    max: 1,
    applicationName: 'backup',
    // Its checkpoint takes as long as the disk needs.
    statementTimeoutMs: 0,
  });
  clearRemains(file);
  const unfinished = `${file}${UNFINISHED}${process.pid}`;
  try {
    const manifest: Manifest = {
      format: BACKUP_FORMAT,
      postgres: server.major,
      machine: machineKind(),
      service: await describe(sql),
    };
    const archive = new Archive();
    const point = await write(sql, unfinished, { server, manifest, archive });
    if (existsSync(file)) throw new BackupRefused(taken);
    renameSync(unfinished, file);
    syncFolder(dirname(file));
    return { point, files: archive.files, bytes: archive.bytes };
  } catch (error) {
    throw asRefusal(error, file);
  } finally {
    rmSync(unfinished, { force: true });
    await sql.end({ timeout: 1 });
    await server.close();
  }
}

async function write(
  sql: Sql,
  unfinished: string,
  source: Pick<Source, 'server' | 'manifest' | 'archive'>,
): Promise<Point> {
  const session = await sql.session({
    settings: { idle_session_timeout: String(SILENT_AFTER_MS) },
  });
  const ping = setInterval(() => session`select 1`.then(undefined, () => {}), PING_EVERY_MS);
  const stop = new AbortController();
  session.lost.catch((loss: unknown) => stop.abort(loss));
  let reached: Point | undefined;
  const onPoint = (point: Point): void => {
    reached = point;
  };
  try {
    await pipeline(
      Readable.from(gathered(contentOf({ ...source, session, onPoint })), { objectMode: false }),
      createZstdCompress(),
      createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true }),
      { signal: stop.signal },
    );
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    clearInterval(ping);
    session.end();
  }
  return reached as Point;
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

function asRefusal(error: unknown, file: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EFBIG' || code === 'EDQUOT')
    return new BackupRefused(
      `There is no room for ${file} (${code}). Nothing of it was kept. Make room, and run it again.`,
    );
  if (code === 'EACCES' || code === 'EPERM')
    return new BackupRefused(`${message}. Run the backup as the user that runs the service.`);
  if (code === 'CONNECTION_CLOSED')
    return new BackupRefused(
      'The connection to the database was lost while the backup ran: it was stopped, or the backup was frozen. Nothing of it was kept. Run it again.',
    );
  return error;
}
