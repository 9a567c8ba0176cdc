/**
 * A posted order, from its body to the venue's answer: read, its signature checked, made an order for the engine,
 * answered in the venue's words. Every struct of the venue is read into the same fields. Wire reference 2.4, 2.5, 2.12,
 * 5.2 and 5.3.
 */

import {
  divide,
  formatDecimal,
  formatMicro,
  formatPips,
  PIPS,
  type Pips,
} from '@bellwether/contract/decimals';
import {
  type Address,
  bytesToHex,
  controlsWallet,
  type ExchangeDomain,
  type ExchangeDomains,
  equalBytes,
  exchangeDomain,
  isPositionId,
  looksWrapped,
  ORDER_TYPE,
  type OrderExtras,
  type OrderFields,
  orderDigest,
  orderStructHash,
  POLYMARKET_ORDER_TYPE,
  parseAddress,
  parseHex,
  parseSignature,
  parseWrappedSignature,
  polymarketOrderStructHash,
  type RecoverPublicKey,
  recoverAddress,
  type SignatureType,
  typedDataSignDigest,
  ZERO_ADDRESS,
} from '@bellwether/protocol';
import type {
  AccountView,
  EngineEvent,
  MarketView,
  NewOrder,
  Outcome,
  PostedLabel,
  TimeInForce,
} from '../../paper-exchange.ts';
import { noOrderbook, WireError } from './requests.ts';

export interface PostedBody {
  /** The order's fields; those that the 11-field struct lacks are zero. */
  readonly fields: OrderFields;
  /** Fields that only the 11-field struct has; `null` when one of them is missing. */
  readonly extras: OrderExtras | null;
  readonly signature: string;
  /** Lower-case. */
  readonly owner: string;
  readonly timeInForce: TimeInForce;
  readonly postOnly: boolean;
}

type Json = Readonly<Record<string, unknown>>;

const DIGITS = /^[0-9]{1,78}$/;
const MAX_UINT256 = 2n ** 256n - 1n;
/** Amounts of the engine are below it, and salts are JSON numbers. */
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const MAX_SIGNATURE_CHARS = 2_000;
const MAX_OWNER_CHARS = 100;
const BYTES32 = 32;
const TIMES_IN_FORCE: ReadonlySet<unknown> = new Set<TimeInForce>(['GTC', 'GTD', 'FOK', 'FAK']);

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Thrown inside this file for a field that no order may have. */
class Malformed extends Error {}

function uint(value: unknown, most = MAX_UINT256): bigint {
  const text = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? String(value) : value;
  if (typeof text !== 'string' || !DIGITS.test(text)) throw new Malformed();
  const number = BigInt(text);
  if (number > most) throw new Malformed();
  return number;
}

const optionalUint = (value: unknown): bigint => (value === undefined ? 0n : uint(value));

function address(value: unknown): Address {
  const found = parseAddress(value);
  if (found === null) throw new Malformed();
  return found;
}

function bytes32(value: unknown): Uint8Array {
  const bytes = typeof value === 'string' ? parseHex(value) : null;
  if (bytes?.length !== BYTES32) throw new Malformed();
  return bytes;
}

function flag(value: unknown): boolean {
  if (value !== undefined && typeof value !== 'boolean') throw new Malformed();
  return value === true;
}

function sideOf(value: unknown): 0 | 1 {
  if (value === 'BUY' || value === 0) return 0;
  if (value === 'SELL' || value === 1) return 1;
  throw new Malformed();
}

function signatureTypeOf(value: unknown): SignatureType {
  if (value === 0 || value === 1 || value === 2 || value === 3) return value;
  throw new Malformed();
}

const extrasOf = ({ timestamp, metadata, builder }: Json): OrderExtras | null =>
  timestamp === undefined || metadata === undefined || builder === undefined
    ? null
    : { timestamp: uint(timestamp), metadata: bytes32(metadata), builder: bytes32(builder) };

/** @returns `null` for what is no order. Unknown fields are ignored, as at the venue */
export function parseOrderBody(body: unknown): PostedBody | null {
  try {
    return orderOf(body);
  } catch (error) {
    if (error instanceof Malformed) return null;
    throw error;
  }
}

function orderOf(body: unknown): PostedBody {
  if (!isRecord(body) || !isRecord(body.order)) throw new Malformed();
  const { order, owner, orderType } = body;
  const { signature } = order;
  if (typeof owner !== 'string' || owner.length > MAX_OWNER_CHARS) throw new Malformed();
  if (!TIMES_IN_FORCE.has(orderType)) throw new Malformed();
  if (typeof signature !== 'string' || signature.length > MAX_SIGNATURE_CHARS) throw new Malformed();
  const amount = (value: unknown): bigint => {
    const micro = uint(value, MAX_SAFE);
    if (micro === 0n) throw new Malformed();
    return micro;
  };
  // The vendor's own page uses it; the exchange executes at once either way.
  flag(body.deferExec);
  return {
    fields: {
      salt: uint(order.salt, MAX_SAFE),
      maker: address(order.maker),
      signer: address(order.signer),
      taker: order.taker === undefined ? ZERO_ADDRESS : address(order.taker),
      tokenId: uint(order.tokenId),
      makerAmount: amount(order.makerAmount),
      takerAmount: amount(order.takerAmount),
      expiration: optionalUint(order.expiration),
      nonce: optionalUint(order.nonce),
      feeRateBps: optionalUint(order.feeRateBps),
      side: sideOf(order.side),
      signatureType: signatureTypeOf(order.signatureType),
    },
    extras: extrasOf(order),
    signature,
    owner: owner.toLowerCase(),
    timeInForce: orderType as TimeInForce,
    postOnly: flag(body.postOnly),
  };
}

