/**
 * Keys and randomness. Two keys are derived from one master key: one seals credentials (AES-256-GCM), the other hashes
 * API keys. They have separate versions, so that rotating the first does not invalidate API keys.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  randomBytes,
  randomInt,
} from 'node:crypto';
import type { Secrets } from '../../ports/secrets.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const KEY_PREFIX = 'bw_';
const KEY_RANDOM_CHARS = 55;
const KEY_CHECK_CHARS = 6;
const WELL_FORMED = /^bw_[0-9A-Za-z]{61}$/;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID = 1;
const TOKEN_BYTES = 32;

const pick = (alphabet: string, count: number): string =>
  Array.from({ length: count }, () => alphabet[randomInt(alphabet.length)]).join('');

function checksum(body: string): string {
  let value = hash('sha256', body, 'buffer').readUIntBE(0, 6);
  let text = '';
  for (let i = 0; i < KEY_CHECK_CHARS; i++) {
    text += BASE62[value % 62];
    value = Math.floor(value / 62);
  }
  return text;
}

/** UUID version 7: 48 bits of time, then random bits, so that rows of the same time are adjacent. */
function uuidV7(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const derive = (masterKey: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, 'bellwether', purpose, 32));

/** A separate secret for a part of the service, e.g. for the paper venue's keys. */
export const deriveSecret = derive;

/** @param masterKey 32 bytes */
export function createSecrets(masterKey: Uint8Array, now: () => number): Secrets {
  const sealKey = derive(masterKey, 'credentials v1');
  // Given as bytes, every hash would prepare the key again, at five times the cost.
  const hashKey = createSecretKey(derive(masterKey, 'api keys v1'));
  return {
    newApiKey() {
      const body = KEY_PREFIX + pick(BASE62, KEY_RANDOM_CHARS);
      return body + checksum(body);
    },
    isWellFormed: (apiKey) =>
      WELL_FORMED.test(apiKey) &&
      checksum(apiKey.slice(0, -KEY_CHECK_CHARS)) === apiKey.slice(-KEY_CHECK_CHARS),
    hash: (secret) => createHmac('sha256', hashKey).update(secret).digest(),
    nameOf: (secret) => hash('sha256', secret, 'base64url'),
    newClaimCode: () => `${pick(CROCKFORD, 5)}-${pick(CROCKFORD, 5)}`,
    newToken: () => randomBytes(TOKEN_BYTES).toString('base64url'),
    newId: () => uuidV7(now()),
    seal(plain, row) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealKey, nonce).setAAD(Buffer.from(row));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return { keyId: KEY_ID, bytes: Buffer.concat([nonce, cipher.getAuthTag(), body]) };
    },
    open(sealed, row) {
      const bytes = Buffer.from(sealed.bytes);
      const decipher = createDecipheriv('aes-256-gcm', sealKey, bytes.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(row))
        .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([
        decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)),
        decipher.final(),
      ]).toString('utf8');
    },
  };
}
