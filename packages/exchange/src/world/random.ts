/**
 * The world's only random generator: xoshiro128** over 32-bit integers, so that a seed gives the same numbers on every
 * platform. It must never be seeded from a clock or from `Math.random`.
 */

/** Four 32-bit words: the whole state of a generator. */
export type RandomState = readonly [number, number, number, number];

const rotate = (x: number, by: number): number => (x << by) | (x >>> (32 - by));

/** Spreads a text over 32 bits (FNV-1a with a final avalanche). */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(state: RandomState) {
    [this.#a, this.#b, this.#c, this.#d] = state;
  }

  /** A separate generator for each (seed, purpose): streams are independent of one another. */
  static seeded(seed: string, purpose: string): Random {
    const words: number[] = [];
    let z = hashText(`${purpose}\u0000${seed}`);
    for (let i = 0; i < 4; i += 1) {
      // splitmix32
      z = (z + 0x9e3779b9) | 0;
      let word = z ^ (z >>> 16);
      word = Math.imul(word, 0x21f0aaad);
      word ^= word >>> 15;
      word = Math.imul(word, 0x735a2d97);
      words.push((word ^ (word >>> 15)) >>> 0);
    }
    // Mixes the seed in a second time: 32 bits of hash alone would let two seeds share a stream.
    const again = hashText(`${seed}\u0001${purpose}`);
    return new Random([words[0]!, words[1]!, (words[2]! ^ again) >>> 0, words[3]! | 1]);
  }

  state(): RandomState {
    return [this.#a >>> 0, this.#b >>> 0, this.#c >>> 0, this.#d >>> 0];
  }

  /** A whole number of 32 bits. */
  next(): number {
    const result = Math.imul(rotate(Math.imul(this.#b, 5), 7), 9) >>> 0;
    const t = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= t;
    this.#d = rotate(this.#d, 11);
    return result;
  }

  /**
   * A whole number from 0 to `bound` − 1, each equally likely.
   * @throws RangeError unless `bound` is 1 to 2^32: it would never stop drawing.
   */
  below(bound: number): number {
    if (!(bound >= 1 && bound <= 0x1_0000_0000)) throw new RangeError(`cannot draw below ${bound}`);
    const limit = 0x1_0000_0000 - (0x1_0000_0000 % bound);
    let value = this.next();
    while (value >= limit) value = this.next();
    return value % bound;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** +1 or −1, equally likely. */
  sign(): 1 | -1 {
    return this.next() >>> 31 === 0 ? 1 : -1;
  }
}
