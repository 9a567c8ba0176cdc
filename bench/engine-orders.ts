/**
 * The orders of the engine's benchmark: of a hundred, sixty are new limit orders, thirty cancel an open one, ten are
 * market orders. They come from a thousand accounts, each active in ten markets, and go to a hundred markets by Zipf's
 * law: the second most popular market gets half as many as the first. A hundred thousand orders are open before. Prices
 * follow a middle that moves by a tick now and then, so some limit orders cross; half of all orders are for NO, so all
 * three kinds of match occur. The generator runs its orders through an engine, so that a cancel names an open order.
 */

import type { EngineCommand, NewOrder, Outcome, Side } from '../packages/exchange/src/engine/commands.ts';
import { Engine } from '../packages/exchange/src/engine/engine.ts';

export const MARKETS = 100;
const ACCOUNTS = 1_000;
const MARKETS_OF_AN_ACCOUNT = 10;
/** Open orders before the mix begins. */
const DEPTH = 100_000;
const TICK = 100;
/** Micro collateral of an account, and its sets in every market. */
const DEPOSIT = 1_000_000_000_000n;
const SETS = 10_000_000_000n;
const MICRO = 1_000_000n;

export interface Orders {
  /** Markets, deposits and full sets. */
  readonly founding: readonly EngineCommand[];
  /** The orders that give the books their depth. */
  readonly depth: readonly EngineCommand[];
  /** The commands that are measured. */
  readonly mix: readonly EngineCommand[];
}

export function makeOrders(count: number): Orders {
  const makers = new Makers();
  const founding = makers.found();
  const depth = Array.from({ length: DEPTH }, () => makers.limit());
  const mix = Array.from({ length: count }, () => makers.next());
  return { founding, depth, mix };
}

/** The same command with texts of its own, as one that was read from a request; only the market's id is the catalogue's text. */
export function asReceived(command: EngineCommand): EngineCommand {
  if (command.kind === 'cancel')
    return { kind: 'cancel', account: copied(command.account), orderIds: command.orderIds.map(copied) };
  if (command.kind !== 'place') return command;
  const { order } = command;
  return {
    kind: 'place',
    order: { ...order, orderId: copied(order.orderId), account: copied(order.account) },
  };
}

const copied = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/** 66 characters, as on the wire. */
export const conditionId = (market: number): string => CONDITION_IDS[market]!;
const CONDITION_IDS = Array.from(
  { length: MARKETS },
  (_, market) => `0x${market.toString(16).padStart(64, '0')}`,
);
const account = (index: number): string => `0x${(index + 1).toString(16).padStart(40, '0')}`;

const listing = (market: number): EngineCommand => ({
  kind: 'list',
  market: {
    conditionId: conditionId(market),
    tokenIds: [`${2 * market}`, `${2 * market + 1}`],
    tickSize: TICK,
    minOrderSize: 5n * MICRO,
    feeRate: 40_000n,
    feeExponent: 1,
  },
});

/** Sums of 1/rank: a uniform draw below the last one lies under the sum of the market that it means. */
function popularities(): number[] {
  let sum = 0;
  return Array.from({ length: MARKETS }, (_, index) => (sum += 1 / (index + 1)));
}

class Makers {
  readonly #engine = new Engine();
  readonly #random = generator(7);
  /** YES price in ticks around which a market trades. */
  readonly #middles = Array.from({ length: MARKETS }, () => 20 + this.#below(60));
  readonly #popularities = popularities();
  /** The accounts that are active in a market. */
  readonly #traders: number[][] = Array.from({ length: MARKETS }, () => []);
  readonly #open: NewOrder[] = [];
  readonly #places = new Map<string, number>();
  #orders = 0;
  #at = 1;

