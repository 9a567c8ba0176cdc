/**
 * Records what owners have redeemed past the desk: at a live venue the desk only says which call to sign, and learns from the
 * venue that it was made. Accounts are asked about while they hold something redeemable, each once a minute at the most.
 */
import type { Clock } from '../platform/clock.ts';
import { venuesWith } from '../venues/asking.ts';
import type { Venues, VenueWith } from '../venues/venue.ts';
import type { RedeemableHolder, RedemptionStore } from './redemption-store.ts';

export interface FollowRedemptionsNeeds {
  readonly clock: Clock;
  readonly redemptions: RedemptionStore;
  readonly venues: Venues;
}

const EVERY_MS = 60_000;
/** The venue allows twenty such questions a second from one address, for everything that asks there. */
const ACCOUNTS_PER_TURN = 50;
const AT_ONCE = 10;

/** @returns how many positions changed @throws what a venue throws, once the other accounts have been asked about */
export async function followRedemptions(needs: FollowRedemptionsNeeds): Promise<number> {
  let changed = 0;
  const failures: unknown[] = [];
  for (const venue of venuesWith(needs, 'redemption')) {
    if (venue.redemption.redeemed === undefined) continue;
    const holders = await needs.redemptions.claimHolders(venue.id, {
      everyMs: EVERY_MS,
      limit: ACCOUNTS_PER_TURN,
    });
    for (let start = 0; start < holders.length; start += AT_ONCE) {
      const some = holders.slice(start, start + AT_ONCE);
      for (const turn of await Promise.allSettled(some.map((holder) => record(needs, venue, holder))))
        if (turn.status === 'fulfilled') changed += turn.value;
        else failures.push(turn.reason);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'redemptions were not read');
  return changed;
}

async function record(
  { clock, redemptions }: FollowRedemptionsNeeds,
  { redemption }: VenueWith<'redemption'>,
  { wallet, conditionIds }: RedeemableHolder,
): Promise<number> {
  const found = (await redemption.redeemed?.(wallet, conditionIds)) ?? [];
  if (found.length === 0) return 0;
  const now = clock.now();
  // A result never belongs to a day that has not begun.
  return redemptions.recordRedeemed(found.map((one) => ({ ...one, wallet, at: Math.min(one.at, now) })));
}
