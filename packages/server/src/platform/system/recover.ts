/** Signer recovery: native if the addon loads, else in plain JavaScript, about twenty times slower. The service reports which. */
import { createRequire } from 'node:module';
import { nobleRecover, type RecoverPublicKey } from '@bellwether/protocol';

interface NativeSecp256k1 {
  ecdsaRecover(signature: Uint8Array, recovery: number, digest: Uint8Array, compressed: boolean): Uint8Array;
}

export function loadRecover(): { readonly recover: RecoverPublicKey; readonly how: 'native' | 'javascript' } {
  let native: NativeSecp256k1;
  try {
    // The package's own entry point would fall back to JavaScript silently.
    native = createRequire(import.meta.url)('secp256k1/bindings');
  } catch {
    return { recover: nobleRecover, how: 'javascript' };
  }
  const recover: RecoverPublicKey = (digest, rs64, recovery) => {
    try {
      return native.ecdsaRecover(rs64, recovery, digest, false);
    } catch {
      // The addon throws when no public key gives the signature.
      return null;
    }
  };
  return { recover, how: 'native' };
}
