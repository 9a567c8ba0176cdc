import { type EnvironmentOf, optionalText } from '../platform/settings.ts';

const variables = {
  OPERATOR_KEY: optionalText(
    'Opens the routes under `/operator`, as a bearer key. Without it they answer 403.',
    { minLength: 24, secret: true },
  ),
};

export const operatorSettings = {
  variables,
  prefixes: ['OPERATOR_KEY'],
  make: (env: EnvironmentOf<typeof variables>) => ({ operatorKey: env.OPERATOR_KEY ?? null }),
};
