/**
 * An order that the service prepares: its intent (which terms belong together, and the record without what was left
 * out), its check before it is signed, and the same for an exit.
 */
import {
  cutOf,
  divide,
  type ExitRequest,
  type LeftExit,
  type Market,
  microToNumber,
  OrderBuildError,
  PIPS,
  type PreparedTrade,
  parsePips,
  parseTick,
  pipsToNumber,
  type TradeIntent,
  type TradeRequest,
  tickOf,
  type UnsignedTrade,
  unsignedTrade,
} from '@bellwether/contract';
import {
  asAddress,
  bytesToHex,
  exchangeDomain,
  exchangeDomains,
  exchangeVersionOf,
  hexToBytes,
  type OrderExtras,
  type OrderFields,
  orderDigest,
  orderStructHash,
  orderTypedData,
  orderTypeOf,
  POLYGON_CHAIN_ID,
  POLYGON_EXCHANGES,
  polymarketOrderStructHash,
  SIGNATURE_BYTES,
  type SignatureType,
  saltOf,
  signsExtras,
  typedDataSignDigest,
  wrapDepositSignature,
  wrappedOrderTypedData,
  ZERO_ADDRESS,
} from '@bellwether/protocol';
import { knownTokens, type OrderConnection, sideOf } from './build-order.ts';
import { BellwetherUsageError, NEED, type Need, needOptions, needValue } from './errors.ts';
import type { Signer } from './signer.ts';

/** The fields of an intent; `undefined` is the same as leaving a field out. */
export type IntentTerms = { readonly [Field in keyof TradeIntent]: TradeIntent[Field] | undefined };

/** A field on which another depends. */
export type IntentField =
  | 'price'
  | 'worstPrice'
  | 'size'
  | 'amount'
  | 'orderType'
  | 'expiration'
  | 'postOnly';

export interface IntentWords {
  /** The name that a field has for the caller, such as `--worst-price`. Default: the field's own. */
  readonly nameOf?: (field: IntentField) => string;
  /** Whether the caller reads the worst price from the book where neither price is given. */
  readonly pricesFromBook?: boolean;
}

/**
 * Names what contradicts or is missing among the terms of an order. The desk refuses such an intent too, with the paths of its fields.
 * @param terms may lack more than an intent may: what another check has refused is not named again
 * @returns a sentence for each fault, in the caller's words; none when the terms fit together
 * @example
 * intentFaults({ side: 'BUY', worstPrice: 0.6, size: 5 }, { nameOf: (field) => `--${field}` });
 * // ['A market order to buy takes --amount in collateral, not --size; a limit order takes --price and --size.']
 */
export function intentFaults(terms: Partial<IntentTerms>, words: IntentWords = {}): string[] {
  needValue('intentFaults', 'terms', terms, NEED.object('the fields of an order, such as side and price'));
  needValue('intentFaults', 'words', words, NEED.object('options, such as nameOf'));
  const { nameOf = (field) => field, pricesFromBook = false } = words;
  return [
    ...priceFaults(terms, nameOf, pricesFromBook),
    ...quantityFaults(terms, nameOf),
    ...lifetimeFaults(terms, nameOf),
  ];
}

type Name = (field: IntentField) => string;

function priceFaults({ price, worstPrice }: Partial<IntentTerms>, name: Name, fromBook: boolean): string[] {
  if (price !== undefined && worstPrice !== undefined)
    return [
      `${name('price')} makes a limit order and ${name('worstPrice')} a market order: give one of them.`,
    ];
  if (price === undefined && worstPrice === undefined && !fromBook)
    return [`Give either ${name('price')}, for a limit order, or ${name('worstPrice')}, for a market order.`];
  return [];
}

