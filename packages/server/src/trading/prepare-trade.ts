/**
 * Makes an order ready for signing: what to sign and to post, what the book would fill now, and what every safeguard says
 * of it. Reserves nothing, stores nothing, locks nothing; the trade that follows is judged anew.
 */
import {
  cutOf,
  type ErrorCode,
  OrderBuildError,
  outcomeName,
  type PreparedTrade,
  type TradeCheck,
  type TradeIntent,
  type UnsignedTrade,
  type UnsignedTradeTerms,
  unsignedTrade,
} from '@bellwether/contract';
import { type Micro, microToNumber, pipsToNumber } from '@bellwether/contract/decimals';
import {
  type Address,
  asAddress,
  bytesToHex,
  controlsWallet,
  type ExchangeVersion,
  exchangeDomain,
  exchangeVersionOf,
  type OrderProfile,
  orderDigest,
  orderTypedData,
  orderTypeOf,
  SIGNATURE_BYTES,
  type SignatureType,
  saltOf,
  signatureTypeOf,
  signsExtras,
  structHash,
  type TypedData,
  typedDataSignDigest,
  walletKindsOf,
  wrapDepositSignature,
  wrappedOrderTypedData,
} from '@bellwether/protocol';
import { approvalOf, type ObtainApprovalNeeds } from '../approvals/index.ts';
import { incoherences } from '../domain/coherence.ts';
import type { Denial } from '../domain/denial.ts';
import {
  boundTerms,
  type Draft,
  type MarketDraft,
  readDraft,
  saysExchange,
  signedLimit,
} from '../domain/draft.ts';
import { type Book, type MarketRecord, marketNotices, termsOf, tickSizeText } from '../domain/market.ts';
import type { Caller } from '../domain/records.ts';
import {
  balanceCheck,
  checkOf,
  plainCheck,
  type Verdict,
  verdicts,
  withoutCredentials,
} from '../domain/safeguards.ts';
import { marketNamed, requireMarket, requireSide } from '../markets/index.ts';
import { Refusal, refusal } from '../platform/refusal.ts';
import { venueFor } from '../venues/asking.ts';
import type { VenueWith } from '../venues/venue.ts';
import type { CredentialRow } from '../wallets/index.ts';
import type { TradeScope } from './admission.ts';
import {
  amountOf,
  asRefusal,
  balanceQuestion,
  credentialFault,
  DEPTH,
  expectationOf,
  factsOf,
  fundsFor,
  mostFee,
  pickCredential,
  requireSound,
  shortageOf,
  type TradeNeeds,
  UNSIGNED,
} from './judge-trade.ts';
import { nameTaken, requireReady } from './place-order.ts';

/** Whose money the order is about, and who signs it. */
interface Parties {
  readonly eoa: Address;
  readonly maker: Address;
  readonly signer: Address;
  readonly signatureType: SignatureType;
  readonly wrapped: boolean;
}

type SigningVenue = VenueWith<'signedOrders'>;

/** Its key is unknown, and it holds nothing. */
const NO_WALLET = asAddress(`0x${'0'.repeat(40)}`);

