/** Solana addresses and messages signed with their keys (Ed25519), for wallets that are linked by a challenge. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { parseBase58, toBase58 } from './base58.ts';
import { parseBase64 } from './base64.ts';
import { parseHex, utf8 } from './bytes.ts';

declare const brand: unique symbol;

/** Base58 of 32 bytes; case matters. */
export type SolanaAddress = string & { readonly [brand]: 'SolanaAddress' };

const KEY_BYTES = 32;
export const ED25519_SIGNATURE_BYTES = 64;

/**
 * The address, or `null` when the text is not base58 of 32 bytes.
 * @example
 * parseSolanaAddress('0'); // null
 */
export const parseSolanaAddress = (text: string): SolanaAddress | null =>
  parseBase58(text)?.length === KEY_BYTES ? (text as SolanaAddress) : null;

/**
 * 64 bytes spelled as 0x hex, base58 or base64: wallets differ.
 * @example
 * const signature = parseEd25519Signature(text); // null: neither base58 nor base64 of 64 bytes
 */
export function parseEd25519Signature(text: string): Uint8Array | null {
  const spellings = text.startsWith('0x') ? [parseHex] : [parseBase58, parseBase64];
  for (const parse of spellings) {
    const bytes = parse(text);
    if (bytes?.length === ED25519_SIGNATURE_BYTES) return bytes;
  }
  return null;
}

/** Whether the key signed the bytes. Functions that take one accept a native implementation. */
export type VerifyEd25519 = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean;

/**
 * By the strict rules of RFC 8032, as the chain verifies: no second spelling of a signature passes, nor a key of small
 * order. Never throws; about a millisecond and a half.
 * @example
 * const isSigned = verifyEd25519(publicKey, message, signEd25519(secret32, message));
 */
export const verifyEd25519: VerifyEd25519 = (publicKey, message, signature) => {
  if (publicKey.length !== KEY_BYTES || signature.length !== ED25519_SIGNATURE_BYTES) return false;
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    // The library throws for a key or signature that is not a point of the curve.
    return false;
  }
};

/**
 * The public key of a 32-byte secret. @throws RangeError, which does not quote it
 * @example
 * const address = solanaAddressOf(secret32);
 */
export function solanaAddressOf(secret: Uint8Array): SolanaAddress {
  if (secret.length !== KEY_BYTES) throw new RangeError('an Ed25519 secret has 32 bytes');
  return toBase58(ed25519.getPublicKey(secret)) as SolanaAddress;
}

/**
 * The 64-byte signature of RFC 8032; the same for the same key and bytes. @throws RangeError, which quotes neither
 * @example
 * const signature = signEd25519(secret32, new TextEncoder().encode('hello'));
 */
export function signEd25519(secret: Uint8Array, message: Uint8Array): Uint8Array {
  if (secret.length !== KEY_BYTES) throw new RangeError('an Ed25519 secret has 32 bytes');
  return ed25519.sign(message, secret);
}

/**
 * Whether the address's key signed the text.
 * @example
 * const isSigned = verifySolanaMessage(solanaAddressOf(secret32), 'hello', bytes);
 */
export function verifySolanaMessage(address: SolanaAddress, message: string, signature: Uint8Array): boolean {
  const publicKey = parseBase58(address);
  return publicKey !== null && verifyEd25519(publicKey, utf8(message), signature);
}
