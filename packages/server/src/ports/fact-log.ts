/** The append-only log of facts: written by the statements that record evidence, read by database snapshot. */
export interface FactLog {
  /** Deletes facts older than `horizon`, oldest first, at most `most`. @returns how many */
  forget(horizon: number, most: number): Promise<number>;
}
