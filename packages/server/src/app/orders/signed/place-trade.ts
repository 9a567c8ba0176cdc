/**
 * A trade, in one direction: judge the signed order, reserve its budget and write it down, hand it to the venue once,
 * tell the truth about what became of it.
 *
 * Whatever the request itself proves wrong is computed before the database is asked, but reported only after a look
 * for the same order: a replay gets the first answer even when the market has closed since.
 */
import {
  type TradeRequest,
  type TradeResponse,
  VENUE_REFUSALS,
  type VenueRefusal,
} from '@bellwether/contract';
import { formatMicro, microToNumber } from '@bellwether/contract/decimals';
import type { Address } from '@bellwether/protocol';
import type { Denial } from '../../../domain/denial.ts';
import { takerFee } from '../../../domain/fees.ts';
import { type MarketRecord, termsOf } from '../../../domain/market.ts';
import { incoherences } from '../../../domain/orders/coherence.ts';
import { type Draft, isImmediate, readDraft, signedLimit } from '../../../domain/orders/draft.ts';
import { assess } from '../../../domain/safeguards.ts';
import { candidateOrderIds, type VerifiedOrder, verifyOrder } from '../../../domain/signatures.ts';
import type { FirstAnswer } from '../../../ports/evidence.ts';
import type { Caller, CredentialRow, NewSignedOrder, OrderRow, TradeScope } from '../../../ports/stores.ts';
import type { Balance, SignedOrders, VenueAnswer, VenueWith } from '../../../ports/venue.ts';
import { type Deadline, requireTime, tooLate } from '../../deadline.ts';
import type { Deps } from '../../deps.ts';
import { waysToFund } from '../../funding-advice.ts';
import { Refusal, refusal } from '../../refusal.ts';
import { venueFor } from '../../venues.ts';
import { noteRefusal } from '../refused-attempts.ts';
import { settleWithoutFill } from './resolve-doubt.ts';

const IN_FLIGHT_RETRY_S = 1;
const UNKNOWN_RETRY_S = 2;
/** From the record to the venue; the resolver asks about orders only when they are older. */
export const SUBMIT_WITHIN_MS = 4_000;

export interface TradeCall {
  readonly caller: Caller;
  readonly request: TradeRequest;
  readonly requestId: string;
  readonly deadline: Deadline;
}

export async function placeTrade(deps: Deps, call: TradeCall): Promise<TradeResponse> {
  try {
    return await place(deps, call);
  } catch (error) {
    if (error instanceof Refusal) noteRefusal(deps, call, error);
    throw error;
  }
}

async function place(deps: Deps, call: TradeCall): Promise<TradeResponse> {
  const venue = venueFor(deps, call.request.venue, 'signedOrders');
  const draft = readDraft(call.request);
  if (isFaults(draft)) throw asRefusal(draft);
  const market = await venue.markets.find(draft.conditionId);
  const judged = judge(deps, venue.signedOrders, draft, market);
  if (!judged.ok) {
    const replayed = await replayOf(
      deps,
      call.caller,
      { venue, draft },
      await deps.orders.byIds(candidateOrderIds(draft, venue.signedOrders.signing)),
    );
    if (replayed !== null) return replayed;
    throw asRefusal(judged.faults);
  }
  return execute(deps, call, { venue, draft, market: judged.market, verified: judged.verified });
}

const isFaults = (value: Draft | readonly Denial[]): value is readonly Denial[] => Array.isArray(value);

const asRefusal = (faults: readonly Denial[]): Refusal => {
  const [first, ...rest] = faults;
  if (first === undefined) throw new Error('a refusal needs a reason');
  return new Refusal([first, ...rest]);
};

type Judged =
  | { readonly ok: true; readonly market: MarketRecord; readonly verified: VerifiedOrder }
  | { readonly ok: false; readonly faults: readonly Denial[] };

/** Market, coherence, signature: everything that needs no lock. */
function judge(
  { clock, signatures }: Deps,
  { signing, rules }: SignedOrders,
  draft: Draft,
  market: MarketRecord | null,
): Judged {
  if (market === null || market.conditionId !== draft.conditionId) {
    return {
      ok: false,
      faults: [
        {
          code: 'unknown_market',
          path: 'marketConditionId',
          detail: 'The venue lists no market with this condition id.',
        },
      ],
    };
  }
  const faults = incoherences(draft, termsOf(market), rules, clock.now());
  if (faults.length > 0) return { ok: false, faults };
  const verdict = verifyOrder(draft, market.negRisk, { ...signing, recover: signatures.recover });
  return verdict.ok ? { ok: true, market, verified: verdict } : { ok: false, faults: [verdict.denial] };
}

interface Sound {
  readonly venue: VenueWith<'signedOrders'>;
  readonly draft: Draft;
  readonly market: MarketRecord;
  readonly verified: VerifiedOrder;
}

