/**
 * EVM addresses. In this package an address is always the lower-case 0x text of 20 bytes, so that two
 * of them can be compared with `===` and used as keys; the checksummed spelling is for people and headers.
 */

import { bytesToHex, hexToBytes, utf8 } from './bytes.ts';
import { keccak256 } from './keccak.ts';

declare const brand: unique symbol;

/** Lower-case `0x` and 40 hex digits. */
export type Address = `0x${string}` & { readonly [brand]: 'Address' };

export const ADDRESS_BYTES = 20;
export const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000' as Address;

const LOWER = /^0x[0-9a-f]{40}$/;
const ANY_CASE = /^0x[0-9a-fA-F]{40}$/;

/**
 * Whether the text already has the one spelling used here.
 * @example
 * if (!isAddress(text)) throw new Error('no address');
 */
export const isAddress = (text: unknown): text is Address => typeof text === 'string' && LOWER.test(text);

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
