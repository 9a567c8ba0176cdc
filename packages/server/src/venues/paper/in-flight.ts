/** Work that must end before what it works on is closed. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface InFlight {
  run<T>(work: () => Promise<T>): Promise<T>;
  /** @returns to be called when it is over, once */
  begin(): () => void;
  /** Resolves when nothing runs, at the latest after `withinMs`. */
  idle(withinMs: number): Promise<void>;
}

export function createInFlight(): InFlight {
  let count = 0;
  let onIdle: () => void = () => {};
  const ended = (): void => {
    count -= 1;
    if (count === 0) onIdle();
  };
  return {
    run(work) {
      count += 1;
      return work().finally(ended);
    },
    begin() {
      count += 1;
      return ended;
    },
    async idle(withinMs) {
      if (count === 0) return;
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      const late = new AbortController();
      await Promise.race([idle, sleep(withinMs, undefined, { signal: late.signal })]);
      late.abort();
    },
  };
}
