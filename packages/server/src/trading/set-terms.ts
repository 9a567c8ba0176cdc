/** A split, a merge or a conversion as it is asked for, and the answers to its sender. */
import { type SetRequest, type SetResponse, VENUE_REFUSALS, type VenueRefusal } from '@bellwether/contract';
import { type Micro, microToNumber, PIPS, parseMicro } from '@bellwether/contract/decimals';
import { type Address, conditionIdOfBothWidths } from '@bellwether/protocol';
import type { BoundTerms } from '../domain/draft.ts';
import type { FirstAnswer } from '../domain/evidence.ts';
import type { MarketRecord, VenueId } from '../domain/market.ts';
import type { Caller, NewSetOrder, OrderRow, SetOrderRow } from '../domain/records.ts';
import { marketNamed } from '../markets/index.ts';
import { type Refusal, refusal } from '../platform/refusal.ts';
import { type PreparedRelay, relayRecord, type UnsignedCall, type VenueSet } from '../venues/venue.ts';
import { outcomeUnknown, SUBMIT_WITHIN_MS } from './trade-answers.ts';

export type SetKind = NewSetOrder['kind'];

const FORCE = { split: 'SPLIT', merge: 'MERGE', convert: 'CONVERT' } as const;
const SIDE = { split: 'BUY', merge: 'SELL', convert: 'BUY' } as const;
const KINDS: ReadonlySet<string> = new Set(Object.keys(FORCE));
const IN_FLIGHT_RETRY_S = 1;

export interface SetCall {
  readonly caller: Caller;
  readonly kind: SetKind;
  readonly request: SetRequest;
  readonly requestId: string;
}

/** The same body under the same name has the same id, whatever became of the market and the agent's wallet since. */
export function setOrderId(
  { caller, kind, request }: Pick<SetCall, 'caller' | 'kind' | 'request'>,
  venue: VenueId,
  sha256: (text: string) => string,
): string {
  const { clientOrderId, walletAddress } = request;
  const market = conditionIdOfBothWidths(marketNamed(request));
  const terms = [kind, venue, market, amountOf(request).toString(), walletAddress ?? '', clientOrderId];
  return `0x${sha256(JSON.stringify(['bellwether set order v1', caller.agentId, ...terms]))}`;
}

export const amountOf = ({ amount }: Pick<SetRequest, 'amount'>): Micro => parseMicro(amount);

/** A set order of which nothing is wrong by itself. */
export interface SetTerms {
  readonly orderId: string;
  readonly venue: VenueId;
  readonly market: MarketRecord;
  readonly funder: Address;
  readonly walletAddress: Address;
}

export function setOrder(
  { caller, kind, request, requestId }: SetCall,
  { orderId, venue, market, funder, walletAddress }: SetTerms,
  { userId, now }: { readonly userId: bigint; readonly now: number },
): NewSetOrder {
  const amount = amountOf(request);
  return {
    kind,
    ...{ orderId, agentId: caller.agentId, userId, venue },
    ...{ marketId: market.id, conditionId: market.conditionId, question: market.question },
    // A set has no token of its own.
    tokenId: '',
    outcome: 'BOTH',
    outcomeName: null,
    side: SIDE[kind],
    timeInForce: FORCE[kind],
    ...{ isLimitOrder: false, postOnly: false, deferExec: false },
    ...{ price: PIPS, limit: PIPS, shares: amount, money: amount },
    ...{ funder, walletAddress, expiration: null, feeAmount: 0n },
    reasoning: request.reasoning ?? null,
    source: request.source ?? null,
    skillSlug: request.skillSlug ?? null,
    clientOrderId: request.clientOrderId,
    cancelAt: null,
    requestId,
    createdAt: now,
  };
}

/** Terms that an approval binds beyond those of which the order's id is made: the agent's own wallet may be another one by now. */
export const boundSetTerms = (kind: 'split' | 'convert', funder: Address): BoundTerms => ({
  ...{ orderType: FORCE[kind], isLimitOrder: false, postOnly: false, deferExec: false, endsAt: null },
  funder,
});

