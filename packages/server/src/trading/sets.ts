/**
 * A split, a merge or a conversion: placed like a signed order, through the same admission, once. What a BUY of the same collateral
 * would meet, a split and a conversion meet; a merge is an exit, and no safeguard stands in its way.
 */
import {
  type RelayRequest as RelayCall,
  type SetResponse,
  type Sha256,
  VENUE_REFUSALS,
} from '@bellwether/contract';
import { formatMicro, type Micro, microToNumber, PIPS, type Pips } from '@bellwether/contract/decimals';
import {
  type Address,
  asAddress,
  nobleRecover,
  parseSignature,
  recoverAddress,
  signedRelayBody,
} from '@bellwether/protocol';
import type { AgentStore } from '../agents/index.ts';
import {
  type ApprovalSubject,
  findApproval,
  type GivenApproval,
  type ObtainApprovalNeeds,
  obtainApproval,
  requireApproval,
  withApproval,
} from '../approvals/index.ts';
import type { Evidence, FillEvidence } from '../domain/evidence.ts';
import { requireTransition } from '../domain/lifecycle.ts';
import { type MarketRecord, markPrice } from '../domain/market.ts';
import type { Caller, NewSetOrder, SetOrderRow } from '../domain/records.ts';
import {
  approvalNeeded,
  assess,
  checkedFigures,
  NOT_GRANTED,
  type TradeFacts,
  verdicts,
  withoutCredentials,
} from '../domain/safeguards.ts';
import { UNTRUSTED_NOTICE } from '../domain/untrusted-text.ts';
import { marketNamed, requireMarket } from '../markets/index.ts';
import type { Clock } from '../platform/clock.ts';
import type { Deadline } from '../platform/http/deadline.ts';
import { Refusal, refusal } from '../platform/refusal.ts';
import type { Job, JobLog } from '../platform/scheduler.ts';
import type { TradeTrace } from '../platform/tracing.ts';
import type { RelayedRedemption, RelayedRedemptions } from '../positions/index.ts';
import { type HasVenues, venueFor, venueOf } from '../venues/asking.ts';
import {
  type Balance,
  type BalanceQuestion,
  type MadeSet,
  type PreparedRelay,
  relayRequestOf,
  type UnsignedSet,
  type Venue,
  type VenueAnswer,
  type Venues,
  type VenueWith,
} from '../venues/venue.ts';
import type { CredentialRow, WalletStore } from '../wallets/index.ts';
import type { Recorded, TradeScope } from './admission.ts';
import {
  askAboutDoubt,
  doubtLine,
  leftAloneMs,
  type ResolveDoubtNeeds,
  settleWithoutFill,
} from './doubts.ts';
import type { HandedOutSet, HandedOutSets } from './handed-out-sets.ts';
import type { OrderStore } from './order-store.ts';
import {
  type Placed,
  type Placement,
  type PlaceOrderNeeds,
  placeOrder,
  requireReady,
} from './place-order.ts';
import { type NoteRefusalNeeds, noteSetRefusal } from './refused-attempts.ts';
import {
  amountOf,
  boundSetTerms,
  endedResponse,
  isOfSets,
  type SetCall,
  type SetTerms,
  setOrder,
  setOrderId,
  setReplayOf,
  setResponse,
  submittedResponse,
  unsignedResponse,
  venueSetOf,
} from './set-terms.ts';
import { firstAnswerOf, outcomeUnknown } from './trade-answers.ts';

export interface SetNeeds extends PlaceOrderNeeds, NoteRefusalNeeds, ObtainApprovalNeeds {
  readonly clock: Clock;
  readonly venues: Venues;
  readonly sha256: Sha256;
  readonly agents: AgentStore;
  readonly wallets: WalletStore;
  readonly orders: OrderStore;
  readonly handedOutSets: HandedOutSets;
  readonly relayedRedemptions: RelayedRedemptions;
}

type SetVenue = VenueWith<'sets'>;

/** With what only the venue knows. */
interface SoundSet extends Omit<SetTerms, 'venue'> {
  readonly venue: SetVenue;
  /** The wallet's key. */
  readonly signer: Address;
  readonly credential: CredentialRow | null;
  /** Balance of its account, or the error that the venue gave instead. */
  readonly balance: { readonly known: Balance } | { readonly error: unknown };
}

type SetPlacement = Placement<SoundSet, NewSetOrder, SetResponse>;

export const placeSet = async (
  needs: SetNeeds,
  call: SetCall & { readonly deadline: Deadline; readonly trace?: TradeTrace | undefined },
): Promise<Placed<SetResponse>> => placeOrder(needs, call, placementOf(needs, call));

