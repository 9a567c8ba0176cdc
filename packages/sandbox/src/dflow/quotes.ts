/**
 * Answers GET /order: checks every parameter, in a fixed order, prices whole contracts on the exchange's book and, for
 * a wallet, builds the transaction that opens the order. The order and its terms are recorded before the answer is
 * sent.
 */

import { divide, MICRO } from '@bellwether/contract/decimals';
import type { Outcome, PaperExchange } from '@bellwether/exchange';
import {
  paperEscrowAddress,
  parseSolanaAddress,
  type SolanaAddress,
  toBase64,
  USDC_MINT,
} from '@bellwether/protocol';
import { messageHashOf, type SandboxChain } from '../solana/index.ts';
import type { Catalog, ListedMarket } from './catalog.ts';
import type { OrderKind, Orders, Terms } from './orders.ts';
import { impactMillionths, type Priced, payoutOf, priceBuy, priceSell } from './pricing.ts';
import { DoorError, isResting, noRoute, type Switches } from './refusals.ts';
import { tokenAccountOf } from './tokens.ts';
import type * as Transactions from './transactions.ts';
import type { MintMaker, Vaults } from './vaults.ts';

interface OrderRequest {
  readonly inputMint: SolanaAddress;
  readonly outputMint: SolanaAddress;
  readonly amount: bigint;
  /** `null`: a quote without a transaction. */
  readonly user: SolanaAddress | null;
  readonly sponsor: SolanaAddress | null;
  /** Receives the output, and the rest of the input; by default the user. */
  readonly destinationWallet: SolanaAddress | null;
  readonly revertWallet: SolanaAddress | null;
  /** Echoed in the answer; `outcomeSlippageBps` determines the least output. */
  readonly slippageBps: number;
  readonly outcomeSlippageBps: number;
  /** Millionths of the best price. */
  readonly impactTolerance: bigint;
  readonly microLamportsPerUnit: bigint;
  readonly withLookupTables: boolean;
  /** Such orders are always asynchronous. */
  readonly allowsAsync: boolean;
}

type Query = Readonly<Record<string, unknown>>;

const COMPUTE_UNITS = 200_000;
const AUTO_SLIPPAGE_BPS = 200;
const MOST_BPS = 10_000;
const DEFAULT_IMPACT = 100_000n;
const MILLIONTHS_PER_PERCENT = 10_000n;
const GREATEST_INT64 = 2n ** 63n - 1n;
const WHOLE = /^\d{1,19}$/;

/** Micro-lamports per compute unit, by the names of the levels. */
export const PRIORITY_PRICES = { medium: 135n, high: 1_000n, veryHigh: 10_000n } as const;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const bad = (code: string, msg: string): DoorError => new DoorError(400, code, msg);

function key(query: Query, name: string, code: string): SolanaAddress | null {
  const value = query[name];
  if (value === undefined) return null;
  const address = isText(value) ? parseSolanaAddress(value) : null;
  if (address === null) throw bad(code, `${name} must be a base58-encoded public key`);
  return address;
}

function flag(query: Query, name: string, fallback: boolean): boolean {
  const value = query[name];
  if (value === undefined) return fallback;
  if (value === 'true' || value === 'false') return value === 'true';
  throw bad('invalid_request', `${name} must be true or false`);
}

function bps(query: Query, name: string, code: string): number | null {
  const value = query[name];
  if (value === undefined || value === 'auto') return null;
  const number = isText(value) && WHOLE.test(value) ? Number(value) : Number.NaN;
  if (!(number <= MOST_BPS)) throw bad(code, `${name} must be "auto" or 0 to ${MOST_BPS}`);
  return number;
}

