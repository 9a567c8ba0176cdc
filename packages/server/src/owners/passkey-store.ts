/**
 * The ways in of an owner: passkeys, the recovery code, the last recovery. Each change holds the owner's row, so changes come
 * one after the other on all replicas, and none of them but the undoing passes while the day of a recovery lasts.
 */
import { transact } from '@bellwether/durable';
import type { Owner, Recovery } from '../domain/records.ts';
import type { Sql, Tx } from '../platform/database/connection.ts';
import type {
  OwnersRow,
  PasskeysRow,
  RecoveriesRow,
  RecoveryCodesRow,
} from '../platform/database/rows.generated.ts';
import type { NewPasskey } from './passkeys.ts';

export interface NamedPasskey {
  readonly passkeyId: string;
  readonly credentialId: string;
  readonly name: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly isOfThisSession: boolean;
  readonly isOfRecovery: boolean;
}

/** What a new passkey is made for. */
export interface PasskeyAccount {
  readonly owner: Owner;
  readonly handle: string;
  readonly credentialIds: readonly string[];
}

/** Keyed hashes of a recovery code, and of its first two groups. */
interface CodeHashes {
  readonly code: Uint8Array;
  readonly beginning: Uint8Array;
}

export interface NewSession {
  readonly tokenHash: Uint8Array;
  readonly at: number;
  readonly expiresAt: number;
}

interface Added {
  readonly userId: bigint;
  readonly passkey: NewPasskey;
  readonly name: string;
  readonly at: number;
}

/** Refusals that only the owner's row, once locked, can give. */
type Outcome<T extends string> = T | Recovery;

export async function insertPasskey(tx: Tx, { userId, passkey, name, at }: Added): Promise<void> {
  const used = new Date(at);
  await tx`insert into passkeys
    (credential_id, user_id, public_key, counter, transports, backed_up, name, created_at, last_used_at)
    values (${passkey.credentialId}, ${userId}, ${passkey.publicKey as Buffer}, ${passkey.counter},
      ${[...passkey.transports]}::text[], ${passkey.backedUp}, ${name}, ${used}, ${used})`;
}

export async function insertSession(
  sql: Sql | Tx,
  { tokenHash, at, expiresAt }: NewSession,
  { userId, credentialId }: { readonly userId: bigint; readonly credentialId: string },
): Promise<void> {
  await sql`insert into owner_sessions (token_hash, user_id, credential_id, created_at, expires_at)
    values (${tokenHash as Buffer}, ${userId}, ${credentialId}, ${new Date(at)}, ${new Date(expiresAt)})`;
}

export async function isKnown(tx: Tx, credentialId: string): Promise<boolean> {
  const [known] = await tx<object[]>`select 1 from passkeys where credential_id = ${credentialId}`;
  return known !== undefined;
}

export const recoveryOf = (
  row: { [K in keyof Pick<RecoveriesRow, 'began_at' | 'ends_at'>]: RecoveriesRow[K] | null } | undefined,
): Recovery | null =>
  row === undefined || row.began_at === null || row.ends_at === null
    ? null
    : { beganAt: row.began_at.getTime(), endsAt: row.ends_at.getTime() };

