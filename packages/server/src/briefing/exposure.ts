/** The stake of held positions. All money in micro collateral. */
import type { Micro } from '@bellwether/contract/decimals';

export interface HeldTokens {
  readonly wallet: string;
  readonly conditionId: string;
  readonly size: Micro;
  readonly cost: Micro;
}

/**
 * The worst possible loss of held positions: their cost, less what is certain to be paid. Either YES or NO pays, so of a
 * pair on one account the smaller leg is certain; a pair's certain profit does not reduce the loss of other positions.
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

/** Share of the `count` largest values in the sum of all, in percent; 0 when the sum is 0. */
export function concentration(values: readonly Micro[], count: number): number {
  const total = values.reduce((sum, value) => sum + value, 0n);
  if (total === 0n) return 0;
  const largest = [...values].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0)).slice(0, count);
  const part = largest.reduce((sum, value) => sum + value, 0n);
  return Math.round((Number(part) / Number(total)) * PERCENT * PERCENT) / PERCENT;
}
