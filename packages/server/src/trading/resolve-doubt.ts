/**
 * Orders that their venue never answered for. It is asked by order id until there is proof. Nothing is sent again but the order of a
 * guarded exit, which the desk sends until it has an effect.
 */
import { FIRST_STATUS } from '../domain/lifecycle.ts';
import { venueOf } from '../venues/asking.ts';
import type { Venue, Venues } from '../venues/venue.ts';
import type { OrderStore, SentOrderRow } from './order-store.ts';
import { type SettleNeeds, settleWithoutFill } from './settle-without-fill.ts';
import { SUBMIT_WITHIN_MS } from './trade-answers.ts';

const UNKNOWN = { kind: 'unknown' } as const;
const NEVER_RECEIVED = { kind: 'never_received' } as const;

export interface ResolveDoubtNeeds extends SettleNeeds {
  readonly venues: Venues;
  readonly orders: Pick<OrderStore, 'inDoubt' | 'settle'>;
  /**
   * Sends an order again that an agent has left with the desk for that. @returns false: it is none of those, or must not be sent any
   * more; true: it may still arrive
   */
  readonly sendAgain?: (orderId: string) => Promise<boolean>;
}

/** Later than any order can still arrive at a venue that only this process asks. */
const AFTER_MS = 5_000;
/** With room for clocks that differ between replicas. */
const AFTER_SHARED_MS = 12_000;

/** @param isShared other replicas may be sending orders */
export const leftAloneMs = (isShared: boolean): number => (isShared ? AFTER_SHARED_MS : AFTER_MS);

/** How long an order of an earlier lead may still be brought here by the replica that it was sent from. */
const BROUGHT_WITHIN_MS = 500;

/**
 * @param olderThanMs leaves alone what may still be on its way to a venue that this process does not keep
 * @returns how many are still in doubt
 */
export async function resolveDoubt(needs: ResolveDoubtNeeds, olderThanMs: number): Promise<number> {
  const now = needs.clock.now();
  const keepsOne = [...needs.venues.values()].some((venue) => keptSince(venue) !== null);
  const rows = await needs.orders.inDoubt(keepsOne ? now : now - olderThanMs);
  let left = 0;
  for (const row of rows) {
    const venue = venueOf(needs, row.venue, row.funder);
    const since = keptSince(venue);
    const isDue = since === null ? row.createdAt < now - olderThanMs : isLeft(row, since, now);
    if (!isDue) continue;
    const { orderId, funder, conditionId } = row;
    const answer = isForOwners(row, venue)
      ? NEVER_RECEIVED
      : ((await venue.signedOrders?.resolve(orderId, { funder, conditionId })) ?? UNKNOWN);
    if (answer.kind === 'never_received' && (await needs.sendAgain?.(orderId)) === true) {
      left += 1;
    } else if (answer.kind === 'never_received') {
      await settleWithoutFill(needs, row.orderId, 'rejected');
    } else if (answer.kind === 'unknown') {
      left += 1;
      if (row.status === FIRST_STATUS) await settleWithoutFill(needs, row.orderId, 'no_answer');
    }
    // Any other answer is written by the venue's own evidence.
  }
  return left;
}

/** The desk records first, then gives a wallet's owner the transactions: while the order is in doubt, the owner has none. */
const isForOwners = ({ kind }: SentOrderRow, { sets }: Venue): boolean =>
  kind !== 'signed' && sets?.made !== undefined;

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