// Who signed an order, and under which of the venue's structs and contracts. Wire reference 5.2 and 5.3. In markets of Protocol V1 the
// doors accept the 12-field struct under the contracts of versions 1 and 2, and the 11-field struct under those of version 2; in markets
// of Protocol V2 the 11-field struct under ExchangeV3.

interface SignatureTerms {
  readonly domains: ExchangeDomains;
  readonly chainId: number;
  readonly recover: RecoverPublicKey;
}

type SignatureVerdict =
  | { readonly ok: true; readonly orderId: string }
  /** `order_version_mismatch`: it is signed for a contract of the other protocol. */
  | { readonly ok: false; readonly fault: 'invalid signature' | 'order_version_mismatch' };

const INVALID_SIGNATURE: SignatureVerdict = { ok: false, fault: 'invalid signature' };

/** A struct that the order may have been signed as, under a contract. */
interface Candidate {
  readonly separator: Uint8Array;
  readonly struct: Uint8Array;
  readonly orderType: string;
}

/** The one that clients of today sign comes first. */
function candidatesOfV1({ fields, extras }: PostedBody, domains: readonly ExchangeDomain[]): Candidate[] {
  const twelve = { struct: orderStructHash(fields), orderType: ORDER_TYPE };
  const candidates = domains.map(({ separator }) => ({ ...twelve, separator }));
  if (extras === null) return candidates;
  const struct = polymarketOrderStructHash({ ...fields, ...extras });
  const ofV2 = domains.filter(({ version }) => version === 2);
  return [
    ...ofV2.map(({ separator }) => ({ separator, struct, orderType: POLYMARKET_ORDER_TYPE })),
    ...candidates,
  ];
}

function candidatesOfV3({ fields, extras }: PostedBody, { separator }: ExchangeDomain): Candidate[] {
  if (extras === null) return [];
  const struct = polymarketOrderStructHash({ ...fields, ...extras });
  return [{ separator, struct, orderType: POLYMARKET_ORDER_TYPE }];
}

/**
 * @param negRisk of the order's market; its token says which protocol the market is of
 * @param eoa the address that has to have signed: the API key's owner
 */
export function verifyPostedOrder(
  body: PostedBody,
  negRisk: boolean,
  eoa: Address,
  terms: SignatureTerms,
): SignatureVerdict {
  const { fields } = body;
  const { domains } = terms;
  if (!controlsWallet(eoa, fields.signatureType, fields.maker)) return INVALID_SIGNATURE;
  const isSignedBy = signatureCheck(body, eoa, terms);
  if (isSignedBy === null) return INVALID_SIGNATURE;
  const third = exchangeDomain(domains, 3, negRisk);
  const isOfV2 = isPositionId(fields.tokenId);
  const own = isOfV2
    ? candidatesOfV3(body, third)
    : candidatesOfV1(body, [exchangeDomain(domains, 2, negRisk), exchangeDomain(domains, 1, negRisk)]);
  for (const candidate of own)
    if (isSignedBy(candidate))
      return { ok: true, orderId: bytesToHex(orderDigest(candidate.separator, candidate.struct)) };
  const others = isOfV2
    ? candidatesOfV1(
        body,
        domains.filter((domain) => domain !== third),
      )
    : candidatesOfV3(body, third);
  return others.some(isSignedBy) ? { ok: false, fault: 'order_version_mismatch' } : INVALID_SIGNATURE;
}

/** @returns `null` for a signature that no key can have made of any order */
function signatureCheck(
  { fields, signature }: PostedBody,
  eoa: Address,
  { recover, chainId }: SignatureTerms,
): ((candidate: Candidate) => boolean) | null {
  const isWrapped = looksWrapped(signature);
  // A wrapped signature is the wallet's own; a plain one is its owner's.
  if (isWrapped && (fields.signatureType !== 3 || fields.signer !== fields.maker)) return null;
  const wrapped = isWrapped ? parseWrappedSignature(signature) : null;
  if (wrapped?.ok === false) return null;
  const parsed = parseSignature(wrapped === null ? signature : wrapped.inner);
  if (!parsed.ok) return null;
  const isOf = (digest: Uint8Array): boolean => {
    const answer = recoverAddress(recover, digest, parsed);
    return answer.ok && answer.address === eoa;
  };
  if (wrapped === null) return ({ separator, struct }) => isOf(orderDigest(separator, struct));
  return ({ separator, struct, orderType }) =>
    orderType === wrapped.orderType &&
    equalBytes(separator, wrapped.separator) &&
    equalBytes(struct, wrapped.contentsHash) &&
    isOf(typedDataSignDigest({ separator, contentsHash: struct, orderType, wallet: fields.maker, chainId }));
}

// Checks a posted order against its market, with the texts of the venue (wire reference 2.5 and 2.12), and makes the order
// for the engine. What depends on the book and on balances is the engine's.

interface ExpiryRules {
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

const offGrid = (orderId: string, price: string, tick: Pips): WireError =>
  refuse(`order ${orderId} is invalid. Price (${price}) breaks minimum tick size rule: ${formatPips(tick)}`);

const tooSmall = (orderId: string, size: bigint, least: bigint): WireError =>
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

// The venue's answer to an order that reached the engine, in its words. Wire reference 2.4 and 2.5.

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
