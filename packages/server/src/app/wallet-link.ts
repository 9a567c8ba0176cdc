/**
 * Links wallets to owners by a signed challenge. The challenge is a text that names this service, the agent, the
 * address and the purpose; its nonce carries a keyed hash over all of them and over its end, so it is good for nobody
 * and nothing else, and nothing is stored until it is used. The signature is proof of the key: it wins over whatever
 * was registered before, by whomever.
 */
import {
  LIMITS,
  type LinkChallenge,
  type LinkRequest,
  type LinkResult,
  type SolAddressResult,
  type UnlinkResult,
} from '@bellwether/contract';
import {
  type Address,
  bytesToHex,
  equalBytes,
  parseAddress,
  parseEd25519Signature,
  parseSolanaAddress,
  personalMessageDigest,
  type RecoverPublicKey,
  recoverAddress,
  type SolanaAddress,
  signatureTypeOf,
  toChecksumAddress,
  utf8,
  type VerifyEd25519,
  verifySolanaMessage,
  walletKindsOf,
} from '@bellwether/protocol';
import type { Denial } from '../domain/denial.ts';
import { isInDoubt, isOpen } from '../domain/orders/lifecycle.ts';
import { within } from '../domain/patience.ts';
import type { Clock } from '../ports/clock.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { Caller, OrderRow, OrderStore } from '../ports/stores.ts';
import type { Venues } from '../ports/venue.ts';
import type { WalletLinkStore } from '../ports/wallet-links.ts';
import { Refusal, refusal } from './refusal.ts';
import { type HasVenues, venueOf, venuesFor } from './venues.ts';
import { credentialIdentity, tooManyWallets } from './wallets.ts';

export interface WalletLinkNeeds {
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly walletLinks: WalletLinkStore;
  readonly orders: OrderStore;
  readonly venues: Venues;
  readonly signatures: {
    readonly chainId: number;
    readonly recover: RecoverPublicKey;
    /** Faster than the one in plain JavaScript, where there is one. */
    readonly verifyEd25519?: VerifyEd25519;
  };
  readonly publicUrl: string;
}

export const CHALLENGE_TTL_MS = 5 * 60_000;

const CREDIT_PATIENCE_MS = 2_000;
const EXPIRY_DIGITS = 12;
const ID_DIGITS = 32;
const MAC_DIGITS = 32;
const NONCE = /^[0-9a-f]{76}$/;

type Wallet =
  | { readonly kind: 'evm'; readonly address: Address }
  | { readonly kind: 'solana'; readonly address: SolanaAddress };

/** @throws Refusal invalid_solana_address; EVM addresses were checked by their schema. */
function walletOf(text: string, path: string): Wallet {
  const evm = parseAddress(text);
  if (evm !== null) return { kind: 'evm', address: evm };
  const solana = parseSolanaAddress(text);
  if (solana !== null) return { kind: 'solana', address: solana };
  throw refusal('invalid_solana_address', `${path} is not base58 of 32 bytes.`, { path });
}

const spelled = (wallet: Wallet): string =>
  wallet.kind === 'evm' ? toChecksumAddress(wallet.address) : wallet.address;

/** The nonce's keyed hash: what it is good for. The agent is named by id; the owner by who it is now. */
function macOf(needs: WalletLinkNeeds, caller: Caller, wallet: Wallet, head: string): string {
  const text = `wallet link challenge v1\n${caller.agentId}\n${caller.userId}\n${wallet.address}\n${head}`;
  return bytesToHex(needs.secrets.hash(text)).slice(2, 2 + MAC_DIGITS);
}

/** The fields and their order are those of "sign in with Ethereum" (EIP-4361): wallets show them and check the domain. */
function messageOf(
  needs: WalletLinkNeeds,
  caller: Caller,
  wallet: Wallet,
  nonce: string,
  expiresAt: number,
): string {
  const { host } = new URL(needs.publicUrl);
  return [
    `${host} wants you to sign in with your ${wallet.kind === 'evm' ? 'Ethereum' : 'Solana'} account:`,
    spelled(wallet),
    '',
    `Link this wallet to the owner of the trading agent ${caller.agentId}. Venue credentials registered for it come along. Nothing is traded or transferred.`,
    '',
    `URI: ${needs.publicUrl}/wallet/link`,
    'Version: 1',
    ...(wallet.kind === 'evm' ? [`Chain ID: ${needs.signatures.chainId}`] : []),
    `Nonce: ${nonce}`,
    `Issued At: ${new Date(expiresAt - CHALLENGE_TTL_MS).toISOString()}`,
    `Expiration Time: ${new Date(expiresAt).toISOString()}`,
  ].join('\n');
}

