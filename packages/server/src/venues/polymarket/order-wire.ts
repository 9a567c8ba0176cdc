/**
 * The venue's own-order and trade records, read with what is known of their variants: prefixed status words, null or ''
 * for nothing, amounts as decimals or in millionths. What cannot be understood is `null`, never a guess.
 */
import { divide, type Micro, PIPS, type Pips, parseDecimal } from '@bellwether/contract/decimals';
import { takerFee } from '../../domain/fees.ts';
import type { MarketRecord } from '../../domain/market.ts';
import { timeAt } from '../../domain/utc-day.ts';
import type { TradeStatus } from '../live-orders.ts';
import type { TradePart } from './observations.ts';
import { nextOf, type Page } from './paging.ts';

export interface WireOrder {
  readonly id: string;
  /** Without prefix; what follows an underscore may be a reason. */
  readonly status: string;
  readonly originalSize: string;
  readonly sizeMatched: string;
  readonly trades: readonly string[];
}

interface WireMaker {
  readonly orderId: string;
  readonly tokenId: string;
  readonly size: Micro;
  readonly price: Pips;
}

export interface WireTrade {
  readonly id: string;
  readonly status: TradeStatus;
  readonly takerOrderId: string;
  readonly tokenId: string;
  readonly size: Micro;
  readonly price: Pips;
  /** Epoch milliseconds. */
  readonly matchedAt: number;
  readonly makers: readonly WireMaker[];
}

type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
const idOf = (value: unknown): string => textOf(value).toLowerCase();

export function pageOf(value: unknown): Page<unknown> | null {
  if (Array.isArray(value)) return { rows: value, next: null };
  if (!isFields(value) || !Array.isArray(value.data)) return null;
  const { data: rows, next_cursor: next } = value;
  // Without one there may be more.
  if (typeof next !== 'string' && next !== null) return null;
  return { rows, next: nextOf(next) };
}

/** @returns `null` for anything that is no order's record */
export function orderOf(value: unknown): WireOrder | null {
  // Some deployments wrap it.
  const row = isFields(value) && isFields(value.order) ? value.order : value;
  if (!isFields(row)) return null;
  const id = idOf(row.id ?? row.orderID ?? row.order_id);
  const status = typeof row.status === 'string' ? statusOf(row.status) : '';
  if (id === '' || status === '') return null;
  return {
    id,
    status,
    originalSize: textOf(row.original_size),
    sizeMatched: textOf(row.size_matched),
    trades: Array.isArray(row.associate_trades) ? row.associate_trades.map(textOf) : [],
  };
}

/** In capitals, and by one spelling; what follows the word may be a reason, which stays as it is. */
function statusOf(said: string): string {
  const [word = '', ...reason] = said.replace(/^ORDER_STATUS_/i, '').split('_');
  const known = word.toUpperCase() === 'CANCELLED' ? 'CANCELED' : word.toUpperCase();
  return [known, ...reason].join('_');
}

const TRADE_STATUS: Readonly<Record<string, TradeStatus>> = {
  MATCHED: 'matched',
  MATCHED_NOT_BROADCASTED: 'matched',
  MINED: 'mined',
  RETRYING: 'retrying',
  CONFIRMED: 'confirmed',
  FAILED: 'failed',
};

export function tradeOf(value: unknown): WireTrade | null {
  if (!isFields(value)) return null;
  // A status that is not known is neither final nor a failure.
  const status =
    TRADE_STATUS[
      textOf(value.status)
        .toUpperCase()
        .replace(/^TRADE_STATUS_/, '')
    ] ?? 'matched';
  const id = textOf(value.id);
  const size = microOf(value.size);
  const price = pipsOf(value.price);
  // One of them may be the order that is asked for.
  const makers = Array.isArray(value.maker_orders) ? value.maker_orders.map(makerOf) : [null];
  if (id === '' || size === null || price === null || makers.includes(null)) return null;
  return {
    ...{ id, status, size, price },
    takerOrderId: idOf(value.taker_order_id),
    tokenId: textOf(value.asset_id),
    matchedAt: timeOf(value),
    makers: makers as WireMaker[],
  };
}

function makerOf(value: unknown): WireMaker | null {
  if (!isFields(value)) return null;
  const size = microOf(value.matched_amount);
  const price = pipsOf(value.price);
  const orderId = idOf(value.order_id);
  if (size === null || price === null || orderId === '') return null;
  return { orderId, size, price, tokenId: textOf(value.asset_id) };
}

