/** Venue credentials: checked with the venue, sealed, and the first of a funder credited with paper money. */

import {
  CHALLENGE_PURPOSES,
  type CredentialCheck,
  type CredentialRequest,
  type CredentialResult,
  challengeText,
  type FaucetRequest,
  type FaucetResponse,
  LIMITS,
  type LinkChallenge,
  type PaperCredentialRequest,
  type ChallengePurpose as Purpose,
} from '@bellwether/contract';
import { type Micro, microToNumber, parseMicro } from '@bellwether/contract/decimals';
import {
  type Address,
  asAddress,
  bytesToHex,
  equalBytes,
  parseAddress,
  parseEd25519Signature,
  parseSolanaAddress,
  personalMessageDigest,
  type RecoverPublicKey,
  recoverAddress,
  type SignatureType,
  type SolanaAddress,
  signatureTypeOf,
  toChecksumAddress,
  utf8,
  type VerifyEd25519,
  verifySolanaMessage,
  walletKindsOf,
} from '@bellwether/protocol';
import type { AgentStore } from '../agents/index.ts';
import type { Denial } from '../domain/denial.ts';
import type { Caller, OrderRow } from '../domain/records.ts';
import type { Clock } from '../platform/clock.ts';
import { Refusal, refusal } from '../platform/refusal.ts';
import type { Job } from '../platform/scheduler.ts';
import type { Secrets } from '../platform/secrets.ts';
import { currentBalance, faucetVenue, type HasVenues, venuesFor, venuesWith } from '../venues/asking.ts';
import type { VenueSecrets, Venues } from '../venues/venue.ts';
import type { HeartbeatStore, SpentChallenge, WalletLinkStore, WalletStore } from './store.ts';

export interface WalletNeeds {
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly agents: AgentStore;
  readonly wallets: WalletStore;
  readonly heartbeats: HeartbeatStore;
  readonly venues: Venues;
  readonly walletLinks: WalletLinkStore;
  readonly orders: { openOfOwner(userId: bigint): Promise<readonly OrderRow[]> };
  readonly signatures: {
    readonly chainId: number;
    readonly recover: RecoverPublicKey;
    /** Faster than the one in plain JavaScript, where there is one. */
    readonly verifyEd25519?: VerifyEd25519;
  };
  readonly publicUrl: string;
  readonly faucetPerDay: Micro;
}

/** Binds a sealed credential to its row. */
export const credentialIdentity = (userId: bigint, walletAddress: string): string =>
  `credentials/${userId}/${walletAddress}`;

export const tooManyWallets = (path: string): Refusal =>
  refusal('wallet_limit_reached', `The owner of this agent has ${LIMITS.walletsPerOwner} wallets already.`, {
    path,
  });

/** The account that pays when `eoa` signs with this type. */
function funderOf(eoa: Address, wallet: Address, type: SignatureType): Address {
  if (wallet !== eoa) return wallet;
  const kinds = walletKindsOf(eoa);
  return [eoa, kinds.proxy, kinds.safe, kinds.deposit.beacon][type] as Address;
}

/** By the first venue that accepts the credentials; `null`: none does. */
async function keyOwner(needs: HasVenues, secrets: VenueSecrets, named: Address): Promise<Address | null> {
  for (const { signedOrders } of venuesWith(needs, 'signedOrders')) {
    const eoa = await signedOrders.verifyCredentials(secrets, named);
    if (eoa !== null) return eoa;
  }
  return null;
}

export async function registerCredentials(
  needs: WalletNeeds,
  caller: Caller,
  request: CredentialRequest,
): Promise<CredentialResult> {
  const walletAddress = asAddress(request.walletAddress);
  const secrets = {
    apiKey: request.apiKey,
    secret: request.apiSecret,
    passphrase: request.apiPassphrase,
  };
  const named = request.polyAddress === undefined ? walletAddress : asAddress(request.polyAddress);
  const eoa = await keyOwner(needs, secrets, named);
  if (eoa === null) throw refusal('venue_credentials_invalid', refusedKey(needs, request));
  if (request.polyAddress !== undefined && asAddress(request.polyAddress) !== eoa) {
    throw refusal('wallet_owner_mismatch', 'The venue key belongs to another address than polyAddress.', {
      path: 'polyAddress',
    });
  }
  const signatureType = walletType(eoa, walletAddress, request.signatureType);
  return storeCredential(needs, caller, {
    ...{ eoa, walletAddress, signatureType, secrets },
    shown: request.walletAddress,
    challenge: null,
  });
}

