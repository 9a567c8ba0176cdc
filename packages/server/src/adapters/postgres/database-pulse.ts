/**
 * Whether the database answers, asked all the time on a connection of its own, so that a crowd before the pool says
 * nothing about it. A database that is frozen, or lost behind a network that drops everything, gives no error: only the
 * lack of an answer shows it.
 *
 * Two questions. The beat only reads, every half second, and knows how long nothing has been heard. The probe, for
 * `/readyz`, writes to the log and takes a page of disk, since a full or read-only database still answers reads.
 */
import { openPool, type PoolOptions, type Sql } from './connection.ts';

export interface DatabasePulse {
  /** Milliseconds since the first beat that is unanswered; 0 while answers come. */
  silentMs(): number;
  /** `ready`, or what is wrong, by the last beat. Costs nothing. */
  status(): string;
  /** `ready`, or what is wrong, by asking. Answers in time, whatever the database does. */
  probe(): Promise<string>;
  stop(): void;
}

export interface PulseOptions {
  readonly url: string;
  readonly applicationName: string;
  /** Called once for every time that the database has fallen silent for long. */
  readonly onSilence: () => void;
  /** @internal tests shorten it */
  readonly silenceMs?: number;
  readonly onStatement?: PoolOptions['onStatement'];
}

const BEAT_EVERY_MS = 500;
/** A busy machine keeps a beat waiting for a while; this long is no such wait. */
const SILENT_MS = 2_000;
/** Below a second with room for the rest of the answer. */
const PROBE_MS = 700;
/** A probe answers everybody who asks meanwhile, and those right after it. */
const PROBE_FRESH_MS = 200;
/** After this much silence connections are taken for lost. */
const SILENCE_MS = 10_000;
const CONNECT_TIMEOUT_S = 2;
const READY = 'ready';
const SILENT = 'does not answer';

const FAULTS: Readonly<Record<string, string>> = {
  '53100': 'its disk is full',
  '53200': 'it is out of memory',
  '53300': 'it has no free connection',
  '25006': 'it takes no writes',
};

const NOT_ALLOWED = '42501';
/** A connection that cannot even be made in time: that is silence, too. */
const TOO_LATE = 'CONNECT_TIMEOUT';

const codeOf = (error: unknown): string => (error as { readonly code?: string } | null)?.code ?? '';
const reasonOf = (error: unknown): string => FAULTS[codeOf(error)] ?? 'unreachable';

/** What must succeed for a trade to be taken: some pages of disk, and a write to the log. */
async function write(sql: Sql): Promise<string> {
  const update = 'update pulse set at = now()';
  try {
    // Emptied at every commit, so that the next probe has to ask for its pages again.
    await sql.unsafe(
      `create temp table if not exists pulse_page (filler text) on commit delete rows;
         begin; insert into pulse_page select repeat('x', 1900) from generate_series(1, 16); commit; ${update}`,
    );
    return READY;
  } catch (error) {
    if (codeOf(error) !== NOT_ALLOWED) return reasonOf(error);
  }
  // A role of somebody else's database may not be allowed to make a temporary table.
  return sql.unsafe(update).then(() => READY, reasonOf);
}

export function startPulse(options: PulseOptions): DatabasePulse {
  const { url, applicationName, onSilence, silenceMs = SILENCE_MS } = options;
  const open = (): Sql =>
    openPool(url, {
      max: 1,
      applicationName,
      connectTimeoutSeconds: CONNECT_TIMEOUT_S,
    });
  let beating = open();
  let probing = open();
  let askedAt: number | null = null;
  let silentSince: number | null = null;
  let isTold = false;
  let last = READY;
  let isStopped = false;

  const drop = (pool: Sql): void => {
    pool.end({ timeout: 0 }).catch(() => {});
  };
  const heard = (what: string): void => {
    askedAt = null;
    silentSince = null;
    isTold = false;
    last = what;
  };
  const silentMs = (): number => (silentSince === null ? 0 : performance.now() - silentSince);
  const beat = (): void => {
    const now = performance.now();
    if (askedAt !== null) {
      silentSince ??= askedAt;
      if (now - askedAt < SILENT_MS) return;
      // A connection that kept silent for so long may be the only one that is lost.
      drop(beating);
      beating = open();
      if (silentMs() >= silenceMs && !isTold) {
        isTold = true;
        onSilence();
      }
    }
    askedAt = now;
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
        late = setTimeout(resolve, PROBE_MS, SILENT);
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
    silentMs,
    status: () => (silentMs() >= SILENT_MS ? SILENT : last),
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
