/**
 * A text under a passphrase: scrypt makes the key, AES-256-GCM seals it. All that stands beside the sealed text (version,
 * desk, costs, salt, nonce) is authenticated with it, so a file that was moved to another desk's name does not open.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from 'node:crypto';
import { KeystoreError } from './keystore-error.ts';

const FORMAT = 'bellwether-keystore';
const VERSION = 1;
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
  readonly format: typeof FORMAT;
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

export interface SealOptions {
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

export async function seal(text: string, { passphrase, desk, cost = COST }: SealOptions): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const nonce = randomBytes(NONCE_BYTES);
  const header: Header = {
    format: FORMAT,
    version: VERSION,
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
export async function unseal(file: string, { passphrase, desk }: SealOptions): Promise<string> {
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
    throw damaged();
  }
  if (file?.format !== FORMAT) throw damaged();
  if (file.version !== VERSION)
    throw new KeystoreError(
      'keystore_version',
      `The keystore has version ${String(file.version).slice(0, 20)}, and this program reads version ${VERSION}.`,
      'Install a newer release of the program that you started.',
    );
  if (!hasAllFields(file) || checksumOf(file) !== file.checksum) throw damaged();
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

const damaged = (): KeystoreError =>
  new KeystoreError(
    'keystore_damaged',
    'The keystore is damaged.',
    'Restore the file from a copy; if there is none, move it away and make new keys.',
  );
