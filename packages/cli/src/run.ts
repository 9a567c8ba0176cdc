/**
 * One run of one command: its output, its deadline, Ctrl-C, the connection to the desk and the keys. A run that is stopped
 * ends its calls at once; a command that has sent an order then says so (`signing.ts`).
 */
import { createInterface } from 'node:readline/promises';
import { BellwetherClient, type ClientOptions, Signer, SolanaSigner } from '@bellwether/sdk';
import {
  type DeskPlace,
  deskPlace,
  type EvmKey,
  type LoadedKeys,
  loadKeys,
  ownTerminal,
  readKeys,
  requirePerson,
} from '@bellwether/sdk/keystore';
import type { Command } from 'commander';
import { CliError } from './cli-error.ts';
import type { CommandStream, Output } from './output.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The options that every command has. */
interface GlobalOptions {
  readonly json?: boolean;
  readonly url?: string;
  /** Seconds. */
  readonly timeout?: number;
}

/** Input and output of a command. */
export interface CommandIo {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: CommandStream;
  readonly stderr: CommandStream;
  readonly env: Environment;
  /** Options for keys that are made: see `KeyFileOptions`. */
  readonly keyCost?: number;
}

interface RunOptions {
  readonly output: Output;
  readonly io: CommandIo;
  readonly global: GlobalOptions;
  /** Seconds. */
  readonly defaultTimeoutS: number;
}

/** An agent's key for EVM orders, with the wallet of it that trades. */
interface TradingKey {
  readonly signer: Signer;
  readonly key: EvmKey;
}

/** The time for one attempt of a call: the SDK repeats what may be repeated, within the deadline of the run. */
const ATTEMPT_MS = 15_000;
/** For what does not listen to the signal. */
const GRACE_MS = 1_000;

export class Run {
  readonly output: Output;
  readonly io: CommandIo;
  readonly env: Environment;
  readonly place: DeskPlace;
  /** The desk's address where the command line gave it, not the environment. */
  readonly givenUrl: string | null;
  readonly #stop = new AbortController();
  readonly #timeoutS: number;
  #isEndless = false;
  #timer: NodeJS.Timeout | undefined;
  #keys: Promise<LoadedKeys> | undefined;

  /** @throws KeystoreError for an address that is none */
  constructor({ output, io, global, defaultTimeoutS }: RunOptions) {
    const { env } = io;
    this.io = io;
    this.output = output;
    this.env = env;
    this.place = deskPlace(env, global.url ?? env.BELLWETHER_URL);
    this.givenUrl = global.url === undefined ? null : this.place.url;
    this.#timeoutS = global.timeout ?? defaultTimeoutS;
    this.#arm();
  }

  /** Aborted when the run has to end; its reason is the error to end with. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Why the run has to end; `null` while it may go on. */
  get stopReason(): CliError | null {
    return this.signal.aborted ? (this.signal.reason as CliError) : null;
  }

