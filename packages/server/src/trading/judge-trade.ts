/** Reasons to refuse a signed order: first those that need no lock, then those that are judged while the agent's lock is held. */
import { outcomeName, type PreparedTrade } from '@bellwether/contract';
import {
  divide,
  formatMicro,
  MICRO,
  type Micro,
  microToNumber,
  type Pips,
  pipsToNumber,
} from '@bellwether/contract/decimals';
import {
  type Address,
  type RecoverPublicKey,
  SIGNATURE_BYTES,
  type SignatureRules,
  signatureTypeOf,
  unsignedOrder,
  type VerifiedOrder,
  verifyOrder,
  walletKindsOf,
} from '@bellwether/protocol';
import type { AgentStore } from '../agents/index.ts';
import {
  type GivenApproval,
  type ObtainApprovalNeeds,
  requireApproval,
  withApproval,
} from '../approvals/index.ts';
import { highestTakerFee, takerFee } from '../domain/amounts.ts';
import { mayBring, type Sweep, saleMarket, sweep } from '../domain/book-sweep.ts';
import { incoherences, mostBuilderFee, outcomeOf } from '../domain/coherence.ts';
import type { Denial } from '../domain/denial.ts';
import {
  boundTerms,
  type Draft,
  isImmediate,
  type MarketDraft,
  signedLimit,
  takesOf,
} from '../domain/draft.ts';
import { type ExitTerms, exitPriceDenial, isNearBid } from '../domain/exits.ts';
import { type Book, type MarketRecord, termsOf } from '../domain/market.ts';
import type { Caller, NewSignedOrder } from '../domain/records.ts';
import {
  approvalNeeded,
  assess,
  checkedFigures,
  NOT_GRANTED,
  type TradeFacts,
  usageOf,
  verdicts,
} from '../domain/safeguards.ts';
import { READ_PATIENCE_MS, within } from '../domain/unavailable.ts';
import type { Clock } from '../platform/clock.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Secrets } from '../platform/secrets.ts';
import { faucetVenue } from '../venues/asking.ts';
import type { Balance, BalanceQuestion, SignedOrders, Venues, VenueWith } from '../venues/venue.ts';
import type { WalletStore } from '../wallets/index.ts';
import type { Recorded, TradeLedger, TradeScope, TradingCredential } from './admission.ts';
import type { OrderStore } from './order-store.ts';
import { type PlaceOrderNeeds, requireReady } from './place-order.ts';
import type { NoteRefusalNeeds } from './refused-attempts.ts';
import { alreadyPlaced } from './trade-answers.ts';

/** What a trade is judged by, and written to. */
export interface TradeNeeds extends PlaceOrderNeeds, NoteRefusalNeeds, ObtainApprovalNeeds {
  readonly clock: Clock;
  readonly venues: Venues;
  readonly ledger: TradeLedger;
  readonly orders: OrderStore;
  readonly secrets: Pick<Secrets, 'hash' | 'newId'>;
  readonly signatures: { readonly recover: RecoverPublicKey };
  readonly agents: AgentStore;
  readonly wallets: WalletStore;
  readonly faucetPerDay: Micro;
  /** Agent and order id of what this process is placing. */
  readonly ordersUnderWay: Set<string>;
}

/** A signed order in which nothing is wrong by itself. */
export interface SoundTrade {
  readonly venue: VenueWith<'signedOrders'>;
  readonly draft: MarketDraft;
  readonly market: MarketRecord;
  readonly verified: VerifiedOrder;
}

export const asRefusal = (faults: readonly Denial[]): Refusal => {
  const [first, ...rest] = faults;
  if (first === undefined) throw new Error('a refusal needs a reason');
  return new Refusal([first, ...rest]);
};

