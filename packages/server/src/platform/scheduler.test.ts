/** The jobs of the desk: by timer each takes its turns for ever; by hand a turn is one call. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createJobs, type Job } from './scheduler.ts';

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
