/** The door for time: what the desk does by itself. A job that fails is logged and runs again at its next turn. */

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

// A line of errands that wait for others: so many run at once, and the next place goes to the lane that has the fewest of them, however
// much another one wants. First attempts go before repeats, which have half of the places at most, and one place of a lane.

interface Errand {
  /** One with the same key waits or runs once. */
  readonly key: string;
  readonly lane: string;
  readonly isRepeat: boolean;
  run(): Promise<unknown>;
}

export interface FairLine {
  /** @returns false: it waits or runs already, or its lane is full. To be offered again. */
  add(errand: Errand): boolean;
  /** Resolves when nothing waits or runs; rejects with the first failure since it was asked last. */
  settled(): Promise<void>;
  /** Forgets those that wait, and waits for those that run. */
  stop(): Promise<void>;
}

export interface FairLineOptions {
  readonly atOnce: number;
  readonly ofLane: number;
  /** Most that wait in a lane. */
  readonly mostWaiting: number;
  /** Between two beginnings of a lane, in milliseconds: answers that come together would begin as many at once. Default: 0. */
  readonly apartMs?: number;
  readonly onFailed: (error: unknown) => void;
}

interface Lane {
  readonly first: Errand[];
  readonly repeats: Errand[];
  running: number;
  repeating: number;
  /** When it had its last turn, by number. */
  turn: number;
  isResting: boolean;
}

const isBefore = (a: Lane, b: Lane): boolean =>
  a.running === b.running ? a.turn < b.turn : a.running < b.running;

export function createFairLine(options: FairLineOptions): FairLine {
  const { atOnce, ofLane, mostWaiting, apartMs = 0, onFailed } = options;
  const lanes = new Map<string, Lane>();
  const keys = new Set<string>();
  let running = 0;
  let repeating = 0;
  let turns = 0;
  let failed: { readonly error: unknown } | null = null;
  let idle: PromiseWithResolvers<void> | null = null;
  let isStopped = false;

  const rest = (lane: Lane): void => {
    lane.isResting = true;
    setTimeout(() => {
      lane.isResting = false;
      go();
    }, apartMs);
  };
  const nextOf = (of: 'first' | 'repeats'): Errand | null => {
    if (running >= atOnce || (of === 'repeats' && repeating >= atOnce / 2)) return null;
    let next: Lane | null = null;
    for (const lane of lanes.values()) {
      const isFree = !lane.isResting && lane.running < ofLane && (of === 'first' || lane.repeating === 0);
      const mayRun = isFree && lane[of].length > 0;
      if (mayRun && (next === null || isBefore(lane, next))) next = lane;
    }
    if (next === null) return null;
    turns += 1;
    next.turn = turns;
    if (apartMs > 0) rest(next);
    return next[of].shift() ?? null;
  };
  const run = async (errand: Errand): Promise<void> => {
    const lane = lanes.get(errand.lane) as Lane;
    const repeats = errand.isRepeat ? 1 : 0;
    running += 1;
    repeating += repeats;
    lane.running += 1;
    lane.repeating += repeats;
    try {
      await errand.run();
    } catch (error) {
      failed ??= { error };
      onFailed(error);
    }
    running -= 1;
    repeating -= repeats;
    lane.running -= 1;
    lane.repeating -= repeats;
    keys.delete(errand.key);
    if (lane.running + lane.first.length + lane.repeats.length === 0) lanes.delete(errand.lane);
    go();
  };
  const go = (): void => {
    for (
      let errand = nextOf('first') ?? nextOf('repeats');
      errand !== null;
      errand = nextOf('first') ?? nextOf('repeats')
    )
      void run(errand);
    if (keys.size > 0 || idle === null) return;
    if (failed === null) idle.resolve();
    else idle.reject(failed.error);
    [idle, failed] = [null, null];
  };

  const settled = (): Promise<void> => {
    if (keys.size > 0) {
      idle ??= Promise.withResolvers<void>();
      return idle.promise;
    }
    const before = failed;
    failed = null;
    return before === null ? Promise.resolve() : Promise.reject(before.error);
  };

  return {
    settled,
    add(errand) {
      const lane = lanes.get(errand.lane) ?? {
        first: [],
        repeats: [],
        running: 0,
        repeating: 0,
        turn: 0,
        isResting: false,
      };
      const waiting = errand.isRepeat ? lane.repeats : lane.first;
      if (isStopped || keys.has(errand.key) || waiting.length >= mostWaiting) return false;
      lanes.set(errand.lane, lane);
      keys.add(errand.key);
      waiting.push(errand);
      go();
      return true;
    },
    async stop() {
      isStopped = true;
      for (const lane of lanes.values())
        for (const { key } of [...lane.first.splice(0), ...lane.repeats.splice(0)]) keys.delete(key);
      await settled().catch(() => {});
    },
  };
}

/**
 * A fair mutex per key. What an agent does waits for the lock on its row in any case; waiting here instead, it holds no
 * database connection, so one busy agent cannot use up the pool.
 */
interface KeyedMutex {
  /** Resolves in the order of the calls, with the function that releases the mutex. */
  acquire(key: string): Promise<() => void>;
}

export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<void>>();
  return {
    async acquire(key) {
      const before = last.get(key);
      const { promise, resolve } = Promise.withResolvers<void>();
      last.set(key, promise);
      await before;
      return () => {
        if (last.get(key) === promise) last.delete(key);
        resolve();
      };
    },
  };
}
