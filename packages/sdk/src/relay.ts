/**
 * Requests to the venue's relayer, which makes a wallet's calls without the network's price. What the service prepared is compared in
 * every field with what is built here from the person's terms, from contracts that this package pins, and from the nonce
 * that the relayer itself says: with a nonce of the service's choice, two signatures for one split could both be used.
 */
import type { RelayRecord } from '@bellwether/contract';
import {
  bytesToHex,
  ownerOf,
  parseAddress,
  RELAY_DEADLINE_MOST_S,
  RELAY_TYPES,
  type RelayTerms,
  relayRequest,
} from '@bellwether/protocol';
import type { BellwetherClient } from './client.ts';
import type { Signer } from './signer.ts';
import { NEED, needOptions } from './usage-error.ts';
import { VenueReader, type VenueReaderOptions } from './venue-reader.ts';
import { type WalletAction, WalletCallsError, type WalletPins, walletCalls } from './verify-wallet-calls.ts';

export const LIVE_RELAYER = 'https://relayer-v2.polymarket.com';

/** Terms that the relayer itself names for the next request of a wallet. */
export interface OwnRelayTerms {
  readonly nonce: string;
  /** For a proxy wallet: the account that delivers. */
  readonly relay: string | null;
}

export interface RelayPins extends WalletPins {
  /** As {@link readRelayTerms} read them. */
  readonly terms: OwnRelayTerms;
  /** Epoch milliseconds; default the local clock. */
  readonly now?: () => number;
}

/** A prepared request that is what the person asked for. */
export interface VerifiedRelay {
  readonly orderId: string;
  /** 32 bytes: what the key signs. */
  readonly digest: Uint8Array;
}

const PIN_NEEDS = {
  signer: NEED.object('a Signer', 'address'),
  wallet: NEED.text('the address of the wallet that is to act'),
  market: NEED.object('a market, as listMarkets and getMarket return it', 'conditionId', 'clobTokenIds'),
  terms: NEED.object('what readRelayTerms returned', 'nonce'),
} as const;
const READ_NEEDS = {
  signer: NEED.object('a Signer', 'address'),
  wallet: NEED.text('the address of the wallet that is to act'),
} as const;
const SIGN_NEEDS = {
  verified: NEED.object('what verifyRelay returned', 'digest', 'orderId'),
  signer: NEED.signer,
} as const;
const OK = 200;
const SECOND_MS = 1_000;
/** Two clocks may differ by so much. */
const CLOCK_TOLERANCE_S = 30;

/**
 * Asks the relayer itself, not the service, for the terms of the wallet's next request.
 * @param options.relayerUrl default the venue's own
 * @throws WalletCallsError for a wallet that is none of the key, or when the relayer does not say
 * @example
 * const terms = await readRelayTerms({ signer, wallet: signer.wallet(2) });
 */
export async function readRelayTerms(
  options: Pick<WalletPins, 'signer' | 'wallet'> &
    Omit<VenueReaderOptions, 'clobUrl'> & { readonly relayerUrl?: string },
): Promise<OwnRelayTerms> {
  needOptions('readRelayTerms', options, READ_NEEDS);
  const { signer, wallet, relayerUrl = LIVE_RELAYER, ...rest } = options;
  const type = typeOf({ signer, wallet });
  const reader = new VenueReader({ ...rest, clobUrl: relayerUrl });
  const path = type === 'PROXY' ? '/relay-payload' : '/nonce';
  const { status, body } = await reader.get(path, { address: signer.address, type });
  const { nonce, address } = (body ?? {}) as { nonce?: unknown; address?: unknown };
  const relay = type === 'PROXY' ? parseAddress(address) : null;
  const isWhole = /^\d{1,78}$/.test(String(nonce)) && (type !== 'PROXY' || relay !== null);
  if (status !== OK || !isWhole)
    throw new WalletCallsError(
      'relay.nonce',
      `The relayer does not say its terms (${status}): nothing was signed.`,
    );
  return { nonce: String(nonce), relay };
}

function typeOf({ signer, wallet }: Pick<WalletPins, 'signer' | 'wallet'>): RelayTerms['type'] {
  const type = RELAY_TYPES[ownerOf(signer.address, wallet)?.type ?? 0];
  if (type !== null) return type;
  throw new WalletCallsError(
    'wallet',
    `${wallet} is no proxy wallet, Safe or deposit wallet of the key ${signer.address}.`,
  );
}

/**
 * Compares what the service prepared for the relayer with what this package builds. One approval of the very contract may
 * come first.
 * @throws WalletCallsError naming the field; OrderBuildError
 * @example
 * const wallet = signer.wallet(2);
 * const terms = await readRelayTerms({ signer, wallet });
 * const answer = await client.splitSets({ clientOrderId: 'sets-1', marketId: market.id, amount: 25 });
 * const verified = verifyRelay(answer, { kind: 'split', amount: 25 }, { signer, wallet, market, terms });
 */
