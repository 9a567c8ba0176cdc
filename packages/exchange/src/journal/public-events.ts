/**
 * What others get to see of a command's events. Left out is what concerns nobody but the house: the acceptance and
 * end of its quotes, its deposits, merges and redemptions. Fills stay, the house's among themselves too, because they
 * are the market's public trades; so does everything about markets.
 */
import type { EngineEvent } from '../engine/types.ts';
import { HOUSE_PREFIX, isHouse } from '../world/house.ts';

const isPublic = (event: EngineEvent): boolean => {
  if (event.kind === 'fill') return true;
  if ('account' in event) return !isHouse(event.account);
  if (event.kind === 'cancel_refused') return !event.orderId.startsWith(HOUSE_PREFIX);
  return true;
};

export const publicEvents = (events: readonly EngineEvent[]): EngineEvent[] => events.filter(isPublic);