export const venueSetOf = ({
  kind,
  orderId,
  funder,
  conditionId,
  shares,
  createdAt,
}: NewSetOrder): VenueSet => ({
  ...{ kind, orderId, funder, conditionId },
  amount: shares,
  deadline: createdAt + SUBMIT_WITHIN_MS,
});

const NAME_AGAIN = 'Nothing was changed. Ask again under another clientOrderId when the reason is gone.';

/** Nothing of it was executed; the transactions are still to be signed. */
export const UNSIGNED: FirstAnswer = {
  ...{ success: true, status: 'unsigned', filled: 0n, cost: 0n, fees: 0n, errorCode: null },
};

/** Transactions that are with the owner of the wallet. */
interface HandedOut {
  readonly transactions: readonly UnsignedCall[];
  readonly relay: PreparedRelay | null;
  readonly endsAt: number;
}

/** The answer while the owner of the wallet has the transactions to sign. */
export const unsignedResponse = (
  order: NewSetOrder,
  { transactions, relay, endsAt }: HandedOut,
): SetResponse => ({
  ...setResponse(order, UNSIGNED),
  status: 'unsigned',
  ...(relay === null ? { transactions: [...transactions] } : { relay: relayRecord(relay) }),
  expiresAt: new Date(endsAt).toISOString(),
});

/** Once the relayer may have it. */
export const submittedResponse = (order: NewSetOrder, endsAt: number): SetResponse => ({
  ...setResponse(order, UNSIGNED),
  status: 'submitted',
  expiresAt: new Date(endsAt).toISOString(),
});

export function setResponse(order: NewSetOrder, first: FirstAnswer): SetResponse {
  const refusedAs = first.errorCode as VenueRefusal | null;
  return {
    success: first.success,
    orderId: order.orderId,
    clientOrderId: order.clientOrderId ?? '',
    status: first.success ? 'filled' : 'rejected',
    venue: order.venue,
    marketId: order.marketId,
    marketConditionId: order.conditionId,
    conditionId: order.conditionId,
    walletAddress: order.funder,
    amount: microToNumber(first.filled),
    txHash: null,
    submittedAt: new Date(order.createdAt).toISOString(),
    ...(refusedAs === null
      ? {}
      : {
          errorCode: refusedAs,
          errorMessage: first.detail ?? VENUE_REFUSALS[refusedAs].message,
          fix: NAME_AGAIN,
        }),
  };
}

/**
 * The answer to the same order, or `null` when it is new: the first one, or, where its transactions were handed out, what has
 * become of it since. Transactions that were executed must not be given out again.
 * @throws Refusal idempotency_in_flight, order_outcome_unknown
 */
export function setReplayOf(
  row: OrderRow | null,
  agentId: string,
  now: number,
): SetResponse | { readonly handedOut: SetOrderRow } | null {
  if (row === null || row.agentId !== agentId || !isOfSets(row)) return null;
  if (row.first !== null) {
    if (row.first.status !== UNSIGNED.status) return setResponse(row, row.first);
    return row.status === 'live' ? { handedOut: row } : endedResponse(row);
  }
  if (row.status === 'unknown' || now - row.createdAt > SUBMIT_WITHIN_MS) throw outcomeUnknown(row.orderId);
  throw beingMade(row.orderId);
}

/** What has become of an order whose transactions were handed out. */
export function endedResponse(row: SetOrderRow): SetResponse {
  if (row.status === 'rejected') {
    const { detail } = row.journal.findLast(({ event }) => event === 'rejected') ?? {};
    const refused = { ...UNSIGNED, success: false, errorCode: row.errorCode ?? 'refused_by_venue' };
    return setResponse(row, detail === undefined ? refused : { ...refused, detail });
  }
  const made = row.journal.find(({ event }) => event === 'filled_completely');
  return {
    ...setResponse(row, { ...UNSIGNED, filled: row.filled }),
    status: made === undefined ? 'expired' : 'filled',
    txHash: made?.detail ?? null,
  };
}

export const isOfSets = (row: OrderRow): row is SetOrderRow => KINDS.has(row.kind);

const beingMade = (orderId: string): Refusal =>
  refusal('idempotency_in_flight', 'The same order is being carried out right now.', {
    orderId,
    retryAfterS: IN_FLIGHT_RETRY_S,
  });
