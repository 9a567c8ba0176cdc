/** Options of a command such as `--seed 7`. All that is wrong with them is said at once. */
import { parseArgs } from 'node:util';

export class CommandOptions<Name extends string> {
  readonly given = new Map<string, string | undefined>();
  /** Sentences about the trouble. */
  readonly sentences: string[] = [];

  /** @param known all of them; `help` and those in `flags` have no value */
  constructor(args: readonly string[], known: readonly Name[], flags: readonly Name[] = []) {
    const { tokens } = parseArgs({
      args: [...args],
      options: Object.fromEntries(
        known.map((name) => [
          name,
          { type: name === 'help' || flags.includes(name) ? 'boolean' : 'string' } as const,
        ]),
      ),
      strict: false,
      tokens: true,
    });
    for (const token of tokens) {
      if (token.kind === 'positional')
        this.sentences.push(`"${token.value}" is no option; options begin with --.`);
      if (token.kind !== 'option') continue;
      if (!(known as readonly string[]).includes(token.name))
        this.sentences.push(
          `There is no option --${token.name}; the options are ${known.map((name) => `--${name}`).join(', ')}.`,
        );
      else if (this.given.has(token.name)) this.sentences.push(`--${token.name} is given twice.`);
      this.given.set(token.name, token.value);
    }
  }

  has(name: Name): boolean {
    return this.given.has(name);
  }

  text(name: Name): string | undefined {
    return this.given.get(name);
  }

  number(name: Name, fallback: number, isFit: (value: number) => boolean, what: string): number {
    if (!this.given.has(name)) return fallback;
    const text = this.given.get(name) ?? '';
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (!isFit(value)) this.sentences.push(`--${name} needs ${what}, not "${text}".`);
    return value;
  }

  /** A whole number from `least` to `most`. */
  whole(name: Name, fallback: number, [least, most]: readonly [number, number]): number {
    const what = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`;
    return this.number(
      name,
      fallback,
      (value) => Number.isSafeInteger(value) && value >= least && value <= most,
      `a whole number ${what}`,
    );
  }
}
