/** exchange_orders: the events of all orders except the house's, grouped by order; what a batch adds, and what there is. */
import type { Tag } from '@bellwether/durable';
import type { AccountId, OrderId } from '../engine/types.ts';
import type { Entry, OrderRecord } from '../paper-exchange.ts';
import { isHouse } from '../world/house.ts';
import { decodeOrderEvents, encodeOrderEvent, isOfOrder, type OrderEvent } from './order-event-codec.ts';

export interface OrderAddition {
  readonly orderId: OrderId;
  readonly account: AccountId;
  /** Journal position of the first of these events. */
  readonly seq: number;
  /** True when the order starts in this batch: it has no row yet. */
  readonly isNew: boolean;
  /** Encoded events. */
  readonly lines: string[];
}

/**
 * A refused order is recorded like any other: its id is used up, so that its record stays correct. Not recorded is
 * `duplicate_order`, because the id's record describes the first order, and a refused order that was posted at a door.
 */
export function gatherOrders(entries: Iterable<Pick<Entry, 'seq' | 'command' | 'events'>>): OrderAddition[] {
  const additions = new Map<OrderId, OrderAddition>();
  for (const { seq, command, events } of entries) {
    const posted =
      command.kind === 'place' && command.order.posted !== undefined ? command.order.orderId : null;
    for (const event of events) {
      if (!isOfOrder(event) || isHouse(event.account)) continue;
      if (event.kind === 'order_rejected') {
        if (event.reason === 'duplicate_order' || event.orderId === posted) continue;
      }
      const { orderId, account } = event;
      let addition = additions.get(orderId);
      if (addition === undefined) {
        const isNew = BEGINS.has(event.kind);
        addition = { orderId, account, seq, isNew, lines: [] };
        additions.set(orderId, addition);
      }
      addition.lines.push(encodeOrderEvent(event));
    }
  }
  return [...additions.values()];
}

const BEGINS: ReadonlySet<OrderEvent['kind']> = new Set([
  ...(['order_accepted', 'order_rejected', 'split', 'merged', 'converted', 'deposited'] as const),
]);

export async function readRecords(
  sql: Tag,
  orderIds: readonly OrderId[],
): Promise<ReadonlyMap<OrderId, OrderRecord>> {
  if (orderIds.length === 0) return new Map();
  const rows = await sql`
    select order_id, account, events from exchange_orders where order_id = any(${[...orderIds]}::text[])`;
  return new Map(
    rows.map((row) => {
      const order = { orderId: row.order_id as OrderId, account: row.account as AccountId };
      return [order.orderId, { ...order, events: decodeOrderEvents(row.events as string, order) }];
    }),
  );
}
