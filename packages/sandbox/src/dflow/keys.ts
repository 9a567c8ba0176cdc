/**
 * The sandbox venue's keys and addresses. All derive from the world's seed, so the database holds no secrets. Anyone
 * who knows the seed can sign for the venue; therefore this must never hold real money.
 */
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { type SolanaAddress, toBase58 } from '@bellwether/protocol';

export interface VenueSigner {
  readonly address: SolanaAddress;
  sign(message: Uint8Array): Uint8Array;
}

const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');
const KEY_BYTES = 32;

const derive = (seed: string, purpose: string): Buffer =>
  createHash('sha256').update(`bellwether venue b sandbox\n${purpose}\n${seed}`).digest();

/** An address without a private key: for mints and accounts that only programs move. */
export const keylessAddress = (seed: string, purpose: string): SolanaAddress =>
  toBase58(derive(seed, purpose)) as SolanaAddress;

export function venueSigner(seed: string, purpose: string): VenueSigner {
  const der = Buffer.concat([PKCS8_ED25519, derive(seed, purpose)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return {
    address: toBase58(spki.subarray(-KEY_BYTES)) as SolanaAddress,
    sign: (message) => sign(null, message, key),
  };
}
