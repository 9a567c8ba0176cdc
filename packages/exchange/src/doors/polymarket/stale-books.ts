/** Books that a fault keeps as they were shown. */
import type { BookView, ConditionId, Outcome } from '../../paper-exchange.ts';
import type { Faults } from './faults.ts';

/** Most books that are remembered. */
const MOST_SHOWN = 1_000;

export class StaleBooks {
  readonly #faults: Faults | undefined;
  readonly #shown = new Map<string, { readonly book: BookView; readonly at: number }>();

  constructor(faults: Faults | undefined) {
    this.#faults = faults;
  }

  /** The book that a client is shown: the fresh one, or for a while the one that was shown before. */
  show(conditionId: ConditionId, outcome: Outcome, fresh: BookView): BookView {
    const faults = this.#faults;
    const staleMs = faults?.isOn === true ? faults.plan.staleBooksMs : 0;
    if (faults === undefined || staleMs === 0) return fresh;
    const key = `${conditionId} ${outcome}`;
    const shown = this.#shown.get(key);
    if (shown !== undefined && faults.now() - shown.at < staleMs) return shown.book;
    this.#shown.delete(key);
    this.#shown.set(key, { book: fresh, at: faults.now() });
    const [oldest] = this.#shown.keys();
    if (this.#shown.size > MOST_SHOWN && oldest !== undefined) this.#shown.delete(oldest);
    return fresh;
  }
}
