/** The keys that a program uses: those of the environment where they are set, else those of the keystore. */
import { checked, type DeskKeys, markedKeys, readKeys, requireKeys } from './keys.ts';
import { KeystoreError } from './keystore-error.ts';
import { findPassphrase, type Terminal } from './passphrase.ts';
import { type DeskPlace, deskPlace, type Environment } from './place.ts';

export interface LoadedKeys {
  readonly place: DeskPlace;
  readonly keys: DeskKeys;
  readonly from: 'environment' | 'keystore';
}

/** Which venues the keys of the environment trade on. */
export interface KeyVenues {
  readonly evm: string;
  readonly solana: string;
}

const VENUES: KeyVenues = { evm: 'polymarket', solana: 'kalshi' };
const SIGNATURE_TYPES = ['0', '1', '2', '3'];

/**
 * @returns `null` when the environment names none. @throws KeystoreError `keys_incomplete`
 * @example
 * const keys = keysOfEnvironment(process.env); // null: look into the keystore
 */
export function keysOfEnvironment(env: Environment, venues: KeyVenues = VENUES): DeskKeys | null {
  const {
    BELLWETHER_API_KEY: apiKey = '',
    BELLWETHER_PRIVATE_KEY: privateKey = '',
    BELLWETHER_SOLANA_KEY: secretKey = '',
    BELLWETHER_SIGNATURE_TYPE: type = '',
    BELLWETHER_KEY_USE: use = '',
  } = env;
  if (apiKey === '' && privateKey === '' && secretKey === '') return null;
  if (apiKey === '')
    throw new KeystoreError(
      'keys_incomplete',
      'A private key is set in the environment, and BELLWETHER_API_KEY is not.',
      'Set both, or neither to use the keystore.',
    );
  const hex = privateKey.startsWith('0x') ? privateKey : `0x${privateKey}`;
  if (privateKey !== '' && !/^0x[0-9a-f]{64}$/i.test(hex))
    throw new KeystoreError(
      'keys_invalid',
      'BELLWETHER_PRIVATE_KEY is no key.',
      'It is 0x and 64 hex digits.',
    );
  if (type !== '' && !SIGNATURE_TYPES.includes(type))
    throw new KeystoreError(
      'keys_invalid',
      'BELLWETHER_SIGNATURE_TYPE is none of 0, 1, 2 and 3.',
      'Set 0 for the account of the key itself, 1 for its proxy wallet, 2 for its Safe, 3 for its deposit wallet.',
    );
  if (use !== '' && use !== 'paper' && use !== 'live')
    throw new KeystoreError(
      'keys_invalid',
      'BELLWETHER_KEY_USE is neither paper nor live.',
      'Set paper for keys that hold paper money alone, live for all others, or leave it out.',
    );
  const signatureType = Number(type === '' ? '0' : type) as 0 | 1 | 2 | 3;
  const keys: DeskKeys = {
    apiKey,
    evm: privateKey === '' ? [] : [{ privateKey: hex, venue: venues.evm, signatureType }],
    solana: secretKey === '' ? null : { secretKey, venue: venues.solana },
  };
  return checked(use === '' ? keys : markedKeys(keys, use));
}

export interface LoadOptions {
  readonly env?: Environment;
  /** Default `BELLWETHER_URL`, else http://127.0.0.1:8080. */
  readonly url?: string;
  readonly terminal?: Terminal;
}

/**
 * @throws KeystoreError: what is missing or wrong, and what to do next
 * @example
 * const { keys } = await loadKeys({ url: 'http://127.0.0.1:8080' });
 */
export async function loadKeys({ env = process.env, url, terminal }: LoadOptions = {}): Promise<LoadedKeys> {
  const place = deskPlace(env, url ?? env.BELLWETHER_URL);
  const given = keysOfEnvironment(env);
  if (given !== null) return { place, keys: given, from: 'environment' };
  // Keys that are missing are the first thing to say: a passphrase for them is of no use.
  requireKeys(place);
  const passphrase = await findPassphrase({ env, ...(terminal === undefined ? {} : { terminal }) });
  return { place, keys: await readKeys(place, passphrase), from: 'keystore' };
}