function placementOf(needs: SetNeeds, call: SetCall): SetPlacement {
  const { caller, request } = call;
  const venue = venueFor(needs, request.venue, 'sets');
  const orderId = setOrderId(call, venue.id, needs.sha256);
  const replay = (row: Parameters<typeof setReplayOf>[0]) => {
    const same = setReplayOf(row, caller.agentId, needs.clock.now());
    return same === null ? null : () => repeated(needs, venue, same);
  };
  return {
    duplicateLookup: 'before_refusal',
    look: async () => (await replay((await needs.orders.byIds([orderId]))[0] ?? null)?.()) ?? null,
    judgeRequest: () => soundSet(needs, call, { venue, orderId }),
    question: ({ market, funder, signer, walletAddress }) => ({
      venue: venue.id,
      orderId,
      clientOrderId: request.clientOrderId,
      wallets: [walletAddress],
      ...{ funder, signer },
      conditionId: market.conditionId,
      tokenIds: market.tokenIds,
      ...(call.kind === 'merge' ? { sells: market.tokenIds } : {}),
      ...(call.kind === 'convert' ? { sells: [market.tokenIds[1]] } : {}),
      toVenue: venueSetOf,
    }),
    sameOrder: replay,
    judge: (scope, sound, approval) =>
      call.kind === 'merge'
        ? judgeMerge(needs, call, sound, scope)
        : judgeEntry(needs, call, sound, { scope, approval, kind: call.kind }),
    approval(needed, sound, effect) {
      const subject = approvalSubject(call, sound);
      return effect === 'ask' ? obtainApproval(needs, subject, needed) : findApproval(needs, subject, needed);
    },
    handedOverBy: 'sending',
    async send({ order }) {
      const answer = await venue.sets.submit(venueSetOf(order));
      if (venue.sets.made === undefined && answer.kind !== 'unsigned') return answerTo(needs, order, answer);
      return handOut(needs, order, answer);
    },
    answered: ({ order }, answer) => answerTo(needs, order, answer),
    note: (refused) => noteSetRefusal(needs, call, refused),
  };
}

/** Market, wallet and balance. @throws Refusal */
async function soundSet(
  needs: SetNeeds,
  { caller, kind, request }: SetCall,
  { venue, orderId }: { readonly venue: SetVenue; readonly orderId: string },
): Promise<SoundSet> {
  const { market } = await requireMarket(needs, marketNamed(request), venue.id);
  requireOpenFor(kind, market);
  const own = request.walletAddress ?? (await needs.agents.byId(caller.agentId))?.walletAddress;
  const bySignature = venue.paper?.credentials !== undefined;
  if (own == null) throw new Refusal([withoutCredentials(bySignature, 'The agent has no wallet yet.')]);
  const wallet = asAddress(own);
  const [credential, reached] = await Promise.all([
    needs.wallets.credentialOf(caller, wallet),
    needs.wallets.wallets(caller),
  ]);
  if (!reached.includes(wallet)) {
    const denial = withoutCredentials(bySignature, `The agent has not registered the wallet ${wallet}.`);
    throw new Refusal([{ ...denial, path: 'walletAddress' }]);
  }
  if (kind === 'convert' && !market.negRisk)
    throw refusal('conversion_not_supported', undefined, { path: 'marketConditionId' });
  if (kind === 'convert' && !venue.sets.converts(market))
    throw refusal(
      'conversion_not_supported',
      `At ${venue.id} the desk converts in markets of version v2 alone: of other events it cannot know every market.`,
      { path: 'marketConditionId', fix: 'Sell the NO shares, and buy YES shares of the other markets.' },
    );
  const funder = credential?.funder ?? wallet;
  return {
    ...{ orderId, venue, market, funder, credential },
    walletAddress: credential?.walletAddress ?? wallet,
    signer: credential?.eoa ?? wallet,
    balance: await venue.sets.balance(funder, ...toPay(kind, venue, market)).then(
      (known) => ({ known }),
      (error: unknown) => ({ error }),
    ),
  };
}

/** A venue of live markets on paper brings a market here that a split names; a merge needs none of it: what is held is here. */
function toPay(
  kind: SetCall['kind'],
  { sets }: SetVenue,
  { conditionId, tokenIds }: MarketRecord,
): [BalanceQuestion?] {
  if (kind === 'split') return [{ conditionId, tokenIds, pays: 'collateral' }];
  const pays = kind === 'convert' ? 'NO' : 'sets';
  return sets.made === undefined ? [] : [{ conditionId, tokenIds, pays }];
}

