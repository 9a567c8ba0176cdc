/**
 * The desk's watch: its sign of life in the database, and what it knows of that database. Replicas, and a record beside the database, know how far
 * its guarded exits had come: one that is earlier was restored from a copy (docs/decisions/exits-and-silence.md).
 */
import { existsSync, type Stats } from 'node:fs';
import { mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { only, type Sql } from './connection.ts';

export interface DeskWatch {
  /** How far the exits had come that this replica has seen, for the database to compare itself with; `null`: not known. */
  known(): string | null;
  /** What a statement that compared itself has found. */
  hear(generation: string): void;
  /**
   * A sign of life. It suspends the exits of a database that was restored, and tells agents that the desk was away.
   * @param isRestored a statement has found that it was
   * @returns whether the silence of an agent is watched
   */
  turn(isRestored?: boolean): Promise<boolean>;
}

interface Parts {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: { warn(context: object, message: string): void };
  /** Where the record is kept; `null`: there is no place. */
  readonly recordDir: string | null;
}

/** A longer pause of the watch is a pause of the desk. Calls are written by five seconds after they were made, and `slack` waits for them. */
export const SILENCE = { gap: '10 seconds', slack: '6 seconds' };

const RECORD = 'exits-seen';
const GENERATION = /^\d{1,18} \d{1,9} \d{1,18} [0-9A-F]{8} \d{1,18}$/;

/** The watch, after its first turn: exits of a restored database are suspended before anything looks at them. */
export async function startDeskWatch({ sql, clock, log, recordDir }: Parts): Promise<DeskWatch> {
  let known: string | null = null;
  let written: string | null = null;

  const hear = (generation: string): void => {
    if (known === null || isLater(generation, known)) known = generation;
  };

  let isKept = true;
  /** Without the record a start on a copy is not noticed; nothing else depends on it. */
  const tried = async (what: () => Promise<void>): Promise<void> => {
    try {
      await what();
      isKept = true;
    } catch (error) {
      if (isKept)
        log.warn({ err: error, folder: recordDir }, 'the record of the exits that were seen cannot be kept');
      isKept = false;
    }
  };

  const write = async (folder: string): Promise<void> => {
    if (known === null || known === written) return;
    written = known;
    const text = known;
    await tried(async () => {
      const file = join(folder, RECORD);
      const made = await open(`${file}.new`, 'w', 0o600);
      await made.writeFile(`${text}\n${placeOf(await made.stat())}\n`).finally(() => made.close());
      await rename(`${file}.new`, file);
    });
  };

  const read = async (folder: string): Promise<void> =>
    tried(async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = join(folder, RECORD);
      if (!existsSync(file)) return;
      const [generation = '', place] = (await readFile(file, 'utf8')).split('\n');
      if (GENERATION.test(generation)) known = generation;
      else log.warn({ file }, `this record of the exits that were seen cannot be read. ${IF_A_COPY}`);
      if (known !== null && place !== placeOf(await stat(file)))
        log.warn({ file }, `this record was copied. ${IF_A_COPY}`);
    });

  const turn = async (isDue: boolean): Promise<boolean> => {
    const at = new Date(clock.now());
    // Mostly no exit is open, nor is silence watched, which a read finds out without a write.
    const { silences, exits, isLate } = only(
      await sql<{ readonly silences: boolean; readonly exits: boolean; readonly isLate: boolean }[]>`
        select exists (select 1 from safeguards where silence_seconds is not null) as silences,
          exists (select 1 from exits where sealed is not null) as exits,
          exists (select 1 from desk_watch where seen_at < ${at}::timestamptz - interval '1 minute') as "isLate"`,
    );
    if (isDue || silences || exits || isLate) {
      const {
        generation,
        restored,
        suspended,
        away_from: awayFrom,
      } = only(await sql<Kept[]>`select * from keep_watch(${at}, ${SILENCE.gap}::interval, ${known})`);
      hear(generation);
      if (restored)
        log.warn(
          { exits: suspended },
          `the database was restored from an earlier state of it: its guarded exits are suspended. ${BACK_AGAIN}`,
        );
      if (awayFrom !== null)
        log.warn(
          { since: awayFrom },
          'the desk was away while guarded exits were armed; their agents are told',
        );
    }
    if (recordDir !== null) await write(recordDir);
    return silences;
  };

  if (recordDir !== null) await read(recordDir);
  const before = known as string | null;
  await turn(true);
  if (before !== null && deskOf(before) !== deskOf(known))
    log.warn(
      { folder: recordDir },
      `the record of the exits that were seen is of another database. ${IF_A_COPY}`,
    );
  return {
    known: () => known,
    hear,
    turn: (isRestored = false) => turn(isRestored),
  };
}

interface Kept {
  readonly generation: string;
  readonly restored: boolean;
  readonly suspended: number | null;
  readonly away_from: Date | null;
}

const IF_A_COPY =
  'If this database was made of a copy of its files, run npm run after-copy (docs/operations.md): guarded exits that were canceled since are armed in it';
const BACK_AGAIN =
  'Recovery codes that were used since, passkeys that were removed and API keys that were revoked are back, too: docs/operations.md says what to do';

const deskOf = (generation: string | null): string | undefined => generation?.split(' ')[0];

/** An answer may be overtaken by a later one. */
function isLater(generation: string, known: string): boolean {
  if (deskOf(generation) !== deskOf(known)) return true;
  const [[restores, change, timeline, seen], before] = [generation, known].map(numbersOf) as [
    Numbers,
    Numbers,
  ];
  return (
    ([restores - before[0], timeline - before[2], change - before[1], seen - before[3]].find(
      (more) => more !== 0,
    ) ?? 0) > 0
  );
}

type Numbers = readonly [restores: number, change: number, timeline: number, seen: number];
function numbersOf(generation: string): Numbers {
  const [, restores, change, timeline, seen] = generation.split(' ');
  return [Number(restores), Number(change), Number.parseInt(timeline ?? '', 16), Number(seen)];
}

/** A copy of a file is another one, also in its place. */
const placeOf = ({ ino, birthtimeMs }: Stats): string => `${ino} ${Math.floor(birthtimeMs)}`;
