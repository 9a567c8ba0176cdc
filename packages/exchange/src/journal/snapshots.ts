/**
 * Stored states: written while commands go on (snapshot-thread.ts) and at the close, and read at recovery; when they
 * are written, and which rows of the journal they make superfluous.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflate, deflateSync, inflate } from 'node:zlib';
import type { Sql, Tag } from '@bellwether/durable';
import { SnapshotThread } from './snapshot-thread.ts';

/** More than one, because the newest may be damaged. */
const SNAPSHOTS_KEPT = 2;
/** The fastest level: a state is mostly text, which every level compresses well. */
const DEFLATE_LEVEL = 1;

const deflateAsync = promisify(deflate);
const inflateAsync = promisify<Uint8Array, Uint8Array>(inflate);

interface Snapshot {
  /** Position of the last command in it. */
  readonly seq: number;
  readonly at: number;
  readonly state: Uint8Array;
}

/** SHA-256, hex. */
export const hashOf = (state: Uint8Array): string => createHash('sha256').update(state).digest('hex');

type Pack = (state: Uint8Array) => Uint8Array | Promise<Uint8Array>;

const packBeside: Pack = (state) => deflateAsync(state, { level: DEFLATE_LEVEL });
/** For a thread of low priority: those that Node packs with have the priority of the process. */
export const packHere: Pack = (state) => deflateSync(state, { level: DEFLATE_LEVEL });

/**
 * Only for a state whose last command is committed: such a snapshot is valid whichever process leads, so any connection
 * may write it.
 */
export async function writeSnapshot(database: Sql, snapshot: Snapshot, pack = packBeside): Promise<void> {
  const { seq, at, state } = snapshot;
  const packed = await pack(state);
  await database`
    insert into exchange_snapshots (seq, at_ms, state, hash)
    values (${String(seq)}::bigint, ${String(at)}::bigint, ${packed}, ${hashOf(state)})
    on conflict (seq) do nothing`;
  await database`
    delete from exchange_snapshots where seq < (
      select min(seq) from (
        select seq from exchange_snapshots order by seq desc limit ${SNAPSHOTS_KEPT}) as kept)`;
}

