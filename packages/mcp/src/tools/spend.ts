/**
 * The one way in which an order leaves: within the spending limit, with the agreement of the person above the threshold,
 * reserved on disk before it is sent, and given back only where the answer proves that nothing happened.
 */

import type { Micro } from '@bellwether/contract/decimals';
import { BellwetherApiError, BellwetherConnectionError } from '@bellwether/sdk';
import { provesNoEffect, SpendingLimitReached, type SpendingReservation } from '@bellwether/sdk/keystore';
import type { InputRequiredResult } from '@modelcontextprotocol/server';
import type { AskedOrder } from '../approval.ts';
import type { Call } from '../tool.ts';
import { OrderRefused, ToolProblem } from '../tool-problem.ts';

export interface Spending<Answer> {
  readonly order: AskedOrder;
  readonly cost: Micro;
  readonly stake: Micro;
  readonly question: () => string;
  /** What has to succeed before anything is reserved. The person has agreed by then. */
  readonly prepare?: () => Promise<void>;
  /** Tried once. */
  readonly send: () => Promise<Answer>;
}

export async function spend<Answer extends { readonly success: boolean }>(
  { desk, signal, approval }: Call,
  { order, cost, stake, question, prepare, send }: Spending<Answer>,
): Promise<
  | { readonly ask: InputRequiredResult }
  | { readonly answer: Answer; readonly reservation: SpendingReservation | null }
> {
  // Nobody is asked about an order that the limit would refuse.
  const standing = desk.limit.standing();
  if (cost > standing.left && !desk.limit.isReserved(order.orderId))
    throw new SpendingLimitReached(cost, standing);
  if (stake > desk.config.confirmAbove) {
    const ask = await approval.request(order, question());
    if (ask !== null) return { ask };
  }
  await prepare?.();
  // From here on the call goes on when its client has left: the order is on its way.
  signal.throwIfAborted();
  const reservation = cost === 0n ? null : desk.limit.reserve(order.orderId, cost);
  const giveBack = () => {
    if (reservation !== null) desk.limit.giveBack(reservation);
  };
  try {
    const answer = await send();
    if (answer.success === false) giveBack();
    return { answer, reservation };
  } catch (error) {
    if (provesNoEffect(error)) {
      giveBack();
      throw new OrderRefused(error, order);
    }
    if (error instanceof BellwetherApiError || error instanceof BellwetherConnectionError)
      throw inDoubt(order);
    throw error;
  }
}

const inDoubt = ({ orderId, clientOrderId }: AskedOrder): ToolProblem =>
  new ToolProblem({
    code: 'order_outcome_unknown',
    message:
      'The order was sent, and no answer says what became of it. It stays reserved in the spending limit.',
    fix: 'Call the same tool again with the same terms and this clientOrderId (or the same quoteId): it is the same order and is executed at most once. Do not place it under another name.',
    orderId,
    ...(clientOrderId === undefined ? {} : { clientOrderId }),
  });
