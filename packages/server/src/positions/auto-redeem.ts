/**
 * Redeems without being asked for agents with autoRedeemEnabled. Driven by the table of resolved markets, which the venue's own
 * evidence fills: a market stays due until every redemption in it was answered, so a crash repeats some of the work,
 * and a repeated redemption pays nothing. What lost is burnt for everybody: it is no position any more. A turn with
 * nothing due is one look at an empty index.
 */
import type { Clock } from '../platform/clock.ts';
import { venuesWith } from '../venues/asking.ts';
import type { Venues, VenueWith } from '../venues/venue.ts';
import type { Holding, RedemptionStore } from './redemption-store.ts';

export interface AutoRedeemNeeds {
  readonly clock: Clock;
  readonly redemptions: RedemptionStore;
  readonly venues: Venues;
}

/** Markets per turn, and redemptions in flight: what shares a group commit without holding up the trades. */
const MARKETS_PER_TURN = 50;
const AT_ONCE = 200;

/** @returns how many holdings were redeemed */
export async function autoRedeem(needs: AutoRedeemNeeds): Promise<number> {
  // Elsewhere the owner of the wallet signs.
  const venues = venuesWith(needs, 'redemption').filter(({ backend }) => backend === 'paper');
  if (venues.length === 0) return 0;
  const markets = await needs.redemptions.due(
    venues.map(({ id }) => id),
    MARKETS_PER_TURN,
  );
  if (markets.length === 0) return 0;
  const due = markets.map(({ conditionId }) => conditionId);
  const redemptionOf = new Map(
    markets.map(({ conditionId, venue }) => {
      const { redemption } = venues.find(({ id }) => id === venue) ?? (venues[0] as VenueWith<'redemption'>);
      return [conditionId, redemption];
    }),
  );
  const redeemOne = async ({ wallet, conditionId }: Pick<Holding, 'wallet' | 'conditionId'>) => {
    try {
      const answer = await redemptionOf.get(conditionId)?.redeem(wallet, conditionId);
      return answer?.kind === 'redeemed';
    } catch {
      return false;
    }
  };
  const [holdings, worthless] = await Promise.all([
    needs.redemptions.automatic(due),
    needs.redemptions.worthless(due),
  ]);
  const unanswered = new Set<string>();
  let redeemed = 0;
  for (let i = 0; i < holdings.length; i += AT_ONCE) {
    const some = holdings.slice(i, i + AT_ONCE);
    await needs.redemptions.request(some, true, needs.clock.now());
    const answers = await Promise.all(some.map(redeemOne));
    for (const [index, isDone] of answers.entries()) {
      if (isDone) redeemed += 1;
      else unanswered.add(some[index]?.conditionId as string);
    }
  }
  for (let i = 0; i < worthless.length; i += AT_ONCE) {
    const some = worthless.slice(i, i + AT_ONCE);
    const answers = await Promise.all(some.map(redeemOne));
    for (const [index, isDone] of answers.entries())
      if (!isDone) unanswered.add(some[index]?.conditionId as string);
  }
  const swept = due.filter((conditionId) => !unanswered.has(conditionId));
  if (swept.length > 0) await needs.redemptions.swept(swept, needs.clock.now());
  return redeemed;
}
