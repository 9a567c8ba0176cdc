/** A part of a list, newest first. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Number on all pages. */
  readonly total: number;
  /** Where the next page begins, with any new rows before it; `null` on the last. */
  readonly cursor: string | null;
}

/**
 * @param found one more than `limit` when there is a next page
 * @param record what the page shows of a row
 * @param cursorOf the place of a row in the list
 */
export function pageOf<Row, T>(
  found: readonly Row[],
  limit: number,
  record: (row: Row) => T,
  cursorOf: (row: Row) => string,
): Pick<Page<T>, 'items' | 'cursor'> {
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return { items: shown.map(record), cursor: hasMore ? cursorOf(last) : null };
}
