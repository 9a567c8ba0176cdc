/** Whoever signs for the platform: a key of the service's own, or a custodian who may refuse. */
import type { SolanaAddress } from '@bellwether/protocol';

export type SigningAnswer =
  | {
      readonly kind: 'signed';
      /** The provider's id of it. */
      readonly id: string;
      /** 64 bytes, verified against `address` and the message. */
      readonly signature: Uint8Array;
    }
  | { readonly kind: 'blocked_by_policy'; readonly id: string | null; readonly detail: string }
  /** Proof that there is no signature, or none that anybody can still use. */
  | { readonly kind: 'failed'; readonly id: string | null; readonly detail: string };

export interface SigningProvider {
  readonly kind: 'local' | 'fireblocks';
  /** The key that signs: delegate and fee payer. */
  readonly address: SolanaAddress;
  /** Never throws. */
  sign(request: {
    /** The whole Solana message. */
    readonly message: Uint8Array;
    /** The transaction around it, unsigned. */
    readonly wire: Uint8Array;
    /** Ours, unique per attempt: a repeat finds the first. */
    readonly externalId: string;
    readonly note: string;
    /** Epoch milliseconds after which nobody needs the signature any more. */
    readonly deadline: number;
  }): Promise<SigningAnswer>;
}
