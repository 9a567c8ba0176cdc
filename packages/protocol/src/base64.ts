/** Base64 without Node's `Buffer`: read in either alphabet, or in the canonical spelling alone. */
import { base64, base64url } from '@scure/base';

const EITHER_ALPHABET = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * Bytes of a base64 text in either alphabet, padded or not; otherwise `null`. As lenient as the decoders of the
 * venue's own clients: bits beyond the last byte do not matter, and more than one text gives the same bytes.
 * @example
 * parseBase64('YQ=='); // Uint8Array [ 97 ]
 */
export function parseBase64(text: string): Uint8Array | null {
  if (!EITHER_ALPHABET.test(text)) return null;
  try {
    const binary = atob(text.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}

/**
 * The url-safe alphabet, with padding: the spelling of the CLOB's secrets and signatures.
 * @example
 * toBase64Url(new Uint8Array([251])); // '-w=='
 */
export const toBase64Url = (bytes: Uint8Array): string => base64url.encode(bytes);

/**
 * The standard alphabet, with padding: the canonical spelling.
 * @example
 * toBase64(new Uint8Array([97])); // 'YQ=='
 */
export const toBase64 = (bytes: Uint8Array): string => base64.encode(bytes);

/**
 * Bytes of a text in the canonical spelling; `null` for any other, so that no value has two spellings.
 * @example
 * parseBase64Strict('YQ'); // null: the padding is missing
 */
export function parseBase64Strict(text: string): Uint8Array | null {
  try {
    return base64.decode(text);
  } catch {
    return null;
  }
}
