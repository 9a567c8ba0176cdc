/**
 * The agent's signing keys, for the venue's orders and for Solana. Each lives in a closure, so that nothing prints it:
 * inspected, stringified or as part of an error, its object shows only the address, and there is no way to get the key
 * back out.
 */
import {
  type Address,
  addressOfSecretKey,
  asAddress,
  bytesToHex,
  clobAuthDigest,
  deriveDepositWallets,
  deriveProxyWallet,
  deriveSafeWallet,
  equalBytes,
  hexToBytes,
  newSecretKey,
  POLYGON_CHAIN_ID,
  parseBase58,
  personalMessageDigest,
  readTransaction,
  type SignatureType,
  type SolanaAddress,
  signDigest,
  signEd25519,
  solanaAddressOf,
  toBase58,
  toChecksumAddress,
  utf8,
  withSignature,
} from '@bellwether/protocol';
import { INSPECT, NEED, needOptions, needValue } from './errors.ts';

/**
 * The purpose of a key. A key for paper holds nothing that is worth anything, so it may believe a desk where a key for a live
 * venue may not; a key signs only for the one that it was made for.
 */
export type KeyUse = 'paper' | 'live';

// The key of orders and of messages signs 32-byte digests that the protocol package makes.

type SignDigest = (digest: Uint8Array) => Promise<`0x${string}`>;

/** An account of another library that signs 32-byte digests; viem's local accounts are ones. */
export interface LocalAccount {
  readonly address: string;
  readonly sign?: ((digest: { readonly hash: `0x${string}` }) => Promise<`0x${string}`>) | undefined;
}

/** Which deposit wallet an account has: `beacon` since about 2026-06-29, `uups` before. */
export type DepositKind = 'beacon' | 'uups';

/** The venue's headers by which an account proves itself. */
export interface ClobAuthHeaders {
  readonly POLY_ADDRESS: string;
  readonly POLY_SIGNATURE: string;
  readonly POLY_TIMESTAMP: string;
  readonly POLY_NONCE: string;
}

/** The text is not a private key. The error does not contain the text. */
export class InvalidPrivateKey extends Error {
  override readonly name = 'InvalidPrivateKey';
  constructor() {
    super('A private key is 0x and 64 hex digits, neither zero nor beyond the order of the curve.');
  }
}

const PRIVATE_KEY = /^0x[0-9a-fA-F]{64}$/;

export class Signer {
  /** Lower case. */
  readonly address: Address;
  readonly #use: KeyUse | null;
  readonly #sign: SignDigest;

  private constructor(address: string, sign: SignDigest, use: KeyUse | null) {
    this.address = asAddress(address);
    this.#use = use;
    this.#sign = sign;
  }

  /**
   * @param options.use `paper` for a key that holds paper money alone
   * @throws InvalidPrivateKey, which does not quote the key.
   */
  static fromPrivateKey(privateKey: string, options: { readonly use?: KeyUse | undefined } = {}): Signer {
    if (typeof privateKey !== 'string') throw new InvalidPrivateKey();
    const hex = privateKey.startsWith('0x') ? privateKey : `0x${privateKey}`;
    if (!PRIVATE_KEY.test(hex)) throw new InvalidPrivateKey();
    const secret = hexToBytes(hex);
    let address: Address;
    try {
      address = addressOfSecretKey(secret);
    } catch {
      // The library's message may quote its input.
      throw new InvalidPrivateKey();
    }
    return new Signer(address, async (digest) => bytesToHex(signDigest(digest, secret)), options.use ?? null);
  }

  /** A new random key, lost with this object: for trials and paper trading, and marked so. */
  static generate(): Signer {
    return Signer.fromPrivateKey(bytesToHex(newSecretKey()), { use: 'paper' });
  }

  /** Signs with an account that holds its key locally, such as viem's from a mnemonic. */
  static fromAccount(account: LocalAccount, options: { readonly use?: KeyUse | undefined } = {}): Signer {
    needOptions('Signer.fromAccount', account, {
      address: NEED.text('the address of the account'),
      sign: { what: 'an account whose key is here', fits: (value) => typeof value === 'function' },
    });
    const sign = account.sign as NonNullable<LocalAccount['sign']>;
    return new Signer(account.address, (digest) => sign({ hash: bytesToHex(digest) }), options.use ?? null);
  }

  /** The wallet that this key controls: itself, its proxy wallet, its Safe or its deposit wallet. */
  wallet(type: SignatureType, deposit: DepositKind = 'beacon'): Address {
    switch (type) {
      case 0:
        return this.address;
      case 1:
        return deriveProxyWallet(this.address);
      case 2:
        return deriveSafeWallet(this.address);
      case 3:
        return deriveDepositWallets(this.address)[deposit];
    }
  }

  /** 65 bytes as hex: r, s (low) and v of 27 or 28. */
  async signDigest(digest: Uint8Array): Promise<`0x${string}`> {
    needValue('signDigest', 'digest', digest, NEED.bytes);
    return this.#sign(digest);
  }

  /** Signs a text as EIP-191 personal_sign does; what the service's link challenge asks for. */
  async signMessage(message: string): Promise<`0x${string}`> {
    needValue('signMessage', 'message', message, NEED.text('the text to sign'));
    return this.signDigest(personalMessageDigest(message));
  }

  /** Signs the venue's challenge (first level of authentication). */
  async clobAuth(
    options: { readonly timestampS?: number; readonly nonce?: number; readonly chainId?: number } = {},
  ): Promise<ClobAuthHeaders> {
    const {
      timestampS = Math.floor(Date.now() / 1000),
      nonce = 0,
      chainId = POLYGON_CHAIN_ID,
    } = options ?? {};
    const timestamp = String(timestampS);
    const digest = clobAuthDigest({
      address: this.address,
      timestamp,
      nonce: BigInt(nonce),
      chainId,
    });
    return {
      POLY_ADDRESS: toChecksumAddress(this.address),
      POLY_SIGNATURE: await this.signDigest(digest),
      POLY_TIMESTAMP: timestamp,
      POLY_NONCE: String(nonce),
    };
  }

  /** The purpose of the key; `null`: not said, so every check of a live venue applies. */
  get use(): KeyUse | null {
    return this.#use;
  }

  toJSON(): { readonly address: Address } {
    return { address: this.address };
  }

  toString(): string {
    return `Signer(${this.address})`;
  }

  [INSPECT](): string {
    return this.toString();
  }
}

// The Solana key signs every transaction that it receives: pass it only what `venueB.verify` accepted.

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
