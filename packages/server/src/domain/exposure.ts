/** What is at stake in held positions. All money in micro collateral. */
import type { Micro } from '@bellwether/contract/decimals';

export interface HeldTokens {
  readonly wallet: string;
  readonly conditionId: string;
  readonly size: Micro;
  readonly cost: Micro;
}

/**
 * The worst loss of what is held: its cost, less what is sure to be paid. One of YES and NO pays, so of a pair held on
 * one account the smaller leg is sure; what a pair pays above its cost is no loss anywhere else.
 */
export function exposure(held: readonly HeldTokens[]): Micro {
  const pairs = new Map<string, HeldTokens[]>();
  for (const position of held) {
    const key = `${position.wallet} ${position.conditionId}`;
    pairs.set(key, [...(pairs.get(key) ?? []), position]);
  }
  let total = 0n;
  for (const legs of pairs.values()) {
    const cost = legs.reduce((sum, leg) => sum + leg.cost, 0n);
    const [first, second] = legs;
    const sure =
      first === undefined || second === undefined ? 0n : first.size < second.size ? first.size : second.size;
    if (cost > sure) total += cost - sure;
  }
  return total;
}

const PERCENT = 100;

/** Share in percent that the `count` largest have in the sum of all; 0 when there is nothing. */
export function concentration(values: readonly Micro[], count: number): number {
  const total = values.reduce((sum, value) => sum + value, 0n);
  if (total === 0n) return 0;
  const largest = [...values].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0)).slice(0, count);
  const part = largest.reduce((sum, value) => sum + value, 0n);
  return Math.round((Number(part) / Number(total)) * PERCENT * PERCENT) / PERCENT;
}
