/** What a database belongs to, for good: the master keys that it was written with, and the backend behind each venue's name. */

import { transact } from '@bellwether/durable';
import type { Sealed, Secrets } from '../secrets.ts';
import { only, type Sql, type Tx } from './connection.ts';
import type { MasterKeyCheckRow, MasterRootRow, VenueBackendsRow } from './rows.generated.ts';

const TEXT = 'bellwether';
const CHECK = 'master_key_check';
const ROOT = 'master_root';

export interface KeyCheck {
  readonly sealed: Sealed;
  /** `null`: written by a release that did not name keys. */
  readonly name: string | null;
}

/** Checks of the keys that the database was written with, the newest first. */
export async function keyChecks(sql: Sql | Tx): Promise<readonly KeyCheck[]> {
  const rows = await sql<MasterKeyCheckRow[]>`
    select key_id, sealed, name from master_key_check order by key_id desc`;
  return rows.map((row) => ({ sealed: sealedOf(row), name: row.name }));
}

/** Whether the check was sealed with this key. */
export function opensCheck(secrets: Pick<Secrets, 'open'>, { sealed }: Pick<KeyCheck, 'sealed'>): boolean {
  try {
    return secrets.open(sealed, CHECK) === TEXT;
  } catch {
    return false;
  }
}

/** The check of a key that seals from now on; of two processes that start on an empty database one wins. */
export async function addCheck(on: Sql | Tx, secrets: Pick<Secrets, 'seal'>, name: string): Promise<void> {
  const { keyId, bytes } = secrets.seal(TEXT, CHECK);
  await on`insert into master_key_check (key_id, sealed, name) values (${keyId}, ${bytes as Buffer}, ${name})
    on conflict do nothing`;
}

export async function nameCheck(sql: Sql, { sealed }: KeyCheck, name: string): Promise<void> {
  await sql`update master_key_check set name = ${name} where key_id = ${sealed.keyId} and name is null`;
}

/** The secret from which others are derived, as hex: the first caller's, for good. */
export async function rootSecret(sql: Sql, secrets: Secrets, first: string): Promise<string> {
  const { keyId, bytes } = secrets.seal(first, ROOT);
  await sql`insert into master_root (key_id, sealed) values (${keyId}, ${bytes as Buffer}) on conflict do nothing`;
  const row = only(await sql<SealedColumns[]>`select key_id, sealed from master_root`);
  return secrets.open(sealedOf(row), ROOT);
}

interface SealedRow {
  /** Key of the row, beside its table. */
  readonly id: string;
  readonly sealed: Sealed;
}

/** A table with sealed texts. Its rows are sealed for what they belong to. */
interface SealedTable {
  readonly name: string;
  take(tx: Tx, keyId: number, most: number): Promise<readonly (SealedRow & { readonly row: string })[]>;
  write(tx: Tx, row: SealedRow): PromiseLike<unknown>;
}

type SealedColumns = Pick<MasterRootRow, 'key_id' | 'sealed'>;

const sealedOf = ({ key_id, sealed }: SealedColumns): Sealed => ({ keyId: key_id, bytes: sealed });

interface FoundRow extends SealedColumns {
  readonly id: string;
  readonly row: string;
}

