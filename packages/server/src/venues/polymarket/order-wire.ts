/** What the venue says of orders and trades, read with what is known of its variants and put into the desk's terms. What cannot be understood is `null`, never a guess. */
import type { VenueRefusal } from '@bellwether/contract';
import {
  divide,
  formatMicro,
  type Micro,
  PIPS,
  type Pips,
  parseDecimal,
} from '@bellwether/contract/decimals';
import { takerFee } from '../../domain/amounts.ts';
import type { MarketRecord } from '../../domain/market.ts';
import type { SignedOrderRow } from '../../domain/records.ts';
import { timeAt } from '../../domain/safeguards.ts';
import type { OrderEnd, TradeStatus } from '../live-orders.ts';
import { nextOf, type Page } from './http.ts';

/** The part that an order has in a trade. */
export interface TradePart {
  readonly tradeId: string;
  readonly status: TradeStatus;
  readonly size: Micro;
  readonly cost: Micro;
  readonly fee: Micro;
  readonly price: Pips;
  readonly liquidity: 'maker' | 'taker';
  /** Epoch milliseconds of the match, as the venue says. */
  readonly matchedAt: number;
}

export type Observation = { readonly orderId: string; readonly at: number } & (
  | {
      /** The venue has the order. */
      readonly kind: 'accepted';
      /** The word of its answer; `null`: heard of in another way than by the answer to the order. */
      readonly word: 'live' | 'matched' | 'delayed' | 'unmatched' | null;
      /** Amounts of that answer. */
      readonly filled: Micro;
      readonly cost: Micro;
      readonly fees: Micro;
    }
  | { readonly kind: 'rejected'; readonly reason: VenueRefusal; readonly detail: string | null }
  | {
      readonly kind: 'standing';
      /** Shares matched so far; `null`: not said. */
      readonly matched: Micro | null;
      /** `undecided`: it is over, and how must be read from its trades and terms. */
      readonly end: OrderEnd | 'undecided' | null;
      /** `matched` is final: it is over and all of its trades are known to the teller. */
      readonly isCounted: boolean;
      readonly detail: string | null;
    }
  | { readonly kind: 'trade'; readonly part: TradePart }
  /** An operator's decision about a trade that is kept aside. */
  | { readonly kind: 'decision'; readonly tradeId: string; readonly decision: 'release' | 'discard' }
  /** Asked by its id, the venue knew nothing of an order that it has accepted. */
  | { readonly kind: 'missing' }
);

// The venue's own-order and trade records, read with what is known of their variants: prefixed status words, null or ''
// for nothing, amounts as decimals or in millionths. What cannot be understood is `null`, never a guess.

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

export function readPage(value: unknown): Page<unknown> | null {
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

// The venue's user channel: what its frames say of orders, and how to subscribe. Wire reference 4.2.

export type OwnEvent =
  | { readonly kind: 'order'; readonly order: WireOrder; readonly conditionId: string }
  | { readonly kind: 'trade'; readonly trade: WireTrade; readonly conditionId: string };

/** All markets of the key. The frame holds its secrets: it is sent, and never logged. */
export const subscription = (key: { apiKey: string; secret: string; passphrase: string }): string =>
  JSON.stringify({
    type: 'user',
    auth: { apiKey: key.apiKey, secret: key.secret, passphrase: key.passphrase },
    markets: [],
  });

/** Frames of other kinds are dropped. @returns `null` for a frame that should have been understood and was not */
export function eventsIn(text: string): readonly OwnEvent[] | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const events: OwnEvent[] = [];
  for (const one of Array.isArray(value) ? value : [value]) {
    if (typeof one !== 'object' || one === null) continue;
    const row = one as Readonly<Record<string, unknown>>;
    const conditionId = typeof row.market === 'string' ? row.market.toLowerCase() : '';
    if (row.event_type === 'order') {
      const order = orderEvent(row);
      if (order === null) return null;
      events.push({ kind: 'order', order, conditionId });
    } else if (row.event_type === 'trade') {
      const trade = tradeOf(row);
      if (trade === null) return null;
      events.push({ kind: 'trade', trade, conditionId });
    }
  }
  return events;
}

/** Its type says more than its status where it is canceled. */
function orderEvent(row: Readonly<Record<string, unknown>>): WireOrder | null {
  const order = orderOf({
    ...row,
    status: row.status ?? (row.type === 'CANCELLATION' ? 'CANCELED' : 'LIVE'),
  });
  if (order === null || row.type !== 'CANCELLATION' || /^(CANCELED|INVALID)/.test(order.status)) return order;
  return { ...order, status: 'CANCELED' };
}

// The amounts that an order signed are the most that any of its trades may take: a BUY its collateral before fees, a SELL its shares.
// A trade that says more is wrong, for example in another unit, even if the venue repeats it.

/** Amounts of a match may differ from the order's by one hundredth of a share, which costs at most one cent; the venue says so. */
export const DUST: Micro = 10_000n;

type Signed = Pick<SignedOrderRow, 'side' | 'shares' | 'money'>;
type Amounts = Pick<TradePart, 'size' | 'cost'>;

/** @param before what other trades of the order took @returns why the trade cannot be; `null`: it can */
export function beyondSigned(
  { side, shares, money }: Signed,
  trade: Amounts,
  before: Amounts,
): string | null {
  if (trade.cost > trade.size + DUST)
    return `a share would have cost more than 1: ${formatMicro(trade.size)} shares for ${formatMicro(trade.cost)}`;
  const { taken, signed, unit } =
    side === 'BUY'
      ? { taken: before.cost + trade.cost, signed: money, unit: 'collateral' }
      : { taken: before.size + trade.size, signed: shares, unit: 'shares' };
  return taken <= signed + DUST
    ? null
    : `the order signed ${formatMicro(signed)} ${unit}, and would have given ${formatMicro(taken)}`;
}

/** The most shares that can be matched of it: a BUY may buy cheaper, down to the lowest price that there is. */
export const mostShares = ({ side, shares, money }: Signed): Micro => {
  const atLowest = money * BigInt(PIPS);
  return (side === 'BUY' && atLowest > shares ? atLowest : shares) + DUST;
};
