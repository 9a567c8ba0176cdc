/**
 * From an intent in named fields to the unsigned body of a trade. The service prepares orders with this function, and a
 * client that has it computes the same body by itself, so that nothing of a prepared order has to be believed.
 */
import {
  DecimalError,
  formatMicro,
  formatPips,
  type Micro,
  microToNumber,
  PIPS,
  type Pips,
  parseMicro,
  parsePips,
  parseTick,
  pipsToNumber,
} from './decimals.ts';
import { LIMITS } from './fields.ts';
import type { TradeIntent, UnsignedTrade } from './operations/prepare-trade.ts';

/** Whose money the order is about, and who signs it. */
export interface OrderParties {
  readonly maker: string;
  /** As the order names it: the wallet itself where the signature is wrapped. */
  readonly signer: string;
  readonly signatureType: 0 | 1 | 2 | 3;
}

export interface UnsignedTradeTerms extends OrderParties {
  readonly venue: string;
  readonly conditionId: string;
  readonly question: string;
  /** [YES, NO] */
  readonly tokenIds: readonly [string, string];
  /** The side that the intent's word means in this market. */
  readonly outcome: 'YES' | 'NO';
  readonly tick: Pips;
  readonly negRisk: boolean;
  readonly salt: number;
  /** Whether the struct has the venue's own fields timestamp, metadata and builder. */
  readonly hasExtras: boolean;
  /** Default: none. Signed only with the fields above. */
  readonly builder?: string | undefined;
}

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;
const ZERO_BYTES32 = `0x${'0'.repeat(64)}`;

/**
 * A market's question as `marketQuestion` takes it: a label.
 * @example
 * questionLabel('Will it rain?\n'); // 'Will it rain? '
 */
