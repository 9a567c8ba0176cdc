/** Records what the desk itself knows of a signed order: that there is no answer yet, or the proof that none will come. */
import { FIRST_STATUS, requireTransition } from '../domain/lifecycle.ts';
import type { Clock } from '../platform/clock.ts';
import { createFairLine, type FairLine } from '../platform/scheduler.ts';
import { venueOf } from '../venues/asking.ts';
import type { Venue, Venues } from '../venues/venue.ts';
import type { OrderStore, SentOrderRow } from './order-store.ts';
import { SUBMIT_WITHIN_MS } from './trade-answers.ts';

export interface ResolveDoubtNeeds {
  readonly clock: Clock;
  readonly venues: Venues;
  readonly orders: OrderStore;
}

/** @param sentBefore of a venue that would take the order again: not where it was sent after that, epoch milliseconds */
export async function settleWithoutFill(
  needs: Pick<ResolveDoubtNeeds, 'clock' | 'orders'>,
  orderId: string,
  event: 'no_answer' | 'rejected',
  sentBefore?: number,
): Promise<void> {
  const rejected = event === 'rejected';
  await needs.orders.settle(
    orderId,
    {
      success: false,
      status: requireTransition('signed', FIRST_STATUS, event),
      filled: 0n,
      cost: 0n,
      fees: 0n,
      errorCode: rejected ? 'not_received' : null,
      event: rejected ? 'never_received' : 'no_answer',
      ...(sentBefore === undefined ? {} : { sentBefore }),
    },
    needs.clock.now(),
  );
}

// Orders that their venue never answered for. It is asked by order id until there is proof. Nothing is sent again here: the order of a
// guarded exit is, by the exits (exits/send-exit.ts).

const UNKNOWN = { kind: 'unknown' } as const;
const NEVER_RECEIVED = { kind: 'never_received' } as const;

/** Later than any order can still arrive at a venue that only this process asks. */
const AFTER_MS = 5_000;
/** With room for clocks that differ between replicas. */
const AFTER_SHARED_MS = 12_000;

/** @param isShared other replicas may be sending orders */
export const leftAloneMs = (isShared: boolean): number => (isShared ? AFTER_SHARED_MS : AFTER_MS);

/** How long an order of an earlier lead may still be brought here by the replica that it was sent from. */
const BROUGHT_WITHIN_MS = 500;

/** A wallet whose venue answers late holds up no other one. */
export const doubtLine = (onFailed: (error: unknown) => void): FairLine =>
  createFairLine({ atOnce: 32, ofLane: 4, mostWaiting: 1_000, onFailed });

/** Asks about all of them, and resolves when each is answered or fails. @throws the first failure */
export async function resolveDoubt(needs: ResolveDoubtNeeds, olderThanMs: number): Promise<void> {
  const line = doubtLine(() => {});
  await askAboutDoubt(needs, { olderThanMs, line });
  await line.settled();
}

/** @param olderThanMs leaves alone what may still be on its way to a venue that this process does not keep */
export async function askAboutDoubt(
  needs: ResolveDoubtNeeds,
  { olderThanMs, line }: { readonly olderThanMs: number; readonly line: FairLine },
): Promise<void> {
  const now = needs.clock.now();
  const keepsOne = [...needs.venues.values()].some((venue) => keptSince(venue) !== null);
  for (const row of await needs.orders.inDoubt(keepsOne ? now : now - olderThanMs)) {
    const venue = venueOf(needs, row.venue, row.funder);
    const since = keptSince(venue);
    const isDue = since === null ? row.sentAt < now - olderThanMs : isLeft(row, since, now);
    const lane = `${row.venue} ${row.funder}`;
    if (isDue)
      line.add({ key: row.orderId, lane, isRepeat: false, run: () => resolveOne(needs, row, venue) });
  }
}

async function resolveOne(needs: ResolveDoubtNeeds, row: SentOrderRow, venue: Venue): Promise<void> {
  const { orderId, funder, conditionId } = row;
  const answer = isForOwners(row, venue)
    ? NEVER_RECEIVED
    : ((await venue.signedOrders?.resolve(orderId, { funder, conditionId })) ?? UNKNOWN);
  if (answer.kind === 'never_received')
    await settleWithoutFill(needs, orderId, 'rejected', isKept(venue) ? undefined : row.sentAt);
  else if (answer.kind === 'unknown' && row.status === FIRST_STATUS)
    await settleWithoutFill(needs, orderId, 'no_answer');
  // Any other answer is written by the venue's own evidence.
}

/** The desk records first, then gives a wallet's owner the transactions: while the order is in doubt, the owner has none. */
const isForOwners = ({ kind }: SentOrderRow, { sets }: Venue): boolean =>
  kind !== 'signed' && sets?.made !== undefined;

/** Such a venue takes no order that it has refused once. */
const isKept = ({ signedOrders }: Venue): boolean => signedOrders?.keptSince !== undefined;

const keptSince = ({ signedOrders }: Venue): number | null => signedOrders?.keptSince?.() ?? null;

/**
 * Whether an order of a venue that this process keeps is on its way no more: its sender has stopped, or sent it to an
 * earlier leader, or is too late. What it is asked for is proof in any case; an order that is asked for too early would
 * only be refused needlessly.
 */
const isLeft = ({ status, createdAt }: SentOrderRow, since: number, now: number): boolean =>
  status !== FIRST_STATUS ||
  (createdAt < since && now - since >= BROUGHT_WITHIN_MS) ||
  now - createdAt > SUBMIT_WITHIN_MS;