function quantityFaults({ side, price, size, amount }: Partial<IntentTerms>, name: Name): string[] {
  if (price !== undefined || side === 'SELL') {
    const what = side === 'SELL' ? 'A sale' : 'A limit order';
    if (amount !== undefined) return [`${what} takes ${name('size')} in shares, not ${name('amount')}.`];
    return size === undefined ? [`${what} needs ${name('size')}, in shares.`] : [];
  }
  if (side === undefined) return [];
  const limit = `${name('price')} and ${name('size')}.`;
  if (size !== undefined)
    return [
      `A market order to buy takes ${name('amount')} in collateral, not ${name('size')}; a limit order takes ${limit}`,
    ];
  return amount === undefined
    ? [`A market order to buy needs ${name('amount')}, in collateral; a limit order needs ${limit}`]
    : [];
}

function lifetimeFaults(terms: Partial<IntentTerms>, name: Name): string[] {
  const { price, orderType, expiration, postOnly } = terms;
  const faults: string[] = [];
  const needsPrice = `rests at a price: give ${name('price')}.`;
  if (price === undefined && (orderType === 'GTC' || orderType === 'GTD'))
    faults.push(`${name('orderType')} ${orderType} ${needsPrice}`);
  if (price === undefined && postOnly === true) faults.push(`${name('postOnly')} ${needsPrice}`);
  if (orderType === 'GTD' && expiration === undefined)
    faults.push(`${name('orderType')} GTD needs ${name('expiration')}.`);
  if (orderType !== 'GTD' && expiration !== undefined)
    faults.push(`${name('expiration')} needs ${name('orderType')} GTD.`);
  return faults;
}

type RequiredField = 'clientOrderId' | 'marketId' | 'outcome' | 'side';

const INTENT_NEEDS = {
  clientOrderId: NEED.text('your own name for the order'),
  marketId: NEED.text('a market id, condition id, slug or token id'),
  outcome: NEED.text("YES, NO, or one of the market's outcomes"),
  side: NEED.oneOf('BUY', 'SELL'),
};

/**
 * Makes the intent that `prepareTrade` takes and `verifyPrepared` compares with what the desk answers.
 * @throws BellwetherUsageError naming every fault of the terms, before anything is sent
 * @example
 * const intent = tradeIntent({
 *   clientOrderId: 'entry-17',
 *   marketId: market.id,
 *   outcome: 'YES',
 *   side: 'BUY',
 *   worstPrice: 0.6,
 *   amount: 25,
 * });
 * const prepared = await client.prepareTrade(intent);
 */
export function tradeIntent(terms: Partial<IntentTerms> & Pick<TradeIntent, RequiredField>): TradeIntent {
  needOptions('tradeIntent', terms, INTENT_NEEDS);
  const faults = intentFaults(terms);
  if (faults.length > 0) throw new BellwetherUsageError(faults.join(' '));
  const given = Object.entries(terms).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as unknown as TradeIntent;
}

// Checks an order that the service prepared, before it is signed. Nothing of the answer is believed: the order is computed
// here again, from the intent, the market that was looked up before, the wallet's key and the contracts of this package,
// and every field of the answer has to be the same. What is posted afterwards is the order computed here.
//
// Fill, fee and checks of the answer cannot be computed here; they are advice.

/** Facts that the client knows without asking the service again. */
export interface PreparedPins
  extends Pick<OrderConnection, 'profile' | 'chainId' | 'contracts' | 'signatureType' | 'depositKind'> {
  /** Id from the registration. */
  readonly agentId: string;
  /** The key that will sign; only its addresses are used here. */
  readonly signer: Pick<Signer, 'address' | 'wallet'> & { readonly use?: Signer['use'] };
  /** As it was looked up before. */
  readonly market: Pick<
    Market,
    | 'id'
    | 'venue'
    | 'conditionId'
    | 'question'
    | 'outcomes'
    | 'clobTokenIds'
    | 'tickSize'
    | 'negRisk'
    | 'version'
  >;
  /** The market's [YES, NO] tokens, as you know them from another source than this service. */
  readonly tokenIds?: readonly [yes: string, no: string] | undefined;
  /** A builder code that the order may carry beside none, 0x and 64 hex digits: the venue pays its owner a fee of the order. */
  readonly builder?: string;
  /** An answer that is older is refused. Default 60,000. */
  readonly maxAgeMs?: number;
  /** Epoch milliseconds; default the local clock. */
  readonly now?: () => number;
}

