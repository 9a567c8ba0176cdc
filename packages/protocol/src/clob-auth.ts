/**
 * The venue's first level of authentication: an EIP-712 message by which an account proves itself, to create or
 * derive its API key. Wire reference 2.1.
 */

import type { Address } from './address.ts';
import { concatBytes, uint256 } from './bytes.ts';
import { addressWord, domainSeparator, type Eip712Domain, hashText, typedDataDigest } from './eip712.ts';
import { keccak256 } from './keccak.ts';

export const CLOB_AUTH_MESSAGE = 'This message attests that I control the given wallet';
export const CLOB_AUTH_DOMAIN_NAME = 'ClobAuthDomain';
export const CLOB_AUTH_TYPE = 'ClobAuth(address address,string timestamp,uint256 nonce,string message)';

export interface ClobAuth {
  readonly address: Address;
  /** Decimal epoch seconds, exactly as sent in POLY_TIMESTAMP. */
  readonly timestamp: string;
  readonly nonce: bigint;
  readonly chainId: number;
}

/**
 * @example
 * domainSeparator(clobAuthDomain(137));
 */
export const clobAuthDomain = (chainId: number): Eip712Domain => ({
  name: CLOB_AUTH_DOMAIN_NAME,
  version: '1',
  chainId,
});

/**
 * The bytes that the account signs, 32 of them.
 * @example
 * const digest = clobAuthDigest({ address: owner, timestamp: '1764000000', nonce: 0n, chainId: 137 });
 */
export function clobAuthDigest(auth: ClobAuth): Uint8Array {
  const separator = domainSeparator(clobAuthDomain(auth.chainId));
  const struct = concatBytes(
    hashText(CLOB_AUTH_TYPE),
    addressWord(auth.address),
    hashText(auth.timestamp),
    uint256(auth.nonce),
    hashText(CLOB_AUTH_MESSAGE),
  );
  return typedDataDigest(separator, keccak256(struct));
}
