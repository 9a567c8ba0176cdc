/**
 * The contract wallets that an externally owned account controls. The venue's factories place them with CREATE2, so
 * each address follows from the owner's alone and can be checked without asking the chain. Constants and vectors:
 * wire reference 5.4 and 5.5.
 */

import { type Address, addressFromBytes, addressToBytes } from './address.ts';
import { concatBytes, hexToBytes } from './bytes.ts';
import { addressWord } from './eip712.ts';
import { keccak256 } from './keccak.ts';
import type { SignatureType } from './order.ts';

export const PROXY_FACTORY = '0xab45c5a4b0c941a2f231c04c3f49182e1a254052' as Address;
export const SAFE_FACTORY = '0xaacfeea03eb1561c4e67d661e40682bd20e3541b' as Address;
export const DEPOSIT_FACTORY = '0x00000000000fb5c9adea0298d729a0cb3823cc07' as Address;
/** The implementation of deposit wallets made since about 2026-06-29. */
export const DEPOSIT_BEACON = '0x7a18edfe055488a3128f01f563e5b479d92ffc3a' as Address;
/** The implementation of older deposit wallets. */
export const DEPOSIT_UUPS_IMPLEMENTATION = '0x58ca52ebe0dadfdf531cde7062e76746de4db1eb' as Address;

const PROXY_INIT_CODE_HASH = '0xd21df8dc65880a8606f09fe0ce3df9b8869287ab0b058be05aa9e8af6330a00b';
const SAFE_INIT_CODE_HASH = '0x2bce2127ff07fb632d16c8347c4ebf501f4841168bed00d9e6ef715ddb6fcecf';

// Solady's ERC-1967 clones with 64 bytes of immutable arguments; the length (0x40) is already in the prefixes.
const BEACON_PREFIX = '6100923d8160233d3973';
const BEACON_SUFFIX =
  '60195155f3363d3d373d3d363d602036600436635c60da' +
  '1b60e01b36527fa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6c' +
  'b3582b35133d50545afa5036515af43d6000803e604d573d6000fd5b3d6000f3';
const UUPS_PREFIX = '61007d3d8160233d3973';
const UUPS_SUFFIX =
  '60095155f3363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076' +
  'cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3';

function create2(factory: Address, salt: Uint8Array, initCodeHash: Uint8Array): Address {
  const hash = keccak256(concatBytes(Uint8Array.of(0xff), addressToBytes(factory), salt, initCodeHash));
  return addressFromBytes(hash.subarray(12));
}

/**
 * The proxy wallet of type 1.
 * @example
 * const proxy = deriveProxyWallet(owner);
 */
export const deriveProxyWallet = (eoa: Address): Address =>
  create2(PROXY_FACTORY, keccak256(addressToBytes(eoa)), hexToBytes(PROXY_INIT_CODE_HASH));

/**
 * The Safe wallet of type 2.
 * @example
 * const safe = deriveSafeWallet(owner);
 */
export const deriveSafeWallet = (eoa: Address): Address =>
  create2(SAFE_FACTORY, keccak256(addressWord(eoa)), hexToBytes(SAFE_INIT_CODE_HASH));

export interface DepositWallets {
  readonly beacon: Address;
  readonly uups: Address;
}

/**
 * Both deposit wallets of type 3. The account's age decides which one it has; new ones are `beacon`.
 * @example
 * const { beacon, uups } = deriveDepositWallets(owner);
 */
export function deriveDepositWallets(eoa: Address): DepositWallets {
  const args = concatBytes(addressWord(DEPOSIT_FACTORY), addressWord(eoa));
  const salt = keccak256(args);
  const place = (prefix: string, target: Address, suffix: string): Address =>
    create2(
      DEPOSIT_FACTORY,
      salt,
      keccak256(concatBytes(hexToBytes(prefix), addressToBytes(target), hexToBytes(suffix), args)),
    );
  return {
    beacon: place(BEACON_PREFIX, DEPOSIT_BEACON, BEACON_SUFFIX),
    uups: place(UUPS_PREFIX, DEPOSIT_UUPS_IMPLEMENTATION, UUPS_SUFFIX),
  };
}

export interface WalletKinds {
  readonly eoa: Address;
  readonly proxy: Address;
  readonly safe: Address;
  readonly deposit: DepositWallets;
}

/**
 * @example
 * const { proxy, safe, deposit } = walletKindsOf(owner);
 */
export const walletKindsOf = (eoa: Address): WalletKinds => ({
  eoa,
  proxy: deriveProxyWallet(eoa),
  safe: deriveSafeWallet(eoa),
  deposit: deriveDepositWallets(eoa),
});

/**
 * Which signature type goes with `wallet` for this owner, or `null` when the wallet is not the owner's.
 * @example
 * signatureTypeOf(owner, deriveSafeWallet(owner)); // 2; null: not a wallet of this key
 */
export function signatureTypeOf(eoa: Address, wallet: Address): SignatureType | null {
  if (wallet === eoa) return 0;
  if (wallet === deriveProxyWallet(eoa)) return 1;
  if (wallet === deriveSafeWallet(eoa)) return 2;
  return ownsDepositWallet(eoa, wallet) ? 3 : null;
}

/**
 * Whether `eoa` may sign for `wallet` with this signature type. Cheaper than `signatureTypeOf`: one derivation.
 * @example
 * controlsWallet(owner, 1, deriveProxyWallet(owner)); // true
 */
export function controlsWallet(eoa: Address, type: SignatureType, wallet: Address): boolean {
  switch (type) {
    case 0:
      return wallet === eoa;
    case 1:
      return wallet === deriveProxyWallet(eoa);
    case 2:
      return wallet === deriveSafeWallet(eoa);
    case 3:
      return ownsDepositWallet(eoa, wallet);
  }
}

function ownsDepositWallet(eoa: Address, wallet: Address): boolean {
  const { beacon, uups } = deriveDepositWallets(eoa);
  return wallet === beacon || wallet === uups;
}
