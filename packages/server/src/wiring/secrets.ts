/** The service's secrets: one master key, from which every other is derived. */

import { readMasterKeyFile } from '@bellwether/durable/embedded';
import type { Sql } from '../adapters/postgres/connection.ts';
import { masterKeyFits } from '../adapters/postgres/master-key-check.ts';
import { createSecrets, deriveSecret } from '../adapters/system/secrets.ts';
import type { Config } from '../config.ts';
import type { Clock } from '../ports/clock.ts';
import type { Secrets } from '../ports/secrets.ts';

export interface ServiceSecrets {
  readonly secrets: Secrets;
  readonly derive: (purpose: string) => Uint8Array;
}

interface Parts {
  readonly config: Config;
  readonly sql: Sql;
  readonly clock: Clock;
}

/** @throws Error when the database was written with another key */
export async function openSecrets({ config, sql, clock }: Parts): Promise<ServiceSecrets> {
  const masterKey =
    config.masterKey === null ? readMasterKeyFile(config.dataDir) : Buffer.from(config.masterKey, 'hex');
  const secrets = createSecrets(masterKey, clock.now);
  if (!(await masterKeyFits(sql, secrets))) {
    throw new Error(
      'MASTER_KEY is not the one that this database was written with. Start with the right one.',
    );
  }
  return { secrets, derive: (purpose) => deriveSecret(masterKey, purpose) };
}