/** @throws DoorError with the venue's code for the first fault */
export function readOrderRequest(query: Query): OrderRequest {
  const mints = readMints(query);
  const amount = readAmount(query);
  const user = key(query, 'userPublicKey', 'invalid_user_public_key');
  const sponsor = key(query, 'sponsor', 'invalid_sponsor');
  const revertWallet = key(query, 'revertWallet', 'invalid_revert_wallet');
  const initPayer = key(query, 'predictionMarketInitPayer', 'invalid_prediction_market_init_payer');
  const { slippageBps, outcomeSlippageBps } = readSlippage(query);
  const impactTolerance = readImpactTolerance(query);
  const microLamportsPerUnit = readPriority(query);
  refusePlatformFee(query);
  const allowsAsync = flag(query, 'allowAsyncExec', true);
  if (!allowsAsync && !flag(query, 'allowSyncExec', true))
    throw bad('cannot_disable_sync_and_async_execution', 'Cannot disable both sync and async execution');
  if (query.destinationTokenAccount !== undefined && query.destinationWallet !== undefined)
    throw bad(
      'both_destination_params_specified',
      'Specify destinationTokenAccount or destinationWallet, not both',
    );
  if (query.destinationTokenAccount !== undefined)
    throw bad('destination_token_account_not_supported', 'Use destinationWallet');
  const destinationWallet = key(query, 'destinationWallet', 'invalid_destination_wallet');
  if (sponsor !== null && initPayer !== null)
    throw bad(
      'both_sponsor_and_prediction_market_init_payer_specified',
      'Specify sponsor or predictionMarketInitPayer, not both',
    );
  return {
    ...mints,
    ...{ amount, user, sponsor, destinationWallet, revertWallet, slippageBps, outcomeSlippageBps },
    ...{ impactTolerance, microLamportsPerUnit, allowsAsync },
    withLookupTables: flag(query, 'includeAddressLookupTables', false),
  };
}

function readMints(query: Query): Pick<OrderRequest, 'inputMint' | 'outputMint'> {
  const inputMint = key(query, 'inputMint', 'invalid_input_mint');
  if (inputMint === null) throw bad('invalid_input_mint', 'inputMint is required');
  const outputMint = key(query, 'outputMint', 'invalid_output_mint');
  if (outputMint === null) throw bad('invalid_output_mint', 'outputMint is required');
  if (inputMint === outputMint)
    throw bad('same_input_and_output_mint', 'inputMint and outputMint must be different');
  return { inputMint, outputMint };
}

function readAmount({ amount }: Query): bigint {
  if (!isText(amount) || !WHOLE.test(amount) || BigInt(amount) > GREATEST_INT64)
    throw bad('invalid_request', 'amount must be a whole number of atoms');
  if (BigInt(amount) === 0n) throw bad('requested_input_amount_is_zero', 'amount must be more than zero');
  return BigInt(amount);
}

function readSlippage(query: Query): Pick<OrderRequest, 'slippageBps' | 'outcomeSlippageBps'> {
  const asked = bps(query, 'slippageBps', 'invalid_slippage_bps');
  const slippageBps = asked ?? AUTO_SLIPPAGE_BPS;
  const own = bps(query, 'predictionMarketSlippageBps', 'prediction_slippage_bps_above_max');
  if (own !== null && own < slippageBps && asked !== null)
    throw bad(
      'prediction_slippage_bps_below_routing_slippage',
      'predictionMarketSlippageBps must not be less than slippageBps',
    );
  return { slippageBps, outcomeSlippageBps: own ?? slippageBps };
}

function readImpactTolerance({ priceImpactTolerancePct: value }: Query): bigint {
  if (value === undefined) return DEFAULT_IMPACT;
  if (!isText(value) || !WHOLE.test(value) || Number(value) > 100)
    throw bad('invalid_price_impact_tolerance_pct', 'priceImpactTolerancePct must be 0 to 100');
  return BigInt(value) * MILLIONTHS_PER_PERCENT;
}

function readPriority(query: Query): bigint {
  const { prioritizationFeeLamports: fee, computeUnitPriceMicroLamports: price } = query;
  if (fee !== undefined && price !== undefined)
    throw bad(
      'both_priority_fee_params_specified',
      'Specify prioritizationFeeLamports or computeUnitPriceMicroLamports, not both',
    );
  if (price !== undefined) {
    if (!isText(price) || !WHOLE.test(price))
      throw bad('invalid_request', 'computeUnitPriceMicroLamports must be a whole number');
    return BigInt(price);
  }
  if (fee === undefined || fee === 'auto') return PRIORITY_PRICES.medium;
  if (fee === 'disabled') return 0n;
  if (fee === 'medium' || fee === 'high' || fee === 'veryHigh') return PRIORITY_PRICES[fee];
  if (!isText(fee) || !/^\d{1,10}$/.test(fee))
    throw bad('invalid_request', 'prioritizationFeeLamports must be a number, a level or "disabled"');
  return (BigInt(fee) * 1_000_000n) / BigInt(COMPUTE_UNITS);
}

