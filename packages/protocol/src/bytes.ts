/**
 * Bytes and the texts that spell them: hex, UTF-8, base58 and base64. Written without Node's `Buffer`, so that the
 * package runs wherever an agent does.
 */
import * as noble from '@noble/hashes/utils.js';
import { base58, base64, base64url } from '@scure/base';

export { equalBytes } from '@noble/curves/utils.js';
export { concatBytes, utf8ToBytes as utf8 } from '@noble/hashes/utils.js';

const NO_DIGIT = 16;

/** The value of a hex digit by its character code. */
const DIGITS = new Uint8Array(128).fill(NO_DIGIT);
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16);
  DIGITS[digit.charCodeAt(0)] = value;
  DIGITS[digit.toUpperCase().charCodeAt(0)] = value;
}

const startOfHex = (text: string): number => (text.startsWith('0x') || text.startsWith('0X') ? 2 : 0);

/**
 * Bytes of a hex text with or without `0x`, either case; `null` when it is not hex or has an odd length.
 * @example
 * parseHex('0x61'); // Uint8Array [ 97 ]
 */
export function parseHex(text: string): Uint8Array | null {
  const digits = text.length - startOfHex(text);
  if (digits % 2 !== 0) return null;
  const bytes = new Uint8Array(digits / 2);
  return writeHex(bytes, 0, text) ? bytes : null;
}

/**
 * Writes the bytes of a hex text at `offset`. @returns false when it is not hex; the bytes are undefined then
 * @example
 * const isHex = writeHex(bytes, 0, '0x61');
 */
export function writeHex(bytes: Uint8Array, offset: number, text: string): boolean {
  for (let from = startOfHex(text), to = offset; from < text.length; from += 2, to += 1) {
    const high = DIGITS[text.charCodeAt(from)] ?? NO_DIGIT;
    const low = DIGITS[text.charCodeAt(from + 1)] ?? NO_DIGIT;
    if (high === NO_DIGIT || low === NO_DIGIT) return false;
    bytes[to] = (high << 4) | low;
  }
  return true;
}

/**
 * @throws RangeError when `text` is not hex. The error does not quote the text: it may be a secret.
 * @example
 * hexToBytes('0x61'); // Uint8Array [ 97 ]
 */
export function hexToBytes(text: string): Uint8Array {
  const bytes = parseHex(text);
  if (bytes === null) throw new RangeError('not a hex text of whole bytes');
  return bytes;
}

/**
 * Lower-case hex with `0x`.
 * @example
 * bytesToHex(new Uint8Array([97])); // '0x61'
 */
export const bytesToHex = (bytes: Uint8Array): `0x${string}` => `0x${noble.bytesToHex(bytes)}`;

const UINT64_MASK = 0xffff_ffff_ffff_ffffn;

/**
 * Writes a uint256, big-endian, into the 32 bytes at `offset`.
 * @throws RangeError when the value is negative or does not fit.
 * @example
 * writeUint256(new DataView(new ArrayBuffer(32)), 0, 5n);
 */
export function writeUint256(view: DataView, offset: number, value: bigint): void {
  if (value < 0n) throw new RangeError('a uint256 cannot be negative');
  if (value <= UINT64_MASK) {
    // Amounts, salts and times: the upper 24 bytes are zero.
    view.setBigUint64(offset, 0n);
    view.setBigUint64(offset + 8, 0n);
    view.setBigUint64(offset + 16, 0n);
    view.setBigUint64(offset + 24, value);
    return;
  }
  if (value >> 256n !== 0n) throw new RangeError('a uint256 has at most 256 bits');
  view.setBigUint64(offset, value >> 192n);
  view.setBigUint64(offset + 8, (value >> 128n) & UINT64_MASK);
  view.setBigUint64(offset + 16, (value >> 64n) & UINT64_MASK);
  view.setBigUint64(offset + 24, value & UINT64_MASK);
}

/**
 * A uint256 as 32 big-endian bytes.
 * @example
 * uint256(5n).at(-1); // 5
 */
export function uint256(value: bigint): Uint8Array {
  const bytes = new Uint8Array(32);
  writeUint256(new DataView(bytes.buffer), 0, value);
  return bytes;
}

// Base58 as Solana spells keys and signatures: the Bitcoin alphabet, a leading 1 for every leading zero byte.

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

// Base64 without Node's `Buffer`: read in either alphabet, or in the canonical spelling alone.

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
