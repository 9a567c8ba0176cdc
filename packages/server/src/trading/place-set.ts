/**
 * A split, a merge or a conversion: placed like a signed order, through the same admission, once. What a BUY of the same collateral
 * would meet, a split and a conversion meet; a merge is an exit, and no safeguard stands in its way.
 */
import type { SetResponse, Sha256 } from '@bellwether/contract';
import { formatMicro, type Micro, microToNumber } from '@bellwether/contract/decimals';
import { type Address, asAddress } from '@bellwether/protocol';
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
import type { MarketRecord } from '../domain/market.ts';
import type { NewSetOrder } from '../domain/records.ts';
import {
  approvalNeeded,
  assess,
  checkedFigures,
  type TradeFacts,
  verdicts,
  withoutCredentials,
} from '../domain/safeguards.ts';
import { NOT_GRANTED } from '../domain/trade-checks.ts';
import { UNTRUSTED_NOTICE } from '../domain/untrusted-text.ts';
import { marketNamed, requireMarket } from '../markets/index.ts';
import type { Clock } from '../platform/clock.ts';
import type { Deadline } from '../platform/http/deadline.ts';
import { Refusal, refusal } from '../platform/refusal.ts';
import type { TradeTrace } from '../platform/tracing.ts';
import { type HasVenues, venueFor } from '../venues/asking.ts';
import type { Balance, BalanceQuestion, UnsignedSet, VenueAnswer, VenueWith } from '../venues/venue.ts';
import type { CredentialRow, WalletStore } from '../wallets/index.ts';
import type { Recorded, TradeScope } from './admission.ts';
import type { HandedOutSets } from './handed-out-sets.ts';
import type { OrderStore } from './order-store.ts';
import {
  type Placed,
  type Placement,
  type PlaceOrderNeeds,
  placeOrder,
  requireReady,
} from './place-order.ts';
import { type NoteRefusalNeeds, noteSetRefusal, notingRefusals } from './refused-attempts.ts';
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
import { settleWithoutFill } from './settle-without-fill.ts';
import { firstAnswerOf, outcomeUnknown } from './trade-answers.ts';

export interface PlaceSetNeeds extends PlaceOrderNeeds, HasVenues, NoteRefusalNeeds, ObtainApprovalNeeds {
  readonly clock: Clock;
  readonly sha256: Sha256;
  readonly agents: Pick<AgentStore, 'byId'>;
  readonly wallets: Pick<WalletStore, 'credentialOf' | 'wallets'>;
  readonly orders: Pick<OrderStore, 'byIds' | 'settle'>;
  readonly handedOutSets: Pick<HandedOutSets, 'handOut' | 'find'>;
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

export const placeSet = (
  needs: PlaceSetNeeds,
  call: SetCall & { readonly deadline: Deadline; readonly trace?: TradeTrace | undefined },
): Promise<Placed<SetResponse>> =>
  notingRefusals(
    (refused) => noteSetRefusal(needs, call, refused),
    () => placeOrder(needs, call, placementOf(needs, call)),
  );

function placementOf(needs: PlaceSetNeeds, call: SetCall): SetPlacement {
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
  };
}

/** Market, wallet and balance. @throws Refusal */
async function soundSet(
  needs: PlaceSetNeeds,
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
  needs: PlaceSetNeeds,
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
  needs: PlaceSetNeeds,
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
  if (scope.balance !== null) return scope.balance(funder);
  if ('error' in balance) throw balance.error;
  return balance.known;
}

function recorded(
  { clock }: Pick<PlaceSetNeeds, 'clock'>,
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
  needs: Pick<PlaceSetNeeds, 'clock' | 'orders' | 'handedOutSets'>,
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
  needs: Pick<PlaceSetNeeds, 'handedOutSets' | 'orders'>,
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
  needs: Pick<PlaceSetNeeds, 'clock' | 'orders'>,
  order: NewSetOrder,
  answer: VenueAnswer,
): Promise<SetResponse> {
  const first = firstAnswerOf(answer);
  if (first !== null) return setResponse(order, first);
  // Visible at once. Where even that fails, the record still says `submitting`, which is in doubt too.
  await settleWithoutFill(needs, order.orderId, 'no_answer').catch(() => {});
  throw outcomeUnknown(order.orderId);
}