  interrupt(): void {
    this.#stop.abort(
      new CliError('interrupted', 'interrupted', 'Stopped before anything was placed.', {
        fix: 'Run the command again when you want it.',
      }),
    );
  }

  /** The reader of the output went away. */
  readerLeft(): void {
    if (this.#isEndless) this.#stop.abort(new CliError('done', 'reader_left', 'The reader has left.'));
  }

  /** Runs the work within the deadline, or until Ctrl-C. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    let late: NodeJS.Timeout | undefined;
    const stopped = new Promise<never>((_, reject) => {
      const onStop = () => {
        late = setTimeout(() => reject(this.signal.reason), GRACE_MS);
      };
      if (this.signal.aborted) onStop();
      else this.signal.addEventListener('abort', onStop, { once: true });
    });
    try {
      return await Promise.race([work(), stopped]);
    } finally {
      clearTimeout(late);
      clearTimeout(this.#timer);
    }
  }

  /** From here on only Ctrl-C, or a reader that goes away, ends the run. */
  untilStopped(): void {
    this.#isEndless = true;
    clearTimeout(this.#timer);
    if (this.output.isClosed) this.readerLeft();
  }

  /** A person may think as long as they like. */
  async untimed<T>(work: () => Promise<T>): Promise<T> {
    clearTimeout(this.#timer);
    try {
      return await work();
    } finally {
      this.#arm();
    }
  }

  /** Without a key: public operations. */
  visitor(options: Pick<ClientOptions, 'apiKey' | 'maxRetries'> = {}): BellwetherClient {
    const { signal } = this;
    return new BellwetherClient({
      baseUrl: this.place.url,
      ...options,
      timeoutMs: Math.min(ATTEMPT_MS, this.#timeoutS * 1000),
      fetch: (url, init) =>
        fetch(url, { ...init, signal: init.signal ? AbortSignal.any([init.signal, signal]) : signal }),
      wait: (ms) => pause(ms, signal),
    });
  }

  /** The agent's client. @throws KeystoreError */
  async client(options: Pick<ClientOptions, 'maxRetries'> = {}): Promise<BellwetherClient> {
    return this.visitor({ ...options, apiKey: (await this.keys()).keys.apiKey });
  }

  /** Read once: the environment's, else the keystore's, whose passphrase may be asked for. @throws KeystoreError */
  keys(): Promise<LoadedKeys> {
    const terminal = ownTerminal();
    this.#keys ??= this.untimed(() =>
      loadKeys({ env: this.env, url: this.place.url, ...(terminal === undefined ? {} : { terminal }) }),
    );
    return this.#keys;
  }

  /** Asked before what only a person may do; never answered by the environment. @throws KeystoreError `person_required` */
  requirePerson(what: string): Promise<string | null> {
    return this.untimed(() => requirePerson(this.place, what));
  }

  /** Keys that were just made: the passphrase is not asked for again. */
  use({ passphrase }: { readonly passphrase: string }): void {
    const { place } = this;
    this.#keys = readKeys(place, passphrase).then((keys) => ({ place, keys, from: 'keystore' }));
  }

  /** The key that signs orders. @throws KeystoreError; CliError when there is none */
  async tradingKey(): Promise<TradingKey> {
    const [key] = (await this.keys()).keys.evm;
    if (key === undefined)
      throw new CliError('keystore', 'key_missing', 'There is no key that signs orders.', {
        fix: 'Set BELLWETHER_PRIVATE_KEY, or make keys with: bellwether init.',
      });
    return { signer: Signer.fromPrivateKey(key.privateKey, { use: key.use }), key };
  }

  /** The key that signs quoted transactions. @throws KeystoreError; CliError when there is none */
  async solanaSigner(): Promise<SolanaSigner> {
    const { solana } = (await this.keys()).keys;
    if (solana === null)
      throw new CliError(
        'keystore',
        'key_missing',
        'There is no Solana key, which signs quoted transactions.',
        {
          fix: 'Set BELLWETHER_SOLANA_KEY, or make keys with: bellwether init.',
        },
      );
    return SolanaSigner.fromSecretKey(solana.secretKey, { use: solana.use });
  }

  /** Asks at the terminal; the question is shown on stderr. @throws CliError where no person can be asked, or the answer is not yes */
  async confirm(question: string): Promise<void> {
    if (ownTerminal() === undefined)
      throw new CliError(
        'unconfirmed',
        'unconfirmed',
        'There is no terminal at which somebody could say yes. Nothing was sent.',
        {
          fix: 'Add --yes to go on without a question, or --validate-only to check the order without any effect.',
        },
      );
    const answer = await this.untimed(async () => {
      const reader = createInterface({ input: this.io.stdin, output: this.io.stderr });
      reader.once('SIGINT', () => this.interrupt());
      // Ctrl-D.
      const ended = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
      try {
        return await Promise.race([reader.question(`${question} [y/N] `, { signal: this.signal }), ended]);
      } catch (error) {
        throw this.stopReason ?? error;
      } finally {
        reader.close();
      }
    });
    if (!/^y(es)?$/i.test(answer.trim()))
      throw new CliError('unconfirmed', 'unconfirmed', 'The answer was not yes. Nothing was sent.');
  }

  /** With a line on a terminal that says what is waited for. */
  async waiting<T>(what: string, work: Promise<T>): Promise<T> {
    const end = this.output.progress(what);
    try {
      return await work;
    } finally {
      end();
    }
  }

  #arm(): void {
    const seconds = this.#timeoutS;
    if (this.#isEndless) return;
    const late = new CliError(
      'unreachable',
      'timeout',
      `The desk at ${this.place.url} did not answer within ${seconds} s.`,
      {
        fix: 'Look whether it works (bellwether doctor), or give it more time with --timeout.',
      },
    );
    this.#timer = setTimeout(() => this.#stop.abort(late), seconds * 1000);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onStop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onStop);
      resolve();
    }, ms);
    signal.addEventListener('abort', onStop, { once: true });
  });
}

// How commands are declared: each one gets a run of its own.

/** Does a command's work within a run. */
export type Start = (
  global: GlobalOptions,
  defaultTimeoutS: number,
  work: (run: Run) => Promise<void>,
) => Promise<void>;

/** Seconds that a command takes at most, unless --timeout says otherwise. */
const DEFAULT_TIMEOUT_S = 60;

interface Handler<Options, Args extends readonly unknown[]> {
  readonly timeoutS?: number;
  readonly run: (run: Run, options: Options, ...args: Args) => Promise<void>;
}

/** Arguments, options and command, as commander passes them. */
export const action =
  <Options, Args extends readonly unknown[]>(start: Start, handler: Handler<Options, Args>) =>
  async (...given: unknown[]): Promise<void> => {
    const command = given.pop() as Command;
    const options = given.pop() as Options;
    const { timeoutS = DEFAULT_TIMEOUT_S } = handler;
    await start(command.optsWithGlobals<GlobalOptions>(), timeoutS, (run) =>
      handler.run(run, options, ...(given as unknown as Args)),
    );
  };

/** Examples below a command's help. */
export const examples = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`);
