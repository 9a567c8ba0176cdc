/** The door for time: what the desk does by itself. A job that fails is logged and runs again at its next turn. */
import type { FairLine } from './fair-line.ts';

export interface Job {
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<unknown>;
  /** What its turns hand over and do not wait for. */
  readonly line?: Pick<FairLine, 'settled' | 'stop'>;
}

export interface JobLog {
  error(context: object, message: string): void;
}

export interface Jobs {
  /** From now on each job takes its turns by itself, one at a time. */
  start(): void;
  /**
   * One turn of a job, which begins now or once the turn under way has ended, with all that it begins.
   *
   * @throws what the job throws; Error for a name that no job has
   */
  run(name: string): Promise<void>;
  /** Waits for what is running. */
  stop(): Promise<void>;
}

export function createJobs(
  jobs: readonly Job[],
  log: JobLog,
  ended: (job: string, ms: number, succeeded: boolean) => void,
): Jobs {
  const underWay = new Map<Job, Promise<void>>();
  const timers: NodeJS.Timeout[] = [];
  const turnOf = async (job: Job): Promise<void> => {
    const begun = performance.now();
    let succeeded = false;
    try {
      await job.run();
      succeeded = true;
    } finally {
      ended(job.name, performance.now() - begun, succeeded);
    }
  };
  const begin = (job: Job): Promise<void> => {
    const turn = turnOf(job).finally(() => underWay.delete(job));
    underWay.set(job, turn);
    return turn;
  };
  return {
    start() {
      for (const job of jobs) {
        const next = () => {
          if (underWay.has(job)) return;
          begin(job).catch((error: unknown) => log.error({ err: error, job: job.name }, 'a job failed'));
        };
        timers.push(setInterval(next, job.everyMs).unref());
      }
    },
    async run(name) {
      const job = jobs.find((one) => one.name === name);
      if (job === undefined)
        throw new Error(`no job is called “${name}”; there are: ${jobs.map((one) => one.name).join(', ')}`);
      while (underWay.has(job)) await underWay.get(job)?.catch(() => {});
      await begin(job);
      await job.line?.settled();
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await Promise.allSettled(underWay.values());
      await Promise.allSettled(jobs.map((job) => job.line?.stop()));
    },
  };
}
