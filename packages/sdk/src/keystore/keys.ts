/** The keys of one desk: their sealed file, and how a program or a person comes to them. */
import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { INSPECT } from '../errors.ts';
import {
  createFile,
  type DeskPlace,
  deskPlace,
  type Environment,
  KeystoreError,
  type LockOptions,
  replaceFile,
  requirePrivateFile,
  requirePrivateFolder,
  withFileLock,
} from './private-files.ts';

/** The purpose of a key; it signs for nothing else. */
type KeyUse = 'paper' | 'live';

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
function checked(keys: DeskKeys): DeskKeys {
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

// A text under a passphrase: scrypt makes the key, AES-256-GCM seals it. All that stands beside the sealed text (version,
// desk, costs, salt, nonce) is authenticated with it, so a file that was moved to another desk's name does not open.

const SEAL_FORMAT = 'bellwether-keystore';
const SEAL_VERSION = 1;
const KEY_BYTES = 32;
const SALT_BYTES = 32;
const NONCE_BYTES = 12;
const CIPHER = 'aes-256-gcm';
/** 128 MiB and a fraction of a second for each guess. */
const COST = 2 ** 17;
const BLOCK_SIZE = 8;
/** Limits on what a file may ask of this machine: a foreign file must neither be cheap to guess nor take all memory. */
const COSTS = [2 ** 14, 2 ** 20] as const;

interface Header {
  readonly format: typeof SEAL_FORMAT;
  readonly version: number;
  readonly desk: string;
  readonly kdf: { readonly name: 'scrypt'; readonly cost: number; readonly salt: string };
  readonly cipher: { readonly name: typeof CIPHER; readonly nonce: string };
}

interface Sealed extends Header {
  readonly sealed: string;
  readonly tag: string;
  /** SHA-256 of all the rest: tells a damaged file from a wrong passphrase. It protects nothing. */
  readonly checksum: string;
}

interface SealOptions {
  readonly passphrase: string;
  readonly desk: string;
  /** scrypt's N; default 2^17. */
  readonly cost?: number;
}

const deriveKey = (passphrase: string, salt: Buffer, cost: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const options = { N: cost, r: BLOCK_SIZE, p: 1, maxmem: 2 * 128 * cost * BLOCK_SIZE };
    // One spelling of accents: keyboards differ.
    scrypt(passphrase.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });

const headerText = ({ format, version, desk, kdf, cipher }: Header): string =>
  JSON.stringify([format, version, desk, kdf.name, kdf.cost, kdf.salt, cipher.name, cipher.nonce]);

const checksumOf = (file: Omit<Sealed, 'checksum'>): string =>
  createHash('sha256').update(headerText(file)).update(file.sealed).update(file.tag).digest('hex');

async function seal(text: string, { passphrase, desk, cost = COST }: SealOptions): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const nonce = randomBytes(NONCE_BYTES);
  const header: Header = {
    format: SEAL_FORMAT,
    version: SEAL_VERSION,
    desk,
    kdf: { name: 'scrypt', cost, salt: salt.toString('base64') },
    cipher: { name: CIPHER, nonce: nonce.toString('base64') },
  };
  const cipher = createCipheriv(CIPHER, await deriveKey(passphrase, salt, cost), nonce);
  cipher.setAAD(Buffer.from(headerText(header)));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  const file = { ...header, sealed: sealed.toString('base64'), tag: cipher.getAuthTag().toString('base64') };
  return `${JSON.stringify({ ...file, checksum: checksumOf(file) } satisfies Sealed, null, 2)}\n`;
}

