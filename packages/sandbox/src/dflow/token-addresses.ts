/** Addresses of associated token accounts. Deriving one costs half a millisecond of hashing, so they are cached. */
import { associatedTokenAddress, SOLANA_PROGRAMS, type SolanaAddress, USDC_MINT } from '@bellwether/protocol';

/** About 200 bytes each. */
const ADDRESSES_KEPT = 20_000;

const known = new Map<string, SolanaAddress>();

/** USDC belongs to the classic token program, every outcome token to Token-2022. */
export const tokenProgramOf = (mint: SolanaAddress): SolanaAddress =>
  mint === USDC_MINT ? SOLANA_PROGRAMS.token : SOLANA_PROGRAMS.token2022;

export function tokenAccountOf(owner: SolanaAddress, mint: SolanaAddress): SolanaAddress {
  const key = `${owner} ${mint}`;
  let address = known.get(key);
  if (address === undefined) {
    address = associatedTokenAddress(owner, mint, tokenProgramOf(mint));
    if (known.size >= ADDRESSES_KEPT) known.clear();
    known.set(key, address);
  }
  return address;
}
