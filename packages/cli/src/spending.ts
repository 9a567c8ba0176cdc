/** The spending limit of this machine: what an order may cost is taken out of it before the order is sent. */
import { provesNoEffect, SpendingLimit, SpendingLimitReached } from '@bellwether/sdk/keystore';
import { CliError } from './cli-error.ts';
import type { Run } from './run.ts';

export interface Reserved {
  /** Only a refusal proves that nothing was spent: an order whose outcome is unknown stays reserved. */
  giveBackIfRefused(error: unknown): void;
}

const NOTHING: Reserved = { giveBackIfRefused: () => {} };

/** Before a person is asked about an order. @throws SpendingLimitReached where the limit would refuse it, KeystoreError */
export function requireSpending(run: Run, atMost: bigint): void {
  const standing = new SpendingLimit(run.place).standing();
  if (atMost > standing.left) throw new SpendingLimitReached(atMost, standing);
}

/** @param atMost in millionths of collateral; @throws SpendingLimitReached, KeystoreError */
export function reserveSpending(run: Run, orderId: string, atMost: bigint): Reserved {
  if (atMost === 0n) return NOTHING;
  const limit = new SpendingLimit(run.place);
  const reservation = limit.reserve(orderId, atMost);
  return {
    giveBackIfRefused: (error) => {
      const isProof = error instanceof CliError ? error.exit === 'refused' : provesNoEffect(error);
      if (isProof) limit.giveBack(reservation);
    },
  };
}
