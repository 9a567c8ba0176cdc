/**
 * The agent's signing key. It lives in a closure, so that nothing prints it: inspected, stringified or as part of an
 * error, this object shows only its address. It signs 32-byte digests that the protocol
 * package makes; there is no way to get the key back out.
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
  hexToBytes,
  newSecretKey,
  POLYGON_CHAIN_ID,
  personalMessageDigest,
  type SignatureType,
  signDigest,
  toChecksumAddress,
} from '@bellwether/protocol';
import { INSPECT } from './inspect.ts';
import type { KeyUse } from './key-use.ts';
import { NEED, needOptions, needValue } from './usage-error.ts';

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