/** @throws Refusal for an intent of which no order can be made; what a safeguard denies is only reported */
export async function prepareTrade(
  needs: TradeNeeds,
  caller: Caller,
  intent: TradeIntent,
): Promise<PreparedTrade> {
  const venue = venueFor(needs, intent.venue, 'signedOrders');
  const { profile } = venue.signedOrders.signing;
  const orderVersion = intent.orderVersion ?? 2;
  requireCoherent(intent, signsExtras(orderVersion, profile));
  const { market } = await requireMarket(needs, marketNamed(intent), venue.id);
  const outcome = requireSide(market, intent.outcome);
  const tokenId = market.tokenIds[outcome === 'YES' ? 0 : 1];
  const version = exchangeVersionOf(BigInt(tokenId), orderVersion);
  const hasExtras = signsExtras(version, profile);
  requireFitting(intent, version);
  if (intent.builder !== undefined && !hasExtras) throw noBuilderField();
  const { parties, isProved } = await partiesOf(needs, caller, intent, venue);
  const { conditionId, question, tokenIds, tickSize: tick, negRisk } = market;
  const body = unsignedOf(intent, {
    ...parties,
    ...{ venue: venue.id, conditionId, question, tokenIds, outcome, tick, negRisk, hasExtras },
    ...(intent.builder === undefined ? {} : { builder: intent.builder }),
    salt: saltOf(caller.agentId, intent.clientOrderId),
  });
  const read = draftOf(body, profile);
  const now = needs.clock.now();
  const faults = incoherences(read, termsOf(market), venue.signedOrders.rules, now);
  const draft = requireSound(read, market, faults.map(inIntent));
  const signing = signingOf({ venue, market, draft, parties });
  const book = await venue.markets.book(market.conditionId, draft.outcome, DEPTH);
  const amount = amountOf({ venue, draft, market }, book);
  const judged = {
    caller,
    venue,
    market,
    draft,
    parties,
    orderId: signing.orderId,
    now,
    isProved,
    book,
    amount,
  };
  const checks = await checksOf(needs, judged);
  const limit = signedLimit(draft, market.tickSize);
  const expectation = expectationOf(market, draft, book, limit);
  return {
    clientOrderId: intent.clientOrderId,
    preparedAt: new Date(now).toISOString(),
    venue: venue.id,
    agentId: caller.agentId,
    marketId: market.id,
    marketConditionId: market.conditionId,
    tokenId: body.order.tokenId,
    outcome,
    outcomeName: outcomeName(market.outcomes, outcome),
    side: draft.side,
    orderVersion,
    ...saysExchange(tokenId),
    orderProfile: profile,
    negRisk: market.negRisk,
    tickSize: tickSizeText(market),
    maker: parties.maker,
    signer: parties.signer,
    eoa: parties.eoa,
    signatureType: parties.signatureType,
    ...signing,
    amounts: {
      makerAmount: body.order.makerAmount,
      takerAmount: body.order.takerAmount,
      shares: microToNumber(draft.shares),
      collateral: microToNumber(draft.money),
      limit: pipsToNumber(limit),
      ...cutOf(intent, draft.fields),
    },
    ...expectation,
    feeAtMost: microToNumber(mostFee({ venue, draft, market }, limit)),
    counted: microToNumber(amount),
    checks,
    warnings: marketNotices(market, now),
    accepted: expectation.expectedRefusal === null && checks.every(({ passed }) => passed),
    body,
  };
}

/** @throws Refusal credentials_not_registered, wallet_owner_mismatch */
async function partiesOf(
  { agents, wallets }: TradeNeeds,
  caller: Caller,
  intent: TradeIntent,
  { signedOrders, paper }: SigningVenue,
): Promise<{ readonly parties: Parties; readonly isProved: boolean }> {
  const named =
    intent.walletAddress ?? intent.signer ?? (await agents.byId(caller.agentId))?.walletAddress ?? undefined;
  if (named === undefined)
    throw new Refusal([withoutCredentials(paper?.credentials !== undefined, 'The agent has no wallet yet.')]);
  const wallet = asAddress(named);
  const signer = intent.signer === undefined ? null : asAddress(intent.signer);
  const own = await wallets.credential(caller, wallet);
  const row = own ?? (signer === null ? null : await wallets.credential(caller, signer));
  const eoa = signer ?? own?.eoa ?? wallet;
  if (own !== null && own.eoa !== eoa) throw notItsWallet('signer', `${wallet} belongs to ${own.eoa}.`);
  const derived = intent.signatureType ?? own?.signatureType ?? signatureTypeOf(eoa, wallet);
  if (derived === null)
    throw notItsWallet('walletAddress', `${wallet} is no wallet that is derived from ${eoa}.`);
  const signatureType = derived;
  const maker = makerOf({ eoa, wallet, signatureType, own });
  const wrapped = signatureType === 3 && (intent.wrapped ?? signedOrders.signing.profile === 'polymarket');
  if (intent.wrapped === true && !wrapped)
    throw refusal('invalid_request', `The wallet's signatureType is ${signatureType}; only 3 is wrapped.`, {
      path: 'wrapped',
    });
  return {
    parties: { eoa, maker, signer: wrapped ? maker : eoa, signatureType, wrapped },
    isProved: row !== null && row.eoa === eoa,
  };
}

const notItsWallet = (path: string, detail: string): Refusal =>
  refusal('wallet_owner_mismatch', detail, { path });

/** The account that pays: the wallet that is named, or the one that its EOA has of this type. */
function makerOf({
  eoa,
  wallet,
  signatureType,
  own,
}: Pick<Parties, 'eoa' | 'signatureType'> & {
  readonly wallet: Address;
  readonly own: CredentialRow | null;
}): Address {
  if (own?.signatureType === signatureType) return own.funder;
  if (controlsWallet(eoa, signatureType, wallet)) return wallet;
  if (wallet !== eoa)
    throw notItsWallet(
      'signatureType',
      `${wallet} is no wallet of signatureType ${signatureType} of ${eoa}.`,
    );
  const { proxy, safe, deposit } = walletKindsOf(eoa);
  return [eoa, proxy, safe, deposit.beacon][signatureType] as Address;
}

