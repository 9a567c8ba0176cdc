/** Where the passphrase comes from: the environment, a file of this user alone, or a person at a terminal. */
import { readFileSync } from 'node:fs';
import { KeystoreError } from './keystore-error.ts';
import { type Environment, requirePrivateFile } from './place.ts';

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
        if (END.includes(character)) return end(() => reject(stopped()));
        if (ERASE.includes(character)) entry = entry.slice(0, -1);
        else entry.push(character);
      }
    };
    input.on('data', onData);
  });
}

const stopped = (): KeystoreError =>
  new KeystoreError('passphrase_missing', 'No passphrase was entered.', 'Run the command again.');
