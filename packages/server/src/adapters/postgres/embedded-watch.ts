/**
 * Watches the embedded PostgreSQL while the service runs: it starts it again when its process dies, and also when it
 * lives and has answered nothing for long (frozen, or wedged), which no error ever shows. Everything else comes back by
 * itself once there is a database: pools, listeners, the exchange's lead. When it does not come up again, that is told
 * once, for the process to end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EmbeddedPostgres } from './embedded-postgres.ts';

export interface EmbeddedWatch {
  /** Told by whoever listens to the database that it has been silent for long. */
  silent(): void;
  /** No start follows any more. */
  stop(): void;
}

export interface WatchOptions {
  readonly postgres: Pick<EmbeddedPostgres, 'isAlive' | 'restart'>;
  /** Called at most once: the database is gone and stays so. */
  readonly onLost: (error: Error) => void;
  readonly log: {
    warn(context: object, message: string): void;
    error(context: object, message: string): void;
  };
}

const LOOK_EVERY_MS = 100;
/** One failure may pass: a disk that was full for a moment, the last process of the old server. */
const ATTEMPTS = 3;
const PAUSE_MS = 1_000;

export function watchEmbedded({ postgres, onLost, log }: WatchOptions): EmbeddedWatch {
  let isStopped = false;
  let isStarting = false;

  const startAgain = async (why: string): Promise<void> => {
    if (isStarting || isStopped) return;
    isStarting = true;
    log.warn({}, `the embedded PostgreSQL ${why}; it is started again`);
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