/** The newest intact snapshot of a command up to `upTo`. @throws Error when snapshots exist and all are damaged. */
export async function readSnapshot(
  database: Tag,
  log: (message: string) => void,
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<Snapshot | undefined> {
  const rows = await database`
    select seq, at_ms from exchange_snapshots where seq <= ${String(upTo)}::bigint order by seq desc`;
  for (const { seq, at_ms } of rows) {
    const [row] = await database`
      select state, hash from exchange_snapshots where seq = ${String(seq)}::bigint`;
    if (row === undefined) continue;
    const state = await inflateAsync(row.state as Uint8Array).catch(() => undefined);
    if (state !== undefined && hashOf(state) === row.hash)
      return { seq: Number(seq), at: Number(at_ms), state };
    log(`snapshot ${seq} of the paper exchange is damaged; an older one is used`);
  }
  if (rows.length > 0) throw new Error('no snapshot of the paper exchange is whole');
  return undefined;
}

// When snapshots are written: by a thread while commands go on, and by this thread at the close.

const EVERY_COMMANDS = 20_000;
const EVERY_MS = 5 * 60_000;
/** How long the close waits for a thread. */
const THREAD_END_MS = 3_500;

interface SnapshotOptions {
  readonly sql: Sql;
  readonly snapshotEveryCommands?: number;
  readonly snapshotEveryMs?: number;
  readonly prunesJournal?: boolean;
  /** Resolves when what is derived from the journal covers the command `seq`: only then a snapshot may replace it. */
  readonly cover: (seq: number) => Promise<void>;
  readonly log: (message: string, details?: unknown) => void;
}

export class SnapshotSchedule {
  readonly #options: SnapshotOptions;
  /** Position and time of the last one that was begun. A failed one is not tried again before the next is due. */
  #seq = 0;
  #at = 0;
  /** Position of the last one that was written. */
  #writtenSeq = 0;
  #writing: Promise<void> | undefined;
  /** It has the state of the last snapshot of this term. */
  #thread: SnapshotThread | undefined;
  /** Which is writing; after a new term not the one above. */
  #busy: SnapshotThread | undefined;

  constructor(options: SnapshotOptions) {
    this.#options = options;
  }

  /**
   * A term begins. The journal may be another one by now, as after a restore, so no thread goes on from its own state.
   * @param seq of the snapshot that the state was recovered from; 0 without one
   */
  begin(seq: number, at: number): void {
    this.#beginAt(seq, at);
    this.#writtenSeq = seq;
    const thread = this.#thread;
    this.#thread = undefined;
    void (this.#writing ?? Promise.resolve()).then(() => thread?.stop());
  }

  #beginAt(seq: number, at: number): void {
    this.#seq = seq;
    this.#at = at;
  }

  isDue(seq: number, at: number): boolean {
    const { snapshotEveryCommands = EVERY_COMMANDS, snapshotEveryMs = EVERY_MS } = this.#options;
    if (this.#writing !== undefined) return false;
    return seq - this.#seq >= snapshotEveryCommands || at - this.#at >= snapshotEveryMs;
  }

  /** @param durable resolves when the command `seq` is committed */
  take(seq: number, at: number, durable: Promise<void>): void {
    const { sql, cover, log } = this.#options;
    this.#beginAt(seq, at);
    this.#writing = durable
      .then(() => cover(seq))
      .then(() => {
        if (this.#thread === undefined || this.#thread.isOver)
          this.#thread = new SnapshotThread({ database: sql.address() }, log);
        this.#busy = this.#thread;
        return this.#busy.write(seq);
      })
      .then(() => {
        this.#writtenSeq = seq;
      })
      .catch((error: unknown) => this.#failed(error))
      // Also then: a thread that was ended may have written its snapshot.
      .then(() => this.#prune())
      .finally(() => {
        this.#busy = undefined;
        this.#writing = undefined;
      });
  }

  /** Ends the threads. */
  async end(): Promise<void> {
    const timer = setTimeout(() => void this.#busy?.stop(), THREAD_END_MS);
    await this.#writing;
    clearTimeout(timer);
    await this.#thread?.stop();
  }

  /** After the end: the last state, whose last command is committed. Nothing runs any more that it could delay. */
  async writeLast(seq: number, state: () => Omit<Snapshot, 'seq'>): Promise<void> {
    if (seq === this.#writtenSeq) return;
    const { sql, cover } = this.#options;
    await cover(seq)
      .then(() => writeSnapshot(sql, { seq, ...state() }))
      .then(() => {
        this.#writtenSeq = seq;
      })
      .then(() => this.#prune())
      .catch((error: unknown) => this.#failed(error));
  }

  async #prune(): Promise<void> {
    const { sql, prunesJournal = true, log } = this.#options;
    if (!prunesJournal) return;
    await pruneJournal(sql).catch((error: unknown) =>
      log('the journal of the paper exchange was not pruned', error),
    );
  }

  #failed(error: unknown): void {
    this.#options.log('a snapshot of the paper exchange was not written', error);
  }
}

// Deletes the journal's rows that no recovery can need: those before the oldest snapshot that is kept. A recovery begins at
// a snapshot and reads what follows it. While there are fewer snapshots than are kept, none of them replaces the journal.

const ROWS_PER_DELETE = 5_000;
/** A stop waits for the rest of a turn. What is left is deleted after the next snapshot. */
const DELETES_PER_TURN = 20;

async function pruneJournal(database: Sql): Promise<void> {
  for (let turn = 0; turn < DELETES_PER_TURN; turn += 1) {
    const { count } = await database`
      delete from exchange_journal where seq = any(array(
        select seq from exchange_journal
        where seq < (select min(seq) from exchange_snapshots having count(*) >= ${SNAPSHOTS_KEPT}::int) order by seq limit ${ROWS_PER_DELETE}::int))`;
    if (count < ROWS_PER_DELETE) return;
  }
}