/** Sets are split and converted while their market trades, and merged until it is resolved. @throws Refusal market_not_active */
function requireOpenFor(kind: SetCall['kind'], { status }: MarketRecord): void {
  if (kind === 'merge' ? status !== 'resolved' : status === 'open') return;
  const isResolved = status === 'resolved';
  throw refusal('market_not_active', isResolved ? 'The market is resolved.' : `The market is ${status}.`, {
    path: 'marketConditionId',
    fix: isResolved
      ? 'POST /markets/redeem pays for what is held of it.'
      : 'Choose a market that is active: GET /markets?q=…. What is held of this one can still be merged.',
  });
}

/** The venue's state and the pairs that there are: nothing else refuses an exit. @throws Refusal */
function judgeMerge(
  needs: SetNeeds,
  call: SetCall,
  sound: SoundSet,
  scope: TradeScope,
): Recorded<NewSetOrder> {
  const { venue, market, funder } = sound;
  requireReady(venue);
  const { shares } = balanceOf(sound, scope);
  const free = (['YES', 'NO'] as const).map((outcome) => shares(market.conditionId, outcome));
  const [yes, no] = free as [Micro, Micro];
  const pairs = yes < no ? yes : no;
  const amount = amountOf(call.request);
  if (pairs < amount)
    throw refusal(
      'insufficient_balance',
      `${formatMicro(pairs)} pairs can be merged on ${funder}: ${formatMicro(yes)} YES and ${formatMicro(no)} NO shares are free.`,
      {
        path: 'amount',
        fix: 'Merge at most that many; shares of open SELL orders are free once those are canceled.',
      },
    );
  return recorded(needs, call, sound, { scope, reserves: 0n, checked: {} });
}

/** Everything that a BUY of the same collateral meets, under the same lock. @throws Refusal */
function judgeEntry(
  needs: SetNeeds,
  call: SetCall,
  sound: SoundSet,
  {
    scope,
    approval,
    kind,
  }: {
    readonly scope: TradeScope;
    readonly approval: GivenApproval | null;
    readonly kind: 'split' | 'convert';
  },
): Recorded<NewSetOrder> {
  const { venue, funder, orderId } = sound;
  requireReady(venue);
  const amount = amountOf(call.request);
  const facts: TradeFacts = {
    ...scope,
    hasCredentials: scope.credentials.some(({ walletAddress }) => walletAddress === sound.walletAddress),
    credentialsBySignature: venue.paper?.credentials !== undefined,
    claimMissing: venue.backend === 'live' && !scope.claimed,
    addsExposure: true,
    mayRest: false,
    amount,
    spreads: kind === 'convert',
  };
  const denial = assess(scope.safeguards, facts);
  if (denial?.code === 'credentials_not_registered' && scope.hasUnreachable)
    throw new Refusal([{ ...denial, ...NOT_GRANTED }]);
  if (denial !== null) throw new Refusal([denial]);
  requireBalance(kind, amount, sound, scope);
  const need = approvalNeeded(scope.safeguards, facts);
  if (need !== null)
    requireApproval(need, {
      ...{ scope, amount, orderId, approval },
      binds: boundSetTerms(kind, funder),
      now: needs.clock.now(),
      verdicts: () => verdicts(scope.safeguards, facts),
    });
  const checked = withApproval(checkedFigures(scope.safeguards, facts), need, approval);
  return recorded(needs, call, sound, { scope, checked, reserves: amount });
}

/** @throws Refusal insufficient_balance */
function requireBalance(kind: 'split' | 'convert', amount: Micro, sound: SoundSet, scope: TradeScope): void {
  const { market, funder } = sound;
  const { available, shares } = balanceOf(sound, scope);
  const [free, needs, are] =
    kind === 'split'
      ? [available, `split needs ${formatMicro(amount)} collateral`, 'is']
      : [shares(market.conditionId, 'NO'), `conversion needs ${formatMicro(amount)} NO shares`, 'are'];
  if (free >= amount) return;
  throw refusal(
    'insufficient_balance',
    `not enough balance: this ${needs}, ${formatMicro(free)} ${are} available on ${funder}.`,
    { path: 'amount' },
  );
}

