/**
 * Builds and signs the complete body of POST /markets/trade. The signed order is its own idempotency key: keep the
 * body and send it again after a timeout; building again makes another order.
 */
import {
  type Amounts,
  sideCalled as calledOf,
  divide,
  formatMicro,
  limitAmounts,
  listsNoFirst,
  type Micro,
  marketAmounts,
  microToNumber,
  outcomeMismatch as mismatchOf,
  OrderBuildError,
  type OrderSide,
  PIPS,
  type Pips,
  parseMicro,
  parsePips,
  pipsToNumber,
  priceOnGrid,
  questionLabel,
  type SignedOrder,
  sharesOf,
  type TradeRequest,
  tickOf,
} from '@bellwether/contract';
import {
  asAddress,
  bytesToHex,
  type ExchangeContracts,
  type ExchangeVersion,
  exchangeDomain,
  exchangeDomains,
  exchangeVersionOf,
  hexToBytes,
  isPositionId,
  ORDER_TYPE,
  type OrderFields,
  type OrderVersion,
  orderDigest,
  orderStructHash,
  orderVersionOf,
  outcomeTokens,
  POLYGON_CHAIN_ID,
  POLYGON_EXCHANGES,
  POLYMARKET_ORDER_TYPE,
  polymarketOrderStructHash,
  type SignatureType,
  signsExtras,
  typedDataSignDigest,
  wrapDepositSignature,
  ZERO_ADDRESS,
} from '@bellwether/protocol';
import { NEED, type Need, needOptions } from './errors.ts';
import type { DepositKind, KeyUse, Signer } from './signer.ts';

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

// Which token an outcome is. Both are computed from the market's condition, so that the service cannot give others. Where the venue lists
// No first, YES is the second, and nothing on the chain says so.

interface TokenTerms {
  readonly conditionId: string;
  readonly clobTokenIds: readonly string[];
  readonly negRisk: boolean;
  readonly version?: string;
  /** The venue's names, as the service says them. */
  readonly outcomes?: readonly string[];
}

/** What is known beside the service's answer. */
interface TokenKnowledge {
  readonly use: KeyUse | null | undefined;
  /** [YES, NO], from another source. */
  readonly tokenIds?: readonly [yes: string, no: string] | undefined;
}

