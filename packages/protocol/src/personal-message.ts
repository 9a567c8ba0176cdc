/** EIP-191: what an account signs when a wallet is asked for a "personal" signature over a text or over bytes. */

import { concatBytes, utf8 } from './bytes.ts';
import { keccak256 } from './keccak.ts';

/**
 * 32 bytes; the length in the prefix counts UTF-8 bytes.
 * @example
 * const signature = signDigest(personalMessageDigest('I own this wallet.'), secretKey);
 */
export function personalMessageDigest(message: string | Uint8Array): Uint8Array {
  const body = typeof message === 'string' ? utf8(message) : message;
  return keccak256(concatBytes(utf8(`\x19Ethereum Signed Message:\n${body.length}`), body));
}
