/** Markdown building blocks of the generated pages. */

export const NOTE = '<!-- Made by scripts/generate-docs.ts. Change the code, then run it. -->';

export type Row = readonly string[];

/** A pipe would end the cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();
export const table = (head: Row, rows: readonly Row[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');
