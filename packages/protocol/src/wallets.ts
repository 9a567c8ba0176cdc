/**
 * The contract wallets that an externally owned account controls. The venue's factories place them with CREATE2, so
 * each address follows from the owner's alone and can be checked without asking the chain. Constants and vectors:
 * wire reference 5.4 and 5.5.
 */
import {
  type Address,
  addressFromBytes,
  addressToBytes,
  addressWord,
  hashText,
  SIGNATURE_BYTES,
  typedDataDigest,
} from './accounts.ts';
import { bytesToHex, concatBytes, hexToBytes, parseHex, uint256, utf8 } from './bytes.ts';
import { keccak256 } from './keccak.ts';
import { ORDER_TYPE, POLYMARKET_ORDER_TYPE, type SignatureType } from './order.ts';

export const PROXY_FACTORY = '0xab45c5a4b0c941a2f231c04c3f49182e1a254052' as Address;
export const SAFE_FACTORY = '0xaacfeea03eb1561c4e67d661e40682bd20e3541b' as Address;
export const DEPOSIT_FACTORY = '0x00000000000fb5c9adea0298d729a0cb3823cc07' as Address;
/** The implementation of deposit wallets made since about 2026-06-29. */
export const DEPOSIT_BEACON = '0x7a18edfe055488a3128f01f563e5b479d92ffc3a' as Address;
/** The implementation of older deposit wallets. */
export const DEPOSIT_UUPS_IMPLEMENTATION = '0x58ca52ebe0dadfdf531cde7062e76746de4db1eb' as Address;

const PROXY_INIT_CODE_HASH = '0xd21df8dc65880a8606f09fe0ce3df9b8869287ab0b058be05aa9e8af6330a00b';
const SAFE_INIT_CODE_HASH = '0x2bce2127ff07fb632d16c8347c4ebf501f4841168bed00d9e6ef715ddb6fcecf';

// Solady's ERC-1967 clones with 64 bytes of immutable arguments; the length (0x40) is already in the prefixes.
const BEACON_PREFIX = '6100923d8160233d3973';
const BEACON_SUFFIX =
  '60195155f3363d3d373d3d363d602036600436635c60da' +
  '1b60e01b36527fa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6c' +
  'b3582b35133d50545afa5036515af43d6000803e604d573d6000fd5b3d6000f3';
const UUPS_PREFIX = '61007d3d8160233d3973';
const UUPS_SUFFIX =
  '60095155f3363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076' +
  'cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3';

function create2(factory: Address, salt: Uint8Array, initCodeHash: Uint8Array): Address {
  const hash = keccak256(concatBytes(Uint8Array.of(0xff), addressToBytes(factory), salt, initCodeHash));
  return addressFromBytes(hash.subarray(12));
}

/**
 * The proxy wallet of type 1.
 * @example
 * const proxy = deriveProxyWallet(owner);
 */
export const deriveProxyWallet = (eoa: Address): Address =>
  create2(PROXY_FACTORY, keccak256(addressToBytes(eoa)), hexToBytes(PROXY_INIT_CODE_HASH));

/**
 * The Safe wallet of type 2.
 * @example
 * const safe = deriveSafeWallet(owner);
 */
export const deriveSafeWallet = (eoa: Address): Address =>
  create2(SAFE_FACTORY, keccak256(addressWord(eoa)), hexToBytes(SAFE_INIT_CODE_HASH));

export interface DepositWallets {
  readonly beacon: Address;
  readonly uups: Address;
}

/**
 * Both deposit wallets of type 3. The account's age decides which one it has; new ones are `beacon`.
 * @example
 * const { beacon, uups } = deriveDepositWallets(owner);
 */
export function deriveDepositWallets(eoa: Address): DepositWallets {
  const args = concatBytes(addressWord(DEPOSIT_FACTORY), addressWord(eoa));
  const salt = keccak256(args);
  const place = (prefix: string, target: Address, suffix: string): Address =>
    create2(
      DEPOSIT_FACTORY,
      salt,
      keccak256(concatBytes(hexToBytes(prefix), addressToBytes(target), hexToBytes(suffix), args)),
    );
  return {
    beacon: place(BEACON_PREFIX, DEPOSIT_BEACON, BEACON_SUFFIX),
    uups: place(UUPS_PREFIX, DEPOSIT_UUPS_IMPLEMENTATION, UUPS_SUFFIX),
  };
}

export interface WalletKinds {
  readonly eoa: Address;
  readonly proxy: Address;
  readonly safe: Address;
  readonly deposit: DepositWallets;
}

/**
 * @example
 * const { proxy, safe, deposit } = walletKindsOf(owner);
 */
export const walletKindsOf = (eoa: Address): WalletKinds => ({
  eoa,
  proxy: deriveProxyWallet(eoa),
  safe: deriveSafeWallet(eoa),
  deposit: deriveDepositWallets(eoa),
});

/**
 * Which signature type goes with `wallet` for this owner, or `null` when the wallet is not the owner's.
 * @example
 * signatureTypeOf(owner, deriveSafeWallet(owner)); // 2; null: not a wallet of this key
 */
export function signatureTypeOf(eoa: Address, wallet: Address): SignatureType | null {
  if (wallet === eoa) return 0;
  if (wallet === deriveProxyWallet(eoa)) return 1;
  if (wallet === deriveSafeWallet(eoa)) return 2;
  return ownsDepositWallet(eoa, wallet) ? 3 : null;
}

/**
 * Whether `eoa` may sign for `wallet` with this signature type. Cheaper than `signatureTypeOf`: one derivation.
 * @example
 * controlsWallet(owner, 1, deriveProxyWallet(owner)); // true
 */
export function controlsWallet(eoa: Address, type: SignatureType, wallet: Address): boolean {
  switch (type) {
    case 0:
      return wallet === eoa;
    case 1:
      return wallet === deriveProxyWallet(eoa);
    case 2:
      return wallet === deriveSafeWallet(eoa);
    case 3:
      return ownsDepositWallet(eoa, wallet);
  }
}

function ownsDepositWallet(eoa: Address, wallet: Address): boolean {
  const { beacon, uups } = deriveDepositWallets(eoa);
  return wallet === beacon || wallet === uups;
}

// ERC-7739 signatures of deposit wallets (type 3). The owner does not sign the order's digest but a `TypedDataSign`
// around it that names the wallet, so that a signature for one wallet cannot serve another; the 65 bytes then travel
// with what a contract needs to rebuild that message. Layout: inner signature (65), the exchange's domain separator
// (32), the order's struct hash (32), the order's type text, and its length as a big-endian uint16.
//
// The order id stays the plain digest of the order, not the digest that was signed.

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
