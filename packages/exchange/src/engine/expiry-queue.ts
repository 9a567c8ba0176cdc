/**
 * Open GTD orders by due time: a binary heap whose entries know their index, so that an order that ends early is
 * removed completely in O(log n). Ties are broken by order id, so the result depends only on the orders.
 */
import { NONE, type Orders, QUEUED } from './orders.ts';

export class ExpiryQueue {
  readonly #orders: Orders;
  readonly #heap: number[] = [];

  constructor(orders: Orders) {
    this.#orders = orders;
  }

  /** The next order that is due at `at` or before, or NONE. */
  due(at: number): number {
    const first = this.#heap[0];
    return first !== undefined && this.#orders.expiresAt(first) <= at ? first : NONE;
  }

  get size(): number {
    return this.#heap.length;
  }

  add(order: number): void {
    this.#heap.push(order);
    this.#rise(order, this.#heap.length - 1);
  }

  remove(order: number): void {
    const index = this.#orders.link(order, QUEUED);
    if (index === NONE) return;
    this.#orders.setLink(order, QUEUED, NONE);
    const last = this.#heap.pop()!;
    if (last === order) return;
    this.#sink(last, index);
    this.#rise(last, this.#orders.link(last, QUEUED));
  }

  #put(order: number, index: number): void {
    this.#heap[index] = order;
    this.#orders.setLink(order, QUEUED, index);
  }

  #rise(order: number, from: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.#heap[parent]!;
      if (!this.#isBefore(order, above)) break;
      this.#put(above, index);
      index = parent;
    }
    this.#put(order, index);
  }

  #sink(order: number, from: number): void {
    let index = from;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= this.#heap.length) break;
      if (child + 1 < this.#heap.length && this.#isBefore(this.#heap[child + 1]!, this.#heap[child]!))
        child += 1;
      const below = this.#heap[child]!;
      if (!this.#isBefore(below, order)) break;
      this.#put(below, index);
      index = child;
    }
    this.#put(order, index);
  }

  #isBefore(a: number, b: number): boolean {
    const orders = this.#orders;
    const [atA, atB] = [orders.expiresAt(a), orders.expiresAt(b)];
    return atA < atB || (atA === atB && orders.id(a) < orders.id(b));
  }
}
