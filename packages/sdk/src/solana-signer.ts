/**
 * The agent's Solana key, kept as `Signer` keeps the EVM one: in a closure, shown by its address alone, with no way to
 * get it back out. It signs every transaction that it receives: pass it only what `venueB.verify` accepted.
 */
import {
  equalBytes,
  parseBase58,
  readTransaction,
  type SolanaAddress,
  signEd25519,
  solanaAddressOf,
  toBase58,
  utf8,
  withSignature,
} from '@bellwether/protocol';
import { INSPECT } from './inspect.ts';
import type { KeyUse } from './key-use.ts';
import { NEED, needValue } from './usage-error.ts';

/** The input is not a Solana key. The error does not contain the input. */
export class InvalidSolanaKey extends Error {
  override readonly name = 'InvalidSolanaKey';
  constructor() {
    super(
      'A Solana secret key is 32 bytes, or 64 of which the last 32 are its address; as bytes, base58 or a JSON array.',
    );
  }
}

const SECRET_BYTES = 32;
const KEY_FILE_BYTES = 64;

/** The bytes of a key in any of its spellings; otherwise `null`. */
function keyBytes(key: string | Uint8Array): Uint8Array | null {
  if (typeof key !== 'string') return key instanceof Uint8Array ? key : null;
  if (!key.trimStart().startsWith('[')) return parseBase58(key);
  try {
    const numbers: unknown = JSON.parse(key);
    const isByte = (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 256;
    return Array.isArray(numbers) && numbers.every(isByte) ? Uint8Array.from(numbers) : null;
  } catch {
    return null;
  }
}

export class SolanaSigner {
  /** Base58; case matters. */
  readonly address: SolanaAddress;
  readonly #use: KeyUse | null;
  readonly #sign: (bytes: Uint8Array) => Uint8Array;

  private constructor(secret: Uint8Array, use: KeyUse | null) {
    this.address = solanaAddressOf(secret);
    this.#use = use;
    this.#sign = (bytes) => signEd25519(secret, bytes);
  }

  /**
   * @param key 32 or 64 bytes, as such, in base58 (wallets export it so) or as the JSON array of a key file
   * @param options.use `paper` for a key that holds paper money alone
   * @throws InvalidSolanaKey, which does not quote the key
   */
  static fromSecretKey(
    key: string | Uint8Array,
    options: { readonly use?: KeyUse | undefined } = {},
  ): SolanaSigner {
    const bytes = keyBytes(key);
    if (bytes?.length !== SECRET_BYTES && bytes?.length !== KEY_FILE_BYTES) throw new InvalidSolanaKey();
    const signer = new SolanaSigner(bytes.slice(0, SECRET_BYTES), options.use ?? null);
    // A damaged key would sign, but for a wrong address.
    const address = parseBase58(signer.address)!;
    if (bytes.length === KEY_FILE_BYTES && !equalBytes(bytes.subarray(SECRET_BYTES), address))
      throw new InvalidSolanaKey();
    return signer;
  }

  /** A new random key, lost with this object: for trials and paper trading, and marked so. */
  static generate(): SolanaSigner {
    return new SolanaSigner(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)), 'paper');
  }

  /** Signs a text, as the service's link challenge asks for; base58. */
  signMessage(message: string): string {
    needValue('signMessage', 'message', message, NEED.text('the text to sign'));
    return toBase58(this.#sign(utf8(message)));
  }

  /**
   * The same transaction with this key's signature in it.
   * @throws MalformedTransaction, RangeError when this key has nothing to sign in it
   */
  signTransaction(wire: Uint8Array): Uint8Array {
    needValue('signTransaction', 'wire', wire, NEED.bytes);
    return withSignature(wire, this.address, this.#sign(readTransaction(wire).message));
  }

  /** The purpose of the key; `null`: not said, so every check of a live venue applies. */
  get use(): KeyUse | null {
    return this.#use;
  }

  toJSON(): { readonly address: SolanaAddress } {
    return { address: this.address };
  }

  toString(): string {
    return `SolanaSigner(${this.address})`;
  }

  [INSPECT](): string {
    return this.toString();
  }
}
