/** Randomness and keys. A sealed text can be opened only for the row that it was sealed for. */
export interface Sealed {
  readonly keyId: number;
  /** nonce ‖ tag ‖ cipher text */
  readonly bytes: Uint8Array;
}

export interface Secrets {
  /** 64 characters: `bw_`, 55 random, 6 of checksum. */
  newApiKey(): string;
  /** Whether a text has the form and the checksum of a key: checked before the database is queried. */
  isWellFormed(apiKey: string): boolean;
  /** Keyed hash: the stored form of a key. */
  hash(secret: string): Uint8Array;
  /** A digest that stands for a key in this process's memory. Cheaper than `hash`, and not for storing. */
  nameOf(secret: string): string;
  newClaimCode(): string;
  /** 32 random bytes as base64url. */
  newToken(): string;
  /** UUID version 7. */
  newId(): string;
  /** @param row identity of the row, bound to the cipher text */
  seal(plain: string, row: string): Sealed;
  /** @throws when the row differs, or the bytes were changed */
  open(sealed: Sealed, row: string): string;
}