/** Market, coherence, signature. @throws Refusal */
export function judgeDraft(
  needs: TradeNeeds,
  {
    venue,
    draft,
    market,
    unsigned = null,
  }: Pick<SoundTrade, 'venue'> & {
    readonly draft: Draft;
    readonly market: MarketRecord | null;
    readonly unsigned?: UnsignedBy | null;
  },
): SoundTrade {
  const { signing, rules } = venue.signedOrders;
  if (market === null || market.conditionId !== draft.conditionId)
    throw asRefusal([
      {
        code: 'unknown_market',
        path: 'marketConditionId',
        detail: 'The venue lists no market with this condition id.',
      },
    ]);
  const of = requireSound(draft, market, incoherences(draft, termsOf(market), rules, needs.clock.now()));
  const verdict = verifyDraft(draft, market.negRisk, {
    rules: { ...signing, recover: needs.signatures.recover },
    unsigned,
  });
  if (!verdict.ok) throw asRefusal([verdict.denial]);
  return { venue, draft: of, market, verified: verdict };
}

/** @throws Refusal with these faults */
export function requireSound(draft: Draft, market: MarketRecord, faults: readonly Denial[]): MarketDraft {
  const outcome = outcomeOf(draft, market);
  if (faults.length > 0 || outcome === null) throw asRefusal(faults);
  return { ...draft, outcome };
}

/** With what only the venue knows. */
export interface FundedTrade extends SoundTrade {
  /** Balance of its account, or the error that the venue gave instead. */
  readonly balance: { readonly known: Balance } | { readonly error: unknown };
  /** Book of a SELL; `null`: no book is believed now. */
  readonly book: Book | null;
}

export const balanceQuestion = (terms: FundedTerms): BalanceQuestion => {
  const { draft, market } = terms;
  return {
    conditionId: market.conditionId,
    tokenIds: market.tokenIds,
    pays: draft.side === 'BUY' ? 'collateral' : draft.outcome,
    needed: neededFor(terms),
  };
};

/** Asks the venue before the lock is taken, because nothing may wait under it. */
export async function withBalance(sound: SoundTrade): Promise<FundedTrade> {
  const { venue, draft } = sound;
  const [balance, book] = await Promise.all([
    venue.signedOrders.balance(draft.fields.maker, balanceQuestion(sound)).then(
      (known) => ({ known }),
      (error: unknown) => ({ error }),
    ),
    draft.side === 'SELL' ? believedBook(sound) : null,
  ]);
  return { ...sound, balance, book };
}

/** The book that an order would meet; `null` where the venue names none in time. */
const believedBook = ({
  venue,
  market,
  draft,
}: Pick<SoundTrade, 'venue' | 'market' | 'draft'>): Promise<Book | null> =>
  within(READ_PATIENCE_MS, venue.markets.book(market.conditionId, draft.outcome, DEPTH));

/** The collateral that the safeguards count: what a BUY spends, or what a SELL may bring, and what a builder takes of it. The venue's own fees apart. */
export function amountOf({ venue, draft, market }: FundedTerms, book: Book | null): Micro {
  const moves = draft.side === 'BUY' ? draft.money : mayBring(draft, saleMarket(market, draft.outcome, book));
  return moves + mostBuilderFee(draft, venue.signedOrders.rules.builder, moves);
}

/** The most that venue and builder take of an order as fees. */
export function mostFee({ venue, draft, market }: FundedTerms, limit: Pips): Micro {
  // Of a SELL at its best price.
  const moves = draft.side === 'BUY' ? draft.money : draft.shares;
  const ofBuilder = mostBuilderFee(draft, venue.signedOrders.rules.builder, moves);
  return highestTakerFee(market, takesOf(draft), limit) + ofBuilder;
}

interface TradeToJudge {
  readonly caller: Caller;
  readonly requestId: string;
  readonly sound: FundedTrade;
  /** Approval that the owner has given for this order. */
  readonly approval: GivenApproval | null;
  /** It is a guarded exit. */
  readonly exit: ExitTerms | null;
}

