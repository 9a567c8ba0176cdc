/** Wallets: which are within an agent's reach, their sealed venue credentials, their links to owners, and whose heartbeat the desk keeps up. */

import type { Micro } from '@bellwether/contract/decimals';
import type { Address, SignatureType, SolanaAddress } from '@bellwether/protocol';
import type { VenueId } from '../domain/market.ts';
import type { ActingAgent, Caller, WalletAddress } from '../domain/records.ts';
import { utcDay } from '../domain/safeguards.ts';
import { type Fragment, givingWay, ms, only, type Sql, type Tx } from '../platform/database/connection.ts';
import { once } from '../platform/database/idempotency-store.ts';
import type {
  AgentsRow,
  CredentialsRow,
  FaucetDrawsRow,
  LinkedWalletsRow,
} from '../platform/database/rows.generated.ts';
import type { Sealed } from '../platform/secrets.ts';
import type { HeartbeatLog } from '../venues/venue.ts';

/** Values, or columns that have them. */
interface Reader {
  readonly agentId: string | Fragment;
  readonly userId: bigint | Fragment;
}

/** A condition on an address. */
export const isReachable = (sql: Sql | Tx, agentId: Reader['agentId'], address: Fragment): Fragment =>
  (sql as Sql)`exists (select 1 from agent_wallets r where r.agent_id = ${agentId} and r.address = ${address}
    and (r.is_own or r.granted))`;

/** Rows `address`: EVM wallets with credentials, the accounts that pay for them, and linked ones. */
export const evmWallets = (sql: Sql, { agentId, userId }: Reader): Fragment =>
  sql`select x.address from credentials c cross join lateral (values (c.wallet_address), (c.funder)) x(address)
      where c.user_id = ${userId} and ${isReachable(sql, agentId, sql`c.wallet_address`)}
    union select l.address from linked_wallets l
      where l.user_id = ${userId} and l.kind = 'evm' and ${isReachable(sql, agentId, sql`l.address`)}`;

/** Rows `address`: the owner's EVM wallets with the accounts that pay for them, for all its agents. */
export const ownersEvmWallets = (sql: Sql, userId: Reader['userId']): Fragment =>
  sql`select x.address from credentials c cross join lateral (values (c.wallet_address), (c.funder)) x(address)
      where c.user_id = ${userId}
    union select l.address from linked_wallets l where l.user_id = ${userId} and l.kind = 'evm'`;

/** Rows `address`: the owner's Solana wallets that are proved by a signature, for all its agents. */
export const ownersSolanaWallets = (sql: Sql, userId: Reader['userId']): Fragment =>
  sql`select l.address from linked_wallets l where l.user_id = ${userId} and l.kind = 'solana'
    union select o.address from order_wallets o where o.user_id = ${userId} and not exists (
      select 1 from linked_wallets l where l.address = o.address and l.user_id <> ${userId})`;

/** Rows `address`: those of them within the agent's reach. */
export const solanaWallets = (sql: Sql, { agentId, userId }: Reader): Fragment =>
  sql`select s.address from (${ownersSolanaWallets(sql, userId)}) s
    where ${isReachable(sql, agentId, sql`s.address`)}`;

/** Rows `address`: those of some addresses, of any family, within the agent's reach. */
const reachableAmong = (sql: Sql, reader: Reader, addresses: readonly string[]): Fragment =>
  sql`select r.address from agent_wallets r where r.agent_id = ${reader.agentId} and (r.is_own or r.granted)
    and r.address = any(${[...addresses]}::text[])`;

// The limit on an owner's wallets. A wallet that is already known, of any owner, adds no row and is always allowed.

