/**
 * Text that others wrote, made fit for a terminal: titles, rules and messages can hold escape sequences, which would move the
 * cursor, change what is on the screen or answer in the user's name, and characters that reverse or hide what follows.
 */

/** Control and format characters, lone surrogates, private use, unassigned, and line separators. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
const REPLACEMENT = '\u{FFFD}';

/** One line. */
export const oneLine = (text: string): string =>
  text
    .replaceAll(/[\s\u0085]+/g, ' ')
    .trim()
    .replaceAll(UNPRINTABLE, REPLACEMENT);

const NAME_CHARS = 100;
const PLAIN_NAMES: Readonly<Record<string, string | undefined>> = { YES: 'yes', NO: 'no' };

/** A name of an outcome on one line, as long as the desk may make it. */
export function outcomeName(name: string | null | undefined): string {
  const shown = [...oneLine(name ?? '')];
  return shown.length > NAME_CHARS ? `${shown.slice(0, NAME_CHARS).join('')}…` : shown.join('');
}

/** A side with the venue's name of it, which is left out where it says no more. */
export function outcomeText(outcome: string, name: string | null | undefined, between = ' '): string {
  const shown = outcomeName(name);
  const isPlain = shown === '' || shown.toLowerCase() === PLAIN_NAMES[outcome];
  return isPlain ? outcome : `${outcome}${between}${shown}`;
}

/** Parts of a line, two spaces apart. */
export const columns = (...parts: readonly string[]): string =>
  parts
    .map(oneLine)
    .filter((part) => part !== '')
    .join('  ');

/** The end of a market; `null` where its venue names none, for which the desk says the year 9999. */
export const endOf = (endDate: string): string | null => (endDate.startsWith('9999-') ? null : endDate);

/** Line breaks stay, at most two in a row. */
export const paragraphs = (text: string): string =>
  text
    .split(/\r\n|[\n\r\u0085\u2028\u2029]/)
    .map(oneLine)
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();

/** JSON as before, with every character escaped that a terminal could act on: C1 controls are no controls to JSON. */
export const harmlessJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replaceAll(UNPRINTABLE, (character) =>
    character === '\n'
      ? character
      : [...Array(character.length).keys()]
          .map((i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`)
          .join(''),
  );
