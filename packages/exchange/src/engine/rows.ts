/**
 * Tables of the engine: rows in one buffer that grows, seen as integers and as doubles, so that what a command needs of
 * one row lies in neighbouring lines of the processor's cache; and an index that finds rows by a hash.
 */

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

/**
 * Finds rows of a table by a hash: open addressing in one Int32Array. A Map from long texts costs several memory
 * accesses for each call, and its order is not needed. The caller compares the keys:
 *
 *     for (let slot = index.first(hash); slot !== -1; slot = index.next(slot)) if (isIt(index.row(slot))) …
 */
const FIRST_SLOTS = 1 << 10;
/** Full enough to stay in the processor's cache, empty enough that runs are short. */
const GREATEST_LOAD = 0.7;

export class RowIndex {
  /** [row + 1, hash] for each slot; 0 marks an empty one. */
  #slots = new Int32Array(2 * FIRST_SLOTS);
  #mask = FIRST_SLOTS - 1;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The first slot that may hold a row with this hash, or −1. */
  first(hash: number): number {
    return this.#from(hash & this.#mask, hash);
  }

  /** The next slot with the same hash as `slot`, or −1. */
  next(slot: number): number {
    return this.#from((slot + 1) & this.#mask, this.#slots[2 * slot + 1]!);
  }

  row(slot: number): number {
    return this.#slots[2 * slot]! - 1;
  }

  add(hash: number, row: number): void {
    if (this.#size >= this.#mask * GREATEST_LOAD) this.#grow();
    this.#size += 1;
    this.#put(hash, row);
  }

  /** Moves later rows of the same run forward, so that no gap interrupts it. */
  remove(hash: number, row: number): void {
    const slots = this.#slots;
    let gap = hash & this.#mask;
    while (slots[2 * gap] !== row + 1) gap = (gap + 1) & this.#mask;
    for (let slot = (gap + 1) & this.#mask; slots[2 * slot] !== 0; slot = (slot + 1) & this.#mask) {
      const home = slots[2 * slot + 1]! & this.#mask;
      // It may move when its home is not between the gap and its place.
      if (((slot - home) & this.#mask) < ((slot - gap) & this.#mask)) continue;
      slots[2 * gap] = slots[2 * slot]!;
      slots[2 * gap + 1] = slots[2 * slot + 1]!;
      gap = slot;
    }
    slots[2 * gap] = 0;
    this.#size -= 1;
  }

  #from(start: number, hash: number): number {
    const slots = this.#slots;
    for (let slot = start; slots[2 * slot] !== 0; slot = (slot + 1) & this.#mask)
      if (slots[2 * slot + 1] === hash) return slot;
    return -1;
  }

  #put(hash: number, row: number): void {
    let slot = hash & this.#mask;
    while (this.#slots[2 * slot] !== 0) slot = (slot + 1) & this.#mask;
    this.#slots[2 * slot] = row + 1;
    this.#slots[2 * slot + 1] = hash;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Int32Array(2 * old.length);
    this.#mask = this.#slots.length / 2 - 1;
    for (let at = 0; at < old.length; at += 2) if (old[at] !== 0) this.#put(old[at + 1]!, old[at]! - 1);
  }
}

/** Spreads the bits of a number over 32 bits. */
export function mixed(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
  bits = Math.imul(bits ^ (bits >>> 16), 0x45d9f3b);
  return bits ^ (bits >>> 16);
}
