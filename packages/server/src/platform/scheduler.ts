/** The door for time: what the desk does by itself. A job that fails is logged and runs again at its next turn. */

export interface Job {
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<unknown>;
}

export interface Jobs {
  /** Waits for what is running. */
  stop(): Promise<void>;
}

export function startJobs(
  jobs: readonly Job[],
  log: { error(context: object, message: string): void },
  ended: (job: string, ms: number, succeeded: boolean) => void,
): Jobs {
  const running = new Set<Promise<void>>();
  const timers = jobs.map((job) => {
    let busy = false;
    const timer = setInterval(() => {
      if (busy) return;
      busy = true;
      const begun = performance.now();
      const turn = job
        .run()
        .then(
          () => ended(job.name, performance.now() - begun, true),
          (error: unknown) => {
            ended(job.name, performance.now() - begun, false);
            log.error({ err: error, job: job.name }, 'a job failed');
          },
        )
        .finally(() => {
          busy = false;
          running.delete(turn);
        });
      running.add(turn);
    }, job.everyMs);
    timer.unref();
    return timer;
  });
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running);
    },
  };
}