export const questionLabel = (question: string): string =>
  [...question.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ')]
    .slice(0, LIMITS.marketQuestionChars)
    .join('');

/**
 * @example
 * orderTypeOfIntent({ ...intent, orderType: 'GTC' }); // 'GTC'; without a type FAK or GTC, by the price
 */
export const orderTypeOfIntent = ({ orderType, price }: TradeIntent): 'GTC' | 'FOK' | 'GTD' | 'FAK' =>
  orderType ?? (price === undefined ? 'FAK' : 'GTC');

function priced(intent: TradeIntent, tick: Pips): { readonly price: Pips; readonly amounts: Amounts } {
  const { price: limit, worstPrice, side, size = 0, amount = 0 } = intent;
  const price = priceOnGrid(limit ?? worstPrice ?? 0, tick);
  if (limit === undefined)
    return { price, amounts: marketAmounts({ side, price, tick, quantity: side === 'BUY' ? amount : size }) };
  const orderType = orderTypeOfIntent(intent);
  const immediate = orderType === 'FOK' || orderType === 'FAK';
  return { price, amounts: limitAmounts({ side, price, tick, size, immediate }) };
}

/**
 * What an order leaves of the quantity that was asked for, where it leaves anything: shares, or the collateral of a market BUY.
 * @example
 * const sold = { makerAmount: 54_800_000n, takerAmount: 27_400_000n };
 * cutOf({ ...intent, side: 'SELL', worstPrice: 0.5, size: 54.807692 }, sold); // { cut: 0.007692 }
 */
export function cutOf(
  { price, side, size = 0, amount = 0 }: TradeIntent,
  amounts: Amounts,
): { readonly cut?: number } {
  const isBudget = price === undefined && side === 'BUY';
  const taken = isBudget ? amounts.makerAmount : sharesOf(side, amounts);
  const cut = parseMicro(isBudget ? amount : size, 'floor') - taken;
  return cut === 0n ? {} : { cut: microToNumber(cut) };
}

/**
 * @throws OrderBuildError for a price or a quantity of which no order can be made
 * @example
 * const { order, price, orderSize } = unsignedTrade(intent, terms);
 */
export function unsignedTrade(intent: TradeIntent, terms: UnsignedTradeTerms): UnsignedTrade {
  const { maker, signatureType, tick, negRisk } = terms;
  const { price, amounts } = priced(intent, tick);
  const { side, expiration, postOnly = false, deferExec = false } = intent;
  const { clientOrderId, cancelAfterMs, reasoning, source, skillSlug } = intent;
  return {
    venue: terms.venue,
    marketConditionId: terms.conditionId,
    marketQuestion: questionLabel(terms.question),
    outcome: terms.outcome,
    orderSize: microToNumber(sharesOf(side, amounts)),
    price: pipsToNumber(price),
    isLimitOrder: intent.price !== undefined,
    orderType: orderTypeOfIntent(intent),
    postOnly,
    deferExec,
    expirationTime: (expiration ?? 0) * 1000,
    orderVersion: intent.orderVersion ?? 2,
    tickSize: formatPips(tick),
    negRisk,
    clientOrderId,
    ...(cancelAfterMs === undefined ? {} : { cancelAfterMs }),
    ...(signatureType === 0 ? {} : { funderAddress: maker }),
    ...(reasoning == null ? {} : { reasoning }),
    ...(source == null ? {} : { source }),
    ...(skillSlug == null ? {} : { skillSlug }),
    order: {
      salt: terms.salt,
      maker,
      signer: terms.signer,
      taker: ZERO_ADDRESS,
      tokenId: terms.tokenIds[terms.outcome === 'YES' ? 0 : 1],
      makerAmount: String(amounts.makerAmount),
      takerAmount: String(amounts.takerAmount),
      side,
      expiration: String(expiration ?? 0),
      nonce: '0',
      feeRateBps: '0',
      signatureType,
      ...(terms.hasExtras
        ? {
            timestamp: String(intent.timestamp),
            metadata: ZERO_BYTES32,
            builder: terms.builder ?? ZERO_BYTES32,
          }
        : {}),
    },
  };
}

// From what an agent wants (a price, a size or a budget) to the two integers that are signed. Integers throughout.
//
// The service reads the price back from the signed amounts: collateral ÷ shares, floored (BUY) or ceiled (SELL) to
// the tick grid, must be the price of the request. Shares are cut to 2 decimals, so with a price of at most 4 the
// collateral of a resting order is exact. Immediate orders, BUY and SELL, must have at most 2 decimals in makerAmount and
// 4 in takerAmount for every tick size. Cutting makes the order smaller, never its price worse.

/** 2 decimals, in micro-units. */
export const CENT: Micro = 10_000n;
/** 4 decimals, in micro-units. */
const FOUR_DECIMALS: Micro = 100n;
/** The venue's least for a BUY that executes at once: 1 collateral. */
const MIN_IMMEDIATE_BUY: Micro = 1_000_000n;
/** Amounts and `orderSize` travel as JSON numbers too. */
const MAX_AMOUNT: Micro = BigInt(Number.MAX_SAFE_INTEGER);

export type OrderSide = 'BUY' | 'SELL';

export interface Amounts {
  readonly makerAmount: Micro;
  readonly takerAmount: Micro;
}

/**
 * The size leg of the order: what `orderSize` must say.
 * @example
 * sharesOf('BUY', { makerAmount: 5_500_000n, takerAmount: 10_000_000n }); // 10_000_000n
 */
export const sharesOf = (side: OrderSide, amounts: Amounts): Micro =>
  side === 'BUY' ? amounts.takerAmount : amounts.makerAmount;

/**
 * @throws OrderBuildError `tick_size_not_supported`: no price can be counted in it, see `parseTick`
 * @example
 * tickOf('0.01'); // 100, in pips
 */
export function tickOf(tickSize: string): Pips {
  const tick = parseTick(tickSize);
  if (tick === null)
    throw new OrderBuildError(
      'tick_size_not_supported',
      `tick size "${tickSize.slice(0, 60)}" is no whole number of ten-thousandths that divides 1`,
    );
  return tick;
}

/**
 * A price on the grid, between one tick and one minus one tick. Nothing is rounded: a price off the grid throws.
 * @example
 * priceOnGrid(0.55, tickOf('0.01')); // 5500; 0.555 throws
 */
export function priceOnGrid(price: number | string, tick: Pips): Pips {
  const pips = readDecimal(
    () => parsePips(price),
    'price_off_tick_grid',
    `price ${price} is no price on the grid`,
  );
  if (pips % tick !== 0)
    throw new OrderBuildError(
      'price_off_tick_grid',
      `price ${price} is not a whole number of ticks of ${tick / PIPS}`,
    );
  if (pips < tick || pips > PIPS - tick)
    throw new OrderBuildError(
      'price_out_of_range',
      `price ${price} is not between ${tick / PIPS} and ${(PIPS - tick) / PIPS}`,
    );
  return pips;
}

/**
 * An amount of shares or collateral, cut to 2 decimals.
 * @example
 * cutToCents('10.999', 'size'); // 10_990_000n
 */
export function cutToCents(value: number | string, name: string): Micro {
  const micro = readDecimal(
    () => parseMicro(value, 'floor'),
    'amount_out_of_range',
    `${name} ${value} is no amount`,
  );
  const cut = floorTo(micro, CENT);
  if (cut <= 0n) throw new OrderBuildError('amount_out_of_range', `${name} ${value} is below 0.01`);
  if (cut > MAX_AMOUNT) throw new OrderBuildError('amount_out_of_range', `${name} ${value} is too large`);
  return cut;
}

/**
 * A GTC or GTD order: exactly size × price.
 * @example
 * restingAmounts('BUY', parseMicro(10), parsePips('0.55')); // pays 5_500_000n for 10_000_000n
 */
export function restingAmounts(side: OrderSide, size: Micro, price: Pips): Amounts {
  const money = exactMoney(size, price);
  return side === 'BUY'
    ? { makerAmount: money, takerAmount: size }
    : { makerAmount: size, takerAmount: money };
}

/**
 * A BUY that executes at once: spends at most `budget`, for at least budget ÷ price shares.
 * @param budget micro collateral, cut to 2 decimals here
 * @throws OrderBuildError below 1 collateral.
 * @example
 * const { makerAmount, takerAmount } = immediateBuyAmounts(parseMicro(25), parsePips('0.63'));
 */
export function immediateBuyAmounts(budget: Micro, price: Pips): Amounts {
  const makerAmount = floorTo(budget, CENT);
  if (makerAmount < MIN_IMMEDIATE_BUY)
    throw new OrderBuildError(
      'amount_below_minimum',
      'a BUY that executes at once spends at least 1 collateral',
    );
  // Floored shares mean a ratio a little above the price, which the service floors back to it. From 1 collateral
  // on, less than 100 micro-shares cannot carry it as far as the next tick, not even at 0.9999 with tick 0.0001.
  const takerAmount = floorTo((makerAmount * BigInt(PIPS)) / BigInt(price), FOUR_DECIMALS);
  if (takerAmount > MAX_AMOUNT) throw new OrderBuildError('amount_out_of_range', 'the order is too large');
  return { makerAmount, takerAmount };
}

/**
 * A BUY of `size` shares at a limit that executes at once: its cost, cut to 2 decimals, is the budget.
 * @example
 * const { makerAmount } = immediateLimitBuyAmounts(parseMicro(10), parsePips('0.55'));
 */
export const immediateLimitBuyAmounts = (size: Micro, price: Pips): Amounts =>
  immediateBuyAmounts(exactMoney(size, price), price);

/**
 * A SELL that executes at once: of `size`, or, below a share, of a few cents less where no collateral of 4 decimals has the price.
 * @throws OrderBuildError `amount_below_minimum`: too few shares for a price so fine
 * @example
 * const { takerAmount } = immediateSellAmounts(parseMicro(40), parsePips('0.6'), tickOf('0.01'));
 */
export function immediateSellAmounts(size: Micro, price: Pips, tick: Pips): Amounts {
  for (let makerAmount = size; makerAmount > 0n; makerAmount -= CENT) {
    const takerAmount = floorTo(exactMoney(makerAmount, price), FOUR_DECIMALS);
    if (takerAmount > 0n && limitOfSell(makerAmount, takerAmount, tick) === price)
      return { makerAmount, takerAmount };
  }
  throw new OrderBuildError(
    'amount_below_minimum',
    `${formatMicro(size)} shares are too few to be sold at once at ${formatPips(price)}, whose collateral has more than 4 decimals: sell more, or at a price of 2 decimals`,
  );
}

/** How the service reads a SELL's limit: ceil(money ÷ shares) on the grid. */
function limitOfSell(size: Micro, money: Micro, tick: Pips): Pips {
  const step = size * BigInt(tick);
  return Number((money * BigInt(PIPS) + step - 1n) / step) * tick;
}

/** Whole, because the size is a multiple of 10,000 and a price has 4 decimals. */
const exactMoney = (size: Micro, price: Pips): Micro => (size * BigInt(price)) / BigInt(PIPS);

const floorTo = (value: Micro, unit: Micro): Micro => value - (value % unit);

function readDecimal<T>(read: () => T, code: OrderBuildError['code'], message: string): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DecimalError) throw new OrderBuildError(code, message);
    throw error;
  }
}