export function createPasskeyStore(sql: Sql) {
  /** Not `for update`: rows that name the owner go on being written. */
  const underOwner = <T>(
    userId: bigint,
    at: number,
    work: (tx: Tx, recovery: Recovery | null) => Promise<T>,
  ): Promise<T> =>
    transact(sql, async (tx) => {
      await tx`select 1 from owners where user_id = ${userId} for no key update`;
      const [row] = await tx<
        RecoveriesRow[]
      >`select * from recoveries where user_id = ${userId} and ends_at > ${new Date(at)}`;
      return work(tx, recoveryOf(row));
    });

  const passkeyAccount = async (ownerId: bigint): Promise<PasskeyAccount | null> => {
    const [row] = await sql<
      (Pick<OwnersRow, 'user_id'> & {
        readonly name: string;
        readonly passkey_handle: string;
        readonly ids: string[];
      })[]
    >`select o.user_id, o.name, o.passkey_handle,
        array(select p.credential_id from passkeys p where p.user_id = o.user_id) as ids
      from owners o where o.user_id = ${ownerId} and o.passkey_handle is not null`;
    if (row === undefined) return null;
    const { user_id: userId, name, passkey_handle: handle, ids } = row;
    return { owner: { userId, name }, handle, credentialIds: ids };
  };

  const holderOfCode = async (codeHash: Uint8Array): Promise<bigint | null> => {
    const [row] = await sql<
      Pick<RecoveryCodesRow, 'user_id'>[]
    >`select user_id from recovery_codes where code_hash = ${codeHash as Buffer}`;
    return row?.user_id ?? null;
  };

  return {
    passkeyAccount,

    /** @returns `null`: no such code is in force */
    async accountOfCode(codeHash: Uint8Array): Promise<PasskeyAccount | null> {
      const userId = await holderOfCode(codeHash);
      return userId === null ? null : passkeyAccount(userId);
    },

    /** The owner whose code it is, or begins like it; `null`: it is nothing like a code in force. */
    async ownerOfAttempt({ code, beginning }: CodeHashes): Promise<bigint | null> {
      const [row] = await sql<Pick<RecoveryCodesRow, 'user_id'>[]>`select user_id from recovery_codes
        where code_hash = ${code as Buffer} or beginning_hash = ${beginning as Buffer}
        order by code_hash = ${code as Buffer} desc limit 1`;
      return row?.user_id ?? null;
    },

    /** @param tokenHashes of the session that asks */
    async passkeysOf(
      userId: bigint,
      tokenHashes: readonly Uint8Array[],
      at: number,
    ): Promise<readonly NamedPasskey[]> {
      const rows = await sql<
        (Pick<PasskeysRow, 'passkey_id' | 'credential_id' | 'name' | 'created_at' | 'last_used_at'> & {
          readonly is_of_this_session: boolean;
          readonly is_of_recovery: boolean;
        })[]
      >`select p.passkey_id, p.credential_id, p.name, p.created_at, p.last_used_at,
          exists (select 1 from owner_sessions s where s.credential_id = p.credential_id
            and s.token_hash = any(${tokenHashes.map((hash) => Buffer.from(hash))}::bytea[])) as is_of_this_session,
          exists (select 1 from recoveries r where r.credential_id = p.credential_id
            and r.ends_at > ${new Date(at)}) as is_of_recovery
        from passkeys p where p.user_id = ${userId} order by p.created_at, p.passkey_id`;
      return rows.map((row) => ({
        passkeyId: String(row.passkey_id),
        credentialId: row.credential_id,
        name: row.name,
        createdAt: row.created_at.getTime(),
        lastUsedAt: row.last_used_at.getTime(),
        isOfThisSession: row.is_of_this_session,
        isOfRecovery: row.is_of_recovery,
      }));
    },

    async recoveryCodeMadeAt(userId: bigint): Promise<number | null> {
      const [row] = await sql<
        Pick<RecoveryCodesRow, 'made_at'>[]
      >`select made_at from recovery_codes where user_id = ${userId}`;
      return row?.made_at.getTime() ?? null;
    },

    /** Says how the owner stands with regard to losing a passkey. */
    async waysIn(
      userId: bigint,
      at: number,
    ): Promise<{ readonly canRecover: boolean; readonly recovery: Recovery | null }> {
      const [row] = await sql<
        {
          readonly can_recover: boolean;
          readonly began_at: Date | null;
          readonly ends_at: Date | null;
        }[]
      >`select (select count(*) from passkeys p where p.user_id = o.user_id) > 1
            or exists (select 1 from recovery_codes c where c.user_id = o.user_id) as can_recover,
          r.began_at, r.ends_at
        from owners o left join recoveries r on r.user_id = o.user_id and r.ends_at > ${new Date(at)}
        where o.user_id = ${userId}`;
      return { canRecover: row?.can_recover ?? false, recovery: recoveryOf(row) };
    },

    addPasskey: (added: Added, most: number): Promise<Outcome<'added' | 'full' | 'known'>> =>
      underOwner(added.userId, added.at, async (tx, recovery) => {
        if (recovery !== null) return recovery;
        if (await isKnown(tx, added.passkey.credentialId)) return 'known';
        const others = await tx<object[]>`select 1 from passkeys where user_id = ${added.userId}`;
        if (others.length >= most) return 'full';
        await insertPasskey(tx, added);
        return 'added';
      }),

    async renamePasskey(userId: bigint, passkeyId: string, name: string): Promise<boolean> {
      const renamed = await sql<object[]>`update passkeys set name = ${name}
        where user_id = ${userId} and passkey_id = ${passkeyId} returning 1`;
      return renamed.length > 0;
    },

    /** Its sessions end with it; so do those that do not say which passkey opened them. */
    removePasskey: (
      userId: bigint,
      passkeyId: string,
      at: number,
    ): Promise<Outcome<'removed' | 'unknown' | 'last'>> =>
      underOwner(userId, at, async (tx, recovery) => {
        if (recovery !== null) return recovery;
        const all = await tx<
          Pick<PasskeysRow, 'passkey_id'>[]
        >`select passkey_id from passkeys where user_id = ${userId}`;
        if (!all.some(({ passkey_id: id }) => String(id) === passkeyId)) return 'unknown';
        if (all.length === 1) return 'last';
        await tx`delete from passkeys where user_id = ${userId} and passkey_id = ${passkeyId}`;
        await tx`delete from owner_sessions where user_id = ${userId} and credential_id is null`;
        return 'removed';
      }),

    /** The one of before ends. */
    keepRecoveryCode: (
      userId: bigint,
      { code, beginning }: CodeHashes,
      at: number,
    ): Promise<Outcome<'kept'>> =>
      underOwner(userId, at, async (tx, recovery) => {
        if (recovery !== null) return recovery;
        await tx`insert into recovery_codes (user_id, code_hash, beginning_hash, made_at)
          values (${userId}, ${code as Buffer}, ${beginning as Buffer}, ${new Date(at)})
          on conflict (user_id) do update set code_hash = excluded.code_hash,
            beginning_hash = excluded.beginning_hash, made_at = excluded.made_at`;
        return 'kept';
      }),

    /**
     * Uses the code: with it go the new passkey, its session and the beginning of the day, or nothing of all that.
     * @returns `null`: the code is not in force, or was used meanwhile; `known`: the passkey is registered already
     */
    async recover(
      codeHash: Uint8Array,
      {
        passkey,
        name,
        endsAt,
      }: { readonly passkey: NewPasskey; readonly name: string; readonly endsAt: number },
      session: NewSession,
    ): Promise<Owner | 'known' | null> {
      const userId = await holderOfCode(codeHash);
      if (userId === null) return null;
      return underOwner(userId, session.at, async (tx) => {
        if (await isKnown(tx, passkey.credentialId)) return 'known' as const;
        const used = await tx<
          object[]
        >`delete from recovery_codes where code_hash = ${codeHash as Buffer} returning 1`;
        if (used.length === 0) return null;
        await insertPasskey(tx, { userId, passkey, name, at: session.at });
        await tx`insert into recoveries (user_id, credential_id, began_at, ends_at)
          values (${userId}, ${passkey.credentialId}, ${new Date(session.at)}, ${new Date(endsAt)})
          on conflict (user_id) do update set credential_id = excluded.credential_id,
            began_at = excluded.began_at, ends_at = excluded.ends_at`;
        await insertSession(tx, session, { userId, credentialId: passkey.credentialId });
        const [owner] = await tx<
          { readonly name: string }[]
        >`select name from owners where user_id = ${userId}`;
        return { userId, name: owner?.name ?? '' };
      });
    },

    /** @param byCredentialId the passkey whose word it is; the one that the recovery made cannot undo it */
    undoRecovery: (
      userId: bigint,
      byCredentialId: string,
      at: number,
    ): Promise<'undone' | 'not_of_before' | 'none'> =>
      underOwner(userId, at, async (tx, recovery) => {
        if (recovery === null) return 'none';
        const undone = await tx<object[]>`delete from passkeys p using recoveries r
          where r.user_id = ${userId} and p.credential_id = r.credential_id and r.credential_id <> ${byCredentialId}
          returning 1`;
        return undone.length > 0 ? 'undone' : 'not_of_before';
      }),
  };
}
