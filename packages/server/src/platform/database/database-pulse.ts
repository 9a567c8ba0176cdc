/**
 * Monitors whether the database answers, on a separate connection, so that a busy pool does not affect the result. A
 * frozen database, or one behind a network that drops all packets, gives no error: only a missing answer shows it.
 *
 * Two queries. The beat only reads, every half second, and measures the silence: in beats, since an answer may have arrived
 * while this process was frozen or busy. The probe, for `/readyz`, writes to the log and allocates a page of disk, because
 * a full or read-only database still answers reads.
 */
import type { Sql } from './connection.ts';

export interface DatabasePulse {
  /** For how many milliseconds this process has looked for an answer, a beat at a time; 0 while answers arrive. */
  silentMs(): number;
  /** `ready`, or what is wrong, from the last beat. No I/O. */
  status(): string;
  /** `ready`, or what is wrong, from a new query. Resolves in time even if the database does not answer. */
  probe(): Promise<string>;
  stop(): void;
}

interface PulseOptions {
  /** Not used by it: it opens connections beside those of this pool. */
  readonly sql: Sql;
  /** Called once for each long silence of the database. */
  readonly onSilence: () => void;
}

const BEAT_EVERY_MS = 500;
/** Longer than a busy machine delays a beat. */
const SILENT_MS = 2_000;
/** Less than a second, with time left for the rest of the answer. */
const PROBE_MS = 700;
/** Callers during a probe, and right after it, share its result. */
const PROBE_FRESH_MS = 200;
/** After this much silence connections count as lost. */
const SILENCE_MS = 10_000;
const CONNECT_TIMEOUT_S = 2;
const READY = 'ready';
const SILENT = 'does not answer';

const FAULTS: Readonly<Record<string, string>> = {
  '53100': 'its disk is full',
  '53200': 'it is out of memory',
  '53300': 'it has no free connection',
  '25006': 'it takes no writes',
  EARLIER_TIMELINE:
    'another server was promoted since the one that takes writes now was the primary; an operator must decide (docs/operations.md)',
};

const NOT_ALLOWED = '42501';
/** A connection that cannot be opened in time counts as silence, too. */
const TOO_LATE = 'CONNECT_TIMEOUT';

const codeOf = (error: unknown): string => (error as { readonly code?: string } | null)?.code ?? '';
const reasonOf = (error: unknown): string => FAULTS[codeOf(error)] ?? 'unreachable';

/** Writes as a trade would: some pages of disk, and a write to the log. */
async function write(sql: Sql): Promise<string> {
  const update = 'update pulse set at = now()';
  try {
    // Emptied at every commit, so that the next probe has to allocate its pages again.
    await sql.unsafe(
      `create temp table if not exists pulse_page (filler text) on commit delete rows;
         begin; insert into pulse_page select repeat('x', 1900) from generate_series(1, 16); commit; ${update}`,
    );
    return READY;
  } catch (error) {
    if (codeOf(error) !== NOT_ALLOWED) return reasonOf(error);
  }
  // The role on an external database may not have the right to create a temporary table.
  return sql.unsafe(update).then(() => READY, reasonOf);
}

export function startPulse({ sql, onSilence }: PulseOptions): DatabasePulse {
  const open = (): Sql => sql.beside({ max: 1, connectTimeoutSeconds: CONNECT_TIMEOUT_S });
  let beating = open();
  let probing = open();
  /** Since the last answer, of any connection and of this one. */
  let silentMs = 0;
  let waitedMs: number | null = null;
  let isTold = false;
  let last = READY;
  let isStopped = false;

  const drop = (pool: Sql): void => {
    pool.end({ timeout: 0 }).catch(() => {});
  };
  const heard = (what: string): void => {
    waitedMs = null;
    silentMs = 0;
    isTold = false;
    last = what;
  };
  const beat = (): void => {
    if (waitedMs !== null) {
      silentMs += BEAT_EVERY_MS;
      waitedMs += BEAT_EVERY_MS;
      if (waitedMs < SILENT_MS) return;
      // Perhaps only this connection is lost.
      drop(beating);
      beating = open();
      if (silentMs >= SILENCE_MS && !isTold) {
        isTold = true;
        onSilence();
      }
    }
    waitedMs = 0;
    const asked = beating;
    const hear = (what: string): void => {
      if (asked === beating) heard(what);
    };
    asked`select 1`.then(
      () => hear(READY),
      (error: unknown) => codeOf(error) !== TOO_LATE && hear(reasonOf(error)),
    );
  };
  const timer = setInterval(beat, BEAT_EVERY_MS);
  timer.unref();

  let probed: Promise<string> | null = null;
  const ask = async (): Promise<string> => {
    const asked = probing;
    let late: NodeJS.Timeout | undefined;
    const answer = await Promise.race([
      write(asked),
      new Promise<string>((resolve) => {
        // What is wrong is known where the last beat was answered.
        late = setTimeout(() => resolve(last === READY ? SILENT : last), PROBE_MS);
      }),
    ]);
    clearTimeout(late);
    if (answer !== READY && !isStopped && asked === probing) {
      drop(asked);
      probing = open();
    }
    return answer;
  };

  return {
    silentMs: () => silentMs,
    status: () => (silentMs >= SILENT_MS ? SILENT : last),
    probe() {
      if (probed !== null) return probed;
      const answer = ask();
      probed = answer;
      answer.then(() => {
        setTimeout(() => {
          probed = null;
        }, PROBE_FRESH_MS).unref();
      });
      return answer;
    },
    stop() {
      isStopped = true;
      clearInterval(timer);
      drop(beating);
      drop(probing);
    },
  };
}
