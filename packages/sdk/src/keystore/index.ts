/**
 * For programs on Node that keep the keys of a desk on this machine: the encrypted keystore, the same keys from the
 * environment, and the spending limit beside them. Not for browsers.
 */

export { provesNoEffect } from '../errors.ts';
export {
  askHidden,
  changeKeys,
  createKeys,
  type DeskKeys,
  type EvmKey,
  findPassphrase,
  hasKeys,
  type KeyFileOptions,
  keysOfEnvironment,
  type LoadedKeys,
  type LoadOptions,
  loadKeys,
  markedKeys,
  newSolanaKey,
  ownTerminal,
  type PassphraseOptions,
  readKeys,
  requireKeys,
  requirePerson,
  type SolanaKey,
  type Terminal,
} from './keys.ts';
export { findMint, type KnownMint, KnownMints, type MintSource, rememberPurchase } from './mints.ts';
export {
  DEFAULT_DESK_URL,
  type DeskPlace,
  deskPlace,
  deskUrl,
  type Environment,
  KeystoreError,
  type KeystoreFault,
  privateText,
} from './private-files.ts';
export {
  DEFAULT_DAILY_LIMIT,
  SpendingLimit,
  SpendingLimitReached,
  type SpendingReservation,
  type SpendingStanding,
} from './spending-limit.ts';
