/**
 * Turns by name: who comes later waits until the one before has left. An agent's trades wait for its row's lock in any
 * case; waiting here instead, they hold no connection meanwhile, so one busy agent cannot take the pool from the rest.
 */
export interface Turns {
  /** Resolves when it is the caller's turn, with what ends it. */
  take(name: string): Promise<() => void>;
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<void>>();
  return {
    async take(name) {
      const before = last.get(name);
      const { promise, resolve } = Promise.withResolvers<void>();
      last.set(name, promise);
      await before;
      return () => {
        if (last.get(name) === promise) last.delete(name);
        resolve();
      };
    },
  };
}
