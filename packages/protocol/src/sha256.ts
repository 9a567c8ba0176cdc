import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8 } from './bytes.ts';

/**
 * SHA-256 of a text's UTF-8 bytes, as 64 hex digits.
 * @example
 * sha256Hex('abc'); // 'ba7816bf…', 64 digits
 */
export const sha256Hex = (text: string): string => sha256HexOf(utf8(text));

/**
 * @example
 * sha256HexOf(new Uint8Array([97, 98, 99])); // 'ba7816bf…', 64 digits
 */
export const sha256HexOf = (bytes: Uint8Array): string => bytesToHex(sha256(bytes)).replace(/^0x/, '');
