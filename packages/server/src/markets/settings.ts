import { type EnvironmentOf, integer } from '../platform/settings.ts';

const DAY_MS = 24 * 3_600_000;

const variables = {
  PRICE_DETAIL_DAYS: integer(
    31,
    [1, 3_650],
    'How long every recorded price is kept; of older ones the last price of each hour stays, for price histories.',
  ),
};

export const marketSettings = {
  variables,
  prefixes: [],
  make: (env: EnvironmentOf<typeof variables>) => ({ priceDetailMs: env.PRICE_DETAIL_DAYS * DAY_MS }),
};
