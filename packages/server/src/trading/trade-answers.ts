/** Answers to the sender of a signed order: the first answer, repeated on every replay, or that there is none yet. */
import { type CapName, type TradeResponse, VENUE_REFUSALS, type VenueRefusal } from '@bellwether/contract';
import { microToNumber } from '@bellwether/contract/decimals';
import { boundTerms, type Draft, saysExchange } from '../domain/draft.ts';
import type { FirstAnswer } from '../domain/evidence.ts';
import type { Caller, Checked, NewSignedOrder, OrderRow } from '../domain/records.ts';
import { figureText } from '../domain/safeguards.ts';
import { type Refusal, refusal } from '../platform/refusal.ts';
import type { Venue, VenueAnswer } from '../venues/venue.ts';

const IN_FLIGHT_RETRY_S = 1;
const UNKNOWN_RETRY_S = 2;
/** From the record to the venue; the resolver asks about orders only when they are older. */
export const SUBMIT_WITHIN_MS = 4_000;

/** `null`: there is no proof either way. */
export function firstAnswerOf(answer: VenueAnswer): FirstAnswer | null {
  switch (answer.kind) {
    case 'unknown':
      return null;
    case 'rejected':
      return {
        ...{ success: false, status: 'rejected', filled: 0n, cost: 0n, fees: 0n, errorCode: answer.reason },
        ...(answer.detail === undefined ? {} : { detail: answer.detail }),
      };
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

export const alreadyPlaced = (orderId: string): Refusal =>
  refusal(
    'order_already_placed',
    'This signed order was placed before, by another agent or with other options: orderType, postOnly, deferExec, isLimitOrder, expirationTime or cancelAfterMs.',
    { orderId },
  );

/** The options that make a signed order the same request; labels do not count. Not every struct signs the end. */
const sameOptions = (row: OrderRow, draft: Draft): boolean =>
  row.timeInForce === draft.timeInForce &&
  row.postOnly === draft.postOnly &&
  row.deferExec === draft.deferExec &&
  row.isLimitOrder === draft.isLimitOrder &&
  row.expiration === boundTerms(draft).endsAt &&
  endsWith(row, draft.cancelAfterMs);

/** The silence of its agent may have given it another time since. */
export const endsWith = (
  { cancelAt, cancelCause, createdAt }: Pick<OrderRow, 'cancelAt' | 'cancelCause' | 'createdAt'>,
  cancelAfterMs: number | null,
): boolean => cancelCause !== null || (cancelAt === null ? null : cancelAt - createdAt) === cancelAfterMs;

interface SameTrade {
  readonly caller: Caller;
  readonly venue: Venue;
  readonly draft: Draft;
  /** The desk sends it, for an exit: what was refused before is sent anew. Its agent is told what it was told before. */
  readonly isOfDesk: boolean;
  readonly now: number;
}

/** An attempt of a guarded exit that its venue refused: the order was never taken, and may be placed as if it were new. */
export const isRefusedAttempt = ({ status, first }: Pick<OrderRow, 'status' | 'first'>): boolean =>
  status === 'rejected' && first === null;

/**
 * The first answer to the same order, or `null` when it is new.
 * @throws Refusal idempotency_in_flight, order_outcome_unknown, order_already_placed
 */
export function replayOf(
  rows: readonly OrderRow[],
  { caller, venue, draft, isOfDesk, now }: SameTrade,
): TradeResponse | null {
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
  if (isRefusedAttempt(row))
    return isOfDesk
      ? null
      : tradeResponse(row, { ...NOTHING_SENT, success: false, status: 'rejected', errorCode: row.errorCode });
  const isLate = now - row.sentAt > SUBMIT_WITHIN_MS;
  if (row.status === 'unknown' || isLate) throw outcomeUnknown(row.orderId);
  throw beingPlaced(row.orderId);
}

export const beingPlaced = (orderId: string): Refusal =>
  refusal('idempotency_in_flight', 'The same signed order is being placed right now.', {
    orderId,
    retryAfterS: IN_FLIGHT_RETRY_S,
  });

const COLLATERAL = { 1: 'USDC.e', 2: 'pUSD' } as const;
const MICRO_PER_UNIT = 1_000_000n;

const NOTHING_SENT: FirstAnswer = {
  success: true,
  status: 'live',
  filled: 0n,
  cost: 0n,
  fees: 0n,
  errorCode: null,
};

/** Answer to an order that was only checked: nothing is recorded or sent. */
export const validatedResponse = (order: NewSignedOrder): TradeResponse => ({
  ...tradeResponse(order, NOTHING_SENT),
  status: 'validated',
  syncedToMkOrder: false,
  syncedToStrategyLog: false,
});

export function tradeResponse(order: NewSignedOrder, first: FirstAnswer): TradeResponse {
  const refusedAs = first.errorCode as VenueRefusal | null;
  return {
    success: first.success,
    orderId: order.orderId,
    status: first.status,
    orderVersion: order.version,
    ...saysExchange(order.tokenId),
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
          errorMessage: first.detail ?? VENUE_REFUSALS[refusedAs].message,
          fix: VENUE_REFUSALS[refusedAs].fix,
        }),
  };
}

// Figures by which an order was judged, as the wire and receipts show them: [limit, used, asked] of each safeguard, as texts.

export const checkedRecord = ({ approval, ...figures }: Checked): Record<string, string[]> => ({
  ...Object.fromEntries(
    Object.entries(figures).map(([name, values]) => [
      name,
      values.map((value) => figureText(name as CapName, value)),
    ]),
  ),
  ...(approval === undefined ? {} : { approval: [...approval] }),
});