export async function linkChallenge(
  needs: WalletLinkNeeds,
  caller: Caller,
  asked: string,
): Promise<LinkChallenge> {
  const wallet = walletOf(asked, 'address');
  const expiresAt = needs.clock.now() + CHALLENGE_TTL_MS;
  const head =
    expiresAt.toString(16).padStart(EXPIRY_DIGITS, '0') + needs.secrets.newId().replaceAll('-', '');
  const nonce = head + macOf(needs, caller, wallet, head);
  return {
    nonce,
    message: messageOf(needs, caller, wallet, nonce, expiresAt),
    expiresAt: new Date(expiresAt).toISOString(),
    address: wallet.address,
  };
}

/** @returns when the challenge ends @throws Refusal link_challenge_invalid */
function requireChallenge(needs: WalletLinkNeeds, caller: Caller, wallet: Wallet, nonce: string): number {
  const refuse = (detail: string) => refusal('link_challenge_invalid', detail, { path: 'nonce' });
  const head = nonce.slice(0, EXPIRY_DIGITS + ID_DIGITS);
  const isOurs =
    NONCE.test(nonce) &&
    equalBytes(utf8(macOf(needs, caller, wallet, head)), utf8(nonce.slice(EXPIRY_DIGITS + ID_DIGITS)));
  if (!isOurs) throw refuse('This nonce was not made for this agent and address.');
  const expiresAt = Number.parseInt(nonce.slice(0, EXPIRY_DIGITS), 16);
  if (expiresAt <= needs.clock.now()) throw refuse('The challenge has expired.');
  return expiresAt;
}

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
function signerOf(needs: WalletLinkNeeds, wallet: Wallet, message: string, signature: string): string {
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

export async function linkWallet(
  needs: WalletLinkNeeds,
  caller: Caller,
  request: LinkRequest,
): Promise<LinkResult> {
  const wallet = walletOf(request.address, 'address');
  const expiresAt = requireChallenge(needs, caller, wallet, request.nonce);
  const message = messageOf(needs, caller, wallet, request.nonce, expiresAt);
  const signer = signerOf(needs, wallet, message, request.signature);
  const outcome = await needs.walletLinks.link({
    caller,
    address: wallet.address,
    kind: wallet.kind,
    signer,
    nonce: request.nonce,
    nonceExpiresAt: expiresAt,
    at: needs.clock.now(),
    maxWallets: LIMITS.walletsPerOwner,
    reseal: (credential, userId) =>
      needs.secrets.seal(
        needs.secrets.open(
          credential.sealed,
          credentialIdentity(credential.userId, credential.walletAddress),
        ),
        credentialIdentity(userId, credential.walletAddress),
      ),
  });
  if (outcome.kind === 'full') throw tooManyWallets('address');
  if (outcome.kind !== 'linked')
    throw refusal('link_challenge_invalid', 'This challenge has been used.', { path: 'nonce' });
  if (wallet.kind === 'solana') await credit(needs, wallet.address);
  const canceled =
    wallet.kind === 'evm' && outcome.formerOwners.length > 0
      ? await cancelFormerOrders(needs, outcome.formerOwners, signer as Address)
      : { orders: [], left: 0 };
  return {
    success: true,
    walletAddress: request.address,
    walletOwnership: 'external',
    message: linkedMessage(outcome.moved.length, canceled.orders.length, canceled.left),
    moved: [...outcome.moved],
    canceledOrders: canceled.orders,
  };
}

/** Paper money for a Solana wallet. Without it the link holds all the same: the first quote credits the wallet, too. */
async function credit(needs: HasVenues, wallet: SolanaAddress): Promise<void> {
  const credits = venuesFor(needs, wallet).flatMap(({ paper }) =>
    paper === undefined ? [] : [paper.credit(wallet)],
  );
  await Promise.all(credits.map((one) => within(CREDIT_PATIENCE_MS, one)));
}

function linkedMessage(moved: number, canceled: number, left: number): string {
  if (moved === 0) return 'The wallet is linked.';
  const parts = [
    `The wallet is linked; ${moved === 1 ? 'one wallet' : `${moved} wallets`} moved from another owner.`,
  ];
  if (canceled > 0) parts.push(`Open orders of that owner's agents were canceled: ${canceled}.`);
  if (left > 0) parts.push(`Orders of that owner's agents that could not be canceled yet: ${left}.`);
  return parts.join(' ');
}

/**
 * The new owner could not cancel what the former one's agents left open, so it is canceled here. After the move: an
 * answer that fails to come must not undo it.
 */
async function cancelFormerOrders(
  needs: WalletLinkNeeds,
  formerOwners: readonly bigint[],
  eoa: Address,
): Promise<{ orders: string[]; left: number }> {
  const { proxy, safe, deposit } = walletKindsOf(eoa);
  const wallets = new Set<string>([eoa, proxy, safe, deposit.beacon, deposit.uups]);
  const open: OrderRow[] = [];
  let left = 0;
  for (const owner of formerOwners) {
    for (const row of await needs.orders.openOfOwner(owner)) {
      if (!wallets.has(row.funder)) continue;
      if (isInDoubt(row.status)) left += 1;
      else if (isOpen(row.status)) open.push(row);
    }
  }
  const orders: string[] = [];
  for (const rows of Map.groupBy(open, ({ venue, funder }) => `${venue} ${funder}`).values()) {
    const [{ venue, funder }] = rows as [OrderRow, ...OrderRow[]];
    const ids = rows.map((row) => row.orderId);
    const answer = await venueOf(needs, venue, funder)
      .cancel?.orders(funder, ids)
      .catch(() => undefined);
    const canceled = answer?.kind === 'answered' ? answer.canceled : [];
    orders.push(...canceled);
    left += ids.length - canceled.length;
  }
  return { orders, left };
}

/** The only wallet there is to unlink. @throws Refusal wallet_required, naming them; wallet_not_found */
async function onlyWallet(needs: WalletLinkNeeds, caller: Caller): Promise<string> {
  const [only, ...others] = await needs.walletLinks.unlinkable(caller);
  if (only === undefined)
    throw refusal('wallet_not_found', 'The owner of this agent has no wallet to unlink.');
  if (others.length === 0) return only.key;
  const named = [only, ...others].flatMap(({ wallets }) => wallets);
  throw refusal(
    'wallet_required',
    `There are several wallets; name the one to unlink: ${named.join(', ')}.`,
    {
      path: 'address',
    },
  );
}

/** @param asked the wallet; the only one there is when left out */
export async function unlinkWallet(
  needs: WalletLinkNeeds,
  caller: Caller,
  asked: string | undefined,
): Promise<UnlinkResult> {
  const wallet = walletOf(asked ?? (await onlyWallet(needs, caller)), 'address');
  const gone = await needs.walletLinks.unlink(caller, wallet.address);
  if (gone.length === 0)
    throw refusal('wallet_not_found', 'The owner of this agent has no such wallet.', { path: 'address' });
  const wallets = new Set(gone);
  const open = (await needs.orders.openOfOwner(caller.userId)).filter(
    (row) => wallets.has(row.walletAddress) || wallets.has(row.funder),
  );
  return {
    success: true,
    message: `Unlinked, with stored credentials deleted: ${gone.join(', ')}.${
      open.length === 0 ? '' : ` Orders still open, to be canceled as before: ${open.length}.`
    }`,
  };
}

export async function updateSolAddress(
  needs: WalletLinkNeeds,
  caller: Caller,
  asked: string,
): Promise<SolAddressResult> {
  const wallet = walletOf(asked, 'solAddress');
  await needs.walletLinks.setSolAddress(caller.agentId, wallet.address);
  if (wallet.kind === 'solana') await credit(needs, wallet.address);
  return {
    success: true,
    solAddress: wallet.address,
    message: 'Quotes of venue B are made for this wallet from now on.',
  };
}