/** @throws KeystoreError `keystore_damaged`, `keystore_version`, `passphrase_wrong` */
async function unseal(file: string, { passphrase, desk }: SealOptions): Promise<string> {
  const { kdf, cipher, sealed, tag, ...rest } = readSealed(file, desk);
  const key = await deriveKey(passphrase, Buffer.from(kdf.salt, 'base64'), kdf.cost);
  const decipher = createDecipheriv(CIPHER, key, Buffer.from(cipher.nonce, 'base64'), { authTagLength: 16 });
  try {
    decipher.setAAD(Buffer.from(headerText({ ...rest, kdf, cipher })));
    decipher.setAuthTag(Buffer.from(tag, 'base64'));
    return Buffer.concat([decipher.update(Buffer.from(sealed, 'base64')), decipher.final()]).toString('utf8');
  } catch {
    throw new KeystoreError(
      'passphrase_wrong',
      'The passphrase does not open the keystore.',
      'Check BELLWETHER_PASSPHRASE or the file that BELLWETHER_PASSPHRASE_FILE names. Without the passphrase the keys cannot be read: move the file away and make new keys.',
    );
  }
}

function readSealed(text: string, desk: string): Sealed {
  let file: Partial<Sealed>;
  try {
    file = JSON.parse(text) as Partial<Sealed>;
  } catch {
    throw damagedSeal();
  }
  if (file?.format !== SEAL_FORMAT) throw damagedSeal();
  if (file.version !== SEAL_VERSION)
    throw new KeystoreError(
      'keystore_version',
      `The keystore has version ${String(file.version).slice(0, 20)}, and this program reads version ${SEAL_VERSION}.`,
      'Install a newer release of the program that you started.',
    );
  if (!hasAllFields(file) || checksumOf(file) !== file.checksum) throw damagedSeal();
  if (file.desk !== desk)
    throw new KeystoreError(
      'keystore_damaged',
      `This keystore was made for another desk, ${file.desk.slice(0, 200)}.`,
      'Set BELLWETHER_URL to that desk, or make keys for this one.',
    );
  return file;
}

function hasAllFields(file: Partial<Sealed>): file is Sealed {
  const texts = [file.desk, file.sealed, file.tag, file.checksum, file.kdf?.salt, file.cipher?.nonce];
  if (texts.some((one) => typeof one !== 'string')) return false;
  if (file.kdf?.name !== 'scrypt' || file.cipher?.name !== CIPHER) return false;
  const { cost } = file.kdf;
  return Number.isInteger(Math.log2(cost)) && cost >= COSTS[0] && cost <= COSTS[1];
}

const damagedSeal = (): KeystoreError =>
  new KeystoreError(
    'keystore_damaged',
    'The keystore is damaged.',
    'Restore the file from a copy; if there is none, move it away and make new keys.',
  );

// The keys that a program uses: those of the environment where they are set, else those of the keystore.

export interface LoadedKeys {
  readonly place: DeskPlace;
  readonly keys: DeskKeys;
  readonly from: 'environment' | 'keystore';
}

/** Which venues the keys of the environment trade on. */
interface KeyVenues {
  readonly evm: string;
  readonly solana: string;
}

const KEY_VENUES: KeyVenues = { evm: 'polymarket', solana: 'kalshi' };
const SIGNATURE_TYPES = ['0', '1', '2', '3'];

/**
 * @returns `null` when the environment names none. @throws KeystoreError `keys_incomplete`
 * @example
 * const keys = keysOfEnvironment(process.env); // null: look into the keystore
 */