/** Serialises registrations and links of one owner until the commit, so that the count stays exact. */
async function hasRoomFor(tx: Tx, userId: bigint, address: string, max: number): Promise<boolean> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`wallets of ${userId}`}, 0))`;
  const { known, held } = only(
    await tx<{ known: boolean; held: number }[]>`
    select exists (select 1 from credentials where wallet_address = ${address}
        union all select 1 from linked_wallets where address = ${address}) as known,
      (select count(*)::int from (
        select wallet_address from credentials where user_id = ${userId}
        union select address from linked_wallets where user_id = ${userId}) as held) as held`,
  );
  return known || held < max;
}

// Wallets and their sealed venue credentials.

export function createWalletStore(sql: Sql) {
  return {
    /** `taken`: another owner has the wallet. `full`: this one has `maxWallets` others. */
    register: (
      caller: Caller,
      credential: CredentialRow,
      maxWallets: number,
      challenge: SpentChallenge | null,
    ): Promise<Pick<CredentialRow, 'registeredAt'> | 'taken' | 'full' | 'challenge_used'> =>
      once(sql, async (tx) => {
        const at = new Date(credential.registeredAt);
        if (!(await hasRoomFor(tx, caller.userId, credential.walletAddress, maxWallets)))
          return 'full' as const;
        if (challenge !== null && !(await spendChallenge(tx, challenge))) return 'challenge_used' as const;
        const [row] = await tx<object[]>`
        with mine as (
          insert into credentials as c
            (wallet_address, user_id, eoa, funder, signature_type, api_key_hash, key_id, sealed, registered_at)
          select ${credential.walletAddress}, ${caller.userId}, ${credential.eoa}, ${credential.funder},
            ${credential.signatureType}, ${credential.apiKeyHash as Buffer}, ${credential.sealed.keyId},
            ${credential.sealed.bytes as Buffer}, ${at}
          -- A key that has signed for another owner is that owner's.
          where not exists (select 1 from linked_wallets where address = ${credential.eoa} and user_id <> ${caller.userId})
          on conflict (wallet_address) do update set
            eoa = excluded.eoa, funder = excluded.funder, signature_type = excluded.signature_type,
            api_key_hash = excluded.api_key_hash, key_id = excluded.key_id, sealed = excluded.sealed,
            registered_at = excluded.registered_at
          where c.user_id = excluded.user_id
          returning wallet_address
        ), named as (
          update agents set wallet_address = mine.wallet_address from mine where agent_id = ${caller.agentId}
        )
        select note_agent_wallets(${caller.agentId}::uuid,
          ${[...new Set([credential.walletAddress, credential.funder])]}::text[], ${credential.eoa}, ${at}::timestamptz)
        from mine`;
        return row === undefined ? ('taken' as const) : { registeredAt: credential.registeredAt };
      }),

    async credential(caller: ActingAgent, walletAddress: Address): Promise<CredentialRow | null> {
      const [row] = await sql<
        CredentialsRow[]
      >`select * from credentials c where wallet_address = ${walletAddress}
        and user_id = ${caller.userId} and ${isReachable(sql, caller.agentId, sql`c.wallet_address`)}`;
      return row === undefined ? null : credentialRow(row);
    },

    /** The credential of a wallet, or of the wallet that an account pays for, within the agent's reach. */
    async credentialOf(caller: ActingAgent, address: Address): Promise<CredentialRow | null> {
      const [row] = await sql<
        CredentialsRow[]
      >`select * from credentials c where (wallet_address = ${address} or funder = ${address})
        and user_id = ${caller.userId} and ${isReachable(sql, caller.agentId, sql`c.wallet_address`)}
        order by wallet_address = ${address} desc, wallet_address limit 1`;
      return row === undefined ? null : credentialRow(row);
    },

    /** Every EVM wallet within the agent's reach, and the accounts that pay for them. */
    async wallets(caller: ActingAgent): Promise<readonly Address[]> {
      const rows = await sql<
        { address: Address }[]
      >`select address from (${evmWallets(sql, caller)}) w order by 1`;
      return rows.map((row) => row.address);
    },

    /** The keys (EOAs) of the EVM wallets within the agent's reach. */
    async keys({ agentId, userId }: ActingAgent): Promise<readonly Address[]> {
      const rows = await sql<{ key: Address }[]>`
        select c.eoa as key from credentials c
          where c.user_id = ${userId} and ${isReachable(sql, agentId, sql`c.wallet_address`)}
        union select l.signer from linked_wallets l
          where l.user_id = ${userId} and l.kind = 'evm' and ${isReachable(sql, agentId, sql`l.address`)}`;
      return rows.map((row) => row.key);
    },

    async solanaWallets(caller: ActingAgent): Promise<SolanaWallets> {
      const [row] = await sql<SolanaWallets[]>`
        select a.sol_address as named, (select a.sol_address where not exists (
            select 1 from linked_wallets l where l.address = a.sol_address
            union all select 1 from order_wallets o where o.address = a.sol_address)) as unproved,
          array(${solanaWallets(sql, caller)} order by 1) as proved
        from agents a where a.agent_id = ${caller.agentId}`;
      return {
        named: row?.named ?? null,
        unproved: row?.unproved ?? null,
        proved: row?.proved ?? [],
      };
    },

    /** Those of the addresses, of any family, within the agent's reach; also of wallets that have left the owner. */
    async reachable(
      caller: ActingAgent,
      addresses: readonly WalletAddress[],
    ): Promise<ReadonlySet<WalletAddress>> {
      const rows = await sql<
        { address: WalletAddress }[]
      >`select address from (${reachableAmong(sql, caller, addresses)}) w`;
      return new Set(rows.map((row) => row.address));
    },

    /** Whether the simulation balance has been credited. */
    async isCredited(funder: Address): Promise<boolean> {
      const [row] = await sql<object[]>`select 1 from simulation_credits where wallet = ${funder}`;
      return row !== undefined;
    },

    /** Takes `amount` from the day's faucet allowance. @returns what is left, and the draw's name when there was enough */
    async drawFaucet(
      { address, amount, drawId }: FaucetDraw,
      allowance: Micro,
      at: number,
    ): Promise<{ readonly drawId: string | null; readonly left: Micro }> {
      const day = utcDay(at);
      const drawn = await once(sql, async (tx) => {
        const [row] = await tx<Pick<FaucetDrawsRow, 'amount'>[]>`
          insert into faucet_draws as d (address, day, amount)
          select ${address}, ${day}::date, ${amount} where ${amount} <= ${allowance}::bigint
          on conflict (address, day) do update set amount = d.amount + excluded.amount
            where d.amount + excluded.amount <= ${allowance}::bigint
          returning amount`;
        return row === undefined ? null : { drawId, left: allowance - row.amount };
      });
      return drawn ?? { drawId: null, left: await this.faucetLeft(address, allowance, at) };
    },

    /** Amount that the faucet still gives an address today. */
    async faucetLeft(address: Address, perDay: Micro, at: number): Promise<Micro> {
      const [drawn] = await sql<Pick<FaucetDrawsRow, 'amount'>[]>`
        select amount from faucet_draws where address = ${address} and day = ${utcDay(at)}::date`;
      return perDay - (drawn?.amount ?? 0n);
    },
  };
}

/** @returns false when the challenge was used before */
const spendChallenge = async (tx: Tx, { nonce, expiresAt }: SpentChallenge): Promise<boolean> =>
  (
    await tx<object[]>`insert into used_link_challenges (nonce, expires_at)
      values (${nonce}, ${new Date(expiresAt)}) on conflict do nothing returning 1`
  ).length === 1;

const credentialRow = (row: CredentialsRow): CredentialRow => ({
  walletAddress: row.wallet_address,
  userId: row.user_id,
  eoa: row.eoa,
  funder: row.funder,
  signatureType: row.signature_type,
  apiKeyHash: row.api_key_hash,
  sealed: { keyId: row.key_id, bytes: row.sealed },
  registeredAt: ms(row.registered_at),
});

/** A challenge of this service, whose signature proved a wallet. */
export interface SpentChallenge {
  readonly nonce: string;
  readonly expiresAt: number;
}

export interface CredentialRow {
  readonly walletAddress: Address;
  readonly userId: bigint;
  readonly eoa: Address;
  /** The account that pays for this wallet's orders. */
  readonly funder: Address;
  readonly signatureType: SignatureType;
  readonly apiKeyHash: Uint8Array;
  readonly sealed: Sealed;
  readonly registeredAt: number;
}

interface FaucetDraw {
  readonly address: Address;
  readonly amount: Micro;
  readonly drawId: string;
}

/** Solana wallets. A signature of its key proves a wallet: over a link challenge, or in a submitted order. */
interface SolanaWallets {
  /** The agent's solAddress, proved or not: quotes are made for it. */
  readonly named: SolanaAddress | null;
  /** Proved by the owner's agents, not linked by another owner, and within this agent's reach. */
  readonly proved: readonly SolanaAddress[];
  /** The agent's solAddress while no agent has proved that it holds its key. */
  readonly unproved: SolanaAddress | null;
}

/**
 * An agent reaches those of its owner's wallets that it registered, linked or traded with, and those that the owner
 * granted it. All methods here ignore the owner's other wallets.
 */
export type WalletStore = ReturnType<typeof createWalletStore>;

// Links of wallets to owners. A link moves what another owner had registered for the same key, in one transaction.

type AddressOnly = Pick<LinkedWalletsRow, 'address'>;

export function createWalletLinkStore(sql: Sql) {
  return {
    /** Consumes the challenge, moves the signer's wallets and records the link: all of it or nothing. */
    link: (link: NewLink): Promise<LinkOutcome> =>
      givingWay(() =>
        once(
          sql,
          (tx) => moveAndLink(tx, link),
          ({ kind }) => kind === 'linked',
        ),
      ),

    /**
     * Deletes the wallet's link and credential; for a signer, those of all its wallets.
     * @returns the owner's wallets among them, empty when the address was not the owner's
     */
    unlink: (caller: Caller, address: string): Promise<readonly string[]> =>
      givingWay(() =>
        once(
          sql,
          (tx) => unlink(tx, caller, address),
          (wallets) => wallets.length > 0,
        ),
      ),

    /** The addresses that an unlink can name: the owner's keys with their wallets, and the agent's Solana address. */
    async unlinkable({
      agentId,
    }: Caller): Promise<readonly { readonly key: string; readonly wallets: readonly string[] }[]> {
      const rows = await sql<{ key: string; wallets: string[] }[]>`
        select w.key, array_agg(distinct w.address order by w.address) as wallets from agents a cross join lateral (
          select c.eoa as key, c.wallet_address as address from credentials c
            where c.user_id = a.user_id and ${isReachable(sql, agentId, sql`c.wallet_address`)}
          union select l.signer, l.address from linked_wallets l
            where l.user_id = a.user_id and ${isReachable(sql, agentId, sql`l.address`)}
          union select a.sol_address, a.sol_address where a.sol_address is not null
        ) w where a.agent_id = ${agentId} group by w.key order by w.key`;
      return rows.map((row) => ({ key: row.key, wallets: row.wallets }));
    },

    async setSolAddress(agentId: string, solAddress: string): Promise<void> {
      await once(sql, (tx) => tx`update agents set sol_address = ${solAddress} where agent_id = ${agentId}`);
    },

    /** Deletes expired challenges. */
    async sweep(at: number): Promise<void> {
      await sql`delete from used_link_challenges where expires_at < ${new Date(at)}`;
    },
  };
}

async function moveAndLink(tx: Tx, link: NewLink): Promise<LinkOutcome> {
  // Links of one key are serialised; of two concurrent links the later one stays.
  await tx`select pg_advisory_xact_lock(hashtextextended(${`wallet link ${link.signer}`}, 0))`;
  const { user_id: callersOwner } = only(
    await tx<
      Pick<AgentsRow, 'user_id'>[]
    >`select user_id from agents where agent_id = ${link.caller.agentId}`,
  );
  if (!(await hasRoomFor(tx, callersOwner, link.address, link.maxWallets))) return { kind: 'full' };
  if (!(await spendChallenge(tx, link.challenge))) return { kind: 'challenge_used' };
  // The agent may have been claimed since its key was looked up.
  const { user_id: owner } = only(
    await tx<
      Pick<AgentsRow, 'user_id'>[]
    >`select user_id from agents where agent_id = ${link.caller.agentId} for share`,
  );
  const { moved, formerOwners } = await takeOver(tx, link, owner);
  await tx`insert into linked_wallets (address, user_id, kind, signer, linked_at)
    select address, ${owner}, ${link.kind}, ${link.signer}, ${new Date(link.at)}
    from unnest(${[...new Set([link.address, link.signer])]}::text[]) as t(address)
    on conflict (address) do update set user_id = excluded.user_id, signer = excluded.signer, linked_at = excluded.linked_at`;
  await tx`select note_agent_wallets(${link.caller.agentId}::uuid,
      array(select distinct x.address from (values (${link.address}), (${link.signer})) x(address)
        union select unnest(array[wallet_address, funder]) from credentials
          where eoa = ${link.signer} and user_id = ${owner}),
      ${link.signer}, ${new Date(link.at)}::timestamptz)`;
  if (link.kind === 'solana') {
    await tx`update agents set sol_address = ${link.address} where agent_id = ${link.caller.agentId}`;
  } else {
    // Prefers a wallet with credentials, which can trade, to one that is only linked.
    await tx`update agents set wallet_address = coalesce(
        (select wallet_address from credentials where eoa = ${link.signer} and user_id = ${owner}
         order by wallet_address = ${link.address} desc, registered_at desc limit 1), ${link.address})
      where agent_id = ${link.caller.agentId}`;
  }
  return { kind: 'linked', moved, formerOwners };
}

/** Wallets outside the agent's reach count as not the owner's. */
async function unlink(tx: Tx, caller: Caller, address: string): Promise<readonly string[]> {
  // One after another: each locks the caller and then every agent of the owner, so two at once would wait for each other.
  await tx`select pg_advisory_xact_lock(hashtextextended('wallets of owner ' || user_id, 0))
    from agents where agent_id = ${caller.agentId}`;
  const { user_id: owner } = only(
    await tx<
      Pick<AgentsRow, 'user_id'>[]
    >`select user_id from agents where agent_id = ${caller.agentId} for share`,
  );
  const reach = (column: Fragment) => isReachable(tx, caller.agentId, column);
  const gone = await tx<AddressOnly[]>`
    delete from credentials c where user_id = ${owner}
      and (wallet_address = ${address} or eoa = ${address}) and ${reach(tx`c.wallet_address` as unknown as Fragment)}
    returning wallet_address as address`;
  const links = await tx<AddressOnly[]>`
    delete from linked_wallets l where user_id = ${owner}
      and (address = ${address} or signer = ${address}) and ${reach(tx`l.address` as unknown as Fragment)}
    returning address`;
  const traded = await tx<
    AddressOnly[]
  >`delete from order_wallets o where user_id = ${owner} and address = ${address}
    and ${reach(tx`o.address` as unknown as Fragment)} returning address`;
  const forgotten = await tx<Pick<AgentsRow, 'sol_address'>[]>`update agents set sol_address = null
    where agent_id = ${caller.agentId} and sol_address = ${address} returning sol_address`;
  const wallets = new Set([...gone, ...links, ...traded].map((row) => row.address));
  if (wallets.size === 0 && forgotten.length === 0) return [];
  wallets.add(address);
  const named = [...wallets];
  await tx`update agents set
      wallet_address = case when wallet_address = any(${named}::text[]) then null else wallet_address end,
      sol_address = case when sol_address = any(${[...links, ...traded].map((row) => row.address)}::text[]) then null
        else sol_address end
    where user_id = ${owner} and (wallet_address = any(${named}::text[]) or sol_address = any(${named}::text[]))`;
  await free(tx, [owner], named);
  return named.sort();
}

/** Removes the locks on wallets that leave an unclaimed owner: the person who claims its agent later never had them. */
async function free(tx: Tx, owners: readonly bigint[], addresses: readonly string[]): Promise<void> {
  await tx`update agent_wallets w set lifted = true from agents a
    where a.agent_id = w.agent_id and a.claimed_at is null and a.user_id = any(${owners.map(String)}::bigint[])
      and (w.address = any(${[...addresses]}::text[]) or w.signer = any(${[...addresses]}::text[]))`;
}

/** Moves everything that other owners have of the signer's wallets. */
async function takeOver(
  tx: Tx,
  link: NewLink,
  owner: bigint,
): Promise<{ moved: string[]; formerOwners: bigint[] }> {
  const held = await tx<Pick<CredentialsRow, 'user_id'>[]>`
    select user_id from credentials where eoa = ${link.signer} and user_id <> ${owner}
    union select user_id from linked_wallets where signer = ${link.signer} and user_id <> ${owner}
    union select user_id from order_wallets where address = ${link.signer} and user_id <> ${owner}`;
  const formerOwners = held.map((row) => row.user_id);
  if (formerOwners.length > 0) {
    // Their trade in progress is committed first; their next trade finds no credential.
    await tx`select 1 from safeguards where agent_id in (
        select agent_id from agents where user_id = any(${formerOwners.map(String)}::bigint[]))
      order by agent_id for no key update`;
  }
  const credentials = await tx<CredentialsRow[]>`
    select * from credentials where eoa = ${link.signer} and user_id <> ${owner} for update`;
  for (const row of credentials) {
    const sealed = link.reseal(credentialRow(row), owner);
    await tx`update credentials set user_id = ${owner}, key_id = ${sealed.keyId}, sealed = ${sealed.bytes as Buffer}
      where wallet_address = ${row.wallet_address}`;
  }
  const links = await tx<AddressOnly[]>`
    update linked_wallets set user_id = ${owner} where signer = ${link.signer} and user_id <> ${owner}
    returning address`;
  const moved = [
    ...new Set([...credentials.map((row) => row.wallet_address), ...links.map((row) => row.address)]),
  ].sort();
  const named = [...new Set([...moved, link.address, link.signer])];
  // Agents may name a Solana address without proof; proof takes it from all others.
  await tx`update agents set
      wallet_address = case when wallet_address = any(${named}::text[]) then null else wallet_address end,
      sol_address = case when sol_address = any(${named}::text[]) then null else sol_address end
    where user_id <> ${owner} and (wallet_address = any(${named}::text[]) or sol_address = any(${named}::text[]))`;
  await free(tx, formerOwners, [link.signer]);
  return { moved, formerOwners };
}

interface NewLink {
  readonly caller: Caller;
  /** An EVM address, or a Solana address. */
  readonly address: string;
  readonly kind: 'evm' | 'solana';
  /** The EOA that signed; the address itself for Solana. */
  readonly signer: string;
  readonly challenge: SpentChallenge;
  readonly at: number;
  /** Per owner. A wallet that is already registered or linked, by any owner, does not count. */
  readonly maxWallets: number;
  /** Seals a credential for its new owner: the cipher text is bound to its owner. */
  reseal(credential: CredentialRow, userId: bigint): Sealed;
}

type LinkOutcome =
  | { readonly kind: 'challenge_used' | 'full' }
  | {
      readonly kind: 'linked';
      /** Wallets that were another owner's. */
      readonly moved: readonly string[];
      /** Their former owners. */
      readonly formerOwners: readonly bigint[];
    };

export type WalletLinkStore = ReturnType<typeof createWalletLinkStore>;

// Wallets for whose keys the desk keeps up the venue's heartbeat: the owner's word, and who sends.

export interface HeartbeatStore {
  /** Wallets of the owner that have a key, and whether the owner wants its heartbeat. */
  ofOwner(userId: bigint): Promise<ReadonlyMap<string, boolean>>;
  /** @returns false when the owner has no key of the wallet */
  set(userId: bigint, walletAddress: WalletAddress, isOn: boolean, at: number): Promise<boolean>;
}

interface OfOwnerRow {
  readonly wallet_address: string;
  readonly is_on: boolean;
}

export const createHeartbeatStore = (sql: Sql): HeartbeatStore => ({
  async ofOwner(userId) {
    const rows = await sql<OfOwnerRow[]>`
      select c.wallet_address, w.wallet_address is not null as is_on from credentials c
      left join wallet_heartbeats w on w.wallet_address = c.wallet_address and w.user_id = c.user_id
      where c.user_id = ${userId}`;
    return new Map(rows.map((row) => [row.wallet_address, row.is_on]));
  },

  async set(userId, walletAddress, isOn, at) {
    const [row] = await sql<object[]>`
      with own as (
        select wallet_address from credentials where wallet_address = ${walletAddress} and user_id = ${userId}
      ), switched_on as (
        insert into wallet_heartbeats as w (wallet_address, user_id, since)
        select wallet_address, ${userId}, ${new Date(at)}::timestamptz from own where ${isOn}
        -- It may be the word of a former owner.
        on conflict (wallet_address) do update set user_id = excluded.user_id, since = excluded.since
          where w.user_id <> excluded.user_id
      ), switched_off as (
        delete from wallet_heartbeats w using own where w.wallet_address = own.wallet_address and not ${isOn}
      ) select 1 from own`;
    return row !== undefined;
  },
});

export const createHeartbeatLog = (sql: Sql, venue: VenueId): HeartbeatLog => ({
  venue,

  async lease(holder, forMs) {
    // The database's clock alone decides. Nothing is written while no owner wants it.
    const rows = await sql<{ readonly wallet_address: string }[]>`
      with held as (
        insert into heartbeat_senders as h (venue, holder, leased_until)
        select ${venue}, ${holder}, clock_timestamp() + ${forMs} * interval '1 millisecond'
        where exists (select 1 from wallet_heartbeats)
        on conflict (venue) do update set holder = excluded.holder, leased_until = excluded.leased_until
          where h.holder = excluded.holder or h.leased_until <= clock_timestamp()
        returning 1
      ), wanted as (
        select c.wallet_address, c.eoa, c.user_id from wallet_heartbeats w
        join credentials c on c.wallet_address = w.wallet_address and c.user_id = w.user_id
        where exists (select 1 from held)
      ), reaching as (
        -- A venue's key is of its EOA, which may control several wallets.
        select w.wallet_address, r.agent_id, r.address, g.silence_seconds is not null as has_limit,
          exists (select 1 from silences x where x.agent_id = r.agent_id
            and x.called_at = (select max(k.last_called_at) from api_keys k where k.agent_id = r.agent_id)) as is_silent
        from wanted w join agent_wallets r on r.signer = w.eoa and (r.is_own or r.granted)
        join agents a on a.agent_id = r.agent_id and a.user_id = w.user_id
        join safeguards g on g.agent_id = r.agent_id
      )
      select w.wallet_address from wanted w left join reaching r using (wallet_address) group by 1
      having not coalesce(bool_or(r.has_limit and r.is_silent), false)
        or bool_or(r.has_limit and not r.is_silent)
        -- An agent that no silence ends is alive while an order of it rests there.
        -- Limited, so that each is looked up by its agent: the open orders of all agents are many.
        or bool_or(not r.has_limit and (select true from orders o
          where o.agent_id = r.agent_id and o.wallet_address = r.address and order_is_open(o.status) limit 1))`;
    return rows.map((row) => row.wallet_address);
  },

  async release(holder) {
    await sql`delete from heartbeat_senders where venue = ${venue} and holder = ${holder}`;
  },
});