function draftOf(body: UnsignedTrade, profile: OrderProfile): Draft {
  const draft = readDraft({ ...body, order: { ...body.order, signature: UNSIGNED } }, profile);
  if (Array.isArray(draft)) throw asRefusal((draft as readonly Denial[]).map(inIntent));
  return draft as Draft;
}

interface Signable {
  readonly venue: SigningVenue;
  readonly market: MarketRecord;
  readonly draft: MarketDraft;
  readonly parties: Parties;
}

type Signing = Pick<
  PreparedTrade,
  'orderId' | 'verifyingContract' | 'typedData' | 'digest' | 'signatureSuffix'
>;

/** Describes the bytes that the key signs: the order, or, for a wrapped signature, what ERC-7739 puts around it. */
function signingOf({ venue, market, draft, parties }: Signable): Signing {
  const { signing } = venue.signedOrders;
  const version = exchangeVersionOf(draft.fields.tokenId, draft.version ?? 2);
  const domain = exchangeDomain(signing.domains, version, market.negRisk);
  const contentsHash = structHash(draft, version, signing.profile);
  if (contentsHash === null) throw new Error('the order lacks fields of its struct');
  const { separator, verifyingContract } = domain;
  const plain = orderDigest(separator, contentsHash);
  const { fields, extras } = draft;
  const message = { domain, chainId: signing.chainId, fields, extras };
  const common = { orderId: bytesToHex(plain), verifyingContract };
  if (!parties.wrapped)
    return {
      ...common,
      digest: common.orderId,
      typedData: wire(orderTypedData(message)),
      signatureSuffix: null,
    };
  const parts = { separator, contentsHash, orderType: orderTypeOf(extras) };
  const wrapped = wrapDepositSignature({ ...parts, inner: new Uint8Array(SIGNATURE_BYTES) });
  return {
    ...common,
    digest: bytesToHex(typedDataSignDigest({ ...parts, wallet: parties.maker, chainId: signing.chainId })),
    typedData: wire(wrappedOrderTypedData(message, parties.maker)),
    signatureSuffix: `0x${wrapped.slice(2 + 2 * SIGNATURE_BYTES)}`,
  };
}

const wire = ({ domain, primaryType, types, message }: TypedData): PreparedTrade['typedData'] => ({
  domain: { ...domain },
  primaryType,
  types: Object.fromEntries(Object.entries(types).map(([name, fields]) => [name, [...fields]])),
  message: { ...message },
});

interface PreparedJudgement extends Signable {
  readonly caller: Caller;
  readonly orderId: string;
  readonly now: number;
  /** The agent has a credential of the wallet's key. Reveals nothing about other wallets. */
  readonly isProved: boolean;
  /** As it is believed now. */
  readonly book: Book | null;
  /** Amount that the safeguards count. */
  readonly amount: Micro;
}

/** In the order in which a trade is refused. */
async function checksOf(needs: TradeNeeds, judged: PreparedJudgement): Promise<TradeCheck[]> {
  const { caller, venue, market, draft, parties, orderId, now, isProved, book, amount } = judged;
  const { conditionId, tokenIds } = market;
  const { maker } = parties;
  const [scope, balance] = await Promise.all([
    needs.ledger.preview({
      caller,
      orderId,
      clientOrderId: judged.draft.clientOrderId,
      funder: isProved ? maker : NO_WALLET,
      signer: isProved ? parties.eoa : NO_WALLET,
      wallets: [...new Set([maker, parties.signer])],
      conditionId,
      tokenIds,
      at: now,
    }),
    isProved ? venue.signedOrders.balance(maker, balanceQuestion(judged)) : null,
  ]);
  const credential = pickCredential(draft, scope.credentials);
  const fault = credential === null ? null : credentialFault(needs, draft, credential);
  const facts = factsOf(judged, { scope, credential, book, amount });
  return [
    plainCheck('service_unavailable', venueFault(venue, draft, parties.eoa)),
    plainCheck('credential_type_mismatch', fault),
    plainCheck('client_order_id_already_used', nameFault(scope, orderId)),
    ...(await verdictsOf(needs, judged, verdicts(scope.safeguards, facts))).map((one) => checkOf(one, scope)),
    ...(balance === null ? [] : [balanceCheck(fundsFor(judged, balance), shortageOf(judged, balance))]),
  ];
}

/** With what the owner has approved of this order. */
async function verdictsOf(
  needs: ObtainApprovalNeeds,
  { caller, orderId, draft }: PreparedJudgement,
  found: readonly Verdict[],
): Promise<readonly Verdict[]> {
  if (!found.some(({ denial }) => denial?.code === 'approval_required')) return found;
  if ((await approvalOf(needs, { caller, orderId, binds: boundTerms(draft) }))?.status !== 'approved')
    return found;
  return found.map((one) => (one.denial?.code === 'approval_required' ? { ...one, denial: null } : one));
}