export function keysOfEnvironment(env: Environment, venues: KeyVenues = KEY_VENUES): DeskKeys | null {
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

// Where the passphrase comes from: the environment, a file of this user alone, or a person at a terminal.

/** Parts of a terminal that are needed; `process.stdin` and `process.stderr` have them. */
export interface Terminal {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WritableStream;
}

export interface PassphraseOptions {
  readonly env?: Environment;
  /** Where a person can be asked. Without it no question is asked. */
  readonly terminal?: Terminal;
  /** Asks twice, for a passphrase that is new. */
  readonly isNew?: boolean;
}

/**
 * Standard error, so that a program's output stays its own. `undefined`: it is no terminal.
 * @example
 * const terminal = ownTerminal();
 * if (terminal !== undefined) await askHidden(terminal, 'Passphrase: ');
 */
export const ownTerminal = (): Terminal | undefined =>
  process.stdin.isTTY === true && process.stderr.isTTY === true
    ? { input: process.stdin, output: process.stderr }
    : undefined;

/**
 * @throws KeystoreError `passphrase_missing`, `passphrase_wrong` (two different entries), `keystore_permissions`
 * @example
 * const passphrase = await findPassphrase({ env: process.env });
 */
export async function findPassphrase({
  env = process.env,
  terminal,
  isNew = false,
}: PassphraseOptions = {}): Promise<string> {
  const { BELLWETHER_PASSPHRASE: given = '', BELLWETHER_PASSPHRASE_FILE: file = '' } = env;
  if (given !== '') return given;
  if (file !== '') return readPassphraseFile(file);
  if (terminal === undefined)
    throw new KeystoreError(
      'passphrase_missing',
      'The keystore needs its passphrase, and there is no terminal to ask at.',
      'Set BELLWETHER_PASSPHRASE_FILE to a file that only you can read, or set BELLWETHER_PASSPHRASE.',
    );
  const passphrase = await askHidden(terminal, isNew ? 'A new passphrase for the keys: ' : 'Passphrase: ');
  if (isNew && (await askHidden(terminal, 'The same again: ')) !== passphrase)
    throw new KeystoreError('passphrase_wrong', 'The two entries differ.', 'Run the command again.');
  return passphrase;
}

function readPassphraseFile(path: string): string {
  if (!requirePrivateFile(path))
    throw new KeystoreError(
      'passphrase_missing',
      `There is no file ${path}.`,
      'Correct BELLWETHER_PASSPHRASE_FILE.',
    );
  const passphrase = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  if (passphrase !== '') return passphrase;
  throw new KeystoreError(
    'passphrase_missing',
    `The file ${path} is empty.`,
    'Write the passphrase into it.',
  );
}

const ENTER = /[\r\n]/;
const END = '\u0003\u0004';
const ERASE = '\u007f\b';

/**
 * Reads a line from a terminal that shows nothing of it. @throws KeystoreError `passphrase_missing` on Ctrl-C
 * @example
 * const passphrase = await askHidden({ input: process.stdin, output: process.stderr }, 'Passphrase: ');
 */
export function askHidden({ input, output }: Terminal, question: string): Promise<string> {
  const wasRaw = input.isRaw;
  // First: what is typed as soon as the question is there must not be shown either.
  input.setRawMode(true);
  input.resume();
  output.write(question);
  return new Promise((resolve, reject) => {
    let entry: string[] = [];
    const end = (settle: () => void) => {
      input.off('data', onData);
      input.setRawMode(wasRaw);
      input.pause();
      output.write('\n');
      settle();
    };
    const onData = (chunk: Buffer | string) => {
      for (const character of String(chunk)) {
        if (ENTER.test(character)) return end(() => resolve(entry.join('')));
        if (END.includes(character)) return end(() => reject(notEntered()));
        if (ERASE.includes(character)) entry = entry.slice(0, -1);
        else entry.push(character);
      }
    };
    input.on('data', onData);
  });
}

const notEntered = (): KeystoreError =>
  new KeystoreError('passphrase_missing', 'No passphrase was entered.', 'Run the command again.');

// Acts that only a person may do: at a terminal, by the passphrase of the keys, typed there and found nowhere else.

/**
 * @param what the sentence's beginning, such as "The spending limit is raised"
 * @returns the passphrase that was typed; `null` where there is no keystore whose passphrase could be
 * @throws KeystoreError `person_required`, `passphrase_wrong`
 * @example
 * await requirePerson(place, 'A higher limit');
 */
export async function requirePerson(
  place: DeskPlace,
  what: string,
  terminal: Terminal | undefined = ownTerminal(),
): Promise<string | null> {
  if (terminal === undefined)
    throw new KeystoreError(
      'person_required',
      `${what} by a person at a terminal alone.`,
      'Run the command yourself in a terminal, and type the passphrase of the keys there: the environment does not count.',
    );
  if (!hasKeys(place))
    throw new KeystoreError(
      'person_required',
      `${what} with the passphrase of the keys, and there is no keystore for ${place.url}.`,
      'Make one first: bellwether init, or bellwether-mcp init, without keys in the environment.',
    );
  const passphrase = await askHidden(terminal, 'Passphrase: ');
  await readKeys(place, passphrase);
  return passphrase;
}