/** The answer is not the order of this intent, or it is too old. */
export class PreparedOrderError extends Error {
  override readonly name = 'PreparedOrderError';
  /** The path of the field that differs, such as `typedData.message.makerAmount`; the cause says why no order may be made of the market. */
  readonly field: string;

  constructor(field: string, message: string, cause?: OrderBuildError) {
    super(message, { cause });
    this.field = field;
  }
}

/** A prepared order that is what the intent asked for. */
export interface VerifiedPrepared {
  readonly orderId: `0x${string}`;
  /** 32 bytes: what the key signs. */
  readonly digest: Uint8Array;
  readonly body: UnsignedTrade;
  /** Completes a wrapped signature; `null` where the 65 bytes are the signature. */
  readonly suffix: string | null;
}

const PREPARED_PARTS = {
  prepared: NEED.object('the answer of prepareTrade', 'typedData', 'body'),
  intent: NEED.object('the intent that was sent to prepareTrade', 'clientOrderId'),
  pins: NEED.object('what you know yourself: agentId, signer and market', 'agentId', 'signer', 'market'),
} as const;
const PREPARED_NEEDS = { clientOrderId: NEED.text('your own name for the order') } as const;
const PIN_NEEDS = {
  agentId: NEED.text('the agentId of the registration'),
  signer: NEED.object('a Signer', 'address', 'wallet'),
  market: { ...NEED.market, fits: (value) => NEED.market.fits(value) && 'outcomes' in (value as object) },
} satisfies Readonly<Record<string, Need>>;
const PREPARED_SIGN_NEEDS = {
  verified: NEED.object('what verifyPrepared returned', 'digest', 'body'),
  signer: NEED.signer,
} as const;

const DEFAULT_MAX_AGE_MS = 60_000;
/** Two clocks may differ by so much. */
const CLOCK_TOLERANCE_MS = 30_000;

/**
 * @throws PreparedOrderError, with a sentence; OrderBuildError when no order can be made of the intent
 * @example
 * const prepared = await client.prepareTrade(intent);
 * const { orderId } = verifyPrepared(prepared, intent, { agentId, signer, market });
 */
export function verifyPrepared(
  prepared: PreparedTrade,
  intent: TradeIntent,
  pins: PreparedPins,
): VerifiedPrepared {
  needOptions('verifyPrepared', { prepared, intent, pins }, PREPARED_PARTS);
  needOptions('verifyPrepared', intent, PREPARED_NEEDS);
  needOptions('verifyPrepared', pins, PIN_NEEDS);
  const expected = computedOrder(intent, pins, builderOf(prepared, pins));
  for (const [field, value] of Object.entries(expected.fields))
    requireSame(field, value, (prepared as Readonly<Record<string, unknown>>)[field]);
  requireFresh(prepared.preparedAt, intent, pins);
  return expected.verified;
}

/**
 * Signs a verified order: the complete body of POST /markets/trade.
 * @example
 * const body = await signPrepared(verifyPrepared(prepared, intent, { agentId, signer, market }), signer);
 * await client.placeTrade(body);
 */
export async function signPrepared(
  verified: VerifiedPrepared,
  signer: Pick<Signer, 'signDigest'>,
): Promise<TradeRequest> {
  needOptions('signPrepared', { verified, signer }, PREPARED_SIGN_NEEDS);
  const { digest, body, suffix } = verified;
  const inner = await signer.signDigest(digest);
  const signature = suffix === null ? inner : inner + suffix.slice(2);
  return { ...body, order: { ...body.order, signature } };
}

const ZERO_BYTES32 = new Uint8Array(32);
const ZERO_CODE = `0x${'0'.repeat(64)}`;

