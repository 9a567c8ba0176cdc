/** Reads accounts from a node, at commitment `confirmed`. */

import type { SolanaAddress } from '@bellwether/protocol';
import { ChainUnavailable } from '../../domain/unavailable.ts';
import { type Account, accountOf, type TokenAccountState, tokenAccountOf } from './accounts.ts';
import type { Rpc } from './rpc.ts';
import { CHECKS, type WireAccount } from './wire.ts';

export const COMMITMENT = 'confirmed';
const ENCODING = 'base64';
const ACCOUNTS_PER_CALL = 100;

/** @throws ChainUnavailable when the bytes cannot be read: an unreadable account is not a missing one */
function decoded(wire: WireAccount): Account {
  const account = accountOf(wire);
  if (account === null) throw new ChainUnavailable("the Solana RPC's account data are no base64");
  return account;
}

export async function readAccount(rpc: Rpc, address: string): Promise<Account | null> {
  const { value } = await rpc.read(
    'getAccountInfo',
    [address, { encoding: ENCODING, commitment: COMMITMENT }],
    CHECKS.account,
  );
  return value === null ? null : decoded(value);
}

/** In the order of the addresses. */
export async function readAccounts(
  rpc: Rpc,
  addresses: readonly string[],
): Promise<readonly (Account | null)[]> {
  const found: (Account | null)[] = [];
  for (let start = 0; start < addresses.length; start += ACCOUNTS_PER_CALL) {
    const asked = addresses.slice(start, start + ACCOUNTS_PER_CALL);
    const { value } = await rpc.read(
      'getMultipleAccounts',
      [asked, { encoding: ENCODING, commitment: COMMITMENT }],
      CHECKS.accounts,
    );
    if (value.length !== asked.length) throw new ChainUnavailable('the Solana RPC left accounts out');
    found.push(...value.map((account) => (account === null ? null : decoded(account))));
  }
  return found;
}

/** A wallet's accounts under one token program. */
export async function readOwned(
  rpc: Rpc,
  owner: SolanaAddress,
  programId: SolanaAddress,
): Promise<readonly TokenAccountState[]> {
  const { value } = await rpc.read(
    'getTokenAccountsByOwner',
    [owner, { programId }, { encoding: ENCODING, commitment: COMMITMENT }],
    CHECKS.owned,
  );
  return value
    .map(({ pubkey, account }) => tokenAccountOf(pubkey as SolanaAddress, decoded(account)))
    .filter((account) => account !== null && account.owner === owner) as TokenAccountState[];
}
