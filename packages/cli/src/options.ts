/** Values of options and arguments, read strictly: what is not one is refused before anything happens. */
import { Argument, InvalidArgumentError } from 'commander';

const DECIMAL = /^(\d+(\.\d*)?|\.\d+)$/;

/** A number above zero, as a decimal. */
export function positive(text: string): number {
  const value = Number(text);
  if (!DECIMAL.test(text) || !(value > 0))
    throw new InvalidArgumentError('Give a number above 0, such as 12.5.');
  return value;
}

/** A price of a share: between 0 and 1. */
export function price(text: string): number {
  const value = Number(text);
  if (!DECIMAL.test(text) || !(value > 0 && value < 1))
    throw new InvalidArgumentError('Give a price between 0 and 1, such as 0.62.');
  return value;
}

/** Between 0 and 1, both included. */
export function fraction(text: string): number {
  const value = Number(text);
  if (!DECIMAL.test(text) || value > 1)
    throw new InvalidArgumentError('Give a number between 0 and 1, such as 0.6.');
  return value;
}

export function count(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Give a whole number above 0.');
  return Number(text);
}

/** Epoch seconds, from themselves or from an ISO time with its zone. */
export function time(text: string): number {
  if (/^\d{9,11}$/.test(text)) return Number(text);
  const at = /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:?\d\d)$/i.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw new InvalidArgumentError(
      'Give a time with its zone, such as 2026-12-01T12:00:00Z, or epoch seconds.',
    );
  return Math.floor(at / 1000);
}

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const LEAST_MS = 100;
const MOST_MS = 7 * 86_400_000;

/** Milliseconds, from a number with its unit: a bare number could mean seconds to one person and milliseconds to another. */
export function duration(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text.toLowerCase()) ?? [];
  const ms = Math.round(Number(digits) * (UNITS_MS[unit] ?? Number.NaN));
  if (!(ms >= LEAST_MS && ms <= MOST_MS))
    throw new InvalidArgumentError('Give a time with its unit from 100ms to 7d, such as 30s, 10m or 2h.');
  return ms;
}

/** In any case. */
export const upper =
  <const Word extends string>(...words: readonly Word[]) =>
  (text: string): Word => {
    const word = words.find((one) => one === text.toUpperCase());
    if (word === undefined) throw new InvalidArgumentError(`It is one of ${words.join(', ')}.`);
    return word;
  };

export const outcome = upper('YES', 'NO');

/** YES and NO in any case, and anything else as it is: the market tells whose name it is. */
export function outcomeWord(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('Give YES, NO, or a name of an outcome.');
  return (['YES', 'NO'] as const).find((side) => side === text.toUpperCase()) ?? text;
}

/** The choices are for help and completion: a name is taken, too. */
export const outcomeArgument = (): Argument =>
  new Argument('<outcome>', "the venue's name of an outcome, or its side")
    .choices(['YES', 'NO'])
    .argParser(outcomeWord);

const WALLET_TYPES = { eoa: 0, proxy: 1, safe: 2, deposit: 3 } as const;
export const WALLET_NAMES = Object.keys(WALLET_TYPES);

export function walletType(text: string): 0 | 1 | 2 | 3 {
  const type = (WALLET_TYPES as Readonly<Record<string, 0 | 1 | 2 | 3 | undefined>>)[text.toLowerCase()];
  if (type === undefined) throw new InvalidArgumentError(`It is one of ${WALLET_NAMES.join(', ')}.`);
  return type;
}