/** The code that the pins name, where the answer has it; else none, and any other is a difference. */
function builderOf({ body }: PreparedTrade, { builder }: PreparedPins): string | undefined {
  const pinned = builder?.toLowerCase();
  return pinned !== undefined && body?.order?.builder === pinned ? pinned : undefined;
}

function computedOrder(intent: TradeIntent, pins: PreparedPins, builder: string | undefined) {
  const { market, signer, agentId, profile = 'interface', depositKind } = pins;
  const { chainId = POLYGON_CHAIN_ID, contracts = POLYGON_EXCHANGES } = pins;
  const outcome = sideOf(intent.outcome, market);
  const tokenIds = tokensOf(pins);
  const orderVersion = intent.orderVersion ?? 2;
  const version = exchangeVersionOf(BigInt(tokenIds[0]), orderVersion);
  const signatureType: SignatureType = intent.signatureType ?? pins.signatureType ?? 0;
  const maker = signer.wallet(signatureType, depositKind);
  const wrapped = signatureType === 3 && (intent.wrapped ?? profile === 'polymarket');
  const hasExtras = signsExtras(version, profile);
  if (hasExtras && intent.timestamp === undefined)
    throw new PreparedOrderError(
      'timestamp',
      'Orders in this market sign a timestamp: name it in the intent, and the same again with every retry.',
    );
  const body = unsignedTrade(intent, {
    maker,
    signer: wrapped ? maker : signer.address,
    signatureType,
    venue: intent.venue ?? market.venue,
    conditionId: market.conditionId,
    question: market.question,
    tokenIds,
    outcome,
    tick: tickOf(market.tickSize),
    negRisk: market.negRisk,
    salt: saltOf(agentId, intent.clientOrderId),
    hasExtras,
    builder,
  });
  const domain = exchangeDomain(exchangeDomains(chainId, contracts), version, market.negRisk);
  const signing = signingOf(body, { domain, chainId, hasExtras, wallet: wrapped ? maker : null });
  const { order } = body;
  const [shares, money] =
    intent.side === 'BUY' ? [order.takerAmount, order.makerAmount] : [order.makerAmount, order.takerAmount];
  const fields = {
    clientOrderId: intent.clientOrderId,
    agentId,
    venue: body.venue,
    marketId: market.id,
    marketConditionId: market.conditionId,
    tokenId: order.tokenId,
    outcome,
    outcomeName: market.outcomes[outcome === 'YES' ? 0 : 1] ?? null,
    side: intent.side,
    orderVersion,
    exchangeVersion: version === 3 ? version : undefined,
    orderProfile: profile,
    verifyingContract: domain.verifyingContract,
    negRisk: market.negRisk,
    tickSize: market.tickSize,
    maker,
    signer: order.signer,
    eoa: signer.address,
    signatureType,
    amounts: {
      makerAmount: order.makerAmount,
      takerAmount: order.takerAmount,
      shares: microToNumber(BigInt(shares)),
      collateral: microToNumber(BigInt(money)),
      // As the service reads it back from the signed amounts: on the grid it is the price of the intent.
      limit: body.price,
      ...cutOf(intent, { makerAmount: BigInt(order.makerAmount), takerAmount: BigInt(order.takerAmount) }),
    },
    typedData: signing.typedData,
    orderId: signing.orderId,
    digest: bytesToHex(signing.digest),
    signatureSuffix: signing.suffix,
    body,
  };
  const { orderId, digest, suffix } = signing;
  return { fields, verified: { orderId, digest, body, suffix } satisfies VerifiedPrepared };
}

/** @throws PreparedOrderError */
function tokensOf({ market, signer, tokenIds }: PreparedPins): readonly [string, string] {
  try {
    return knownTokens(market, { use: signer.use, tokenIds });
  } catch (error) {
    if (error instanceof OrderBuildError) throw new PreparedOrderError('tokenId', error.message, error);
    throw error;
  }
}

