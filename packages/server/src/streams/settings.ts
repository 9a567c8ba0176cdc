import { type EnvironmentOf, integer } from '../platform/settings.ts';

const DAY_MS = 24 * 3_600_000;

const variables = {
  FACTS_RETENTION_DAYS: integer(
    7,
    [7, 3_650],
    'How long the log of facts is kept. An older cursor of a briefing is used as a time only; one of a stream of events is refused with 410. Streams promise seven days.',
    { because: 'a stream of events can be resumed for seven days, and reads this log' },
  ),
};

export const streamSettings = {
  variables,
  prefixes: ['FACTS_'],
  make: (env: EnvironmentOf<typeof variables>) => ({ factsRetentionMs: env.FACTS_RETENTION_DAYS * DAY_MS }),
};
