import { ConfigError, type EnvironmentOf, flag, listed, optionalText } from '../platform/settings.ts';

const variables = {
  WEBHOOKS_ALLOW_LOOPBACK: flag(
    'off',
    'For development: agents may register webhooks to this machine, over http and on any port. Allows no other address.',
  ),
  WEBHOOK_INBOUND_SECRETS: optionalText(
    'The sources that may call `/webhooks/inbound/{source}`, and the secrets that sign their calls: `source=secret` pairs, comma-separated; secrets of 16 to 256 printable characters.',
    {
      pattern: '^[a-z0-9][a-z0-9-]{0,49}=[!-+\\--~]{16,256}(,[a-z0-9][a-z0-9-]{0,49}=[!-+\\--~]{16,256})*$',
      secret: true,
    },
  ),
};

export const webhookSettings = {
  variables,
  prefixes: ['WEBHOOK_', 'WEBHOOKS_'],
  make: (env: EnvironmentOf<typeof variables>) => ({
    webhooks: {
      allowLoopback: env.WEBHOOKS_ALLOW_LOOPBACK === 'on',
      /** By source. */
      inboundSecrets: inboundSecrets(env.WEBHOOK_INBOUND_SECRETS),
    },
  }),
};

/** Errors never quote the secrets. */
function inboundSecrets(given: string | undefined): ReadonlyMap<string, string> {
  const secrets = new Map<string, string>();
  for (const pair of listed(given)) {
    const [source = '', ...secret] = pair.split('=');
    if (secrets.has(source)) throw new ConfigError(`WEBHOOK_INBOUND_SECRETS names ${source} twice.`);
    secrets.set(source, secret.join('='));
  }
  return secrets;
}
