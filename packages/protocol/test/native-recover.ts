/** libsecp256k1 through its addon, as the service uses it. Only tests of this package may import it. */
import { createRequire } from 'node:module';
import type { RecoverPublicKey } from '@bellwether/protocol';

interface Bindings {
  ecdsaRecover(rs: Uint8Array, recovery: number, digest: Uint8Array, compressed: boolean): Uint8Array;
}

export function loadNativeRecover(): RecoverPublicKey {
  // `bindings.js`, never the package's entry: that falls back to plain JavaScript silently.
  const bindings = createRequire(import.meta.url)('secp256k1/bindings.js') as Bindings;
  return (digest, rs64, recovery) => {
    try {
      return bindings.ecdsaRecover(rs64, recovery, digest, false);
    } catch {
      return null;
    }
  };
}