interface NewCredential {
  readonly eoa: Address;
  readonly walletAddress: Address;
  readonly signatureType: SignatureType;
  readonly secrets: VenueSecrets;
  /** The address as the caller wrote it. */
  readonly shown: string;
  /** What proved it, to be used up; `null`: the venue did. */
  readonly challenge: SpentChallenge | null;
}

/** Seals and stores credentials that are proved, and credits the wallet's first. @throws Refusal */
async function storeCredential(
  needs: WalletNeeds,
  caller: Caller,
  { eoa, walletAddress, signatureType, secrets, shown, challenge }: NewCredential,
): Promise<CredentialResult> {
  const funder = funderOf(eoa, walletAddress, signatureType);
  const credential = {
    walletAddress,
    userId: caller.userId,
    eoa,
    funder,
    signatureType,
    apiKeyHash: needs.secrets.hash(secrets.apiKey),
    sealed: needs.secrets.seal(JSON.stringify(secrets), credentialIdentity(caller.userId, walletAddress)),
    registeredAt: needs.clock.now(),
  };
  const outcome = await needs.wallets.register(caller, credential, LIMITS.walletsPerOwner, challenge);
  if (outcome === 'full') throw tooManyWallets('walletAddress');
  // A second use would undo an unlink.
  if (outcome === 'challenge_used') throw challengeUsed();
  if (outcome === 'taken')
    throw refusal('wallet_already_registered', 'Another owner has registered this wallet.', {
      path: 'walletAddress',
    });
  await Promise.all(venuesFor(needs, funder).map(({ paper }) => paper?.credit(funder)));
  return {
    success: true,
    hasCredentials: true,
    walletAddress: shown,
    signatureType,
    encryptedCredentials: true,
    registeredAt: new Date(outcome.registeredAt).toISOString(),
  };
}

const REFUSED_KEY = 'The venue does not accept this key, secret and passphrase';

/** A live venue checks a key together with its address, which a contract wallet's address does not tell. */
function refusedKey(needs: HasVenues, { polyAddress }: CredentialRequest): string {
  const isLive = venuesWith(needs, 'signedOrders').some(({ backend }) => backend === 'live');
  if (!isLive) return `${REFUSED_KEY}.`;
  return polyAddress === undefined
    ? `${REFUSED_KEY} for walletAddress. Name in polyAddress the EOA that the key belongs to, if walletAddress is a proxy, Safe or deposit wallet.`
    : `${REFUSED_KEY} for polyAddress.`;
}

/** @throws Refusal wallet_owner_mismatch when the wallet, or the type that was named, is not that of the key's owner */
function walletType(eoa: Address, wallet: Address, named: SignatureType | undefined): SignatureType {
  const actual = signatureTypeOf(eoa, wallet);
  if (actual === null) {
    throw refusal(
      'wallet_owner_mismatch',
      'walletAddress is neither the address that the venue key belongs to nor a wallet derived from it.',
      { path: 'walletAddress' },
    );
  }
  // The EOA's own address goes with every type: it signs for each of its wallets.
  if (named !== undefined && actual !== 0 && named !== actual) {
    throw refusal(
      'wallet_owner_mismatch',
      `walletAddress is a wallet of signatureType ${actual}, not ${named}.`,
      { path: 'signatureType' },
    );
  }
  return named ?? actual;
}

/** The type that a registration would detect; `null` while no key within the agent's reach is known to sign for the wallet. */
async function detectedType(
  needs: WalletNeeds,
  caller: Caller,
  wallet: Address | null,
): Promise<SignatureType | null> {
  if (wallet === null) return null;
  for (const eoa of await needs.wallets.keys(caller)) {
    const type = signatureTypeOf(eoa, wallet);
    if (type !== null) return type;
  }
  return null;
}

export async function checkCredentials(
  needs: WalletNeeds,
  caller: Caller,
  asked: string | undefined,
): Promise<CredentialCheck> {
  const walletAddress =
    asked === undefined
      ? ((await needs.agents.byId(caller.agentId))?.walletAddress ?? null)
      : asAddress(asked);
  const found = walletAddress === null ? null : await needs.wallets.credential(caller, walletAddress);
  return {
    hasCredentials: found !== null,
    walletAddress: asked ?? walletAddress,
    signatureType: found?.signatureType ?? (await detectedType(needs, caller, walletAddress)),
    heartbeat:
      found !== null && ((await needs.heartbeats.ofOwner(found.userId)).get(found.walletAddress) ?? false),
  };
}