/** The sandbox does not support custom platform fees. */
function refusePlatformFee({ platformFeeBps, platformFeeScale, feeAccount }: Query): void {
  const isSet = (value: unknown): boolean => value !== undefined && value !== '0';
  if (isSet(platformFeeBps))
    throw feeAccount === undefined
      ? bad('platform_fee_account_not_specified', 'feeAccount is required with platformFeeBps')
      : bad('invalid_platform_fee_bps', 'The sandbox charges no platform fees');
  if (isSet(platformFeeScale))
    throw feeAccount === undefined
      ? bad('platform_fee_account_not_specified_for_platform_fee_scale', 'feeAccount is required')
      : bad('invalid_platform_fee_scale', 'The sandbox charges no platform fees');
}

export interface QuoteParts {
  readonly exchange: Pick<PaperExchange, 'book'>;
  readonly chain: SandboxChain;
  readonly catalog: Catalog;
  readonly orders: Orders;
  readonly mints: MintMaker;
  readonly vaults: Vaults;
  readonly switches: Switches;
  readonly build: typeof Transactions;
  now(): number;
}

/** The trade that the venue offers. Amounts in atoms. */
interface Offer {
  readonly market: ListedMarket;
  readonly kind: OrderKind;
  readonly outcome: Outcome;
  readonly inAmount: bigint;
  readonly outAmount: bigint;
  readonly minOut: bigint;
  readonly impact: bigint;
}

const PROOF = 'https://dflow.net/proof';
const BPS = 10_000n;

/** @throws DoorError with the venue's code and text */
export async function quoteOrder(
  parts: QuoteParts,
  request: OrderRequest,
): Promise<Readonly<Record<string, unknown>>> {
  if (parts.switches.geoblock === 'on')
    throw new DoorError(403, 'geoblocked', 'Prediction markets are not available in your location');
  if (request.user !== null && parts.switches.restrictedWallets.has(request.user))
    throw new DoorError(400, 'wallet_restricted', 'This wallet is restricted');
  const offer = await findOffer(parts, request);
  const answer = {
    inputMint: request.inputMint,
    inAmount: String(offer.inAmount),
    outputMint: request.outputMint,
    outAmount: String(offer.outAmount),
    otherAmountThreshold: String(offer.minOut),
    minOutAmount: String(offer.minOut),
    slippageBps: request.slippageBps,
    predictionMarketSlippageBps: request.outcomeSlippageBps,
    priceImpactPct: impactText(offer.impact),
    platformFee: null,
    contextSlot: parts.chain.blocks().slot,
    executionMode: 'async',
    revertMint: request.inputMint,
  };
  if (request.user === null) return answer;
  return { ...answer, ...(await issue(parts, request, offer, request.user)) };
}

async function findOffer(parts: QuoteParts, request: OrderRequest): Promise<Offer> {
  const isBuy = request.inputMint === USDC_MINT;
  if (!isBuy && request.outputMint !== USDC_MINT) throw noRoute();
  const found = await parts.catalog.byMint(isBuy ? request.outputMint : request.inputMint);
  if (found === null || found.outcome === null) throw noRoute();
  const { market, outcome } = found;
  if (!request.allowsAsync || isResting(parts.switches, parts.now())) throw noRoute();
  if (market.status === 'resolved' && !isBuy) return redemption(market, outcome, request.amount);
  if (market.status !== 'open') throw noRoute();
  if (isBuy) requireProof(parts.switches, request);
  return trade(parts, request, market, { outcome, isBuy });
}

function requireProof({ kyc, verifiedWallets }: Switches, { user, destinationWallet }: OrderRequest): void {
  if (kyc === 'off' || user === null) return;
  const wallet = destinationWallet ?? user;
  if (verifiedWallets.has(wallet)) return;
  throw new DoorError(
    400,
    'unverified_wallet_not_allowed',
    'The receiving wallet is not verified for prediction markets',
    { deepLink: `${PROOF}?wallet=${wallet}` },
  );
}

function redemption(market: ListedMarket, outcome: Outcome, amount: bigint): Offer {
  const pays = payoutOf(market, outcome);
  if (pays === 0n) throw noRoute();
  const outAmount = (amount * pays) / MICRO;
  if (outAmount === 0n) throw new DoorError(400, 'zero_out_amount', 'The output amount is zero');
  return { market, kind: 'REDEEM', outcome, inAmount: amount, outAmount, minOut: outAmount, impact: 0n };
}