/** The venue's state, credential, safeguards, balance, the owner's approval. @returns what to record @throws Refusal */
export function judgeTrade(
  needs: TradeNeeds,
  { caller, requestId, sound, approval, exit }: TradeToJudge,
  scope: TradeScope,
): Pick<Recorded<NewSignedOrder>, 'order' | 'checked' | 'reserves'> {
  const { venue, draft, market, verified } = sound;
  requireReady(venue, { postOnly: draft.postOnly, signer: verified.eoa });
  const credential = pickCredential(draft, scope.credentials);
  if (credential !== null) {
    const fault = credentialFault(needs, draft, credential);
    if (fault !== null) throw asRefusal([fault]);
  }
  const book = scope.way.kind === 'joined' ? scope.way.book(market.conditionId, draft.outcome) : sound.book;
  const facts = {
    ...factsOf(sound, { scope, credential, book, amount: amountOf(sound, book) }),
    ...(exit === null ? {} : asExit(scope, exit)),
  };
  const denial = assess(scope.safeguards, facts);
  if (denial?.code === 'credentials_not_registered' && scope.hasUnreachable)
    throw asRefusal([{ ...denial, ...NOT_GRANTED }]);
  if (denial !== null) throw asRefusal([denial]);
  // An order of another owner, who had the wallet before: the credential proves that the caller has it now.
  const isOthers = scope.existing !== null && scope.existing.agentId !== caller.agentId;
  if (isOthers) throw alreadyPlaced(verified.orderId);
  const limit = signedLimit(draft, market.tickSize);
  const { exitDistancePercent: distance } = scope.safeguards;
  const { shares, timeInForce } = draft;
  const cheap = exit === null ? null : exitPriceDenial({ limit, shares, timeInForce, distance, book }, exit);
  if (cheap !== null) throw asRefusal([cheap]);
  requireBalance(sound, scope);
  const need = approvalNeeded(scope.safeguards, facts);
  if (need !== null)
    requireApproval(need, {
      scope,
      amount: facts.amount,
      orderId: verified.orderId,
      binds: boundTerms(draft),
      approval,
      now: needs.clock.now(),
      verdicts: () => verdicts(scope.safeguards, facts),
    });
  const createdAt = needs.clock.now();
  const order: NewSignedOrder = {
    kind: 'signed',
    orderId: verified.orderId,
    agentId: caller.agentId,
    userId: scope.userId,
    venue: venue.id,
    marketId: market.id,
    conditionId: market.conditionId,
    question: market.question,
    outcomeName: outcomeName(market.outcomes, draft.outcome),
    tokenId: draft.fields.tokenId.toString(),
    outcome: draft.outcome,
    side: draft.side,
    isLimitOrder: draft.isLimitOrder,
    timeInForce: draft.timeInForce,
    postOnly: draft.postOnly,
    deferExec: draft.deferExec,
    price: draft.price ?? limit,
    limit,
    shares: draft.shares,
    money: draft.money,
    funder: draft.fields.maker,
    walletAddress: credential?.walletAddress ?? draft.fields.maker,
    signatureType: draft.signatureType,
    version: verified.version,
    expiration: draft.timeInForce === 'GTD' ? Number(draft.fields.expiration) * 1000 : null,
    feeAmount: draft.isLimitOrder ? 0n : draft.feeAmount,
    reasoning: draft.reasoning,
    source: draft.source,
    skillSlug: draft.skillSlug,
    clientOrderId: draft.clientOrderId,
    cancelAt: draft.cancelAfterMs === null ? null : createdAt + draft.cancelAfterMs,
    requestId,
    createdAt,
  };
  const checked = withApproval(checkedFigures(scope.safeguards, facts), need, approval);
  return { order, checked, reserves: facts.amount };
}

/** An exit takes its own place in the day's trades; another one has what is left beside it. */
const asExit = ({ usage }: TradeScope, { places, hasOwnersWord }: ExitTerms): Partial<TradeFacts> => ({
  usage: usageOf(usage.trades, usage.amount, Math.max(0, (usage.reserved ?? 0) - places)),
  hasOwnersWord,
});

