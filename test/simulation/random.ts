/** Numbers that look like chance and follow from a seed (SFC32). */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** @param stream keeps several sources of one seed apart */
  constructor(seed: number, stream: number) {
    this.#a = seed >>> 0;
    this.#b = stream >>> 0;
    this.#c = 0x9e3779b9;
    for (let warm = 0; warm < 12; warm += 1) this.word();
  }

  /** 32 bits. */
  word(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** From 0 to below 1. */
  share(): number {
    return this.word() / 2 ** 32;
  }

  /** A whole number from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.share() * end);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  fill(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = this.word() & 0xff;
  }
}
