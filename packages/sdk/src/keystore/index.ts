/**
 * For programs on Node that keep the keys of a desk on this machine: the encrypted keystore, the same keys from the
 * environment, and the spending limit beside them. Not for browsers.
 */

export { findMint, rememberPurchase } from './find-mint.ts';
export {
  changeKeys,
  createKeys,
  type DeskKeys,
  type EvmKey,
  hasKeys,
  type KeyFileOptions,
  markedKeys,
  newSolanaKey,
  readKeys,
  requireKeys,
  type SolanaKey,
} from './keys.ts';
export { KeystoreError, type KeystoreFault } from './keystore-error.ts';
export { type KnownMint, KnownMints, type MintSource } from './known-mints.ts';
export { keysOfEnvironment, type LoadedKeys, type LoadOptions, loadKeys } from './load-keys.ts';
export {
  askHidden,
  findPassphrase,
  ownTerminal,
  type PassphraseOptions,
  type Terminal,
} from './passphrase.ts';
export { requirePerson } from './person.ts';
export { DEFAULT_DESK_URL, type DeskPlace, deskPlace, deskUrl, type Environment } from './place.ts';
export { privateText } from './private-text.ts';
export { provesNoEffect } from './proof.ts';
export {
  DEFAULT_DAILY_LIMIT,
  SpendingLimit,
  SpendingLimitReached,
  type SpendingReservation,
  type SpendingStanding,
} from './spending-limit.ts';
