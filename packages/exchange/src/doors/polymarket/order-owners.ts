/** Which API key an order is shown with. */
import type { Address } from '@bellwether/protocol';
import type { AccountId, OrderId, PostedOrder } from '../../paper-exchange.ts';
import { accountsOf } from './accounts.ts';
import type { DoorExchange } from './door-options.ts';
import type { Reader } from './l2-auth.ts';
import type { TradeViewer } from './trade-record.ts';
import type { VenueKeys } from './venue-keys.ts';

export const keyOf = (keys: VenueKeys, { order }: PostedOrder): string =>
  keys.apiKeyOf(order.posted.key.address as Address, BigInt(order.posted.key.nonce));

/** An order that the desk placed for one of the reader's accounts is shown with the reader's key. */
export async function viewerOf(
  reader: Reader,
  orderIds: readonly OrderId[],
  { exchange, keys }: { readonly exchange: Pick<DoorExchange, 'postedOrders'>; readonly keys: VenueKeys },
): Promise<TradeViewer> {
  const own = new Set<AccountId>(accountsOf(reader.address));
  const posted = await exchange.postedOrders([...new Set(orderIds.filter((id) => id.startsWith('0x')))]);
  return {
    isOwn: (account) => own.has(account),
    ownerOf: (orderId, account) => {
      const known = posted.get(orderId);
      if (known !== undefined) return keyOf(keys, known);
      return own.has(account) ? reader.apiKey : '';
    },
  };
}
