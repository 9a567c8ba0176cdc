/**
 * The public events of a command. Internal events of the house are omitted: the acceptance and end of its quotes, its
 * deposits, merges and redemptions. Fills stay, also those between house accounts, because they are the market's public
 * trades; so do all events of markets.
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
