/** Links of wallets to owners. A link moves what another owner had registered for the same key, in one transaction. */

import type { Caller } from '../domain/records.ts';
import type { Fragment, Sql, Tx } from '../platform/database/connection.ts';
import { givingWay } from '../platform/database/giving-way.ts';
import { once } from '../platform/database/idempotency-store.ts';
import type { AgentsRow, CredentialsRow, LinkedWalletsRow } from '../platform/database/rows.generated.ts';
import { only } from '../platform/database/rows.ts';
import type { Sealed } from '../platform/secrets.ts';
import { isReachable } from './reachable-wallets.ts';
import { type CredentialRow, credentialRow, type SpentChallenge, spendChallenge } from './store.ts';
import { hasRoomFor } from './wallet-cap.ts';

type Address = Pick<LinkedWalletsRow, 'address'>;

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
  const gone = await tx<Address[]>`
    delete from credentials c where user_id = ${owner}
      and (wallet_address = ${address} or eoa = ${address}) and ${reach(tx`c.wallet_address` as unknown as Fragment)}
    returning wallet_address as address`;
  const links = await tx<Address[]>`
    delete from linked_wallets l where user_id = ${owner}
      and (address = ${address} or signer = ${address}) and ${reach(tx`l.address` as unknown as Fragment)}
    returning address`;
  const traded = await tx<
    Address[]
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
  const links = await tx<Address[]>`
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

export interface NewLink {
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

export type LinkOutcome =
  | { readonly kind: 'challenge_used' | 'full' }
  | {
      readonly kind: 'linked';
      /** Wallets that were another owner's. */
      readonly moved: readonly string[];
      /** Their former owners. */
      readonly formerOwners: readonly bigint[];
    };

export type WalletLinkStore = ReturnType<typeof createWalletLinkStore>;
