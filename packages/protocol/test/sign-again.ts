/** A second valid signature of a Solana message by the same key, for tests of what counts as the same transaction. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { readTransaction } from '../src/index.ts';

const KEY_BYTES = 32;
/** Any number works: deriving the nonce from key and message is only a convention. */
const NONCE = 7n;

/** The transaction of one signer, its message unchanged, under a signature of another nonce. */
export function signedAgain(wire: Uint8Array, secretKey: Uint8Array): Uint8Array {
  const { message } = readTransaction(wire);
  const { Point, utils } = ed25519;
  const { scalar, pointBytes } = utils.getExtendedPublicKey(secretKey);
  const r = Point.BASE.multiply(NONCE).toBytes();
  const challenge = numberOf(sha512(Uint8Array.of(...r, ...pointBytes, ...message)));
  const s = Point.Fn.create(NONCE + challenge * scalar);
  const signature = Uint8Array.of(...r, ...bytesOf(s));
  if (!ed25519.verify(signature, message, pointBytes)) throw new Error('the second signature is not valid');
  return Uint8Array.of(1, ...signature, ...message);
}

const numberOf = (littleEndian: Uint8Array): bigint =>
  BigInt(`0x${Buffer.from(littleEndian).reverse().toString('hex')}`);
const bytesOf = (number: bigint): Uint8Array =>
  Buffer.from(number.toString(16).padStart(2 * KEY_BYTES, '0'), 'hex').reverse();