async function execute(deps: Deps, call: TradeCall, sound: Sound): Promise<TradeResponse> {
  const { venue, draft, market, verified } = sound;
  const { maker, signer } = draft.fields;
  const scope = await deps.ledger.open({
    caller: call.caller,
    orderIds: [verified.orderId],
    wallets: [...new Set(draft.walletAddress === null ? [maker, signer] : [draft.walletAddress])],
    funder: maker,
    signer: verified.eoa,
    conditionId: draft.conditionId,
    tokenIds: market.tokenIds,
    at: deps.clock.now(),
    requireTime: () => requireTime(call.deadline),
  });
  let order: NewSignedOrder;
  try {
    const replayed = await replayOf(deps, call.caller, { venue, draft }, scope.existing);
    if (replayed !== null) {
      scope.abort();
      return replayed;
    }
    order = await admit(deps, call, sound, scope);
    requireTime(call.deadline);
  } catch (error) {
    scope.abort();
    throw error;
  }
  if (!(await scope.commit(order, draft.money))) throw alreadyPlaced(order.orderId);
  if (!call.deadline.handOver({ code: 'order_outcome_unknown', orderId: order.orderId })) {
    // Written down in time and too late for the venue: what it reserved goes back at once.
    await settleWithoutFill(deps, order.orderId, 'rejected');
    throw tooLate();
  }
  return submit(deps, venue, order, draft);
}

/** Key, credential, safeguards, balance: what must hold while the agent's lock is held. */
async function admit(deps: Deps, call: TradeCall, sound: Sound, scope: TradeScope): Promise<NewSignedOrder> {
  const { draft, market, verified } = sound;
  if (!scope.keyActive) throw refusal('unauthorized');
  const { venue } = sound;
  const status = venue.status();
  if (status !== 'ready')
    throw refusal('service_unavailable', `The venue takes no orders now: ${status}.`, { retryAfterS: 1 });
  const credential = pickCredential(draft, scope.credentials);
  if (credential !== null) {
    const fault = credentialFault(deps, draft, credential);
    if (fault !== null) throw asRefusal([fault]);
  }
  const denial = assess(scope.safeguards, {
    ...scope,
    hasCredentials: credential !== null,
    claimMissing: venue.backend === 'live' && !scope.claimed,
    addsExposure: draft.side === 'BUY',
    amount: draft.money,
  });
  if (denial?.code === 'credentials_not_registered' && scope.hasUnreachable)
    throw asRefusal([{ ...denial, ...NOT_GRANTED }]);
  if (denial !== null) throw asRefusal([denial]);
  const limit = signedLimit(draft, market.tickSize);
  await requireBalance(deps, call.caller, sound, limit);
  return {
    kind: 'signed',
    orderId: verified.orderId,
    agentId: call.caller.agentId,
    userId: scope.userId,
    venue: venue.id,
    marketId: market.id,
    conditionId: market.conditionId,
    question: draft.question,
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
    requestId: call.requestId,
    createdAt: deps.clock.now(),
  };
}

const NOT_GRANTED = {
  detail: 'The owner of this agent has credentials for this wallet, which this agent may not use.',
  fix: 'Register or link the wallet with this agent, or ask the owner to grant it on the page /owner.',
};

/** By the wallet that was named, else the maker's, else the signer's. */
function pickCredential(draft: Draft, credentials: readonly CredentialRow[]): CredentialRow | null {
  const of = (address: Address) => credentials.find((row) => row.walletAddress === address) ?? null;
  if (draft.walletAddress !== null) return of(draft.walletAddress);
  return of(draft.fields.maker) ?? of(draft.fields.signer);
}

