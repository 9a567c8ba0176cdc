/**
 * Watches the embedded PostgreSQL while the service runs: restarts it when its process dies, and when the process exists
 * but has not answered for long (frozen or hanging), which gives no error. After a restart, pools, listeners and the
 * exchange's lead recover automatically. If the restart fails, `onLost` is called once, so that the service can exit.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EmbeddedPostgres } from './embedded-postgres.ts';

export interface EmbeddedWatch {
  /** The database pulse calls this after a long silence of the database. */
  silent(): void;
  /** Prevents any further restart. */
  stop(): void;
}

export interface WatchOptions {
  readonly postgres: Pick<EmbeddedPostgres, 'isAlive' | 'restart'>;
  /** Called at most once: the database is permanently lost. */
  readonly onLost: (error: Error) => void;
  readonly log: {
    warn(context: object, message: string): void;
    error(context: object, message: string): void;
  };
}

const LOOK_EVERY_MS = 100;
/** A failure may be temporary: a disk that was full for a moment, the last process of the old server. */
const ATTEMPTS = 3;
const PAUSE_MS = 1_000;

export function watchEmbedded({ postgres, onLost, log }: WatchOptions): EmbeddedWatch {
  let isStopped = false;
  let isStarting = false;

  const startAgain = async (why: string): Promise<void> => {
    if (isStarting || isStopped) return;
    isStarting = true;
    log.warn({}, `the embedded PostgreSQL ${why}; restarting it`);
    const since = performance.now();
    for (let attempt = 1; !isStopped; attempt += 1) {
      try {
        await postgres.restart();
        log.warn({ ms: Math.round(performance.now() - since) }, 'the embedded PostgreSQL runs again');
        break;
      } catch (error) {
        if (isStopped) break;
        log.error({ err: error, attempt }, 'the embedded PostgreSQL did not start again');
        if (attempt === ATTEMPTS) {
          isStopped = true;
          onLost(error as Error);
          break;
        }
        await sleep(PAUSE_MS);
      }
    }
    isStarting = false;
  };

  const timer = setInterval(() => {
    if (!isStarting && !postgres.isAlive()) startAgain('has died');
  }, LOOK_EVERY_MS);
  timer.unref();

  return {
    silent() {
      startAgain('lives and answers nothing');
    },
    stop() {
      isStopped = true;
      clearInterval(timer);
    },
  };
}
