/** Venue credentials: checked with the venue, sealed, and the first of a funder credited with paper money. */
import {
  type CredentialCheck,
  type CredentialRequest,
  type CredentialResult,
  type FaucetRequest,
  type FaucetResponse,
  LIMITS,
} from '@bellwether/contract';
import { type Micro, microToNumber, parseMicro } from '@bellwether/contract/decimals';
import {
  type Address,
  asAddress,
  type SignatureType,
  signatureTypeOf,
  walletKindsOf,
} from '@bellwether/protocol';
import type { AgentStore } from '../agents/index.ts';
import type { Caller } from '../domain/records.ts';
import type { Clock } from '../platform/clock.ts';
import { type Refusal, refusal } from '../platform/refusal.ts';
import type { Secrets } from '../platform/secrets.ts';
import { currentBalance, faucetVenue, type HasVenues, venuesFor, venuesWith } from '../venues/asking.ts';
import type { VenueSecrets, Venues } from '../venues/venue.ts';
import type { HeartbeatStore } from './heartbeat-store.ts';
import type { SpentChallenge, WalletStore } from './store.ts';
import { challengeUsed } from './wallet-challenge.ts';

export interface CredentialNeeds {
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly agents: AgentStore;
  readonly wallets: WalletStore;
  readonly heartbeats: HeartbeatStore;
  readonly venues: Venues;
}

export interface FaucetNeeds {
  readonly clock: Clock;
  readonly secrets: Pick<Secrets, 'newId'>;
  readonly wallets: WalletStore;
  readonly venues: Venues;
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
  needs: CredentialNeeds,
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

export interface NewCredential {
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
export async function storeCredential(
  needs: CredentialNeeds,
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
export function walletType(eoa: Address, wallet: Address, named: SignatureType | undefined): SignatureType {
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
  needs: CredentialNeeds,
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
  needs: CredentialNeeds,
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

export async function drawFaucet(needs: FaucetNeeds, request: FaucetRequest): Promise<FaucetResponse> {
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
