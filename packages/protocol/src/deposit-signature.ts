/**
 * ERC-7739 signatures of deposit wallets (type 3). The owner does not sign the order's digest but a `TypedDataSign`
 * around it that names the wallet, so that a signature for one wallet cannot serve another; the 65 bytes then travel
 * with what a contract needs to rebuild that message. Layout: inner signature (65), the exchange's domain separator
 * (32), the order's struct hash (32), the order's type text, and its length as a big-endian uint16.
 *
 * The order id stays the plain digest of the order, not the digest that was signed.
 */

import type { Address } from './address.ts';
import { bytesToHex, concatBytes, parseHex, uint256, utf8 } from './bytes.ts';
import { addressWord, hashText, typedDataDigest } from './eip712.ts';
import { keccak256 } from './keccak.ts';
import { ORDER_TYPE, POLYMARKET_ORDER_TYPE } from './order.ts';
import { SIGNATURE_BYTES } from './signature.ts';

/** The order's type text follows it in the type that is hashed. */
export const DEPOSIT_SIGN_TYPE =
  'TypedDataSign(Order contents,string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)';
export const DEPOSIT_DOMAIN_NAME = 'DepositWallet';
export const DEPOSIT_DOMAIN_VERSION = '1';
const FIXED_BYTES = SIGNATURE_BYTES + 32 + 32 + 2;

export interface WrappedSignature {
  readonly ok: true;
  /** The owner's signature of the `TypedDataSign` digest. Not checked yet: see `parseSignature`. */
  readonly inner: Uint8Array;
  readonly separator: Uint8Array;
  readonly contentsHash: Uint8Array;
  readonly orderType: string;
}

export type WrapFault =
  | 'not_hex'
  /** Too short to hold the parts, or the stated length of the type text is wrong. */
  | 'wrong_length'
  /** The type text is not one of the two orders that exist. */
  | 'unknown_order_type';

/**
 * Hex of the wrapped signature. Takes what `typedDataSignDigest` took.
 * @example
 * const signature = wrapDepositSignature({ inner, separator, contentsHash, orderType: orderTypeOf(null) });
 */
export function wrapDepositSignature(parts: {
  readonly inner: Uint8Array;
  readonly separator: Uint8Array;
  readonly contentsHash: Uint8Array;
  readonly orderType: string;
}): `0x${string}` {
  const { inner, separator, contentsHash } = parts;
  if (inner.length !== SIGNATURE_BYTES || separator.length !== 32 || contentsHash.length !== 32)
    throw new RangeError('a wrapped signature takes 65, 32 and 32 bytes');
  const type = utf8(parts.orderType);
  const length = Uint8Array.of(type.length >> 8, type.length & 255);
  return bytesToHex(concatBytes(inner, separator, contentsHash, type, length));
}

/**
 * Whether a signature is long enough to be a wrapped one: a cheap look before parsing.
 * @example
 * const isOfDepositWallet = looksWrapped(signature);
 */
export const looksWrapped = (signature: string): boolean => signature.length > 2 + 2 * FIXED_BYTES;

/**
 * Splits a wrapped signature into its parts. Does not check who signed, nor to which order it belongs.
 * @example
 * const parsed = parseWrappedSignature(signature);
 * if (!parsed.ok) throw new Error(parsed.reason);
 */
export function parseWrappedSignature(
  signature: Uint8Array | string,
): WrappedSignature | { readonly ok: false; readonly reason: WrapFault } {
  const bytes = typeof signature === 'string' ? parseHex(signature) : signature;
  if (bytes === null) return { ok: false, reason: 'not_hex' };
  if (bytes.length <= FIXED_BYTES) return { ok: false, reason: 'wrong_length' };
  const typeLength = (bytes[bytes.length - 2]! << 8) | bytes[bytes.length - 1]!;
  if (typeLength !== bytes.length - FIXED_BYTES) return { ok: false, reason: 'wrong_length' };
  const orderType = new TextDecoder().decode(bytes.subarray(129, 129 + typeLength));
  if (orderType !== ORDER_TYPE && orderType !== POLYMARKET_ORDER_TYPE)
    return { ok: false, reason: 'unknown_order_type' };
  return {
    ok: true,
    inner: bytes.slice(0, 65),
    separator: bytes.slice(65, 97),
    contentsHash: bytes.slice(97, 129),
    orderType,
  };
}

/**
 * The digest that the wallet's owner signs.
 * @example
 * const digest = typedDataSignDigest({
 *   ...{ separator, contentsHash, orderType: orderTypeOf(null) },
 *   wallet: deriveDepositWallets(owner).beacon,
 *   chainId: 137,
 * });
 */
export function typedDataSignDigest(order: {
  /** Domain separator of the exchange that the order is for. */
  readonly separator: Uint8Array;
  /** Struct hash of the order. */
  readonly contentsHash: Uint8Array;
  readonly orderType: string;
  /** The deposit wallet: maker and signer of the order. */
  readonly wallet: Address;
  readonly chainId: number;
}): Uint8Array {
  const struct = concatBytes(
    hashText(DEPOSIT_SIGN_TYPE + order.orderType),
    order.contentsHash,
    hashText(DEPOSIT_DOMAIN_NAME),
    hashText(DEPOSIT_DOMAIN_VERSION),
    uint256(BigInt(order.chainId)),
    addressWord(order.wallet),
    new Uint8Array(32),
  );
  return typedDataDigest(order.separator, keccak256(struct));
}
