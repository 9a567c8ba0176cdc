/**
 * Slots and blockhashes of the sandbox, and the transactions of the last slots.
 *
 * Slots and blockhashes are computed from time and a seed: they are not stored, and are the same after a restart. A
 * slot lasts 800 ms and always has its block; a blockhash is valid for 150 blocks after its own, which is two minutes.
 * Slots never decrease, even when the clock goes backwards.
 */
import { createHash } from 'node:crypto';
import { toBase58 } from '@bellwether/protocol';
import type { SignatureStatus } from './chain-interface.ts';

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

// Transactions of the last slots, as in a node's cache: statuses are found by signature, duplicates by message. One
// message has many valid signatures (Ed25519 leaves the nonce to the signer), and may take effect only once.

export interface RecentTransaction {
  readonly signature: string;
  readonly messageHash: string;
  readonly slot: number;
  readonly err: unknown;
  /** `null` once it is durable. Until then its status is not reported. */
  pending: Promise<void> | null;
}

/** SHA-256, hex. The blockhash is part of a message, so a hash is unique for as long as the message can land. */
export const messageHashOf = (message: Uint8Array): string =>
  createHash('sha256').update(message).digest('hex');

export class StatusCache {
  /** In order of their slots. */
  readonly #bySignature = new Map<string, RecentTransaction>();
  readonly #byMessage = new Map<string, RecentTransaction>();

  add(entry: RecentTransaction): void {
    this.#bySignature.set(entry.signature, entry);
    this.#byMessage.set(entry.messageHash, entry);
  }

  /** The transaction with this message, under any signature. */
  ofMessage(hash: string): RecentTransaction | undefined {
    return this.#byMessage.get(hash);
  }

  /** Durable transactions only. */
  durable(signature: string): RecentTransaction | undefined {
    const entry = this.#bySignature.get(signature);
    return entry?.pending === null ? entry : undefined;
  }

  durableSince(slot: number): number {
    let count = 0;
    for (const entry of this.#bySignature.values())
      if (entry.slot > slot && entry.pending === null) count += 1;
    return count;
  }

  forgetBefore(slot: number): void {
    for (const entry of this.#bySignature.values()) {
      if (entry.slot >= slot || entry.pending !== null) break;
      this.#bySignature.delete(entry.signature);
      this.#byMessage.delete(entry.messageHash);
    }
  }
}

/** Blocks until a transaction is final. */
export const FINAL_AFTER_SLOTS = 32;

export const statusOf = ({ slot, err }: { slot: number; err: unknown }, now: number): SignatureStatus => {
  const isFinal = now - slot >= FINAL_AFTER_SLOTS;
  return {
    slot,
    err,
    confirmations: isFinal ? null : Math.max(now - slot, 0),
    confirmationStatus: isFinal ? 'finalized' : 'confirmed',
  };
};
