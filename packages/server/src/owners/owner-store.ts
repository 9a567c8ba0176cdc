/** Owners' accounts, passkeys, challenges and sessions; and the claim, which moves an agent between owners. */
import { transact } from '@bellwether/durable';
import {
  ownersPause,
  type SettingsChange,
  type SettingsColumns,
  type SettingsRow,
  settingsColumns,
  settingsRow,
} from '../agents/index.ts';
import type { Owner, Recovery, SignedInOwner, WalletAddress } from '../domain/records.ts';
import {
  type Fragment,
  gaveWay,
  givingWay,
  ms,
  only,
  type Sql,
  type Tx,
} from '../platform/database/connection.ts';
import { once } from '../platform/database/idempotency-store.ts';
import type {
  AgentsRow,
  AgentWalletsRow,
  CredentialsRow,
  OwnersRow,
  PasskeyChallengesRow,
  PasskeysRow,
  RecoveriesRow,
  RecoveryCodesRow,
  SafeguardsRow,
} from '../platform/database/rows.generated.ts';
import type { Sealed } from '../platform/secrets.ts';
import { ownersSolanaWallets } from '../wallets/index.ts';
import type { NewPasskey } from './passkeys.ts';

/**
 * The exchange records outcomes of orders that a claim moves. If the two wait for each other, the claim must give up: it
 * does so long before the database checks for a deadlock (1 s) and picks a victim.
 */
const LOCK_TIMEOUT = '250ms';

/** An owner with a passkey has a name. */
type NamedOwner = { readonly name: NonNullable<OwnersRow['name']> };

/** Columns of an outer join. */
type NullableOf<Row, Column extends keyof Row> = { readonly [C in Column]: Row[C] | null };

/** A person has mostly one passkey, and a single one needs no name. */
const FIRST_NAME = 'Passkey';

const passkeyRow = (row: PasskeysRow & NamedOwner): PasskeyRow => ({
  userId: row.user_id,
  ownerName: row.name,
  credentialId: row.credential_id,
  publicKey: row.public_key,
  counter: Number(row.counter),
  transports: row.transports,
  backedUp: row.backed_up,
});

/** Moves all rows that name `from`; each credential is sealed again, because it is bound to its owner. */
async function moveRows(tx: Tx, agentId: string, from: bigint, to: bigint, reseal: Reseal): Promise<void> {
  const credentials = await tx<
    Pick<CredentialsRow, 'wallet_address' | 'key_id' | 'sealed'>[]
  >`select wallet_address, key_id, sealed from credentials where user_id = ${from} for update`;
  for (const row of credentials) {
    const sealed = reseal(row.wallet_address, { keyId: row.key_id, bytes: row.sealed }, from, to);
    await tx`update credentials set user_id = ${to}, key_id = ${sealed.keyId}, sealed = ${sealed.bytes as Buffer}
      where wallet_address = ${row.wallet_address}`;
  }
  await tx`select merge_owner(${agentId}, ${from}, ${to})`;
}

