/**
 * Finds the fate of a fee's transaction. Only proof ends a charge: seen on the chain, or the chain has passed the last
 * block that could take it and its whole history does not know it.
 */

import type { Clock } from '../platform/clock.ts';
import { type HasVenues, quotingVenue } from '../venues/asking.ts';
import type { Landing } from '../venues/chain.ts';
import type { Venues } from '../venues/venue.ts';
import type { FeeCharge, FeeStore, SignedFee } from './store.ts';

export interface FollowFeesNeeds {
  readonly clock: Clock;
  readonly venues: Venues;
  readonly fees: FeeStore;
}

/** Nodes that answer about history may be some blocks behind those that count them. */
const MARGIN_BLOCKS = 32;
/** The most signatures that a node answers about at once. */
const SIGNATURES_AT_ONCE = 256;

export type FeeFate = 'landed' | 'failed' | 'dropped' | 'pending';

/** A charge that has been signed. */
export type SignedCharge = FeeCharge & { readonly signed: SignedFee };

export const isSigned = (charge: FeeCharge): charge is SignedCharge => charge.signed !== null;

/** @param charges at most 256 @throws ChainUnavailable */
export async function fatesOf(
  needs: HasVenues,
  charges: readonly SignedCharge[],
): Promise<ReadonlyMap<string, FeeFate>> {
  // The height first: what is not there afterwards, past it, never will be.
  const { chain } = quotingVenue(needs).quotes;
  const height = await chain.blockHeight();
  const isPast = ({ signed }: SignedCharge) => height > signed.lastValidBlockHeight + MARGIN_BLOCKS;
  const look = (some: readonly SignedCharge[], deep: boolean): Promise<ReadonlyMap<string, Landing>> =>
    some.length === 0
      ? Promise.resolve(new Map())
      : chain.landings(
          some.map(({ signed }) => signed.signature),
          deep,
        );
  const [past, young] = await Promise.all([
    look(charges.filter(isPast), true),
    look(
      charges.filter((charge) => !isPast(charge)),
      false,
    ),
  ]);
  const fateOf = (charge: SignedCharge): FeeFate => {
    const landing = (past.get(charge.signed.signature) ?? young.get(charge.signed.signature))?.kind;
    if (landing === 'landed' || landing === 'failed') return landing;
    return landing === 'unseen' && isPast(charge) ? 'dropped' : 'pending';
  };
  return new Map(charges.map((charge) => [charge.id, fateOf(charge)]));
}

/**
 * Looks after charges whose end is not known: a job. What a node took before is given to it again until it is on the
 * chain or dead; nodes forget. What was answered as unknown is only looked at, unless its caller asks again.
 * @returns how many came to their end
 */
export async function followFees(needs: FollowFeesNeeds): Promise<number> {
  const charges = (await needs.fees.unsettled(SIGNATURES_AT_ONCE)).filter(isSigned);
  if (charges.length === 0) return 0;
  const fates = await fatesOf(needs, charges);
  let ended = 0;
  for (const charge of charges) {
    const fate = fates.get(charge.id) ?? 'pending';
    if (fate !== 'pending') {
      await needs.fees.settle(charge.id, charge.signed.signature, fate, needs.clock.now());
      ended += 1;
    } else if (charge.status === 'broadcast') {
      await quotingVenue(needs).quotes.chain.send(charge.signed.wire);
    }
  }
  return ended;
}
