/**
 * Builds and signs the complete body of POST /markets/trade. The signed order is its own idempotency key: keep the
 * body and send it again after a timeout; building again makes another order.
 */
import {
  type Amounts,
  formatMicro,
  limitAmounts,
  type Micro,
  marketAmounts,
  microToNumber,
  OrderBuildError,
  type OrderSide,
  type Pips,
  parseMicro,
  pipsToNumber,
  priceOnGrid,
  questionLabel,
  sharesOf,
  type TradeRequest,
  tickOf,
} from '@bellwether/contract';
import { exchangeVersionOf, orderVersionOf } from '@bellwether/protocol';
import { knownTokens, sideOf } from './known-tokens.ts';
import { type OrderConnection, type OrderTerms, signOrder } from './sign-order.ts';
import type { Signer } from './signer.ts';
import { NEED, needOptions } from './usage-error.ts';

/** Fields that the builder needs of a market; every record of GET /markets has them. */
export interface MarketTerms {
  readonly conditionId: string;
  readonly question: string;
  /** The venue's names, YES's first: without them an outcome is named YES or NO. */
  readonly outcomes?: readonly string[];
  /** [YES, NO] */
  readonly clobTokenIds: readonly string[];
  readonly tickSize: string;
  readonly negRisk: boolean;
  /** Version of the venue's protocol: checked against the tokens when given. */
  readonly version?: string;
  /** Shares; checked for resting orders when given. */
  readonly minOrderSize?: number;
}

/** Labels and hints, sent unsigned with the order. */
export interface TradeLabels {
  readonly venue?: string;
  readonly reasoning?: string;
  readonly source?: string;
  readonly skillSlug?: string;
  /** Your own name for the order: the desk refuses another order under it. */
  readonly clientOrderId?: string;
  /** From the desk's receipt on: it cancels what is not filled by then. */
  readonly cancelAfterMs?: number;
  /** The same as a moment; the earlier of both acts. A `Date`, or epoch milliseconds. */
  readonly deadline?: Date | number;
  readonly owner?: string;
  readonly deferExec?: boolean;
}

interface CommonOrder extends TradeLabels, OrderConnection {
  readonly signer: Signer;
  readonly market: MarketTerms;
  /** YES, NO, or one of the market's `outcomes`; what is posted says YES or NO. */
  readonly outcome: string;
  /** The market's [YES, NO] tokens, as you know them from another source than this service. */
  readonly tokenIds?: readonly [yes: string, no: string];
}

export interface LimitOrder extends CommonOrder {
  readonly side: OrderSide;
  /** On the market's tick grid; nothing is rounded. */
  readonly price: number | string;
  /** Shares, cut to 2 decimals. */
  readonly size: number | string;
  /** Default GTC. */
  readonly type?: 'GTC' | 'GTD' | 'FOK' | 'FAK';
  /** GTD only: epoch seconds. The venue acts a minute early and wants at least three minutes ahead. */
  readonly expiration?: number;
  readonly postOnly?: boolean;
}

interface MarketOrderCommon extends CommonOrder {
  /** The worst price to accept, on the tick grid: highest for a BUY, lowest for a SELL. */
  readonly worstPrice: number | string;
  /** Default FAK: fill what is there, kill the rest. FOK: all or nothing. */
  readonly type?: 'FAK' | 'FOK';
  /** Recorded with the trade; costs nothing. */
  readonly feeAmount?: number;
}

export interface MarketBuy extends MarketOrderCommon {
  readonly side: 'BUY';
  /** Collateral to spend at most, cut to 2 decimals; at least 1. Fees come on top. */
  readonly amount: number | string;
}

export interface MarketSell extends MarketOrderCommon {
  readonly side: 'SELL';
  /** Shares to sell, cut to 2 decimals. */
  readonly shares: number | string;
}

export type MarketOrder = MarketBuy | MarketSell;

const ORDER_NEEDS = {
  signer: NEED.signer,
  market: NEED.market,
  outcome: NEED.text("YES, NO, or one of the market's outcomes"),
  side: NEED.oneOf('BUY', 'SELL'),
} as const;

/**
 * A limit order. FOK and FAK are filled at once as far as they go; GTC and GTD rest.
 * @throws OrderBuildError when the service would refuse the numbers.
 * @throws BellwetherUsageError when something is missing.
 * @example
 * const order = await buildLimitOrder({ signer, market, outcome: 'YES', side: 'BUY', price: 0.4, size: 50 });
 * await client.placeTrade(order);
 */
export async function buildLimitOrder(order: LimitOrder): Promise<TradeRequest> {
  needOptions('buildLimitOrder', order, { ...ORDER_NEEDS, price: NEED.number, size: NEED.number });
  const { side, type = 'GTC', postOnly = false, expiration } = order;
  const tick = tickOf(order.market.tickSize);
  const price = priceOnGrid(order.price, tick);
  const immediate = type === 'FOK' || type === 'FAK';
  if (postOnly && immediate)
    throw new OrderBuildError('post_only_mismatch', `postOnly contradicts ${type}, which never rests`);
  checkExpiration(type, expiration);
  const amounts = limitAmounts({ side, price, tick, size: order.size, immediate });
  if (!immediate) checkMinimum(sharesOf(side, amounts), order.market);
  return assemble(order, {
    side,
    price,
    amounts,
    expiration: BigInt(expiration ?? 0),
    options: {
      isLimitOrder: true,
      orderType: type,
      postOnly,
      ...(expiration === undefined ? {} : { expirationTime: expiration * 1000 }),
    },
  });
}

