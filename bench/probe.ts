/** Loaded into the measured program: reports its memory to the parent process on request. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

process.on('message', () => {
  // Memory still in use, without garbage that is not collected yet.
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { rss, heapUsed } = process.memoryUsage();
  process.send?.({ rss, heapUsed });
});
// The channel alone must not keep the process alive.
process.channel?.unref();
