/** How callbacks are signed, both ways: hex HMAC-SHA256 of the raw body with a shared secret, in `x-signature`. */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, equalBytes, parseHex, utf8 } from './bytes.ts';

export const WEBHOOK_SIGNATURE_HEADER = 'x-signature';
const SIGNATURE_HEX = /^[0-9a-fA-F]{64}$/;

const mac = (secret: string, body: Uint8Array): Uint8Array => hmac(sha256, utf8(secret), body);

/**
 * 64 hex digits, lower case, no prefix.
 * @example
 * const header = webhookSignature(secret, bytes);
 */
export const webhookSignature = (secret: string, body: Uint8Array): string =>
  bytesToHex(mac(secret, body)).slice(2);

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
  const expected = mac(secret, body);
  const given = signature !== undefined && SIGNATURE_HEX.test(signature) ? parseHex(signature) : null;
  return given !== null && equalBytes(given, expected);
}
