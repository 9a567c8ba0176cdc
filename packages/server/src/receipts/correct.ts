/**
 * Corrects receipts that were made while the log could tell an order's changes in the wrong order: the last entry of such an
 * order says an earlier state than the order has. A further entry says the state that holds, and which entry it corrects; no
 * entry is overwritten.
 *
 * It must not cover up what somebody altered. So it corrects only what the lifecycle allows to come later, and only
 * where the receipts themselves, or the log, have the state that the order has now.
 */
import type { ReceiptBody, Sha256 } from '@bellwether/contract';
import { formatMicro } from '@bellwether/contract/decimals';
import { type OrderStatus, reachable } from '../domain/lifecycle.ts';
import type { OrderRow } from '../domain/records.ts';
import { linkEntries, type NewEntry } from './link.ts';
import type { DoubtfulPiece, DoubtfulReceipts, ReceiptRow, ReceiptStore } from './store.ts';

export interface CorrectReceiptsNeeds {
  readonly receipts: Pick<ReceiptStore, 'correct'>;
  readonly sha256: Sha256;
}

/** So few that trades do not notice. */
const ORDERS_PER_TURN = 200;

/** @returns one turn of the job, which has nothing to do once all receipts were looked at */
export function createReceiptCorrector({ receipts, sha256 }: CorrectReceiptsNeeds) {
  let isDone = false;
  return async (): Promise<void> => {
    if (isDone) return;
    isDone = !(await receipts.correct(ORDERS_PER_TURN, (piece) => linkCorrections(piece, sha256)));
  };
}

type Fields = Readonly<Record<string, unknown>>;

interface ReceiptedState {
  readonly sequence: number;
  readonly state: Fields | null;
  readonly answered: Fields | null;
}

/** Statuses to which a venue's first answer may lead at once, by its word. */
const ANSWERED: Readonly<Record<string, readonly OrderStatus[]>> = {
  live: ['live', 'partially_filled'],
  matched: ['matched', 'filled', 'partially_filled', 'partially_filled_closed'],
  delayed: ['delayed'],
};

export const linkCorrections = ({ doubtful, heads }: DoubtfulPiece, sha256: Sha256): ReceiptRow[] =>
  linkEntries(
    doubtful.flatMap((one) => correctionOf(one) ?? []),
    heads,
    sha256,
  );

function correctionOf({ order, receipts, isLogged }: DoubtfulReceipts): NewEntry | null {
  const reported = receipts.map(reportedOf);
  const last = reported.findLast((one) => one?.state != null);
  // An entry that is no receipt any more was altered, and the audit names it.
  if (last == null || reported.includes(null)) return null;
  const state = stateOf(order);
  if (isSame(last.state, state) || !isLater(order, last.state as Fields)) return null;
  const isProven =
    isLogged ||
    reported.some((one) => isSame(one?.state, state)) ||
    reported.some((one) => hasAnswered(one, state));
  return isProven
    ? {
        order,
        recordedAt: order.updatedAt,
        body: { orderId: order.orderId, state, corrects: last.sequence },
      }
    : null;
}

function reportedOf({
  sequence,
  body,
}: {
  readonly sequence: number;
  readonly body: string;
}): ReceiptedState | null {
  try {
    const { state, answered } = JSON.parse(body) as ReceiptBody;
    return { sequence, state: state ?? null, answered: answered ?? null };
  } catch {
    return null;
  }
}

const stateOf = ({ status, filled, cost, fees, errorCode }: OrderRow) => ({
  status,
  filled: formatMicro(filled),
  cost: formatMicro(cost),
  fees: formatMicro(fees),
  errorCode,
});

type State = ReturnType<typeof stateOf>;
const FIGURES = ['filled', 'cost', 'fees', 'errorCode'] as const;

const isSame = (reported: Fields | null | undefined, state: State): boolean =>
  reported != null &&
  reported.status === state.status &&
  FIGURES.every((name) => reported[name] === state[name]);

const isLater = (order: OrderRow, reported: Fields): boolean =>
  reachable(order.kind, reported.status as OrderStatus).includes(order.status);

const hasAnswered = (reported: ReceiptedState | null, state: State): boolean => {
  const answer = reported?.answered;
  if (answer == null || !FIGURES.every((name) => answer[name] === state[name])) return false;
  return answer.success === true
    ? (ANSWERED[String(answer.status)] ?? []).includes(state.status)
    : state.status === 'rejected';
};
