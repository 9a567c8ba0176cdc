/**
 * Loaded into the measured program: reports on request, to the parent process, its memory, or the longest pause of its main
 * thread since the last request. A pause is counted by the clock and by the thread's own processor time: on a busy machine the
 * clock also counts what other programs took.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const TICK_MS = 2;

function createPauses(): () => { readonly clockMs: number; readonly processorMs: number } {
  let longest = { clockMs: 0, processorMs: 0 };
  let at = performance.now();
  let used = process.threadCpuUsage();
  setInterval(() => {
    const now = performance.now();
    const { user, system } = process.threadCpuUsage(used);
    longest = {
      clockMs: Math.max(longest.clockMs, now - at - TICK_MS),
      processorMs: Math.max(longest.processorMs, (user + system) / 1000),
    };
    at = now;
    used = process.threadCpuUsage();
  }, TICK_MS).unref();
  return () => {
    const reported = longest;
    longest = { clockMs: 0, processorMs: 0 };
    return reported;
  };
}

function memory(): { readonly rss: number; readonly heapUsed: number } {
  // Memory still in use, without garbage that is not collected yet.
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage();
}

let pauses: ReturnType<typeof createPauses> | undefined;
process.on('message', (asked) => {
  if (asked === 'memory') {
    const { rss, heapUsed } = memory();
    process.send?.({ rss, heapUsed });
    return;
  }
  pauses ??= createPauses();
  process.send?.(pauses());
});
// The channel alone must not keep the process alive.
process.channel?.unref();
