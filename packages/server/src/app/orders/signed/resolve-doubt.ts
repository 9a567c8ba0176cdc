/**
 * Orders that their venue never answered for. It is asked by order id until there is proof; nothing is resent.
 */
import { FIRST_STATUS, requireTransition } from '../../../domain/orders/lifecycle.ts';
import type { Deps } from '../../deps.ts';
import { venueOf } from '../../venues.ts';

const UNKNOWN = { kind: 'unknown' } as const;

/** @param olderThanMs leaves alone what may still be on its way. @returns how many are still in doubt */
export async function resolveDoubt(deps: Deps, olderThanMs: number): Promise<number> {
  const now = deps.clock.now();
  const rows = await deps.orders.inDoubt(now - olderThanMs);
  let left = 0;
  for (const row of rows) {
    const { signedOrders } = venueOf(deps, row.venue, row.funder);
    const answer = (await signedOrders?.resolve(row.orderId)) ?? UNKNOWN;
    if (answer.kind === 'never_received') {
      await settleWithoutFill(deps, row.orderId, 'rejected');
    } else if (answer.kind === 'unknown') {
      left += 1;
      if (row.status === FIRST_STATUS) await settleWithoutFill(deps, row.orderId, 'no_answer');
    }
    // Any other answer is written by the venue's own evidence.
  }
  return left;
}

/** Writes what the desk itself knows: that there is no answer yet, or the proof that there will be none. */
export async function settleWithoutFill(
  deps: Deps,
  orderId: string,
  event: 'no_answer' | 'rejected',
): Promise<void> {
  const rejected = event === 'rejected';
  await deps.orders.settle(
    orderId,
    {
      success: false,
      status: requireTransition('signed', FIRST_STATUS, event),
      filled: 0n,
      cost: 0n,
      fees: 0n,
      errorCode: rejected ? 'not_received' : null,
      event: rejected ? 'never_received' : 'no_answer',
    },
    deps.clock.now(),
  );
}