/** Another order has the intent's name. */
const nameFault = ({ namedOrder }: TradeScope, orderId: string): Denial | null =>
  namedOrder === null || namedOrder === orderId ? null : nameTaken(namedOrder);

/** Why the venue would not take the order at this moment. */
function venueFault(venue: SigningVenue, { postOnly }: Draft, signer: Address): Denial | null {
  try {
    requireReady(venue, { postOnly, signer });
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.denials[0];
    throw error;
  }
}

// Reasons to refuse an intent before there is an order of it, and the field of the intent that a fault comes from.

/** @throws Refusal with every field that contradicts another */
function requireCoherent(intent: TradeIntent, hasExtras: boolean): void {
  const { price, worstPrice, size, amount, side } = intent;
  const faults: Denial[] = [];
  const fault = (path: string, detail: string) => faults.push({ code: 'invalid_request', path, detail });
  if ((price === undefined) === (worstPrice === undefined))
    fault('price', 'Either price (a limit order) or worstPrice (a market order) is needed, not both.');
  const isBudget = price === undefined && worstPrice !== undefined && side === 'BUY';
  const what = isBudget ? 'A market BUY' : 'This order';
  const [wanted, other] = isBudget ? (['amount', 'size'] as const) : (['size', 'amount'] as const);
  if ((isBudget ? amount : size) === undefined) fault(wanted, `${what} needs ${wanted}.`);
  if ((isBudget ? size : amount) !== undefined) fault(other, `${what} takes ${wanted}, not ${other}.`);
  if (hasExtras && intent.timestamp === undefined)
    fault(
      'timestamp',
      "Version 2 signs a timestamp under this service's order profile: send the time of the first try in milliseconds, and the same again with every retry.",
    );
  const [first, ...rest] = faults;
  if (first !== undefined) throw new Refusal([first, ...rest]);
}

/** @throws Refusal for what an order in a market of Protocol V2 cannot be, or lacks */
function requireFitting({ orderVersion, timestamp }: TradeIntent, version: ExchangeVersion): void {
  if (version !== 3) return;
  const faults: Denial[] = [];
  if (orderVersion === 1)
    faults.push({
      code: 'invalid_request',
      path: 'orderVersion',
      detail: 'This market is of version v2 and trades on ExchangeV3: leave orderVersion out, or send 2.',
    });
  if (timestamp === undefined)
    faults.push({
      code: 'invalid_request',
      path: 'timestamp',
      detail:
        'This market is of version v2, whose orders sign a timestamp: send the time of the first try in milliseconds, and the same again with every retry.',
    });
  const [first, ...rest] = faults;
  if (first !== undefined) throw new Refusal([first, ...rest]);
}

const noBuilderField = (): Refusal =>
  refusal(
    'invalid_request',
    'Orders of this market carry no builder code under the order profile of this service: leave builder out.',
    {
      path: 'builder',
    },
  );

/** @throws Refusal for a price or quantity of which no order can be made */
function unsignedOf(intent: TradeIntent, terms: UnsignedTradeTerms): UnsignedTrade {
  try {
    return unsignedTrade(intent, terms);
  } catch (error) {
    if (!(error instanceof OrderBuildError)) throw error;
    const { code, message } = error;
    if (isOurOwn(code)) throw error;
    const detail = `${message[0]?.toUpperCase()}${message.slice(1)}.`;
    throw refusal(code, detail, { path: pathOf(code, intent) });
  }
}

/** Codes that no intent can cause here: the service knows no deadline. */
const NOT_OF_INTENTS = ['market_incomplete', 'tokens_differ', 'deadline_passed'] as const;
type NotOfIntents = (typeof NOT_OF_INTENTS)[number];
const isOurOwn = (code: string): code is NotOfIntents => NOT_OF_INTENTS.includes(code as NotOfIntents);

function pathOf(code: ErrorCode, { price, amount }: TradeIntent): string {
  if (code === 'price_off_tick_grid' || code === 'price_out_of_range')
    return price === undefined ? 'worstPrice' : 'price';
  return amount === undefined ? 'size' : 'amount';
}

const INTENT_PATHS: Readonly<Record<string, string>> = {
  marketConditionId: 'marketConditionId',
  orderSize: 'size',
  'order.makerAmount': 'amount',
  'order.takerAmount': 'size',
  'order.expiration': 'expiration',
  'order.builder': 'builder',
  expirationTime: 'expiration',
};

/** A fault of the trade, with the field of the intent that it comes from. */
const inIntent = (denial: Denial): Denial =>
  denial.path === undefined ? denial : { ...denial, path: INTENT_PATHS[denial.path] ?? denial.path };
