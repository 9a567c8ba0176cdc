/** The jobs of the desk: by timer each takes its turns for ever; by hand a turn is one call. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createFairLine, createJobs, type FairLineOptions, type Job } from './scheduler.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** A job of whose turns the test says how each ends. */
function stage() {
  const turns: PromiseWithResolvers<void>[] = [];
  const job: Job = {
    name: 'count',
    everyMs: 100,
    run() {
      const turn = Promise.withResolvers<void>();
      turns.push(turn);
      return turn.promise;
    },
  };
  const logged: object[] = [];
  const ended: [string, boolean][] = [];
  const jobs = createJobs(
    [job],
    { error: (context) => void logged.push(context) },
    (name, _ms, succeeded) => void ended.push([name, succeeded]),
  );
  return { turns, logged, ended, jobs };
}

test('by timer a job takes its turn again and again, one at a time, whatever became of the last one', async () => {
  const { turns, logged, ended, jobs } = stage();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(turns).toHaveLength(0);
  jobs.start();
  await vi.advanceTimersByTimeAsync(350);
  expect(turns).toHaveLength(1);
  turns[0]?.resolve();
  await vi.advanceTimersByTimeAsync(100);
  expect(turns).toHaveLength(2);
  const failure = new Error('the venue is away');
  turns[1]?.reject(failure);
  await vi.advanceTimersByTimeAsync(100);
  expect(turns).toHaveLength(3);
  expect(logged).toEqual([{ err: failure, job: 'count' }]);
  turns[2]?.resolve();
  await jobs.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(turns).toHaveLength(3);
  expect(ended).toEqual([
    ['count', true],
    ['count', false],
    ['count', true],
  ]);
});

test('a job that fails before it has begun to wait takes its next turn, too', async () => {
  let begun = 0;
  const logged: object[] = [];
  const run = () => {
    begun += 1;
    throw new Error('not one of its settings is right');
  };
  const jobs = createJobs(
    [{ name: 'faulty', everyMs: 100, run }],
    { error: (context) => void logged.push(context) },
    () => {},
  );
  jobs.start();
  await vi.advanceTimersByTimeAsync(300);
  await jobs.stop();
  expect([begun, logged.length]).toEqual([3, 3]);
});

test('by hand a turn begins once the one under way has ended, and says how it ended', async () => {
  const { turns, logged, jobs } = stage();
  const first = jobs.run('count');
  const second = jobs.run('count');
  expect(turns).toHaveLength(1);
  turns[0]?.resolve();
  await first;
  await vi.waitFor(() => expect(turns).toHaveLength(2));
  turns[1]?.reject(new Error('the venue is away'));
  await expect(second).rejects.toThrow('the venue is away');
  // Who called it has been told.
  expect(logged).toEqual([]);
  await expect(jobs.run('cuont')).rejects.toThrow('no job is called “cuont”; there are: count');
});

test('stopping waits for the turn that is under way', async () => {
  const { turns, jobs } = stage();
  jobs.start();
  await vi.advanceTimersByTimeAsync(100);
  let hasStopped = false;
  const stopping = jobs.stop().then(() => {
    hasStopped = true;
  });
  await Promise.resolve();
  expect(hasStopped).toBe(false);
  turns[0]?.resolve();
  await stopping;
});

// The line of errands: whose turn it is, and what one owner's crowd leaves to the others.

/** Errands end when the test says so. */
function lineStage(options: Partial<FairLineOptions> & Pick<FairLineOptions, 'atOnce' | 'ofLane'>) {
  const failures: unknown[] = [];
  const line = createFairLine({
    mostWaiting: 100,
    ...options,
    onFailed: (error) => void failures.push(error),
  });
  const running = new Map<string, PromiseWithResolvers<void>>();
  const offer = (key: string, isRepeat = false) =>
    line.add({
      ...{ key, lane: key.charAt(0), isRepeat },
      run: () => {
        const errand = Promise.withResolvers<void>();
        running.set(key, errand);
        return errand.promise;
      },
    });
  const end = async (key: string, error?: Error) => {
    const errand = running.get(key);
    running.delete(key);
    if (error === undefined) errand?.resolve();
    else errand?.reject(error);
    await new Promise((turn) => setImmediate(turn));
  };
  return { line, offer, end, failures, runs: () => [...running.keys()].join(' ') };
}

test('a lane has its share, however many of it wait; the next place goes to the lane with the fewest', async () => {
  const { offer, end, runs } = lineStage({ atOnce: 3, ofLane: 2 });
  for (const key of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) offer(key);
  expect(runs()).toBe('a1 a2 b1');
  await end('a1');
  expect(runs()).toBe('a2 b1 c1');
  await end('b1');
  expect(runs()).toBe('a2 c1 b2');
  await end('c1');
  expect(runs()).toBe('a2 b2 a3');
});

test('first attempts go before repeats, which have half of the places and one of a lane', async () => {
  const { offer, end, runs } = lineStage({ atOnce: 4, ofLane: 4 });
  for (const key of ['a1', 'a2', 'b1', 'c1']) offer(key, true);
  expect(runs()).toBe('a1 b1');
  offer('a3');
  expect(runs()).toBe('a1 b1 a3');
  await end('b1');
  expect(runs()).toBe('a1 a3 c1');
  for (const key of ['d1', 'd2']) offer(key);
  expect(runs()).toBe('a1 a3 c1 d1');
  await end('a1');
  expect(runs()).toBe('a3 c1 d1 d2');
  await end('d1');
  expect(runs()).toBe('a3 c1 d2 a2');
});

test('an errand waits or runs once; a lane that is full takes it later', async () => {
  const { offer, end, runs } = lineStage({ atOnce: 1, ofLane: 1, mostWaiting: 1 });
  expect([offer('a1'), offer('a1'), offer('a2'), offer('a2'), offer('a3'), offer('b1')]).toEqual([
    ...[true, false, true, false, false, true],
  ]);
  await end('a1');
  expect(runs()).toBe('b1');
  await end('b1');
  expect(offer('a3')).toBe(true);
});

test('a lane begins one after another, so that no other waits for a crowd', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const { offer, runs } = lineStage({ atOnce: 9, ofLane: 9, apartMs: 10 });
  for (const key of ['a1', 'a2', 'a3', 'b1']) offer(key);
  expect(runs()).toBe('a1 b1');
  await vi.advanceTimersByTimeAsync(10);
  expect(runs()).toBe('a1 b1 a2');
  await vi.advanceTimersByTimeAsync(10);
  expect(runs()).toBe('a1 b1 a2 a3');
  vi.useRealTimers();
});

test('what fails is told, and stops no other; by hand its failure is the answer', async () => {
  const { line, offer, end, failures, runs } = lineStage({ atOnce: 1, ofLane: 1 });
  offer('a1');
  offer('b1');
  const settled = expect(line.settled()).rejects.toThrow('no way');
  await end('a1', new Error('no way'));
  expect(runs()).toBe('b1');
  await end('b1');
  await settled;
  expect(failures).toHaveLength(1);
  await expect(line.settled()).resolves.toBeUndefined();
});

test('stopped it begins nothing more, and waits for what runs', async () => {
  const { line, offer, end, runs } = lineStage({ atOnce: 1, ofLane: 1 });
  offer('a1');
  offer('b1');
  let isStopped = false;
  const stopped = line.stop().then(() => (isStopped = true));
  await new Promise((turn) => setImmediate(turn));
  expect(isStopped).toBe(false);
  await end('a1');
  await stopped;
  expect(runs()).toBe('');
  expect(offer('c1')).toBe(false);
});
