/**
 * A trade request in the domain's own terms: integers, lower-case addresses, defaults applied. The only check here is
 * whether every value can be represented.
 */
import type { TradeRequest } from '@bellwether/contract';
import { divide, type Micro, PIPS, type Pips, parseMicro, parsePips } from '@bellwether/contract/decimals';
import {
  type Address,
  asAddress,
  bytesToHex,
  conditionIdOfBothWidths,
  exchangeVersionOf,
  hexToBytes,
  type OrderExtras,
  type OrderFields,
  type OrderProfile,
  type OrderVersion,
  type SignatureType,
  signsExtras,
  ZERO_ADDRESS,
} from '@bellwether/protocol';
import type { Takes } from './amounts.ts';
import type { Denial } from './denial.ts';

export type TimeInForce = 'GTC' | 'GTD' | 'FOK' | 'FAK';

export interface Draft {
  readonly conditionId: string;
  readonly question: string;
  /** YES, NO or a name, as the request says it: which outcome it is, the signed token says. */
  readonly saidOutcome: string;
  readonly isLimitOrder: boolean;
  readonly timeInForce: TimeInForce;
  readonly postOnly: boolean;
  readonly deferExec: boolean;
  /** The request's price; `null` when it is finer than any tick. */
  readonly price: Pips | null;
  /** The request's size, rounded down to micro-shares. */
  readonly orderSize: Micro;
  readonly side: 'BUY' | 'SELL';
  /** The signed legs: shares and collateral. */
  readonly shares: Micro;
  readonly money: Micro;
  readonly fields: OrderFields;
  /** timestamp, metadata and builder, if the request has any of them in their form. */
  readonly extras: OrderExtras | null;
  /** The builder's code that is signed, 0x and 64 hex digits in lower case; `null`: none, or no such field. */
  readonly builder: string | null;
  readonly signature: string;
  readonly signatureType: SignatureType;
  readonly version: OrderVersion | null;
  readonly tickSize: string | null;
  readonly negRisk: boolean | null;
  readonly walletAddress: Address | null;
  readonly funderAddress: Address | null;
  readonly owner: string | null;
  /** Milliseconds; 0 when not given. */
  readonly expirationTime: number;
  readonly feeAmount: Micro;
  readonly reasoning: string | null;
  readonly source: string | null;
  readonly skillSlug: string | null;
  readonly clientOrderId: string | null;
  readonly cancelAfterMs: number | null;
}

/** A draft whose token is one of its market's. */
export interface MarketDraft extends Draft {
  readonly outcome: 'YES' | 'NO';
}

const MAX_UINT256 = 2n ** 256n - 1n;
const ZERO_BYTES32 = `0x${'0'.repeat(64)}`;

const priceOf = (value: number): Pips | null => {
  try {
    return parsePips(value);
  } catch {
    return null;
  }
};

const BYTES32 = /^0x[0-9a-fA-F]{64}$/;
const UINT = /^\d{1,78}$/;

const EXTRAS = {
  timestamp: (value: unknown) => UINT.test(String(value)) && typeof value !== 'object',
  metadata: (value: unknown) => typeof value === 'string' && BYTES32.test(value),
  builder: (value: unknown) => typeof value === 'string' && BYTES32.test(value),
} as const;
const EXTRA_NAMES = Object.keys(EXTRAS) as (keyof typeof EXTRAS)[];

/**
 * An order that has none of them, and does not say that it is of version 2, may be of version 1: its signature tells.
 * @param malformed takes the fields that are missing, or not in their form
 */
function extrasOf({ order, orderVersion }: TradeRequest, malformed: Denial[]): OrderExtras | null {
  const sent = EXTRA_NAMES.filter((name) => order[name] !== undefined);
  const isOwnStruct = orderVersion !== 1 && (sent.length > 0 || orderVersion === 2);
  const bad = EXTRA_NAMES.filter((name) =>
    order[name] === undefined ? isOwnStruct : !EXTRAS[name](order[name]),
  );
  for (const name of bad) {
    const form = name === 'timestamp' ? 'epoch milliseconds' : '0x and 64 hex digits';
    const fault =
      order[name] === undefined
        ? `is missing: the struct that is signed here has 11 fields, this one among them. Send what was signed: ${form}.`
        : `must be ${form}.`;
    malformed.push({ code: 'invalid_request', path: `order.${name}`, detail: `order.${name} ${fault}` });
  }
  if (sent.length === 0 || bad.length > 0) return null;
  return {
    timestamp: BigInt(order.timestamp ?? 0),
    metadata: hexToBytes(order.metadata ?? ZERO_BYTES32),
    builder: hexToBytes(order.builder ?? ZERO_BYTES32),
  };
}

const builderOf = (extras: OrderExtras | null): string | null =>
  extras === null || extras.builder.every((byte) => byte === 0) ? null : bytesToHex(extras.builder);

/**
 * @returns the draft, or the fields that cannot be represented, each with its path: numbers beyond 256 bits, and, under the
 *   profile that signs them, deprecated fields in another form. The other profile drops these, with any content.
 */
