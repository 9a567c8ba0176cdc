/**
 * From what an agent wants (a price, a size or a budget) to the two integers that are signed. Integers throughout.
 *
 * The service reads the price back from the signed amounts: collateral ÷ shares, floored (BUY) or ceiled (SELL) to
 * the tick grid, must be the price of the request. Shares are cut to 2 decimals, so with a price of at most 4 the
 * collateral of a resting order is exact. Immediate orders, BUY and SELL, must have at most 2 decimals in makerAmount and
 * 4 in takerAmount for every tick size. Cutting makes the order smaller, never its price worse.
 */
import {
  DecimalError,
  formatMicro,
  formatPips,
  type Micro,
  PIPS,
  type Pips,
  parseMicro,
  parsePips,
  parseTick,
} from './decimals.ts';
import { OrderBuildError } from './order-build-error.ts';

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