interface SigningTerms {
  readonly domain: ReturnType<typeof exchangeDomain>;
  readonly chainId: number;
  readonly hasExtras: boolean;
  /** The deposit wallet that signs by ERC-7739; `null`: the key signs the order itself. */
  readonly wallet: ReturnType<typeof asAddress> | null;
}

function signingOf({ order }: UnsignedTrade, { domain, chainId, hasExtras, wallet }: SigningTerms) {
  const fields: OrderFields = {
    salt: BigInt(order.salt),
    maker: asAddress(order.maker),
    signer: asAddress(order.signer),
    taker: ZERO_ADDRESS,
    tokenId: BigInt(order.tokenId),
    makerAmount: BigInt(order.makerAmount),
    takerAmount: BigInt(order.takerAmount),
    expiration: BigInt(order.expiration ?? 0),
    nonce: 0n,
    feeRateBps: 0n,
    side: order.side === 'BUY' ? 0 : 1,
    signatureType: order.signatureType,
  };
  const extras: OrderExtras | null = hasExtras
    ? {
        timestamp: BigInt(order.timestamp ?? 0),
        metadata: ZERO_BYTES32,
        builder: hexToBytes(order.builder ?? ZERO_CODE),
      }
    : null;
  const contentsHash =
    extras === null ? orderStructHash(fields) : polymarketOrderStructHash({ ...fields, ...extras });
  const { separator } = domain;
  const plain = orderDigest(separator, contentsHash);
  const message = { domain, chainId, fields, extras };
  const orderId = bytesToHex(plain);
  if (wallet === null) return { orderId, digest: plain, typedData: orderTypedData(message), suffix: null };
  const parts = { separator, contentsHash, orderType: orderTypeOf(extras) };
  const wrapped = wrapDepositSignature({ ...parts, inner: new Uint8Array(SIGNATURE_BYTES) });
  return {
    orderId,
    digest: typedDataSignDigest({ ...parts, wallet, chainId }),
    typedData: wrappedOrderTypedData(message, wallet),
    suffix: `0x${wrapped.slice(2 + 2 * SIGNATURE_BYTES)}`,
  };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** @throws PreparedOrderError at the first field that differs, is missing or is one too many */
function requireSame(path: string, expected: unknown, received: unknown): void {
  if (isRecord(expected) && isRecord(received)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(received)]))
      requireSame(`${path}.${key}`, expected[key], received[key]);
    return;
  }
  if (expected === received) return;
  const shown = (value: unknown) => (value === undefined ? 'missing' : JSON.stringify(value).slice(0, 120));
  throw new PreparedOrderError(
    path,
    `Do not sign this order: ${path} is ${shown(received)}, and your intent, wallet and market make it ${shown(expected)}. Prepare it again; if it differs again, the service or the market you looked up is not what you think.`,
  );
}

function requireFresh(preparedAt: string, { expiration }: TradeIntent, pins: PreparedPins): void {
  const { maxAgeMs = DEFAULT_MAX_AGE_MS, now = Date.now } = pins;
  const age = now() - Date.parse(preparedAt);
  if (!(age <= maxAgeMs && age >= -CLOCK_TOLERANCE_MS))
    throw new PreparedOrderError(
      'preparedAt',
      'This order was prepared too long ago, or by another clock: prepare it again with the same clientOrderId.',
    );
  if (expiration !== undefined && expiration * 1000 <= now())
    throw new PreparedOrderError('body.order.expiration', 'The expiration of this order has passed.');
}

// Guarded exits before they are signed: what their terms come to, and whether the desk has checked the exit that is meant.

/** The owner sets it within these: `exitDistancePercent` of the settings. */
const MOST_DISTANCE_PERCENT = 50;

/**
 * The least price of a stop that keeps the owner's distance to its trigger: on the grid, never below the distance.
 * @param terms `price` of the trigger, `exitDistancePercent` of the agent's settings, `tickSize` of the market
 * @throws BellwetherUsageError for a distance that no owner can have set, and where the grid has no price from there to the trigger
 * @example
 * worstExitPrice({ price: 0.72, exitDistancePercent: 10, tickSize: '0.01' }); // 0.65
 */
