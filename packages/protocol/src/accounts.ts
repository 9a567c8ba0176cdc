/**
 * EVM accounts: their addresses, the digests that they sign, and who signed one. In this package an address is always
 * the lower-case 0x text of 20 bytes, so that two of them can be compared with `===` and used as keys; the checksummed
 * spelling is for people and headers.
 */

import { secp256k1 } from '@noble/curves/secp256k1.js';
import {
  bytesToHex,
  concatBytes,
  hexToBytes,
  parseHex,
  uint256,
  utf8,
  writeHex,
  writeUint256,
} from './bytes.ts';
import { keccak256 } from './keccak.ts';

declare const brand: unique symbol;

/** Lower-case `0x` and 40 hex digits. */
export type Address = `0x${string}` & { readonly [brand]: 'Address' };

export const ADDRESS_BYTES = 20;
export const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000' as Address;

const LOWER_CASE = /^0x[0-9a-f]{40}$/;
const ANY_CASE = /^0x[0-9a-fA-F]{40}$/;

/**
 * Whether the text already has the one spelling used here.
 * @example
 * if (!isAddress(text)) throw new Error('no address');
 */
export const isAddress = (text: unknown): text is Address =>
  typeof text === 'string' && LOWER_CASE.test(text);

/**
 * The address that the text spells in any case (checksums are not checked), or `null`.
 * @example
 * parseAddress('0x00000000000000000000000000000000000A11CE'); // in lower case; null for what is no address
 */
export const parseAddress = (text: unknown): Address | null =>
  typeof text === 'string' && ANY_CASE.test(text) ? (text.toLowerCase() as Address) : null;

/**
 * @throws RangeError when the text is not an address.
 * @example
 * const owner = asAddress('0x00000000000000000000000000000000000a11ce');
 */
export function asAddress(text: string): Address {
  const address = parseAddress(text);
  if (address === null) throw new RangeError(`"${text.slice(0, 50)}" is not an EVM address`);
  return address;
}

/**
 * @throws RangeError unless there are 20 bytes.
 * @example
 * addressFromBytes(new Uint8Array(20)); // '0x0000000000000000000000000000000000000000'
 */
export function addressFromBytes(bytes: Uint8Array): Address {
  if (bytes.length !== ADDRESS_BYTES) throw new RangeError('an EVM address has 20 bytes');
  return bytesToHex(bytes) as Address;
}

/**
 * The address's 20 bytes. @throws RangeError for a text that is not an address, with any type
 * @example
 * addressToBytes(owner).length; // 20
 */
export function addressToBytes(address: Address): Uint8Array {
  const bytes = hexToBytes(address);
  if (bytes.length !== ADDRESS_BYTES) throw new RangeError('not an EVM address');
  return bytes;
}

/**
 * The EIP-55 spelling.
 * @example
 * toChecksumAddress(owner); // with the capitals of EIP-55
 */
export function toChecksumAddress(address: Address): `0x${string}` {
  const digits = address.slice(2);
  const hash = keccak256(utf8(digits));
  let text = '';
  for (let i = 0; i < digits.length; i++) {
    const byte = hash[i >> 1]!;
    const high = (i % 2 === 0 ? byte >> 4 : byte & 15) >= 8;
    text += high ? digits[i]!.toUpperCase() : digits[i]!;
  }
  return `0x${text}`;
}

/**
 * The address of an uncompressed public key: 64 bytes, or 65 that begin with 4.
 * @example
 * const address = addressOfPublicKey(publicKey); // 65 bytes, the first of them 4
 */
export function addressOfPublicKey(publicKey: Uint8Array): Address {
  const point = publicKey.length === 65 ? publicKey.subarray(1) : publicKey;
  if (point.length !== 64 || (publicKey.length === 65 && publicKey[0] !== 4))
    throw new RangeError('an uncompressed public key has 64 bytes, or 65 that begin with 4');
  return bytesToHex(keccak256(point).subarray(12)) as Address;
}

// The two hashes common to all typed data: the domain separator and the digest. Structs are encoded where they
// are defined, with fixed layouts; there is no general EIP-712 encoder here, because it would cost more per order
// than everything else together except the recovery.

export interface Eip712Domain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract?: Address;
}

const DOMAIN_WITH_CONTRACT =
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)';
const DOMAIN_WITHOUT_CONTRACT = 'EIP712Domain(string name,string version,uint256 chainId)';

/**
 * @example
 * hashText('Transfer(address,address,uint256)').length; // 32
 */
export const hashText = (text: string): Uint8Array => keccak256(utf8(text));

