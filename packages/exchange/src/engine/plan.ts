/**
 * The complete immediate outcome of an order, before anything of it happens. There is one, used again for every order,
 * with its steps: an order needs it only while it is placed.
 */
import { NONE } from './orders.ts';
import type { MatchKind } from './types.ts';
import { NOTHING, type Units } from './units.ts';

/** One resting order on the way. Size zero: it belongs to the same account and will be cancelled. */
export class Step {
  maker = NONE;
  kind: MatchKind = 'COMPLEMENTARY';
  size = NOTHING;
  /** The maker's side, and the taker's before the fee. */
  makerCost = NOTHING;
  takerCost = NOTHING;
  fee = NOTHING;
}

export class Plan {
  /** Number of steps that belong to this order. */
  length = 0;
  readonly steps: Step[] = [];
  /** True when the order matches another account's order within its limit. */
  crosses = false;
  complete = false;
  filled = NOTHING;
  cost = NOTHING;
  fees = NOTHING;
  /** Micro-shares that can rest, or would be killed; zero when complete. */
  remaining = NOTHING;

  reset(remaining: Units): void {
    this.length = 0;
    this.crosses = false;
    this.complete = false;
    this.filled = NOTHING;
    this.cost = NOTHING;
    this.fees = NOTHING;
    this.remaining = remaining;
  }

  /** A step to fill in. */
  next(): Step {
    let step = this.steps[this.length];
    if (step === undefined) {
      step = new Step();
      this.steps.push(step);
    }
    this.length += 1;
    return step;
  }
}
