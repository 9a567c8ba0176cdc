/** Ed25519 verification by the platform's library; the protocol package's implementation is plain JavaScript. */
import { createPublicKey, verify } from 'node:crypto';
import { ED25519_SIGNATURE_BYTES, type VerifyEd25519 } from '@bellwether/protocol';

/** Subject public key info around a raw key (RFC 8410). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

export const nativeVerifyEd25519: VerifyEd25519 = (publicKey, message, signature) => {
  if (signature.length !== ED25519_SIGNATURE_BYTES) return false;
  try {
    const key = createPublicKey({
      key: Buffer.concat([SPKI_HEAD, publicKey]),
      format: 'der',
      type: 'spki',
    });
    return verify(null, message, key, signature);
  } catch {
    // Not a point of the curve.
    return false;
  }
};
