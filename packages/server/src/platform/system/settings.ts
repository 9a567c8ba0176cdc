/** How much the process logs. */
import { choice, type EnvironmentOf } from '../settings.ts';

const variables = {
  LOG_LEVEL: choice(
    ['fatal', 'error', 'warn', 'info', 'debug', 'silent'],
    'info',
    'Least serious level that is logged, as JSON lines on standard error.',
  ),
};

export const systemSettings = {
  variables,
  prefixes: ['LOG_LEVEL'],
  make: (env: EnvironmentOf<typeof variables>) => ({ logLevel: env.LOG_LEVEL }),
};
