/** Proves wallets to the service: requests the challenge, reads it, signs it, sends the signature. */
import type { CredentialResult, LinkResult } from '@bellwether/contract';
import type { SignatureType } from '@bellwether/protocol';
import type { BellwetherClient } from './client.ts';
import type { CallOptions } from './client-methods.ts';
import { type ChallengePins, signedChallenge } from './sign-challenge.ts';
import type { DepositKind, Signer } from './signer.ts';
import type { SolanaSigner } from './solana-signer.ts';
import { NEED, needOptions, needValue } from './usage-error.ts';

export interface WalletToLink extends ChallengePins {
  readonly client: BellwetherClient;
  readonly signer: Signer;
  /** Which of the key's wallets becomes the agent's; default 0, the EOA. All of them move along in any case. */
  readonly signatureType?: SignatureType;
  readonly deposit?: DepositKind;
}

/**
 * @throws ForeignChallenge before anything is signed; BellwetherApiError
 * @example
 * const { walletAddress, moved } = await linkSignersWallet({ client, signer });
 */
export async function linkSignersWallet(wallet: WalletToLink, options?: CallOptions): Promise<LinkResult> {
  needOptions('linkSignersWallet', wallet, { client: NEED.client, signer: NEED.signer });
  const { client, signer, signatureType = 0, deposit = 'beacon' } = wallet;
  const address = signer.wallet(signatureType, deposit);
  const wanted = { purpose: 'link', kind: 'evm', address } as const;
  const signed = await signedChallenge(client, wanted, wallet, (message) => signer.signMessage(message));
  return client.linkWallet({ address, ...signed }, options);
}

/**
 * Credentials for paper money, which the service makes and keeps; nothing secret travels.
 * @throws ForeignChallenge before anything is signed; BellwetherApiError
 * @example
 * const { walletAddress } = await createPaperCredentials({ client, signer });
 */
export async function createPaperCredentials(
  wallet: WalletToLink,
  options?: CallOptions,
): Promise<CredentialResult> {
  needOptions('createPaperCredentials', wallet, { client: NEED.client, signer: NEED.signer });
  const { client, signer, signatureType = 0, deposit = 'beacon' } = wallet;
  const address = signer.wallet(signatureType, deposit);
  const wanted = { purpose: 'paperCredentials', kind: 'evm', address } as const;
  const signed = await signedChallenge(client, wanted, wallet, (message) => signer.signMessage(message));
  return client.createPaperCredentials({ address, ...signed, signatureType }, options);
}

/**
 * Proves a Solana wallet by its signature, which makes it the agent's.
 * @throws ForeignChallenge before anything is signed; BellwetherApiError
 * @example
 * const { walletAddress } = await linkSolanaWallet(client, SolanaSigner.generate());
 */
export async function linkSolanaWallet(
  client: BellwetherClient,
  signer: SolanaSigner,
  options: CallOptions & ChallengePins = {},
): Promise<LinkResult> {
  needValue('linkSolanaWallet', 'client', client, NEED.client);
  needValue('linkSolanaWallet', 'signer', signer, NEED.solanaSigner);
  const { host: _host, agentId: _agent, now: _now, ...call } = options;
  const { address } = signer;
  const wanted = { purpose: 'link', kind: 'solana', address } as const;
  const signed = await signedChallenge(client, wanted, options, (message) => signer.signMessage(message));
  return client.linkWallet({ address, ...signed }, call);
}
