/** Creates and reads mints and token accounts as bytes. Both token programs share this base layout. */
import { parseBase58, type SolanaAddress } from '@bellwether/protocol';

const MINT_BYTES = 82;
const TOKEN_ACCOUNT_BYTES = 165;
export const DECIMALS = 6;

const OPTION_BYTES = 4;
const KEY_BYTES = 32;
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
