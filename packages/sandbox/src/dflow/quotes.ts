/**
 * Answers GET /order: prices whole contracts on the exchange's book and, for a wallet, builds the transaction that
 * opens the order. The order and its terms are recorded before the answer is sent.
 */
import { divide, MICRO } from '@bellwether/contract/decimals';
import type { Outcome, PaperExchange } from '@bellwether/exchange';
import { paperEscrowAddress, type SolanaAddress, toBase64, USDC_MINT } from '@bellwether/protocol';
import { messageHashOf, type SandboxChain } from '../solana/index.ts';
import type { Catalog, ListedMarket } from './catalog.ts';
import { DoorError, noRoute } from './door-error.ts';
import { COMPUTE_UNITS, type OrderRequest } from './order-request.ts';
import type { OrderKind, Orders, Terms } from './orders.ts';
import { impactMillionths, type Priced, payoutOf, priceBuy, priceSell } from './pricing.ts';
import { isResting, type Switches } from './switches.ts';
import { tokenAccountOf } from './token-addresses.ts';
import type * as Transactions from './transactions.ts';
import type { MintMaker, Vaults } from './vaults.ts';

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
