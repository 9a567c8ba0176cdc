/** How much the process logs, and how many threads it starts. */
import { choice, type EnvironmentOf, optionalInteger } from '../settings.ts';

const variables = {
  LOG_LEVEL: choice(
    ['fatal', 'error', 'warn', 'info', 'debug', 'silent'],
    'info',
    'Least serious level that is logged, as JSON lines on standard error.',
  ),
  RECOVERY_THREADS: optionalInteger(
    [0, 16],
    'Threads that recover the signers of orders. The default follows the machine: none with one or two cores, else two fewer than it has cores, at most 4.',
  ),
};

export const systemSettings = {
  variables,
  prefixes: ['LOG_LEVEL'],
  make: (env: EnvironmentOf<typeof variables>) => ({
    logLevel: env.LOG_LEVEL,
    /** `null`: as many as the machine has cores for. */
    recoveryThreads: env.RECOVERY_THREADS ?? null,
  }),
};
