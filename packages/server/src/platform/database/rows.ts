export const ms = (value: Date): number => value.getTime();
export const msOrNull = (value: Date | null): number | null => (value === null ? null : value.getTime());

/** Column values as parameters of a statement. */
export type ColumnValues = Record<string, unknown>;

/** The one row of a statement that always returns one. */
export function only<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('the statement returned no row');
  return row;
}

/** A row inside JSON, which has neither 64-bit integers nor times. */
export type AsJson<T> = {
  readonly [K in keyof T]: T[K] extends bigint | Date
    ? string
    : T[K] extends Date | null
      ? string | null
      : T[K];
};
