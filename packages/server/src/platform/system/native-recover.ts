/** Signer recovery by the native addon, without anything else that would take time to load. */
import { createRequire } from 'node:module';
import type { RecoverPublicKey } from '@bellwether/protocol';

interface NativeSecp256k1 {
  ecdsaRecover(signature: Uint8Array, recovery: number, digest: Uint8Array, compressed: boolean): Uint8Array;
}

/** @returns `null` where the addon does not load. Its own entry point would fall back to JavaScript silently. */
export function loadNativeRecover(): RecoverPublicKey | null {
  let native: NativeSecp256k1;
  try {
    native = createRequire(import.meta.url)('secp256k1/bindings');
  } catch {
    return null;
  }
  return (digest, rs64, recovery) => {
    try {
      return native.ecdsaRecover(rs64, recovery, digest, false);
    } catch {
      // The addon throws when no public key gives the signature.
      return null;
    }
  };
}