function computedTokens({ conditionId, negRisk }: TokenTerms): readonly [string, string] | null {
  try {
    return outcomeTokens(conditionId, negRisk);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Whether the market's YES is the second token of its condition. */
export const isTurned = (market: TokenTerms): boolean =>
  computedTokens(market)?.[1] === market.clobTokenIds[0];

/**
 * The market's [YES, NO] tokens. A key for paper may trade tokens that do not follow from the condition: paper venues of earlier
 * releases drew the ids of markets that are still open.
 * @throws OrderBuildError `market_incomplete`, `market_version_not_supported`, `tokens_differ`
 */
export function knownTokens(
  market: TokenTerms,
  { use, tokenIds }: TokenKnowledge,
): readonly [string, string] {
  const [yes, no] = market.clobTokenIds;
  if (yes === undefined || no === undefined)
    throw new OrderBuildError('market_incomplete', 'The market names no tokens.');
  requireVersion(market, yes);
  if (tokenIds !== undefined && (tokenIds[0] !== yes || tokenIds[1] !== no))
    throw differ(market, 'are not those that you know. Compare them with the venue itself');
  const own = computedTokens(market);
  const isOwn = own !== null && yes !== no && own.includes(yes) && own.includes(no);
  if (isOwn) {
    requireOrder(market, { use, tokenIds });
    return [yes, no];
  }
  const isMixed = own !== null && (own.includes(yes) || own.includes(no));
  if (use === 'paper' && !isMixed && yes !== no) return [yes, no];
  throw differ(
    market,
    'are not those of its condition. A market that a paper venue of an earlier release listed is traded with a key that is marked as one for paper',
  );
}

/** @throws OrderBuildError where only the service vouches for the order, or contradicts itself */
function requireOrder(market: TokenTerms, { use, tokenIds }: TokenKnowledge): void {
  if (tokenIds !== undefined) return;
  const [yes = '', no = ''] = market.outcomes ?? [];
  if (!isTurned(market)) {
    // A paper exchange that listed such a market in an earlier release keeps its order.
    if (!listsNoFirst([yes, no]) || use === 'paper') return;
    throw differ(
      market,
      'have names that say that YES is the other one. Do not trade it through this service',
    );
  }
  if (use === 'paper' && listsNoFirst([no, yes])) return;
  throw differ(
    market,
    `are in the other order, as where the venue lists No first, and only this service says so. Look up at the venue itself which token is YES and name both as tokenIds, or: bellwether mint confirm ${market.conditionId.slice(0, 66)} YES <token>`,
  );
}

const differ = ({ conditionId }: TokenTerms, why: string): OrderBuildError =>
  new OrderBuildError(
    'tokens_differ',
    `Nothing was signed: the tokens of the market with the condition ${conditionId.slice(0, 66)} ${why}.`,
  );

const NAME_NEEDS: Readonly<Record<string, Need>> = {
  word: NEED.text("YES, NO, or one of the market's outcomes"),
  outcomes: {
    what: "the market's outcomes, a list of two names",
    fits: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
  },
};

/**
 * The side that a request's word means; `null`: none of this market's.
 * @example
 * sideCalled('faze', ['FaZe', 'illwill']); // 'YES'
 */
export function sideCalled(word: string, outcomes: readonly string[]): 'YES' | 'NO' | null {
  needOptions('sideCalled', { word, outcomes }, NAME_NEEDS);
  return calledOf(word, outcomes);
}

/**
 * What is said to a request whose word is none of this market's.
 * @example
 * outcomeMismatch('Up', ['FaZe', 'illwill']); // 'This market has no outcome "Up": YES is "FaZe", NO is "illwill".'
 */
export function outcomeMismatch(word: string, outcomes: readonly string[]): string {
  needOptions('outcomeMismatch', { word, outcomes }, NAME_NEEDS);
  return mismatchOf(word, outcomes);
}

/** The side that an order's word means in this market. @throws OrderBuildError `outcome_name_mismatch` */
export function sideOf(word: string, { outcomes = [] }: Pick<TokenTerms, 'outcomes'>): 'YES' | 'NO' {
  const side = sideCalled(word, outcomes);
  if (side !== null) return side;
  throw new OrderBuildError('outcome_name_mismatch', outcomeMismatch(word, outcomes));
}

/** The token alone decides the contract, so a market that says something else about itself is not believed. */
function requireVersion({ version }: TokenTerms, yes: string): void {
  if (version === undefined || version === (isPosition(yes) ? 'v2' : 'v1')) return;
  throw new OrderBuildError(
    'market_version_not_supported',
    `The market says that it is of version ${version.slice(0, 20)}, which does not fit its tokens: nothing was signed. Look the market up again; if it says the same, this package is too old for it, or the service is wrong.`,
  );
}

const isPosition = (tokenId: string): boolean => /^\d{1,78}$/.test(tokenId) && isPositionId(BigInt(tokenId));

// Signs an order for one of the venue's exchange contracts. Which struct is signed is the connection's *profile*:
// `interface` (12 fields in versions 1 and 2, the service's default) or `polymarket` (the venue's own 11-field version 2;
// a service connected to the live venue says so in its start-up and documentation). Orders in markets of Protocol V2 are for
// ExchangeV3 and have 11 fields in both.

export type OrderProfile = 'interface' | 'polymarket';

/** How an order is signed; every field has a default that fits the service as it comes. */
export interface OrderConnection {
  /** Default 2. Of no effect in markets of version v2: their tokens name the contract ExchangeV3. */
  readonly version?: OrderVersion;
  /** Default 0: the key's own account funds the order. */
  readonly signatureType?: SignatureType;
  /** For signature type 3. Default `beacon`. */
  readonly depositKind?: DepositKind;
  /** Default `interface`. */
  readonly profile?: OrderProfile;
  /**
   * For signature type 3: sign by ERC-7739 with the wallet as signer, as the live venue wants it, instead of plainly
   * with the key's account as signer. Default: only in the `polymarket` profile.
   */
  readonly wrapped?: boolean;
  /** Default 137. */
  readonly chainId?: number;
  /** Default: the venue's contracts on Polygon. */
  readonly contracts?: ExchangeContracts;
  /** At most 2^53−1; default random. */
  readonly salt?: number;
}

interface OrderTerms {
  readonly tokenId: bigint;
  readonly side: OrderSide;
  readonly makerAmount: bigint;
  readonly takerAmount: bigint;
  /** Epoch seconds, 0n for none. */
  readonly expiration: bigint;
  readonly negRisk: boolean;
}

const ZERO_BYTES32 = new Uint8Array(32);

/** 53 random bits: JSON carries the salt as a number. */
export function randomSalt(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high >>> 11) * 2 ** 32 + low;
}

export async function signOrder(
  signer: Signer,
  terms: OrderTerms,
  connection: OrderConnection,
): Promise<SignedOrder> {
  const { signatureType = 0, profile = 'interface', salt = randomSalt() } = connection;
  const version = exchangeVersionOf(terms.tokenId, connection.version);
  const maker = signer.wallet(signatureType, connection.depositKind);
  const wrapped = signatureType === 3 && (connection.wrapped ?? profile === 'polymarket');
  const fields: OrderFields = {
    salt: BigInt(salt),
    maker,
    signer: wrapped ? maker : signer.address,
    taker: ZERO_ADDRESS,
    tokenId: terms.tokenId,
    makerAmount: terms.makerAmount,
    takerAmount: terms.takerAmount,
    expiration: terms.expiration,
    nonce: 0n,
    feeRateBps: 0n,
    side: terms.side === 'BUY' ? 0 : 1,
    signatureType,
  };
  const extras = signsExtras(version, profile)
    ? { timestamp: BigInt(Date.now()), metadata: ZERO_BYTES32, builder: ZERO_BYTES32 }
    : null;
  const structHash =
    extras === null ? orderStructHash(fields) : polymarketOrderStructHash({ ...fields, ...extras });
  const { separator } = domainFor(connection, version, terms.negRisk);
  const signature = wrapped
    ? await signWrapped(signer, {
        separator,
        contentsHash: structHash,
        orderType: extras === null ? ORDER_TYPE : POLYMARKET_ORDER_TYPE,
        wallet: maker,
        chainId: connection.chainId ?? POLYGON_CHAIN_ID,
      })
    : await signer.signDigest(orderDigest(separator, structHash));
  return {
    maker,
    signer: fields.signer,
    taker: fields.taker,
    tokenId: String(fields.tokenId),
    makerAmount: String(fields.makerAmount),
    takerAmount: String(fields.takerAmount),
    side: terms.side,
    expiration: String(fields.expiration),
    nonce: '0',
    feeRateBps: '0',
    signature,
    salt,
    signatureType,
    ...(extras === null
      ? {}
      : {
          timestamp: String(extras.timestamp),
          metadata: bytesToHex(extras.metadata),
          builder: bytesToHex(extras.builder),
        }),
  };
}

async function signWrapped(
  signer: Signer,
  order: Parameters<typeof typedDataSignDigest>[0],
): Promise<string> {
  const inner = await signer.signDigest(typedDataSignDigest(order));
  return wrapDepositSignature({ ...order, inner: hexToBytes(inner) });
}

function domainFor(connection: OrderConnection, version: ExchangeVersion, negRisk: boolean) {
  const { chainId = POLYGON_CHAIN_ID, contracts = POLYGON_EXCHANGES } = connection;
  return exchangeDomain(exchangeDomains(chainId, contracts), version, negRisk);
}

/**
 * The order's id, known before it is sent: what the service answers as `orderId` and by which the order is found
 * after a timeout. Takes a body made by the builders (with `orderVersion` and `negRisk`).
 * @example
 * const orderId = orderIdOf(order); // known before the order is sent
 */
export function orderIdOf(
  trade: TradeRequest,
  connection: Pick<OrderConnection, 'chainId' | 'contracts'> = {},
): `0x${string}` {
  needOptions('orderIdOf', trade, {
    order: NEED.object('the signed order of a body that the builders made', 'maker', 'tokenId', 'salt'),
  });
  const { order } = trade;
  const fields: OrderFields = {
    salt: BigInt(order.salt),
    maker: asAddress(order.maker),
    signer: asAddress(order.signer),
    taker: asAddress(order.taker ?? ZERO_ADDRESS),
    tokenId: BigInt(order.tokenId),
    makerAmount: BigInt(order.makerAmount),
    takerAmount: BigInt(order.takerAmount),
    expiration: BigInt(order.expiration ?? 0),
    nonce: BigInt(order.nonce ?? 0),
    feeRateBps: BigInt(order.feeRateBps ?? 0),
    side: order.side === 'BUY' || order.side === 0 ? 0 : 1,
    signatureType: order.signatureType,
  };
  const version = exchangeVersionOf(fields.tokenId, trade.orderVersion);
  // The builders send the three deprecated fields only where they are signed.
  const structHash =
    version !== 1 && order.timestamp !== undefined
      ? polymarketOrderStructHash({
          ...fields,
          timestamp: BigInt(order.timestamp),
          metadata: order.metadata === undefined ? ZERO_BYTES32 : hexToBytes(order.metadata),
          builder: order.builder === undefined ? ZERO_BYTES32 : hexToBytes(order.builder),
        })
      : orderStructHash(fields);
  const { separator } = domainFor(connection, version, trade.negRisk ?? false);
  return bytesToHex(orderDigest(separator, structHash));
}

// How far a market order has to reach into a book.

/** Levels as GET /markets/orderbook/{tokenId} gives them: best first, decimal texts. */
export interface BookLevels {
  readonly bids: readonly { readonly price: string; readonly size: string }[];
  readonly asks: readonly { readonly price: string; readonly size: string }[];
  /** Grid of the price that is answered; without it every price is on the grid. */
  readonly tickSize?: string;
}

export interface ReachedPrice {
  /** Worst level touched, beyond it the slippage, then the next price on the grid: good as `worstPrice`. `null` when that side of the book is empty. */
  readonly price: number | null;
  /** False when the book is too thin for all of it. */
  readonly complete: boolean;
}

/**
 * Walks the asks (BUY, by collateral) or the bids (SELL, by shares) of the token's own book.
 * @param wanted `amount` in collateral for a BUY, `shares` for a SELL; `slippage`: how much further to go, as a price
 * @example
 * const book = await client.getOrderBook(tokenId);
 * const { price, complete } = priceToReach(book, { side: 'BUY', amount: 25 });
 */
export function priceToReach(
  book: BookLevels,
  wanted:
    | { readonly side: 'BUY'; readonly amount: number | string; readonly slippage?: number }
    | { readonly side: 'SELL'; readonly shares: number | string; readonly slippage?: number },
): ReachedPrice {
  needOptions('priceToReach', book, {
    bids: { what: 'a list of levels', fits: Array.isArray },
    asks: { what: 'a list of levels', fits: Array.isArray },
  });
  needOptions('priceToReach', wanted, { side: NEED.text('"BUY" or "SELL"') });
  needOptions('priceToReach', wanted, { [wanted.side === 'BUY' ? 'amount' : 'shares']: NEED.number });
  const buy = wanted.side === 'BUY';
  let left: Micro = parseMicro(buy ? wanted.amount : wanted.shares, 'floor');
  let reached: Pips | null = null;
  for (const level of buy ? book.asks : book.bids) {
    const pips = parsePips(level.price);
    const shares = parseMicro(level.size, 'floor');
    reached = pips;
    left -= buy ? divide(shares * BigInt(pips), BigInt(PIPS), 'floor') : shares;
    if (left <= 0n) break;
  }
  const beyond = (from: Pips): Pips => {
    const tick = book.tickSize === undefined ? 1 : tickOf(book.tickSize);
    const slippage = parsePips(wanted.slippage ?? 0, 'ceil');
    // A level may be off the grid: it was placed while the ticks were finer.
    const ticks = buy ? Math.ceil((from + slippage) / tick) : Math.floor((from - slippage) / tick);
    return Math.max(tick, Math.min(PIPS - tick, ticks * tick));
  };
  if (reached === null) return { price: null, complete: false };
  return { price: pipsToNumber(beyond(reached)), complete: left <= 0n };
}
