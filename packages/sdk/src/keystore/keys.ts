/** The keys of one desk, and their file. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { INSPECT } from '../inspect.ts';
import { type LockOptions, withFileLock } from './file-lock.ts';
import { KeystoreError } from './keystore-error.ts';
import { type DeskPlace, requirePrivateFile, requirePrivateFolder } from './place.ts';
import { seal, unseal } from './sealed-text.ts';
import { createFile, replaceFile } from './whole-file.ts';

/** The purpose of a key; it signs for nothing else. */
export type KeyUse = 'paper' | 'live';

/** An EVM key, and the wallet of it that trades. */
export interface EvmKey {
  /** `0x` and 64 hex digits. */
  readonly privateKey: string;
  /** The venue that it trades on, such as `polymarket`. */
  readonly venue: string;
  /** 0 the key's own account, 1 its proxy wallet, 2 its Safe, 3 its deposit wallet. */
  readonly signatureType: 0 | 1 | 2 | 3;
  /** The purpose that it was made for; absent in files of earlier releases, where every check of a live venue applies. */
  readonly use?: KeyUse;
}

export interface SolanaKey {
  /** Base58, or the JSON array of a key file. */
  readonly secretKey: string;
  readonly venue: string;
  readonly use?: KeyUse;
}

/** Printed or inspected, it shows no key; its fields do. */
export interface DeskKeys {
  /** `apiKeyCode` of the registration. */
  readonly apiKey: string;
  /** The first one trades where none is named. */
  readonly evm: readonly EvmKey[];
  readonly solana: SolanaKey | null;
}

export interface KeyFileOptions extends LockOptions {
  /** scrypt's N, a power of two; default 2^17. */
  readonly cost?: number;
}

const SHORTEST_PASSPHRASE = 8;
const FEWEST_DIFFERENT = 3;
const INIT = 'Run "bellwether init" or "bellwether-mcp init" to make keys for this desk';

/**
 * @throws KeystoreError `keystore_missing`, `keystore_permissions`, `keystore_version`, `keystore_damaged`, `passphrase_wrong`
 * @example
 * const { apiKey, evm } = await readKeys(place, passphrase);
 */
export async function readKeys(place: DeskPlace, passphrase: string): Promise<DeskKeys> {
  requireKeys(place);
  return parseKeys(await unseal(readFileSync(place.keys, 'utf8'), { passphrase, desk: place.url }));
}

/**
 * A new Solana key, as a key file has it.
 * @example
 * const secret = newSolanaKey();
 */
export const newSolanaKey = (): string => JSON.stringify([...randomBytes(32)]);

/**
 * Without reading them. @throws KeystoreError `keystore_missing`, `keystore_permissions`
 * @example
 * requireKeys(deskPlace());
 */
export function requireKeys(place: DeskPlace): void {
  if (!requirePrivateFile(place.keys))
    throw new KeystoreError(
      'keystore_missing',
      `There are no keys for ${place.url} in ${place.folder}.`,
      `${INIT}, or set BELLWETHER_API_KEY and BELLWETHER_PRIVATE_KEY.`,
    );
  requirePrivateFolder(place.folder);
}

/**
 * @example
 * if (!hasKeys(place)) throw new Error(`make keys for ${place.url} first`);
 */
export const hasKeys = (place: DeskPlace): boolean => requirePrivateFile(place.keys);

/**
 * Writes the first keys of a desk; keys that are there stay. @throws KeystoreError `keystore_exists`, `passphrase_too_short`
 * @example
 * await createKeys(place, { apiKey, evm: [], solana: null }, passphrase);
 */
export async function createKeys(
  place: DeskPlace,
  keys: DeskKeys,
  passphrase: string,
  { cost }: KeyFileOptions = {},
): Promise<void> {
  requireLength(passphrase);
  requirePrivateFolder(place.folder);
  const text = await seal(JSON.stringify(checked(keys)), sealOptions(place, passphrase, cost));
  if (!createFile(place.keys, text))
    throw new KeystoreError(
      'keystore_exists',
      `There are keys for ${place.url} already, in ${place.keys}.`,
      'Use them, or move the file away first: keys that nothing else holds are lost with it.',
    );
}

