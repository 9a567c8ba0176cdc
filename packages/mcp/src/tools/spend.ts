/**
 * The one way in which an order leaves: within the spending limit, with the agreement of the person above the threshold,
 * counted on disk before it is signed, under a name that is made of what is signed. It stays counted after any answer of the desk:
 * the desk has the signed order then.
 */

import type { Micro } from '@bellwether/contract/decimals';
import { BellwetherApiError, BellwetherConnectionError } from '@bellwether/sdk';
import { provesNoEffect, SpendingLimitReached } from '@bellwether/sdk/keystore';
import type { InputRequiredResult } from '@modelcontextprotocol/server';
import type { AskedOrder } from '../approval.ts';
import type { Call } from '../tool.ts';
import { OrderRefused, ToolProblem } from '../tool-problem.ts';

export interface Spending<Answer> {
  readonly order: AskedOrder;
  /** Name in problems, where the order's id is not that of the desk. Default `order`. */
  readonly shownAs?: Partial<AskedOrder>;
  /** In the spending limit: made of what is signed, once `prepare` has run. Default the order's id, where that is its digest. */
  readonly countedAs?: () => string | null;
  readonly cost: Micro;
  readonly stake: Micro;
  readonly question: () => string;
  /** Steps that have to succeed before anything is reserved. The person has agreed by then. */
  readonly prepare?: () => Promise<void>;
  /** Signs and sends. Tried once. */
  readonly send: () => Promise<Answer>;
}

export async function spend<Answer>(
  { desk, signal, approval }: Call,
  {
    order,
    shownAs = order,
    countedAs = () => order.orderId,
    cost,
    stake,
    question,
    prepare,
    send,
  }: Spending<Answer>,
): Promise<{ readonly ask: InputRequiredResult } | { readonly answer: Answer }> {
  // The person is not asked about an order that the limit would refuse.
  const standing = desk.limit.standing();
  const before = countedAs();
  if (cost > standing.left && (before === null || !desk.limit.isReserved(before)))
    throw new SpendingLimitReached(cost, standing);
  if (stake > desk.config.confirmAbove) {
    const ask = await approval.request(order, question());
    if (ask !== null) return { ask };
  }
  await prepare?.();
  // From here on the call goes on when its client has left: the order is on its way.
  signal.throwIfAborted();
  if (cost > 0n) desk.limit.reserve(countedAs() ?? order.orderId, cost);
  try {
    return { answer: await send() };
  } catch (error) {
    if (provesNoEffect(error)) throw new OrderRefused(error, shownAs);
    if (error instanceof BellwetherApiError || error instanceof BellwetherConnectionError)
      throw inDoubt(shownAs);
    throw error;
  }
}

const inDoubt = ({ orderId, clientOrderId }: Partial<AskedOrder>): ToolProblem =>
  new ToolProblem({
    code: 'order_outcome_unknown',
    message:
      'The order was sent, and no answer says what became of it. It stays reserved in the spending limit.',
    fix: 'Call the same tool again with the same terms and this clientOrderId (or the same quoteId): it is the same order and is executed at most once. Do not place it under another name.',
    ...(orderId === undefined ? {} : { orderId }),
    ...(clientOrderId === undefined ? {} : { clientOrderId }),
  });
