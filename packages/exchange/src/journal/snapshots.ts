/** Stored states: written while commands go on (snapshot-thread.ts), and at the close; read at recovery. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflate, deflateSync, inflate } from 'node:zlib';
import type { Sql, Tag } from '@bellwether/durable';

/** More than one, because the newest may be damaged. */
export const SNAPSHOTS_KEPT = 2;
/** The fastest level: a state is mostly text, which every level compresses well. */
const DEFLATE_LEVEL = 1;

const deflateAsync = promisify(deflate);
const inflateAsync = promisify<Uint8Array, Uint8Array>(inflate);

export interface Snapshot {
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
