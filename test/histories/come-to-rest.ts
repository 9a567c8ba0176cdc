/** Waits until a desk has nothing left to do. */
import { setTimeout as sleep } from 'node:timers/promises';
import { deskExits, deskOrders } from './collect-facts.ts';
import type { DeskExit } from './final-facts.ts';
import type { Place } from './place.ts';

/** Ten times what coming to rest takes. */
const AT_REST_WITHIN_MS = 240_000;
/** A live venue's account is asked anew every few seconds: the content of a lost event comes with that. */
const QUIET_MS = { paper: 2_000, live: 8_000 } as const;
const LOOK_EVERY_MS = 250;
const SOON_MS = 60_000;
const SENT_WITHIN_MS = 9_000;
const UNDONE: ReadonlySet<string> = new Set(['submitting', 'unknown', 'matched', 'delayed']);

/** Polls; what never comes true is left to the checker. */
async function waitUntil(holds: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + AT_REST_WITHIN_MS;
  while (!(await holds())) {
    if (performance.now() > end) return false;
    await sleep(LOOK_EVERY_MS);
  }
  return true;
}

/** Troubles that a fault has left: with the next attempt they are gone, up to 23 seconds later. */
const PASSING: ReadonlySet<string | null> = new Set([
  'service_unavailable',
  'venue_unavailable',
  'overloaded',
]);

/** It is being sent, or should be and nothing that stays says why it is not. */
const isUndoneExit = ({ status, isDue, trouble, mustLetGo }: DeskExit): boolean =>
  status === 'firing' ||
  (status === 'armed' && isDue && (trouble === null || PASSING.has(trouble)) && !mustLetGo);

const NO_TRADES = ['trades', 'waiting'].map((what) => `bellwether_in_flight{what="${what}"} 0\n`);

/** Also for one for whose answer its client has given up. */
async function hasNoTradesUnderWay({ urls }: Place): Promise<boolean> {
  const pages = await Promise.all(urls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  return pages.every((page) => NO_TRADES.every((line) => page.includes(line)));
}

/** No order is in doubt, receipts are written, webhooks are sent, and nothing has changed since the last look. @returns what is known of orders that wait, when it did not come to rest */
export async function comeToRest(
  place: Place,
  quietMs: number = QUIET_MS[place.setUp],
): Promise<string | null> {
  const { sql } = place;
  let before = '';
  let since = performance.now();
  const isRested = await waitUntil(async () => {
    const orders = await deskOrders(sql);
    const exits = (await deskExits(sql)).filter(isUndoneExit);
    const [left] = await sql`select
      (select count(*) from webhook_deliveries where status = 'pending')::int as webhooks,
      (select count(*) from facts f cross join receipt_log l
        where f.kind in ('order', 'fill') and (f.writer, f.seq) > (l.writer, l.seq))::int as receipts,
      (select count(*) from exits e join orders o using (order_id) where e.status = 'fired' and e.settled_at is null
        and not order_is_open(o.status))::int as unsettled,
      -- Times that exits wait for, and prices that hold, but have not been due for long.
      (select count(*) from exits where status = 'armed' and (trigger_kind = 'time'
        and trigger_at between ${new Date(Date.now() - SENT_WITHIN_MS)} and ${new Date(Date.now() + SOON_MS)}
        or trigger_kind like 'price%' and created_at > ${new Date(Date.now() - SENT_WITHIN_MS)}))::int as times,
      -- A review ends them, within half a minute.
      (select count(*) from exits where status in ('armed', 'suspended') and exit_holding(exit_id) = 'closed')::int as closed,
      -- Their time is over, or soon: the desk asks until they have ended.
      (select count(*) from late_orders l join orders o using (order_id) where order_is_open(o.status)
        and l.due_at < ${new Date(Date.now() + SOON_MS)})::int as late,
      -- Agents have redeemed them all; at a live venue an account is asked about once a minute.
      (select count(*) from positions p join traded_markets m using (condition_id)
        where p.is_held and p.outcome = m.payout)::int as redeemable,
      (select max(seq) from facts)::text as last`;
    const now = `${left?.last} ${left?.webhooks} ${left?.receipts} ${left?.unsettled} ${left?.times} ${left?.closed} ${left?.late} ${orders.filter(({ status }) => UNDONE.has(status)).length}`;
    if (now !== before) {
      before = now;
      since = performance.now();
    }
    const isDone =
      left?.webhooks === 0 &&
      left?.receipts === 0 &&
      left?.unsettled === 0 &&
      left?.times === 0 &&
      left?.closed === 0 &&
      left?.late === 0 &&
      left?.redeemable === 0 &&
      exits.length === 0 &&
      !orders.some(({ status }) => UNDONE.has(status));
    return isDone && performance.now() - since > quietMs && (await hasNoTradesUnderWay(place));
  });
  if (isRested) return null;
  const rows = await sql`select o.order_id, o.status, to_jsonb(v) as venue, (select jsonb_agg(to_jsonb(t))
      from venue_trades t where t.order_id = o.order_id) as trades
    from orders o left join venue_orders v using (order_id) where o.status = any(${[...UNDONE]}::text[])`;
  const exits = (await deskExits(sql)).filter(isUndoneExit);
  return JSON.stringify([...rows, ...exits], (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}
