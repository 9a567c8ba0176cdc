/**
 * Proves wallets to the service: requests the challenge, reads it, signs it, sends the signature. And to DFlow, by a link for a
 * person.
 */
import type { CredentialResult, LinkResult } from '@bellwether/contract';
import type { SignatureType } from '@bellwether/protocol';
import type { BellwetherClient } from './client.ts';
import type { CallOptions } from './client-methods.ts';
import { type ChallengePins, signedChallenge } from './sign-challenge.ts';
import type { DepositKind, Signer } from './signer.ts';
import type { SolanaSigner } from './solana-signer.ts';
import { NEED, type Need, needOptions, needValue } from './usage-error.ts';

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

export interface IdentityLink {
  readonly signer: SolanaSigner;
  /** Where DFlow sends the person afterwards: an address with `https:` or `chrome-extension:`. */
  readonly redirectUri: string;
  /** Of a key for paper alone, which needs it: address of the desk whose sandbox stands for DFlow. */
  readonly paperDesk?: string;
}

const PROOF_PAGE = 'https://dflow.net/proof';
const SANDBOX_PAGE = '/paper/dflow/trade/proof';

const BACK: Need = {
  what: 'an address with https: or chrome-extension:, without a user name',
  fits(value) {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
    return url !== null && ['https:', 'chrome-extension:'].includes(url.protocol) && url.username === '';
  },
};
const PAPER_DESK: Need = {
  what: 'the address of the desk, because the key is for paper, and paper money needs no real identity',
  fits: (value) => typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value),
};

/**
 * The address at which a person proves their identity to DFlow for the signer's wallet, as venue B wants it of a wallet that
 * buys (`quoteErrorCode` `kyc_required`). It is made without any call: the host and the signed text are fixed here, whatever a
 * desk says. Each person who opens it can tie the wallet to their own identity, so give it to that one person.
 * @returns an address that holds the wallet, the time in milliseconds, and a signature of both in base58
 * @throws BellwetherUsageError
 * @example
 * const wallet = SolanaSigner.generate(); // for paper: a live wallet needs no paperDesk
 * const redirectUri = 'https://agent.example/verified';
 * const link = identityLink({ signer: wallet, redirectUri, paperDesk: 'http://127.0.0.1:8080' });
 */
export function identityLink(link: IdentityLink): string {
  needOptions('identityLink', link, { signer: NEED.solanaSigner, redirectUri: BACK });
  const { signer, redirectUri, paperDesk } = link;
  const isPaper = signer.use === 'paper';
  if (isPaper) needValue('identityLink', 'paperDesk', paperDesk, PAPER_DESK);
  const timestamp = String(Date.now());
  const signed = new URLSearchParams({
    wallet: signer.address,
    signature: signer.signMessage(`Proof KYC verification: ${timestamp}`),
    timestamp,
    redirect_uri: redirectUri,
  });
  const page = isPaper ? `${paperDesk?.replace(/\/+$/, '')}${SANDBOX_PAGE}` : PROOF_PAGE;
  return `${page}?${signed}`;
}
