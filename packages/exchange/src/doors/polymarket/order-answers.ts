/** The venue's answer to an order that reached the engine, in its words. Wire reference 2.4 and 2.5. */
import { formatMicro, formatPips } from '@bellwether/contract/decimals';
import type { AccountView, EngineEvent, MarketView, NewOrder } from '../../paper-exchange.ts';
import { offGrid, tooSmall } from './order-terms.ts';
import { noOrderbook, WireError } from './wire-error.ts';

export interface OrderAnswer {
  readonly success: true;
  readonly errorMsg: string;
  readonly orderID: string;
  readonly status: 'live' | 'matched' | 'delayed' | 'unmatched' | '';
  /** Amounts that the order gave and got so far, as decimals before fees; '' while it got nothing. */
  readonly makingAmount: string;
  readonly takingAmount: string;
  /** The hash of a match appears with its trade. */
  readonly transactionsHashes?: readonly string[];
  readonly tradeIDs?: readonly string[];
}

/** A leg of a batch that was refused: the venue says `success` of it, too. */
export const refusedLeg = (text: string): OrderAnswer => ({
  success: true,
  errorMsg: text,
  orderID: '',
  status: '',
  makingAmount: '',
  takingAmount: '',
});

export const duplicated = (orderId: string): WireError =>
  new WireError(400, `order ${orderId} is invalid. Duplicated.`);

/** It waits for its match, and what comes of it is in its trades. */
export const delayedAnswer = ({ orderId }: NewOrder): OrderAnswer => ({
  success: true,
  errorMsg: '',
  orderID: orderId,
  transactionsHashes: [],
  status: 'delayed',
  takingAmount: '',
  makingAmount: '',
});

type Rejected = Extract<EngineEvent, { kind: 'order_rejected' }>;

interface Placed {
  readonly order: NewOrder;
  readonly market: MarketView;
  readonly events: readonly EngineEvent[];
}

/** @param account asked only for an order without balance @throws WireError when the engine refused the order */
export function answerTo(
  { order, market, events }: Placed,
  account: () => AccountView,
  tradeId: (firstMatchId: number) => string,
): OrderAnswer {
  let [filled, cost] = [0n, 0n];
  let firstMatch: number | undefined;
  for (const event of events) {
    if (!('orderId' in event) || event.orderId !== order.orderId) continue;
    if (event.kind === 'order_rejected') throw refusal(event, order, market, account);
    if (event.kind !== 'fill') continue;
    firstMatch ??= event.matchId;
    filled += event.size;
    cost += event.cost;
  }
  const isLive = firstMatch === undefined;
  const [making, taking] = order.side === 'BUY' ? [cost, filled] : [filled, cost];
  return {
    success: true,
    errorMsg: '',
    orderID: order.orderId,
    transactionsHashes: [],
    tradeIDs: firstMatch === undefined ? [] : [tradeId(firstMatch)],
    status: isLive ? 'live' : 'matched',
    takingAmount: isLive ? '' : formatMicro(taking),
    makingAmount: isLive ? '' : formatMicro(making),
  };
}

/** Balance that the account lacks for an order, where that is known before the engine plans it. */
export function missingBalance(
  order: NewOrder,
  needed: bigint,
  available: bigint,
  account: () => AccountView,
): WireError | null {
  if (available >= needed) return null;
  return notEnough(order, needed, account());
}

/** Base units. */
function notEnough(order: NewOrder, needed: bigint, view: AccountView): WireError {
  const held = heldBy(view, order);
  const active = held.active === 0n ? '' : `sum of active orders: ${held.active}, `;
  return new WireError(
    400,
    `not enough balance / allowance: the balance is not enough -> balance: ${held.total}, ${active}order amount: ${needed}`,
  );
}

function heldBy(view: AccountView, { side, conditionId, outcome }: NewOrder) {
  if (side === 'BUY') return { total: view.available + view.held, active: view.held };
  const tokens = view.tokens.get(conditionId);
  if (tokens === undefined) return { total: 0n, active: 0n };
  return outcome === 'YES'
    ? { total: tokens.yes + tokens.yesHeld, active: tokens.yesHeld }
    : { total: tokens.no + tokens.noHeld, active: tokens.noHeld };
}

function refusal(
  { reason, needed }: Rejected,
  order: NewOrder,
  market: MarketView,
  account: () => AccountView,
): WireError {
  const { orderId } = order;
  switch (reason) {
    case 'duplicate_order':
    case 'not_received':
      return duplicated(orderId);
    case 'market_not_found':
    case 'market_closed':
    case 'conversion_not_supported':
      return noOrderbook();
    case 'price_off_tick_grid':
    case 'price_out_of_range':
      return offGrid(orderId, formatPips(order.limit), market.tickSize);
    case 'size_below_minimum':
      return tooSmall(orderId, order.size, market.minOrderSize);
    case 'amount_below_minimum': {
      const amount = order.spend ?? (order.size * BigInt(order.limit)) / 10_000n;
      return new WireError(
        400,
        `invalid amount for a marketable BUY order ($${formatMicro(amount)}), min size: $1`,
      );
    }
    case 'insufficient_balance':
      return notEnough(order, needed ?? 0n, account());
    case 'size_above_maximum':
      return new WireError(400, 'Invalid order payload');
    case 'already_expired':
      return new WireError(400, 'invalid expiration');
    case 'post_only_would_cross':
      return new WireError(400, 'invalid post-only order: order crosses book');
    case 'post_only_needs_gtc_or_gtd':
      return new WireError(400, 'invalid post-only order: only GTC and GTD order types are allowed');
    case 'fok_not_filled':
      return new WireError(400, "order couldn't be fully filled. FOK orders are fully filled or killed.");
    case 'fak_no_match':
      return new WireError(
        400,
        'no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.',
      );
  }
}
