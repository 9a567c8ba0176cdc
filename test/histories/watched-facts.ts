/** What is true in the end of orders with a time of their own, of silent agents, and of approvals. */
import type { Sql } from '@bellwether/durable';
import { BellwetherClient } from '@bellwether/sdk';
import type { Agent } from './agents.ts';
import type { Place } from './place.ts';

/** Moments are epoch milliseconds by the desk's clocks, `endedAt` apart. */
export interface WatchedFacts {
  /** Of the recorder's clock. */
  readonly endedAt: number;
  /** The same moment as the desk may write it. */
  readonly now: number;
  readonly orders: readonly WatchedOrder[];
  /** Exits whose trigger is the silence of their agent. */
  readonly exits: readonly {
    readonly exitId: string;
    readonly agent: string;
    readonly status: string;
    readonly trouble: string | null;
  }[];
  readonly approvals: readonly DeskApproval[];
}

/** An order that was signed. */
export interface WatchedOrder {
  readonly orderId: string;
  readonly agent: string;
  readonly status: string;
  readonly type: string;
  readonly createdAt: number;
  readonly cancelAt: number | null;
  readonly isOfSilence: boolean;
  /** Of a GTD order, as it is signed: its venue ends it earlier. */
  readonly expiresAt: number | null;
  /** It is an exit's. */
  readonly isOfExit: boolean;
  /** When it was canceled, or expired. */
  readonly goneAt: number | null;
  /** What its journal says of its cancel. */
  readonly why: string | null;
}

export interface DeskApproval {
  readonly approvalId: string;
  readonly orderId: string;
  readonly type: string;
  readonly decision: 'approved' | 'declined' | null;
  readonly approvedUntil: number | null;
  /** Decisions that were told to its agent. */
  readonly told: readonly string[];
}

export const NOTHING_WATCHED: WatchedFacts = { endedAt: 0, now: 0, orders: [], exits: [], approvals: [] };

const epoch = (at: Date | null): number | null => (at === null ? null : at.getTime());

async function watchedOrders(sql: Sql, agents: readonly string[]): Promise<WatchedOrder[]> {
  const rows = await sql`select o.*, f.at as gone_at,
      exists (select from exits e where e.order_id = o.order_id) as is_of_exit
    from orders o left join lateral (select max(at) as at from facts
      where kind = 'order' and subject = o.order_id and payload ->> 'status' in ('canceled', 'expired')) f on true
    where o.kind = 'signed' and o.agent_id = any(${agents as string[]}::uuid[]) order by o.created_at, o.order_id`;
  return rows.map((row) => ({
    ...{ orderId: row.order_id, agent: row.agent_id, status: row.status, type: row.time_in_force },
    ...{ createdAt: row.created_at.getTime(), cancelAt: epoch(row.cancel_at) },
    ...{ isOfSilence: row.cancel_cause === 'silence', isOfExit: row.is_of_exit },
    expiresAt: row.time_in_force === 'GTD' ? epoch(row.expiration) : null,
    ...{ goneAt: epoch(row.gone_at), why: null },
  }));
}

/** While both replicas serve. */
export async function watchedFacts(
  { sql, urls }: Place,
  agents: readonly Agent[],
): Promise<{ readonly watched: WatchedFacts }> {
  const now = { endedAt: performance.now(), now: Date.now() };
  const ids = agents.map(({ agentId }) => agentId);
  const keys = new Map(agents.map(({ agentId, apiKey }) => [agentId, apiKey]));
  const orders: WatchedOrder[] = [];
  for (const order of await watchedOrders(sql, ids)) {
    if (order.cancelAt === null || order.status !== 'canceled') {
      orders.push(order);
      continue;
    }
    const client = new BellwetherClient({ baseUrl: urls[0], apiKey: keys.get(order.agent) as string });
    const { journal } = await client.getOrder(order.orderId);
    const said = journal.findLast(({ event }) => event === 'canceled');
    orders.push({ ...order, why: said?.detail ?? null });
  }
  const exits =
    await sql`select exit_id, agent_id, status, trouble from exits where trigger_kind = 'silence'`;
  const approvals = await sql`select a.*, array(select f.payload ->> 'status' from facts f
      where f.kind = 'approval' and f.subject = a.approval_id::text order by f.seq) as told
    from approvals a where a.agent_id = any(${ids}::uuid[]) order by a.asked_at, a.approval_id`;
  return {
    watched: {
      ...now,
      orders,
      exits: exits.map((row) => ({
        ...{ exitId: row.exit_id, agent: row.agent_id, status: row.status, trouble: row.trouble },
      })),
      approvals: approvals.map((row) => ({
        ...{ approvalId: row.approval_id, orderId: row.order_id, type: row.terms.binds.orderType },
        ...{ decision: row.decision, approvedUntil: epoch(row.approved_until) },
        told: (row.told as string[]).filter((status) => status !== 'waiting'),
      })),
    },
  };
}