/**
 * A market order: spend an amount of collateral, or sell a number of shares, at once and at no worse a price.
 * @throws OrderBuildError when the service would refuse the numbers.
 * @throws BellwetherUsageError when something is missing.
 * @example
 * const order = await buildMarketOrder({
 *   ...{ signer, market, outcome: 'YES', side: 'BUY' },
 *   worstPrice: 0.63,
 *   amount: 25,
 * });
 * await client.placeTrade(order);
 */
export async function buildMarketOrder(order: MarketOrder): Promise<TradeRequest> {
  needOptions('buildMarketOrder', order, { ...ORDER_NEEDS, worstPrice: NEED.number });
  needOptions('buildMarketOrder', order, { [order.side === 'BUY' ? 'amount' : 'shares']: NEED.number });
  const { type = 'FAK', feeAmount } = order;
  const tick = tickOf(order.market.tickSize);
  const price = priceOnGrid(order.worstPrice, tick);
  const amounts = marketAmounts({
    side: order.side,
    price,
    tick,
    quantity: order.side === 'BUY' ? order.amount : order.shares,
  });
  return assemble(order, {
    side: order.side,
    price,
    amounts,
    expiration: 0n,
    options: {
      isLimitOrder: false,
      orderType: type,
      ...(feeAmount === undefined ? {} : { feeAmount }),
    },
  });
}

function checkExpiration(type: string, expiration: number | undefined): void {
  if (type === 'GTD' && (expiration === undefined || !Number.isSafeInteger(expiration) || expiration <= 0))
    throw new OrderBuildError(
      'expiration_required',
      'a GTD order needs its expiration in whole epoch seconds',
    );
  if (type !== 'GTD' && expiration !== undefined)
    throw new OrderBuildError('expiration_not_allowed', `a ${type} order has no expiration`);
}

function checkMinimum(size: Micro, market: MarketTerms): void {
  if (market.minOrderSize === undefined) return;
  const minimum = parseMicro(market.minOrderSize);
  if (size < minimum)
    throw new OrderBuildError(
      'size_below_minimum',
      `the market's smallest order is ${formatMicro(minimum)} shares; this one has ${formatMicro(size)}`,
    );
}

interface Parts {
  readonly side: OrderSide;
  readonly price: Pips;
  readonly amounts: Amounts;
  readonly expiration: bigint;
  readonly options: Pick<
    TradeRequest,
    'isLimitOrder' | 'orderType' | 'postOnly' | 'expirationTime' | 'feeAmount'
  >;
}

async function assemble(order: CommonOrder, parts: Parts): Promise<TradeRequest> {
  const { market, signer, tokenIds, version = 2, signatureType = 0 } = order;
  const outcome = sideOf(order.outcome, market);
  const tokenId = knownTokens(market, { use: signer.use, tokenIds })[outcome === 'YES' ? 0 : 1];
  const terms: OrderTerms = {
    tokenId: BigInt(tokenId),
    side: parts.side,
    ...parts.amounts,
    expiration: parts.expiration,
    negRisk: market.negRisk,
  };
  const signed = await signOrder(signer, terms, order);
  return {
    ...labelsOf(order),
    marketConditionId: market.conditionId,
    marketQuestion: questionLabel(market.question),
    outcome,
    orderSize: microToNumber(sharesOf(parts.side, parts.amounts)),
    price: pipsToNumber(parts.price),
    ...parts.options,
    orderVersion: orderVersionOf(exchangeVersionOf(terms.tokenId, version)),
    tickSize: market.tickSize,
    negRisk: market.negRisk,
    ...(signatureType === 0 ? {} : { funderAddress: signed.maker }),
    order: signed,
  };
}

function labelsOf(order: TradeLabels): Omit<TradeLabels, 'deadline'> {
  const labels: Record<string, unknown> = {};
  for (const name of [
    'venue',
    'reasoning',
    'source',
    'skillSlug',
    'clientOrderId',
    'owner',
    'deferExec',
  ] as const)
    if (order[name] !== undefined) labels[name] = order[name];
  const cancelAfterMs = cancelAfter(order);
  return cancelAfterMs === undefined ? labels : { ...labels, cancelAfterMs };
}

/** The desk takes no shorter time. */
const LEAST_MS = 100;

/** @throws OrderBuildError for a deadline that has passed, or is too close to be kept */
function cancelAfter({ deadline, cancelAfterMs }: TradeLabels): number | undefined {
  if (deadline === undefined) return cancelAfterMs;
  const leftMs = Math.floor(Number(deadline) - Date.now());
  if (!(leftMs >= LEAST_MS))
    throw new OrderBuildError('deadline_passed', 'The deadline has passed, or is too close to be kept.');
  return cancelAfterMs === undefined ? leftMs : Math.min(leftMs, cancelAfterMs);
}
