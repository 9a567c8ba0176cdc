/** Records what the desk itself knows of a signed order: that there is no answer yet, or the proof that none will come. */
import { FIRST_STATUS, requireTransition } from '../domain/lifecycle.ts';
import type { Clock } from '../platform/clock.ts';
import type { OrderStore } from './order-store.ts';

export interface SettleNeeds {
  readonly clock: Clock;
  readonly orders: Pick<OrderStore, 'settle'>;
}

/** @param sentBefore of a venue that would take the order again: not where it was sent after that, epoch milliseconds */
export async function settleWithoutFill(
  needs: SettleNeeds,
  orderId: string,
  event: 'no_answer' | 'rejected',
  sentBefore?: number,
): Promise<void> {
  const rejected = event === 'rejected';
  await needs.orders.settle(
    orderId,
    {
      success: false,
      status: requireTransition('signed', FIRST_STATUS, event),
      filled: 0n,
      cost: 0n,
      fees: 0n,
      errorCode: rejected ? 'not_received' : null,
      event: rejected ? 'never_received' : 'no_answer',
      ...(sentBefore === undefined ? {} : { sentBefore }),
    },
    needs.clock.now(),
  );
}