export function verifyRelay(
  answer: { readonly orderId: string; readonly status: string; readonly relay?: RelayRecord },
  action: WalletAction,
  pins: RelayPins,
): VerifiedRelay {
  needOptions('verifyRelay', pins, PIN_NEEDS);
  const { status, relay: given, orderId } = answer;
  if (status !== 'unsigned' || typeof given !== 'object' || given === null)
    throw new WalletCallsError('relay', 'The service has prepared nothing for the relayer.');
  const deadlineS = Date.parse(given.deadline) / SECOND_MS;
  requireInTime(deadlineS, pins.now ?? Date.now);
  const plain = built(deadlineS, action, pins, true);
  const difference = firstDifference(given, plain);
  if (difference === null) return { orderId, digest: plain.digest };
  const approved = built(deadlineS, action, pins, false);
  if (firstDifference(given, approved) === null) return { orderId, digest: approved.digest };
  throw difference;
}

/**
 * Signs a verified request: the body of POST /markets/relay.
 * @example
 * const wallet = signer.wallet(2);
 * const terms = await readRelayTerms({ signer, wallet });
 * const answer = await client.splitSets({ clientOrderId: 'sets-2', marketId: market.id, amount: 25 });
 * const verified = verifyRelay(answer, { kind: 'split', amount: 25 }, { signer, wallet, market, terms });
 * await client.relaySet(await signRelay(verified, signer));
 */
export async function signRelay(
  verified: VerifiedRelay,
  signer: Pick<Signer, 'signDigest'>,
): Promise<Parameters<BellwetherClient['relaySet']>[0]> {
  needOptions('signRelay', { verified, signer }, SIGN_NEEDS);
  return { orderId: verified.orderId, signature: await signer.signDigest(verified.digest) };
}

function requireInTime(deadlineS: number, now: () => number): void {
  const aheadS = deadlineS - now() / SECOND_MS;
  const isGood =
    Number.isInteger(deadlineS) &&
    aheadS > -CLOCK_TOLERANCE_S &&
    aheadS <= RELAY_DEADLINE_MOST_S + CLOCK_TOLERANCE_S;
  if (!isGood)
    throw new WalletCallsError(
      'relay.deadline',
      'relay.deadline is past, or further ahead than the venue grants: nothing was signed.',
    );
}

interface Built {
  readonly shown: Readonly<Record<string, unknown>>;
  readonly digest: Uint8Array;
}

function built(deadlineS: number, action: WalletAction, pins: RelayPins, isApproved: boolean): Built {
  const { terms, signer, wallet } = pins;
  const { owner, calls, chainId } = walletCalls(action, pins, isApproved);
  const type = typeOf({ signer, wallet });
  const nonce = BigInt(terms.nonce);
  const relay = parseAddress(terms.relay);
  if (type === 'PROXY' && relay === null)
    throw new WalletCallsError(
      'relay.relay',
      'The relayer named no account that delivers (relay.relay): nothing was signed.',
    );
  const request = relayRequest(
    owner,
    calls,
    type === 'PROXY' && relay !== null
      ? { type, nonce, relay }
      : type === 'WALLET'
        ? { type, nonce, deadlineS }
        : { type: 'SAFE', nonce },
    chainId,
  );
  const digest = bytesToHex(request.digest);
  const shown = { type, nonce: terms.nonce, relay: type === 'PROXY' ? relay : null, chainId };
  return { digest: request.digest, shown: { ...shown, body: request.body, digest } };
}

/** Also a field of the service's body that the relayer's has not: it would be forwarded. */
function firstDifference(given: object, { shown }: Built): WalletCallsError | null {
  const field = differs(given, shown, 'relay', new Set(['deadline']));
  if (field === null) return null;
  return new WalletCallsError(
    field,
    `The service prepared another ${field} than was asked for. Nothing was signed.`,
  );
}

const plainly = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value);

function differs(given: unknown, own: unknown, path: string, ignored: ReadonlySet<string>): string | null {
  if (typeof own !== 'object' || own === null) return plainly(given) === plainly(own) ? null : path;
  if (typeof given !== 'object' || given === null || Array.isArray(given) !== Array.isArray(own)) return path;
  const names = new Set([...Object.keys(own), ...Object.keys(given)]);
  for (const name of names) {
    if (ignored.has(name)) continue;
    const [there, here] = [(given as Record<string, unknown>)[name], (own as Record<string, unknown>)[name]];
    const found = differs(there, here, `${path}.${name}`, NONE);
    if (found !== null) return found;
  }
  return null;
}

const NONE: ReadonlySet<string> = new Set();
