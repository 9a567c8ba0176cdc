/**
 * The rows of a table in one buffer that grows, seen as integers and as doubles: what a command needs of one row lies in
 * neighbouring lines of the processor's cache.
 */
export class Rows {
  ints: Int32Array;
  doubles: Float64Array;
  readonly #words: number;

  /** @param words of eight bytes in a row: one double or two integers each */
  constructor(words: number, rows: number) {
    this.#words = words;
    this.doubles = new Float64Array(words * rows);
    this.ints = new Int32Array(this.doubles.buffer);
  }

  /** Makes room for a row. It may replace both arrays, so no caller may keep them. */
  reserve(row: number): void {
    if ((row + 1) * this.#words <= this.doubles.length) return;
    const larger = new Float64Array(2 * this.doubles.length);
    larger.set(this.doubles);
    this.doubles = larger;
    this.ints = new Int32Array(larger.buffer);
  }
}
