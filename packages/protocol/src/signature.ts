/**
 * Who signed a digest. The caller passes the curve arithmetic as a function: native code is about twenty times faster
 * than JavaScript, and this package must not depend on native code. Malleable forms are refused before it is called.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { type Address, addressOfPublicKey } from './address.ts';
import { hexToBytes, parseHex } from './bytes.ts';

/** r and s (64 bytes) to the uncompressed public key (64 or 65 bytes), or `null` when there is none. */
export type RecoverPublicKey = (digest: Uint8Array, rs64: Uint8Array, recovery: 0 | 1) => Uint8Array | null;

export type SignatureFault =
  | 'not_hex'
  | 'wrong_length'
  /** The last byte is not 0, 1, 27 or 28. */
  | 'bad_recovery_id'
  | 'zero_r'
  | 'zero_s'
  /** r is not below the curve's order. */
  | 'r_out_of_range'
  /** s is in the upper half: the malleable duplicate of a valid signature. */
  | 'high_s'
  /** No public key matches this signature. */
  | 'not_recoverable';

export interface ParsedSignature {
  readonly ok: true;
  /** r ‖ s */
  readonly rs: Uint8Array;
  readonly recovery: 0 | 1;
}
export interface RefusedSignature {
  readonly ok: false;
  readonly reason: SignatureFault;
}

export const SIGNATURE_BYTES = 65;
const CURVE_ORDER = hexToBytes('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141');
const HALF_CURVE_ORDER = hexToBytes('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0');

const refuse = (reason: SignatureFault): RefusedSignature => ({ ok: false, reason });

/** -1, 0 or 1 for the 32-byte number at `offset` against a limit. */
function compareWord(bytes: Uint8Array, offset: number, limit: Uint8Array): number {
  for (let i = 0; i < 32; i++) {
    const difference = bytes[offset + i]! - limit[i]!;
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return 0;
}

function isZeroWord(bytes: Uint8Array, offset: number): boolean {
  for (let i = 0; i < 32; i++) if (bytes[offset + i] !== 0) return false;
  return true;
}

function recoveryOf(v: number): 0 | 1 | null {
  if (v === 0 || v === 27) return 0;
  if (v === 1 || v === 28) return 1;
  return null;
}

/**
 * Splits and checks a 65-byte signature, given as bytes or hex.
 * @example
 * const parsed = parseSignature(signature);
 * if (!parsed.ok) throw new Error(parsed.reason);
 */
export function parseSignature(signature: Uint8Array | string): ParsedSignature | RefusedSignature {
  const bytes = typeof signature === 'string' ? parseHex(signature) : signature;
  if (bytes === null) return refuse('not_hex');
  if (bytes.length !== SIGNATURE_BYTES) return refuse('wrong_length');
  if (isZeroWord(bytes, 0)) return refuse('zero_r');
  if (isZeroWord(bytes, 32)) return refuse('zero_s');
  if (compareWord(bytes, 0, CURVE_ORDER) >= 0) return refuse('r_out_of_range');
  if (compareWord(bytes, 32, HALF_CURVE_ORDER) > 0) return refuse('high_s');
  const recovery = recoveryOf(bytes[64]!);
  if (recovery === null) return refuse('bad_recovery_id');
  return { ok: true, rs: bytes.slice(0, 64), recovery };
}

export type Recovered =
  | { readonly ok: true; readonly address: Address }
  | { readonly ok: false; readonly reason: SignatureFault };

/**
 * The address whose key signed `digest`. Every well-formed signature belongs to some address: compare it with the
 * expected one. The caller may pass an already parsed signature, to try several digests.
 * @example
 * const found = recoverAddress(nobleRecover, digest, signature);
 */
export function recoverAddress(
  recover: RecoverPublicKey,
  digest: Uint8Array,
  signature: Uint8Array | string | ParsedSignature,
): Recovered {
  const parsed =
    typeof signature === 'string' || signature instanceof Uint8Array ? parseSignature(signature) : signature;
  if (!parsed.ok) return parsed;
  const publicKey = recover(digest, parsed.rs, parsed.recovery);
  return publicKey === null
    ? refuse('not_recoverable')
    : { ok: true, address: addressOfPublicKey(publicKey) };
}

/**
 * Recovery in plain JavaScript: about a millisecond. For browsers, and where no native code loads.
 * @example
 * const publicKey = nobleRecover(digest, signDigest(digest, secretKey).subarray(0, 64), 0);
 */
export const nobleRecover: RecoverPublicKey = (digest, rs64, recovery) => {
  try {
    return secp256k1.Signature.fromBytes(rs64, 'compact')
      .addRecoveryBit(recovery)
      .recoverPublicKey(digest)
      .toBytes(false);
  } catch {
    // The library throws for an r that is not the x of any point; everything else was checked above.
    return null;
  }
};

/**
 * A new key from the system's randomness: 32 bytes.
 * @example
 * const address = addressOfSecretKey(newSecretKey());
 */
export const newSecretKey = (): Uint8Array => secp256k1.utils.randomSecretKey();

/**
 * @throws for a key that is zero or beyond the order of the curve; the error may quote it
 * @example
 * const address = addressOfSecretKey(secretKey);
 */
export const addressOfSecretKey = (secretKey: Uint8Array): Address =>
  addressOfPublicKey(secp256k1.getPublicKey(secretKey, false));

/**
 * 65 bytes: r, s (low) and v of 27 or 28. Deterministic (RFC 6979): the same digest and key give the same signature.
 * @example
 * const signature = signDigest(orderDigest(separator, contentsHash), secretKey); // 65 bytes
 */
export function signDigest(digest: Uint8Array, secretKey: Uint8Array): Uint8Array {
  const recovered = secp256k1.sign(digest, secretKey, { prehash: false, format: 'recovered' });
  const signature = new Uint8Array(SIGNATURE_BYTES);
  signature.set(recovered.subarray(1));
  signature[SIGNATURE_BYTES - 1] = 27 + recovered[0]!;
  return signature;
}