export function readDraft(request: TradeRequest, profile: OrderProfile): Draft | readonly Denial[] {
  const { order } = request;
  const tooBig: Denial[] = [];
  // The token is read again below, with a fault where it is too big.
  const areExtrasSigned = signsExtras(exchangeVersionOf(BigInt(order.tokenId)), profile);
  const extras = extrasOf(request, areExtrasSigned ? tooBig : []);
  const uint = (name: 'tokenId' | 'makerAmount' | 'takerAmount' | 'expiration' | 'nonce' | 'feeRateBps') => {
    const value = BigInt(order[name] ?? '0');
    if (value > MAX_UINT256) {
      tooBig.push({
        code: 'amount_out_of_range',
        path: `order.${name}`,
        detail: `order.${name} does not fit 256 bits.`,
      });
    }
    return value;
  };
  const side = order.side === 'BUY' || order.side === 0 ? 'BUY' : 'SELL';
  const fields: OrderFields = {
    salt: BigInt(order.salt),
    maker: asAddress(order.maker),
    signer: asAddress(order.signer),
    taker: order.taker === undefined ? ZERO_ADDRESS : asAddress(order.taker),
    tokenId: uint('tokenId'),
    makerAmount: uint('makerAmount'),
    takerAmount: uint('takerAmount'),
    expiration: uint('expiration'),
    nonce: uint('nonce'),
    feeRateBps: uint('feeRateBps'),
    side: side === 'BUY' ? 0 : 1,
    signatureType: order.signatureType,
  };
  if (tooBig.length > 0) return tooBig;
  const isLimitOrder = request.isLimitOrder ?? true;
  return {
    conditionId: conditionIdOfBothWidths(request.marketConditionId),
    question: request.marketQuestion,
    saidOutcome: request.outcome,
    isLimitOrder,
    timeInForce: request.orderType ?? (isLimitOrder ? 'GTC' : 'FAK'),
    postOnly: request.postOnly ?? false,
    deferExec: request.deferExec ?? false,
    price: priceOf(request.price),
    orderSize: parseMicro(request.orderSize, 'floor'),
    side,
    shares: side === 'BUY' ? fields.takerAmount : fields.makerAmount,
    money: side === 'BUY' ? fields.makerAmount : fields.takerAmount,
    fields,
    extras,
    builder: areExtrasSigned && request.orderVersion !== 1 ? builderOf(extras) : null,
    signature: order.signature,
    signatureType: order.signatureType,
    version: request.orderVersion ?? null,
    tickSize: request.tickSize ?? null,
    negRisk: request.negRisk ?? null,
    walletAddress: request.walletAddress === undefined ? null : asAddress(request.walletAddress),
    funderAddress: request.funderAddress === undefined ? null : asAddress(request.funderAddress),
    owner: request.owner ?? null,
    expirationTime: request.expirationTime ?? 0,
    feeAmount: request.feeAmount === undefined ? 0n : parseMicro(request.feeAmount, 'ceil'),
    reasoning: request.reasoning ?? null,
    source: request.source ?? null,
    skillSlug: request.skillSlug ?? null,
    clientOrderId: request.clientOrderId ?? null,
    cancelAfterMs: request.cancelAfterMs ?? null,
  };
}

/** An immediate order takes what it can now and never rests. */
export const isImmediate = (timeInForce: TimeInForce): boolean =>
  timeInForce === 'FOK' || timeInForce === 'FAK';

/**
 * The worst price that the signed amounts allow, on the grid: a BUY never pays more, a SELL never receives less.
 * Amounts must be positive.
 */
export function signedLimit(draft: Draft, tick: Pips): Pips {
  const rounding = draft.side === 'BUY' ? 'floor' : 'ceil';
  const ticks = divide(draft.money * BigInt(PIPS), draft.shares * BigInt(tick), rounding);
  // A ratio above one is out of range in any case: keep it a safe number.
  return Number(ticks > BigInt(PIPS) ? BigInt(PIPS) : ticks) * tick;
}

/** The amount that the order can take of the book; see `highestTakerFee`. */
export const takesOf = ({ side, shares, money, timeInForce }: Draft): Takes => ({
  side,
  shares,
  ...(side === 'BUY' && isImmediate(timeInForce) ? { spends: money } : {}),
});

/**
 * Terms that an approval binds beyond the signed message, which leaves some of them out: everything that changes what the order can do is
 * here. Compared as a whole, so an order with another value asks anew.
 */
export interface BoundTerms {
  readonly orderType: TimeInForce | 'SPLIT' | 'CONVERT';
  readonly isLimitOrder: boolean;
  readonly postOnly: boolean;
  readonly deferExec: boolean;
  readonly endsAt: number | null;
  /** The account that pays, of an order that no signature says it of. */
  readonly funder?: string;
}

export const boundTerms = ({
  timeInForce,
  isLimitOrder,
  postOnly,
  deferExec,
  fields,
}: Draft): BoundTerms => ({
  orderType: timeInForce,
  isLimitOrder,
  postOnly,
  deferExec,
  endsAt: timeInForce === 'GTD' ? Number(fields.expiration) * 1000 : null,
});

// Adds the exchange's version to records of orders for ExchangeV3, beside `orderVersion` 2. It follows from the token, so nothing has to be stored.

export const saysExchange = (tokenId: string): { readonly exchangeVersion?: 3 } =>
  exchangeVersionOf(BigInt(tokenId)) === 3 ? { exchangeVersion: 3 } : {};