  found(): EngineCommand[] {
    const commands = Array.from({ length: MARKETS }, (_, market) => listing(market));
    for (let index = 0; index < ACCOUNTS; index += 1) {
      commands.push({ kind: 'deposit', account: account(index), amount: DEPOSIT });
      const active = new Set<number>([index % MARKETS]);
      while (active.size < MARKETS_OF_AN_ACCOUNT) active.add(this.#popular());
      for (const market of active) {
        this.#traders[market]!.push(index);
        const named = { account: account(index), conditionId: conditionId(market) };
        commands.push({ kind: 'split', ...named, amount: SETS });
      }
    }
    for (const command of commands) this.#apply(command);
    return commands;
  }

  next(): EngineCommand {
    const roll = this.#below(100);
    if (roll < 30) return this.#cancel();
    return roll < 40 ? this.#market() : this.limit(roll >= 95);
  }

  limit(moves = false): EngineCommand {
    const market = this.#popular();
    if (moves)
      this.#middles[market] = Math.min(80, Math.max(20, this.#middles[market]! + 2 * this.#below(2) - 1));
    const { outcome, side } = this.#direction();
    const middle = outcome === 'YES' ? this.#middles[market]! : 100 - this.#middles[market]!;
    // Two in three within three ticks of the middle, the others up to fifteen ticks away.
    const away = 1 + (this.#below(3) < 2 ? this.#below(3) : 3 + this.#below(12));
    return this.#place({
      ...this.#named(market),
      outcome,
      side,
      limit: TICK * (middle + (side === 'BUY' ? -away : away)),
      size: BigInt(5 + this.#below(40)) * MICRO,
      timeInForce: 'GTC',
      postOnly: false,
    });
  }

  #market(): EngineCommand {
    const market = this.#popular();
    const { outcome, side } = this.#direction();
    const size = BigInt(5 + this.#below(60)) * MICRO;
    return this.#place({
      ...this.#named(market),
      outcome,
      side,
      limit: side === 'BUY' ? 9_900 : 100,
      size,
      ...(side === 'BUY' ? { spend: size / 2n } : {}),
      timeInForce: 'FAK',
      postOnly: false,
    });
  }

  #cancel(): EngineCommand {
    const { account, orderId } = this.#open[this.#below(this.#open.length)]!;
    return this.#apply({ kind: 'cancel', account, orderIds: [orderId] });
  }

  #place(order: NewOrder): EngineCommand {
    if (order.timeInForce === 'GTC') {
      this.#places.set(order.orderId, this.#open.length);
      this.#open.push(order);
    }
    return this.#apply({ kind: 'place', order });
  }

  #apply(command: EngineCommand): EngineCommand {
    this.#at += 1;
    for (const event of this.#engine.apply(command, this.#at))
      if (event.kind === 'order_done' || event.kind === 'order_rejected') this.#forget(event.orderId);
    return command;
  }

  #forget(orderId: string): void {
    const place = this.#places.get(orderId);
    if (place === undefined) return;
    this.#places.delete(orderId);
    const last = this.#open.pop()!;
    if (last.orderId === orderId) return;
    this.#open[place] = last;
    this.#places.set(last.orderId, place);
  }

  #named(market: number): Pick<NewOrder, 'orderId' | 'account' | 'conditionId'> {
    this.#orders += 1;
    const traders = this.#traders[market]!;
    return {
      orderId: `0x${this.#orders.toString(16).padStart(64, '0')}`,
      account: account(traders[this.#below(traders.length)]!),
      conditionId: conditionId(market),
    };
  }

  #direction(): { readonly outcome: Outcome; readonly side: Side } {
    return { outcome: this.#below(2) === 0 ? 'YES' : 'NO', side: this.#below(2) === 0 ? 'BUY' : 'SELL' };
  }

  #popular(): number {
    const drawn = this.#random() * this.#popularities[MARKETS - 1]!;
    return this.#popularities.findIndex((sum) => drawn < sum);
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }
}

/** A small seeded generator (mulberry32): the same orders on every machine. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
