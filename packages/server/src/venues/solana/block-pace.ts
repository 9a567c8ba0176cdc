/**
 * The duration of a block on this network: measured by the node over its last minutes, and cached for one minute. Blocks
 * decide when a blockhash expires, but people and programs need a time.
 */
import type { Rpc } from './rpc.ts';
import { CHECKS } from './wire.ts';

const SAMPLES = 5;
const FRESH_MS = 60_000;
/** After a failure. */
const RETRY_MS = 5_000;
/** No Solana network is faster: a quote whose stated end is too early does no harm. */
const SHORTEST_BLOCK_MS = 400;
const LONGEST_BLOCK_MS = 5_000;

/** Never throws: without a measurement it assumes the shortest block. */
export function createBlockPace(rpc: Rpc, clock: { now(): number }): () => Promise<number> {
  let blockMs = SHORTEST_BLOCK_MS;
  let askAgainAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;

  const ask = async (): Promise<void> => {
    try {
      const samples = await rpc.read('getRecentPerformanceSamples', [SAMPLES], CHECKS.samples);
      const slots = samples.reduce((sum, { numSlots }) => sum + Number(numSlots), 0);
      const seconds = samples.reduce((sum, { samplePeriodSecs }) => sum + samplePeriodSecs, 0);
      if (slots > 0)
        blockMs = Math.min(LONGEST_BLOCK_MS, Math.max(SHORTEST_BLOCK_MS, (seconds * 1000) / slots));
      askAgainAt = clock.now() + FRESH_MS;
    } catch {
      askAgainAt = clock.now() + RETRY_MS;
    }
  };

  return async () => {
    if (clock.now() >= askAgainAt) {
      asking ??= ask().finally(() => {
        asking = null;
      });
      await asking;
    }
    return blockMs;
  };
}