/**
 * @example
 * const separator = domainSeparator({ name: 'ClobAuthDomain', version: '1', chainId: 137 });
 */
export function domainSeparator(domain: Eip712Domain): Uint8Array {
  const { verifyingContract } = domain;
  const parts = [
    hashText(verifyingContract === undefined ? DOMAIN_WITHOUT_CONTRACT : DOMAIN_WITH_CONTRACT),
    hashText(domain.name),
    hashText(domain.version),
    uint256(BigInt(domain.chainId)),
  ];
  if (verifyingContract !== undefined) parts.push(addressWord(verifyingContract));
  return keccak256(concatBytes(...parts));
}

/**
 * An address as ABI encodes it: 12 zero bytes, then the 20 of the address.
 * @example
 * addressWord(owner).length; // 32
 */
export function addressWord(address: Address): Uint8Array {
  const word = new Uint8Array(32);
  word.set(addressToBytes(address), 12);
  return word;
}

/**
 * `keccak256(0x1901 ‖ separator ‖ structHash)`: what is signed.
 * @example
 * const digest = typedDataDigest(separator, contentsHash);
 */
export function typedDataDigest(separator: Uint8Array, structHash: Uint8Array): Uint8Array {
  if (separator.length !== 32 || structHash.length !== 32)
    throw new RangeError('a domain separator and a struct hash have 32 bytes each');
  const message = new Uint8Array(66);
  message[0] = 0x19;
  message[1] = 0x01;
  message.set(separator, 2);
  message.set(structHash, 34);
  return keccak256(message);
}

/**
 * Fills a fixed layout of 32-byte words, one after another, and hashes it. The buffer is reused: addresses rely on
 * the upper 12 bytes of their word never being written, so a word must keep its kind from use to use.
 */
export class StructEncoder {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #offset = 32;

  constructor(typeHash: Uint8Array, fields: number) {
    this.#bytes = new Uint8Array(32 * (fields + 1));
    this.#bytes.set(typeHash);
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** Starts over after the type hash, also after a value that was refused half-way. */
  begin(): this {
    this.#offset = 32;
    return this;
  }

  uint(value: bigint): this {
    writeUint256(this.#view, this.#offset, value);
    this.#offset += 32;
    return this;
  }

  /** A uint8; only its last byte is ever written. */
  small(value: number): this {
    this.#bytes[this.#offset + 31] = value;
    this.#offset += 32;
    return this;
  }

  address(value: Address): this {
    if (value.length !== 2 + 2 * ADDRESS_BYTES || !writeHex(this.#bytes, this.#offset + 12, value))
      throw new RangeError('not an EVM address');
    this.#offset += 32;
    return this;
  }

  bytes32(value: Uint8Array): this {
    if (value.length !== 32) throw new RangeError('a bytes32 has 32 bytes');
    this.#bytes.set(value, this.#offset);
    this.#offset += 32;
    return this;
  }

  hash(): Uint8Array {
    if (this.#offset !== this.#bytes.length) throw new RangeError('the struct is not complete');
    return keccak256(this.#bytes);
  }
}

// EIP-191: what an account signs when a wallet is asked for a "personal" signature over a text or over bytes.

/**
 * 32 bytes; the length in the prefix counts UTF-8 bytes.
 * @example
 * const signature = signDigest(personalMessageDigest('I own this wallet.'), secretKey);
 */
export function personalMessageDigest(message: string | Uint8Array): Uint8Array {
  const body = typeof message === 'string' ? utf8(message) : message;
  return keccak256(concatBytes(utf8(`\x19Ethereum Signed Message:\n${body.length}`), body));
}

// Who signed a digest. The caller passes the curve arithmetic as a function: native code is about twenty times faster
// than JavaScript, and this package must not depend on native code. Malleable forms are refused before it is called.

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

const refuseSignature = (reason: SignatureFault): RefusedSignature => ({ ok: false, reason });

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
  if (bytes === null) return refuseSignature('not_hex');
  if (bytes.length !== SIGNATURE_BYTES) return refuseSignature('wrong_length');
  if (isZeroWord(bytes, 0)) return refuseSignature('zero_r');
  if (isZeroWord(bytes, 32)) return refuseSignature('zero_s');
  if (compareWord(bytes, 0, CURVE_ORDER) >= 0) return refuseSignature('r_out_of_range');
  if (compareWord(bytes, 32, HALF_CURVE_ORDER) > 0) return refuseSignature('high_s');
  const recovery = recoveryOf(bytes[64]!);
  if (recovery === null) return refuseSignature('bad_recovery_id');
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
    ? refuseSignature('not_recoverable')
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
