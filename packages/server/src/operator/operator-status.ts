/** How the service fares: what the database says of all replicas, and what this one says of itself. */
import type { KeptTrade, KeptTradeDecided, KeptTradeDecision, OperatorStatus } from '@bellwether/contract';
import { formatMicro, pipsToNumber } from '@bellwether/contract/decimals';
import { inDoubtBefore, statusWord } from '../domain/lifecycle.ts';
import type { Clock } from '../platform/clock.ts';
import { cursorOf, type Page, type PageQuery, PLACES, pageOf, windowOf } from '../platform/http/page.ts';
import { refusal } from '../platform/refusal.ts';
import { type HasVenues, venueRecord, venuesWith } from '../venues/asking.ts';
import type { HeldTrade } from '../venues/live-orders.ts';
import type { OperatorReads } from './operator-reads.ts';

export interface OperatorNeeds extends HasVenues {
  readonly clock: Clock;
  readonly operatorReads: OperatorReads;
}

type Own = Pick<OperatorStatus, 'version' | 'ready' | 'database' | 'thisReplica'>;

const SECOND_MS = 1_000;

export async function operatorStatus(needs: OperatorNeeds, own: Own): Promise<OperatorStatus> {
  const now = needs.clock.now();
  const { leader, inDoubt, oldestInDoubtAt, tradesKeptAside, replicas, ...queues } =
    await needs.operatorReads.facts(inDoubtBefore(now));
  return {
    timestamp: new Date(now).toISOString(),
    ...own,
    venues: [...needs.venues.values()].map((venue) => ({
      ...venueRecord(venue),
      counts: { ...venue.counts?.() },
    })),
    replicas: {
      count: replicas,
      leader: leader === null ? null : { ...leader, since: new Date(leader.since).toISOString() },
    },
    orders: {
      inDoubt,
      oldestInDoubtSeconds:
        oldestInDoubtAt === null ? null : Math.max(0, (now - oldestInDoubtAt) / SECOND_MS),
      tradesKeptAside,
    },
    queues,
  };
}

// Trades that a venue says and no order can have: they count nothing until the venue explains them, or the operator decides.

const recordOf = ({ order, trade }: HeldTrade): KeptTrade => ({
  venue: order.venue,
  orderId: order.orderId,
  tradeId: trade.tradeId,
  agentId: order.agentId,
  walletAddress: order.walletAddress,
  side: order.side,
  signed: { shares: formatMicro(order.shares), collateral: formatMicro(order.money) },
  said: {
    status: trade.status,
    size: formatMicro(trade.aside.said.size),
    cost: formatMicro(trade.aside.said.cost),
    fee: formatMicro(trade.aside.said.fee),
    price: pipsToNumber(trade.aside.said.price),
  },
  why: trade.aside.why,
  since: new Date(trade.aside.since).toISOString(),
});

/** A page is of so many orders, whatever number of trades they have. @throws Refusal contradictory_filter, invalid_request */
export async function listKeptTrades(needs: HasVenues, query: PageQuery): Promise<Page<KeptTrade>> {
  const window = windowOf(query, PLACES.byOrderId);
  const found = await Promise.all(
    venuesWith(needs, 'keptAside').map(({ keptAside }) => keptAside.held(window)),
  );
  const orders = found
    .flatMap((of) => of.orders)
    .sort(({ order: a }, { order: b }) => a.createdAt - b.createdAt || (a.orderId < b.orderId ? -1 : 1))
    .slice(0, window.limit);
  const { items, cursor } = pageOf(
    orders,
    query,
    ({ trades }) => trades.map(recordOf),
    ({ order }) => cursorOf({ at: order.createdAt, id: order.orderId }),
  );
  return { items: items.flat(), cursor, total: found.reduce((sum, { total }) => sum + total, 0) };
}

/** @throws Refusal kept_trade_not_found, once it is decided, too */
export async function decideKeptTrade(needs: HasVenues, given: KeptTradeDecision): Promise<KeptTradeDecided> {
  const wanted = { ...given, orderId: given.orderId.toLowerCase() };
  for (const venue of venuesWith(needs, 'keptAside')) {
    const order = await venue.keptAside.decide(wanted);
    if (order !== null) return { ...wanted, decided: true, orderStatus: statusWord(order) };
  }
  throw refusal('kept_trade_not_found', 'No order of this service has such a trade that is kept aside.');
}
