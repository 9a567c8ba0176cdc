/** Base58 as Solana spells keys and signatures: the Bitcoin alphabet, a leading 1 for every leading zero byte. */
import { base58 } from '@scure/base';

/** A longer text is not a key or signature, and decoding time grows with the square of the length. */
const MAX_CHARS = 128;

/**
 * @example
 * toBase58(new Uint8Array([97])); // '2g'
 */
export const toBase58 = (bytes: Uint8Array): string => base58.encode(bytes);

/**
 * Bytes of a base58 text, or `null` when it is not base58.
 * @example
 * parseBase58('2g'); // Uint8Array [ 97 ]
 */
export function parseBase58(text: string): Uint8Array | null {
  if (text.length > MAX_CHARS) return null;
  try {
    return base58.decode(text);
  } catch {
    return null;
  }
}
