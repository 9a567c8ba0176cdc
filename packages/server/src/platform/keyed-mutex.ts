/**
 * A fair mutex per key. What an agent does waits for the lock on its row in any case; waiting here instead, it holds no
 * database connection, so one busy agent cannot use up the pool.
 */
export interface KeyedMutex {
  /** Resolves in the order of the calls, with the function that releases the mutex. */
  acquire(key: string): Promise<() => void>;
}

export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<void>>();
  return {
    async acquire(key) {
      const before = last.get(key);
      const { promise, resolve } = Promise.withResolvers<void>();
      last.set(key, promise);
      await before;
      return () => {
        if (last.get(key) === promise) last.delete(key);
        resolve();
      };
    },
  };
}
