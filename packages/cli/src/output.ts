/**
 * All that a run writes. Answers go to stdout: a text for people, or JSON. Everything else goes to stderr: what people are
 * questions and answers, progress, errors. Nothing that others wrote reaches a terminal with control characters in it.
 *
 * A reader that goes away (`| head`) ends the writing and nothing else: a trade goes on and its exit code says how it ended.
 */
import { EXIT_CODES, type Failure } from './cli-error.ts';
import {
  type Column,
  facts,
  harmlessJson,
  oneLine,
  type Paint,
  paragraphs,
  table,
  type Value,
} from './terminal.ts';

/** A terminal, or what takes its place. */
export type CommandStream = NodeJS.WritableStream & {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
};

interface OutputOptions {
  readonly json: boolean;
  readonly stdout: CommandStream;
  readonly stderr: CommandStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The reader of stdout has gone. */
  readonly onClosed: () => void;
}

const PROGRESS_MS = 250;
const CLEAR_LINE = '\r\u001b[K';

export class Output {
  readonly json: boolean;
  readonly #options: OutputOptions;
  readonly #closed = { stdout: false, stderr: false };
  #progress: NodeJS.Timeout | null = null;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.json = options.json;
    for (const name of ['stdout', 'stderr'] as const)
      options[name].on('error', () => {
        // EPIPE, or a terminal that was closed: no reader is left.
        this.#closed[name] = true;
        if (name === 'stdout') options.onClosed();
      });
  }

  /** The answer: one JSON document, or this text. */
  answer(value: unknown, text: () => string): void {
    this.#write('stdout', `${this.json ? harmlessJson(value, 2) : text()}\n`);
  }

  /** One of many answers: a line of JSON, or this text. */
  item(value: unknown, text: () => string): void {
    this.#write('stdout', `${this.json ? harmlessJson(value) : text()}\n`);
  }

  /** For people, beside the answer. Programs read the answer alone. */
  say(text: string): void {
    if (!this.json) this.tell(text);
  }

  /** For people, also where the answer is JSON: what they are asked. */
  tell(text: string): void {
    this.#write('stderr', `${text}\n`);
  }

  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], none: string): string {
    if (rows.length === 0) return none;
    return table(columns, rows, { width: this.#width(this.#options.stdout), paint: this.#paint('stdout') });
  }

  facts(rows: readonly (readonly [string, Value])[], on: 'stdout' | 'stderr' = 'stdout'): string {
    return facts(rows, { width: this.#width(this.#options[on]), paint: this.#paint(on) });
  }

  title(text: string): string {
    return this.#paint('stdout').title(oneLine(text));
  }

  /** A line that says what is waited for, with the seconds; only where a person looks. @returns its end */
  progress(text: string): () => void {
    const { stderr } = this.#options;
    if (!stderr.isTTY || this.json) return () => {};
    const since = Date.now();
    const draw = () => {
      const seconds = Math.floor((Date.now() - since) / 1000);
      this.#write('stderr', `${CLEAR_LINE}${oneLine(text)} … ${seconds} s`);
    };
    draw();
    const timer = setInterval(draw, PROGRESS_MS);
    this.#progress = timer;
    return () => {
      clearInterval(timer);
      if (this.#progress === timer) this.#progress = null;
      this.#write('stderr', CLEAR_LINE);
    };
  }

  failure(failure: Failure): void {
    const { exit, code, message, fix, orderId, errors = [], context } = failure;
    if (this.json) {
      this.#write(
        'stderr',
        `${harmlessJson({ error: { exitCode: EXIT_CODES[exit].status, ...failure } }, 2)}\n`,
      );
      return;
    }
    const lines = [
      `error: ${code}: ${paragraphs(message)}`,
      ...errors.map((error) => `  ${oneLine(error.path)}: ${oneLine(error.message)}`),
      ...figuresOf(context),
      ...(orderId === undefined ? [] : [`order: ${oneLine(orderId)}`]),
      ...(fix === undefined ? [] : [`fix: ${paragraphs(fix)}`]),
    ];
    this.#write('stderr', `${lines.join('\n')}\n`);
  }

  get isClosed(): boolean {
    return this.#closed.stdout;
  }

  /** Everything is handed over when this is done: `process.exit` may follow. */
  async end(): Promise<void> {
    if (this.#progress !== null) clearInterval(this.#progress);
    await Promise.all(
      (['stdout', 'stderr'] as const).map(
        (name) =>
          new Promise<void>((resolve) => {
            if (this.#closed[name]) resolve();
            else this.#options[name].write('', () => resolve());
          }),
      ),
    );
  }

  #write(name: 'stdout' | 'stderr', text: string): void {
    if (!this.#closed[name]) this.#options[name].write(text);
  }

  #width(stream: CommandStream): number {
    if (stream.isTTY) return stream.columns ?? 80;
    const columns = Number(this.#options.env.COLUMNS);
    return Number.isInteger(columns) && columns > 0 ? columns : Number.POSITIVE_INFINITY;
  }

  #paint(name: 'stdout' | 'stderr'): Paint {
    const { env } = this.#options;
    const isPlain = !this.#options[name].isTTY || (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb';
    return { title: (text) => (isPlain ? text : `\u001b[1m${text}\u001b[22m`) };
  }
}

/** The figures behind a refusal: limit, used, asked. */
function figuresOf(context: Readonly<Record<string, unknown>> | undefined): string[] {
  const figures = Object.entries(context ?? {}).filter(
    ([, value]) => typeof value === 'number' || typeof value === 'string',
  );
  return figures.length === 0
    ? []
    : [`  ${figures.map(([name, value]) => `${oneLine(name)} ${oneLine(String(value))}`).join(', ')}`];
}
