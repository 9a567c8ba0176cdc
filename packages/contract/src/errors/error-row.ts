export interface ErrorRow {
  /** The HTTP status of an answer with this code. */
  readonly status: number;
  /** A short name for people. */
  readonly title: string;
  /** The next step, where that is known without looking at the request. */
  readonly fix: string;
}
