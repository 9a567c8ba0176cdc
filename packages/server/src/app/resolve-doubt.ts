/**
 * Orders that the venue never answered for. The venue is asked by order id until there is proof; nothing is resent.
 */
import type { Deps } from './deps.ts';
import { firstAnswerOf } from './place-trade.ts';

/** @param olderThanMs leaves alone what is still being submitted. @returns how many are still in doubt */
export async function resolveDoubt(deps: Deps, olderThanMs: number): Promise<number> {
  const now = deps.clock.now();
  const rows = await deps.orders.inDoubt(now - olderThanMs);
  let left = 0;
  for (const row of rows) {
    const answer = await deps.venueA.resolve(row.orderId);
    if (answer.kind === 'never_received') {
      await deps.orders.settle(
        row.orderId,
        {
          success: false,
          status: 'rejected',
          filled: 0n,
          cost: 0n,
          fees: 0n,
          errorCode: 'not_received',
          event: 'never_received',
        },
        now,
      );
      continue;
    }
    const first = firstAnswerOf(answer);
    if (first === null) {
      left += 1;
      if (row.status === 'submitting') {
        await deps.orders.settle(
          row.orderId,
          {
            success: false,
            status: 'unknown',
            filled: 0n,
            cost: 0n,
            fees: 0n,
            errorCode: null,
            event: 'no_answer',
          },
          now,
        );
      }
    }
    // Any other answer is written by the venue's own evidence.
  }
  return left;
}
