/** The venue's user channel: what its frames say of orders, and how to subscribe. Wire reference 4.2. */
import { orderOf, tradeOf, type WireOrder, type WireTrade } from './order-wire.ts';

export type OwnEvent =
  | { readonly kind: 'order'; readonly order: WireOrder; readonly conditionId: string }
  | { readonly kind: 'trade'; readonly trade: WireTrade; readonly conditionId: string };

/** All markets of the key. The frame holds its secrets: it is sent, and never logged. */
export const subscription = (key: { apiKey: string; secret: string; passphrase: string }): string =>
  JSON.stringify({
    type: 'user',
    auth: { apiKey: key.apiKey, secret: key.secret, passphrase: key.passphrase },
    markets: [],
  });

/** Frames of other kinds are dropped. @returns `null` for a frame that should have been understood and was not */
export function eventsIn(text: string): readonly OwnEvent[] | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const events: OwnEvent[] = [];
  for (const one of Array.isArray(value) ? value : [value]) {
    if (typeof one !== 'object' || one === null) continue;
    const row = one as Readonly<Record<string, unknown>>;
    const conditionId = typeof row.market === 'string' ? row.market.toLowerCase() : '';
    if (row.event_type === 'order') {
      const order = orderEvent(row);
      if (order === null) return null;
      events.push({ kind: 'order', order, conditionId });
    } else if (row.event_type === 'trade') {
      const trade = tradeOf(row);
      if (trade === null) return null;
      events.push({ kind: 'trade', trade, conditionId });
    }
  }
  return events;
}

/** Its type says more than its status where it is canceled. */
function orderEvent(row: Readonly<Record<string, unknown>>): WireOrder | null {
  const order = orderOf({
    ...row,
    status: row.status ?? (row.type === 'CANCELLATION' ? 'CANCELED' : 'LIVE'),
  });
  if (order === null || row.type !== 'CANCELLATION' || /^(CANCELED|INVALID)/.test(order.status)) return order;
  return { ...order, status: 'CANCELED' };
}