export function createOwnerStore(sql: Sql) {
  const claimOnce: OwnerStore['claim'] = (agentId, to, at, { reseal, settings }) =>
    transact(sql, async (tx) => {
      // Locked first, as the agent's trades do: no order is half placed while the owner changes.
      const [safeguards] = await tx<
        SafeguardsRow[]
      >`select * from safeguards where agent_id = ${agentId} for update`;
      await tx`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`;
      const [agent] = await tx<
        Pick<AgentsRow, 'user_id' | 'claimed_at'>[]
      >`select user_id, claimed_at from agents where agent_id = ${agentId} for update`;
      if (agent === undefined || agent.claimed_at !== null) return 'taken' as const;
      const from = agent.user_id;
      await moveRows(tx, agentId, from, to, reseal);
      await tx`update agents set user_id = ${to}, claimed_at = ${new Date(at)} where agent_id = ${agentId}`;
      const change = safeguards === undefined ? {} : settings(settingsRow(safeguards));
      if (Object.keys(change).length > 0)
        await tx`update safeguards set ${tx(settingsColumns(change, at))} where agent_id = ${agentId}`;
      await tx`update owners set merged_into = ${to} where user_id = ${from}`;
      return { from };
    });

  return {
    ...createOwnerWallets(sql),
    ...createPasskeyStore(sql),

    async addChallenge({ challenge, purpose, handle, name }: Challenge, expiresAt: number): Promise<void> {
      await sql`insert into passkey_challenges (challenge, purpose, passkey_handle, owner_name, expires_at)
        values (${challenge}, ${purpose}, ${handle}, ${name}, ${new Date(expiresAt)})`;
    },

    /** Consumes the challenge: it is valid once over all replicas. `null`: unknown, used or expired. */
    async takeChallenge(
      challenge: string,
      purpose: Challenge['purpose'],
      at: number,
    ): Promise<Challenge | null> {
      const [row] = await sql<
        PasskeyChallengesRow[]
      >`delete from passkey_challenges where challenge = ${challenge} returning *`;
      if (row === undefined || row.purpose !== purpose || row.expires_at.getTime() <= at) return null;
      return { challenge, purpose, handle: row.passkey_handle, name: row.owner_name };
    },

    /** Creates an account with its first passkey and session. @returns `null` when the passkey is already registered. */
    register: (
      {
        name,
        handle,
        passkey,
      }: { readonly name: string; readonly handle: string; readonly passkey: NewPasskey },
      session: NewSession,
    ): Promise<Owner | null> =>
      transact(sql, async (tx) => {
        const at = new Date(session.at);
        if (await isKnown(tx, passkey.credentialId)) return null;
        const { user_id: userId } = only(
          await tx<Pick<OwnersRow, 'user_id'>[]>`insert into owners (created_at, name, passkey_handle)
          values (${at}, ${name}, ${handle}) returning user_id`,
        );
        await insertPasskey(tx, { userId, passkey, name: FIRST_NAME, at: session.at });
        await insertSession(tx, session, { userId, credentialId: passkey.credentialId });
        return { userId, name };
      }),

    async passkey(credentialId: string): Promise<PasskeyRow | null> {
      const [row] = await sql<
        (PasskeysRow & NamedOwner)[]
      >`select p.*, o.name from passkeys p join owners o using (user_id)
        where p.credential_id = ${credentialId}`;
      return row === undefined ? null : passkeyRow(row);
    },

    /** Records the passkey's use and opens a session. @returns whether the passkey is still there */
    async signIn(credentialId: string, counter: number, session: NewSession): Promise<boolean> {
      const at = new Date(session.at);
      const [opened] = await sql<object[]>`
        with used as (
          update passkeys set counter = greatest(counter, ${counter}::bigint), last_used_at = ${at}
          where credential_id = ${credentialId} returning user_id, credential_id
        )
        insert into owner_sessions (token_hash, user_id, credential_id, created_at, expires_at)
        select ${session.tokenHash as Buffer}, user_id, credential_id, ${at}, ${new Date(session.expiresAt)} from used
        returning 1`;
      return opened !== undefined;
    },

    /** Records the passkey's use without opening a session. */
    async usePasskey(credentialId: string, counter: number, at: number): Promise<void> {
      await sql`update passkeys set counter = greatest(counter, ${counter}::bigint), last_used_at = ${new Date(at)}
        where credential_id = ${credentialId}`;
    },

    async sessionOwner(tokenHash: Uint8Array, at: number): Promise<SignedInOwner | null> {
      const [row] = await sql<
        (Pick<OwnersRow, 'user_id'> & NamedOwner & NullableOf<RecoveriesRow, 'began_at' | 'ends_at'>)[]
      >`select o.user_id, o.name, r.began_at, r.ends_at from owner_sessions s join owners o using (user_id)
        left join recoveries r on r.user_id = o.user_id and r.ends_at > ${new Date(at)}
        where s.token_hash = ${tokenHash as Buffer} and s.expires_at > ${new Date(at)}`;
      return row === undefined ? null : { userId: row.user_id, name: row.name, recovery: recoveryOf(row) };
    },

    async endSession(tokenHash: Uint8Array): Promise<void> {
      await sql`delete from owner_sessions where token_hash = ${tokenHash as Buffer}`;
    },

    /**
     * Names the owner's state for each session that holds, by its token's hash in hexadecimal: a text that changes with the owner's claimed
     * agents, and with a recovery and its undoing.
     */
    async sessionsAgents(
      tokenHashes: readonly Uint8Array[],
      at: number,
    ): Promise<ReadonlyMap<string, string>> {
      const rows = await sql<{ readonly token: string; readonly agents: string }[]>`
        select encode(s.token_hash, 'hex') as token, c.agents || coalesce(' ' || r.began_at::text, '') as agents
        from owner_sessions s cross join lateral (
          select count(*) || ' ' || coalesce(max(a.claimed_at)::text, '') as agents
          from agents a where a.user_id = s.user_id and a.claimed_at is not null offset 0) c
        left join recoveries r on r.user_id = s.user_id
        where s.token_hash = any(${tokenHashes.map((hash) => Buffer.from(hash))}::bytea[])
          and s.expires_at > ${new Date(at)}`;
      return new Map(rows.map(({ token, agents }) => [token, agents]));
    },

    /** Claimed agents, the latest claim first. */
    async agentIds(userId: bigint): Promise<readonly string[]> {
      const rows = await sql<
        Pick<AgentsRow, 'agent_id'>[]
      >`select agent_id from agents where user_id = ${userId} and claimed_at is not null
        order by claimed_at desc, agent_id`;
      return rows.map((row) => row.agent_id);
    },

    /** Pauses all claimed agents, or resumes all and lifts their own pauses: in one transaction, under the locks of their trades. */
    pauseAll: (userId: bigint, isPaused: boolean, at: number): Promise<void> =>
      once(sql, async (tx) => {
        // In the order in which groups of trades lock them.
        const agents = await tx<Pick<SafeguardsRow, 'agent_id'>[]>`
          select s.agent_id from safeguards s join agents a using (agent_id)
          where a.user_id = ${userId} and a.claimed_at is not null order by s.agent_id for update of s`;
        await tx`update safeguards set ${tx(settingsColumns(ownersPause(isPaused), at))}
          where agent_id = any(${agents.map((row) => row.agent_id)}::uuid[])`;
      }),

    /**
     * Moves an unclaimed agent, and everything of its provisional owner, to `to`, in one transaction under the lock that
     * its trades take.
     * @returns the former owner; `taken` when the agent is already claimed; `busy` when its rows stayed locked
     */
    async claim(
      agentId: string,
      to: bigint,
      at: number,
      terms: {
        readonly reseal: Reseal;
        /** Changes of the claim to the agent's settings, in the same transaction. */
        readonly settings: (current: SettingsRow) => SettingsChange;
      },
    ): Promise<{ readonly from: bigint } | 'taken' | 'busy'> {
      return givingWay(() => claimOnce(agentId, to, at, terms)).catch((error: unknown) => {
        if (gaveWay(error)) return 'busy' as const;
        throw error;
      });
    },

    /** Moves the rows that requests in progress during the claim wrote for the former owner. */
    async adopt(agentId: string, from: bigint, to: bigint, reseal: Reseal): Promise<void> {
      await transact(sql, async (tx) => {
        await tx`select 1 from safeguards where agent_id = ${agentId} for update`;
        await tx`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`;
        await moveRows(tx, agentId, from, to, reseal);
      });
    },

    /** Deletes expired challenges and sessions. */
    async sweep(at: number): Promise<void> {
      const now = new Date(at);
      await sql`delete from passkey_challenges where expires_at <= ${now}`;
      await sql`delete from owner_sessions where expires_at <= ${now}`;
    },
  };
}