export function worstExitPrice(terms: {
  readonly price: number;
  readonly exitDistancePercent: number;
  readonly tickSize: string;
}): number {
  needOptions('worstExitPrice', terms, { price: NEED.number, tickSize: NEED.text('tickSize of the market') });
  const { exitDistancePercent: percent, tickSize } = terms;
  if (!Number.isInteger(percent) || percent < 1 || percent > MOST_DISTANCE_PERCENT)
    throw new BellwetherUsageError(
      `worstExitPrice needs exitDistancePercent: a whole number from 1 to ${MOST_DISTANCE_PERCENT}, as the owner can set it.`,
    );
  const tick = tickOf(tickSize);
  const price = parsePips(terms.price);
  const least = BigInt(price) * BigInt(100 - percent);
  const worst = Number(divide(least, 100n * BigInt(tick), 'ceil')) * tick;
  if (worst > price)
    throw new BellwetherUsageError(
      `No price of this market lies from ${percent} % below ${terms.price} up to it: name a worst price of your own.`,
    );
  return pipsToNumber(worst);
}

/** An exit as it is meant: the order that `verifyPrepared` gave, and what sends it. */
export interface MeantExit extends Pick<ExitRequest, 'trigger' | 'group'> {
  readonly orderId: string;
  readonly body: UnsignedTrade;
}

/**
 * Compares an exit that the desk says it has checked with the one that is meant, before it is signed: a desk that has checked another
 * order or another price has not said that this one can be left.
 * @returns whether it was checked: `false` for an answer that is not `validated`, of which nothing is to be believed
 * @throws PreparedOrderError naming the first field that differs
 * @example
 * const terms = { trigger: { kind: 'price_at_or_below', price: 0.4 } } as const;
 * const verified = verifyPrepared(await client.prepareTrade(intent), intent, { agentId, signer, market });
 * const checked = await client.leaveExit({ ...verified.body, ...terms, validateOnly: true });
 * verifyExit(checked, { ...verified, ...terms });
 * const exit = await client.leaveExit({ ...(await signPrepared(verified, signer)), ...terms });
 */
export function verifyExit(answer: LeftExit, meant: MeantExit): boolean {
  needOptions('verifyExit', meant, { body: NEED.object('the order that was verified', 'order') });
  if (answer.status !== 'validated') return false;
  const { trigger, group = null, orderId, body } = meant;
  const at = (value: string | undefined) => (value === undefined ? undefined : Date.parse(value));
  const fields: readonly (readonly [string, unknown, unknown])[] = [
    ['orderId', answer.orderId, orderId],
    ['tokenId', answer.tokenId, body.order.tokenId],
    ['outcome', answer.outcome, body.outcome],
    ['size', answer.size, body.orderSize],
    ['worstPrice', answer.worstPrice, signedWorst(body)],
    ['orderType', answer.orderType, body.orderType],
    ['trigger.kind', answer.trigger.kind, trigger.kind],
    ['trigger.price', answer.trigger.price, trigger.price],
    ['trigger.at', at(answer.trigger.at), at(trigger.at)],
    ['trigger.minutes', answer.trigger.minutes, trigger.minutes],
    ['group', answer.group, group],
  ];
  for (const [name, said, wanted] of fields)
    if (said !== wanted)
      throw new PreparedOrderError(
        `exit.${name}`,
        `The desk checked another exit than the one that is meant: exit.${name} is ${String(said)}, and should be ${String(wanted)}. It was not signed.`,
      );
  return true;
}

/** The least that the signed amounts of a SELL allow, on the grid. */
function signedWorst({ order: { makerAmount, takerAmount }, tickSize }: UnsignedTrade): number {
  const tick = parseTick(tickSize) ?? 1;
  const ticks = divide(BigInt(takerAmount) * BigInt(PIPS), BigInt(makerAmount) * BigInt(tick), 'ceil');
  return pipsToNumber(Number(ticks) * tick);
}
