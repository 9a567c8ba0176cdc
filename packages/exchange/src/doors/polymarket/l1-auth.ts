/**
 * First level of authentication: the account signs EIP-712 data. Wire reference 2.1. A refusal names the wrong header
 * and shows the data to sign, which is public and which a caller could not guess.
 */
import {
  type Address,
  bytesToHex,
  CLOB_AUTH_DOMAIN_NAME,
  CLOB_AUTH_MESSAGE,
  clobAuthDigest,
  parseAddress,
  type RecoverPublicKey,
  recoverAddress,
} from '@bellwether/protocol';
import { AUTH_TOLERANCE_S, type AuthHeaders, headerText, isFresh } from './auth-headers.ts';
import { MAX_KEY_NONCE } from './venue-keys.ts';

export interface L1Caller {
  readonly address: Address;
  readonly nonce: bigint;
}

export interface L1Fault {
  /** In the spelling that clients use. */
  readonly header: string;
  /** The fault, and how to fix it. */
  readonly message: string;
  /** The data to sign, as far as the headers determine it. */
  readonly typedData: unknown;
  /** EIP-712 digest of it; only when every header but the signature can be read. */
  readonly digest?: string;
}

export type L1Verdict =
  | { readonly ok: true; readonly caller: L1Caller }
  | { readonly ok: false; readonly fault: L1Fault };

interface L1Venue {
  readonly chainId: number;
  readonly recover: RecoverPublicKey;
  readonly now: () => number;
}

const NONCE = /^[0-9]{1,19}$/;

export function authenticateL1(headers: AuthHeaders, venue: L1Venue): L1Verdict {
  const address = parseAddress(headerText(headers, 'poly_address'));
  const timestamp = headerText(headers, 'poly_timestamp');
  // 0 is the default nonce of the venue's clients.
  const nonceText = headerText(headers, 'poly_nonce') || '0';
  const nonce = NONCE.test(nonceText) ? BigInt(nonceText) : null;
  const now = Math.floor(venue.now() / 1000);

  const typedData = typedDataOf({ address, timestamp, nonce, chainId: venue.chainId, now });
  const refused = (header: string, message: string, digest?: Uint8Array): L1Verdict => ({
    ok: false,
    fault: { header, message, typedData, ...(digest === undefined ? {} : { digest: bytesToHex(digest) }) },
  });
  if (address === null)
    return refused(
      'POLY_ADDRESS',
      'POLY_ADDRESS must be the address of the signing key: 0x and 40 hex digits.',
    );
  if (!isFresh(timestamp, venue.now()))
    return refused(
      'POLY_TIMESTAMP',
      `POLY_TIMESTAMP must be epoch seconds within ${AUTH_TOLERANCE_S} s of this clock, which says ${now} (GET /time).`,
    );
  if (nonce === null || nonce > MAX_KEY_NONCE)
    return refused(
      'POLY_NONCE',
      `POLY_NONCE must be a whole number from 0 to ${MAX_KEY_NONCE}; 0 when left out.`,
    );
  const digest = clobAuthDigest({ address, timestamp, nonce, chainId: venue.chainId });
  const signer = recoverAddress(venue.recover, digest, headerText(headers, 'poly_signature'));
  if (signer.ok && signer.address === address) return { ok: true, caller: { address, nonce } };
  const found = signer.ok
    ? `it was made by ${signer.address}, or over other data`
    : `it is no signature (${signer.reason})`;
  return refused(
    'POLY_SIGNATURE',
    `POLY_SIGNATURE must be the 65-byte signature of typedData by ${address} (eth_signTypedData_v4); ${found}.`,
    digest,
  );
}

interface Claimed {
  readonly address: Address | null;
  readonly timestamp: string;
  readonly nonce: bigint | null;
  readonly chainId: number;
  readonly now: number;
}

const NOTHING_READABLE = '<your address>';
const MAX_TIMESTAMP_CHARS = 12;

/** In the format of `eth_signTypedData_v4`. */
function typedDataOf({ address, timestamp, nonce, chainId, now }: Claimed): unknown {
  const isSane = timestamp !== '' && timestamp.length <= MAX_TIMESTAMP_CHARS;
  return {
    domain: { name: CLOB_AUTH_DOMAIN_NAME, version: '1', chainId },
    types: {
      ClobAuth: [
        { name: 'address', type: 'address' },
        { name: 'timestamp', type: 'string' },
        { name: 'nonce', type: 'uint256' },
        { name: 'message', type: 'string' },
      ],
    },
    primaryType: 'ClobAuth',
    message: {
      address: address ?? NOTHING_READABLE,
      timestamp: isSane ? timestamp : String(now),
      nonce: String(nonce ?? 0n),
      message: CLOB_AUTH_MESSAGE,
    },
  };
}