/** The split or conversion as its owner sees it. */
function approvalSubject(
  { caller, request, kind }: SetCall,
  { orderId, venue, market, funder }: SoundSet,
): ApprovalSubject {
  const binds = boundSetTerms(kind === 'convert' ? kind : 'split', funder);
  return {
    ...{ caller, orderId, binds, endsAt: null },
    terms: async (needed) => ({
      ...{ venue: venue.id, marketId: market.id, marketConditionId: market.conditionId, tokenId: '', binds },
      ...{ outcome: 'BOTH', outcomeName: null, side: 'BUY', price: 1, orderSize: request.amount },
      ...{ amount: microToNumber(needed.amount), feeAtMost: 0, walletAddress: funder, book: null },
      approvalAbove: microToNumber(needed.limit),
      checks: needed.checks,
      untrustedText: {
        notice: UNTRUSTED_NOTICE,
        marketQuestion: market.question,
        agentsMarketQuestion: null,
        reasoning: request.reasoning ?? null,
        source: request.source ?? null,
        skillSlug: request.skillSlug ?? null,
      },
    }),
  };
}

function balanceOf({ balance, funder }: SoundSet, scope: TradeScope): Balance {
  if (scope.way.kind === 'joined') return scope.way.balance(funder);
  if ('error' in balance) throw balance.error;
  return balance.known;
}

function recorded(
  { clock }: Pick<SetNeeds, 'clock'>,
  call: SetCall,
  sound: SoundSet,
  { scope, ...judged }: Pick<Recorded<NewSetOrder>, 'reserves' | 'checked'> & { readonly scope: TradeScope },
): Recorded<NewSetOrder> {
  const terms = { ...sound, venue: sound.venue.id };
  return { order: setOrder(call, terms, { userId: scope.userId, now: clock.now() }), ...judged };
}

const LOOKED_FOR_MS = 24 * 60 * 60 * 1000;
const FIRST_LOOK_MS = 5_000;
const RETRY_S = 5;

/** Gives the transactions to the caller once the record says so; a venue that could not make any of them refused the order. */
async function handOut(
  needs: Pick<SetNeeds, 'clock' | 'orders' | 'handedOutSets'>,
  order: NewSetOrder,
  answer: VenueAnswer | UnsignedSet,
): Promise<SetResponse> {
  const at = needs.clock.now();
  if (answer.kind !== 'unsigned') {
    const first = firstAnswerOf(answer);
    if (first === null || first.success) throw new Error('an order that the owner signs was executed');
    await needs.orders.settle(order.orderId, { ...first, status: 'rejected', event: 'rejected' }, at);
    return setResponse(order, first);
  }
  const { transactions, relay = null } = answer;
  // Only this desk sends a request to the relayer, and never after its deadline: the order ends there.
  const endsAt = relay === null ? order.createdAt + LOOKED_FOR_MS : relay.deadlineS * 1000;
  const times = { at, endsAt, dueAt: at + FIRST_LOOK_MS };
  const isOut = await needs.handedOutSets.handOut(order, { ...times, relay });
  // Refused meanwhile as left by a process that had stopped: the caller must not get these transactions.
  if (!isOut) throw outcomeUnknown(order.orderId);
  return unsignedResponse(order, { transactions, relay, endsAt });
}

/** The answer to the same order: where the owner still has to sign, the same transactions again. */
async function repeated(
  needs: Pick<SetNeeds, 'handedOutSets' | 'orders'>,
  { sets }: SetVenue,
  same: NonNullable<ReturnType<typeof setReplayOf>>,
): Promise<SetResponse> {
  if (!('handedOut' in same)) return same;
  const { handedOut: order } = same;
  const handed = await needs.handedOutSets.find(order.orderId);
  if (handed === null) {
    // It has ended since it was read.
    const [row] = await needs.orders.byIds([order.orderId]);
    if (row === undefined || !isOfSets(row) || row.status === 'live') throw outcomeUnknown(order.orderId);
    return endedResponse(row);
  }
  const { relay, endsAt, submittedAt } = handed;
  if (submittedAt !== null) return submittedResponse(order, endsAt);
  if (relay !== null) return unsignedResponse(order, { transactions: [], relay, endsAt });
  const answer = await sets.submit(venueSetOf(order));
  // It is no order in doubt: nothing but its transactions is missing. A digest in their place could be signed as well.
  if (answer.kind !== 'unsigned' || answer.relay !== undefined)
    throw refusal(
      'service_unavailable',
      'The order is still unsigned; its transactions cannot be made again at the moment.',
      {
        orderId: order.orderId,
        retryAfterS: RETRY_S,
        fix: 'Use the transactions of the first answer, once, or send the same body again later.',
      },
    );
  return unsignedResponse(order, { transactions: answer.transactions, relay, endsAt });
}

async function answerTo(
  needs: Pick<SetNeeds, 'clock' | 'orders'>,
  order: NewSetOrder,
  answer: VenueAnswer,
): Promise<SetResponse> {
  const first = firstAnswerOf(answer);
  if (first !== null) return setResponse(order, first);
  // Visible at once. Where even that fails, the record still says `submitting`, which is in doubt too.
  await settleWithoutFill(needs, order.orderId, 'no_answer').catch(() => {});
  throw outcomeUnknown(order.orderId);
}

