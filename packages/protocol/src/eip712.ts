/**
 * The two hashes common to all typed data: the domain separator and the digest. Structs are encoded where they
 * are defined, with fixed layouts; there is no general EIP-712 encoder here, because it would cost more per order
 * than everything else together except the recovery.
 */

import { ADDRESS_BYTES, type Address, addressToBytes } from './address.ts';
import { concatBytes, uint256, utf8, writeHex, writeUint256 } from './bytes.ts';
import { keccak256 } from './keccak.ts';

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