export async function drawFaucet(needs: WalletNeeds, request: FaucetRequest): Promise<FaucetResponse> {
  const venue = faucetVenue(needs);
  if (venue?.paper.faucet === undefined) throw refusal('paper_only');
  const address = asAddress(request.address);
  const amount = parseMicro(request.amount);
  const draw = { address, amount, drawId: needs.secrets.newId() };
  const { drawId, left } = await needs.wallets.drawFaucet(draw, needs.faucetPerDay, needs.clock.now());
  if (drawId === null) {
    throw refusal(
      'faucet_allowance_exceeded',
      `${microToNumber(left)} of today's ${microToNumber(needs.faucetPerDay)} is left for this address.`,
      { path: 'amount' },
    );
  }
  await venue.paper.faucet(address, amount, drawId);
  const { available } = await currentBalance(venue, [address]);
  return {
    address: request.address,
    amount: request.amount,
    balance: microToNumber(available),
    allowanceLeft: microToNumber(left),
  };
}

// Challenges by which the key of a wallet proves itself. A challenge is a text that names this service, the agent, the
// address and the purpose; its nonce carries a keyed hash over all of them and over its end, so it is good for no other agent and
// nothing else, and nothing is stored until it is used.

/** Purpose of a signature. Another purpose has other nonces and another text. */
export interface ChallengePurpose extends Purpose {
  /** Begins what the nonce's keyed hash covers. */
  readonly name: string;
}

const CHALLENGE_TTL_MS = 5 * 60_000;

const EXPIRY_DIGITS = 12;
const ID_DIGITS = 32;
const MAC_DIGITS = 32;
const NONCE = /^[0-9a-f]{76}$/;

type ChallengedWallet =
  | { readonly kind: 'evm'; readonly address: Address }
  | { readonly kind: 'solana'; readonly address: SolanaAddress };

/** @throws Refusal invalid_solana_address; EVM addresses were checked by their schema. */
export function walletOf(text: string, path: string): ChallengedWallet {
  const evm = parseAddress(text);
  if (evm !== null) return { kind: 'evm', address: evm };
  const solana = parseSolanaAddress(text);
  if (solana !== null) return { kind: 'solana', address: solana };
  throw refusal('invalid_solana_address', `${path} is not base58 of 32 bytes.`, { path });
}

const spelled = (wallet: ChallengedWallet): string =>
  wallet.kind === 'evm' ? toChecksumAddress(wallet.address) : wallet.address;

interface Challenged {
  readonly caller: Caller;
  readonly wallet: ChallengedWallet;
  readonly purpose: ChallengePurpose;
}

/** The nonce's keyed hash: what it is good for. The agent is named by id; the owner by who it is now. */
function macOf({ secrets }: WalletNeeds, { caller, wallet, purpose }: Challenged, head: string): string {
  const text = `${purpose.name}\n${caller.agentId}\n${caller.userId}\n${wallet.address}\n${head}`;
  return bytesToHex(secrets.hash(text)).slice(2, 2 + MAC_DIGITS);
}

function messageOf(
  needs: WalletNeeds,
  { caller, wallet, purpose }: Challenged,
  nonce: string,
  expiresAt: number,
): string {
  return challengeText({
    host: new URL(needs.publicUrl).host,
    kind: wallet.kind,
    address: spelled(wallet),
    statement: purpose.statement(caller.agentId),
    uri: needs.publicUrl + purpose.path,
    chainId: wallet.kind === 'evm' ? needs.signatures.chainId : null,
    nonce,
    issuedAt: expiresAt - CHALLENGE_TTL_MS,
    expiresAt,
  });
}