const MS_TEXT = /^\d{13}$/;

/** Socket events carry milliseconds, records whole seconds. */
function timeOf(row: Fields): number {
  const seconds = Number(textOf(row.match_time ?? row.matchtime));
  if (seconds > 0) return timeAt(seconds * 1000) ?? 0;
  const stamp = textOf(row.timestamp);
  return MS_TEXT.test(stamp) ? Number(stamp) : 0;
}

export function microOf(value: unknown): Micro | null {
  try {
    const amount = parseDecimal(textOf(value), 6, 'floor');
    return amount < 0n ? null : amount;
  } catch {
    return null;
  }
}

/** A price of several makers is a ratio that no tick fits: for display only. */
function pipsOf(value: unknown): Pips | null {
  try {
    return Number(parseDecimal(textOf(value), 4, 'floor'));
  } catch {
    return null;
  }
}

/**
 * How much of an order is matched; `null` when not said. Amounts are decimal shares, or whole millionths where the size
 * that the order was sent with shows it.
 */
export function matchedOf(
  { originalSize, sizeMatched }: WireOrder,
  sent: { readonly shares: Micro; readonly money: Micro },
): Micro | null {
  if (sizeMatched === '') return null;
  const isMillionths =
    /^\d+$/.test(originalSize) && [sent.shares, sent.money].some((amount) => amount === BigInt(originalSize));
  if (isMillionths && /^\d+$/.test(sizeMatched)) return BigInt(sizeMatched);
  return microOf(sizeMatched);
}

/** Whom a trade concerns: its taker and each of its makers, with the order's own price, cost and fee. */
export function partsOf(
  trade: WireTrade,
  terms: Pick<MarketRecord, 'feeRate' | 'feeExponent'>,
): readonly { readonly orderId: string; readonly part: TradePart }[] {
  const { id: tradeId, status, matchedAt } = trade;
  const shared = { tradeId, status, matchedAt };
  // An order may be named more than once.
  const makers = [...Map.groupBy(trade.makers, ({ orderId }) => orderId)].map(([orderId, entries]) => {
    const legs = entries.map(({ size, price }) => ({ size, price, cost: floorCost(size, price) }));
    return { orderId, part: { ...shared, ...sumOf(legs), fee: 0n, liquidity: 'maker' as const } };
  });
  if (trade.takerOrderId === '') return makers;
  return [{ orderId: trade.takerOrderId, part: { ...shared, ...takerPart(trade, terms) } }, ...makers];
}

const floorCost = (size: Micro, price: Pips): Micro => divide(size * BigInt(price), BigInt(PIPS), 'floor');

interface Leg {
  readonly size: Micro;
  readonly price: Pips;
  readonly cost: Micro;
}

/** The price is that of all, or what they cost on the average, rounded down. */
function sumOf(legs: readonly Leg[]): Leg {
  const size = legs.reduce((sum, leg) => sum + leg.size, 0n);
  const cost = legs.reduce((sum, leg) => sum + leg.cost, 0n);
  const price = legs[0]?.price ?? 0;
  const isOne = size === 0n || legs.every((leg) => leg.price === price);
  return { size, cost, price: isOne ? price : Number(divide(cost * BigInt(PIPS), size, 'floor')) };
}

/** The taker paid what its makers received, and for the other token of the market what they left of a full set. */
function takerPart(
  { size, price, tokenId, makers }: WireTrade,
  terms: Pick<MarketRecord, 'feeRate' | 'feeExponent'>,
): Omit<TradePart, 'tradeId' | 'status' | 'matchedAt'> {
  const legs = makers.map((maker) => {
    const isOther = maker.tokenId !== '' && maker.tokenId !== tokenId;
    const makerCost = floorCost(maker.size, maker.price);
    return {
      size: maker.size,
      price: isOther ? PIPS - maker.price : maker.price,
      cost: isOther ? maker.size - makerCost : makerCost,
    };
  });
  const listed = legs.reduce((sum, leg) => sum + leg.size, 0n);
  const all = listed === size && legs.length > 0 ? legs : [{ size, price, cost: floorCost(size, price) }];
  return {
    ...sumOf(all),
    fee: all.reduce((sum, leg) => sum + takerFee(terms, leg.size, leg.price), 0n),
    liquidity: 'taker',
  };
}
