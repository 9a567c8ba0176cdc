/** The database, and the key that seals what is secret in it. */
import { ConfigError, type EnvironmentOf, flag, integer, optionalText } from '../settings.ts';

const variables = {
  DATABASE_URL: optionalText(
    'A PostgreSQL 15 or later of your own, without a pooler before it, at one host, or at several with `target_session_attrs=read-write` ([operations.md](operations.md)). Of the parameters `sslmode`, `sslnegotiation`, `sslrootcert=system`, `host`, `port`, `options` and names of session settings are carried out; others are refused. Without it an embedded one is started.',
    { pattern: '^postgres(ql)?://', values: '`postgres://` URL', secret: true },
  ),
  DATA_DIR: optionalText(
    'Folder of the embedded database, the generated master key, and a record of how far guarded exits had come, by which a start on an earlier copy of the database is noticed ([operations.md](operations.md#after-a-copy)). With `DATABASE_URL` of that record alone, where it is set.',
    { minLength: 1, unset: '`./data`' },
  ),
  MASTER_KEY: optionalText(
    'Key that seals venue credentials and hashes API keys. Required with `DATABASE_URL`.',
    {
      pattern: '^[0-9a-fA-F]{64}$',
      values: '64 hex digits',
      unset: 'made on the first start, in `DATA_DIR`',
      secret: true,
    },
  ),
  MASTER_KEY_OLD: optionalText(
    'The master key of before, while it is rotated ([operations.md](operations.md)). Opens what it has sealed.',
    { pattern: '^[0-9a-fA-F]{64}$', values: '64 hex digits', secret: true },
  ),
  DATABASE_MAY_LOSE_COMMITS: flag(
    'off',
    'Starts also where `DATABASE_URL` names several hosts and no standby must confirm a commit: a promotion then loses what was acknowledged last.',
  ),
  DATABASE_POOL: integer(20, [4, 90], 'Connections to the database, apart from the journal’s own.'),
};

export const databaseSettings = {
  variables,
  prefixes: ['DATABASE_', 'DATA_DIR', 'MASTER_KEY'],
  make(env: EnvironmentOf<typeof variables>) {
    if (env.DATABASE_URL !== undefined && env.MASTER_KEY === undefined) {
      throw new ConfigError(
        'MASTER_KEY is required with DATABASE_URL: 32 random bytes as 64 hex digits, e.g. from "openssl rand -hex 32".',
      );
    }
    return {
      databaseUrl: env.DATABASE_URL ?? null,
      databasePool: env.DATABASE_POOL,
      databaseMayLoseCommits: env.DATABASE_MAY_LOSE_COMMITS === 'on',
      dataDir: env.DATA_DIR ?? './data',
      /** `null`: no place beside the database. */
      recordDir: env.DATA_DIR ?? (env.DATABASE_URL === undefined ? './data' : null),
      masterKey: env.MASTER_KEY ?? null,
      /** The one of before, while a rotation lasts. */
      formerMasterKey: env.MASTER_KEY_OLD ?? null,
    };
  },
};
