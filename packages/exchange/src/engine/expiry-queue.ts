/**
 * Open GTD orders by due time: a binary heap whose entries know their index, so that an order that ends early is
 * removed completely in O(log n). Ties are broken by order id, so the result depends only on the orders.
 */
import type { RestingOrder } from './records.ts';

export class ExpiryQueue {
  readonly #heap: RestingOrder[] = [];

  /** The next order that is due at `at` or before. */
  due(at: number): RestingOrder | undefined {
    const first = this.#heap[0];
    return first !== undefined && first.expiresAt! <= at ? first : undefined;
  }

  get size(): number {
    return this.#heap.length;
  }

  add(order: RestingOrder): void {
    this.#heap.push(order);
    this.#rise(order, this.#heap.length - 1);
  }

  remove(order: RestingOrder): void {
    const index = order.queueIndex;
    if (index === -1) return;
    order.queueIndex = -1;
    const last = this.#heap.pop()!;
    if (last === order) return;
    this.#sink(last, index);
    this.#rise(last, last.queueIndex);
  }

  #put(order: RestingOrder, index: number): void {
    this.#heap[index] = order;
    order.queueIndex = index;
  }

  #rise(order: RestingOrder, from: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.#heap[parent]!;
      if (!before(order, above)) break;
      this.#put(above, index);
      index = parent;
    }
    this.#put(order, index);
  }

  #sink(order: RestingOrder, from: number): void {
    let index = from;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= this.#heap.length) break;
      if (child + 1 < this.#heap.length && before(this.#heap[child + 1]!, this.#heap[child]!)) child += 1;
      const below = this.#heap[child]!;
      if (!before(below, order)) break;
      this.#put(below, index);
      index = child;
    }
    this.#put(order, index);
  }
}

const before = (a: RestingOrder, b: RestingOrder): boolean =>
  a.expiresAt! < b.expiresAt! || (a.expiresAt! === b.expiresAt! && a.orderId < b.orderId);
