/** Transactions that change rows of several agents may wait for each other; one of them gives way and is tried again. */
import { setTimeout as sleep } from 'node:timers/promises';

/** The lock was not to be had in time; the database ended the transaction because of a deadlock. */
const GAVE_WAY = new Set(['55P03', '40P01']);
const ATTEMPTS = 5;
const LONGEST_REST_MS = 100;

export const gaveWay = (error: unknown): boolean => GAVE_WAY.has((error as { code?: string })?.code ?? '');

/**
 * @param work a whole transaction, so that nothing of an attempt that gave way is left
 * @throws what `work` threw the last time
 */
export async function givingWay<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!gaveWay(error) || attempt === ATTEMPTS) throw error;
      // Not at the same time: the other one may have to give way, too.
      await sleep(Math.random() * LONGEST_REST_MS);
    }
  }
}
