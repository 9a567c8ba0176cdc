/** Signer recovery: native if the addon loads, else in plain JavaScript, about twenty times slower. The service reports which. */
import { nobleRecover, type RecoverPublicKey } from '@bellwether/protocol';
import { loadNativeRecover } from './native-recover.ts';

export function loadRecover(): { readonly recover: RecoverPublicKey; readonly how: 'native' | 'javascript' } {
  const native = loadNativeRecover();
  return native === null ? { recover: nobleRecover, how: 'javascript' } : { recover: native, how: 'native' };
}
