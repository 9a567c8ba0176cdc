/**
 * The result of a row of the benchmark, and how it is printed. A row whose figures are worthless, because an answer was
 * not the expected one, throws instead.
 */

/** [what, ratio, goal] */
export type Ratio = readonly [what: string, ratio: string, goal: string];

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Report {
  readonly ratios: readonly Ratio[];
  readonly tables: readonly Table[];
}

export interface RowOptions {
  readonly full: boolean;
  /** Other checkouts of the repository, measured in turns with this one. */
  readonly roots: readonly string[];
  readonly rounds: number | null;
  /** A small share of the growth, to try it. */
  readonly share?: number;
}

export const whole = (value: number): string =>
  Number.isNaN(value) ? '–' : Math.round(value).toLocaleString('en');
export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ms`;
export const times = (value: number): string => value.toFixed(2);
export const megabytes = (bytes: number): string => `${whole(bytes / 1_000_000)} MB`;

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** A Markdown table; all columns but the first are right-aligned. */
export function tableText({ head, rows }: Table): string {
  const widths = head.map((name, at) => Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((text, at) => (at === 0 ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, at) => '-'.repeat(width + 1) + (at === 0 ? '-' : ':')).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
