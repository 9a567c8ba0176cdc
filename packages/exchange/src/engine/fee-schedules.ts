/**
 * The taker's fees by price. Markets with the same terms share one schedule, so that its shares stay in the processor's
 * cache. Terms come from listings, never from those who trade, and are few.
 */
import { PIPS } from '@bellwether/contract/decimals';
import { FeeShare } from './amounts.ts';
import type { MarketSpec } from './types.ts';

type ScheduleTerms = Pick<MarketSpec, 'feeRate' | 'feeExponent' | 'tickSize'>;

export class FeeSchedule {
  readonly #terms: ScheduleTerms;
  readonly #shares: (FeeShare | undefined)[];

  constructor(terms: ScheduleTerms) {
    this.#terms = terms;
    this.#shares = new Array(PIPS / terms.tickSize + 1).fill(undefined);
  }

  at(tick: number): FeeShare {
    let share = this.#shares[tick];
    if (share === undefined) {
      const { feeRate, feeExponent, tickSize } = this.#terms;
      share = new FeeShare(feeRate, feeExponent, tick * tickSize);
      this.#shares[tick] = share;
    }
    return share;
  }
}

export class FeeSchedules {
  readonly #byTerms = new Map<string, FeeSchedule>();

  /** Schedule of valid terms. */
  of({ feeRate, feeExponent, tickSize }: ScheduleTerms): FeeSchedule {
    const key = `${feeRate} ${feeExponent} ${tickSize}`;
    let schedule = this.#byTerms.get(key);
    if (schedule === undefined) {
      schedule = new FeeSchedule({ feeRate, feeExponent, tickSize });
      this.#byTerms.set(key, schedule);
    }
    return schedule;
  }
}
