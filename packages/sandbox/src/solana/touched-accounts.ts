/** The accounts that a transaction names, and whether it changed one of them. */
import { isWritable, type SolanaTransaction } from '@bellwether/protocol';
import type { ChainAccount, LoadedAddresses } from './types.ts';

/** Static ones first, then what is loaded: the order of a message's indices. */
export const addressesOf = (tx: SolanaTransaction, loaded: LoadedAddresses): string[] => [
  ...tx.accountKeys,
  ...loaded.writable,
  ...loaded.readonly,
];

export const writableOf = (tx: SolanaTransaction, loaded: LoadedAddresses): string[] => [
  ...tx.accountKeys.filter((_, index) => isWritable(tx, index)),
  ...loaded.writable,
];

export function isSame(a: ChainAccount | null, b: ChainAccount | null): boolean {
  if (a === null || b === null) return a === b;
  return a.lamports === b.lamports && a.owner === b.owner && Buffer.from(a.data).equals(b.data);
}
