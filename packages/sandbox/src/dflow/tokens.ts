/**
 * The sandbox venue's keys, addresses, mints and token accounts. All keys derive from the world's seed, so the database
 * holds no secrets. Anyone who knows the seed can sign for the venue; therefore this must never hold real money.
 */
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import {
  associatedTokenAddress,
  parseBase58,
  SOLANA_PROGRAMS,
  type SolanaAddress,
  toBase58,
  USDC_MINT,
} from '@bellwether/protocol';

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

// Addresses of associated token accounts. Deriving one costs half a millisecond of hashing, so they are cached.

/** About 200 bytes each. */
const ADDRESSES_KEPT = 20_000;

const knownAddresses = new Map<string, SolanaAddress>();

/** USDC belongs to the classic token program, every outcome token to Token-2022. */
export const tokenProgramOf = (mint: SolanaAddress): SolanaAddress =>
  mint === USDC_MINT ? SOLANA_PROGRAMS.token : SOLANA_PROGRAMS.token2022;

export function tokenAccountOf(owner: SolanaAddress, mint: SolanaAddress): SolanaAddress {
  const key = `${owner} ${mint}`;
  let address = knownAddresses.get(key);
  if (address === undefined) {
    address = associatedTokenAddress(owner, mint, tokenProgramOf(mint));
    if (knownAddresses.size >= ADDRESSES_KEPT) knownAddresses.clear();
    knownAddresses.set(key, address);
  }
  return address;
}

// Creates and reads mints and token accounts as bytes. Both token programs share this base layout.

const MINT_BYTES = 82;
const TOKEN_ACCOUNT_BYTES = 165;
export const DECIMALS = 6;

const OPTION_BYTES = 4;
const SUPPLY_AT = OPTION_BYTES + KEY_BYTES;
const AMOUNT_AT = 2 * KEY_BYTES;
const STATE_AT = 108;
const INITIALIZED = 1;

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** @param authority may mint; `null`: the supply is fixed */
export function mintBytes(supply: bigint, authority: SolanaAddress | null): Uint8Array {
  const bytes = new Uint8Array(MINT_BYTES);
  if (authority !== null) {
    view(bytes).setUint32(0, 1, true);
    bytes.set(parseBase58(authority)!, OPTION_BYTES);
  }
  view(bytes).setBigUint64(SUPPLY_AT, supply, true);
  bytes[SUPPLY_AT + 8] = DECIMALS;
  bytes[SUPPLY_AT + 9] = INITIALIZED;
  return bytes;
}

export function tokenAccountBytes(mint: SolanaAddress, owner: SolanaAddress, amount: bigint): Uint8Array {
  const bytes = new Uint8Array(TOKEN_ACCOUNT_BYTES);
  bytes.set(parseBase58(mint)!, 0);
  bytes.set(parseBase58(owner)!, KEY_BYTES);
  view(bytes).setBigUint64(AMOUNT_AT, amount, true);
  bytes[STATE_AT] = INITIALIZED;
  return bytes;
}

export const amountOf = (account: Uint8Array): bigint => view(account).getBigUint64(AMOUNT_AT, true);
