/**
 * A small canonical binary form: unsigned integers as LEB128, of any size, each with one encoding; texts as their
 * length in bytes and UTF-8. Equal values give equal bytes.
 */

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

export class ByteWriter {
  #bytes = new Uint8Array(1 << 16);
  #length = 0;

  /** A word, encoded as its index in a list. */
  word<Word>(words: readonly Word[], value: Word): void {
    this.integer(words.indexOf(value));
  }

  /** A safe non-negative integer. */
  integer(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`cannot encode ${value}`);
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = rest < 0x80000000 ? rest >>> 7 : Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** A non-negative bigint of any size. */
  amount(value: bigint): void {
    // Encoding, not arithmetic: up to 2^53 a number represents the same value.
    if (value >= 0n && value <= SAFE) {
      this.integer(Number(value));
      return;
    }
    if (value < 0n) throw new RangeError(`cannot encode ${value}`);
    let rest = value;
    while (rest >= 0x80n) {
      this.#reserve(1);
      this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#reserve(1);
    this.#bytes[this.#length++] = Number(rest);
  }

  text(value: string): void {
    const start = this.#length;
    this.integer(value.length);
    this.#reserve(value.length);
    for (let index = 0; index < value.length; index += 1) {
      const unit = value.charCodeAt(index);
      if (unit >= 0x80) {
        this.#length = start;
        this.#encoded(value);
        return;
      }
      this.#bytes[this.#length++] = unit;
    }
  }

  bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** The rare text that is not plain ASCII. */
  #encoded(value: string): void {
    // A lone surrogate has no UTF-8: two different texts would become equal bytes.
    if (!value.isWellFormed()) throw new RangeError('cannot encode a text with a lone surrogate');
    const bytes = new TextEncoder().encode(value);
    this.integer(bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + count));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** Reads what a ByteWriter wrote. Every method throws RangeError where the bytes end too early. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  integer(): number {
    const value = this.amount();
    if (value > SAFE) throw new RangeError(`${value} is too large for an integer`);
    return Number(value);
  }

  amount(): bigint {
    // Up to 49 bits are gathered in a number, which is exact; the rest in a bigint.
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 7; count += 1) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      scale *= 0x80;
      if (byte < 0x80) return BigInt(value);
    }
    let large = BigInt(value);
    for (let shift = 49n; ; shift += 7n) {
      const byte = this.#byte();
      large |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return large;
    }
  }

  text(): string {
    const length = this.integer();
    if (this.#position + length > this.#bytes.length) throw new RangeError('the bytes end within a text');
    this.#position += length;
    return this.#decoder.decode(this.#bytes.subarray(this.#position - length, this.#position));
  }

  /** A word of a list, by its index. */
  word<Word>(words: readonly Word[]): Word {
    const place = this.integer();
    if (place >= words.length) throw new RangeError(`index ${place} is outside the list ${words.join(', ')}`);
    return words[place]!;
  }

  get atEnd(): boolean {
    return this.#position === this.#bytes.length;
  }

  #byte(): number {
    const byte = this.#bytes[this.#position];
    if (byte === undefined) throw new RangeError('the bytes end within a number');
    this.#position += 1;
    return byte;
  }
}
