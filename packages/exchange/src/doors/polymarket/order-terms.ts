/**
 * Checks a posted order against its market, with the texts of the venue (wire reference 2.5 and 2.12), and makes the order
 * for the engine. What depends on the book and on balances is the engine's.
 */
import {
  divide,
  formatDecimal,
  formatMicro,
  formatPips,
  PIPS,
  type Pips,
} from '@bellwether/contract/decimals';
import { ZERO_ADDRESS } from '@bellwether/protocol';
import type { MarketView, NewOrder, Outcome, PostedLabel } from '../../paper-exchange.ts';
import type { PostedBody } from './order-body.ts';
import { WireError } from './wire-error.ts';

export interface ExpiryRules {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Minimum lead of a GTD order's expiration, in seconds; it expires a third of that early, at most 60 s. */
  readonly gtdMinLeadS: number;
}

const MAX_FEE_RATE_BPS = 1_000n;
/** Immediate orders: two decimals for what the order gives, four for what it takes. */
const GIVEN_UNIT = 10_000n;
const TAKEN_UNIT = 100n;
const PRICE_DECIMALS = 6;
const LONGEST_EARLY_MS = 60_000;
/** The end of the year 9999. */
const LATEST_EXPIRATION_S = 253_402_300_799n;

const refuse = (text: string): WireError => new WireError(400, text);

export const offGrid = (orderId: string, price: string, tick: Pips): WireError =>
  refuse(`order ${orderId} is invalid. Price (${price}) breaks minimum tick size rule: ${formatPips(tick)}`);

export const tooSmall = (orderId: string, size: bigint, least: bigint): WireError =>
  refuse(
    `order ${orderId} is invalid. Size (${formatMicro(size)}) lower than the minimum: ${formatMicro(least)}`,
  );

/** @throws WireError */
export function engineOrder(
  body: PostedBody,
  { market, outcome }: { readonly market: MarketView; readonly outcome: Outcome },
  { orderId, key, rules }: { orderId: string; key: PostedLabel['key']; rules: ExpiryRules },
): NewOrder {
  const { fields, timeInForce, postOnly } = body;
  const isImmediate = timeInForce === 'FOK' || timeInForce === 'FAK';
  if (postOnly && isImmediate)
    throw refuse('invalid post-only order: only GTC and GTD order types are allowed');
  if (fields.feeRateBps > MAX_FEE_RATE_BPS)
    throw refuse(`invalid fee rate (${fields.feeRateBps}), maximum: ${MAX_FEE_RATE_BPS}`);
  if (fields.taker !== ZERO_ADDRESS) throw refuse('Invalid order payload');
  const expiresAt = expiryOf(body, rules);
  const isBuy = fields.side === 0;
  const [size, money] = isBuy
    ? [fields.takerAmount, fields.makerAmount]
    : [fields.makerAmount, fields.takerAmount];
  if (isImmediate) requirePrecision(body);
  const ask = { orderId, size, money, isBuy, tick: market.tickSize };
  const limit = isImmediate ? immediateLimit(ask) : restingLimit(ask);
  if (limit < market.tickSize || limit > PIPS - market.tickSize)
    throw offGrid(orderId, formatPips(limit), market.tickSize);
  if (!isImmediate && size < market.minOrderSize) throw tooSmall(orderId, size, market.minOrderSize);
  return {
    ...{ orderId, account: fields.maker, conditionId: market.conditionId, outcome },
    ...{ side: isBuy ? 'BUY' : 'SELL', limit, size, timeInForce, postOnly },
    ...(isImmediate && isBuy ? { spend: money } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    posted: { key, expiration: Number(fields.expiration) },
  };
}

function expiryOf(
  { fields, timeInForce }: PostedBody,
  { now, gtdMinLeadS }: ExpiryRules,
): number | undefined {
  const { expiration } = fields;
  if (timeInForce !== 'GTD') {
    if (expiration !== 0n) throw refuse('invalid expiration');
    return undefined;
  }
  if (expiration < BigInt(Math.ceil(now / 1000) + gtdMinLeadS) || expiration > LATEST_EXPIRATION_S)
    throw refuse('invalid expiration');
  return Number(expiration) * 1000 - earlyMs(gtdMinLeadS);
}

/** How long before its stated expiration an order leaves the book. */
export const earlyMs = (gtdMinLeadS: number): number =>
  Math.min(LONGEST_EARLY_MS, Math.floor((gtdMinLeadS * 1000) / 3));

function requirePrecision({ fields }: PostedBody): void {
  if (fields.makerAmount % GIVEN_UNIT === 0n && fields.takerAmount % TAKEN_UNIT === 0n) return;
  const which = fields.side === 0 ? 'market buy' : 'sell';
  throw refuse(
    `invalid amounts, the ${which} orders maker amount supports a max accuracy of 2 decimals, taker amount a max of 4 decimals`,
  );
}

interface Ask {
  readonly orderId: string;
  readonly size: bigint;
  readonly money: bigint;
  readonly isBuy: boolean;
  readonly tick: Pips;
}

/** The worst price that the amounts allow, on the grid: a BUY never pays more, a SELL never receives less. */
function immediateLimit({ size, money, isBuy, tick }: Ask): Pips {
  const ticks = divide(money * BigInt(PIPS), size * BigInt(tick), isBuy ? 'floor' : 'ceil');
  // A ratio above one is out of range in any case: keep it a safe number.
  return Number(ticks > BigInt(PIPS) ? BigInt(PIPS) : ticks) * tick;
}

/** The price whose product with the size is the money. @throws WireError when no price of the grid has it */
function restingLimit({ orderId, size, money, isBuy, tick }: Ask): Pips {
  const nearest = (money * BigInt(PIPS) * 2n + size) / (size * 2n);
  const limit = Number(nearest > BigInt(PIPS) ? BigInt(PIPS) : nearest);
  if (limit % tick !== 0) {
    const price = divide(money * 10n ** BigInt(PRICE_DECIMALS), size, 'floor');
    throw offGrid(orderId, formatDecimal(price, PRICE_DECIMALS), tick);
  }
  const product = divide(size * BigInt(limit), BigInt(PIPS), 'floor');
  // A size of more than two decimals may have a product of more than six: a buyer may round it up.
  const isExact = (size * BigInt(limit)) % BigInt(PIPS) === 0n;
  if (money === product || (isBuy && !isExact && money === product + 1n)) return limit;
  const side = isBuy ? 'maker' : 'taker';
  throw refuse(
    `invalid amounts, the ${side} amount for a $${formatPips(limit)} order of size ${formatMicro(size)} should be '${product}' but the value submited is '${money}'`,
  );
}
