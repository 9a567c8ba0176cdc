/** Owners' accounts, passkeys, challenges and sessions; and the claim, which moves an agent between owners. */

import { transact } from '@bellwether/durable';
import type { SettingsChange, SettingsRow } from '../agents/index.ts';
import { settingsColumns, settingsRow } from '../agents/index.ts';
import type { Owner, SignedInOwner } from '../domain/records.ts';
import type { Sql, Tx } from '../platform/database/connection.ts';
import { gaveWay, givingWay } from '../platform/database/giving-way.ts';
import { once } from '../platform/database/idempotency-store.ts';
import type {
  AgentsRow,
  CredentialsRow,
  OwnersRow,
  PasskeyChallengesRow,
  PasskeysRow,
  RecoveriesRow,
  SafeguardsRow,
} from '../platform/database/rows.generated.ts';
import { only } from '../platform/database/rows.ts';
import type { Sealed } from '../platform/secrets.ts';
import { createOwnerWallets } from './owner-wallets.ts';
import {
  createPasskeyStore,
  insertPasskey,
  insertSession,
  isKnown,
  type NewSession,
  recoveryOf,
} from './passkey-store.ts';
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
        const change = isPaused ? { ownerPaused: true } : { ownerPaused: false, tradingPaused: false };
        await tx`update safeguards set ${tx(settingsColumns(change, at))}
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

export interface PasskeyRow extends NewPasskey {
  readonly userId: bigint;
  readonly ownerName: string;
}

type OwnersAct =
  | `approve ${string}`
  | `exit rule ${string}`
  | `exit ${string}`
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
