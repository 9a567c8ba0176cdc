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
  createReadStream,
  createWriteStream,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { DatabaseError } from '../errors.ts';
import { openPool, type Session, type Sql } from '../pool.ts';
import {
  adminUrl,
  DESK_DATABASE,
  type ReachedServer,
  reachServer,
  startEmbeddedPostgres,
} from './embedded-postgres.ts';
import {
  endPostmaster,
  exists,
  findPostgres,
  type PostgresBinaries,
  readPostmaster,
  serves,
} from './postgres-process.ts';

const BACKUP_FORMAT = 1;
const MANIFEST = 'manifest.json';
const POINT = 'point.json';
const CHECKSUM = 'SHA256';
/** The files of the database lie under it. */
const CLUSTER = 'postgres';

export interface Manifest {
  readonly format: number;
  /** PostgreSQL's files fit servers of this major version, on machines of this kind. */
  readonly postgres: number;
  readonly machine: string;
  /** Content that the service adds: facts that its restore needs before it begins. */
  readonly service: Readonly<Record<string, unknown>>;
}

/** Everything that was acknowledged before it is in the backup. */
interface Point {
  readonly at: string;
  readonly position: string;
}

export interface BackupReport {
  readonly point: Point;
  readonly files: number;
  /** Before compression. */
  readonly bytes: number;
}

const machineKind = (): string => `${process.platform}-${process.arch}`;

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

