/**
 * Tells most new order ids from those that may have been used, without asking the database: a Bloom filter that grows
 * by layers. "New" is certain; "maybe used" needs a look at exchange_orders. Two bytes an order, whatever the history.
 */
import type { OrderId } from '../engine/types.ts';

const LAYER_BITS = 1 << 24;
/** 16 bits an id and six probes: about one in two thousand new ids costs a needless look. */
const LAYER_CAPACITY = LAYER_BITS / 16;
const PROBES = 6;

interface Layer {
  readonly bits: Uint32Array;
  count: number;
}

const newLayer = (): Layer => ({ bits: new Uint32Array(LAYER_BITS / 32), count: 0 });

/** Two independent hashes of a text; probe i looks at first + i·second. */
function hashes(text: string): readonly [number, number] {
  let first = 0x811c9dc5;
  let second = 0x9747b28c;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    first = Math.imul(first ^ unit, 0x01000193);
    second = Math.imul(second ^ unit, 0x85ebca6b);
    second ^= second >>> 13;
  }
  first ^= first >>> 15;
  return [first >>> 0, (second | 1) >>> 0];
}

export class SeenOrders {
  readonly #layers: Layer[] = [newLayer()];

  add(orderId: OrderId): void {
    let layer = this.#layers.at(-1)!;
    if (layer.count >= LAYER_CAPACITY) {
      layer = newLayer();
      this.#layers.push(layer);
    }
    layer.count += 1;
    const [first, second] = hashes(orderId);
    for (let i = 0; i < PROBES; i += 1) {
      const bit = (first + Math.imul(i, second)) & (LAYER_BITS - 1);
      layer.bits[bit >>> 5]! |= 1 << (bit & 31);
    }
  }

  /** False only when `orderId` was never added. */
  mayHave(orderId: OrderId): boolean {
    const [first, second] = hashes(orderId);
    return this.#layers.some((layer) => {
      for (let i = 0; i < PROBES; i += 1) {
        const bit = (first + Math.imul(i, second)) & (LAYER_BITS - 1);
        if ((layer.bits[bit >>> 5]! & (1 << (bit & 31))) === 0) return false;
      }
      return true;
    });
  }
}
