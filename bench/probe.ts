/** Loaded into the measured service: tells what it uses to the process that started it, when asked. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

process.on('message', (asked) => {
  if (asked === 'cpu') {
    const { user, system } = process.cpuUsage();
    process.send?.((user + system) / 1000);
    return;
  }
  // What is still in use, not what nobody has cleared away yet.
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { rss, heapUsed } = process.memoryUsage();
  process.send?.({ rss, heapUsed });
});
// The channel alone must not keep the service from ending.
process.channel?.unref();
