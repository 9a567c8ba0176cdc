/**
 * The venue's second level of authentication: each request carries an HMAC-SHA256 over time, method, path and body.
 * Wire reference 2.2. The path has no host, no mount prefix and no query; the body is the exact text sent.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { parseBase64, toBase64Url } from './base64.ts';
import { equalBytes, utf8 } from './bytes.ts';

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
 * @throws RangeError when the secret is not base64. The secret is not quoted.
 * @example
 * const signature = l2Signature(secret, { timestamp: '1764000000', method: 'GET', path: '/orders' });
 */
export function l2Signature(secret: string, request: L2Request): string {
  const key = parseBase64(secret);
  if (key === null) throw new RangeError('the secret is not base64');
  return toBase64Url(mac(key, request));
}

const mac = (key: Uint8Array, { timestamp, method, path, body = '' }: L2Request): Uint8Array =>
  hmac(sha256, key, utf8(`${timestamp}${method}${path}${body}`));

/**
 * Whether the signature (either alphabet) is the one for this request; in constant time. Never throws.
 * @example
 * verifyL2Signature(secret, { timestamp: '1764000000', method: 'GET', path: '/orders' }, signature);
 */
export function verifyL2Signature(secret: string, request: L2Request, signature: string): boolean {
  const given = parseBase64(signature);
  const key = parseBase64(secret);
  return given !== null && key !== null && equalBytes(given, mac(key, request));
}