interface Priced {
  readonly side: OrderSide;
  readonly price: Pips;
  readonly tick: Pips;
}

/**
 * A limit order of `size` shares, cut to 2 decimals.
 * @param order `immediate`: FOK or FAK
 * @throws OrderBuildError
 * @example
 * const amounts = limitAmounts({
 *   ...{ side: 'BUY', price: parsePips('0.55'), tick: tickOf('0.01') },
 *   size: 10,
 *   immediate: false,
 * });
 */
export function limitAmounts({
  side,
  price,
  tick,
  size,
  immediate,
}: Priced & { readonly size: number | string; readonly immediate: boolean }): Amounts {
  const shares = cutToCents(size, 'size');
  if (!immediate) return restingAmounts(side, shares, price);
  return side === 'BUY' ? immediateLimitBuyAmounts(shares, price) : immediateSellAmounts(shares, price, tick);
}

/**
 * A market order at no worse than `price`.
 * @param order `quantity`: of a BUY the collateral to spend, of a SELL the shares; cut to 2 decimals
 * @throws OrderBuildError
 * @example
 * const amounts = marketAmounts({ side: 'BUY', price: parsePips('0.63'), tick: tickOf('0.01'), quantity: 25 });
 */
export const marketAmounts = ({
  side,
  price,
  tick,
  quantity,
}: Priced & { readonly quantity: number | string }): Amounts =>
  side === 'BUY'
    ? immediateBuyAmounts(cutToCents(quantity, 'amount'), price)
    : immediateSellAmounts(cutToCents(quantity, 'shares'), price, tick);

/** Why no order can be made of an intent. The codes are those of the service where it would refuse the same. */
export type OrderBuildCode =
  | 'tick_size_not_supported'
  | 'price_off_tick_grid'
  | 'price_out_of_range'
  | 'amount_out_of_range'
  | 'amount_below_minimum'
  | 'size_below_minimum'
  | 'expiration_required'
  | 'expiration_not_allowed'
  | 'post_only_mismatch'
  | 'market_incomplete'
  /** The order's word for its outcome is none of the market's. */
  | 'outcome_name_mismatch'
  | 'deadline_passed'
  /** The market says another version of itself than its tokens. */
  | 'market_version_not_supported'
  /** The market's tokens are not those of its condition. */
  | 'tokens_differ';

export class OrderBuildError extends Error {
  override readonly name = 'OrderBuildError';
  readonly code: OrderBuildCode;

  constructor(code: OrderBuildCode, message: string) {
    super(message);
    this.code = code;
  }
}
