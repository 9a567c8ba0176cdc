/**
 * First level of authentication: the account proves itself with an EIP-712 signature. Wire reference 2.1.
 */
import {
  type Address,
  clobAuthDigest,
  parseAddress,
  type RecoverPublicKey,
  recoverAddress,
} from '@bellwether/protocol';
import { type AuthHeaders, headerText, isFresh } from './auth-headers.ts';
import { MAX_KEY_NONCE } from './venue-keys.ts';

export interface L1Caller {
  readonly address: Address;
  readonly nonce: bigint;
}

const NONCE = /^[0-9]{1,19}$/;

/** Who signed the L1 headers, or `null` when they are incomplete, stale or signed by another key. */
export function authenticateL1(
  headers: AuthHeaders,
  venue: { readonly chainId: number; readonly recover: RecoverPublicKey; readonly now: () => number },
): L1Caller | null {
  const address = parseAddress(headerText(headers, 'poly_address'));
  const timestamp = headerText(headers, 'poly_timestamp');
  // 0 is the default nonce of the venue's clients.
  const nonceText = headerText(headers, 'poly_nonce') || '0';
  if (address === null || !NONCE.test(nonceText) || !isFresh(timestamp, venue.now())) return null;
  const nonce = BigInt(nonceText);
  if (nonce > MAX_KEY_NONCE) return null;
  const digest = clobAuthDigest({ address, timestamp, nonce, chainId: venue.chainId });
  const signer = recoverAddress(venue.recover, digest, headerText(headers, 'poly_signature'));
  return signer.ok && signer.address === address ? { address, nonce } : null;
}
