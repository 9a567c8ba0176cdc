/** Randomness and keys. What it seals can only be opened for the row it was sealed for. */
export interface Sealed {
  readonly keyId: number;
  /** nonce ‖ tag ‖ cipher text */
  readonly bytes: Uint8Array;
}

export interface Secrets {
  /** 64 characters: `bw_`, 55 random, 6 of checksum. */
  newApiKey(): string;
  /** Whether a text has the form and the checksum of a key: asked before the database is. */
  isWellFormed(apiKey: string): boolean;
  /** Keyed hash: what is stored of a key. */
  hash(secret: string): Uint8Array;
  newClaimCode(): string;
  /** 32 random bytes as base64url. */
  newToken(): string;
  /** UUID version 7. */
  newId(): string;
  /** @param row identity of the row, bound to the cipher text */
  seal(plain: string, row: string): Sealed;
  /** @throws when the row is another, or the bytes were changed */
  open(sealed: Sealed, row: string): string;
}