function credentialFault(deps: Deps, draft: Draft, credential: CredentialRow): Denial | null {
  if (draft.signatureType === 3 && credential.signatureType !== 3) {
    return {
      code: 'credential_type_mismatch',
      path: 'order.signatureType',
      detail: `The order is of signatureType 3, but the credential of ${credential.walletAddress} is registered with type ${credential.signatureType}.`,
    };
  }
  if (draft.owner !== null && !sameBytes(deps.secrets.hash(draft.owner), credential.apiKeyHash)) {
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

/** What the venue would refuse anyway, told beforehand and with figures. */
async function requireBalance(
  deps: Deps,
  caller: Caller,
  { venue, draft, market, verified }: Sound,
  limit: number,
): Promise<void> {
  const { maker } = draft.fields;
  const balance = await venue.signedOrders.balance(maker);
  const buying = draft.side === 'BUY';
  const heldIn = ({ available, shares }: Balance) =>
    buying ? available : shares(draft.conditionId, draft.outcome);
  const available = heldIn(balance);
  const needed = buying ? draft.money + takerFee(market, draft.shares, limit) : draft.shares;
  if (available >= needed) return;
  const unit = buying ? 'collateral (fee included)' : `${draft.outcome} shares`;
  const fix = await waysToFund(deps, caller, { venue, maker, eoa: verified.eoa, buying, needed, heldIn });
  throw asRefusal([
    {
      code: 'insufficient_balance',
      detail: `not enough balance: this order needs ${formatMicro(needed)} ${unit}, ${formatMicro(available)} is available.`,
      context: { needed: microToNumber(needed), available: microToNumber(available), walletAddress: maker },
      ...(fix === null ? {} : { fix }),
    },
  ]);
}

async function submit(
  deps: Deps,
  { signedOrders }: VenueWith<'signedOrders'>,
  order: NewSignedOrder,
  draft: Draft,
): Promise<TradeResponse> {
  const answer = await signedOrders.submit({
    orderId: order.orderId,
    funder: order.funder,
    conditionId: order.conditionId,
    outcome: order.outcome,
    side: order.side,
    limit: order.limit,
    shares: order.shares,
    spend: order.side === 'BUY' && isImmediate(draft.timeInForce) ? order.money : null,
    timeInForce: order.timeInForce,
    postOnly: order.postOnly,
    expiration: order.expiration,
    deadline: order.createdAt + SUBMIT_WITHIN_MS,
  });
  const first = firstAnswerOf(answer);
  if (first === null) {
    // Visible at once. Where even that fails, the record still says `submitting`, which is in doubt too.
    await settleWithoutFill(deps, order.orderId, 'no_answer').catch(() => {});
    throw outcomeUnknown(order.orderId);
  }
  return tradeResponse(order, first);
}

/** `null`: there is no proof either way. */
function firstAnswerOf(answer: VenueAnswer): FirstAnswer | null {
  switch (answer.kind) {
    case 'unknown':
      return null;
    case 'rejected':
      return { success: false, status: 'rejected', filled: 0n, cost: 0n, fees: 0n, errorCode: answer.reason };
    case 'accepted':
      return {
        success: true,
        status: answer.status,
        filled: answer.filled,
        cost: answer.cost,
        fees: answer.fees,
        errorCode: null,
      };
  }
}

export const outcomeUnknown = (orderId: string): Refusal =>
  refusal(
    'order_outcome_unknown',
    'The venue gave no proof of what became of this order; the desk is asking it.',
    {
      orderId,
      retryAfterS: UNKNOWN_RETRY_S,
    },
  );

const alreadyPlaced = (orderId: string): Refusal =>
  refusal(
    'order_already_placed',
    'This signed order was placed before, by another agent or with other options.',
    { orderId },
  );

/** The options that make a signed order the same request; labels do not count. */
const sameOptions = (row: OrderRow, draft: Draft): boolean =>
  row.timeInForce === draft.timeInForce &&
  row.postOnly === draft.postOnly &&
  row.deferExec === draft.deferExec &&
  row.isLimitOrder === draft.isLimitOrder;

/**
 * The first answer to the same order, or `null` when it is new.
 * @throws Refusal idempotency_in_flight, order_outcome_unknown, order_already_placed
 */
async function replayOf(
  deps: Deps,
  caller: Caller,
  { venue, draft }: Pick<Sound, 'venue' | 'draft'>,
  rows: readonly OrderRow[],
): Promise<TradeResponse | null> {
  const row = rows
    .filter((candidate) => candidate.kind === 'signed')
    .find((candidate) => candidate.agentId === caller.agentId);
  if (row === undefined) {
    // Another owner's order stays unmentioned until the caller has proved to own the wallet.
    const twin = rows.find((candidate) => candidate.userId === caller.userId);
    if (twin !== undefined) throw alreadyPlaced(twin.orderId);
    return null;
  }
  if (row.venue !== venue.id || !sameOptions(row, draft)) throw alreadyPlaced(row.orderId);
  if (row.first !== null) return tradeResponse(row, row.first);
  const isLate = deps.clock.now() - row.createdAt > SUBMIT_WITHIN_MS;
  if (row.status === 'unknown' || isLate) throw outcomeUnknown(row.orderId);
  throw refusal('idempotency_in_flight', 'The same signed order is being placed right now.', {
    orderId: row.orderId,
    retryAfterS: IN_FLIGHT_RETRY_S,
  });
}

const COLLATERAL = { 1: 'USDC.e', 2: 'pUSD' } as const;
const MICRO_PER_UNIT = 1_000_000n;

function tradeResponse(order: NewSignedOrder, first: FirstAnswer): TradeResponse {
  const refusedAs = first.errorCode as VenueRefusal | null;
  return {
    success: first.success,
    orderId: order.orderId,
    status: first.status,
    orderVersion: order.version,
    collateralSymbol: COLLATERAL[order.version],
    walletAddress: order.walletAddress,
    signatureType: order.signatureType,
    aiAgentId: order.agentId,
    userId: order.userId.toString(),
    syncedToMkOrder: true,
    syncedToStrategyLog: true,
    submittedAt: new Date(order.createdAt).toISOString(),
    filledSize: microToNumber(first.filled),
    avgPrice: first.filled === 0n ? null : microToNumber((first.cost * MICRO_PER_UNIT) / first.filled),
    feePaid: microToNumber(first.fees),
    ...(refusedAs === null
      ? {}
      : {
          errorCode: refusedAs,
          errorMessage: VENUE_REFUSALS[refusedAs].message,
          fix: VENUE_REFUSALS[refusedAs].fix,
        }),
  };
}
