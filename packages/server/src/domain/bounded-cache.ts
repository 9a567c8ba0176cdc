/** Keeps what was asked for last, within a number of entries and a total weight. */
interface CacheBounds<V> {
  readonly entries: number;
  readonly weight: number;
  readonly weightOf: (value: V) => number;
}

export class BoundedCache<V> {
  readonly #bounds: CacheBounds<V>;
  /** Least recently used first. */
  readonly #kept = new Map<string, V>();
  #weight = 0;

  constructor(bounds: CacheBounds<V>) {
    this.#bounds = bounds;
  }

  get(key: string): V | undefined {
    const value = this.#kept.get(key);
    if (value === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, value);
    return value;
  }

  set(key: string, value: V): void {
    this.delete(key);
    this.#kept.set(key, value);
    this.#weight += this.#bounds.weightOf(value);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#bounds.entries && this.#weight <= this.#bounds.weight) return;
      this.delete(oldest);
    }
  }

  clear(): void {
    this.#kept.clear();
    this.#weight = 0;
  }

  delete(key: string): void {
    const value = this.#kept.get(key);
    if (value === undefined) return;
    this.#kept.delete(key);
    this.#weight -= this.#bounds.weightOf(value);
  }
}