/** Facts with which the safeguards are assessed. */
export const factsOf = (
  { venue, draft, market }: Pick<SoundTrade, 'venue' | 'draft' | 'market'>,
  {
    scope,
    credential,
    book,
    amount,
  }: {
    readonly scope: TradeScope;
    readonly credential: TradingCredential | null;
    readonly book: Book | null;
    readonly amount: Micro;
  },
): TradeFacts => ({
  ...scope,
  hasCredentials: credential !== null,
  credentialsBySignature: venue.paper?.credentials !== undefined,
  claimMissing: venue.backend === 'live' && !scope.claimed,
  addsExposure: draft.side === 'BUY',
  mayRest: true,
  amount,
  sellsNearBid:
    draft.side === 'SELL' &&
    isNearBid(signedLimit(draft, market.tickSize), book, scope.safeguards.exitDistancePercent),
});

/** By the wallet that was named, else the maker's, else the signer's. */
export function pickCredential(
  draft: Draft,
  credentials: readonly TradingCredential[],
): TradingCredential | null {
  const of = (address: Address) => credentials.find((row) => row.walletAddress === address) ?? null;
  if (draft.walletAddress !== null) return of(draft.walletAddress);
  return of(draft.fields.maker) ?? of(draft.fields.signer);
}

export function credentialFault(
  { secrets }: Pick<TradeNeeds, 'secrets'>,
  draft: Draft,
  credential: TradingCredential,
): Denial | null {
  if (draft.signatureType === 3 && credential.signatureType !== 3) {
    return {
      code: 'credential_type_mismatch',
      path: 'order.signatureType',
      detail: `The order is of signatureType 3, but the credential of ${credential.walletAddress} is registered with type ${credential.signatureType}.`,
    };
  }
  if (draft.owner !== null && !sameBytes(secrets.hash(draft.owner), credential.apiKeyHash)) {
    return {
      code: 'owner_mismatch',
      path: 'owner',
      detail: 'owner is not the apiKey of the credential registered for this wallet.',
    };
  }
  return null;
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

type FundedTerms = Pick<SoundTrade, 'draft' | 'market'> & {
  readonly venue: { readonly signedOrders: Pick<SignedOrders, 'rules'> };
};

/** Funds that an order needs, and those that there are: for a BUY collateral with the fee, for a SELL shares. */
export function fundsFor(
  terms: FundedTerms,
  balance: Balance,
): { readonly needed: Micro; readonly available: Micro } {
  return { needed: neededFor(terms), available: heldOf(terms)(balance) };
}

function neededFor({ venue, draft, market }: FundedTerms): Micro {
  if (draft.side === 'SELL') return draft.shares;
  const ofBuilder = mostBuilderFee(draft, venue.signedOrders.rules.builder, draft.money);
  return draft.money + ofBuilder + takerFee(market, draft.shares, signedLimit(draft, market.tickSize));
}

/** Shortage that the venue would refuse anyway, with figures; `null`: there is enough. */
export function shortageOf(
  terms: FundedTerms,
  balance: Balance,
): (Denial & Readonly<Record<'needed' | 'available', Micro>>) | null {
  const { needed, available } = fundsFor(terms, balance);
  if (available >= needed) return null;
  const { draft } = terms;
  const { maker } = draft.fields;
  const unit = draft.side === 'BUY' ? 'collateral (fee included)' : `${draft.outcome} shares`;
  const { unsettled = 0n } = balance;
  const settling =
    unsettled === 0n
      ? null
      : {
          words: ` ${formatMicro(unsettled)} more were bought, and the venue has not settled that trade yet.`,
          fix: 'Send it again when the order that bought them is filled: GET /markets/orders.',
        };
  return {
    needed,
    available,
    code: 'insufficient_balance',
    detail: `not enough balance: this order needs ${formatMicro(needed)} ${unit}, ${formatMicro(available)} is available.${settling?.words ?? ''}`,
    ...(settling === null ? {} : { fix: settling.fix }),
    context: { needed: microToNumber(needed), available: microToNumber(available), walletAddress: maker },
  };
}

function requireBalance(sound: FundedTrade, scope: TradeScope): void {
  const { way } = scope;
  const shortage = shortageOf(
    sound,
    way.kind === 'joined' ? way.balance(sound.draft.fields.maker) : knownBalance(sound),
  );
  if (shortage === null) return;
  const { needed, available, ...denial } = shortage;
  throw new Shortage({ needed, available }, denial);
}

function knownBalance({ balance }: FundedTrade): Balance {
  if ('error' in balance) throw balance.error;
  return balance.known;
}

const heldOf =
  ({ draft }: Pick<SoundTrade, 'draft'>) =>
  ({ available, shares }: Balance) =>
    draft.side === 'BUY' ? available : shares(draft.conditionId, draft.outcome);

class Shortage extends Refusal {
  readonly figures: Readonly<Record<'needed' | 'available', Micro>>;

  constructor(figures: Shortage['figures'], denial: Denial) {
    super([denial]);
    this.figures = figures;
  }
}

/** Says where the money for the order might be: that takes questions to the venue. */
export async function explainShortage(
  needs: TradeNeeds,
  { caller, sound, refused }: { caller: Caller; sound: SoundTrade; refused: unknown },
): Promise<unknown> {
  if (!(refused instanceof Shortage)) return refused;
  const { venue, draft, verified } = sound;
  const { figures, denials } = refused;
  const fix = await waysToFund(needs, caller, {
    venue,
    maker: draft.fields.maker,
    eoa: verified.eoa,
    buying: draft.side === 'BUY',
    ...figures,
    heldIn: heldOf(sound),
    question: balanceQuestion(sound),
  });
  return fix === null ? refused : asRefusal([{ ...denials[0], fix }]);
}

// The signature of a draft, judged by the venue's rules; a refusal in the terms of every other refusal.

/** Stands where an order is not signed yet: nothing looks at it. */
export const UNSIGNED = `0x${'00'.repeat(SIGNATURE_BYTES)}`;

/** Whose key will sign an order that is only checked; `null`: not known. */
export interface UnsignedBy {
  readonly eoa: Address | null;
}

/**
 * @param negRisk which of the two contracts of a version the market belongs to
 * @param unsigned of an order without a signature; `null`: it has one
 */
export function verifyDraft(
  draft: Draft,
  negRisk: boolean,
  { rules, unsigned }: { readonly rules: SignatureRules; readonly unsigned: UnsignedBy | null },
): VerifiedOrder | { readonly ok: false; readonly denial: Denial } {
  const verdict =
    unsigned === null
      ? verifyOrder(draft, negRisk, rules)
      : unsignedOrder(draft, negRisk, rules, unsigned.eoa);
  if (verdict.ok) return verdict;
  const { diagnosis, fix } = verdict;
  return {
    ok: false,
    denial: { code: 'invalid_order_payload', detail: 'Invalid order payload', path: 'order', diagnosis, fix },
  };
}

// Computes what a book would make of an order now, if it were placed.

/** Depth of the book at which no order ends. */
export const DEPTH = 1_000;

/** Expected fill of the order in the present book. */
export function expectationOf(
  market: MarketRecord,
  draft: MarketDraft,
  book: Book | null,
  limit: Pips,
): Pick<PreparedTrade, 'fill' | 'expectedRefusal'> {
  const buying = draft.side === 'BUY';
  const immediate = isImmediate(draft.timeInForce);
  const levels = book ?? EMPTY_BOOK;
  const { outcome, side } = draft;
  const found = sweep(
    market,
    { ...EMPTY_BOOK, ...levels },
    { side, outcome, amount: buying ? draft.money : draft.shares },
    // A resting BUY asks for shares; one that executes at once spends its collateral.
    { limit, ...(buying && !immediate ? { shares: draft.shares } : {}) },
  );
  const crosses = found.shares > 0n;
  const taken = draft.postOnly ? NOTHING(found) : found;
  const rests = immediate || draft.shares <= taken.shares ? 0n : draft.shares - taken.shares;
  const complete = buying && immediate ? taken.complete : taken.shares >= draft.shares;
  return {
    fill: { ...fillRecord(taken), complete, rests: microToNumber(rests), sequence: levels.sequence },
    expectedRefusal: refusalOf(draft, { crosses, complete }),
  };
}

const EMPTY_BOOK = {
  conditionId: '',
  outcome: 'YES',
  bids: [],
  asks: [],
  sequence: 0,
  changedAt: 0,
} as const satisfies Book;

const NOTHING = (found: Sweep): Sweep => ({ ...found, shares: 0n, cost: 0n, fee: 0n, worst: null });

const fillRecord = ({ side, shares, cost, fee, worst }: Sweep) => ({
  shares: microToNumber(shares),
  averagePrice:
    shares === 0n ? null : microToNumber(divide(cost * MICRO, shares, side === 'BUY' ? 'ceil' : 'floor')),
  worstPrice: worst === null ? null : pipsToNumber(worst),
  cost: microToNumber(cost),
  fee: microToNumber(fee),
});

function refusalOf(
  { timeInForce, postOnly }: MarketDraft,
  { crosses, complete }: { readonly crosses: boolean; readonly complete: boolean },
): PreparedTrade['expectedRefusal'] {
  if (postOnly && crosses) return 'post_only_would_cross';
  if (timeInForce === 'FOK' && !complete) return 'fok_not_filled';
  return timeInForce === 'FAK' && !crosses ? 'fak_no_match' : null;
}

// Where the money for an order might be: asked only when an order is refused for want of it.

interface ShortWallet {
  readonly venue: VenueWith<'signedOrders'>;
  /** The account that should pay. */
  readonly maker: Address;
  /** The key that signed. */
  readonly eoa: Address;
  readonly buying: boolean;
  readonly needed: Micro;
  readonly available: Micro;
  readonly heldIn: (balance: Balance) => Micro;
  readonly question: BalanceQuestion;
}

/** The same key's other wallets: those that hold enough. A wrong maker is the commonest reason for an empty account. */
async function richerWallets(
  needs: TradeNeeds,
  caller: Caller,
  { venue, maker, eoa, needed, heldIn, question }: ShortWallet,
): Promise<string[]> {
  const { proxy, safe, deposit } = walletKindsOf(eoa);
  const others = [eoa, proxy, safe, deposit.beacon, deposit.uups].filter((wallet) => wallet !== maker);
  const found = await Promise.all(
    others.map(async (wallet) => {
      // A venue may tell this only of wallets whose credential the desk has; without an answer there is no advice.
      const held = await venue.signedOrders.balance(wallet, question).then(heldIn, () => null);
      if (held === null || held < needed) return null;
      const isRegistered = (await needs.wallets.credential(caller, wallet)) !== null;
      const then = isRegistered
        ? 'it is registered: sign with it as order.maker'
        : 'it is not registered: POST /wallet/credentials with it, then sign with it as order.maker';
      return `${wallet} (signatureType ${signatureTypeOf(eoa, wallet)}) of the same key holds ${formatMicro(held)}; ${then}.`;
    }),
  );
  return found.filter((text) => text !== null);
}

/** @returns what to do next, beyond the registry's advice; `null` when nothing more is known */
async function waysToFund(needs: TradeNeeds, caller: Caller, shortage: ShortWallet): Promise<string | null> {
  const ways = await richerWallets(needs, caller, shortage);
  if (shortage.buying && shortage.venue === faucetVenue(needs))
    ways.push(await faucetAdvice(needs, shortage));
  return ways.length === 0 ? null : ways.join(' ');
}

/** Advice about the missing amount, where the faucet still gives as much today. */
async function faucetAdvice(
  { wallets, faucetPerDay, clock }: TradeNeeds,
  { maker, needed, available }: ShortWallet,
): Promise<string> {
  const gap = needed - available;
  const left = await wallets.faucetLeft(maker, faucetPerDay, clock.now());
  if (gap > left)
    return `Order less, or cancel open orders: ${formatMicro(gap)} is missing, and the faucet gives this address ${formatMicro(left)} more today.`;
  return `Draw paper money with POST /paper/faucet {"address": "${maker}", "amount": ${formatMicro(gap)}}, or order less, or cancel open orders.`;
}
