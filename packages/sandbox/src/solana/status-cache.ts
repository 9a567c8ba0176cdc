/**
 * Transactions of the last slots, as in a node's cache: statuses are found by signature, duplicates by message. One
 * message has many valid signatures (Ed25519 leaves the nonce to the signer), and may take effect only once.
 */
import { createHash } from 'node:crypto';
import type { SignatureStatus } from './types.ts';

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
