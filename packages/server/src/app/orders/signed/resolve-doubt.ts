/**
 * Orders that their venue never answered for. It is asked by order id until there is proof; nothing is resent.
 */
import { FIRST_STATUS } from '../../../domain/orders/lifecycle.ts';
import type { OrderStore } from '../../../ports/stores.ts';
import type { Venues } from '../../../ports/venue.ts';
import { venueOf } from '../../venues.ts';
import { type SettleNeeds, settleWithoutFill } from '../settle-without-fill.ts';

const UNKNOWN = { kind: 'unknown' } as const;

export interface ResolveDoubtNeeds extends SettleNeeds {
  readonly venues: Venues;
  readonly orders: Pick<OrderStore, 'inDoubt' | 'settle'>;
}

/** @param olderThanMs leaves alone what may still be on its way. @returns how many are still in doubt */
export async function resolveDoubt(needs: ResolveDoubtNeeds, olderThanMs: number): Promise<number> {
  const now = needs.clock.now();
  const rows = await needs.orders.inDoubt(now - olderThanMs);
  let left = 0;
  for (const row of rows) {
    const { signedOrders } = venueOf(needs, row.venue, row.funder);
    const answer = (await signedOrders?.resolve(row.orderId)) ?? UNKNOWN;
    if (answer.kind === 'never_received') {
      await settleWithoutFill(needs, row.orderId, 'rejected');
    } else if (answer.kind === 'unknown') {
      left += 1;
      if (row.status === FIRST_STATUS) await settleWithoutFill(needs, row.orderId, 'no_answer');
    }
    // Any other answer is written by the venue's own evidence.
  }
  return left;
}