interface PasskeyRow extends NewPasskey {
  readonly userId: bigint;
  readonly ownerName: string;
}

type OwnersAct =
  | `approve ${string}`
  | `exit rule ${string}`
  | `exit ${string}`
  | `exits ${string}`
  | `heartbeat ${string}`
  | 'add passkey'
  | 'new passkey'
  | `remove passkey ${string}`
  | 'recovery code'
  | 'undo recovery';

export interface Challenge {
  readonly challenge: string;
  /** `recover`: by the hash of the code; what has `by` names one act of one owner, who is signed in. */
  readonly purpose: 'register' | 'sign_in' | `recover ${string}` | `${OwnersAct} by ${bigint}`;
  /** Registration of a new account only: its handle. */
  readonly handle: string | null;
  readonly name: string | null;
}

/** Seals a credential again for another owner: the cipher text is bound to its owner. */
export type Reseal = (walletAddress: string, sealed: Sealed, from: bigint, to: bigint) => Sealed;

export type OwnerStore = ReturnType<typeof createOwnerStore>;

// An owner's decisions about wallets: which agent may use which, and whether locks still bind wallets that left.

interface LeftKeyRow extends Pick<AgentWalletsRow, 'signer'> {
  readonly wallets: WalletAddress[];
  readonly agents: string[];
  readonly left_at: Date;
}

