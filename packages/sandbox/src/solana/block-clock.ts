/**
 * Slots and blockhashes of the sandbox, out of time and a seed: nothing of them is stored, and they are the same after
 * a restart. A slot lasts 800 ms and always has its block; a blockhash is good for 150 blocks after its own, which makes
 * two minutes. Time that goes backwards does not take slots back.
 */
import { createHash } from 'node:crypto';
import { toBase58 } from '@bellwether/protocol';

export const SLOT_MS = 800;
export const BLOCKHASH_LIFE_BLOCKS = 150;
/** How far back a signature's status is known without a look into history. */
export const RECENT_SLOTS = 300;

export interface BlockClock {
  slot(): number;
  /** Of the newest block, or of one before it. */
  blockhash(slot: number): string;
  isValid(blockhash: string): boolean;
}

export function blockClock(options: {
  readonly seed: string;
  readonly genesisMs: number;
  /** The last slot that is known to have been. */
  readonly atLeast: number;
  readonly now: () => number;
}): BlockClock {
  let latest = options.atLeast;
  let hashedTo = -1;
  /** Of the blocks whose blockhash is still good, oldest first. */
  const good = new Map<string, number>();
  const blockhash = (slot: number): string => hashOf(options.seed, `block ${slot}`);

  const slot = (): number => {
    latest = Math.max(latest, Math.floor((options.now() - options.genesisMs) / SLOT_MS), 0);
    return latest;
  };
  const isValid = (candidate: string): boolean => {
    const newest = slot();
    const oldest = newest - BLOCKHASH_LIFE_BLOCKS;
    for (let height = Math.max(hashedTo + 1, oldest, 0); height <= newest; height++)
      good.set(blockhash(height), height);
    hashedTo = newest;
    for (const [hash, height] of good) {
      if (height >= oldest) break;
      good.delete(hash);
    }
    return good.has(candidate);
  };
  return { slot, blockhash, isValid };
}

export const hashOf = (seed: string, what: string): string =>
  toBase58(createHash('sha256').update(seed).update('\0').update(what).digest());