function trade(
  parts: QuoteParts,
  request: OrderRequest,
  market: ListedMarket,
  { outcome, isBuy }: { readonly outcome: Outcome; readonly isBuy: boolean },
): Offer {
  const book = parts.exchange.book(market.conditionId, outcome);
  if (book === undefined) throw noRoute();
  const priced = isBuy ? priceBuy(book.asks, request.amount) : priceSell(book.bids, request.amount);
  if (priced.size === 0n || (!isBuy && isShort(priced, request.amount))) throw noRoute();
  const impact = impactMillionths(priced);
  if (impact > request.impactTolerance)
    throw new DoorError(400, 'price_impact_too_high', 'The price impact is above the tolerance');
  const outAmount = isBuy ? priced.size : priced.cost - priced.fee;
  if (outAmount <= 0n) throw new DoorError(400, 'zero_out_amount', 'The output amount is zero');
  return {
    ...{ market, outcome, outAmount, impact },
    kind: isBuy ? 'BUY' : 'SELL',
    inAmount: isBuy ? request.amount : priced.size,
    minOut: divide(outAmount * (BPS - BigInt(request.outcomeSlippageBps)), BPS, 'floor'),
  };
}

/** The bids do not take every whole contract of the offer. */
const isShort = ({ size }: Priced, amount: bigint): boolean => size < amount - (amount % MICRO);

/** 10000n millionths are "0.01", which is 1 %. */
function impactText(millionths: bigint): string {
  const digits = millionths.toString().padStart(7, '0');
  const fraction = digits.slice(-6).replace(/0+$/, '');
  return fraction === '' ? digits.slice(0, -6) : `${digits.slice(0, -6)}.${fraction}`;
}

async function issue(
  parts: QuoteParts,
  request: OrderRequest,
  offer: Offer,
  user: SolanaAddress,
): Promise<Readonly<Record<string, unknown>>> {
  const { build, chain } = parts;
  await parts.mints.ensure(offer.market);
  const lifetime = chain.blocks();
  const compiled = build.compile({
    feePayer: request.sponsor ?? user,
    lifetime,
    instructions: openingInstructions(parts, request, offer, user),
  });
  const terms: Terms = {
    messageHash: messageHashOf(compiled.message),
    kind: offer.kind,
    ticker: offer.market.ticker,
    conditionId: offer.market.conditionId,
    outcome: offer.outcome,
    wallet: user,
    recipient: request.destinationWallet ?? user,
    refund: request.revertWallet ?? user,
    inAmount: offer.inAmount,
    minOut: offer.minOut,
    lastValidBlockHeight: lifetime.lastValidBlockHeight,
  };
  await parts.orders.issue(terms);
  return {
    transaction: toBase64(build.unsigned(compiled)),
    lastValidBlockHeight: lifetime.lastValidBlockHeight,
    computeUnitLimit: COMPUTE_UNITS,
    prioritizationFeeLamports: Number(
      divide(request.microLamportsPerUnit * BigInt(COMPUTE_UNITS), 1_000_000n, 'ceil'),
    ),
    prioritizationType: {
      computeBudget: {
        microLamports: Number(request.microLamportsPerUnit),
        estimatedMicroLamports: Number(request.microLamportsPerUnit),
      },
    },
    ...(request.withLookupTables ? { addressLookupTables: [] } : {}),
  };
}

/** Pays the input into escrow, and creates the token account of the output. */
function openingInstructions(
  { build }: QuoteParts,
  request: OrderRequest,
  offer: Offer,
  user: SolanaAddress,
): Transactions.Instruction[] {
  const { inputMint, outputMint } = request;
  const receiver = request.destinationWallet ?? user;
  return [
    build.computeLimit(COMPUTE_UNITS),
    build.computePrice(request.microLamportsPerUnit),
    build.openAccount({
      payer: request.sponsor ?? user,
      owner: receiver,
      mint: outputMint,
      account: tokenAccountOf(receiver, outputMint),
    }),
    build.transfer({
      mint: inputMint,
      from: tokenAccountOf(user, inputMint),
      to: paperEscrowAddress(inputMint),
      authority: user,
      amount: offer.inAmount,
    }),
    // Makes the message unique, so that it identifies its order.
    build.memo(`order ${crypto.randomUUID()}`),
  ];
}
