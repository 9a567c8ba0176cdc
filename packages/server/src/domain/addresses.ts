/** Addresses of wallets. Each venue names the address family that it uses. Pure. */
import {
  type Address,
  isAddress,
  parseAddress,
  parseSolanaAddress,
  type SolanaAddress,
} from '@bellwether/protocol';

export type WalletAddress = Address | SolanaAddress;

/** `evm`: 0x and 40 hex digits. `solana`: base58 of 32 bytes. */
export type AddressFamily = 'evm' | 'solana';

export const ADDRESS_FAMILIES = ['evm', 'solana'] as const satisfies readonly AddressFamily[];

export const familyOf = (wallet: WalletAddress): AddressFamily => (isAddress(wallet) ? 'evm' : 'solana');

export const isSolana = (wallet: WalletAddress): wallet is SolanaAddress => familyOf(wallet) === 'solana';

/** Reads an address of a request; `null` when it belongs to no family. */
export const parseWallet = (text: string): WalletAddress | null =>
  parseAddress(text) ?? parseSolanaAddress(text);
