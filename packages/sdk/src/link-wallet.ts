/**
 * Proves wallets to the service: requests the challenge, reads it, signs it, sends the signature. And to DFlow, by a link for a
 * person.
 */
import {
  CHALLENGE_PURPOSES,
  type CredentialResult,
  type LinkChallenge,
  type LinkResult,
  readChallenge,
} from '@bellwether/contract';
import type { SignatureType } from '@bellwether/protocol';
import type { BellwetherClient } from './client.ts';
import type { CallOptions } from './client-methods.ts';
import { NEED, type Need, needOptions, needValue } from './errors.ts';
import type { DepositKind, Signer, SolanaSigner } from './signer.ts';

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

// Signs the service's challenge, once it has been read: a text that names another service, agent, wallet, purpose or time is
// somebody else's, handed on, and a signature under it would be theirs to use.

/** The text to sign is not the challenge that was asked for. It was not signed. */
export class ForeignChallenge extends Error {
  override readonly name = 'ForeignChallenge';
  /** The part that differs: `text`, `host`, `agent`, `address`, `purpose`, `nonce` or `time`. */
  readonly field: string;

  constructor(field: string, message: string) {
    super(`Not signed: ${message}`);
    this.field = field;
  }
}

/** Facts that are known without asking the service; all of them have a default. */
export interface ChallengePins {
  /** Host of the service as its texts name it, with its port where it has one; default that of the client's address. */
  readonly host?: string;
  /** Default: what `getMe` answers. */
  readonly agentId?: string;
  /** Epoch milliseconds; default the local clock. */
  readonly now?: () => number;
}

interface WantedChallenge {
  readonly purpose: keyof typeof CHALLENGE_PURPOSES;
  readonly address: string;
  readonly kind: 'evm' | 'solana';
}

const CLOCK_TOLERANCE_MS = 30_000;
const LONGEST_LIFE_MS = 15 * 60_000;
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(?=:|$)/;

/** Names of this machine are one host. */
const hostOf = (host: string): string => host.toLowerCase().replace(LOOPBACK, 'localhost');

/** @throws ForeignChallenge */
function requireOwn(
  { nonce, message }: Pick<LinkChallenge, 'nonce' | 'message'>,
  { purpose, address, kind }: WantedChallenge,
  { host, agentId, now }: Required<ChallengePins>,
): void {
  const fields = readChallenge(message);
  if (fields === null)
    throw new ForeignChallenge('text', 'the text is none that this service asks a wallet to sign.');
  const require = (field: string, isSame: boolean, what: string) => {
    if (!isSame) throw new ForeignChallenge(field, `the text is for ${what}.`);
  };
  const { path, statement } = CHALLENGE_PURPOSES[purpose];
  const uri = URL.canParse(fields.uri) ? new URL(fields.uri) : null;
  require('host', hostOf(fields.host) === hostOf(host), `the service at ${fields.host}, not for ${host}`);
  require('host', uri !== null && hostOf(uri.host) === hostOf(host), `another service than ${host}`);
  const same = (text: string) => (kind === 'evm' ? text.toLowerCase() : text);
  require('address', fields.kind === kind &&
    same(fields.address) === same(address), `the wallet ${fields.address}`);
  require('agent', fields.statement.includes(` ${agentId}.`), `another agent than ${agentId}`);
  const isPurpose = fields.statement === statement(agentId) && uri !== null && uri.pathname.endsWith(path);
  require('purpose', isPurpose && uri.search === '' && uri.hash === '', 'another purpose');
  require('nonce', fields.nonce === nonce, 'another nonce than the one beside it');
  const at = now();
  const isNow =
    fields.issuedAt <= at + CLOCK_TOLERANCE_MS &&
    fields.expiresAt > at - CLOCK_TOLERANCE_MS &&
    fields.expiresAt - fields.issuedAt <= LONGEST_LIFE_MS;
  require('time', isNow, 'another time; or the clock of this machine is wrong');
}

/**
 * @param sign gets the text once it has been checked
 * @returns the nonce and the signature @throws ForeignChallenge, BellwetherApiError
 */
async function signedChallenge(
  client: BellwetherClient,
  wanted: WantedChallenge,
  pins: ChallengePins,
  sign: (message: string) => string | Promise<string>,
): Promise<{ readonly nonce: string; readonly signature: string }> {
  const { host = new URL(client.baseUrl).host, now = Date.now } = pins;
  const agentId = pins.agentId ?? (await client.getMe()).agentId;
  const { address } = wanted;
  const challenge =
    wanted.purpose === 'link'
      ? await client.getLinkChallenge(address)
      : await client.getCredentialChallenge(address);
  requireOwn(challenge, wanted, { host, agentId, now });
  return { nonce: challenge.nonce, signature: await sign(challenge.message) };
}
