/** Signs for the platform: with the service's own key, or through a custodian, which may refuse. */

import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { type SolanaAddress, toBase58 } from '@bellwether/protocol';

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

// The service's own signing key, for the sandbox chain. It exists only in this process's memory: never log, return or
// store it, and never use it on a live chain.

const SECRET_BYTES = 32;
/** PKCS #8 around an Ed25519 secret (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** @param secret 32 bytes @throws RangeError when it has another length */
export function createLocalSigning(secret: Uint8Array): SigningProvider {
  if (secret.length !== SECRET_BYTES) throw new RangeError('an Ed25519 secret has 32 bytes');
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8_HEAD, secret]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url');
  return {
    kind: 'local',
    address: toBase58(publicKey) as SolanaAddress,
    async sign({ message, externalId }) {
      return { kind: 'signed', id: externalId, signature: new Uint8Array(sign(null, message, key)) };
    },
  };
}