async function beginBackup(session: Session): Promise<string> {
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

async function endBackup(session: Session) {
  const [now] =
    await session`select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`;
  const [row] = await session`
    select lsn::text as position, pg_walfile_name(lsn) as last, labelfile as label from pg_backup_stop(false)`;
  const point: Point = { at: String(now?.at), position: String(row?.position) };
  return { point, last: String(row?.last), label: String(row?.label) };
}

interface BackupSource {
  readonly server: ReachedServer;
  readonly session: Session;
  readonly manifest: Manifest;
  readonly archive: Archive;
  readonly onPoint: (point: Point) => void;
}

async function* contentOf({
  server,
  session,
  manifest,
  archive,
  onPoint,
}: BackupSource): AsyncGenerator<Buffer> {
  const { cluster } = server;
  const first = await beginBackup(session);
  yield* archive.whole(MANIFEST, Buffer.from(`${JSON.stringify(manifest)}\n`));
  yield* filesOf(archive, cluster);
  yield* controlFile(archive, cluster);
  const { point, last, label } = await endBackup(session);
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

interface BackupOptions {
  readonly dataDir: string;
  /** Must not exist. */
  readonly file: string;
  /** Reads what a restore must know, from the database that is about to be copied. */
  readonly describe: (sql: Sql) => Promise<Manifest['service']>;
}

/** Removes the files of backups that were killed. */
function clearBackups(file: string): void {
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
  clearBackups(file);
  const unfinished = `${file}${UNFINISHED}${process.pid}`;
  try {
    const manifest: Manifest = {
      format: BACKUP_FORMAT,
      postgres: server.major,
      machine: machineKind(),
      service: await describe(sql),
    };
    const archive = new Archive();
    const point = await writeBackup(sql, unfinished, { server, manifest, archive });
    if (existsSync(file)) throw new BackupRefused(taken);
    renameSync(unfinished, file);
    syncFolder(dirname(file));
    return { point, files: archive.files, bytes: archive.bytes };
  } catch (error) {
    throw asBackupRefusal(error, file);
  } finally {
    rmSync(unfinished, { force: true });
    await sql.end({ timeout: 1 });
    await server.close();
  }
}

async function writeBackup(
  sql: Sql,
  unfinished: string,
  source: Pick<BackupSource, 'server' | 'manifest' | 'archive'>,
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

function asBackupRefusal(error: unknown, file: string): unknown {
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

// Restores a backup into an empty data folder. Everything happens in a folder beside it, up to a start of PostgreSQL that
// recovers to the backup's point; only then does that folder take the name. So a restore that is refused, interrupted
// or repeated leaves nothing that a service could start on.

const MANIFEST_BYTES = 1_048_576;
/** The log of a backup may have gigabytes. */
const RECOVER_WITHIN_MS = 3_600_000;
const STOP_WITHIN_MS = 60_000;
/** Names of a backup's files, and no others: an archive that was altered must not write to other places. */
const SAFE_NAME = /^postgres(\/[A-Za-z0-9_][A-Za-z0-9._-]*)*$/;
const RESTORING = '.restoring-';

export interface RestoreReport {
  readonly point: Point;
  readonly files: number;
  /** Before compression. */
  readonly bytes: number;
}

interface RestoreOptions {
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
async function clearRestores(dataDir: string): Promise<void> {
  const start = basename(dataDir) + RESTORING;
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
  await clearRestores(dataDir);
  const unfinished = `${dataDir}${RESTORING}${process.pid}`;
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
    throw asRestoreRefusal(error, file, dataDir);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
    if (beside.home !== unfinished) rmSync(beside.home, { recursive: true, force: true });
  }
}

function asRestoreRefusal(error: unknown, file: string, dataDir: string): unknown {
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

// Archives in the tar format (ustar), so that a backup can be looked into with the system's own tools. Only regular files
// and folders; what else an archive contains is refused.

const BLOCK_BYTES = 512;
const MAX_NAME_BYTES = 100;
const TAR_FOLDER = '5';
const TAR_FILE = '0';

interface Entry {
  readonly name: string;
  readonly kind: 'file' | 'folder';
  readonly size: number;
}

/** The archive is not one that was written here, or not all of it is there. */
class BrokenArchive extends Error {
  override readonly name = 'BrokenArchive';
}

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;

function checksumOf(header: Buffer): number {
  let sum = 0;
  // The checksum's own field counts as spaces.
  for (let at = 0; at < BLOCK_BYTES; at++) sum += at >= 148 && at < 156 ? 32 : (header[at] ?? 0);
  return sum;
}

function headerOf({ name, kind, size }: Entry): Buffer {
  const path = kind === 'folder' ? `${name}/` : name;
  if (Buffer.byteLength(path) > MAX_NAME_BYTES)
    throw new Error(`the name ${path} is too long for an archive`);
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(path, 0);
  header.write(octal(kind === 'folder' ? 0o700 : 0o600, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  // Files of a database have at most 1 GB, the format's field takes eight times that.
  header.write(octal(size, 11), 124);
  header.write(octal(0, 11), 136);
  header.write(kind === 'folder' ? TAR_FOLDER : TAR_FILE, 156);
  header.write('ustar\0', 257);
  header.write('00', 263);
  header.write(octal(checksumOf(header), 6), 148);
  header.write(' ', 155);
  return header;
}

/** Padding after a file's content, up to the next block. */
const paddingOf = (size: number): Buffer => Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);

/** Two empty blocks end an archive. */
const END_OF_ARCHIVE = Buffer.alloc(2 * BLOCK_BYTES);

function entryOf(header: Buffer): Entry {
  const text = (from: number, bytes: number): string =>
    header.toString('utf8', from, from + bytes).split('\0', 1)[0] ?? '';
  const kind = text(156, 1);
  const size = Number.parseInt(text(124, 12), 8);
  const isSound =
    Number.parseInt(text(148, 8), 8) === checksumOf(header) &&
    (kind === TAR_FILE || kind === TAR_FOLDER) &&
    Number.isSafeInteger(size);
  if (!isSound) throw new BrokenArchive('it contains a header that is not sound');
  return {
    name: text(0, MAX_NAME_BYTES).replace(/\/$/, ''),
    kind: kind === TAR_FOLDER ? 'folder' : 'file',
    size,
  };
}

interface OpenEntry extends Entry {
  /** SHA-256 of the archive up to this entry. */
  digestBefore(): string;
  /** The content in pieces; to be read to its end before the next entry. */
  content(): AsyncGenerator<Buffer>;
}

/** @throws BrokenArchive when the bytes end before the archive does */
async function* readArchive(bytes: AsyncIterable<Buffer>): AsyncGenerator<OpenEntry> {
  const source = pieces(bytes);
  const hash = createHash('sha256');
  for (;;) {
    const header = await source.exactly(BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) return;
    const entry = entryOf(header);
    const before = hash.copy();
    hash.update(header);
    async function* content(): AsyncGenerator<Buffer> {
      for (let left = entry.size; left > 0; ) {
        const piece = await source.some(left);
        left -= piece.length;
        hash.update(piece);
        yield piece;
      }
      const padding = paddingOf(entry.size).length;
      if (padding > 0) hash.update(await source.exactly(padding));
    }
    yield { ...entry, content, digestBefore: () => before.digest('hex') };
  }
}

function pieces(bytes: AsyncIterable<Buffer>) {
  const iterator = bytes[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const some = async (atMost: number): Promise<Buffer> => {
    while (rest.length === 0) {
      const next = await iterator.next();
      if (next.done === true) throw new BrokenArchive('it ends too early');
      rest = next.value;
    }
    const piece = rest.subarray(0, atMost);
    rest = rest.subarray(piece.length);
    return piece;
  };
  return {
    some,
    async exactly(count: number): Promise<Buffer> {
      const parts: Buffer[] = [];
      for (let left = count; left > 0; ) {
        const piece = await some(left);
        left -= piece.length;
        parts.push(piece);
      }
      return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    },
  };
}