/** Rows that others work on are left for the next turn. */
export const SEALED_TABLES: readonly SealedTable[] = [
  {
    name: 'credentials',
    async take(tx, keyId, most) {
      const rows = await tx<FoundRow[]>`
        select ctid::text as id, key_id, sealed, 'credentials/' || user_id || '/' || wallet_address as row
        from credentials where key_id <> ${keyId} limit ${most} for update skip locked`;
      return rows.map(({ id, row, ...columns }) => ({ id, sealed: sealedOf(columns), row }));
    },
    write: (tx, { id, sealed }) => tx`
      update credentials set key_id = ${sealed.keyId}, sealed = ${sealed.bytes as Buffer} where ctid = ${id}::tid`,
  },
  {
    name: 'webhook_endpoints',
    async take(tx, keyId, most) {
      const rows = await tx<FoundRow[]>`
        select id::text, key_id, sealed_secret as sealed, 'webhooks/' || agent_id || '/' || id as row
        from webhook_endpoints where key_id <> ${keyId} limit ${most} for update skip locked`;
      return rows.map(({ id, row, ...columns }) => ({ id, sealed: sealedOf(columns), row }));
    },
    write: (tx, { id, sealed }) => tx`
      update webhook_endpoints set key_id = ${sealed.keyId}, sealed_secret = ${sealed.bytes as Buffer}
      where id = ${id}::uuid`,
  },
  {
    name: 'exits',
    async take(tx, keyId, most) {
      const rows = await tx<FoundRow[]>`
        select exit_id as id, key_id, sealed, 'exits/' || exit_id as row
        from exits where key_id <> ${keyId} limit ${most} for update skip locked`;
      return rows.map(({ id, row, ...columns }) => ({ id, sealed: sealedOf(columns), row }));
    },
    write: (tx, { id, sealed }) => tx`
      update exits set key_id = ${sealed.keyId}, sealed = ${sealed.bytes as Buffer} where exit_id = ${id}`,
  },
  {
    name: 'master_root',
    async take(tx, keyId) {
      const rows = await tx<
        SealedColumns[]
      >`select key_id, sealed from master_root where key_id <> ${keyId} for update skip locked`;
      return rows.map((row) => ({ id: '', sealed: sealedOf(row), row: ROOT }));
    },
    write: (tx, { sealed }) =>
      tx`update master_root set key_id = ${sealed.keyId}, sealed = ${sealed.bytes as Buffer}`,
  },
];

/**
 * Ends the rotation to a key: the others are retired, unless a row is still sealed with one of them.
 * @returns false when there is such a row, or writers kept the tables busy
 */
export async function retireOthers(tx: Tx, keyId: number): Promise<boolean> {
  await tx`set local lock_timeout = '1s'`;
  // Waits for those that are just writing; a later writer is refused by the tables' triggers.
  await tx`lock table credentials, webhook_endpoints, exits in share row exclusive mode`;
  const { left } = only(
    await tx`
    select exists (select 1 from credentials where key_id <> ${keyId}) or
      exists (select 1 from webhook_endpoints where key_id <> ${keyId}) or
      exists (select 1 from exits where key_id <> ${keyId}) or
      exists (select 1 from master_root where key_id <> ${keyId}) as left`,
  );
  if (left === true) return false;
  await tx`insert into retired_master_keys (key_id, name)
    select key_id, name from master_key_check where key_id <> ${keyId} on conflict do nothing`;
  await tx`delete from master_key_check where key_id <> ${keyId}`;
  return true;
}

// Backends behind each venue's name in this database, for good: real and simulated money never meet in one record.

interface VenueBackend {
  readonly venue: string;
  readonly backend: 'paper' | 'live';
}

/** @throws Error with a sentence for the operator when the database is of the other backend */
export async function keepVenueBackends(sql: Sql, backends: readonly VenueBackend[]): Promise<void> {
  const found = await transact(sql, async (tx) => {
    for (const { venue, backend } of backends) {
      // Signed orders from before this table can only be of the paper exchange.
      await tx`insert into venue_backends (venue, backend)
        select ${venue}, case when exists (select 1 from orders where venue = ${venue} and kind = 'signed')
          then 'paper' else ${backend} end
        on conflict (venue) do nothing`;
    }
    return tx<VenueBackendsRow[]>`select * from venue_backends`;
  });
  for (const { venue, backend } of backends) {
    const kept = found.find((row) => row.venue === venue)?.backend;
    if (kept !== undefined && kept !== backend)
      throw new Error(
        `This database holds ${kept} orders of ${venue}, which is configured as ${backend}. Give each its own database (DATABASE_URL, or DATA_DIR).`,
      );
  }
}
