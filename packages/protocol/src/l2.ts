/**
 * The venue's second level of authentication: each request carries an HMAC-SHA256 over time, method, path and body.
 * Wire reference 2.2. The path has no host, no mount prefix and no query; the body is the exact text sent.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { equalBytes, utf8 } from './bytes.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Bytes of a base64 text in either alphabet, padded or not; `null` when it is none. */
export function parseBase64(text: string): Uint8Array | null {
  if (!BASE64.test(text)) return null;
  const digits = text.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_');
  if (digits.length % 4 === 1) return null;
  const bytes = new Uint8Array((digits.length * 3) >> 2);
  let buffer = 0;
  let bits = 0;
  let offset = 0;
  for (const digit of digits) {
    buffer = ((buffer << 6) | ALPHABET.indexOf(digit)) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[offset++] = (buffer >> bits) & 255;
    }
  }
  return bytes;
}

/** The url-safe alphabet, with padding: the spelling of the venue's secrets and signatures. */
export function toBase64Url(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const [a, b, c] = [bytes[i]!, bytes[i + 1], bytes[i + 2]];
    const word = (a << 16) | ((b ?? 0) << 8) | (c ?? 0);
    text += ALPHABET[word >> 18]! + ALPHABET[(word >> 12) & 63]!;
    text += b === undefined ? '=' : ALPHABET[(word >> 6) & 63]!;
    text += c === undefined ? '=' : ALPHABET[word & 63]!;
  }
  return text;
}

export interface L2Request {
  /** Decimal epoch seconds, as sent in POLY_TIMESTAMP. */
  readonly timestamp: string;
  /** Upper case on the wire. */
  readonly method: string;
  readonly path: string;
  /** Left out or empty when the request has none. */
  readonly body?: string;
}

/**
 * The request's signature: base64url with padding.
 * @throws RangeError when the secret is no base64. The secret is not quoted.
 */
export function l2Signature(secret: string, request: L2Request): string {
  const key = parseBase64(secret);
  if (key === null) throw new RangeError('the secret is not base64');
  const message = `${request.timestamp}${request.method}${request.path}${request.body ?? ''}`;
  return toBase64Url(hmac(sha256, key, utf8(message)));
}

/** Whether the signature (either alphabet) is the one for this request; in constant time. Never throws. */
export function verifyL2Signature(secret: string, request: L2Request, signature: string): boolean {
  const given = parseBase64(signature);
  const expected = parseBase64(secret) === null ? null : parseBase64(l2Signature(secret, request));
  return given !== null && expected !== null && equalBytes(given, expected);
}