/**
 * Reads, changes and writes the keys as one step: of two processes, one after the other.
 * @throws KeystoreError as `readKeys` does, and `keystore_busy`
 * @example
 * await changeKeys(place, passphrase, (keys) => ({ ...keys, apiKey }));
 */
export async function changeKeys(
  place: DeskPlace,
  passphrase: string,
  change: (keys: DeskKeys) => DeskKeys | Promise<DeskKeys>,
  { cost, ...lock }: KeyFileOptions = {},
): Promise<DeskKeys> {
  requirePrivateFolder(place.folder);
  return withFileLock(
    `${place.keys}.lock`,
    async (requireHeld) => {
      const keys = checked(await change(await readKeys(place, passphrase)));
      const text = await seal(JSON.stringify(keys), sealOptions(place, passphrase, cost));
      replaceFile(place.keys, text, requireHeld);
      return keys;
    },
    lock,
  );
}

/** The same keys, which no log shows. @throws KeystoreError `keys_invalid` */
export function checked(keys: DeskKeys): DeskKeys {
  if (!isKeys(keys))
    throw new KeystoreError(
      'keys_invalid',
      'The keys are not complete: an API key, and for each wallet its key and its venue.',
      `${INIT}, or set BELLWETHER_API_KEY and BELLWETHER_PRIVATE_KEY.`,
    );
  const { apiKey, evm, solana } = keys;
  const addressless = `DeskKeys(an API key, EVM keys: ${evm.length}, Solana key: ${solana === null ? 'no' : 'yes'})`;
  return Object.defineProperty({ apiKey, evm, solana }, INSPECT, {
    value: () => addressless,
    enumerable: false,
  });
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isUse = (value: unknown): boolean => value === undefined || value === 'paper' || value === 'live';

function isKeys(value: unknown): value is DeskKeys {
  if (typeof value !== 'object' || value === null) return false;
  const { apiKey, evm, solana } = value as Partial<DeskKeys>;
  const isEvmKey = (key: Partial<EvmKey>) =>
    isText(key.venue) &&
    isUse(key.use) &&
    /^0x[0-9a-f]{64}$/i.test(key.privateKey ?? '') &&
    [0, 1, 2, 3].includes(key.signatureType ?? -1);
  return (
    isText(apiKey) &&
    Array.isArray(evm) &&
    evm.every(isEvmKey) &&
    (solana === null || (isText(solana?.secretKey) && isText(solana.venue) && isUse(solana.use)))
  );
}

/**
 * The same keys, marked. For a person to decide: a desk must not.
 * @example
 * const keys = markedKeys(await readKeys(place, passphrase), 'paper');
 */
export const markedKeys = ({ apiKey, evm, solana }: DeskKeys, use: KeyUse): DeskKeys => ({
  apiKey,
  evm: evm.map((key) => ({ ...key, use })),
  solana: solana === null ? null : { ...solana, use },
});

function parseKeys(text: string): DeskKeys {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes its input.
  }
  return checked(value as DeskKeys);
}

function requireLength(passphrase: string): void {
  // Blanks and one character again and again are the first things that anybody tries.
  const characters = [...passphrase.normalize('NFKC').replace(/[\s\p{C}\p{Z}]/gu, '')];
  if (characters.length < SHORTEST_PASSPHRASE || new Set(characters).size < FEWEST_DIFFERENT)
    throw new KeystoreError(
      'passphrase_too_short',
      `A passphrase has at least ${SHORTEST_PASSPHRASE} characters besides blanks, ${FEWEST_DIFFERENT} of them different.`,
      'Choose a longer one: it is all that protects a copy of the file.',
    );
}

const sealOptions = (place: DeskPlace, passphrase: string, cost: number | undefined) => ({
  passphrase,
  desk: place.url,
  ...(cost === undefined ? {} : { cost }),
});