// Forwards what a wallet's owner signed to the venue's relayer, once. The caller gives a signature and nothing else: what is
// forwarded is the request that the desk prepared, byte for byte, so nothing in it can be another target, fee or call. That it
// may have been forwarded is recorded before it is; what became of it is followed (`followSets`).

const DAY_MS = 24 * 60 * 60 * 1000;
/** After its deadline no wallet takes a batch any more; the venue lists what it took within minutes. */
const LISTED_WITHIN_MS = 15 * 60 * 1000;

/** @throws Refusal order_not_found, trading_paused, transaction_signature_invalid, service_unavailable */
export async function relaySigned(
  needs: SetNeeds,
  caller: Caller,
  { orderId, signature }: RelayCall,
): Promise<Placed<SetResponse>> {
  const row = await needs.orders.byId(caller.agentId, orderId);
  if (row !== null && isOfSets(row)) return relaySet(needs, row, signature);
  const redemption = row === null ? await needs.relayedRedemptions.find(caller.agentId, orderId) : null;
  if (redemption === null) throw refusal('order_not_found', undefined, { path: 'orderId' });
  return relayRedemption(needs, redemption, signature);
}

async function relaySet(needs: SetNeeds, row: SetOrderRow, signature: string): Promise<Placed<SetResponse>> {
  const { clock, handedOutSets, orders } = needs;
  const { orderId, agentId, createdAt } = row;
  const now = async () => (await orders.byId(agentId, orderId)) as SetOrderRow;
  if (row.status !== 'live') return ended(row);
  const handed = await handedOutSets.find(orderId);
  const relay = handed?.relay ?? null;
  if (handed === null || relay === null)
    throw refusal('order_not_found', 'The desk has prepared nothing for the relayer of this order.', {
      path: 'orderId',
      fix: 'Send the transactions of the answer from the wallet’s owner, or ask for the order again.',
    });
  if (handed.submittedAt !== null) return { answer: submittedResponse(row, handed.endsAt), isRepeated: true };
  if (isLate(relay, clock.now())) {
    await handedOutSets.expire(orderId, clock.now());
    return ended(await now());
  }
  await requireUnpaused(needs, row);
  const endsAt =
    relay.terms.type === 'WALLET' ? relay.deadlineS * 1000 + LISTED_WITHIN_MS : createdAt + DAY_MS;
  const what = { venue: row.venue, wallet: row.funder, relay, signature };
  const end = await forward(needs, what, {
    mark: (listed) => handedOutSets.markSubmitted(orderId, { signature: listed, at: clock.now(), endsAt }),
    taken: (transactionId) => handedOutSets.noteRelayed(orderId, { transactionId }),
    takeBack: () => handedOutSets.takeBack(orderId),
    refused: (words) =>
      handedOutSets.reject(orderId, { errorCode: 'refused_by_venue', words, at: clock.now() }),
  });
  if (end === 'submitted') return { answer: submittedResponse(row, endsAt), isRepeated: false };
  const after = await now();
  if (end !== 'ended') return { answer: endedResponse(after), isRepeated: false };
  // Another call has forwarded it, or its time has ended it.
  return after.status === 'live'
    ? { answer: submittedResponse(after, endsAt), isRepeated: true }
    : ended(after);
}

/** What has expired may never have been forwarded: then this is its first answer. */
const ended = (row: SetOrderRow): Placed<SetResponse> => ({
  answer: endedResponse(row),
  isRepeated: row.status !== 'expired',
});

/** No safeguard stands in the way of an exit, and nothing is counted: the venue's list of redemptions closes the positions. */
async function relayRedemption(
  needs: SetNeeds,
  redemption: RelayedRedemption,
  signature: string,
): Promise<Placed<SetResponse>> {
  const { clock, relayedRedemptions } = needs;
  const { digest, venue, wallet, relay } = redemption;
  const answered = (
    status: 'submitted' | 'expired' | 'rejected',
    isRepeated: boolean,
    { refused } = redemption,
  ) => ({ answer: redemptionResponse({ ...redemption, refused }, status), isRepeated });
  if (redemption.refused !== null) return answered('rejected', true);
  if (redemption.submittedAt !== null) return answered('submitted', true);
  if (isLate(relay, clock.now())) return answered('expired', false);
  const end = await forward(
    needs,
    { venue, wallet, relay, signature },
    {
      mark: () => relayedRedemptions.markSubmitted(digest, clock.now()),
      taken: (transactionId) => relayedRedemptions.noteRelayed(digest, { transactionId }),
      takeBack: () => relayedRedemptions.takeBack(digest),
      refused: (refused) => relayedRedemptions.noteRelayed(digest, { refused }),
    },
  );
  if (typeof end === 'object') return answered('rejected', false, { ...redemption, refused: end.refused });
  return answered('submitted', end === 'ended');
}

