/**
 * Slots and blockhashes of the sandbox, computed from time and a seed: they are not stored, and are the same after a
 * restart. A slot lasts 800 ms and always has its block; a blockhash is valid for 150 blocks after its own, which is
 * two minutes. Slots never decrease, even when the clock goes backwards.
 */
import { createHash } from 'node:crypto';
import { toBase58 } from '@bellwether/protocol';

export const SLOT_MS = 800;
const BLOCKHASH_LIFE_BLOCKS = 150;
/** Slots for which a signature's status is known without searching the history. */
export const RECENT_SLOTS = 300;

/** State on which two clocks of one chain agree, besides seed and time. */
export interface BlockOrigin {
  readonly genesisMs: number;
  /** The last slot that is known to have passed. */
  readonly atLeast: number;
}

export interface BlockClock {
  slot(): number;
  /** Never falls behind a slot that another clock of this chain has shown. */
  reach(slot: number): void;
  /** Blockhash of the newest block, or of an earlier one. */
  blockhash(slot: number): string;
  isValid(blockhash: string): boolean;
}

export function blockClock(
  options: BlockOrigin & { readonly seed: string; readonly now: () => number },
): BlockClock {
  let latest = options.atLeast;
  let hashedTo = -1;
  /** Blockhashes that are still valid, oldest first. */
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
  const reach = (shown: number): void => {
    latest = Math.max(latest, shown);
  };
  return { slot, reach, blockhash, isValid };
}

/** The newest block, and the last height at which its blockhash may be used. */
export function latestBlockhash(blocks: BlockClock): { blockhash: string; lastValidBlockHeight: number } {
  const slot = blocks.slot();
  return { blockhash: blocks.blockhash(slot), lastValidBlockHeight: slot + BLOCKHASH_LIFE_BLOCKS };
}

export const hashOf = (seed: string, what: string): string =>
  toBase58(createHash('sha256').update(seed).update('\0').update(what).digest());