/** Rows `address`, `signer`: all wallets that the owner can grant. */
const walletsOf = (sql: Sql, userId: bigint): Fragment =>
  sql`select wallet_address as address, eoa as signer from credentials where user_id = ${userId}
    union select address, signer from linked_wallets where user_id = ${userId} and kind = 'evm'
    union select s.address, s.address from (${ownersSolanaWallets(sql, userId)}) s`;

function createOwnerWallets(sql: Sql) {
  return {
    /** All wallets of the owner, with what this agent may do with them. */
    async walletGrants(userId: bigint, agentId: string): Promise<readonly WalletGrant[]> {
      const rows = await sql<Pick<AgentWalletsRow, 'address' | 'is_own' | 'granted'>[]>`
        select o.address, coalesce(w.is_own, false) as is_own, coalesce(w.granted, false) as granted
        from (${walletsOf(sql, userId)}) o
        left join agent_wallets w on w.address = o.address and w.agent_id = ${agentId} order by 1`;
      return rows.map((row) => ({ walletAddress: row.address, isOwn: row.is_own, granted: row.granted }));
    },

    /** @returns false when the wallet is not the owner's */
    grantWallet: (
      {
        userId,
        agentId,
        walletAddress,
      }: { readonly userId: bigint; readonly agentId: string; readonly walletAddress: WalletAddress },
      granted: boolean,
      at: number,
    ): Promise<boolean> =>
      once(sql, async (tx) => {
        const rows = await tx<object[]>`
          insert into agent_wallets (agent_id, address, signer, is_own, granted, since)
          select ${agentId}::uuid, o.address, o.signer, false, ${granted}, ${new Date(at)}::timestamptz
          from (${walletsOf(sql, userId)}) o where o.address = ${walletAddress} limit 1
          on conflict (agent_id, address) do update set granted = excluded.granted
          returning 1`;
        return rows.length === 1;
      }),

    async leftKeys(userId: bigint): Promise<readonly LeftKey[]> {
      const rows = await sql<LeftKeyRow[]>`
        select m.signer, array_agg(distinct m.address order by m.address) as wallets,
          array_agg(distinct m.agent_id::text) as agents, max(l.since) as left_at
        from agent_wallets m join agents a using (agent_id)
        cross join lateral (select w.since, b.user_id from agent_wallets w join agents b using (agent_id)
          where w.signer = m.signer and w.is_own order by w.turn desc limit 1) l
        where a.user_id = ${userId} and a.claimed_at is not null and m.is_own and not m.lifted
          and l.user_id <> ${userId}
        group by m.signer order by max(l.since) desc, m.signer`;
      return rows.map((row) => ({
        signer: row.signer,
        wallets: row.wallets,
        leftAt: ms(row.left_at),
        agentIds: row.agents,
      }));
    },

    /** What binds a key that left one of the owner's agents. */
    async settingsTakenAlong(signer: WalletAddress, agentId: string): Promise<SettingsRow> {
      return settingsRow(
        only(await sql<SettingsColumns[]>`select * from binding_settings(${signer}, ${agentId}::uuid)`),
      );
    },

    /**
     * Frees the key of a wallet from the locks of an owner's agents; of every owner's when `userId` is null.
     * @returns the agents; empty when there is nothing to lift
     */
    lift: (userId: bigint | null, walletAddress: WalletAddress): Promise<readonly string[]> =>
      once(
        sql,
        async (tx) => {
          const rows = await tx<Pick<AgentWalletsRow, 'agent_id'>[]>`
            update agent_wallets w set lifted = true from agents a
            where a.agent_id = w.agent_id and a.claimed_at is not null and w.is_own and not w.lifted
              ${userId === null ? sql`` : sql`and a.user_id = ${userId}`}
              and w.signer in (select signer from agent_wallets
                where address = ${walletAddress} or signer = ${walletAddress})
            returning w.agent_id::text as agent_id`;
          return [...new Set(rows.map((row) => row.agent_id))];
        },
        (agents) => agents.length > 0,
      ),
  };
}