function redemptionResponse(
  { digest, venue, wallet, marketId, conditionId, createdAt, refused }: RelayedRedemption,
  status: 'submitted' | 'expired' | 'rejected',
): SetResponse {
  const errorCode = 'refused_by_venue';
  return {
    success: status !== 'rejected',
    ...{
      orderId: digest,
      clientOrderId: '',
      status,
      venue,
      marketId,
      marketConditionId: conditionId,
      conditionId,
      walletAddress: wallet,
    },
    ...{ amount: 0, txHash: null, submittedAt: new Date(createdAt).toISOString() },
    ...(status === 'rejected'
      ? {
          errorCode,
          errorMessage: refused ?? VENUE_REFUSALS[errorCode].message,
          fix: 'Nothing was redeemed. POST /markets/redeem prepares another request.',
        }
      : {}),
  };
}

const isLate = ({ deadlineS }: PreparedRelay, now: number): boolean => now >= deadlineS * 1000;

/** A pause since a split or a conversion was prepared stops it, too; a merge is an exit. @throws Refusal trading_paused */
async function requireUnpaused({ agents }: SetNeeds, { kind, agentId }: SetOrderRow): Promise<void> {
  if (kind === 'merge') return;
  const { tradingPaused } = await agents.settings(agentId);
  if (tradingPaused) throw refusal('trading_paused', 'Trading is paused for this agent.');
}

/** @throws Refusal transaction_signature_invalid */
function requireOwners(relay: PreparedRelay, signature: string): void {
  const parsed = parseSignature(signature);
  const { digest } = relayRequestOf(relay);
  const found = parsed.ok ? recoverAddress(nobleRecover, digest, parsed) : null;
  if (found?.ok === true && found.address === relay.owner.eoa) return;
  throw refusal(
    'transaction_signature_invalid',
    `This is no signature of ${relay.owner.eoa} over the digest that was prepared.`,
    {
      path: 'signature',
      fix: 'Sign the digest itself (32 bytes, no further prefix) with the key of the wallet’s owner; signRelay of the SDK does.',
    },
  );
}

interface SignedRelay {
  readonly venue: string;
  readonly wallet: Address;
  readonly relay: PreparedRelay;
  readonly signature: string;
}

/** Records around one forward. */
interface ForwardRecords {
  /** Before it. @param listed the signature as the relayer lists it @returns false: it must not be forwarded */
  mark(listed: string): Promise<boolean>;
  taken(transactionId: string): Promise<void>;
  /** It provably was not taken. */
  takeBack(): Promise<void>;
  refused(words: string): Promise<void>;
}

/**
 * @returns `submitted`: the relayer has it, or may have it; `ended`: it was not forwarded here
 * @throws Refusal transaction_signature_invalid, and service_unavailable where it provably was not taken
 */
async function forward(
  needs: HasVenues,
  { venue, wallet, relay, signature }: SignedRelay,
  records: ForwardRecords,
): Promise<'submitted' | 'ended' | { readonly refused: string }> {
  requireOwners(relay, signature);
  const { sets } = venueOf(needs, venue, wallet);
  if (sets?.relayed === undefined)
    throw refusal('service_unavailable', 'This service has no credentials of the relayer any more.', {
      retryAfterS: RETRY_S,
    });
  const body = signedRelayBody(relayRequestOf(relay), signature);
  if (!(await records.mark(body.signature))) return 'ended';
  const outcome = await sets.relayed.submit(body);
  switch (outcome.kind) {
    case 'taken':
      await records.taken(outcome.transactionId);
      return 'submitted';
    case 'not_taken':
      await records.takeBack();
      throw refusal(
        'service_unavailable',
        `The relayer does not take requests now${outcome.words === null ? '' : `: ${outcome.words}`}.`,
        { retryAfterS: RETRY_S, fix: 'Nothing was sent. Send the same signature again before the deadline.' },
      );
    case 'refused':
      await records.refused(outcome.words);
      return { refused: outcome.words };
    case 'unknown':
      // It is followed, and never sent again.
      return 'submitted';
  }
}

