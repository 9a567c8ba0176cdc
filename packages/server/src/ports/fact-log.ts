/** The append-only log of what happened: written by the statements of the evidence, read by a snapshot. */
export interface FactLog {
  /** Deletes at most `most` of the oldest facts, those from before `horizon`. @returns how many */
  forget(horizon: number, most: number): Promise<number>;
}
