/**
 * Who sent a request. The venue's first level of authentication is an EIP-712 message by which an account proves
 * itself, to create or derive its API key (wire reference 2.1); its second level signs each request; and the callbacks
 * of the service are signed. Last, the hash by which entries of a log are chained.
 */

import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import {
  type Address,
  addressWord,
  domainSeparator,
  type Eip712Domain,
  hashText,
  typedDataDigest,
} from './accounts.ts';
import {
  bytesToHex,
  concatBytes,
  equalBytes,
  parseBase64,
  parseHex,
  toBase64Url,
  uint256,
  utf8,
} from './bytes.ts';
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

// The venue's second level of authentication: each request carries an HMAC-SHA256 over time, method, path and body.
// Wire reference 2.2. The path has no host, no mount prefix and no query; the body is the exact text sent.

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
  return toBase64Url(requestMac(key, request));
}

const requestMac = (key: Uint8Array, { timestamp, method, path, body = '' }: L2Request): Uint8Array =>
  hmac(sha256, key, utf8(`${timestamp}${method}${path}${body}`));

/**
 * Whether the signature (either alphabet) is the one for this request; in constant time. Never throws.
 * @example
 * verifyL2Signature(secret, { timestamp: '1764000000', method: 'GET', path: '/orders' }, signature);
 */
export function verifyL2Signature(secret: string, request: L2Request, signature: string): boolean {
  const given = parseBase64(signature);
  const key = parseBase64(secret);
  return given !== null && key !== null && equalBytes(given, requestMac(key, request));
}

// How callbacks are signed, both ways: hex HMAC-SHA256 of the raw body with a shared secret, in `x-signature`.

export const WEBHOOK_SIGNATURE_HEADER = 'x-signature';
const SIGNATURE_HEX = /^[0-9a-fA-F]{64}$/;

const callbackMac = (secret: string, body: Uint8Array): Uint8Array => hmac(sha256, utf8(secret), body);

/**
 * 64 hex digits, lower case, no prefix.
 * @example
 * const header = webhookSignature(secret, bytes);
 */
export const webhookSignature = (secret: string, body: Uint8Array): string =>
  bytesToHex(callbackMac(secret, body)).slice(2);

/**
 * Compares in constant time; the work is done for malformed signatures too.
 * @example
 * const isOurs = verifyWebhookSignature(secret, bytes, headers['x-signature']);
 */
export function verifyWebhookSignature(
  secret: string,
  body: Uint8Array,
  signature: string | undefined,
): boolean {
  const expected = callbackMac(secret, body);
  const given = signature !== undefined && SIGNATURE_HEX.test(signature) ? parseHex(signature) : null;
  return given !== null && equalBytes(given, expected);
}

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
