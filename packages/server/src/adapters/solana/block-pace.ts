/**
 * How long a block lasts on this network: measured by the node itself over its last minutes, and remembered for one. A
 * blockhash dies by blocks, people and programs wait by clocks.
 */
import type { Rpc } from './rpc.ts';
import { CHECKS } from './wire.ts';

const SAMPLES = 5;
const FRESH_MS = 60_000;
/** After a failure. */
const RETRY_MS = 5_000;
/** What no network of Solana's is faster than: a quote that is told to end too early does no harm. */
const SHORTEST_BLOCK_MS = 400;
const LONGEST_BLOCK_MS = 5_000;

/** Never throws: a node that does not measure is taken for the fastest there is. */
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
