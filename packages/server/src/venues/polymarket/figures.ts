/** The last known figures by name, within bounds. */
import { BoundedCache } from '../../domain/bounded-cache.ts';

export interface Figure<T> {
  readonly value: T;
  readonly at: number;
}

/** One question at a time for each, and a failed one keeps the old figure. */
export function createFigures<T>(entries: number) {
  const bounds = { entries, weight: entries, weightOf: () => 1 };
  const kept = new BoundedCache<Figure<T>>(bounds);
  const outdated = new BoundedCache<true>(bounds);
  const asking = new Map<string, Promise<T>>();

  const start = (name: string, ask: () => Promise<T>): Promise<T> => {
    const answer: Promise<T> = ask()
      .then((value) => {
        kept.set(name, { value, at: performance.now() });
        // Figures that were asked for before the last change may not know of it.
        if (asking.get(name) === answer) outdated.delete(name);
        return value;
      })
      .finally(() => {
        if (asking.get(name) === answer) asking.delete(name);
      });
    asking.set(name, answer);
    return answer;
  };
  return {
    known: (name: string): Figure<T> | null => kept.get(name) ?? null,
    get(name: string, freshMs: number, ask: () => Promise<T>): Promise<T> {
      const figure = outdated.get(name) === undefined ? kept.get(name) : undefined;
      const age = figure === undefined ? Number.POSITIVE_INFINITY : performance.now() - figure.at;
      const already = asking.get(name);
      if (figure === undefined || age >= freshMs) return already ?? start(name, ask);
      // Asked for again halfway, so that who trades all the time never waits.
      if (age > freshMs / 2 && already === undefined) start(name, ask).catch(() => {});
      return Promise.resolve(figure.value);
    },
    forget(name: string): void {
      asking.delete(name);
      outdated.set(name, true);
    },
  };
}
