/**
 * The service's own signing key, for the sandbox chain. It exists only in this process's memory: never log, return or
 * store it, and never use it on a live chain.
 */
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { type SolanaAddress, toBase58 } from '@bellwether/protocol';
import type { SigningProvider } from '../signing-provider.ts';

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
