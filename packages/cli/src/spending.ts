/** The spending limit of this machine: what an order may cost is taken out of it before the order is signed and sent. */
import { SpendingLimit, SpendingLimitReached } from '@bellwether/sdk/keystore';
import type { Run } from './run.ts';

/** Before a person is asked about an order. @throws SpendingLimitReached where the limit would refuse it, KeystoreError */
export function requireSpending(run: Run, atMost: bigint, orderId?: string): void {
  const limit = new SpendingLimit(run.place);
  const standing = limit.standing();
  if (atMost > standing.left && !(orderId !== undefined && limit.isReserved(orderId)))
    throw new SpendingLimitReached(atMost, standing);
}

/**
 * It stays reserved after any answer of the desk: it has the signed order then.
 * @param orderId made of what is signed
 * @param atMost in millionths of collateral; @throws SpendingLimitReached, KeystoreError
 */
export function reserveSpending(run: Run, orderId: string, atMost: bigint): void {
  if (atMost > 0n) new SpendingLimit(run.place).reserve(orderId, atMost);
}
