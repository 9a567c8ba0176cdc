import { secp256k1 } from '@noble/curves/secp256k1.js';

/** A deterministic (RFC 6979) 65-byte signature with v 27 or 28, made by noble alone. */
export function signDigest(digest: Uint8Array, key: Uint8Array): Uint8Array {
  const recovered = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' });
  const signature = new Uint8Array(65);
  signature.set(recovered.subarray(1));
  signature[64] = 27 + recovered[0]!;
  return signature;
}
