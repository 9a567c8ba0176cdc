/** Copies for readers in the shapes of types.ts, never the engine's own objects. */
import { yesPrice } from './book.ts';
import type { Account, Market, RestingOrder } from './records.ts';
import type { AccountId, AccountView, BookView, ConditionId, OpenOrder, Outcome, Side } from './types.ts';

/** The NO book is the YES book seen from the other side: YES asks are NO bids at the mirrored price. */
export function bookView(market: Market, outcome: Outcome, depth: number): BookView {
  const { book, lastTrade, lastTakerSide } = market;
  const [bids, asks] = outcome === 'YES' ? [book.bids, book.asks] : [book.asks, book.bids];
  return {
    conditionId: market.spec.conditionId,
    outcome,
    bids: book.view(bids, outcome, depth),
    asks: book.view(asks, outcome, depth),
    ...(lastTrade === undefined ? {} : { lastTrade: yesPrice(outcome, lastTrade) }),
    ...(lastTakerSide === undefined ? {} : { lastTakerSide: sideOn(outcome, lastTakerSide) }),
    sequence: book.sequence,
    changedAt: book.changedAt,
  };
}

const sideOn = (outcome: Outcome, side: Side): Side =>
  (outcome === 'YES') === (side === 'BUY') ? 'BUY' : 'SELL';

export function accountView(id: AccountId, account: Account | undefined): AccountView {
  const tokens = new Map<ConditionId, { yes: bigint; no: bigint; yesHeld: bigint; noHeld: bigint }>();
  if (account !== undefined) {
    for (const [market, position] of account.positions) tokens.set(market.spec.conditionId, { ...position });
  }
  return { account: id, available: account?.available ?? 0n, held: account?.held ?? 0n, tokens };
}

export const openOrderView = (order: RestingOrder): OpenOrder => ({
  orderId: order.orderId,
  account: order.owner.id,
  conditionId: order.market.spec.conditionId,
  outcome: order.outcome,
  side: order.side,
  limit: order.limit,
  size: order.size,
  filled: order.filled,
  cost: order.cost,
  fees: order.fees,
  timeInForce: order.timeInForce,
  ...(order.expiresAt === undefined ? {} : { expiresAt: order.expiresAt }),
  acceptedAt: order.acceptedAt,
});

export const compareOpenOrders = (a: OpenOrder, b: OpenOrder): number =>
  a.acceptedAt - b.acceptedAt || (a.orderId < b.orderId ? -1 : 1);
