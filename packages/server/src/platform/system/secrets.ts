/**
 * Keys and randomness. The newest master key seals (AES-256-GCM), and any that is known opens. API keys are hashed with a
 * key derived from the root, which a rotation does not change: it would invalidate them.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPublicKey,
  createSecretKey,
  hash,
  hkdfSync,
  randomBytes,
  randomInt,
  verify,
} from 'node:crypto';
import { createRequire } from 'node:module';
import {
  ED25519_SIGNATURE_BYTES,
  nobleRecover,
  type RecoverPublicKey,
  type VerifyEd25519,
} from '@bellwether/protocol';
import type { Secrets } from '../secrets.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const KEY_PREFIX = 'bw_';
const KEY_RANDOM_CHARS = 55;
const KEY_CHECK_CHARS = 6;
const WELL_FORMED = /^bw_[0-9A-Za-z]{61}$/;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FIRST_KEY_ID = 1;
const NAME_BYTES = 4;
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

/** Identifies a master key to people without revealing it. */
export const masterKeyName = (masterKey: Uint8Array): string =>
  derive(masterKey, 'name of the master key v1').toString('hex', 0, NAME_BYTES);

export interface RotatingSecrets extends Secrets {
  /** From now on this one of the known keys seals. */
  sealWith(keyId: number, masterKey: Uint8Array): void;
}

interface OtherKeys {
  /** Opens what it sealed until a rotation has ended. */
  readonly former?: Uint8Array | null;
  /** The master key's own value when not given. */
  readonly root?: Uint8Array;
}

const sealKeyOf = (masterKey: Uint8Array): Buffer => derive(masterKey, 'credentials v1');

/** @param masterKey 32 bytes */
export function createSecrets(
  masterKey: Uint8Array,
  now: () => number,
  { former = null, root = masterKey }: OtherKeys = {},
): RotatingSecrets {
  const sealKeys = [masterKey, ...(former === null ? [] : [former])].map(sealKeyOf);
  let active = { keyId: FIRST_KEY_ID, sealKey: sealKeyOf(masterKey) };
  // Given as bytes, every hash would prepare the key again, at five times the cost.
  const hashKey = createSecretKey(derive(root, 'api keys v1'));
  const openWith = (sealKey: Buffer, bytes: Buffer, row: string): string => {
    const decipher = createDecipheriv('aes-256-gcm', sealKey, bytes.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(row))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([
      decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)),
      decipher.final(),
    ]).toString('utf8');
  };
  return {
    sealWith(keyId, newest) {
      active = { keyId, sealKey: sealKeyOf(newest) };
    },
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
      const cipher = createCipheriv('aes-256-gcm', active.sealKey, nonce).setAAD(Buffer.from(row));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return { keyId: active.keyId, bytes: Buffer.concat([nonce, cipher.getAuthTag(), body]) };
    },
    open(sealed, row) {
      const bytes = Buffer.from(sealed.bytes);
      const [first, ...others] = sealKeys as [Buffer, ...Buffer[]];
      try {
        return openWith(first, bytes, row);
      } catch (error) {
        for (const other of others) return openWith(other, bytes, row);
        throw error;
      }
    },
  };
}

// Ed25519 verification by the platform's library; the protocol package's implementation is plain JavaScript.

/** Subject public key info around a raw key (RFC 8410). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

export const nativeVerifyEd25519: VerifyEd25519 = (publicKey, message, signature) => {
  if (signature.length !== ED25519_SIGNATURE_BYTES) return false;
  try {
    const key = createPublicKey({
      key: Buffer.concat([SPKI_HEAD, publicKey]),
      format: 'der',
      type: 'spki',
    });
    return verify(null, message, key, signature);
  } catch {
    // Not a point of the curve.
    return false;
  }
};

// Signer recovery: native if the addon loads, else in plain JavaScript, about twenty times slower. The service reports which.

interface NativeSecp256k1 {
  ecdsaRecover(signature: Uint8Array, recovery: number, digest: Uint8Array, compressed: boolean): Uint8Array;
}

export function loadRecover(): { readonly recover: RecoverPublicKey; readonly how: 'native' | 'javascript' } {
  let native: NativeSecp256k1;
  try {
    // The package's own entry point would fall back to JavaScript silently.
    native = createRequire(import.meta.url)('secp256k1/bindings');
  } catch {
    return { recover: nobleRecover, how: 'javascript' };
  }
  const recover: RecoverPublicKey = (digest, rs64, recovery) => {
    try {
      return native.ecdsaRecover(rs64, recovery, digest, false);
    } catch {
      // The addon throws when no public key gives the signature.
      return null;
    }
  };
  return { recover, how: 'native' };
}

/** SHA-256 of a text's UTF-8 bytes, as 64 hex digits. Native: several times as fast as the portable one. */
export const nativeSha256 = (text: string): string => hash('sha256', text, 'hex');