// Splits, merges and conversions that wallets' owners sign. Of those that they send themselves the desk sees no signature: it looks for the
// transaction in what the venue lists of the chain, and books it once. What is not seen in a day counts as never sent.
// Those that it gave to the relayer it follows there, too: what failed is refused, and what is confirmed is waited for
// (docs/decisions/splits-merges-conversions.md).

const AT_ONCE = 200;
/** A block's time may be before that of this service. */
const CLOCK_TOLERANCE_MS = 30_000;

/** @returns how many were seen @throws what a venue throws, once the others have been asked */
export async function followSets(needs: SetNeeds): Promise<number> {
  const due = await needs.handedOutSets.due(needs.clock.now(), AT_ONCE);
  const groups = Map.groupBy(due, ({ order }) => `${order.venue} ${order.funder}`);
  let seen = 0;
  const failures: unknown[] = [];
  for (const group of groups.values()) {
    try {
      seen += await followWallet(needs, group);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'orders of sets were not looked for');
  return seen;
}

async function followWallet(needs: SetNeeds, sets: readonly HandedOutSet[]): Promise<number> {
  const [{ order: first }] = sets as readonly [HandedOutSet, ...HandedOutSet[]];
  const venue = venueOf(needs, first.venue, first.funder);
  const made = venue.sets?.made;
  // The answer holds what happened before it was asked for, and no more.
  const askedAt = needs.clock.now();
  const since = Math.min(...sets.map(({ order }) => order.createdAt)) - CLOCK_TOLERANCE_MS;
  const conditionIds = [...new Set(sets.map(({ order }) => order.conditionId))];
  const kinds = new Set(sets.map(({ order }) => order.kind));
  const found = made === undefined ? [] : await made(first.funder, { since, conditionIds, kinds });
  let seen = 0;
  for (const set of sets) {
    const { order, endsAt } = set;
    if (await isBooked(needs, { venue, order }, found)) seen += 1;
    else if (await isWaitedFor(needs, venue, set)) continue;
    else if (askedAt > endsAt) await needs.handedOutSets.expire(order.orderId, askedAt);
  }
  return seen;
}

/** What the relayer says of it. @returns whether it is decided there, so that no time ends it */
async function isWaitedFor(
  { clock, handedOutSets }: SetNeeds,
  { sets }: Venue,
  { order, relay, submittedAt, ...known }: HandedOutSet,
): Promise<boolean> {
  const { orderId } = order;
  const { relayed } = sets ?? {};
  if (relay === null || submittedAt === null || relayed === undefined) return false;
  const at = clock.now();
  const end = async (errorCode: 'transaction_failed' | 'nonce_used', words: string | null) => {
    await handedOutSets.reject(orderId, { errorCode, words, at });
    return true;
  };
  const listed = known.transactionId === null ? await relayed.look(relay) : null;
  const transactionId = known.transactionId ?? listed?.transactionId ?? null;
  const found = transactionId === null ? null : await relayed.stateOf(transactionId);
  if (found?.state === 'failed') return end('transaction_failed', null);
  if (found?.state === 'confirmed') {
    // Two orders whose requests are the same are one transaction, and it is the proof of one of them.
    if (await handedOutSets.isOfAnother(order, found.hash))
      return end('nonce_used', `Transaction ${found.hash} is another order's.`);
  } else {
    const { usedBy } = listed ?? (await relayed.look(relay));
    if (usedBy !== null) return end('nonce_used', `The relayer's transaction ${usedBy} has its nonce.`);
  }
  if (transactionId === null) return false;
  // While the relayer has it, it can still be made.
  await handedOutSets.noteRelayed(orderId, {
    transactionId,
    state: found?.state ?? null,
    endsAt: at + DAY_MS,
  });
  return true;
}

async function isBooked(
  { clock, handedOutSets }: SetNeeds,
  { venue, order }: { readonly venue: Venue; readonly order: SetOrderRow },
  found: readonly MadeSet[],
): Promise<boolean> {
  const fitting = found.filter((made) => isOf(made, order));
  if (fitting.length === 0) return false;
  const market = await venue.markets.find(order.conditionId);
  if (market === null) return false;
  const others = order.kind === 'convert' ? ((await venue.sets?.others?.(market)) ?? null) : [];
  // They were all known when it was handed out.
  if (others === null) return false;
  for (const made of fitting)
    if (
      await handedOutSets.recordMade(order.orderId, made, (row) =>
        evidenceOf(row, { made, market, others, now: clock.now() }),
      )
    )
      return true;
  return false;
}

const isOf = (made: MadeSet, { kind, conditionId, shares, createdAt }: SetOrderRow): boolean =>
  made.kind === kind &&
  made.conditionId === conditionId &&
  made.amount === shares &&
  made.at >= createdAt - CLOCK_TOLERANCE_MS;

interface Seen {
  readonly made: MadeSet;
  readonly market: MarketRecord;
  /** Of its event, for a conversion. */
  readonly others: readonly MarketRecord[];
  readonly now: number;
}

/** Collateral is divided at the middle of the book, as on paper: selling one half then shows no gain out of nothing. */
function evidenceOf(
  order: SetOrderRow,
  { made, market, others, now }: Seen,
): Pick<Evidence, 'outcomes' | 'fills' | 'markets'> {
  const { orderId, kind, shares } = order;
  const at = Math.min(made.at, now);
  const status = requireTransition(kind, order.status, 'filled_completely');
  return {
    outcomes: [
      {
        ...{ orderId, status, filled: shares, cost: shares, fees: 0n, errorCode: null, first: null, at: now },
        journal: [{ at: now, event: 'filled_completely', status, detail: made.transactionHash }],
      },
    ],
    fills: kind === 'convert' ? conversionFills(order, { market, others, at }) : setFills(order, market, at),
    markets: [market, ...others].map(({ conditionId, id: marketId, slug, question, outcomes, endDate }) => ({
      ...{ conditionId, marketId, slug, question, outcomes, endDate, venue: order.venue },
    })),
  };
}

function setFills(order: SetOrderRow, market: MarketRecord, at: number): FillEvidence[] {
  const { shares, side } = order;
  const price = markPrice(market, 'YES');
  const yes = (shares * BigInt(price)) / BigInt(PIPS);
  return [
    legOf(order, { outcome: 'YES', side, market, price, cost: yes, at, tradeId: 0 }),
    legOf(order, { outcome: 'NO', side, market, price: PIPS - price, cost: shares - yes, at, tradeId: 1 }),
  ];
}

/** The NO shares go for what they are worth, and the YES shares come for the same, as on paper: no collateral moves. */
function conversionFills(
  order: SetOrderRow,
  { market, others, at }: Pick<Seen, 'market' | 'others'> & { readonly at: number },
): FillEvidence[] {
  const { shares } = order;
  const worth = shares - (shares * BigInt(markPrice(market, 'YES'))) / BigInt(PIPS);
  const prices = others.map((one) => BigInt(markPrice(one, 'YES')));
  const total = prices.reduce((sum, price) => sum + price, 0n);
  let left = worth;
  const bought = others.map((one, nth) => {
    const part = total === 0n ? 0n : (worth * prices[nth]!) / total;
    // The last one takes what rounding leaves.
    const cost = nth === others.length - 1 ? left : part;
    left -= cost;
    return legOf(order, {
      ...{ outcome: 'YES', side: 'BUY', market: one, cost, at, tradeId: nth + 1 },
      price: Number((cost * BigInt(PIPS)) / shares),
    });
  });
  const price = markPrice(market, 'NO');
  return [
    legOf(order, { outcome: 'NO', side: 'SELL', market, price, cost: worth, at, tradeId: 0 }),
    ...bought,
  ];
}

const MATCH_KINDS = { split: 'SPLIT', merge: 'MERGED', convert: 'CONVERTED' } as const;

interface Leg {
  readonly outcome: 'YES' | 'NO';
  readonly side: 'BUY' | 'SELL';
  readonly tradeId: number;
  readonly market: MarketRecord;
  readonly price: Pips;
  readonly cost: Micro;
  readonly at: number;
}

const legOf = (
  { orderId, funder, kind, shares }: SetOrderRow,
  { outcome, side, market, price, cost, at, tradeId }: Leg,
): FillEvidence => ({
  ...{ wallet: funder, orderId, tradeId, conditionId: market.conditionId },
  ...{ tokenId: market.tokenIds[outcome === 'YES' ? 0 : 1], outcome, side, price, size: shares, cost },
  ...{ fee: 0n, liquidity: 'taker', matchKind: MATCH_KINDS[kind], at },
});

/** @param isShared other replicas may be sending orders */
export function tradingJobs(
  needs: ResolveDoubtNeeds & SetNeeds,
  isShared: boolean,
  log: JobLog,
): readonly Job[] {
  const line = doubtLine((error) => log.error({ err: error }, 'an order in doubt could not be asked about'));
  const olderThanMs = leftAloneMs(isShared);
  return [
    // Often, so that what a dead leader left is known within a second of the next one.
    { name: 'resolve doubt', everyMs: 250, run: () => askAboutDoubt(needs, { olderThanMs, line }), line },
    { name: 'follow sets', everyMs: 2_000, run: () => followSets(needs) },
  ];
}
