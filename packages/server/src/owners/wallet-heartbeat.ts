/**
 * The owner's word that a venue may cancel everything of a wallet's key once the desk is dead or the wallet's agents are silent. It takes
 * the passkey, both ways: heartbeats that end cancel what others placed with the key, too.
 */
import type { PasskeySignIn, WalletHeartbeat } from '@bellwether/contract';
import { parseWallet } from '../domain/addresses.ts';
import type { Owner } from '../domain/records.ts';
import { type HasVenues, heartbeatOf } from '../venues/asking.ts';
import type { HeartbeatStore } from '../wallets/index.ts';
import { notYourWallet } from './owned-agents.ts';
import type { Challenge } from './owner-store.ts';
import { askForPasskey, type PasskeyWordNeeds, requirePasskey } from './owners.ts';
import type { PasskeyOptions } from './passkeys.ts';

export type HeartbeatNeeds = PasskeyWordNeeds & HasVenues & { readonly heartbeats: HeartbeatStore };

interface Asked {
  readonly walletAddress: string;
  readonly on: boolean;
}

const purposeOf = ({ walletAddress, on }: Asked, { userId }: Owner): Challenge['purpose'] =>
  `heartbeat ${walletAddress} ${on} by ${userId}`;

/** @throws Refusal wallet_not_found */
async function ownWallet({ heartbeats }: HeartbeatNeeds, { userId }: Owner, asked: string) {
  const wallet = parseWallet(asked);
  if (wallet === null || !(await heartbeats.ofOwner(userId)).has(wallet))
    throw notYourWallet('No wallet of yours with this address has credentials here.');
  return wallet;
}

export async function beginHeartbeat(
  needs: HeartbeatNeeds,
  owner: Owner,
  { walletAddress, on }: Asked,
): Promise<PasskeyOptions> {
  const wallet = await ownWallet(needs, owner, walletAddress);
  return askForPasskey(needs, purposeOf({ walletAddress: wallet, on }, owner));
}

/** @throws Refusal wallet_not_found, passkey_challenge_expired, passkey_rejected */
export async function setHeartbeat(
  needs: HeartbeatNeeds,
  owner: Owner,
  { response, walletAddress, on }: Asked & PasskeySignIn,
): Promise<WalletHeartbeat & { readonly walletAddress: string }> {
  const wallet = await ownWallet(needs, owner, walletAddress);
  await requirePasskey(needs, owner, response, purposeOf({ walletAddress: wallet, on }, owner));
  if (!(await needs.heartbeats.set(owner.userId, wallet, on, needs.clock.now())))
    throw notYourWallet('The wallet has left you meanwhile.');
  return { walletAddress: wallet, ...heartbeatOf(needs, wallet, on) };
}
