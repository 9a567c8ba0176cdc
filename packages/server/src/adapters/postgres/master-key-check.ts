/** Detects a wrong master key at the start, before it seals anything that the right one cannot open. */
import type { Sealed, Secrets } from '../../ports/secrets.ts';
import type { Sql } from './connection.ts';
import type { MasterKeyCheckRow } from './rows.generated.ts';
import { only } from './rows.ts';

const TEXT = 'bellwether';
const ROW = 'master_key_check';

/** @returns false when the database was written with another key. */
export async function masterKeyFits(sql: Sql, secrets: Secrets): Promise<boolean> {
  const sealed = secrets.seal(TEXT, ROW);
  await sql`insert into master_key_check (key_id, sealed) values (${sealed.keyId}, ${sealed.bytes as Buffer}) on conflict do nothing`;
  const { sealed: bytes } = only(
    await sql<MasterKeyCheckRow[]>`select * from master_key_check where key_id = ${sealed.keyId}`,
  );
  return opensCheck(secrets, { keyId: sealed.keyId, bytes });
}

/** Whether the check was sealed with this key. */
export function opensCheck(secrets: Pick<Secrets, 'open'>, sealed: Sealed): boolean {
  try {
    return secrets.open(sealed, ROW) === TEXT;
  } catch {
    return false;
  }
}
