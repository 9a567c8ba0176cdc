/** Links a wallet to the agent's owner: requests the challenge, signs its message, sends the signature. */
import type { LinkResult } from '@bellwether/contract';
import type { SignatureType } from '@bellwether/protocol';
import type { BellwetherClient } from './client.ts';
import type { CallOptions } from './client-methods.ts';
import type { DepositKind, Signer } from './signer.ts';
import type { SolanaSigner } from './solana-signer.ts';
import { NEED, needOptions, needValue } from './usage-error.ts';

export interface WalletToLink {
  readonly client: BellwetherClient;
  readonly signer: Signer;
  /** Which of the key's wallets becomes the agent's; default 0, the EOA. All of them move along in any case. */
  readonly signatureType?: SignatureType;
  readonly deposit?: DepositKind;
}

/** @throws BellwetherApiError */
export async function linkSignersWallet(wallet: WalletToLink, options?: CallOptions): Promise<LinkResult> {
  needOptions('linkSignersWallet', wallet, { client: NEED.client, signer: NEED.signer });
  const { client, signer, signatureType = 0, deposit = 'beacon' } = wallet;
  const address = signer.wallet(signatureType, deposit);
  const { nonce, message } = await client.getLinkChallenge(address);
  return client.linkWallet({ address, nonce, signature: await signer.signMessage(message) }, options);
}

/** Proves a Solana wallet by its signature, which makes it the agent's. @throws BellwetherApiError */
export async function linkSolanaWallet(
  client: BellwetherClient,
  signer: SolanaSigner,
  options?: CallOptions,
): Promise<LinkResult> {
  needValue('linkSolanaWallet', 'client', client, NEED.client);
  needValue('linkSolanaWallet', 'signer', signer, NEED.solanaSigner);
  const { nonce, message } = await client.getLinkChallenge(signer.address);
  return client.linkWallet(
    { address: signer.address, nonce, signature: signer.signMessage(message) },
    options,
  );
}
