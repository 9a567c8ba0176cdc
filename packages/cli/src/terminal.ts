/**
 * Text that others wrote, made fit for a terminal: titles, rules and messages can hold escape sequences, which would move the
 * cursor, change what is on the screen or answer in the user's name, and characters that reverse or hide what follows.
 */
import Table from 'cli-table3';

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

// Tables for people: not wider than the terminal, and as wide as their text where the output is no terminal.

export type Value = string | number | boolean | null | undefined;

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => Value;
  readonly align?: 'left' | 'right';
  /** The text may be cut where the terminal is narrow. Without it the column is as wide as its text. */
  readonly shrinks?: boolean;
}

export interface Paint {
  /** Column titles and labels. */
  title(text: string): string;
}

const GAP = 2;
/** A column that shrinks stays readable; a terminal that is narrower still wraps the line. */
const NARROWEST = 8;
const STYLE = { 'padding-left': 0, 'padding-right': 0, head: [], border: [] };
const NO_LINES = Object.fromEntries(
  ['top', 'bottom', 'mid']
    .flatMap((line) => [line, `${line}-mid`, `${line}-left`, `${line}-right`])
    .map((name) => [name, '']),
);
const CHARS = {
  ...NO_LINES,
  left: '',
  'left-mid': '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: ' '.repeat(GAP),
};

/** Up to six decimals, as amounts have; `–` for what there is not. */
function shown(value: Value): string {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'number') return String(Math.round(value * 1e6) / 1e6);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return oneLine(value);
}

/** The widest of these texts on a terminal, where some characters take two places: the frame of a table tells. */
function widthOf(texts: readonly string[]): number {
  const table = new Table({ style: STYLE });
  for (const text of texts) table.push([text]);
  return (table.toString().split('\n', 1)[0] as string).length - 2;
}

/** Takes from the widest column that shrinks until the row fits. */
function fitted(widths: readonly number[], mayShrink: readonly boolean[], width: number): number[] {
  const fitting = [...widths];
  const total = () => fitting.reduce((sum, one) => sum + one, GAP * (fitting.length - 1));
  while (total() > width) {
    const widest = fitting
      .map((one, i) => ({ one, i }))
      .filter(({ one, i }) => mayShrink[i] === true && one > NARROWEST)
      .sort((a, b) => b.one - a.one)[0];
    if (widest === undefined) break;
    fitting[widest.i] = widest.one - 1;
  }
  return fitting;
}

const withoutTrailingSpace = (text: string): string => text.replaceAll(/[ \t]+$/gm, '');

/** @param width of the terminal; Infinity where there is none */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, paint }: { readonly width: number; readonly paint: Paint },
): string {
  const cells = rows.map((row) => columns.map(({ value }) => shown(value(row))));
  const natural = columns.map(({ title }, i) => widthOf([title, ...cells.map((row) => row[i] as string)]));
  const colWidths = fitted(
    natural,
    columns.map(({ shrinks }) => shrinks === true),
    width,
  );
  const made = new Table({
    chars: CHARS,
    style: STYLE,
    colWidths,
    colAligns: columns.map(({ align }) => align ?? 'left'),
    head: columns.map(({ title }) => paint.title(title)),
  });
  made.push(...cells);
  return withoutTrailingSpace(made.toString());
}

/** Names and what they are, one a line; a long value goes on below itself. */
export function facts(
  rows: readonly (readonly [label: string, value: Value])[],
  { width, paint }: { readonly width: number; readonly paint: Paint },
): string {
  const texts = rows.map(([label, value]) => [label, shown(value)] as const);
  const labels = widthOf(texts.map(([label]) => label));
  const values = widthOf(texts.map(([, value]) => value));
  const made = new Table({
    chars: CHARS,
    style: STYLE,
    colWidths: [labels, Math.max(NARROWEST, Math.min(values, width - labels - GAP))],
    wordWrap: true,
    // An id is never broken at a hyphen.
    wrapOnWordBoundary: true,
  });
  made.push(...texts.map(([label, value]) => [paint.title(label), value]));
  return withoutTrailingSpace(made.toString());
}
