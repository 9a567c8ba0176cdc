/** The settings that venues share. */
import { type EnvironmentOf, integer, optionalText, text } from '../platform/settings.ts';

const variables = {
  CHAIN_ID: integer(
    137,
    [1, Number.MAX_SAFE_INTEGER],
    'Chain id of the EIP-712 domain that orders are signed for.',
  ),
  DEFAULT_VENUE: optionalText('Name of the venue that a request means when it names none.', {
    minLength: 1,
    values: 'name of a venue',
    unset: 'the name of venue A',
  }),
};

export const venueSettings = {
  variables,
  prefixes: ['DEFAULT_VENUE'],
  make: (env: EnvironmentOf<typeof variables>) => ({ chainId: env.CHAIN_ID }),
};

/** The setting that names a venue. */
export const venueName = (fallback: string, description: string) =>
  text(fallback, description, { pattern: '^[a-z0-9][a-z0-9-]{0,49}$', values: 'lower-case name' });

/** Not allowed as venue names: first path segments, and words with another meaning where a venue is named. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set([
  'all',
  'venues',
  'events',
  'internal',
  'agents',
  'agent',
  'owner',
  'operator',
  'markets',
  'wallet',
  'webhooks',
  'paper',
  'docs',
  'venueb',
  'healthz',
  'readyz',
  'metrics',
  'aiagent',
  'openapi',
  'openapi.json',
  'llms.txt',
]);