export function newChallenge(needs: WalletNeeds, challenged: Challenged): LinkChallenge {
  const expiresAt = needs.clock.now() + CHALLENGE_TTL_MS;
  const head =
    expiresAt.toString(16).padStart(EXPIRY_DIGITS, '0') + needs.secrets.newId().replaceAll('-', '');
  const nonce = head + macOf(needs, challenged, head);
  return {
    nonce,
    message: messageOf(needs, challenged, nonce, expiresAt),
    expiresAt: new Date(expiresAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
    address: challenged.wallet.address,
  };
}

/** @returns when the challenge ends @throws Refusal link_challenge_invalid */
function requireChallenge(needs: WalletNeeds, challenged: Challenged, nonce: string): number {
  const refuse = (detail: string) => refusal('link_challenge_invalid', detail, { path: 'nonce' });
  const head = nonce.slice(0, EXPIRY_DIGITS + ID_DIGITS);
  const isOurs =
    NONCE.test(nonce) &&
    equalBytes(utf8(macOf(needs, challenged, head)), utf8(nonce.slice(EXPIRY_DIGITS + ID_DIGITS)));
  if (!isOurs) throw refuse('This nonce was not made for this agent, address and purpose.');
  const expiresAt = Number.parseInt(nonce.slice(0, EXPIRY_DIGITS), 16);
  if (expiresAt <= needs.clock.now()) throw refuse('The challenge has expired.');
  return expiresAt;
}

export const challengeUsed = (): Refusal =>
  refusal('link_challenge_invalid', 'This challenge has been used.', { path: 'nonce' });

function badSignature(diagnosis: NonNullable<Denial['diagnosis']>): Refusal {
  return new Refusal([
    {
      code: 'link_signature_invalid',
      detail: "The signature is not the wallet's over the challenge's message.",
      path: 'signature',
      diagnosis,
    },
  ]);
}

/** @returns the key's own address @throws Refusal link_signature_invalid */
function signerOf(needs: WalletNeeds, wallet: ChallengedWallet, message: string, signature: string): string {
  if (wallet.kind === 'solana') {
    const bytes = parseEd25519Signature(signature);
    if (bytes === null) throw badSignature({ check: 'signature_form', expected: '64 bytes' });
    if (!verifySolanaMessage(wallet.address, message, bytes))
      throw badSignature({ check: 'signer', expected: wallet.address });
    return wallet.address;
  }
  const recovered = recoverAddress(needs.signatures.recover, personalMessageDigest(message), signature);
  if (!recovered.ok)
    throw badSignature({ check: 'signature_form', reason: recovered.reason, expected: '65 bytes, low s' });
  if (signatureTypeOf(recovered.address, wallet.address) === null) {
    throw badSignature({
      check: 'signer',
      recovered: recovered.address,
      expected: `${wallet.address}, or the EOA that it is derived from`,
    });
  }
  return recovered.address;
}

/** @returns the key that signed, and when the challenge ends @throws Refusal link_challenge_invalid, link_signature_invalid */
export function provedBy(
  needs: WalletNeeds,
  challenged: Challenged,
  answer: { readonly nonce: string; readonly signature: string },
): { readonly signer: string; readonly expiresAt: number } {
  const expiresAt = requireChallenge(needs, challenged, answer.nonce);
  const message = messageOf(needs, challenged, answer.nonce, expiresAt);
  return { signer: signerOf(needs, challenged.wallet, message, answer.signature), expiresAt };
}

// Credentials for a venue on paper without the venue's own protocol: the wallet's key signs a text of this service, and the
// credentials are made and stored without being shown. Never the venue's typed data, whose signature makes real keys.

const PURPOSE: ChallengePurpose = {
  name: 'paper credential challenge v1',
  ...CHALLENGE_PURPOSES.paperCredentials,
};

/** @throws Refusal paper_only */
function credentialMaker(needs: HasVenues): (eoa: Address) => Promise<VenueSecrets> {
  for (const { paper } of venuesWith(needs, 'paper'))
    if (paper.credentials !== undefined) return paper.credentials;
  throw refusal(
    'paper_only',
    'The venue that takes signed orders here is not on paper: use its own protocol.',
  );
}

const challengedOf = (caller: Caller, address: string) => ({
  caller,
  wallet: { kind: 'evm', address: asAddress(address) } as const,
  purpose: PURPOSE,
});

/** @throws Refusal paper_only */
export async function credentialChallenge(
  needs: WalletNeeds,
  caller: Caller,
  address: string,
): Promise<LinkChallenge> {
  credentialMaker(needs);
  return newChallenge(needs, challengedOf(caller, address));
}

/** @throws Refusal */
export async function createPaperCredentials(
  needs: WalletNeeds,
  caller: Caller,
  request: PaperCredentialRequest,
): Promise<CredentialResult> {
  const make = credentialMaker(needs);
  const { signer, expiresAt } = provedBy(needs, challengedOf(caller, request.address), request);
  const eoa = asAddress(signer);
  const walletAddress = asAddress(request.address);
  const signatureType = walletType(eoa, walletAddress, request.signatureType);
  return storeCredential(needs, caller, {
    eoa,
    walletAddress,
    signatureType,
    secrets: await make(eoa),
    shown: request.address,
    challenge: { nonce: request.nonce, expiresAt },
  });
}

export const walletJobs = ({
  clock,
  walletLinks,
}: Pick<WalletNeeds, 'clock' | 'walletLinks'>): readonly Job[] => [
  { name: 'sweep links', everyMs: 3_600_000, run: () => walletLinks.sweep(clock.now()) },
];