/** One of an owner's wallets, and what one of the owner's agents may do with it. */
interface WalletGrant {
  readonly walletAddress: WalletAddress;
  readonly isOwn: boolean;
  readonly granted: boolean;
}

/** A wallet key that the owner's agents had, and that belongs to another owner. */
interface LeftKey {
  readonly signer: WalletAddress;
  readonly wallets: readonly WalletAddress[];
  readonly leftAt: number;
  /** The agents whose locks bind it. */
  readonly agentIds: readonly string[];
}

// The ways in of an owner: passkeys, the recovery code, the last recovery. Each change holds the owner's row, so changes come
// one after the other on all replicas, and none of them but the undoing passes while the day of a recovery lasts.

interface NamedPasskey {
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

async function insertPasskey(tx: Tx, { userId, passkey, name, at }: Added): Promise<void> {
  const used = new Date(at);
  await tx`insert into passkeys
    (credential_id, user_id, public_key, counter, transports, backed_up, name, created_at, last_used_at)
    values (${passkey.credentialId}, ${userId}, ${passkey.publicKey as Buffer}, ${passkey.counter},
      ${[...passkey.transports]}::text[], ${passkey.backedUp}, ${name}, ${used}, ${used})`;
}

async function insertSession(
  sql: Sql | Tx,
  { tokenHash, at, expiresAt }: NewSession,
  { userId, credentialId }: { readonly userId: bigint; readonly credentialId: string },
): Promise<void> {
  await sql`insert into owner_sessions (token_hash, user_id, credential_id, created_at, expires_at)
    values (${tokenHash as Buffer}, ${userId}, ${credentialId}, ${new Date(at)}, ${new Date(expiresAt)})`;
}

async function isKnown(tx: Tx, credentialId: string): Promise<boolean> {
  const [known] = await tx<object[]>`select 1 from passkeys where credential_id = ${credentialId}`;
  return known !== undefined;
}

const recoveryOf = (
  row: { [K in keyof Pick<RecoveriesRow, 'began_at' | 'ends_at'>]: RecoveriesRow[K] | null } | undefined,
): Recovery | null =>
  row === undefined || row.began_at === null || row.ends_at === null
    ? null
    : { beganAt: row.began_at.getTime(), endsAt: row.ends_at.getTime() };

function createPasskeyStore(sql: Sql) {
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
