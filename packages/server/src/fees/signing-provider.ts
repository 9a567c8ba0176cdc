/** Signs for the platform: with the service's own key, or through a custodian, which may refuse. */
import type { SolanaAddress } from '@bellwether/protocol';

export type SigningAnswer =
  | {
      readonly kind: 'signed';
      /** The provider's id of the signature request. */
      readonly id: string;
      /** 64 bytes, verified against `address` and the message. */
      readonly signature: Uint8Array;
    }
  | { readonly kind: 'blocked_by_policy'; readonly id: string | null; readonly detail: string }
  /** Proof that there is no signature, or no usable one. */
  | { readonly kind: 'failed'; readonly id: string | null; readonly detail: string };

export interface SigningProvider {
  readonly kind: 'local' | 'fireblocks';
  /** The key that signs: delegate and fee payer. */
  readonly address: SolanaAddress;
  /** Never throws. */
  sign(request: {
    /** The whole Solana message. */
    readonly message: Uint8Array;
    /** The unsigned transaction that contains the message. */
    readonly wire: Uint8Array;
    /** The desk's id, unique per attempt: a repeat returns the first request. */
    readonly externalId: string;
    readonly note: string;
    /** Epoch milliseconds after which the signature is useless. */
    readonly deadline: number;
  }): Promise<SigningAnswer>;
}
