/**
 * The engine's arithmetic: the cost of a fill, the fee, the size that a budget buys. Pure integer maths; all rounding
 * of the exchange is in this file.
 *
 * Rounding. A maker's side of a fill is floor(size × price): the floors of the parts never exceed the floor of
 * the whole, so a resting BUY that holds floor(remaining × limit) can always pay. The taker's side follows from
 * conservation. COMPLEMENTARY: the same figure. MINT: size − floor(size × maker's price), which is
 * ceil(size × taker's price), so a MINT may cost a taker one micro-unit more than its price implies; it comes out of
 * the order's budget (see `affordable`), never on top of it. MERGE: the same expression, in the taker's favour.
 */
import { type Micro, PIPS } from '@bellwether/contract/decimals';
import type { MatchKind, NewOrder } from './types.ts';

const WHOLE = BigInt(PIPS);

/** floor(size × price) in micro collateral; `price` in pips. */
export const floorCost = (size: Micro, price: bigint): Micro => (size * price) / WHOLE;

/** The taker's cost or proceeds when the maker's side of the match is `makerCost`. */
export const takerCost = (kind: MatchKind, size: Micro, makerCost: Micro): Micro =>
  kind === 'COMPLEMENTARY' ? makerCost : size - makerCost;

/**
 * The most micro-shares that cost a taker at most `budget` at `price`. When the budget is what limits a fill, the
 * fill spends it to the last micro-unit (price < 1, so one more micro-share costs at most one more unit).
 */
export const affordable = (kind: MatchKind, budget: Micro, price: bigint): Micro =>
  kind === 'COMPLEMENTARY' ? ((budget + 1n) * WHOLE - 1n) / price : (budget * WHOLE) / price;

/** Most that an order may cost, without fees: the amount that its signer offered. */
export const budgetOf = (order: NewOrder): Micro =>
  spendsBudget(order) ? (order.spend ?? 0n) : floorCost(order.size, BigInt(order.limit));

export const isImmediate = (order: NewOrder): boolean =>
  order.timeInForce === 'FOK' || order.timeInForce === 'FAK';

/** True for a market BUY: limited by its money, not by its size. `spend` on any other order is ignored. */
export const spendsBudget = (order: NewOrder): boolean =>
  order.spend !== undefined && order.side === 'BUY' && isImmediate(order);

/** rate × (p(1−p))^exponent as an integer over `feeDenominator`; the same for a price and its mirror. */
export const feeNumerator = (rate: Micro, exponent: number, price: bigint): bigint =>
  rate * (price * (WHOLE - price)) ** BigInt(exponent);

export const feeDenominator = (exponent: number): bigint => 1_000_000n * (WHOLE * WHOLE) ** BigInt(exponent);

/** The taker's fee for one fill, rounded up to a micro-unit. */
export const feeOf = (size: Micro, numerator: bigint, denominator: bigint): Micro =>
  numerator === 0n ? 0n : (size * numerator + denominator - 1n) / denominator;
